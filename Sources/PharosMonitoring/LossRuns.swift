/// How an observer loses a beacon's adverts: how often a run of losses begins and how long it lasts.
///
/// Gilbert's channel of two states, good and bad: losses come in runs since a body or a busy channel stands in the way for
/// a while. Counts are halved when they reach a limit, so that a changed place is learned anew.
///
/// - Source: E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39, 1960.
struct LossRuns: Hashable, Sendable {
  /// The count at which all counts are halved: a few minutes of a fast beacon, an hour of a slow one.
  static let memory: Float = 512

  /// Adverts received after one that was received before.
  private(set) var received: Float = 0
  /// Runs of losses.
  private(set) var runs: Float = 0
  /// Adverts lost in them.
  private(set) var lost: Float = 0
  /// The longest run of late, fading by a thousandth with every advert received.
  private(set) var longest: Float = 0

  /// Notes how many adverts were missed before one was received; true if the run was longer than any of late.
  mutating func note(missed: Float) -> Bool {
    received += 1
    longest *= 0.999
    guard missed > 0 else {
      halveIfFull()
      return false
    }
    runs += 1
    lost += missed
    let isLongest = missed > longest
    longest = max(longest, missed)
    halveIfFull()
    return isLongest
  }

  private mutating func halveIfFull() {
    guard received >= LossRuns.memory else { return }
    received /= 2
    runs /= 2
    lost /= 2
  }

  /// The chance that a run of losses begins after an advert received, one pseudo-run in two adverts being assumed
  /// beforehand.
  var runChance: Double { Double(runs + 1) / Double(received + 2) }

  /// The chance that a run of losses goes on for one more, a mean run of three being assumed beforehand.
  var continuation: Double { 1 - Double(runs + 1) / Double(lost + 3) }

  /// The share of adverts received.
  var share: Double { received == 0 ? 0.5 : Double(received) / Double(received + lost) }

  /// The mean length of a run of losses, or 0 if there was none.
  var meanRun: Double { runs == 0 ? 0 : Double(lost / runs) }

  /// The smallest number of misses in a row whose chance is at most so small.
  func misses(ofChance chance: Double) -> Double {
    guard chance < runChance else { return 1 }
    return 1 + (Logarithm.base2(chance / runChance) / Logarithm.base2(continuation)).rounded(.up)
  }
}
