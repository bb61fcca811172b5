/// How an observer loses a beacon's adverts: how often a run of losses begins and how long it lasts.
///
/// Gilbert's channel of two states, good and bad: losses come in runs since a body or a busy channel stands in the way for
/// a while. Long runs are counted by themselves as well (peaks over a threshold), because real channels have more than one
/// kind of bad state and the longest runs decide how long a silence may last.
///
/// - Source: E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39, 1960; J. Pickands,
///   "Statistical inference using extreme order statistics", Annals of Statistics 3, 1975.
package struct LossRuns: Hashable, Sendable {
  /// The lengths from which on runs count as long.
  static let longFrom: (Float, Float) = (8, 32)

  /// Adverts received after one that was received before.
  package var received: Float = 0
  /// Runs of losses.
  package var runs: Float = 0
  /// Adverts lost in them.
  package var lost: Float = 0
  /// Runs of at least eight losses.
  var longRuns: Float = 0
  /// What they lost beyond the eighth.
  var longLost: Float = 0
  /// Runs of at least 32 losses.
  var longestRuns: Float = 0
  /// What they lost beyond the 32nd.
  var longestLost: Float = 0

  package init(
    received: Float = 0,
    runs: Float = 0,
    lost: Float = 0,
    longRuns: Float = 0,
    longLost: Float = 0,
    longestRuns: Float = 0,
    longestLost: Float = 0
  ) {
    self.received = received
    self.runs = runs
    self.lost = lost
    self.longRuns = longRuns
    self.longLost = longLost
    self.longestRuns = longestRuns
    self.longestLost = longestLost
  }

  /// Notes a run of losses that ended with an advert received, which is counted elsewhere.
  mutating func note(missed: Float) {
    runs += 1
    lost += missed
    guard missed >= LossRuns.longFrom.0 else { return }
    longRuns += 1
    longLost += missed - LossRuns.longFrom.0
    guard missed >= LossRuns.longFrom.1 else { return }
    longestRuns += 1
    longestLost += missed - LossRuns.longFrom.1
  }

  /// Adds what another count holds, weighted.
  mutating func add(_ other: LossRuns, weight: Float = 1) {
    received += other.received * weight
    runs += other.runs * weight
    lost += other.lost * weight
    longRuns += other.longRuns * weight
    longLost += other.longLost * weight
    longestRuns += other.longestRuns * weight
    longestLost += other.longestLost * weight
  }

  /// The same shares with a part of the weight.
  func scaled(by weight: Float) -> LossRuns {
    var scaled = LossRuns()
    scaled.add(self, weight: weight)
    return scaled
  }

  /// The same shares in the weight of at most so many adverts.
  func limited(to most: Float) -> LossRuns { received > most ? scaled(by: most / received) : self }

  /// The share of adverts received.
  package var share: Double { received == 0 ? 0.5 : Double(received) / Double(received + lost) }

  /// The mean length of a run of losses, or 0 if there was none.
  var meanRun: Double { runs == 0 ? 0 : Double(lost / runs) }
}
