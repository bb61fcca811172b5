/// Where a number lies in a picture, larger ones higher, and which numbers are worth a tick.
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
  ///   - step: To whole multiples of what the ends are rounded outwards.
  package init(from lowest: Double, to highest: Double, top: Double, bottom: Double, step: Double) {
    let lower = (lowest / step).rounded(.down) * step
    self.lowest = lower
    self.highest = max((highest / step).rounded(.up) * step, lower + step)
    self.top = top
    self.bottom = bottom
  }

  /// Where a number lies; numbers beyond the ends lie at the ends.
  package func y(of value: Double) -> Double {
    let share = (min(max(value, lowest), highest) - lowest) / (highest - lowest)
    return bottom - (bottom - top) * share
  }

  /// One tick.
  package struct Tick: Hashable, Sendable {
    /// Where it stands.
    package var y: Double
    /// What it says.
    package var label: String
  }

  /// Ticks at multiples of 1, 2 or 5 times a power of ten, at least so far apart.
  package func ticks(spacing: Double = 28) -> [Tick] {
    let most = max(1, (bottom - top) / spacing)
    let step = ValueAxis.step(for: (highest - lowest) / most)
    var ticks: [Tick] = []
    var value = (lowest / step).rounded(.up) * step
    while value <= highest + step / 1_000 {
      ticks.append(Tick(y: y(of: value), label: ValueAxis.label(value)))
      value += step
    }
    return ticks
  }

  /// The smallest round step that is not below a number.
  private static func step(for least: Double) -> Double {
    var power = 1.0
    while power > least { power /= 10 }
    while power * 10 <= least { power *= 10 }
    return [1, 2, 5].map { $0 * power }.first { $0 >= least } ?? power * 10
  }

  private static func label(_ value: Double) -> String {
    let text = SVGDocument.number(value)
    return text.hasPrefix("-") ? "−" + text.dropFirst() : text
  }
}
