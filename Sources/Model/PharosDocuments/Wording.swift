/// The wording of numbers in sentences.
package enum Wording {
  /// A number with so many decimals and a true minus sign.
  package static func decimal(_ value: Double, places: Int) -> String {
    var scale: UInt64 = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = (abs(value) * Double(scale)).rounded()
    guard scaled < 1e15 else { return "?" }
    let whole = UInt64(scaled)
    let sign = value < 0 && whole > 0 ? "−" : ""
    guard places > 0 else { return "\(sign)\(whole)" }
    let rest = String(whole % scale)
    return "\(sign)\(whole / scale).\(String(repeating: "0", count: places - rest.count))\(rest)"
  }

  /// A probability, never rounded to certainty.
  package static func probability(_ value: Double) -> String {
    if value > 0.99 { return "over 0.99" }
    return value < 0.01 ? "under 0.01" : decimal(value, places: 2)
  }

  /// A level with its deviation, as in `−84.2 ± 1.9 dBm`.
  package static func level(_ level: Double, deviation: Double? = nil) -> String {
    let spread = deviation.map { "\u{A0}±\u{A0}\(decimal($0, places: 1))" } ?? ""
    return "\(decimal(level, places: 1))\(spread)\u{A0}dBm"
  }

  /// Returns a level of a configuration file, without needless decimals.
  package static func threshold(_ level: Double) -> String {
    "\(trimmed(decimal(level, places: 1)))\u{A0}dBm"
  }

  /// A distance.
  package static func meters(_ meters: Double) -> String { "\(trimmed(decimal(meters, places: 1)))\u{A0}m" }

  /// A share in percent.
  package static func percent(_ share: Double) -> String { "\(decimal(share * 100, places: 0))\u{A0}%" }

  /// A count with its noun, in the plural where it needs one.
  package static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  /// Returns a reason as a part of a longer sentence: without the full stop with which it may end.
  package static func clause(_ reason: Any) -> String {
    let text = "\(reason)"
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// So many times, in words where that reads better.
  package static func times(_ number: Int) -> String {
    switch number {
    case 1: "once"
    case 2: "twice"
    default: "\(number) times"
    }
  }

  /// Formats alternatives as a sentence has them: "a", "a or b", "a, b or c".
  package static func alternatives(_ texts: [String]) -> String {
    guard let last = texts.last, texts.count > 1 else { return texts.last ?? "" }
    return "\(texts.dropLast().joined(separator: ", ")) or \(last)"
  }

  /// Names one after the other with `and` before the last.
  package static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  /// A number without the zeros behind its last decimal that says something.
  package static func trimmed(_ number: String) -> String {
    guard number.contains(".") else { return number }
    var kept = Substring(number)
    while kept.last == "0" { kept.removeLast() }
    if kept.last == "." { kept.removeLast() }
    return String(kept)
  }
}
