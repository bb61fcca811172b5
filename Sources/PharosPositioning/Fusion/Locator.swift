import PharosPlaces
package import PharosReports

/// Finds out where one subject is, from what its radios hear, how it moves, and what others say.
///
/// A particle filter. Everything given to it is held back by the lag, put in order of event time, and weighed once: a fix
/// for a time uses nothing that happened later, and neither the size of batches nor the moments of asking change any.
/// The same ground, rules, seed and input give the same fixes on every machine.
///
/// - Source: Gordon, Salmond and Smith, "Novel approach to nonlinear/non-Gaussian Bayesian state estimation", IEE
///   Proc. F 140 (1993).
package struct Locator: Sendable {
  let content: Ground.Content
  let rules: FusionRules
  var noise: FusionNoise
  var tracker: MotionTracker
  var inbox = LocatorInbox()
  package var cloud = ParticleCloud()
  var trail = WalkedTrail()
  var heard = HeardTable()
  /// Readings whose time has come, not weighed yet.
  var pool: [RadioReading] = []
  /// The readings of the last seconds, in order of when they were heard.
  var recent: [RadioReading] = []
  /// When the first evidence came since the belief was empty.
  var born: Timestamp?
  package var offset: LevelOffset
  var gait = LocatorGait()
  var evidence = LocatorEvidence()
  var sky = OutsideBelief()
  /// Everything up to here has been weighed.
  var now = Timestamp.distantPast
  /// When the next fix is for; nil before the first evidence, and after a silence.
  var next: Timestamp?
  /// The latest time that anything was given for.
  var newestInput = Timestamp.distantPast
  private var made: [FixEstimate] = []
  /// What was passed over, and why.
  package internal(set) var counters = Counters()

  /// How many fixes wait to be fetched at most; beyond, the oldest go, and are counted.
  static let mostWaiting = 64

  /// Makes a locator that knows nothing yet.
  ///
  /// - Parameters:
  ///   - ground: Where the subject may be.
  ///   - rules: The constants; nil for those of the ground. The table of likelihoods stays the ground's.
  ///   - seed: What chance is drawn from.
  package init(ground: Ground, rules: FusionRules? = nil, seed: UInt64) {
    content = ground.content
    self.rules = rules ?? ground.rules
    noise = FusionNoise(seed: seed)
    // Samples wait for the lag, and some more until their batch is complete.
    tracker = MotionTracker(horizon: self.rules.lag + .milliseconds(600))
    offset = LevelOffset(deviation: self.rules.receiverDeviation)
  }

  /// What was passed over, and why.
  package struct Counters: Hashable, Sendable {
    /// Readings that came later than the lag allows.
    package var late: UInt64 = 0
    /// Readings of emitters that the map does not know.
    package var unknown: UInt64 = 0
    /// Entries of scans that repeat what was weighed already, or that are too old.
    package var repeated: UInt64 = 0
    /// Readings beyond what is held back at a time.
    package var crowded: UInt64 = 0
    /// Locations from outside that are none.
    package var senseless: UInt64 = 0
    /// Fixes that were dropped because the caller did not fetch them in time.
    package var unfetched: UInt64 = 0
    /// Times that another place explained the readings much better than the belief, and part of the belief moved there.
    package var recoveries: UInt64 = 0

    /// Nothing yet.
    package init() {}
  }

  /// When the next fix can be made, by the clock of receive times; never while nothing is known.
  ///
  /// The first evidence makes one as soon as its time has come. It always lies beyond every receive time that the locator was
  /// advanced to: what was due up to there has been made, and what comes for an earlier time is refused as late.
  package var nextDue: Timestamp { (next ?? inbox.nextTime).map { $0 + rules.lag } ?? .distantFuture }

  /// The next fix that was made, or nil.
  package mutating func nextFix() -> FixEstimate? { made.isEmpty ? nil : made.removeFirst() }

  mutating func emit(_ fix: FixEstimate) {
    if made.count >= Locator.mostWaiting {
      made.removeFirst()
      counters.unfetched += 1
    }
    made.append(fix)
  }

  /// Lets time run on to a receive time, up to which everything was given.
  package mutating func advance(to received: Timestamp) { process(through: received - rules.lag) }
}

extension Locator {
  /// How many bytes the subject takes, its arrays counted as far as they are filled.
  ///
  /// At most 64 KiB with the default rules, and a third more with what arrays keep in
  /// reserve: what waits, what is remembered and how many particles there are is all bounded.
  package var bytes: Int {
    MemoryLayout<Locator>.size + cloud.count * 21 + recent.count * MemoryLayout<RadioReading>.stride
      + pool.count * MemoryLayout<RadioReading>.stride + inbox.bytes + heard.bytes + WalkedTrail.capacity * 16
      + 8_192
  }
}
