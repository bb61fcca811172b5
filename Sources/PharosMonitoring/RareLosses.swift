/// What few tracks know about their losses: long runs, losses at low levels, and gaps that may be another interval.
///
/// It lies apart from the track, which nearly always has none of this.
struct RareLosses: Hashable, Sendable {
  /// Counts of what was received and lost at low levels.
  struct Counts: Hashable, Sendable {
    var received: UInt16 = 0
    var runs: UInt16 = 0
    var lost: UInt16 = 0
  }

  /// The count from which on all are halved, well before it is full.
  private static let fullFrom: UInt16 = 60_000

  /// Runs of at least eight losses, and what they lost beyond the eighth.
  var longRuns: UInt16 = 0
  var longLost: UInt16 = 0
  /// Runs of at least 32 losses, and what they lost beyond the 32nd.
  var longestRuns: UInt16 = 0
  var longestLost: UInt16 = 0
  /// What happened at low levels.
  var low = Counts()
  /// What happened far below the usual level.
  var far = Counts()
  /// The slowest interval that is known of a tag that is at rest now and then, in seconds, or 0.
  var slowest: Float = 0
  /// A gap that was too short for the interval, and may come again.
  var shorter: Float = 0
  /// A gap much longer than the interval, and may come again.
  var candidate: Float = 0
  /// The advert that it ended with, in its lowest bits.
  var candidateAt: UInt8 = 0
  /// How often it came in a row.
  var candidates: UInt8 = 0
  /// Whether a count is nearly full.
  var isFull = false

  /// Counts a run of at least eight losses.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  mutating func noteLong(_ missed: UInt16) -> Bool {
    longRuns = LossHistory.sum(longRuns, 1)
    longLost = LossHistory.sum(longLost, missed - UInt16(LossRuns.longFrom.0))
    isFull = isFull || longLost > RareLosses.fullFrom
    guard Float(missed) >= LossRuns.longFrom.1 else { return longRuns & (longRuns - 1) == 0 }
    longestRuns = LossHistory.sum(longestRuns, 1)
    longestLost = LossHistory.sum(longestLost, missed - UInt16(LossRuns.longFrom.1))
    return longestRuns & (longestRuns - 1) == 0
  }

  /// Takes back a run of so many losses.
  mutating func forgetLong(_ missed: Float) {
    longRuns -= longRuns > 0 && missed >= LossRuns.longFrom.0 ? 1 : 0
    longestRuns -= longestRuns > 0 && missed >= LossRuns.longFrom.1 ? 1 : 0
    longLost -= min(longLost, RareLosses.beyond(LossRuns.longFrom.0, missed))
    longestLost -= min(longestLost, RareLosses.beyond(LossRuns.longFrom.1, missed))
  }

  /// Counts half of everything.
  mutating func halve() {
    isFull = false
    longRuns /= 2
    longLost /= 2
    longestRuns /= 2
    longestLost /= 2
    for surroundings in UInt8(1)...2 {
      change(surroundings) { $0 = Counts(received: $0.received / 2, runs: $0.runs / 2, lost: $0.lost / 2) }
    }
  }

  /// Changes the counts of one of the low levels: 1 for low, 2 for far below.
  mutating func change(_ surroundings: UInt8, _ body: (inout Counts) -> Void) {
    if surroundings == 1 { body(&low) } else { body(&far) }
  }

  private static func beyond(_ length: Float, _ missed: Float) -> UInt16 {
    UInt16(max(min(missed, 4_096), length) - length)
  }
}
