import PharosEvents
import PharosReports

/// What few tracks need.
struct Extras: Sendable {
  /// Long runs of losses, and gaps that may be another interval.
  var losses = RareLosses()
  /// How near it was ranged last.
  var proximity = ProximityClassifier()
  /// The interval that the directory declares, in seconds.
  var declared = Float.nan
  /// A level at one metre that is no whole number, in dBm.
  var power = Float.nan
  /// The seconds that are open.
  var seconds = SecondBuckets()
  /// The presences of all policies, where there are several, or where the first one looks at more than silence.
  var presences: [Presence] = []
  /// Further addresses of the identity.
  var others: [OtherAddress] = []
  /// The window of another filter than Kalman's.
  var window: LevelWindow?

  /// Whether there is nothing in them.
  var isEmpty: Bool {
    losses == RareLosses() && proximity.proximity == .unknown && declared.isNaN && power.isNaN
      && seconds.open.isEmpty && presences.isEmpty && others.isEmpty && window == nil
  }
}

/// Where the extras of a track lie.
///
/// `@unchecked`: a track copies it before a change if another track, which is a copy, shares it.
package final class ExtrasBox: @unchecked Sendable {
  // A track is changed through its engine alone, which is exclusive: checking each access again costs 40 instructions a ranged advert.
  @exclusivity(unchecked) var extras: Extras

  init(_ extras: Extras = Extras()) { self.extras = extras }
}

/// What is kept of an address that shares a track's identity with the one heard last.
struct OtherAddress: Sendable {
  var key: UInt64
  var sampleStart: Timestamp
  /// Until when it may be silent, under the most patient adaptive policy.
  var until: Timestamp
  /// What the first policy allowed it.
  var allowed: TimeSpan
  var intervals: IntervalLearner
  var history: LossHistory
}
