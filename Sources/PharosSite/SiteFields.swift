import PharosModel
import Yams

/// One mapping of a site file or one object of a document, with getters that check the types of its values.
///
/// Every getter that finds another type notes the mistake and returns nil, so that reading continues and all mistakes
/// are reported together.
struct SiteFields {
  /// The name of the described thing in messages: `region "entrance"`.
  let place: String
  /// The path in the tree; empty for the root.
  let path: String
  /// The first line.
  let line: Int
  let problems: SiteProblems
  private let values: [String: Node]
  private let keyLines: [String: Int]

  /// Reads a mapping; nil, with a mistake noted, if the node is none.
  init?(_ node: Node, place: String, path: String, known: [String], problems: SiteProblems) {
    let line = node.mark?.line ?? 1
    self.place = place
    self.path = path
    self.line = line
    self.problems = problems
    guard !node.isNothing || problems.isJSON else {
      values = [:]
      keyLines = [:]
      return
    }
    guard let mapping = node.mapping else {
      let expected = problems.isJSON ? "an object" : "keys and values"
      problems.mistake("\(place) is \(node.sketch)", line: line, field: path, expected: expected)
      return nil
    }
    var values: [String: Node] = [:]
    var keyLines: [String: Int] = [:]
    for (key, value) in mapping {
      let keyLine = key.mark?.line ?? line
      guard let name = key.scalar?.string, known.contains(name) else {
        let name = key.scalar?.string ?? "(a structure)"
        let hint = Spelling.nearest(to: name, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
        problems.mistake(
          "\(place): unknown key \"\(name)\"\(hint)",
          line: keyLine,
          field: path.isEmpty ? name : "\(path).\(name)",
          expected: "one of \(known.joined(separator: ", "))"
        )
        continue
      }
      values[name] = value
      keyLines[name] = keyLine
    }
    self.values = values
    self.keyLines = keyLines
    guard problems.isJSON else { return }
    for (key, value) in mapping where value.isNothing {
      let name = key.scalar?.string ?? ""
      mistake(name, "\(name) is null", expected: "a value, or no such key")
    }
  }

  /// The value of a key; an empty value counts as absent.
  subscript(_ key: String) -> Node? {
    guard let node = values[key], !node.isNothing else { return nil }
    return node
  }

  /// Returns whether the key is present with a value.
  func has(_ key: String) -> Bool { self[key] != nil }

  /// Returns the line of a key, or of the mapping if the key is absent.
  func line(of key: String) -> Int { keyLines[key] ?? line }

  /// Returns the path of a key in the tree.
  func path(of key: String) -> String {
    if key.isEmpty { return path }
    return path.isEmpty ? key : "\(path).\(key)"
  }

  /// Returns the path of an element of a key's list in the tree.
  func path(of key: String, _ index: Int) -> String { "\(path(of: key))[\(index)]" }

  /// Notes a mistake about a key.
  func mistake(_ key: String, _ message: String, expected: String? = nil) {
    problems.mistake(
      "\(place): \(message)",
      line: line(of: key),
      field: path(of: key),
      expected: expected
    )
  }

  /// Notes a warning about a key.
  func warning(_ key: String, _ message: String, expected: String? = nil) {
    problems.warning(
      "\(place): \(message)",
      line: line(of: key),
      field: path(of: key),
      expected: expected
    )
  }

  /// Returns the elements of a list with their paths in the tree; a key without a value gives an empty list.
  func list(_ key: String, of things: String) -> [(index: Int, path: String, node: Node)] {
    guard let node = self[key] else { return [] }
    guard let sequence = node.sequence else {
      mistake(key, "\(key) is \(node.sketch)", expected: "a list of \(things)")
      return []
    }
    return sequence.enumerated().map { ($0.offset, path(of: key, $0.offset), $0.element) }
  }

  /// Returns the mapping that is the value of a key.
  func fields(_ key: String, known: [String]) -> SiteFields? {
    guard let node = self[key] else { return nil }
    return SiteFields(
      node,
      place: place == "site" ? key : "\(place): \(key)",
      path: path(of: key),
      known: known,
      problems: problems
    )
  }
}

extension SiteFields {
  /// The type of a scalar in JSON; in YAML all three are plain text.
  enum Sort {
    case text, number, truth
  }

  /// Returns a scalar's text if it is of the expected type, which only JSON distinguishes.
  func text(of node: Node, _ sort: Sort) -> String? {
    guard let scalar = node.scalar else { return nil }
    guard problems.isJSON else { return scalar.string }
    let isQuoted = scalar.style == .doubleQuoted
    let isTruth = !isQuoted && ["true", "false"].contains(scalar.string)
    let found: Sort = isQuoted ? .text : isTruth ? .truth : .number
    return found == sort ? scalar.string : nil
  }

  /// Returns a text; nil if it is absent or noted as a mistake.
  func text(_ key: String) -> String? { parsed(key, expected: "a text") { $0 } }

  /// Returns a text that must be present and not empty.
  func requiredText(_ key: String, expected: String) -> String? {
    guard has(key) else {
      mistake(key, "\(key) is missing", expected: expected)
      return nil
    }
    return filledText(key, expected: expected)
  }

  /// Returns an optional text that must not be empty.
  func filledText(_ key: String, expected: String) -> String? {
    guard let text = text(key) else { return nil }
    guard text.contains(where: { !$0.isWhitespace }) else {
      mistake(key, "\(key) is empty", expected: expected)
      return nil
    }
    return text
  }

  /// Returns the value that a closure parses from the key's text, or notes a mistake with the expected form.
  func parsed<Value>(
    _ key: String,
    as sort: Sort = .text,
    expected: String,
    _ parse: (String) -> Value?
  ) -> Value? {
    guard let node = self[key] else { return nil }
    if let text = text(of: node, sort), let value = parse(text) { return value }
    mistake(key, "\(key) is \(node.sketch)", expected: expected)
    return nil
  }

  /// Returns an integer within bounds; JSON may write it with an empty fraction.
  func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    return parsed(key, as: .number, expected: expected) { text in
      let number = Int(text) ?? (problems.isJSON ? Double(text).flatMap { Int(exactly: $0) } : nil)
      return number.flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// Returns a number within bounds, in a unit that the message names.
  func number(_ key: String, in range: ClosedRange<Double>, unit: String = "") -> Double? {
    let bounds = "\(SiteFields.plain(range.lowerBound)) to \(SiteFields.plain(range.upperBound))"
    let expected = "a number from \(bounds)\(unit.isEmpty ? "" : " " + unit)"
    return parsed(key, as: .number, expected: expected) { text in
      Double(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// Returns a Boolean value.
  func flag(_ key: String) -> Bool? {
    parsed(key, as: .truth, expected: "true or false") { text in
      switch text {
      case "true": true
      case "false": false
      default: nil
      }
    }
  }

  /// Returns a time with its unit, greater than zero unless `allowingZero` is true.
  func time(_ key: String, allowingZero: Bool = false) -> TimeSpan? {
    parsed(key, expected: "a time with a unit, as in 350ms, 3s, 5m or 1h") { text in
      TimeSpan(written: text).flatMap { $0 > .zero || allowingZero ? $0 : nil }
    }
  }

  /// Formats a number without a needless fraction.
  static func plain(_ number: Double) -> String {
    number == number.rounded() && number.magnitude < 1e15 ? "\(Int(number))" : "\(number)"
  }
}

extension Node {
  /// Indicates whether the node has an empty value: `regions:` with nothing after it.
  var isNothing: Bool {
    guard let scalar, scalar.style == .plain else { return false }
    return scalar.string.isEmpty || scalar.string == "~" || scalar.string == "null"
  }

  /// The description of the node in messages.
  var sketch: String {
    switch self {
    case .scalar(let scalar): "\"\(PlainText.cut(scalar.string, to: 60))\""
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .alias: "an alias"
    }
  }
}
