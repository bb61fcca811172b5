import PharosReports
import Yams

/// One mapping of a site file or an object of a document: its values by key, each read as what it must be.
///
/// Every getter that finds something else notes the mistake and answers nil, so that reading goes on and all
/// mistakes come out together.
struct SiteFields {
  /// What the mapping describes, as messages name it: `region "entrance"`.
  let place: String
  /// Where it is in the tree; empty for the root.
  let path: String
  /// Where it starts.
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

  /// The value of a key; one that is written and empty counts as absent.
  subscript(_ key: String) -> Node? {
    guard let node = values[key], !node.isNothing else { return nil }
    return node
  }

  /// Whether the key stands in the file with a value.
  func has(_ key: String) -> Bool { self[key] != nil }

  /// The line of a key, or of the mapping where the key is absent.
  func line(of key: String) -> Int { keyLines[key] ?? line }

  /// Where a key is in the tree.
  func path(of key: String) -> String {
    if key.isEmpty { return path }
    return path.isEmpty ? key : "\(path).\(key)"
  }

  /// Where an element of a key's list is in the tree.
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

  /// Notes something about a key that deserves a look.
  func warning(_ key: String, _ message: String, expected: String? = nil) {
    problems.warning(
      "\(place): \(message)",
      line: line(of: key),
      field: path(of: key),
      expected: expected
    )
  }

  /// The elements of a list with their places in the tree; a key without a value is an empty one.
  func list(_ key: String, of things: String) -> [(index: Int, path: String, node: Node)] {
    guard let node = self[key] else { return [] }
    guard let sequence = node.sequence else {
      mistake(key, "\(key) is \(node.sketch)", expected: "a list of \(things)")
      return []
    }
    return sequence.enumerated().map { ($0.offset, path(of: key, $0.offset), $0.element) }
  }

  /// A mapping below a key.
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
  /// What a scalar is in JSON; to YAML all three are plain text.
  enum Sort {
    case text, number, truth
  }

  /// A scalar's text, if it is of the sort that was meant; JSON alone tells them apart.
  func text(of node: Node, _ sort: Sort) -> String? {
    guard let scalar = node.scalar else { return nil }
    guard problems.isJSON else { return scalar.string }
    let isQuoted = scalar.style == .doubleQuoted
    let isTruth = !isQuoted && ["true", "false"].contains(scalar.string)
    let found: Sort = isQuoted ? .text : isTruth ? .truth : .number
    return found == sort ? scalar.string : nil
  }

  /// A text; nil if absent, or noted as wrong.
  func text(_ key: String) -> String? { parsed(key, expected: "a text") { $0 } }

  /// A text that must be there and not be empty.
  func requiredText(_ key: String, expected: String) -> String? {
    guard has(key) else {
      mistake(key, "\(key) is missing", expected: expected)
      return nil
    }
    return filledText(key, expected: expected)
  }

  /// A text that must not be empty where it is.
  func filledText(_ key: String, expected: String) -> String? {
    guard let text = text(key) else { return nil }
    guard text.contains(where: { !$0.isWhitespace }) else {
      mistake(key, "\(key) is empty", expected: expected)
      return nil
    }
    return text
  }

  /// A value that a closure makes of the key's text; where it makes none, the mistake says what was expected.
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

  /// A whole number within bounds; JSON may write it with an empty fraction.
  func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    return parsed(key, as: .number, expected: expected) { text in
      let number = Int(text) ?? (problems.isJSON ? Double(text).flatMap { Int(exactly: $0) } : nil)
      return number.flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A number within bounds, in a unit that the message names.
  func number(_ key: String, in range: ClosedRange<Double>, unit: String = "") -> Double? {
    let bounds = "\(SiteFields.plain(range.lowerBound)) to \(SiteFields.plain(range.upperBound))"
    let expected = "a number from \(bounds)\(unit.isEmpty ? "" : " " + unit)"
    return parsed(key, as: .number, expected: expected) { text in
      Double(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A truth value.
  func flag(_ key: String) -> Bool? {
    parsed(key, as: .truth, expected: "true or false") { text in
      switch text {
      case "true": true
      case "false": false
      default: nil
      }
    }
  }

  /// A time with its unit, longer than nothing unless `allowingZero`.
  func time(_ key: String, allowingZero: Bool = false) -> TimeSpan? {
    parsed(key, expected: "a time with a unit, as in 350ms, 3s, 5m or 1h") { text in
      TimeSpan(written: text).flatMap { $0 > .zero || allowingZero ? $0 : nil }
    }
  }

  /// A number without a needless fraction.
  static func plain(_ number: Double) -> String {
    number == number.rounded() && number.magnitude < 1e15 ? "\(Int(number))" : "\(number)"
  }
}

extension Node {
  /// Whether the node is written and empty: `regions:` with nothing behind it.
  var isNothing: Bool {
    guard let scalar, scalar.style == .plain else { return false }
    return scalar.string.isEmpty || scalar.string == "~" || scalar.string == "null"
  }

  /// The node as messages show it.
  var sketch: String {
    switch self {
    case .scalar(let scalar): "\"\(PlainText.cut(scalar.string, to: 60))\""
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .alias: "an alias"
    }
  }
}
