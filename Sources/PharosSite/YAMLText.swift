import PharosModel

/// A writer of YAML: a tree of JSON values in block style, and what fits on a line in flow style.
///
/// Written by hand, because the emitter of Yams puts either everything or nothing on one line, and escapes nothing that is not
/// Latin.
enum YAMLText {
  /// The width up to which a value stays on the line of its key.
  private static let width = 110

  /// Returns the lines of a value, without indentation.
  static func lines(of value: JSONValue) -> [String] {
    switch value {
    case .object(let members) where !members.isEmpty:
      members.flatMap { member in
        entry("\(member.name):", member.value, rest: lines(of: member.value).map { "  " + $0 })
      }
    case .array(let elements) where !elements.isEmpty:
      elements.flatMap { element in
        guard isNested(element) || flow(element).count > width else { return ["- " + flow(element)] }
        let lines = lines(of: element)
        return lines.prefix(1).map { "- " + $0 } + lines.dropFirst().map { "  " + $0 }
      }
    default: [flow(value)]
    }
  }

  /// The lines of a member: on the line of its key if it fits there.
  private static func entry(_ key: String, _ value: JSONValue, rest: @autoclosure () -> [String]) -> [String]
  {
    let text = isNested(value) ? nil : flow(value)
    if let text, key.count + text.count < width || !isContainer(value) { return ["\(key) \(text)"] }
    return [key] + rest()
  }

  /// Returns whether a list of mappings stands in a value: each of them gets a line of its own.
  private static func isNested(_ value: JSONValue) -> Bool {
    switch value {
    case .array(let elements):
      elements.contains { if case .object = $0 { true } else { isNested($0) } }
    case .object(let members): members.contains { isNested($0.value) }
    default: false
    }
  }

  private static func isContainer(_ value: JSONValue) -> Bool {
    switch value {
    case .array, .object: true
    default: false
    }
  }

  /// A value on one line.
  private static func flow(_ value: JSONValue) -> String {
    switch value {
    case .null: return "null"
    case .bool(let flag): return "\(flag)"
    case .integer(let number): return "\(number)"
    case .number(let number): return "\(number)"
    case .string(let text): return scalar(text)
    case .array(let elements): return "[" + elements.map(flow).joined(separator: ", ") + "]"
    case .object(let members):
      let text = members.map { "\($0.name): \(flow($0.value))" }.joined(separator: ", ")
      return members.isEmpty ? "{}" : "{ \(text) }"
    }
  }

  /// A text, in quotes unless every reader of YAML takes it for a text without them.
  private static func scalar(_ text: String) -> String {
    isPlain(text) ? text : "\"" + text.unicodeScalars.map(escaped).joined() + "\""
  }

  /// Words that YAML 1.1 reads as truth values or as nothing.
  private static let reserved: Set<String> = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"]

  private static func isPlain(_ text: String) -> Bool {
    let isSimple = text.unicodeScalars.allSatisfy { scalar in
      scalar.isASCII
        && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_")
    }
    guard isSimple, let first = text.unicodeScalars.first else { return false }
    guard !first.properties.isAlphabetic else { return !reserved.contains(text.lowercased()) }
    // A time such as 30s and a UUID begin with a digit; what else does may be a number to somebody.
    return TimeSpan(written: text) != nil || (text.utf8.count == 36 && UUID128(text) != nil)
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": "\\\""
    case "\\": "\\\\"
    case _ where !isPrintable(scalar): "\\U" + Hex.text(UInt64(scalar.value), bytes: 4)
    default: String(Character(scalar))
    }
  }

  /// Returns whether a character may stand in quotes as it is; breaks of lines would be folded.
  ///
  /// - Source: YAML 1.2.2, 5.1 (c-printable) and 5.4 (line breaks of YAML 1.1).
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7E, 0xA0...0x2027, 0x202A...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x1_0000...0x10_FFFF:
      true
    default: false
    }
  }
}
