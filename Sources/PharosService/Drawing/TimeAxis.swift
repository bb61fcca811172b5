package import PharosReports

/// Where a time lies in a picture, and which times are worth a tick.
package struct TimeAxis: Hashable, Sendable {
  /// The time at the left end.
  package let start: Timestamp
  /// The time at the right end, later than the start.
  package let end: Timestamp
  /// The left end.
  package let left: Double
  /// The right end.
  package let right: Double

  /// The steps between ticks that people read at a glance, in seconds.
  private static let steps: [Int64] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800,
    604_800,
  ]

  /// Makes an axis; one of no length is made a second long.
  package init(from start: Timestamp, to end: Timestamp, left: Double, right: Double) {
    self.start = start
    self.end = max(end, start + .seconds(1))
    self.left = left
    self.right = right
  }

  /// Where a time lies; times beyond the ends lie at the ends.
  package func x(of time: Timestamp) -> Double {
    guard time > start else { return left }
    guard time < end else { return right }
    return left + (right - left) * ((time - start) / (end - start))
  }

  /// The width of a time span.
  package func width(of span: TimeSpan) -> Double { (right - left) * (span / (end - start)) }

  /// One tick.
  package struct Tick: Hashable, Sendable {
    /// Where it stands.
    package var x: Double
    /// What it says: the time of day in UTC, or the date where a day begins.
    package var label: String
  }

  /// Ticks at round times of day, so many that labels of the given width do not touch.
  package func ticks(labelWidth: Double = 80) -> [Tick] {
    let most = max(1, Int64((right - left) / labelWidth))
    let seconds = Int64((end - start).seconds.rounded(.up))
    let last = TimeAxis.steps[TimeAxis.steps.count - 1]
    // Longer than a year of weeks: whole multiples of weeks.
    let step = TimeAxis.steps.first { seconds / $0 < most } ?? last * (seconds / last / most + 1)
    let length = step * 1_000_000_000
    let remainder = start.nanoseconds % length
    let offset = remainder > 0 ? length - remainder : -remainder
    var ticks: [Tick] = []
    var time = Timestamp(nanoseconds: start.nanoseconds + offset)
    while time <= end {
      ticks.append(Tick(x: x(of: time), label: TimeAxis.label(time, step: step)))
      time = time + TimeSpan(nanoseconds: length)
    }
    return ticks
  }

  private static func label(_ time: Timestamp, step: Int64) -> String {
    let text = time.rfc3339
    let isMidnight = time.nanoseconds % 86_400_000_000_000 == 0
    if isMidnight || step >= 86_400 { return String(text.prefix(10)) }
    return String(text.dropFirst(11).prefix(step < 60 ? 8 : 5))
  }
}
