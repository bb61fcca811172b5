import PharosEvents
package import PharosReports

/// How loud one observer hears one beacon: a quick and a slow level, and how long its silence means nothing.
///
/// The quick level is a Kalman filter on a level that wanders. The slow one is a mean over half a minute: as long as the two
/// agree the beacon lies still, and the slow one tells where with a fraction of the noise.
struct ObserverLevel: Sendable {
  /// How many summaries the slow level of a beacon on the move counts for.
  private static let movingSummaries = 4.0

  /// The same once it lies still again.
  private static let settledSummaries = 2.0

  /// How much unrest a single summary may show beyond three times what is known.
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
  /// When stage one told of it last; moved to the recovery after an outage.
  var toldAt: Timestamp
  /// How many adverts it is made of, since the last recovery.
  var samples: UInt64
  /// Whether the observer is down, so that its silence says nothing.
  var isDark = false
  /// Whether the observer is back and has not told of the beacon since.
  var isBack = false
  /// Indicates whether the gap before the next summary contains downtime, so that the gap model must not learn from it.
  var isTorn = false
  /// The level when another observer went down.
  var levelAtOutage: Double?

  /// The level over the last minute, whether the beacon moved or not.
  ///
  /// - Units: dBm.
  var home: Double
  /// How many summaries that is made of.
  var homeSummaries = 1.0
  /// How far the quick level has wandered around the slow one while the beacon lay still: people and doors do that.
  ///
  /// - Units: dB².
  var unrest: Double
  /// How many summaries the slow level is made of.
  var summaries = 1.0
  /// How far adverts scatter around the level.
  ///
  /// - Units: dB².
  var scatter: Double
  /// What its silence means.
  var gaps: GapModel

  /// Starts with a first summary and what is known of the beacon's gaps.
  init(
    _ summary: BeaconSummary,
    of observer: Int,
    at instant: Timestamp,
    gaps: GapModel,
    _ ground: ZoneGround
  ) {
    self.observer = observer
    (quick, slow, home) = (summary.mean, summary.mean, summary.mean)
    scatter = ground.rules.scatter * ground.rules.scatter
    unrest = ground.rules.leastUnrest * ground.rules.leastUnrest
    self.gaps = gaps
    variance = scatter / min(max(Double(summary.count), 1), ground.rules.independentSamples)
    slowVariance = variance
    samples = UInt64(summary.count)
    toldAt = instant
  }

  /// What is known of a beacon while an observer hears it.
  enum Circumstance: Sendable {
    /// It is on its way.
    case moving
    /// It lies still.
    case still
    /// It has lain still for long, so that what moves its level is not its own way.
    case settled
    /// It lies still, and somebody stands in this observer's way.
    case hidden
  }

  /// Takes a further second.
  mutating func add(
    _ summary: BeaconSummary,
    at instant: Timestamp,
    _ circumstance: Circumstance,
    _ ground: ZoneGround
  ) {
    let gap = max(0, (instant - toldAt).seconds)
    let count = min(max(Double(summary.count), 1), ground.rules.independentSamples)
    let noise = scatter / count
    variance += ground.rules.wander * ground.rules.wander * gap
    let innovation = summary.mean - quick
    learnScatter((innovation * innovation - variance) * count, ground)
    let gain = variance / (variance + noise)
    quick += gain * innovation
    variance *= 1 - gain
    switch circumstance {
    case .moving:
      summaries = min(summaries + 1, ObserverLevel.movingSummaries)
      average(summary.mean, over: ground.rules.movingMemory, gap: gap, noise: noise)
    case .still:
      summaries += 1
      average(summary.mean, over: ground.rules.stillMemory, gap: gap, noise: noise)
    case .settled:
      summaries += 1
      average(summary.mean, over: ground.rules.stillMemory, gap: gap, noise: noise)
      learnUnrest(min(1, gap / ground.rules.unrestMemory.seconds), ground)
    case .hidden: break
    }
    samples &+= UInt64(summary.count)
    homeSummaries += 1
    home += max(1 / homeSummaries, min(1, gap / ground.rules.homeMemory.seconds)) * (summary.mean - home)
    if !isBack, !isTorn { gaps.learn(gap, longest: ground.rules.longestInterval) }
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

  /// The observer is back: its silence counts from now on, and its level once it has heard the beacon again.
  mutating func recover(at instant: Timestamp) {
    isDark = false
    isBack = true
    samples = 0
    toldAt = max(toldAt, instant)
  }

  /// How unlikely its silence would be if the beacon lay where it did, less the logarithm of that chance.
  func surprise(at instant: Timestamp) -> Double {
    isDark ? 0 : gaps.surprise(after: (instant - toldAt).seconds)
  }

  /// By how much the level has fallen, once runs of losses no longer explain the silence.
  func fall(at instant: Timestamp, _ ground: ZoneGround) -> Double {
    guard !isDark, instant - toldAt >= ground.rules.shortestLevelGrace else { return 0 }
    return max(0, surprise(at: instant) - ground.rules.silenceGrace) * ground.rules.silentFall
  }

  /// By how much the two levels may differ while the beacon lies still.
  func quietBand(_ ground: ZoneGround) -> Double {
    let deviation = (variance + slowVariance + unrest).squareRoot()
    return max(ground.rules.quietBand, ground.rules.quietDeviations * deviation)
  }

  /// Whether a live observer has heard nothing for so long that it no longer hears the beacon.
  ///
  /// The surprise is how unlikely the silence is, of all observers that are silent together.
  func isGone(at instant: Timestamp, surprise: Double, _ ground: ZoneGround) -> Bool {
    guard !isDark else { return false }
    let silence = instant - toldAt
    guard silence >= ground.rules.shortestPresence else { return false }
    return silence >= ground.rules.longestPresence || surprise >= ground.rules.goneSurprise
  }

  /// Takes a level into the slow one.
  private mutating func average(_ level: Double, over memory: TimeSpan, gap: Double, noise: Double) {
    let weight = max(1 / summaries, min(1, gap / memory.seconds))
    slow += weight * (level - slow)
    slowVariance += weight * (weight * (slowVariance + noise) - 2 * slowVariance)
  }

  /// Follows what innovations say about the scatter, bounded so that neither a walk nor a quiet minute spoils it.
  private mutating func learnScatter(_ square: Double, _ ground: ZoneGround) {
    let bounded = min(max(square, 0), 4 * scatter)
    let least = ground.rules.leastScatter * ground.rules.leastScatter
    scatter = min(
      max(scatter + (bounded - scatter) / 16, least),
      4 * ground.rules.scatter * ground.rules.scatter
    )
  }

  /// Follows how far the two levels lie apart, beyond what the scatter of adverts explains.
  private mutating func learnUnrest(_ weight: Double, _ ground: ZoneGround) {
    let least = ground.rules.leastUnrest * ground.rules.leastUnrest
    let most = ground.rules.mostUnrest * ground.rules.mostUnrest
    // Bounded, so that the few seconds of a way that is too short to be noticed count little.
    let excess = min((quick - slow) * (quick - slow) - variance, 3 * unrest + ObserverLevel.unrestStep)
    unrest = min(max(unrest + weight * (excess - unrest), least), most)
  }
}

/// How long one observer goes without hearing one beacon that is there: what its silence means.
///
/// Beacons lose adverts in runs, and each pair of beacon and observer its own share. A gap is the beacon's beat and, now and
/// then, a further wait whose chance falls exponentially. Its share and its scale are learned from the gaps of the pair,
/// so that a run of losses at an observer that has many of them says nothing, and the same silence at one that
/// misses no advert says much.
///
/// - Source: the moments of a geometric run of losses; its scale is the mean square of the waits over twice their mean.
package struct GapModel: Sendable {
  /// How many gaps the guess at the start counts for.
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
  /// For how many gaps what others have learned counts.
  private static let borrowed = 8.0
  /// Over how many gaps the moments are taken.
  private static let memory = 96.0
  /// How many beats a gap without a loss may last: summaries come in whole seconds, and lags change.
  private static let jitter = 1.25
  /// The scale at least, in beats, of an observer that has not missed anything yet.
  private static let leastScale = 0.5
  /// The least share of gaps with a wait that is believed in.
  private static let leastShare = 0.005
  /// The longest wait that is learned, in scales: what is longer was a way and not a loss.
  private static let longestWait = 8.0

  /// How often the beacon is heard when nothing is lost; no shorter than the second that summaries take.
  ///
  /// - Units: seconds.
  var beat = GapModel.guessedBeat
  /// Whether the beat is more than a guess.
  var isKnown = false
  /// How many gaps the moments are made of.
  var count = GapModel.guesses
  /// The mean of the waits, in beats.
  var wait = GapModel.guessedWait
  /// The mean of their squares, in beats².
  var square = GapModel.guessedSquare

  package init() {}

  /// What another observer of the same beacon starts with: the same, as long as it has learned little itself.
  package var lesson: GapModel {
    var lesson = self
    lesson.count = min(count, GapModel.borrowed)
    return lesson
  }

  /// The scale of the waits, in beats: half a beat at least.
  private var scale: Double { max(GapModel.leastScale, square / (2 * max(wait, 1e-6))) }

  /// Takes a gap between two summaries, in seconds, of a beacon whose beat is held at the longest that is known.
  package mutating func learn(_ gap: Double, longest: TimeSpan) {
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
    beat = min(max(beat, GapModel.shortestBeat), longest.seconds)
    let waited = min(max(0, gap / beat - GapModel.jitter), GapModel.longestWait * scale)
    count = min(count + 1, GapModel.memory)
    wait += (waited - wait) / count
    square += (waited * waited - square) / count
  }

  /// How unlikely a silence of a beacon that is there is, given in seconds: less the logarithm of its chance.
  package func surprise(after silence: Double) -> Double {
    let waited = silence / beat - GapModel.jitter
    guard waited > 0 else { return 0 }
    let scale = scale
    let share = min(1, max(wait / scale, GapModel.leastShare))
    return waited / scale - RadioMath.binaryLog(share) * RadioMath.naturalLogOfTwo
  }
}

extension ObserverLevel {
  /// Writes the levels, the observer by its place in the plan.
  func writeState(to writer: inout FieldWriter) {
    writer.write(place: observer)
    for number in [quick, variance, slow, slowVariance, home, homeSummaries, unrest, summaries, scatter] {
      writer.write(number)
    }
    toldAt.write(to: &writer)
    writer.write(samples)
    writer.write(isDark)
    writer.write(isBack)
    writer.write(isTorn)
    writer.write(levelAtOutage)
    gaps.writeState(to: &writer)
  }

  /// Reads the levels at one of so many observers.
  init(restoring reader: inout FieldReader, observers: Int) throws(FieldError) {
    observer = try reader.place(below: observers)
    quick = try reader.finite()
    variance = try reader.finite()
    slow = try reader.finite()
    slowVariance = try reader.finite()
    home = try reader.finite()
    homeSummaries = try reader.finite()
    unrest = try reader.finite()
    summaries = try reader.finite()
    scatter = try reader.finite()
    toldAt = try Timestamp(from: &reader)
    samples = try reader.number(UInt64.self)
    isDark = try reader.flag()
    isBack = try reader.flag()
    isTorn = try reader.flag()
    levelAtOutage = try reader.flag() ? try reader.finite() : nil
    gaps = try GapModel(restoring: &reader)
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
