import PharosReports

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How often something happens of late: a count that fades.
///
/// Two numbers instead of a window of times. The estimate is corrected for how short the history is, so that it is
/// right from the second occurrence on.
struct DecayingRate: Sendable {
  /// How fast the past fades: ten seconds hold some ten adverts of a slow beacon and follow a change while one looks.
  static let memory = 10.0

  private var start: Timestamp
  private var last: Timestamp
  private var level = 0.0

  /// Starts counting.
  init(at time: Timestamp) {
    start = time
    last = time
  }

  /// Counts occurrences; `weight` stands for so many of which one was looked at.
  mutating func note(at time: Timestamp, weight: Double = 1) {
    level = level(at: time) + weight
    last = max(last, time)
  }

  /// Occurrences in a second, or nil as long as the history is shorter than that.
  func perSecond(at time: Timestamp) -> Double? {
    let age = (max(time, last) - start).seconds
    guard age >= 1 else { return nil }
    return level(at: time) / (DecayingRate.memory * (1 - exp(-age / DecayingRate.memory)))
  }

  private func level(at time: Timestamp) -> Double {
    let gap = (time - last).seconds
    return gap > 0 ? level * exp(-gap / DecayingRate.memory) : level
  }
}
