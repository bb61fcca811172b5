import PharosDocuments
package import PharosModel

/// The level at which one observer hears one beacon, estimated for a beacon that lies still and for one that is
/// carried, and a model of the silences to expect.
///
/// While the beacon lies still, the level is a mean that hardly changes, plus a deviation that people and doors cause and
/// that fades within `LevelNoise.time`, plus the noise of the second. While it is carried, the level is a random walk.
/// A Kalman filter follows each of the two. The two interact with the probability that the beacon is carried, which all
/// of its observers share: a deviation concerns one observer, a carriage all of them.
///
/// - Source: the interacting multiple model filter, Blom and Bar-Shalom, IEEE Trans. Automatic Control 33 (1988); the
///   deviation is an Ornstein–Uhlenbeck process.
package struct ObserverLevel: Sendable {
  /// The number of summaries as which the initial scatter counts, and the number over which it is learned.
  private static let scatterMemory = (guess: 8.0, maximum: 64.0)
  /// The probability of a body below which a level that is no weaker than expected says nothing new about it.
  private static let minimumBody = 0.01
  /// The greatest ratio of a body's likelihood to that of none, as a power of two, so that its square is finite.
  private static let maximumBodyExponent = 400.0

  /// The observer's place in the plan.
  package var observer: Int
  /// The mean level of a beacon that lies still.
  ///
  /// - Units: dBm.
  var mean: Double
  /// The present deviation from it.
  ///
  /// - Units: dB.
  var deviation = 0.0
  /// The uncertainty of the mean.
  ///
  /// - Units: dB².
  var meanVariance: Double
  /// The uncertainty of the deviation.
  ///
  /// - Units: dB².
  var deviationVariance: Double
  /// The covariance of the two.
  ///
  /// - Units: dB².
  var covariance: Double
  /// The level of a beacon that is carried.
  ///
  /// - Units: dBm.
  var carried: Double
  /// The uncertainty of it.
  ///
  /// - Units: dB².
  var carriedVariance: Double
  /// The probability that a body stands between the observer and a beacon that lies still.
  var body = 0.0
  /// The variance of adverts around the level.
  ///
  /// - Units: dB².
  var scatter = ZoneRules.scatter * ZoneRules.scatter
  /// The number of summaries that the scatter is based on.
  var scatterSummaries = scatterMemory.guess
  /// An earlier level with which later ones are compared to learn the noise.
  ///
  /// - Units: dBm.
  var earlier = 0.0
  /// The time of the earlier level, or the distant past if there is none.
  var earlierAt = Timestamp.distantPast
  /// The number of lags at which it has been compared.
  var comparedLags = 0
  /// The time of the first report.
  var since: Timestamp
  /// The time of stage one's last report of the beacon, or the end of a later outage.
  package var reportedAt: Timestamp
  /// The total time in which the observer was not able to hear, as of then.
  var deafTime = TimeSpan.zero
  /// The number of adverts that the level is based on.
  var samples: UInt64
  /// Indicates whether the observer is down, so that its silence is no evidence.
  package var isDark = false
  /// Indicates whether the observer is up again but has not reported the beacon since.
  var isBack = false
  /// Indicates whether the gap before the next summary contains downtime, so that the gap model must not learn from it.
  var isTorn = false
  /// The level when another observer went down.
  var levelAtOutage: Double?
  /// The model of the gaps between its summaries.
  var gaps: GapModel

  /// Starts with a first summary and what is known of the beacon's gaps.
  init(
    _ summary: BeaconSummary,
    of observer: Int,
    at instant: Timestamp,
    gaps: GapModel,
    _ noise: LevelNoise
  ) {
    self.observer = observer
    (mean, carried) = (summary.mean, summary.mean)
    carriedVariance = scatter / ObserverLevel.independent(summary)
    meanVariance = carriedVariance + noise.variance
    deviationVariance = noise.variance
    covariance = -noise.variance
    self.gaps = gaps
    samples = UInt64(summary.count)
    (since, reportedAt) = (instant, instant)
  }

  /// The evidence for a carriage that lies in a first report, where other observers have heard the beacon before.
  var arrival: Double {
    let rise = max(0, carried - ZoneRules.sensitivity)
    let variance = ZoneRules.scatter * ZoneRules.scatter + carriedVariance + deviationVariance
    return rise * rise / (2 * variance)
  }

  /// Takes a further summary.
  ///
  /// - Parameters:
  ///   - summary: The summary.
  ///   - instant: The time of the report.
  ///   - carriage: The probability that the beacon is carried, before it.
  ///   - noise: The noise of the site, which learns from it.
  /// - Returns: The logarithm of its likelihood if the beacon is carried over that if it lies still.
  mutating func add(
    _ summary: BeaconSummary,
    at instant: Timestamp,
    carriage: Double,
    _ noise: inout LevelNoise
  ) -> Double {
    let gap = max(0, (instant - reportedAt).seconds)
    interact(carriage, after: gap, noise)
    predict(after: gap, noise)

    let count = ObserverLevel.independent(summary)
    let white = scatter / count
    let known = meanVariance + 2 * covariance + deviationVariance
    let variance = known + white
    let innovation = summary.mean - mean - deviation
    let bodyRatio = updateBody(innovation, variance)
    let carriedVariance = carriedVariance + white
    let carriedInnovation = summary.mean - carried
    let evidence =
      (innovation * innovation / variance - carriedInnovation * carriedInnovation / carriedVariance
        + RadioMath.naturalLog(variance / (carriedVariance * bodyRatio * bodyRatio))) / 2

    let gain = self.carriedVariance / carriedVariance
    carried += gain * carriedInnovation
    self.carriedVariance *= 1 - gain
    learnNoise(summary.mean, at: instant, isStill: carriage < ZoneRules.restProbability && body < 0.5, &noise)
    learnScatter((innovation * innovation - known) * count, weight: (1 - body) * (1 - carriage))
    correct(innovation, variance)

    samples &+= UInt64(summary.count)
    if !isBack, !isTorn { gaps.learn(gap) }
    reportedAt = instant
    isDark = false
    isBack = false
    isTorn = false
    return evidence
  }

  /// Lets each of the two filters begin with what both know, as likely as the beacon was set down or picked up.
  private mutating func interact(_ carriage: Double, after gap: Double, _ noise: LevelNoise) {
    let changes = Carriage.changes(in: gap)
    let (setDown, lay) = (carriage * changes.ends, (1 - carriage) * (1 - changes.starts))
    let (pickedUp, went) = ((1 - carriage) * changes.starts, carriage * (1 - changes.ends))
    let still = setDown / max(setDown + lay, .leastNormalMagnitude)
    let moving = pickedUp / max(pickedUp + went, .leastNormalMagnitude)
    let (level, levelVariance) = (mean + deviation, meanVariance + 2 * covariance + deviationVariance)
    // A beacon that was set down has a new mean, and a deviation of which nothing is known.
    let (step, fall) = (carried - mean, -deviation)
    let rest = 1 - still
    meanVariance = rest * (meanVariance + still * step * step) + still * (carriedVariance + noise.variance)
    covariance = rest * (covariance + still * step * fall) - still * noise.variance
    deviationVariance = rest * (deviationVariance + still * fall * fall) + still * noise.variance
    mean += still * step
    deviation += still * fall
    let back = level - carried
    carriedVariance = (1 - moving) * (carriedVariance + moving * back * back) + moving * levelVariance
    carried += moving * back
  }

  /// Lets time pass.
  private mutating func predict(after gap: Double, _ noise: LevelNoise) {
    let fade = noise.time / (noise.time + gap)
    deviation *= fade
    covariance *= fade
    deviationVariance = fade * fade * deviationVariance + (1 - fade * fade) * noise.variance
    meanVariance += ZoneRules.drift * gap
    carriedVariance += ZoneRules.wander * ZoneRules.wander * gap
    let (comes, goes) = (gap / ZoneRules.bodyPause, gap / ZoneRules.bodyTime)
    body += ((1 - body) * comes - body * goes) / (1 + comes + goes)
  }

  /// Updates the probability of a body, and returns the likelihood of the second with or without one over that without.
  private mutating func updateBody(_ innovation: Double, _ variance: Double) -> Double {
    guard innovation < 0 || body > ObserverLevel.minimumBody else { return 1 }
    let hidden = innovation + ZoneRules.bodyLoss
    let hiddenVariance = variance + ZoneRules.bodyDeviation * ZoneRules.bodyDeviation
    let exponent = (innovation * innovation / variance - hidden * hidden / hiddenVariance) / 2
    let bounded = min(exponent / RadioMath.naturalLogOfTwo, ObserverLevel.maximumBodyExponent)
    let ratio = RadioMath.powerOfTwo(bounded) * (variance / hiddenVariance).squareRoot()
    let total = 1 - body + body * ratio
    // Rounding may exceed one.
    body = min(1, body * ratio / total)
    return total
  }

  /// Corrects mean and deviation as far as no body is in the way, with the spread of the two cases.
  private mutating func correct(_ innovation: Double, _ variance: Double) {
    let (meanGain, deviationGain) =
      ((meanVariance + covariance) / variance, (deviationVariance + covariance) / variance)
    let open = 1 - body
    mean += open * meanGain * innovation
    deviation += open * deviationGain * innovation
    let known = open * (variance - body * innovation * innovation)
    meanVariance -= meanGain * meanGain * known
    deviationVariance -= deviationGain * deviationGain * known
    covariance -= meanGain * deviationGain * known
  }

  /// Returns the level that counts, with its variance, given the probability that the beacon is carried.
  package func level(carriage: Double, _ noise: LevelNoise) -> (level: Double, variance: Double) {
    let step = carried - mean
    let rest = 1 - carriage
    return (
      mean + carriage * step,
      rest * (meanVariance + carriage * step * step) + carriage * (carriedVariance + noise.variance)
    )
  }

  /// Marks the observer as up again.
  ///
  /// Its silence counts from now on, and its level is the one of before until it has had its fair chance to hear the beacon.
  mutating func recover(at instant: Timestamp, deafTime: TimeSpan) {
    isDark = false
    isBack = true
    reportedAt = max(reportedAt, instant)
    self.deafTime = deafTime
  }

  /// Notes that the observer was not able to hear for a part of the gap that a summary ends.
  mutating func tear(by deafTime: TimeSpan) {
    if deafTime != self.deafTime { isTorn = true }
    self.deafTime = deafTime
  }

  /// Returns the improbability of a silence if the beacon lay where it did: the negative logarithm of the probability.
  func surprise(after silence: TimeSpan) -> Double { isDark ? 0 : gaps.surprise(after: silence.seconds) }

  /// Returns the amount by which the level has fallen, once runs of losses no longer explain the silence.
  func fall(after silence: TimeSpan) -> Double {
    guard !isDark, silence >= ZoneRules.shortestLevelGrace else { return 0 }
    return max(0, surprise(after: silence) - ZoneRules.silenceGrace) * ZoneRules.silentFall
  }

  /// Returns whether a live observer has been silent for so long that it no longer hears the beacon.
  ///
  /// The surprise is the improbability of the silence, taken over all observers that are silent together.
  func isGone(after silence: TimeSpan, surprise: Double) -> Bool {
    guard !isDark, silence >= ZoneRules.shortestPresence else { return false }
    return silence >= ZoneRules.maximumPresence || surprise >= ZoneRules.goneSurprise
  }

  /// Learns the scatter from innovations, bounded so that neither a walk nor a quiet minute distorts it.
  private mutating func learnScatter(_ square: Double, weight: Double) {
    scatterSummaries = min(scatterSummaries + weight, ObserverLevel.scatterMemory.maximum)
    let bounded = min(max(square, -scatter), 8 * scatter)
    let (minimum, maximum) = (
      ZoneRules.minimumScatter * ZoneRules.minimumScatter, 4 * ZoneRules.scatter * ZoneRules.scatter
    )
    scatter = min(max(scatter + weight * (bounded - scatter) / scatterSummaries, minimum), maximum)
  }

  /// Lets the site learn how far levels some seconds apart differ while the beacon lies still.
  private mutating func learnNoise(
    _ level: Double,
    at instant: Timestamp,
    isStill: Bool,
    _ noise: inout LevelNoise
  ) {
    guard isStill else {
      earlierAt = .distantPast
      return
    }
    let lag = earlierAt == .distantPast ? .infinity : (instant - earlierAt).seconds
    if let accepted = noise.compare(level, with: earlier, after: lag, accepted: comparedLags) {
      comparedLags = accepted
    } else {
      (earlier, earlierAt, comparedLags) = (level, instant, 0)
    }
  }

  /// Returns the number of adverts of a summary that count as independent.
  private static func independent(_ summary: BeaconSummary) -> Double {
    min(max(Double(summary.count), 1), ZoneRules.independentSamples * SecondSummary.length.seconds)
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
  /// The shortest beat; the gap between two summaries of a beacon that advertises more often is half of it.
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
  /// The maximum length of a gap without a loss, in beats: summaries come in halves of seconds, and lags change.
  private static let jitter = 1.25
  /// The scale at least, in beats, of an observer that has not missed anything yet.
  private static let minimumScale = 0.5
  /// The least share of gaps with a wait that is believed in.
  private static let minimumShare = 0.005
  /// The longest wait that is learned, in scales: a longer one was a movement and not a loss.
  private static let maximumWait = 8.0

  /// The interval at which the beacon is heard when nothing is lost, a second at least.
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
  package var borrowedPrior: GapModel {
    var borrowedPrior = self
    borrowedPrior.count = min(count, GapModel.borrowed)
    return borrowedPrior
  }

  /// The scale of the waits, in beats: half a beat at least.
  private var scale: Double { max(GapModel.minimumScale, square / (2 * max(wait, 1e-6))) }

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
    beat = min(max(beat, GapModel.shortestBeat), ZoneRules.maximumInterval.seconds)
    let waited = min(max(0, gap / beat - GapModel.jitter), GapModel.maximumWait * scale)
    count = min(count + 1, GapModel.memory)
    wait += (waited - wait) / count
    square += (waited * waited - square) / count
  }

  /// Returns the improbability of a silence in seconds of a beacon that is present: the negative logarithm of its
  /// probability.
  ///
  /// While no gap is known the beacon may be one that advertises once a minute, so no silence is improbable.
  package func surprise(after silence: Double) -> Double {
    guard isKnown else { return 0 }
    let waited = silence / beat - GapModel.jitter
    guard waited > 0 else { return 0 }
    let scale = scale
    let share = min(1, max(wait / scale, GapModel.minimumShare))
    return waited / scale - RadioMath.binaryLog(share) * RadioMath.naturalLogOfTwo
  }
}

extension ObserverLevel: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() {
    let nothing = BeaconSummary(beacon: .unread, count: 0, mean: 0, variance: 0, lastHeard: .distantPast)
    self.init(nothing, of: 0, at: .distantPast, gaps: GapModel(), LevelNoise())
  }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &observer)
    try coder.code(finite: &mean)
    try coder.code(finite: &deviation)
    try coder.code(finite: &meanVariance)
    try coder.code(finite: &deviationVariance)
    try coder.code(finite: &covariance)
    try coder.code(finite: &carried)
    try coder.code(finite: &carriedVariance)
    try coder.code(finite: &body)
    try coder.code(finite: &scatter)
    try coder.code(finite: &scatterSummaries)
    try coder.check(
      meanVariance >= 0 && deviationVariance >= 0 && carriedVariance >= 0,
      "variances of a level"
    )
    try coder.check(body >= 0 && body <= 1 && scatter > 0 && scatterSummaries >= 1, "the noise of a level")
    try coder.code(finite: &earlier)
    try coder.code(&earlierAt)
    try coder.code(place: &comparedLags)
    try coder.check(comparedLags < LevelNoise.lagCount, "the lags of a level")
    try coder.code(&since)
    try coder.code(&reportedAt)
    try coder.code(&deafTime)
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
    reportedAt = max(reportedAt, instant)
    isTorn = true
  }
}
