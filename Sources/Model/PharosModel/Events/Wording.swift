import PharosDocuments

/// The wording of times.
extension Wording {
  /// The time of day in UTC with milliseconds.
  package static func clock(_ time: Timestamp) -> String { String(time.rfc3339.dropFirst(11).prefix(12)) }

  /// The date.
  package static func date(_ time: Timestamp) -> String { String(time.rfc3339.prefix(10)) }

  /// A time span in the unit and with the digits that people use for its size.
  package static func span(_ span: TimeSpan) -> String {
    let seconds = abs(span.seconds)
    switch seconds {
    case ..<0.9995: return "\(decimal(seconds * 1_000, places: 0))\u{A0}ms"
    case ..<9.995: return "\(trimmed(decimal(seconds, places: 2)))\u{A0}s"
    case ..<119.95: return "\(trimmed(decimal(seconds, places: 1)))\u{A0}s"
    case ..<7_199.5: return pair(Int(seconds.rounded()), 60, "min", "s")
    default: return pair(Int((seconds / 60).rounded()), 60, "h", "min")
    }
  }

  /// A time span that something lasted; nil for none, and for one that is too short to be stated in milliseconds.
  package static func lasting(_ span: TimeSpan?) -> String? {
    span.flatMap { $0.seconds < 0.0005 ? nil : Wording.span($0) }
  }

  /// The first three times of day of many.
  package static func clocks(_ times: [Timestamp], outOf count: Int? = nil) -> String {
    let shown = times.prefix(3).map(clock)
    let more = (count ?? times.count) - shown.count
    return more > 0 ? shown.joined(separator: ", ") + " and \(more) more" : list(shown)
  }

  private static func pair(_ count: Int, _ base: Int, _ large: String, _ small: String) -> String {
    let rest = count % base
    return rest == 0
      ? "\(count / base)\u{A0}\(large)" : "\(count / base)\u{A0}\(large)\u{A0}\(rest)\u{A0}\(small)"
  }
}
