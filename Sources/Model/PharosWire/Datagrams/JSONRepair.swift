import PharosDocuments
import PharosModel

/// A copy of JSON text without the elements of its lists that are malformed: for text that is no JSON as it stands.
///
/// A gateway that writes a device's name as it hears it, or has too small a buffer, sends text that is malformed in one
/// element or ends within one; the elements before and behind it are worth as much as ever.
///
/// 1. A value that is well formed is copied.
/// 2. Of an array, the elements are copied one by one. One that is malformed is dropped, and the text is read on where the
///    next element can begin: at a `{` behind a `}`, a comma or a line's end, or at a `]` behind a `}`.
/// 3. Of an object, the members are copied up to the first malformed one. If a list or an object is among them, the object
///    ends there, since it is the envelope of a batch; otherwise the object itself is malformed.
/// 4. Text that ends ends all that is open.
///
/// The work is bounded: after reading eight times the length of the text, what is left of it is dropped.
struct JSONRepair {
  /// The copy: well-formed values, one behind the other.
  private(set) var text: [UInt8] = []
  /// The number of elements that were dropped; at least one, since the text was malformed.
  private(set) var dropped = 0
  private var offset: Int
  private let end: Int
  private let deepest: Int
  private var budget: Int

  /// Repairs a text.
  init(_ bytes: RawSpan, _ range: Range<Int>, deepest: Int) {
    offset = range.lowerBound
    end = range.upperBound
    self.deepest = deepest
    budget = 8 * range.count
    text.reserveCapacity(range.count)
    copyElements(bytes, until: nil, depth: 0)
    dropped = max(1, dropped)
  }

  /// Copies elements up to the closing bracket, or to the end of the text.
  private mutating func copyElements(_ bytes: RawSpan, until bracket: UInt8?, depth: Int) {
    var isFirst = true
    while skipSeparators(bytes) {
      if bytes.byte(at: offset) == bracket {
        offset += 1
        return
      }
      let mark = text.count
      if !isFirst { text.append(UInt8(ascii: bracket == nil ? "\n" : ",")) }
      if copyValue(bytes, depth: depth) {
        isFirst = false
      } else {
        text.removeSubrange(mark...)
        dropped += 1
        skipElement(bytes)
      }
    }
  }

  /// Copies a value and returns true, or leaves the copy as it was and the offset within the value.
  private mutating func copyValue(_ bytes: RawSpan, depth: Int) -> Bool {
    guard budget > 0, depth < deepest else {
      if budget <= 0 { offset = end }
      return false
    }
    let start = offset
    var scanner = JSONScanner(start..<end, deepest: deepest - depth)
    let isWell = (try? scanner.value(bytes)) != nil
    budget -= scanner.offset - start
    if isWell {
      copy(bytes, through: scanner.offset)
      return true
    }
    switch bytes.byte(at: start) {
    case UInt8(ascii: "["):
      offset += 1
      text.append(UInt8(ascii: "["))
      copyElements(bytes, until: UInt8(ascii: "]"), depth: depth + 1)
      text.append(UInt8(ascii: "]"))
      return true
    case UInt8(ascii: "{"):
      return copyObject(bytes, depth: depth)
    default:
      return false
    }
  }

  private mutating func copyObject(_ bytes: RawSpan, depth: Int) -> Bool {
    let (start, mark) = (offset, text.count)
    var holdsBatch = false
    offset += 1
    text.append(UInt8(ascii: "{"))
    while skipSeparators(bytes), bytes.byte(at: offset) != UInt8(ascii: "}") {
      let member = text.count
      if member > mark + 1 { text.append(UInt8(ascii: ",")) }
      var scanner = JSONScanner(offset..<end, deepest: deepest - depth)
      let isKey = (try? scanner.key(bytes)) != nil && !scanner.isAtEnd(bytes)
      budget -= scanner.offset - offset
      if isKey {
        copy(bytes, through: scanner.offset)
        let value = text.count
        if copyValue(bytes, depth: depth + 1) {
          // A list or an object with objects in it.
          holdsBatch = holdsBatch || text[value...].dropFirst().contains(UInt8(ascii: "{"))
          continue
        }
      }
      text.removeSubrange(member...)
      guard holdsBatch else {
        text.removeSubrange(mark...)
        offset = max(start, budget > 0 ? start : end)
        return false
      }
      text.append(UInt8(ascii: "}"))
      return true
    }
    guard offset < end || holdsBatch else {
      text.removeSubrange(mark...)
      offset = start
      return false
    }
    if offset < end { offset += 1 }
    text.append(UInt8(ascii: "}"))
    return true
  }

  private mutating func copy(_ bytes: RawSpan, through place: Int) {
    unsafe bytes.extracting(offset..<place).withUnsafeBytes { unsafe text.append(contentsOf: $0) }
    offset = place
  }

  /// Passes over white space and commas, and returns whether anything is left.
  private mutating func skipSeparators(_ bytes: RawSpan) -> Bool {
    while offset < end,
      JSONScanner.isSpace(bytes.byte(at: offset)) || bytes.byte(at: offset) == UInt8(ascii: ",")
    {
      offset += 1
    }
    return offset < end
  }

  /// Passes over a malformed element, up to where the next one, or the end of the list, can be.
  private mutating func skipElement(_ bytes: RawSpan) {
    var before = UInt8(ascii: "[")
    var isNewLine = false
    while offset < end {
      offset += 1
      let last = bytes.byte(at: offset - 1)
      if JSONScanner.isSpace(last) {
        isNewLine = isNewLine || last == UInt8(ascii: "\n")
      } else if last != UInt8(ascii: ",") || before != UInt8(ascii: "}") {
        // A comma leaves a closed brace before it visible.
        before = last
        isNewLine = false
      }
      guard offset < end else { return }
      let next = bytes.byte(at: offset)
      let isBehindObject = before == UInt8(ascii: "}")
      if next == UInt8(ascii: "{"), isBehindObject || isNewLine || before == UInt8(ascii: ",") { return }
      if next == UInt8(ascii: "]"), isBehindObject || before == UInt8(ascii: ",") { return }
    }
  }
}
