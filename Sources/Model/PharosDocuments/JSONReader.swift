/// The reader of JSON text, of documents and of datagrams alike: one pass over the bytes gives a ``JSONTree``.
///
/// The rules are those of RFC 8259 for all: no comments, no trailing commas, no control characters in strings, no halves of
/// surrogate pairs. The caller gives the maximum depth of arrays and objects, since a stack is finite, and checks that text
/// which it takes is UTF-8. Whether a name may occur twice in an object is for the caller to say too: a document refuses it,
/// of a datagram the last one counts.
///
/// Text of a datagram that is malformed is read without the elements that are. A gateway that writes a device's name as it
/// hears it, or has too small a buffer, sends text that is malformed in one element or ends within one; the elements before
/// and behind it are worth as much as ever.
///
/// 1. A value that is well formed is kept.
/// 2. Of an array, the elements are kept one by one. One that is malformed is dropped, and the text is read on where the
///    next element can begin: at a `{` behind a `}`, a comma or a line's end, or at a `]` behind a `}`.
/// 3. Of an object, the members are kept up to the first malformed one. If all of them are objects, they are the elements of
///    a list by name, and it is read on likewise. If a list or an object with objects in it is among them, the object ends
///    there, since it is the envelope of a batch. Otherwise the object itself is malformed.
/// 4. Text that ends ends all that is open.
///
/// The work is bounded: after reading eight times the length of the text, what is left of it is dropped.
///
/// - Source: RFC 8259.
package struct JSONReader {
  /// The offset of the next character.
  private var offset: Int
  private let end: Int
  private let deepest: Int
  private var tree = JSONTree()
  /// The number of malformed elements that were dropped.
  private var dropped = 0
  /// The number of bytes that may still be read of malformed text.
  private var budget = 0

  private init(_ range: Range<Int>, deepest: Int = 0) {
    offset = range.lowerBound
    end = range.upperBound
    self.deepest = deepest
  }

  /// Reads the single value that a text is.
  ///
  /// - Throws: the first place at which the text is malformed, and the reason.
  package static func value(
    _ bytes: RawSpan,
    _ range: Range<Int>,
    deepest: Int = 32
  ) throws(JSONError) -> JSONTree {
    var reader = JSONReader(range, deepest: deepest)
    reader.tree.reserve(for: range.count)
    try reader.value(bytes, depth: 0)
    guard reader.isAtEnd(bytes) else { throw reader.problem("something follows the value", "nothing more") }
    return reader.tree
  }

  /// Reads any number of values, one behind the other.
  ///
  /// - Throws: the first place at which the text is malformed, and the reason.
  package static func values(
    _ bytes: RawSpan,
    _ range: Range<Int>,
    deepest: Int
  ) throws(JSONError) -> JSONTree {
    var reader = JSONReader(range, deepest: deepest)
    reader.tree.reserve(for: range.count)
    while !reader.isAtEnd(bytes) { try reader.value(bytes, depth: 0) }
    return reader.tree
  }

  /// Reads the values of malformed text, one behind the other, without the elements that are malformed.
  ///
  /// - Returns: the values, and the number of elements that were dropped, at least one.
  package static func salvage(
    _ bytes: RawSpan,
    _ range: Range<Int>,
    deepest: Int
  ) -> (tree: JSONTree, dropped: Int) {
    var reader = JSONReader(range, deepest: deepest)
    reader.budget = 8 * range.count
    reader.salvageElements(bytes, until: nil, depth: 0)
    return (reader.tree, max(1, reader.dropped))
  }

  /// Returns whether the character is white space in JSON.
  package static func isSpace(_ ascii: UInt8) -> Bool {
    ascii == UInt8(ascii: " ") || ascii == UInt8(ascii: "\n") || ascii == UInt8(ascii: "\r")
      || ascii == UInt8(ascii: "\t")
  }

  /// Appends a value, with all that it holds, to the tree.
  private mutating func value(_ bytes: RawSpan, depth: Int) throws(JSONError) {
    guard !isAtEnd(bytes) else { throw problem("the text ends here", "a value") }
    switch bytes.byte(at: offset) {
    case UInt8(ascii: "{"): try container(.object, bytes, depth)
    case UInt8(ascii: "["): try container(.array, bytes, depth)
    case UInt8(ascii: "\""): try string(bytes)
    case UInt8(ascii: "t"): try literal(bytes, "true", .yes)
    case UInt8(ascii: "f"): try literal(bytes, "false", .no)
    case UInt8(ascii: "n"): try literal(bytes, "null", .null)
    default: try number(bytes)
    }
  }

  private mutating func container(_ kind: JSONSlice.Kind, _ bytes: RawSpan, _ depth: Int) throws(JSONError) {
    guard depth < deepest else { throw problem("nested more than \(deepest) deep", "a flatter document") }
    offset += 1
    let isObject = kind == .object
    let bracket = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    let place = tree.open(kind)
    var isFirst = true
    while isAtEnd(bytes) || bytes.byte(at: offset) != bracket {
      guard isFirst || skip(UInt8(ascii: ","), bytes) else {
        throw isObject
          ? problem("an object does not go on", "a comma or }")
          : problem("an array does not go on", "a comma or ]")
      }
      isFirst = false
      if isObject { try key(bytes) }
      try value(bytes, depth: depth + 1)
    }
    offset += 1
    tree.close(place)
  }

  /// Appends a key and passes over its colon.
  private mutating func key(_ bytes: RawSpan) throws(JSONError) {
    guard !isAtEnd(bytes), bytes.byte(at: offset) == UInt8(ascii: "\"") else {
      throw problem("a key is missing", "a key in quotes")
    }
    try string(bytes)
    skipSpace(bytes)
    guard skip(UInt8(ascii: ":"), bytes) else { throw problem("no colon behind a key", "a colon") }
  }

  private mutating func string(_ bytes: RawSpan) throws(JSONError) {
    offset += 1
    let start = offset
    var isEscaped = false
    while offset < end {
      switch bytes.byte(at: offset) {
      case UInt8(ascii: "\""):
        tree.append(JSONSlice(.string, start..<offset, isEscaped: isEscaped))
        offset += 1
        return
      case UInt8(ascii: "\\"):
        isEscaped = true
        _ = try escape(bytes)
      case ..<0x20: throw problem("a control character in a text", "an escape, as in \\n")
      default: offset += 1
      }
    }
    throw problem("a text does not end", "a quotation mark")
  }

  private mutating func literal(
    _ bytes: RawSpan,
    _ text: StaticString,
    _ kind: JSONSlice.Kind
  ) throws(JSONError) {
    let start = offset
    for index in 0..<text.utf8CodeUnitCount {
      guard unsafe skip(text.utf8Start[index], bytes) else { throw noValue(at: start) }
    }
    tree.append(JSONSlice(kind, start..<offset))
  }

  private mutating func number(_ bytes: RawSpan) throws(JSONError) {
    let start = offset
    _ = skip(UInt8(ascii: "-"), bytes)
    guard skip(UInt8(ascii: "0"), bytes) || skipDigits(bytes) else { throw noValue(at: start) }
    if skip(UInt8(ascii: "."), bytes) {
      guard skipDigits(bytes) else { throw noValue(at: start) }
    }
    if skip(UInt8(ascii: "e"), bytes) || skip(UInt8(ascii: "E"), bytes) {
      if !skip(UInt8(ascii: "+"), bytes) { _ = skip(UInt8(ascii: "-"), bytes) }
      guard skipDigits(bytes) else { throw noValue(at: start) }
    }
    // A number such as 01 or 1x is none, and not a number that something follows.
    if offset < end, JSONReader.isLiteral(bytes.byte(at: offset)) { throw noValue(at: start) }
    tree.append(JSONSlice(.number, start..<offset))
  }

  /// Passes over digits and returns whether there was any.
  private mutating func skipDigits(_ bytes: RawSpan) -> Bool {
    let start = offset
    while offset < end, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes.byte(at: offset) { offset += 1 }
    return offset > start
  }

  /// Returns whether a number or a word may contain the character.
  private static func isLiteral(_ ascii: UInt8) -> Bool {
    switch ascii {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  /// Skips white space and returns whether nothing else is left.
  private mutating func isAtEnd(_ bytes: RawSpan) -> Bool {
    skipSpace(bytes)
    return offset == end
  }

  private mutating func skipSpace(_ bytes: RawSpan) {
    while offset < end, JSONReader.isSpace(bytes.byte(at: offset)) { offset += 1 }
  }

  /// Passes over a character if it is the next one.
  private mutating func skip(_ byte: UInt8, _ bytes: RawSpan) -> Bool {
    guard offset < end, bytes.byte(at: offset) == byte else { return false }
    offset += 1
    return true
  }

  /// An error about the next character.
  private func problem(_ reason: String, _ expected: String) -> JSONError {
    JSONError(offset: offset, reason: reason, expected: expected)
  }

  private func noValue(at start: Int) -> JSONError {
    JSONError(
      offset: start,
      reason: "no value starts here",
      expected: "an object, an array, a text, a number, true or false"
    )
  }
}

/// The backslash sequences of strings.
extension JSONReader {
  /// Passes over an escape sequence and returns the character that it stands for.
  private mutating func escape(_ bytes: RawSpan) throws(JSONError) -> Unicode.Scalar {
    offset += 1
    guard offset < end else { throw problem("a text does not end", "a quotation mark") }
    let letter = bytes.byte(at: offset)
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw problem("an unknown escape", "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
    }
    var scalar = UInt32(try codeUnit(bytes))
    if 0xD800...0xDBFF ~= scalar, skip(UInt8(ascii: "\\"), bytes), skip(UInt8(ascii: "u"), bytes) {
      let low = UInt32(try codeUnit(bytes))
      guard 0xDC00...0xDFFF ~= low else { throw problem("half a surrogate pair", "both halves") }
      scalar = 0x1_0000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let character = Unicode.Scalar(scalar) else {
      throw problem("half a surrogate pair", "both halves")
    }
    return character
  }

  /// Reads the four hexadecimal digits of a UTF-16 code unit.
  private mutating func codeUnit(_ bytes: RawSpan) throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for place in offset..<offset + 4 {
      guard place < end, let digit = Hex.nibble(bytes.byte(at: place)) else {
        throw problem("an escape without its digits", "four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
    }
    offset += 4
    return unit
  }

  /// The text of a string, its escapes resolved, as UTF-8.
  fileprivate static func text(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var reader = JSONReader(range)
    while reader.offset < reader.end {
      let byte = bytes.byte(at: reader.offset)
      if byte == UInt8(ascii: "\\"), let character = try? reader.escape(bytes) {
        text.append(contentsOf: UTF8.encode(character) ?? UTF8.encodedReplacementCharacter)
      } else {
        text.append(byte)
        reader.offset += 1
      }
    }
    return text
  }
}

/// The reading of text that is malformed.
extension JSONReader {
  /// Keeps elements up to the closing bracket, or to the end of the text.
  private mutating func salvageElements(_ bytes: RawSpan, until bracket: UInt8?, depth: Int) {
    while skipSeparators(bytes) {
      if bytes.byte(at: offset) == bracket {
        offset += 1
        return
      }
      if !salvageValue(bytes, depth: depth) {
        dropped += 1
        guard depth < deepest || !skipNested(bytes) else { continue }
        skipElement(bytes, opening: UInt8(ascii: "{"), closing: UInt8(ascii: "]"))
      }
    }
  }

  /// Passes over an array or an object that is nested too deep, if all that it opens is closed.
  private mutating func skipNested(_ bytes: RawSpan) -> Bool {
    let start = offset
    var depth = 0
    repeat {
      switch bytes.byte(at: offset) {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: "\""):
        let mark = tree.count
        let isWell = (try? string(bytes)) != nil
        tree.removeAll(from: mark)
        guard isWell else {
          offset = start
          return false
        }
        continue
      default: break
      }
      offset += 1
    } while depth > 0 && offset < end
    budget -= offset - start
    guard depth == 0, offset > start + 1 else {
      offset = start
      return false
    }
    return true
  }

  /// Keeps a value and returns true, or leaves the tree as it was and the offset within the value.
  private mutating func salvageValue(_ bytes: RawSpan, depth: Int) -> Bool {
    guard budget > 0, depth < deepest else {
      if budget <= 0 { offset = end }
      return false
    }
    let (start, mark) = (offset, tree.count)
    let isWell = (try? value(bytes, depth: depth)) != nil
    budget -= offset - start
    guard !isWell else { return true }
    offset = start
    tree.removeAll(from: mark)
    switch bytes.byte(at: start) {
    case UInt8(ascii: "["):
      offset += 1
      let place = tree.open(.array)
      salvageElements(bytes, until: UInt8(ascii: "]"), depth: depth + 1)
      tree.close(place)
      return true
    case UInt8(ascii: "{"): return salvageObject(bytes, depth: depth)
    default: return false
    }
  }

  private mutating func salvageObject(_ bytes: RawSpan, depth: Int) -> Bool {
    let (start, object) = (offset, tree.open(.object))
    // Indicates whether it holds a list or an object with objects in it, and whether it holds nothing but objects.
    var (holdsBatch, isMap) = (false, false)
    offset += 1
    while skipSeparators(bytes), bytes.byte(at: offset) != UInt8(ascii: "}") {
      let (before, member) = (offset, tree.count)
      let isKey = (try? key(bytes)) != nil && !isAtEnd(bytes)
      budget -= offset - before
      if !isKey { offset = before }
      let value = tree.count
      if isKey, salvageValue(bytes, depth: depth + 1) {
        holdsBatch = holdsBatch || tree.holdsObject(behind: value)
        isMap = (isMap || member == object + 1) && tree.isObject(at: value)
        continue
      }
      tree.removeAll(from: member)
      if isMap {
        dropped += 1
        skipElement(bytes, opening: UInt8(ascii: "\""), closing: UInt8(ascii: "}"))
      } else if holdsBatch {
        tree.close(object)
        return true
      } else {
        tree.removeAll(from: object)
        offset = budget > 0 ? start : end
        return false
      }
    }
    guard offset < end || holdsBatch || isMap else {
      tree.removeAll(from: object)
      offset = start
      return false
    }
    if offset < end { offset += 1 }
    tree.close(object)
    return true
  }

  /// Passes over white space and commas, and returns whether anything is left.
  private mutating func skipSeparators(_ bytes: RawSpan) -> Bool {
    while !isAtEnd(bytes), skip(UInt8(ascii: ","), bytes) {}
    return offset < end
  }

  /// Passes over a malformed element, up to where the next one, or the end of what holds it, can be.
  ///
  /// The elements of a list begin with a brace, those of an object of objects with the quotation mark of a key.
  private mutating func skipElement(_ bytes: RawSpan, opening: UInt8, closing: UInt8) {
    var before = UInt8(ascii: "[")
    var (isNewLine, isSeparated) = (false, false)
    while offset < end {
      offset += 1
      let last = bytes.byte(at: offset - 1)
      if JSONReader.isSpace(last) {
        isNewLine = isNewLine || last == UInt8(ascii: "\n")
      } else {
        isSeparated = last == UInt8(ascii: ",")
        // A comma leaves a closed brace before it visible.
        if !isSeparated || before != UInt8(ascii: "}") { (before, isNewLine) = (last, false) }
      }
      guard offset < end else { return }
      let next = bytes.byte(at: offset)
      let isBehindObject = before == UInt8(ascii: "}")
      let isBehindComma = before == UInt8(ascii: ",")
      if next == closing, isBehindObject || isBehindComma { return }
      guard next == opening else { continue }
      if opening == UInt8(ascii: "{") {
        if isBehindObject || isNewLine || isBehindComma { return }
      } else if isBehindObject, isSeparated {
        return
      }
    }
  }
}

extension RawSpan {
  fileprivate func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

/// The values of a JSON text, in the order of the text: what an array or an object holds follows it, keys before their values.
///
/// No byte of the text is copied. The layout is the tape of simdjson.
///
/// - Source: G. Langdale, D. Lemire, Parsing Gigabytes of JSON per Second, The VLDB Journal 28 (2019).
package struct JSONTree {
  private var slices: [JSONSlice] = []

  /// The first value; absent if there is none.
  package var root: JSONSlice { slices.first ?? .absent }

  /// The values that no other one holds.
  package var values: Elements { Elements(slices, 0..<slices.count) }

  /// The elements of an array; nothing if the value is none.
  package func elements(of array: JSONSlice) -> Elements {
    Elements(slices, array.kind == .array ? array.range : 0..<0)
  }

  /// The keys and values of an object; nothing if the value is none.
  package func members(of object: JSONSlice) -> Members {
    Members(elements: Elements(slices, object.kind == .object ? object.range : 0..<0))
  }

  /// Values one behind the other.
  package struct Elements: Sequence, IteratorProtocol {
    private let slices: [JSONSlice]
    private var place: Int
    private let end: Int

    fileprivate init(_ slices: [JSONSlice], _ places: Range<Int>) {
      self.slices = slices
      place = places.lowerBound
      end = places.upperBound
    }

    /// The next value.
    package mutating func next() -> JSONSlice? {
      guard place < end else { return nil }
      let slice = slices[place]
      place =
        switch slice.kind {
        case .array, .object: slice.range.upperBound
        case .absent, .null, .yes, .no, .number, .string: place + 1
        }
      return slice
    }
  }

  /// Keys and values one behind the other.
  package struct Members: Sequence, IteratorProtocol {
    fileprivate var elements: Elements

    /// The next key and its value.
    package mutating func next() -> (key: JSONSlice, value: JSONSlice)? {
      guard let key = elements.next(), let value = elements.next() else { return nil }
      return (key, value)
    }
  }

  fileprivate var count: Int { slices.count }

  fileprivate mutating func append(_ slice: JSONSlice) { slices.append(slice) }

  /// Appends an array or an object, still without an end, and returns its place.
  fileprivate mutating func open(_ kind: JSONSlice.Kind) -> Int {
    slices.append(JSONSlice(kind, slices.count..<slices.count))
    return slices.count - 1
  }

  /// Ends an array or an object behind the last value.
  fileprivate mutating func close(_ place: Int) {
    slices[place] = JSONSlice(slices[place].kind, place + 1..<slices.count)
  }

  fileprivate mutating func removeAll(from place: Int) { slices.removeSubrange(place...) }

  fileprivate func isObject(at place: Int) -> Bool { slices[place].kind == .object }

  /// Returns whether an object follows a place.
  fileprivate func holdsObject(behind place: Int) -> Bool {
    slices[(place + 1)...].contains { $0.kind == .object }
  }

  /// Makes room for the values of a text, most of which are no shorter than eight bytes with their punctuation.
  fileprivate mutating func reserve(for bytes: Int) { slices.reserveCapacity(bytes / 8 + 1) }
}

/// A JSON value in a text: its kind and its range.
///
/// The value holds no copy of the bytes.
package struct JSONSlice {
  /// The kind of value.
  package enum Kind {
    /// It is not there at all.
    case absent
    case null
    case yes
    case no
    case number
    case string
    case array
    case object
  }

  /// The kind.
  package let kind: Kind
  /// Indicates whether a string holds backslashes, so that its bytes are not its text.
  package let isEscaped: Bool
  private let start: UInt32
  private let end: UInt32

  /// The value of a member that an object does not have.
  package static let absent = JSONSlice(.absent, 0..<0)

  fileprivate init(_ kind: Kind, _ range: Range<Int>, isEscaped: Bool = false) {
    self.kind = kind
    self.isEscaped = isEscaped
    start = UInt32(range.lowerBound)
    end = UInt32(range.upperBound)
  }

  /// The range of a scalar in the text, without quotes; of an array or an object, the places in the tree of what it holds.
  package var range: Range<Int> { Int(start)..<Int(end) }

  /// Indicates whether there is a value: neither absent nor null.
  package var isPresent: Bool { kind != .absent && kind != .null }

  /// The text of a string, its escapes resolved, as UTF-8.
  package func text(_ bytes: RawSpan) -> [UInt8] { JSONReader.text(bytes, range) }

  /// The text of a string, its escapes resolved, or of another scalar.
  package func string(_ bytes: RawSpan) -> String {
    guard !isEscaped else { return String(decoding: text(bytes), as: UTF8.self) }
    return unsafe bytes.extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
