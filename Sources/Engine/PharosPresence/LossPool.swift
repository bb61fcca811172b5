package import PharosDocuments
import PharosModel

/// The losses that an observer has learned from all tracks of one family together.
///
/// A track with little history leans on it, and the more so the more alike the tracks have been: the weight of the pool is
/// that of a Beta prior whose variance is what was seen between stretches of adverts (empirical Bayes).
///
/// - Source: B. Efron and C. Morris, "Stein's estimation rule and its competitors", Journal of the American Statistical
///   Association 68, 1973; overdispersion of a beta-binomial by moments.
package struct LossPool: Hashable, Sendable {
  /// The counts of one range of levels.
  struct Band: Hashable, Sendable {
    var counts = LossRuns()
    /// The mean of squared differences between stretches, in units of what chance alone would make.
    var dispersion: Float = 2
    var stretches: Float = 0
    /// The track whose long runs last longest.
    var worst = WorstTrack()
  }

  /// All that one track has counted, and its interval in seconds.
  package struct WorstTrack: Hashable, Sendable {
    package var losses = LossRuns()
    package var interval: Float = 0

    package init() {}

    package init(losses: LossRuns, interval: Float) {
      self.losses = losses
      self.interval = interval
    }
  }

  /// The longest memory of a band, in adverts: twelve days of one beacon that sends once a second.
  private static let memory: Float = 1_048_576
  /// The most adverts that the pool may stand for, and the most runs of losses where it takes more adverts to see so many.
  ///
  /// More of them tell nothing more of the chance that a run begins, but would drown what a track has seen itself.
  private static let maximumCounts: (adverts: Float, runs: Float) = (32_768, 64)
  /// The fewest adverts that a pool with enough of them stands for: a few of a track's own say less.
  private static let minimumWeight: Float = 32
  /// The false exits a day by which tracks are compared.
  private static let budget = PresencePolicy().falseExitsPerDay
  /// The length of a stretch in the mean.
  private static let stretch: Float = 64
  /// The number of adverts for which a stretch may stand while there are few: they tell little of how alike tracks are.
  private static let stretchesWeight: Float = 16
  private static let fewStretches: Float = 256

  /// The prior of bodies that hide a beacon, and of the time in which they do.
  ///
  /// 150 a day in the weight of a tenth of one, since places differ by orders of magnitude.
  private static let bodiesBefore = (hidings: 0.1, seconds: 57.6)
  /// The longest memory of bodies.
  ///
  /// - Units: seconds; a hundred days of one beacon.
  private static let bodyMemory: Float = 8_640_000

  var strong = Band()
  var middle = Band()
  var weak = Band()
  /// The interval that tracks of the family had of late, in seconds, or 0.
  var interval: Float = 0
  /// The number of tracks that agreed on it, less those that did not.
  var agreeing = 0
  /// The last interval that was another.
  var rival: Float = 0
  /// The slowest interval of its tracks that come to rest now and then, in seconds, or 0.
  var slowest: Float = 0
  /// The share of its tracks that do.
  var slowShare: Float = 0
  var looks: Float = 0
  /// The interval of the track that came to rest last for the first time, in seconds, or 0.
  var latestRest: Float = 0
  /// The time for which tracks were watched that a body could hide, as far as it would have shown, in seconds.
  var bodyWatch: Float = 0
  /// The number of times that one of them fell silent as if a body hid it.
  var hidings: Float = 0

  package init() {}

  /// The number of times a day that a body hides a beacon that is not too loud for it: the mean of a Gamma distribution.
  package var bodiesPerDay: Double {
    86_400 * (LossPool.bodiesBefore.hidings + Double(hidings))
      / (LossPool.bodiesBefore.seconds + Double(bodyWatch))
  }

  /// Counts a silence that ordinary losses do not explain.
  package mutating func recordHiding() { hidings += 1 }

  /// Adds some seconds of watching a track that a body could hide.
  package mutating func recordWatch(_ seconds: Float) {
    bodyWatch += seconds
    guard bodyWatch > LossPool.bodyMemory else { return }
    bodyWatch /= 2
    hidings /= 2
  }

  /// Records the slow interval of a track that came to rest for the first time: the second track with the same one
  /// shows that the family has it.
  package mutating func recordRest(_ interval: Float) {
    if (interval - latestRest).magnitude < interval * 0.04 + IntervalLearner.jitter {
      slowest = max(slowest, interval)
      slowShare = max(slowShare, 0.5)
    }
    latestRest = interval
  }

  /// The slowest interval to expect of a track of the family, or 0 if hardly any comes to rest.
  package var expectedSlowest: Float { slowShare > 0.2 ? slowest : 0 }

  /// The interval that all tracks of the family have, in seconds, or 0.
  package var commonInterval: Float { agreeing >= 2 && expectedSlowest == 0 ? interval : 0 }

  /// Records a track's intervals.
  ///
  /// - Parameters:
  ///   - learner: the learner that knows the interval.
  ///   - slowest: its slowest interval, or 0.
  package mutating func record(_ learner: IntervalLearner, slowest: Float) {
    agree(on: learner)
    looks = min(looks + 1, 32)
    slowShare += ((slowest > 0 ? 1 : 0) - slowShare) / looks
    self.slowest = max(self.slowest, slowest)
  }

  private mutating func agree(on learner: IntervalLearner) {
    let new = learner.interval
    if LossPool.isAlike(new, interval) {
      agreeing = min(agreeing + 1, 8)
      interval = new
    } else if LossPool.isAlike(new, rival) {
      (interval, rival, agreeing) = (new, 0, 2)
    } else if interval == 0 {
      (interval, agreeing) = (new, 1)
    } else if new < interval * 1.5 || learner.received >= LossPool.stretch {
      rival = new
      agreeing = max(0, agreeing - 1)
    }
    // Else it is a young track that takes several intervals for one.
  }

  private static func isAlike(_ new: Float, _ known: Float) -> Bool {
    (new - known).magnitude < known * 0.1 + IntervalLearner.jitter / 2
  }

  /// Takes a stretch of adverts of one track that were heard at about this level, and all that the track has counted.
  package mutating func add(_ stretch: LossRuns, of track: WorstTrack = WorstTrack(), level: Float) {
    guard stretch.received > 0 else { return }
    if level >= -75 || level.isNaN {
      LossPool.add(stretch, of: track, to: &strong)
    } else if level >= -85 {
      LossPool.add(stretch, of: track, to: &middle)
    } else {
      LossPool.add(stretch, of: track, to: &weak)
    }
  }

  /// Returns the track at about this level whose long runs last longest.
  package func worst(level: Float) -> WorstTrack {
    level >= -75 || level.isNaN ? strong.worst : level >= -85 ? middle.worst : weak.worst
  }

  private static func add(_ stretch: LossRuns, of track: WorstTrack, to band: inout Band) {
    // What was worst fades within some hundred stretches: its track may have gone, or its place got better.
    band.worst.losses = band.worst.losses.scaled(by: 1 - 1.0 / 512)
    if track.losses.received >= LossPool.stretch, track.losses.hasWorseTail(than: band.counts),
      track.silence(budget: budget) > band.worst.silence(budget: budget)
    {
      band.worst = track
    }
    if band.stretches >= 1 {
      let chance = min(max((band.counts.runs + 0.5) / (band.counts.received + 1), 1 / memory), 0.98)
      let difference = stretch.runs - stretch.received * chance
      let expected = max(stretch.received * chance * (1 - chance), 0.05)
      let rate = 1 / min(band.stretches + 1, 64)
      band.dispersion += (min(difference * difference / expected, 64) - band.dispersion) * rate
    }
    band.stretches = min(band.stretches + 1, 1_024)
    band.counts.add(stretch)
    if band.counts.received >= memory { band.counts = band.counts.scaled(by: 0.5) }
  }

  /// Returns the prior of a track at about this level, in the number of adverts that the pool is worth.
  package func belief(level: Float) -> LossRuns {
    let band = level >= -75 || level.isNaN ? strong : level >= -85 ? middle : weak
    if band.counts.received >= LossPool.stretch {
      let maximum = LossPool.maximumCounts.runs * band.counts.received / (band.counts.runs + 0.5)
      return LossPool.belief(band, maximum: max(LossPool.maximumCounts.adverts, maximum))
    }
    var all = Band()
    for other in [strong, middle, weak] {
      all.counts.add(other.counts)
      all.stretches += other.stretches
    }
    return LossPool.belief(all, maximum: 32)
  }

  private static func belief(_ band: Band, maximum: Float) -> LossRuns {
    let counts = band.counts
    guard counts.received > 0 else { return LossRuns() }
    let between = max(band.dispersion - 1, stretch / memory)
    let believed = band.stretches < fewStretches ? stretchesWeight * band.stretches : maximum
    let weight = min(max(stretch / between, minimumWeight), maximum, believed, counts.received)
    return counts.scaled(by: weight / counts.received)
  }
}

/// The losses of a beacon's adverts at an observer: how often a run of losses begins and how long it lasts.
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
  /// Adverts lost in them beyond the eighth.
  var longLost: Float = 0
  /// Runs of at least 32 losses.
  var cappedRuns: Float = 0
  /// Adverts lost in them beyond the 32nd.
  var cappedLost: Float = 0

  package init() {}

  package init(
    received: Float = 0,
    runs: Float = 0,
    lost: Float = 0,
    longRuns: Float = 0,
    longLost: Float = 0,
    cappedRuns: Float = 0,
    cappedLost: Float = 0
  ) {
    self.received = received
    self.runs = runs
    self.lost = lost
    self.longRuns = longRuns
    self.longLost = longLost
    self.cappedRuns = cappedRuns
    self.cappedLost = cappedLost
  }

  /// Notes a run of losses that ended with an advert received, which is counted elsewhere.
  mutating func record(missed: Float) {
    runs += 1
    lost += missed
    guard missed >= LossRuns.longFrom.0 else { return }
    longRuns += 1
    longLost += missed - LossRuns.longFrom.0
    guard missed >= LossRuns.longFrom.1 else { return }
    cappedRuns += 1
    cappedLost += missed - LossRuns.longFrom.1
  }

  /// Adds what another count holds, weighted.
  mutating func add(_ other: LossRuns, weight: Float = 1) {
    received += other.received * weight
    runs += other.runs * weight
    lost += other.lost * weight
    longRuns += other.longRuns * weight
    longLost += other.longLost * weight
    cappedRuns += other.cappedRuns * weight
    cappedLost += other.cappedLost * weight
  }

  /// The same shares with a part of the weight.
  func scaled(by weight: Float) -> LossRuns {
    var scaled = LossRuns()
    scaled.add(self, weight: weight)
    return scaled
  }

  /// The same shares in the weight of at most so many adverts.
  func limited(to maximum: Float) -> LossRuns { received > maximum ? scaled(by: maximum / received) : self }

  /// The share of adverts received.
  package var share: Double { received == 0 ? 0.5 : Double(received) / Double(received + lost) }

  /// The mean length of a run of losses, or 0 if there was none.
  var meanRun: Double { runs == 0 ? 0 : Double(lost / runs) }
}

extension LossPool: FieldStruct {
  /// Hands what the tracks have taught to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&strong)
    try coder.code(&middle)
    try coder.code(&weak)
    var count = UInt8(clamping: agreeing)
    try coder.code(&count)
    try coder.check(count <= 8, "agreeing tracks")
    agreeing = Int(count)
    try coder.code(amount: &interval, "a family's interval")
    try coder.code(amount: &rival, "a family's other interval")
    try coder.code(amount: &slowest, "a family's slowest interval")
    try coder.code(amount: &slowShare, "a share of tracks at rest")
    try coder.code(amount: &looks, "looks")
    try coder.code(amount: &latestRest, "an interval at rest")
    try coder.code(amount: &bodyWatch, "time watched for bodies")
    try coder.code(amount: &hidings, "hidings")
  }
}

extension LossPool.Band: FieldStruct {
  /// Hands the counts to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&counts)
    try coder.code(amount: &dispersion, "a pool's dispersion")
    try coder.code(amount: &stretches, "stretches of a pool")
    try coder.code(&worst)
  }
}

extension LossPool.WorstTrack: FieldStruct {
  /// Hands what was counted to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&losses)
    try coder.code(amount: &interval, "the interval of a track")
  }
}

extension LossRuns: FieldStruct {
  /// Hands the counts to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(amount: &received, "adverts")
    try coder.code(amount: &runs, "runs of losses")
    try coder.code(amount: &lost, "losses")
    try coder.code(amount: &longRuns, "long runs")
    try coder.code(amount: &longLost, "long losses")
    try coder.code(amount: &cappedRuns, "longest runs")
    try coder.code(amount: &cappedLost, "longest losses")
  }
}
