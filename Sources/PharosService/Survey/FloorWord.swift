/// Floors as surveyors call them: `F1` is the ground floor, `B1` the one below it.
package enum FloorWord {
  /// The number that a name stands for, 0 for the ground floor; nil if it is no such name.
  ///
  /// Read are `F1`, `1F`, `L1`, `1L`, `B1`, `1B` and plain whole numbers, which count from 0.
  package static func level(_ name: String) -> Int? {
    let word = trimmed(name).uppercased()
    if let level = Int(word.hasSuffix(".0") ? String(word.dropLast(2)) : word) { return level }
    guard let first = word.first, let last = word.last, word.count > 1 else { return nil }
    if let number = digits(word.dropFirst()) { return level(first, number) }
    return digits(word.dropLast()).flatMap { level(last, $0) }
  }

  /// The name of a floor.
  package static func name(_ level: Int) -> String { level < 0 ? "B\(-level)" : "F\(level + 1)" }

  private static func level(_ letter: Character, _ number: Int) -> Int? {
    switch letter {
    case "F", "L": number - 1
    case "B": -number
    default: nil
    }
  }

  private static func digits(_ text: Substring) -> Int? {
    text.allSatisfy { ("0"..."9").contains($0) } ? Int(text) : nil
  }

  /// A text without the blanks around it.
  static func trimmed(_ text: some StringProtocol) -> String {
    var text = text[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
