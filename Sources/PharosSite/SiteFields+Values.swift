import PharosReports
import Yams

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
