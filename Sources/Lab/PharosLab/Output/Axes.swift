package import PharosModel

/// A horizontal time axis of a picture, with its ticks.
package struct TimeAxis: Hashable, Sendable {
  /// The time at the left end.
  package let start: Timestamp
  /// The time at the right end, later than the start.
  package let end: Timestamp
  /// The left end.
  package let left: Double
  /// The right end.
  package let right: Double
  /// Indicates whether labels tell the time since the start rather than the time of day.
  private let isElapsed: Bool

  /// The steps between ticks that people read at a glance, in seconds.
  private static let steps: [Int64] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800,
    604_800,
  ]

  /// Makes an axis; one of no length is made a second long.
  package init(
    from start: Timestamp,
    to end: Timestamp,
    left: Double,
    right: Double,
    isElapsed: Bool = false
  ) {
    self.isElapsed = isElapsed
    self.start = start
    self.end = max(end, start + .seconds(1))
    self.left = left
    self.right = right
  }

  /// Returns the position of a time; times beyond the ends lie at the ends.
  package func x(of time: Timestamp) -> Double {
    guard time > start else { return left }
    guard time < end else { return right }
    return left + (right - left) * ((time - start) / (end - start))
  }

  /// The width of a time span.
  package func width(of span: TimeSpan) -> Double { (right - left) * (span / (end - start)) }

  /// One tick.
  package struct Tick: Hashable, Sendable {
    /// The position of the tick.
    package var x: Double
    /// The label: the time of day in UTC, or the date where a day begins.
    package var label: String
  }

  /// Ticks at round times of day, so many that labels of the given width do not touch.
  package func ticks(labelWidth: Double = 80) -> [Tick] {
    let maximum = max(1, Int64((right - left) / labelWidth))
    let seconds = Int64((end - start).seconds.rounded(.up))
    let last = TimeAxis.steps[TimeAxis.steps.count - 1]
    // Longer than a year of weeks: whole multiples of weeks.
    let step = TimeAxis.steps.first { seconds / $0 < maximum } ?? last * (seconds / last / maximum + 1)
    let length = step * 1_000_000_000
    let remainder = start.nanoseconds % length
    let offset = remainder > 0 ? length - remainder : -remainder
    var ticks: [Tick] = []
    var time = Timestamp(nanoseconds: start.nanoseconds + offset)
    while time <= end {
      ticks.append(Tick(x: x(of: time), label: label(time, step: step)))
      time = time + TimeSpan(nanoseconds: length)
    }
    return ticks
  }

  private func label(_ time: Timestamp, step: Int64) -> String {
    if isElapsed {
      let seconds = Int((time - start).seconds.rounded())
      return step < 60 ? "\(seconds) s" : "\(seconds / 60) min"
    }
    let text = time.rfc3339
    let isMidnight = time.nanoseconds % 86_400_000_000_000 == 0
    if isMidnight || step >= 86_400 { return String(text.prefix(10)) }
    return String(text.dropFirst(11).prefix(step < 60 ? 8 : 5))
  }
}

/// A vertical axis of numbers in a picture, larger ones higher, with its ticks.
package struct ValueAxis: Hashable, Sendable {
  /// The number at the lower end.
  package let lowest: Double
  /// The number at the upper end, larger than the lowest.
  package let highest: Double
  /// The upper end.
  package let top: Double
  /// The lower end.
  package let bottom: Double

  /// Makes an axis that begins and ends at round numbers and holds all that is given.
  ///
  /// - Parameters:
  ///   - lowest: The smallest number to show.
  ///   - highest: The largest number to show.
  ///   - top: The upper end.
  ///   - bottom: The lower end.
  ///   - step: The unit to whole multiples of which the ends are rounded outwards.
  package init(from lowest: Double, to highest: Double, top: Double, bottom: Double, step: Double) {
    let lower = (lowest / step).rounded(.down) * step
    self.lowest = lower
    self.highest = max((highest / step).rounded(.up) * step, lower + step)
    self.top = top
    self.bottom = bottom
  }

  /// Returns the position of a number; numbers beyond the ends lie at the ends.
  package func y(of value: Double) -> Double {
    let share = (min(max(value, lowest), highest) - lowest) / (highest - lowest)
    return bottom - (bottom - top) * share
  }

  /// One tick.
  package struct Tick: Hashable, Sendable {
    /// The position of the tick.
    package var y: Double
    /// The label of the tick.
    package var label: String
  }

  /// Ticks at multiples of 1, 2 or 5 times a power of ten, at least so far apart.
  package func ticks(spacing: Double = 28) -> [Tick] {
    let maximum = max(1, (bottom - top) / spacing)
    let step = ValueAxis.step(for: (highest - lowest) / maximum)
    var ticks: [Tick] = []
    var value = (lowest / step).rounded(.up) * step
    while value <= highest + step / 1_000 {
      ticks.append(Tick(y: y(of: value), label: ValueAxis.label(value)))
      value += step
    }
    return ticks
  }

  /// The smallest round step that is not below a number.
  private static func step(for minimum: Double) -> Double {
    var power = 1.0
    while power > minimum { power /= 10 }
    while power * 10 <= minimum { power *= 10 }
    return [1, 2, 5].map { $0 * power }.first { $0 >= minimum } ?? power * 10
  }

  private static func label(_ value: Double) -> String {
    let text = SVGDocument.number(value)
    return text.hasPrefix("-") ? "−" + text.dropFirst() : text
  }
}

/// Places labels above a time axis in rows, so that none covers another.
///
/// Each label goes to the lowest row where it fits; one that fits nowhere is left out and counted, since a picture
/// that says "and 4 more" is better than one that cannot be read.
package struct LabelRows: Sendable {
  /// The free space between two labels of a row.
  ///
  /// - Units: pixels.
  package static let gap = 8.0

  /// The position of a label.
  package struct Place: Hashable, Sendable {
    /// Its left end.
    package var left: Double
    /// Its row, from 0.
    package var row: Int
  }

  private let left: Double
  private let right: Double
  private var occupied: [[ClosedRange<Double>]]
  /// The number of labels that found no place.
  package private(set) var omitted = 0

  /// Makes so many empty rows between two ends.
  package init(rows: Int, left: Double, right: Double) {
    occupied = Array(repeating: [], count: rows)
    self.left = left
    self.right = right
  }

  /// Takes a place for a label as near to its point as the ends allow; nil if every row is taken there.
  package mutating func place(at x: Double, width: Double) -> Place? {
    let start = max(left, min(x - width / 2, right - width))
    let range = start...(start + width + LabelRows.gap)
    for row in occupied.indices where !occupied[row].contains(where: { $0.overlaps(range) }) {
      occupied[row].append(range)
      return Place(left: start, row: row)
    }
    omitted += 1
    return nil
  }
}
