/// Functions that make texts from files, radios and networks safe to show on one line.
///
/// An escape sequence in a device's name must not reach a terminal, nor a line break a log.
package enum PlainText {
  /// Returns the text with a middle dot for every control character and line end.
  package static func clean(_ text: String) -> String {
    guard hasControls(text) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "·" : $0 }))
  }

  /// Returns the text, or its beginning and an ellipsis if it is longer than `width`.
  package static func cut(_ text: String, to width: Int) -> String {
    text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
  }

  /// Returns the text with a full stop, unless it ends as a sentence does.
  package static func sentence(_ text: String) -> String {
    text.last.map { ".!?".contains($0) } ?? true ? text : text + "."
  }

  /// Formats a number without a needless fraction.
  package static func number(_ number: Double) -> String {
    number == number.rounded() && number.magnitude < 1e15 ? "\(Int(number))" : "\(number)"
  }

  /// Returns whether a character would move a cursor, end a line, change the direction of writing or not be seen.
  ///
  /// Identifiers and names hold none of them, whichever way they come. The joiners are none, because words of several languages and
  /// emoji are written with them.
  package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
    default: scalar.properties.isNoncharacterCodePoint
    }
  }

  /// Returns whether a text has one of some ASCII characters, also where an accent follows it.
  package static func has(anyOf ascii: StaticString, in text: some StringProtocol) -> Bool {
    text.utf8.contains { byte in (0..<ascii.utf8CodeUnitCount).contains { unsafe ascii.utf8Start[$0] == byte }
    }
  }

  /// Returns whether a text has a character that ``isControl(_:)`` refuses.
  package static func hasControls(_ text: some StringProtocol) -> Bool {
    // Most texts are ASCII, for which the bytes suffice.
    text.utf8.contains { $0 < 0x20 || $0 >= 0x7F } && text.unicodeScalars.contains(where: isControl)
  }
}

extension StringProtocol {
  /// The text without white space around it.
  package var trimmingSpaces: String {
    let start = drop(while: \.isWhitespace)
    return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
  }
}

/// Functions on the paths of files that documents name.
package enum RelativePath {
  /// Returns whether a path stays in its folder: it is not empty or absolute and has no step upwards.
  ///
  /// The file system reads bytes: to it, a slash is one also where an accent follows it.
  package static func isInside(_ path: String) -> Bool {
    !path.isEmpty && path.utf8.first != UInt8(ascii: "/") && !path.utf8.contains(0)
      && !path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
  }
}

/// Functions that find the word that an author probably meant.
package enum Spelling {
  /// Returns the end of a message that suggests the candidate nearest to a word; empty if none is near enough.
  package static func hint(for word: String, among candidates: [String]) -> String {
    nearest(to: word, among: candidates).map { "; did you mean \"\($0)\"?" } ?? ""
  }

  /// Returns whether a word is one of the candidates in the singular or the plural.
  package static func differsInNumber(_ word: String, from candidates: [String]) -> Bool {
    candidates.contains { $0 == "\(word)s" || "\($0)s" == word }
  }

  /// Returns a key and its value as they are typed in YAML, where a text has both with nothing or `=` between them.
  ///
  /// - Parameters:
  ///   - text: the text, such as `id:a`.
  ///   - keys: the keys that count; nil if any word does.
  /// - Returns: such as `id: a`; nil if the text does not begin with one of the keys.
  package static func separated(_ text: String, among keys: [String]?) -> String? {
    guard let end = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
    let key = text[..<end].trimmingSpaces
    let value = text[text.index(after: end)...].trimmingSpaces
    let isKey = keys?.contains(key) ?? (!key.isEmpty && key.allSatisfy(\.isLetter) && !value.hasPrefix("//"))
    return isKey && !value.isEmpty ? "\(key): \(value)" : nil
  }

  /// Returns the ways in which a number, a time or an address may have been meant that is spelled in another way than
  /// documents spell it: `1_000`, `0x1F`, `010`, `-59,5`, `-59 dBm`, `0.5 s`, `8080`, `http://0.0.0.0:8080/`.
  package static func readings(of text: String) -> [String] {
    let compact = String(text.filter { $0 != " " && $0 != "_" })
    var readings = [compact]
    let sign = compact.hasPrefix("-") ? "-" : ""
    let digits = compact.drop { $0 == "-" || $0 == "+" }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where digits.lowercased().hasPrefix(prefix) {
      if let number = Int(digits.dropFirst(2), radix: radix) { readings.append("\(sign)\(number)") }
    }
    if digits.first == "0", digits.count > 1, digits.allSatisfy(\.isNumber) {
      let rest = digits.drop { $0 == "0" }
      readings.append("\(sign)\(rest.isEmpty ? "0" : rest)")
    }
    if let number = Double(compact.replacing(",", with: ".")), number.isFinite {
      readings += [PlainText.number(number), "\(number)"]
    }
    let number = compact.prefix { "+-.,".contains($0) || $0.isNumber }
    if !number.isEmpty, compact.dropFirst(number.count).allSatisfy({ $0.isLetter || $0 == "%" }) {
      readings.append(String(number).replacing(",", with: "."))
    }
    var address = Substring(text)
    if let scheme = text.firstRange(of: "://") { address = text[scheme.upperBound...] }
    while address.last == "/" { address.removeLast() }
    readings.append(String(address))
    if !compact.isEmpty, compact.allSatisfy(\.isNumber) { readings.append("127.0.0.1:\(compact)") }
    return readings
  }

  /// Returns the candidate nearest to a word, or nil if none is near enough to be meant.
  ///
  /// Near enough is one typing error in three letters: `majr` matches `major`, `foo` matches nothing.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let ranked = candidates.map { (name: $0, distance: distance(word.lowercased(), $0.lowercased())) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, min(word.count, best.name.count) / 3) ? best.name : nil
  }

  /// Returns the number of letters that must be added, left out, replaced or swapped with their neighbour.
  ///
  /// - Complexity: O(n·m); the words are keys of a file, cut to 40 letters.
  /// - Source: the restricted Damerau–Levenshtein distance.
  package static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left.prefix(40))
    let right = Array(right.prefix(40))
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for i in 1...left.count {
      var row = [i] + [Int](repeating: 0, count: right.count)
      for j in 1...right.count {
        let replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1)
        row[j] = min(last[j] + 1, row[j - 1] + 1, replaced)
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          row[j] = min(row[j], beforeLast[j - 2] + 1)
        }
      }
      beforeLast = last
      last = row
    }
    return last[right.count]
  }
}

/// Functions that parse and format sizes in bytes.
package enum ByteCount {
  /// The units, the longest name first: powers of ten as disks are sold, powers of two if the name contains an `i`.
  private static let units: [(name: String, bytes: Double)] = [
    ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12),
    ("B", 1),
  ]

  /// Parses a number and its unit, as in `500MB`, `1.5GB`, `10GiB` or `512B`; returns nil if the text is no size.
  ///
  /// - Returns: bytes, at most an exabyte.
  package static func read(_ text: some StringProtocol) -> Int64? {
    guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
    let number = text.dropLast(unit.name.count)
    guard number.first?.isNumber == true, number.last?.isNumber == true else { return nil }
    guard number.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }) else { return nil }
    guard let count = Double(number), count * unit.bytes <= 1e18 else { return nil }
    return Int64((count * unit.bytes).rounded())
  }

  /// Formats a size in the largest unit that leaves a number of at least one, as in `1.5 GB`.
  package static func text(_ bytes: Int64) -> String {
    let decimal = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
    guard let unit = decimal.first(where: { Double(bytes) >= $0.1 }) else { return "\(bytes) bytes" }
    let tenths = (Double(bytes) / unit.1 * 10).rounded() / 10
    return "\(PlainText.number(tenths)) \(unit.0)"
  }
}

extension String {
  /// The text, cut where it is longer than a message should repeat.
  package var shortened: String { count <= 64 ? self : prefix(64) + "…" }
}
