import PharosModel

/// The level at which one observer hears one beacon, as a quick and a slow estimate, and a model of the silences to
/// expect.
///
/// The quick level is a Kalman filter on a level that wanders. The slow one is a mean over half a minute. As long as
/// the two agree, the beacon lies still, and the slow level has a fraction of the noise.
struct ObserverLevel: Sendable {
  /// The maximum number of summaries over which the slow level of a moving beacon is taken.
  private static let movingSummaries = 4.0

  /// The same once it lies still again.
  private static let settledSummaries = 2.0

  /// The excess that a single summary may add to the unrest, beyond three times the present value.
  ///
  /// - Units: dB².
  private static let unrestStep = 8.0

  /// The observer's place in the plan.
  var observer: Int
  /// The level as of the last summary.
  ///
  /// - Units: dBm.
  var quick: Double
  /// The uncertainty of the quick level.
  ///
  /// - Units: dB².
  var variance: Double
  /// The level over the last half minute.
  ///
  /// - Units: dBm.
  var slow: Double
  /// The uncertainty of the slow level.
  ///
  /// - Units: dB².
  var slowVariance: Double
  /// The time of stage one's last report of the beacon, or the end of a later outage.
  var toldAt: Timestamp
  /// The number of adverts that the level is based on, since the last recovery.
  var samples: UInt64
  /// Indicates whether the observer is down, so that its silence is no evidence.
  var isDark = false
  /// Indicates whether the observer is up again but has not reported the beacon since.
  var isBack = false
  /// Indicates whether the gap before the next summary contains downtime, so that the gap model must not learn from it.
  var isTorn = false
  /// The level when another observer went down.
  var levelAtOutage: Double?

  /// The level over the last minute, whether the beacon moved or not.
  ///
  /// - Units: dBm.
  var home: Double
  /// The number of summaries that it is based on.
  var homeSummaries = 1.0
  /// The variance of the quick level around the slow one while the beacon lay still, caused by people and doors.
  ///
  /// - Units: dB².
  var unrest: Double
  /// The number of summaries that the slow level is based on.
  var summaries = 1.0
  /// The variance of adverts around the level.
  ///
  /// - Units: dB².
  var scatter: Double
  /// The model of the gaps between its summaries.
  var gaps: GapModel

  /// Starts with a first summary and what is known of the beacon's gaps.
  init(_ summary: BeaconSummary, of observer: Int, at instant: Timestamp, gaps: GapModel) {
    self.observer = observer
    (quick, slow, home) = (summary.mean, summary.mean, summary.mean)
    scatter = ZoneRules.scatter * ZoneRules.scatter
    unrest = ZoneRules.leastUnrest * ZoneRules.leastUnrest
    self.gaps = gaps
    variance = scatter / min(max(Double(summary.count), 1), ZoneRules.independentSamples)
    slowVariance = variance
    samples = UInt64(summary.count)
    toldAt = instant
  }

  /// The situation of a beacon while an observer hears it.
  enum Circumstance: Sendable {
    /// It moves.
    case moving
    /// It lies still.
    case still
    /// It has lain still for long, so that its own movement does not cause changes of its level.
    case settled
    /// It lies still, and a person stands between it and this observer.
    case hidden
  }

  /// Takes a further second.
  mutating func add(_ summary: BeaconSummary, at instant: Timestamp, _ circumstance: Circumstance) {
    let gap = max(0, (instant - toldAt).seconds)
    let count = min(max(Double(summary.count), 1), ZoneRules.independentSamples)
    let noise = scatter / count
    variance += ZoneRules.wander * ZoneRules.wander * gap
    let innovation = summary.mean - quick
    learnScatter((innovation * innovation - variance) * count)
    let gain = variance / (variance + noise)
    quick += gain * innovation
    variance *= 1 - gain
    switch circumstance {
    case .moving:
      summaries = min(summaries + 1, ObserverLevel.movingSummaries)
      average(summary.mean, over: ZoneRules.movingMemory, gap: gap, noise: noise)
    case .still:
      summaries += 1
      average(summary.mean, over: ZoneRules.stillMemory, gap: gap, noise: noise)
    case .settled:
      summaries += 1
      average(summary.mean, over: ZoneRules.stillMemory, gap: gap, noise: noise)
      learnUnrest(min(1, gap / ZoneRules.unrestMemory.seconds))
    case .hidden: break
    }
    samples &+= UInt64(summary.count)
    homeSummaries += 1
    home += max(1 / homeSummaries, min(1, gap / ZoneRules.homeMemory.seconds)) * (summary.mean - home)
    if !isBack, !isTorn { gaps.learn(gap) }
    toldAt = instant
    isDark = false
    isBack = false
    isTorn = false
  }

  /// Restarts the slow level from the quick one, because the beacon rests again or has changed zones.
  mutating func settleIn() {
    slow = quick
    slowVariance = variance
    summaries = ObserverLevel.settledSummaries
  }

  /// Marks the observer as up again.
  ///
  /// Its silence counts from now on, and its level once it has heard the beacon again.
  mutating func recover(at instant: Timestamp) {
    isDark = false
    isBack = true
    samples = 0
    toldAt = max(toldAt, instant)
  }

  /// Returns the improbability of its silence if the beacon lay where it did: the negative logarithm of the
  /// probability.
  func surprise(at instant: Timestamp) -> Double {
    isDark ? 0 : gaps.surprise(after: (instant - toldAt).seconds)
  }

  /// Returns the amount by which the level has fallen, once runs of losses no longer explain the silence.
  func fall(at instant: Timestamp) -> Double {
    guard !isDark, instant - toldAt >= ZoneRules.shortestLevelGrace else { return 0 }
    return max(0, surprise(at: instant) - ZoneRules.silenceGrace) * ZoneRules.silentFall
  }

  /// The amount by which the two levels may differ while the beacon lies still.
  var quietBand: Double {
    let deviation = (variance + slowVariance + unrest).squareRoot()
    return max(ZoneRules.quietBand, ZoneRules.quietDeviations * deviation)
  }

  /// Returns whether a live observer has been silent for so long that it no longer hears the beacon.
  ///
  /// The surprise is the improbability of the silence, taken over all observers that are silent together.
  func isGone(at instant: Timestamp, surprise: Double) -> Bool {
    guard !isDark else { return false }
    let silence = instant - toldAt
    guard silence >= ZoneRules.shortestPresence else { return false }
    return silence >= ZoneRules.longestPresence || surprise >= ZoneRules.goneSurprise
  }

  /// Takes a level into the slow one.
  private mutating func average(_ level: Double, over memory: TimeSpan, gap: Double, noise: Double) {
    let weight = max(1 / summaries, min(1, gap / memory.seconds))
    slow += weight * (level - slow)
    slowVariance += weight * (weight * (slowVariance + noise) - 2 * slowVariance)
  }

  /// Learns the scatter from innovations, bounded so that neither a walk nor a quiet minute distorts it.
  private mutating func learnScatter(_ square: Double) {
    let bounded = min(max(square, 0), 4 * scatter)
    let least = ZoneRules.leastScatter * ZoneRules.leastScatter
    scatter = min(max(scatter + (bounded - scatter) / 16, least), 4 * ZoneRules.scatter * ZoneRules.scatter)
  }

  /// Follows how far the two levels lie apart, beyond what the scatter of adverts explains.
  private mutating func learnUnrest(_ weight: Double) {
    let least = ZoneRules.leastUnrest * ZoneRules.leastUnrest
    let most = ZoneRules.mostUnrest * ZoneRules.mostUnrest
    // Bounded, so that the few seconds of a way that is too short to be noticed count little.
    let excess = min((quick - slow) * (quick - slow) - variance, 3 * unrest + ObserverLevel.unrestStep)
    unrest = min(max(unrest + weight * (excess - unrest), least), most)
  }
}

/// The gaps in which one observer does not hear one beacon that is present: a model of what its silence means.
///
/// Adverts are lost in runs, at a different rate for each pair of beacon and observer. A gap is the beacon's beat and
/// sometimes a further wait, whose probability falls exponentially. The share and the scale of the waits are learned
/// from the gaps of the pair. So a run of losses is no evidence at an observer that has many of them, while the same
/// silence is strong evidence at an observer that misses no advert.
///
/// - Source: the moments of a geometric run of losses; its scale is the mean square of the waits over twice their mean.
package struct GapModel: Equatable, Sendable {
  /// The number of gaps as which the initial guess counts.
  private static let guesses = 2.0
  /// The beat before the first gap: between the tags that advertise every second and those that do every ten.
  ///
  /// - Units: seconds.
  private static let guessedBeat = 5.0
  /// The shortest beat, as summaries come once a second.
  ///
  /// - Units: seconds.
  private static let shortestBeat = 1.0
  /// The wait that is guessed, in beats: that of an observer that misses a third, in short runs.
  private static let guessedWait = 0.5
  /// Its mean square, in beats².
  private static let guessedSquare = 1.5
  /// The maximum number of gaps as which a model learned at other observers counts.
  private static let borrowed = 8.0
  /// The number of gaps over which the moments are taken.
  private static let memory = 96.0
  /// The maximum length of a gap without a loss, in beats: summaries come in whole seconds, and lags change.
  private static let jitter = 1.25
  /// The scale at least, in beats, of an observer that has not missed anything yet.
  private static let leastScale = 0.5
  /// The least share of gaps with a wait that is believed in.
  private static let leastShare = 0.005
  /// The longest wait that is learned, in scales: a longer one was a movement and not a loss.
  private static let longestWait = 8.0

  /// The interval at which the beacon is heard when nothing is lost, at least the second that summaries take.
  ///
  /// - Units: seconds.
  var beat = GapModel.guessedBeat
  /// Indicates whether the beat is more than a guess.
  var isKnown = false
  /// The number of gaps that the moments are based on.
  var count = GapModel.guesses
  /// The mean of the waits, in beats.
  var wait = GapModel.guessedWait
  /// The mean of their squares, in beats².
  var square = GapModel.guessedSquare

  package init() {}

  /// The model with which another observer of the same beacon starts: a copy that counts as few gaps.
  package var lesson: GapModel {
    var lesson = self
    lesson.count = min(count, GapModel.borrowed)
    return lesson
  }

  /// The scale of the waits, in beats: half a beat at least.
  private var scale: Double { max(GapModel.leastScale, square / (2 * max(wait, 1e-6))) }

  /// Learns a gap between two summaries, in seconds.
  package mutating func learn(_ gap: Double) {
    if !isKnown {
      isKnown = true
      beat = gap
    } else if gap < 1.5 * beat {
      // Fast towards a beacon that turns out to be quicker, slowly back.
      beat += (gap < beat ? 0.5 : 0.0625) * (gap - beat)
    } else {
      // A gap with a loss says nothing about the beat; a beacon that has become slower raises it bit by bit.
      beat *= 1.01
    }
    beat = min(max(beat, GapModel.shortestBeat), ZoneRules.longestInterval.seconds)
    let waited = min(max(0, gap / beat - GapModel.jitter), GapModel.longestWait * scale)
    count = min(count + 1, GapModel.memory)
    wait += (waited - wait) / count
    square += (waited * waited - square) / count
  }

  /// Returns the improbability of a silence in seconds of a beacon that is present: the negative logarithm of its
  /// probability.
  package func surprise(after silence: Double) -> Double {
    let waited = silence / beat - GapModel.jitter
    guard waited > 0 else { return 0 }
    let scale = scale
    let share = min(1, max(wait / scale, GapModel.leastShare))
    return waited / scale - RadioMath.binaryLog(share) * RadioMath.naturalLogOfTwo
  }
}

extension ObserverLevel: FieldStruct {
  /// A value whose fields are still to be read.
  static var unread: ObserverLevel {
    let nothing = BeaconSummary(beacon: .unread, count: 0, mean: 0, variance: 0, lastHeard: .distantPast)
    return ObserverLevel(nothing, of: 0, at: .distantPast, gaps: GapModel())
  }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &observer)
    try coder.code(finite: &quick)
    try coder.code(finite: &variance)
    try coder.code(finite: &slow)
    try coder.code(finite: &slowVariance)
    try coder.code(finite: &home)
    try coder.code(finite: &homeSummaries)
    try coder.code(finite: &unrest)
    try coder.code(finite: &summaries)
    try coder.code(finite: &scatter)
    try coder.code(&toldAt)
    try coder.code(&samples)
    try coder.code(&isDark)
    try coder.code(&isBack)
    try coder.code(&isTorn)
    try coder.code(&levelAtOutage)
    try coder.check(levelAtOutage?.isFinite ?? true, "a level")
    try coder.code(&gaps)
  }

  /// The same levels under the observer's place in another plan.
  func heard(by place: Int) -> ObserverLevel {
    var level = self
    level.observer = place
    return level
  }

  /// Resumes after downtime that ended at an instant.
  ///
  /// Silence counts from that instant, and the gap model does not learn from the gap that contains the downtime.
  mutating func resume(at instant: Timestamp) {
    toldAt = max(toldAt, instant)
    isTorn = true
  }
}
