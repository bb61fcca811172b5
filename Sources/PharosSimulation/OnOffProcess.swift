package import PharosReports

/// Something that comes and goes by chance: interference, or a body that stands in the way.
///
/// A Markov chain of two states in continuous time. It is looked at whenever an advert passes, and the chance of
/// either state follows from the time since the last look, so that looking more often changes nothing.
///
/// - Source: Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39 (1960).
package struct OnOffProcess: Sendable {
  private var isOn = false
  private var lookedAt: TimeSpan?

  package init() {}

  /// Whether it is on at a time, which must not lie before the last one asked for.
  ///
  /// - Parameters:
  ///   - time: The time since the scene began.
  ///   - share: How much of the time it is on, below 1.
  ///   - duration: How long it stays on in the mean.
  ///   - random: Where chance comes from.
  /// - Returns: Whether it is on.
  package mutating func isOn(
    at time: TimeSpan,
    share: Double,
    duration: TimeSpan,
    random: inout RandomStream
  ) -> Bool {
    guard share > 0 else { return false }
    guard let previous = lookedAt else {
      lookedAt = time
      isOn = random.chance(share)
      return isOn
    }
    lookedAt = time
    // The rates of leaving the two states are 1/duration and share/(duration·(1−share)); their sum decides how
    // fast the chain forgets.
    let elapsed = (time - previous) / duration
    let memory = RadioMath.exponential(-elapsed / (1 - share))
    isOn = random.chance(share + ((isOn ? 1 : 0) - share) * memory)
    return isOn
  }
}
