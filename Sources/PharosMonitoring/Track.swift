import PharosEvents
package import PharosReports

/// The state kept for one (observer, beacon) pair.
///
/// Flat, in an order without holes, and as small as can be, since a large site keeps millions: 128 bytes, two cache lines.
/// What nearly every track needs lies in it: its identity, its latest sample, the learned interval, the filters, the
/// counts of what was lost, and the presence under its first policy as long as that looks at silence alone. What few
/// tracks need lies in ``Extras``, which are made when first needed. What may be missing among the numbers is not a number.
///
/// The same fact stands in one place only. The address of an identity that has one is that of its samples; when the latest
/// sample began is told as a distance from ``lastHeard``.
package struct Track: Sendable {
  /// Reports within so long of a sample's first one join it: three channels, scan responses, auxiliary PDUs.
  static let joinSpan = TimeSpan.milliseconds(15)

  // The first cache line: whose it is, and when it was heard.
  private let high: UInt64
  private let low: UInt64
  private let tail: UInt32
  /// The observer's epoch when it was last looked up who asks about the beacon.
  var epoch: UInt32
  /// Its own time: never goes back.
  package var lastHeard: Timestamp
  /// The address and advertising set of the latest sample; the address is part of the identity if that is keyed by it.
  package var sampleKey: UInt64 {
    didSet { if isKeyed { sampleKey = Track.key(sampleKey, withAddressOf: oldValue) } }
  }
  /// How many samples there were.
  var samples: UInt32 = 0
  /// How long before ``lastHeard`` the latest sample began, in nanoseconds, and what must be known for every advert.
  var sample: TaggedNumber
  /// The number of the match set.
  var matchSet: Int32
  var intervals = IntervalLearner()
  /// The level at one metre in whole dBm, or what stands for none and for one that is no whole number.
  var wholePower = Track.noPower

  // The second cache line: what it was heard like, and what was lost.
  var usual = UsualLevel()
  var kalman = KalmanLevel(first: .nan)
  var recentRuns: UInt8 = 0
  var recentLost: UInt16 = 0
  var sampleLevel = Float.nan
  package var runs: Float = 0
  var lost: Float = 0
  /// While the first presence is outside the sample that counted last, otherwise when the visit began.
  var moment = Timestamp.distantPast
  /// The silence that the first policy allows now, in milliseconds.
  var allowedMilliseconds = Track.allowedForEver
  /// The first policy.
  private(set) var policy: UInt16
  var standing: Standing
  /// What few tracks need.
  package var box: ExtrasBox?

  package init(beacon: BeaconID, at time: Timestamp, number: Int32, set: borrowing MatchSet, epoch: UInt32) {
    let words = beacon.words
    (high, low, tail) = (words.high, words.low, UInt32(truncatingIfNeeded: words.tail))
    sampleKey = words.address & Track.addressMask
    var marks = Marks(kind: beacon.kind)
    marks.insert(.live)
    if words.address != 0 { marks.insert(.keyed) }
    sample = TaggedNumber(Track.noSample, flags: marks.rawValue)
    lastHeard = time
    matchSet = number
    self.epoch = epoch
    policy = set.policies.first ?? 0
    standing = []
    hasLevels = set.hasLevels
    needsSeconds = set.needsSeconds
    if set.policies.count > 1 { presences = set.policies.map(Presence.init) }
  }

  /// The identity.
  package var beacon: BeaconID {
    @inline(__always) get {
      let marks = self.marks
      return BeaconID(
        kind: marks.kind,
        high: high,
        low: low,
        tail: tail,
        addressWord: marks.contains(.keyed) ? sampleKey & Track.addressMask | 1 << 63 : 0
      )
    }
  }

  /// Whether it is a beacon's, and who asks about it has been looked up in an epoch.
  @inline(__always)
  package func isKnown(as beacon: BeaconID, epoch: UInt32) -> Bool {
    self.epoch == epoch && self.beacon == beacon && isLive
  }

  /// Takes over a new match set; a policy that stays keeps its presence.
  mutating func rematch(_ number: Int32, epoch: UInt32, from old: MatchSet, to new: MatchSet) {
    self.epoch = epoch
    matchSet = number
    hasLevels = new.hasLevels
    needsSeconds = new.needsSeconds
    guard old.policies != new.policies else { return noteCalm() }
    let kept = old.policies.indices.map { self[presence: $0] }
    let presences = new.policies.map { policy in
      kept.first { $0.policy == policy } ?? Presence(policy: policy)
    }
    self.presences = []
    policy = new.policies.first ?? 0
    first = presences.first ?? Presence(policy: 0)
    if presences.count > 1 { self.presences = presences }
    noteCalm()
  }

  /// The bits of a key that are the address.
  private static let addressMask: UInt64 = 1 << 48 - 1

  private static func key(_ key: UInt64, withAddressOf other: UInt64) -> UInt64 {
    key & ~addressMask | other & addressMask
  }
}
