import PharosReports
import Yams

/// One mapping of a site file: its values by key, each read as what it must be.
///
/// Every getter that finds something else notes the mistake and answers nil, so that reading goes on and all
/// mistakes come out together.
struct SiteFields {
  /// What the mapping describes, as messages name it: `region "entrance"`.
  let place: String
  /// Where it starts.
  let line: Int
  let problems: SiteProblems
  private let values: [String: Node]
  private let keyLines: [String: Int]

  /// Reads a mapping; nil, with a mistake noted, if the node is none.
  init?(_ node: Node, place: String, known: [String], problems: SiteProblems) {
    let line = node.mark?.line ?? 1
    self.place = place
    self.line = line
    self.problems = problems
    guard !node.isNothing else {
      values = [:]
      keyLines = [:]
      return
    }
    guard let mapping = node.mapping else {
      problems.mistake("\(place) is \(node.sketch)", line: line, expected: "keys and values")
      return nil
    }
    var values: [String: Node] = [:]
    var keyLines: [String: Int] = [:]
    for (key, value) in mapping {
      let keyLine = key.mark?.line ?? line
      guard let name = key.scalar?.string, known.contains(name) else {
        SiteFields.noteUnknown(key, place: place, line: keyLine, known: known, problems: problems)
        continue
      }
      values[name] = value
      keyLines[name] = keyLine
    }
    self.values = values
    self.keyLines = keyLines
  }

  private static func noteUnknown(
    _ key: Node,
    place: String,
    line: Int,
    known: [String],
    problems: SiteProblems
  ) {
    let name = key.scalar?.string ?? "(a structure)"
    let hint = Spelling.nearest(to: name, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
    problems.mistake(
      "\(place): unknown key \"\(name)\"\(hint)",
      line: line,
      expected: "one of \(known.joined(separator: ", "))"
    )
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

  /// Notes a mistake about a key.
  func mistake(_ key: String, _ message: String, expected: String? = nil) {
    problems.mistake("\(place): \(message)", line: line(of: key), expected: expected)
  }

  /// Notes something about a key that deserves a look.
  func warning(_ key: String, _ message: String, expected: String? = nil) {
    problems.warning("\(place): \(message)", line: line(of: key), expected: expected)
  }

  /// A text; nil if absent, or noted as wrong.
  func text(_ key: String) -> String? {
    guard let node = self[key] else { return nil }
    guard let scalar = node.scalar else {
      mistake(key, "\(key) is \(node.sketch)", expected: "a text")
      return nil
    }
    return scalar.string
  }

  /// A text that must be there and not be empty.
  func requiredText(_ key: String, expected: String) -> String? {
    guard has(key) else {
      mistake(key, "\(key) is missing", expected: expected)
      return nil
    }
    guard let text = text(key) else { return nil }
    guard !text.isEmpty else {
      mistake(key, "\(key) is empty", expected: expected)
      return nil
    }
    return text
  }

  /// A value that a closure makes of the key's text; where it makes none, the mistake says what was expected.
  func parsed<Value>(_ key: String, expected: String, _ parse: (String) -> Value?) -> Value? {
    guard let node = self[key] else { return nil }
    if let text = node.scalar?.string, let value = parse(text) { return value }
    mistake(key, "\(key) is \(node.sketch)", expected: expected)
    return nil
  }

  /// A whole number within bounds.
  func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    parsed(key, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A number within bounds, in a unit that the message names.
  func number(_ key: String, in range: ClosedRange<Double>, unit: String = "") -> Double? {
    let bounds = "\(plain(range.lowerBound)) to \(plain(range.upperBound))"
    return parsed(key, expected: "a number from \(bounds)\(unit.isEmpty ? "" : " " + unit)") { text in
      Double(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A truth value.
  func flag(_ key: String) -> Bool? {
    parsed(key, expected: "true or false") { text in
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

  /// The elements of a list; a key without a value is an empty one.
  func list(_ key: String, of things: String) -> [Node] {
    guard let node = self[key] else { return [] }
    guard let sequence = node.sequence else {
      mistake(key, "\(key) is \(node.sketch)", expected: "a list of \(things)")
      return []
    }
    return Array(sequence)
  }

  /// A mapping below a key.
  func fields(_ key: String, known: [String]) -> SiteFields? {
    guard let node = self[key] else { return nil }
    return SiteFields(
      node,
      place: place == "site" ? key : "\(place): \(key)",
      known: known,
      problems: problems
    )
  }

  private func plain(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
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
    case .scalar(let scalar): "\"\(TextTable.cut(scalar.string, to: 60))\""
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .alias: "an alias"
    }
  }
}
