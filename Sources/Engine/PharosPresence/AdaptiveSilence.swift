package import PharosModel

/// The computation of how long a beacon may be silent before it counts as gone, from what is known of it.
///
/// False exits a day are counted where they may happen: adverts received a day, times the chance that a run of losses
/// begins after one, times the chance that it lasts. The allowed gap is the interval times the shortest run for which
/// that stays within the budget; see <doc:WhenABeaconIsGone>.
package struct AdaptiveSilence {
  /// The learned interval.
  package var learner: IntervalLearner
  /// The history of its losses.
  package var history: LossHistory
  /// Samples since the recent window began.
  var recentReceived: Float = 0
  /// The prior from the observer's other tracks, in the number of adverts that it is worth.
  package var belief = LossRuns()
  /// The track of the same family at about the same level whose long runs last longest.
  package var worst = LossPool.WorstTrack()
  /// The interval of other tracks of the same family, or 0.
  package var familyInterval: Float = 0
  /// Indicates whether all tracks of the family have that interval.
  package var isFamilyIntervalKnown = false
  /// The slowest interval of the family's tracks at rest, or 0.
  var familySlowest: Float = 0
  /// The interval that the directory declares, in seconds.
  package var declared: Float?
  /// The number of times a day that a body in the way hides such a beacon, or 0 if it is too loud to be hidden.
  package var bodies = 0.0
  /// Indicates whether the level is hardly more than what the observer can receive.
  package var isWeak = false
  /// Indicates whether fading may hide the beacon where it usually is.
  package var isUsuallyWeak = false
  /// Indicates whether the usual level is known well enough to tell that the beacon is far below it.
  package var isUsualKnown = false

  package init(learner: IntervalLearner, history: LossHistory, declared: Float? = nil) {
    self.learner = learner
    self.history = history
    self.declared = declared
  }

  /// The silence allowed to an untracked beacon without a single known gap: twice Core Location's usual 30 s.
  package static let defaultSilence = TimeSpan.seconds(60)

  /// The window in which the samples of an untracked beacon's entry must fall: three intervals of the slowest usual
  /// beacon, with the advDelay of each.
  ///
  /// - Units: seconds.
  static let defaultWindow = 30.036
  /// The probability that the second sample of an entry comes later than the window: then 95 % enter with the third.
  private static let enterMiss = 0.22
  /// The least number of intervals of an enter window.
  private static let minimumEnterIntervals = 3
  /// The shortest and the longest window that a learned interval makes.
  ///
  /// - Units: seconds.
  static let learnedWindow = 3.0...60.0
  /// The number of losses in a row that are granted to a beacon slower than that window: at the least, whatever the
  /// usual ceiling is, and at most as long as it has lost nothing.
  ///
  /// It takes days until so few adverts tell how long a run of losses may be.
  private static let slowMisses = (minimum: 3, maximum: 4)
  /// The ceiling of policies that state none.
  private static let usualCeiling = PresencePolicy().silenceCeiling
  /// The number of adverts from which on a learned interval counts for entries and overrides the family's.
  static let maturity: Float = 8

  /// The prior of an observer's losses: one run of losses in eight adverts, in the weight of four.
  static let runsBefore = (begun: 0.5, received: 4.0)
  /// The prior of the adverts in each class of levels, of a hundred.
  private static let classesBefore = [0, 5.0, 2]
  /// The shares of the budget for each class of levels.
  static let shares = [0.6, 0.1, 0.3]

  /// The level from which down a beacon is hardly received, and the level at which it is received well again.
  ///
  /// - Units: dBm, as received; 3 to 4 dB above the −92 to −94 dBm at which usual gateways stop receiving.
  static let edge: (from: Int8, until: Int8) = (-90, -87)
  /// The usual level below which fading takes a beacon there.
  ///
  /// - Units: dBm, 10 dB above the edge: three standard deviations of slow fading.
  static let fadingFrom: Float = -80
  /// The time for which fading hides a beacon there, and that with what is lost around it.
  ///
  /// - Units: seconds; some times the few seconds in which the fading of a walking person changes. Of a beacon that
  ///   advertises once a second or less often, gaps of 25 s are seen where it stays, and hardly any longer one.
  private static let fadingTime = (minimum: 12.0, maximum: 28.0)
  /// The rate of such fades.
  ///
  /// - Units: times a day.
  private static let fadesPerDay = 100.0

  /// The weight of others in adverts where a track loses more than they do.
  private static let doubtedWeight: Float = 64
  /// For so long a track must have kept its pace to be none that comes to rest, whatever its family does.
  ///
  /// - Units: seconds.
  private static let steadyTime: Float = 3_600

  /// The interval to reckon with, in seconds, or 0 if nothing is known.
  package func pace(_ policy: PresencePolicy) -> Float {
    var pace = learner.interval
    if learner.received < AdaptiveSilence.maturity {
      pace = max(pace, familyInterval)
    }
    if isYoungOfFamily { pace = familyInterval }
    pace = max(pace, history.slowest, declared ?? 0, Float(policy.stillInterval?.seconds ?? 0))
    if learner.received * learner.interval < AdaptiveSilence.steadyTime { pace = max(pace, familySlowest) }
    return pace
  }

  /// Indicates whether the learned interval of a young track is rather a multiple of the one that all its family has.
  ///
  /// If one advert in eight of a beacon is received, it takes dozens of gaps until a gap of one interval came twice.
  private var isYoungOfFamily: Bool {
    isFamilyIntervalKnown && !learner.isOwn && history.slowest == 0 && declared == nil
      && learner.interval > familyInterval * 1.5
  }

  /// The allowed gap under a policy at a level.
  @inline(__always)
  func allowedGap(_ policy: PresencePolicy, at levelClass: LevelClass) -> TimeSpan {
    allowance(policy, at: levelClass).gap
  }

  /// The allowed gap under a policy at each level, and what it was computed from.
  package func allowance(
    _ policy: PresencePolicy,
    at levelClass: LevelClass
  ) -> (gap: TimeSpan, basis: SilenceBasis?) {
    if let declared = policy.silence.declared { return (declared, nil) }
    var ceiling = policy.maximumSilence
    let pace = Double(pace(policy))
    guard pace > 0 else {
      return (min(max(AdaptiveSilence.defaultSilence, policy.silenceFloor), ceiling), nil)
    }
    var floor = policy.silenceFloor
    if pace > AdaptiveSilence.defaultWindow {
      let slow = AdaptiveSilence.slowMisses
      floor = max(floor, SilenceBasis.gap(of: slow.minimum, pace: pace))
      if policy.silenceCeiling >= AdaptiveSilence.usualCeiling { ceiling = max(ceiling, floor) }
      if history.runs == 0 { ceiling = min(ceiling, SilenceBasis.gap(of: slow.maximum, pace: pace)) }
    }
    let basis = basis(policy, pace: pace, at: levelClass, floor: floor, ceiling: ceiling)
    return (basis.allowedGap, basis)
  }

  /// The window in which the samples of an entry must fall, unless the policy states one.
  ///
  /// As many intervals as it takes to receive one of them with a probability of 78 %, from three to five, and the advDelay
  /// of each; at least 3 s. An untracked beacon may advertise every 10 s, so it gets three of those. An interval
  /// that was only learned makes it no longer than a minute: reflections lie minutes apart. A beacon that may be slower
  /// than that enters by the time over which it was heard in regular distance: see `SparseGaps`.
  package var enterWindow: TimeSpan {
    let known = declared.map(window) ?? 0
    var interval = max(learner.interval, history.slowest)
    var minimum = AdaptiveSilence.learnedWindow.lowerBound
    if declared == nil, learner.received < AdaptiveSilence.maturity {
      interval = isFamilyIntervalKnown ? max(interval, familyInterval) : 0
      minimum = AdaptiveSilence.defaultWindow
    }
    return .seconds(max(minimum, min(window(interval), AdaptiveSilence.learnedWindow.upperBound), known))
  }

  /// The window in which the samples of an entry must fall under a policy that states none.
  ///
  /// The interval at rest that the policy declares counts as a learned one does: a tag that comes to rest out of reach, or
  /// below the level of a region, is first received there in that interval. What is enough for two samples is made longer by
  /// a third for each further one: three intervals for two of them, six for five.
  ///
  /// - Parameters:
  ///   - learned: ``enterWindow`` of the track.
  ///   - policy: the policy.
  /// - Returns: the window.
  package static func enterWindow(learned: TimeSpan, under policy: PresencePolicy) -> TimeSpan {
    var window = learned
    if let still = policy.stillInterval {
      let intervals = (still.seconds + Double(IntervalLearner.jitter)) * Double(minimumEnterIntervals)
      window = max(window, .seconds(min(intervals, learnedWindow.upperBound)))
    }
    return window * share(of: policy.enterSamples)
  }

  /// The least window that a known interval gives a number of samples, in seconds.
  static func minimumWindow(of interval: Float, samples: Int) -> Double {
    let window = Double(minimumEnterIntervals) * Double(interval + IntervalLearner.jitter)
    return max(learnedWindow.lowerBound, window) * share(of: samples)
  }

  /// The window of a number of samples, in windows of two.
  private static func share(of samples: Int) -> Double { samples > 2 ? Double(samples + 1) / 3 : 1 }

  /// Indicates whether three of its intervals may be longer than the window: then it also enters by regular distance.
  var mayBeSlow: Bool {
    learner.received < AdaptiveSilence.maturity
      || window(max(learner.interval, history.slowest)) > AdaptiveSilence.learnedWindow.upperBound
  }

  private func window(_ interval: Float) -> Double {
    Double(enterIntervals) * Double(interval + IntervalLearner.jitter)
  }

  /// The number of intervals of an enter window.
  private var enterIntervals: Int {
    var counts = history.all(received: learner.received)
    counts.add(belief)
    let lost = (Double(counts.lost) + 0.5) / (Double(counts.received + counts.lost) + 1)
    let bits = RadioMath.binaryLog(AdaptiveSilence.enterMiss) / RadioMath.binaryLog(lost)
    return min(max(Int(min(bits.rounded(.up), 5)), AdaptiveSilence.minimumEnterIntervals), 5)
  }

  private func basis(
    _ policy: PresencePolicy,
    pace: Double,
    at levelClass: LevelClass,
    floor: TimeSpan,
    ceiling: TimeSpan
  ) -> SilenceBasis {
    // What was counted in another interval than the family's tells nothing.
    let own = isYoungOfFamily ? LossRuns() : history.all(received: learner.received)
    var counts = own
    counts.add(belief(for: own))
    var chance =
      (Double(counts.runs) + AdaptiveSilence.runsBefore.begun)
      / (Double(counts.received) + AdaptiveSilence.runsBefore.received)
    let prior = counts.runLengthPrior(isFading: isUsuallyWeak || isWeak)
    var continued = Double(counts.lost - counts.runs) + prior.continued
    var ended = Double(counts.runs) + prior.ended
    if !isYoungOfFamily { follow(recent: counts, &chance, &continued, &ended) }
    var daily =
      86_400 / pace * min(1, Double(counts.received + 2) / Double(counts.received + counts.lost + 2))
    let lane = levelClass.lane
    let budget = policy.falseExitsPerDay * AdaptiveSilence.shares[lane]
    if levelClass != .usual {
      let counts = history.rare.classes
      let received = Double(counts.received[lane])
      let (runs, lost) = (Double(counts.runs[lane]), Double(counts.lost[lane]))
      daily *= min(1, (received + AdaptiveSilence.classesBefore[lane]) / (Double(own.received) + 100))
      // Where it is weak, more is lost than usual until experience says otherwise.
      let weak = max(chance, levelClass == .low ? 0.15 : 0.3)
      chance = (runs + weak * 8) / (received + 8)
      let part = min(1, 48 / ended)
      continued = continued * part + lost - runs
      ended = ended * part + runs
    }
    var basis = SilenceBasis(
      pace: .seconds(pace),
      surroundings: levelClass,
      opportunities: daily,
      runChance: min(chance, 1),
      budget: budget,
      continued: continued,
      ended: ended,
      floor: min(
        max(
          floor,
          hiding(budget: budget, continued / (continued + ended), pace: pace),
          fading(policy, at: levelClass, continued / (continued + ended), pace: pace),
          levelClass == .usual ? worstTail(budget: budget) : .zero,
          patience
        ),
        ceiling
      ),
      ceiling: ceiling
    )
    addTail(of: counts, own: own, to: &basis)
    basis.misses = basis.recomputedMisses
    return basis
  }

  /// Returns the prior, with less weight if this track evidently loses more than the others do.
  private func belief(for own: LossRuns) -> LossRuns {
    guard belief.received > AdaptiveSilence.doubtedWeight else { return belief }
    let expected = belief.runs / belief.received * own.received
    guard own.runs > expected + 3 * expected.squareRoot() + 2 else { return belief }
    return belief.limited(to: AdaptiveSilence.doubtedWeight)
  }

  /// A young track may have a slower interval than its family after all.
  private var patience: TimeSpan {
    isYoungOfFamily ? .milliseconds(Int64((learner.interval * 3_500).rounded(.up))) : .zero
  }

  /// A place that got worse of late counts as it is now: where recent runs are more, or longer, than chance explains.
  private func follow(
    recent counts: LossRuns,
    _ chance: inout Double,
    _ continued: inout Double,
    _ ended: inout Double
  ) {
    let recent = history.recent(received: recentReceived)
    guard recent.received >= 24, recent.runs >= 4 else { return }
    let spread = Double(recent.runs).squareRoot()
    let received = Double(recent.received)
    if (Double(recent.runs) - 2 * spread) / received > chance { chance = Double(recent.runs) / received }
    let mean = Double(recent.lost / recent.runs)
    guard mean * (1 - 2 / spread) > (continued + ended) / ended else { return }
    let part = min(1, 8 / ended)
    continued = continued * part + Double(recent.lost - recent.runs)
    ended = ended * part + Double(recent.runs)
  }

  /// The tail that allows the longest run, judged by what long runs lost beyond the length that made them long: those of
  /// all tracks, or the track's own.
  ///
  /// The mean of many tracks hides one that a body or a wall cuts off for longer than the others.
  private func addTail(of counts: LossRuns, own: LossRuns, to basis: inout SilenceBasis) {
    let ordinary = basis.continued / (basis.continued + basis.ended)
    var best = 0
    // Few adverts say little of how rare long runs are.
    let isOwn = own.received >= IntervalLearner.young * 2 && own.hasWorseTail(than: counts)
    // No array of the two: this is computed at each deadline.
    for number in 0..<(isOwn ? 4 : 2) {
      let runs = number < 2 ? counts : own
      guard let tail = runs.tail(number & 1, ordinary: ordinary) else { continue }
      var other = basis
      other.tail = tail
      let misses = other.recomputedMisses
      guard misses > best else { continue }
      best = misses
      basis.tail = tail
    }
  }

  /// The silence that the long runs of the worst track around exceed at most as often as the budget allows.
  private func worstTail(budget: Double) -> TimeSpan {
    .milliseconds(Int64((worst.silence(budget: budget) * 1_000).rounded(.up)))
  }
}

extension LossPool.WorstTrack {
  /// The silence in seconds that its long runs exceed so often a day, or zero if there were none.
  func silence(budget: Double) -> Double {
    guard interval > 0 else { return 0 }
    let interval = Double(interval)
    let expected = 86_400 / interval * losses.share / max(budget, 1e-12)
    let ordinary = Double(losses.lost - losses.runs + 1) / Double(losses.lost + 2)
    let misses = (0..<2).compactMap { losses.tail($0, ordinary: ordinary)?.losses(of: expected) }
    return (misses.max() ?? 0) * interval
  }
}

/// The prior of the length of a run of losses: it follows the share of the adverts that are lost.
///
/// In public traces a run goes on with the probability 0.07 to 0.12 where 2 to 10 % are lost, 0.20 to 0.28 where 10 to 30 %
/// are, 0.63 up to 60 % and 0.82 above. So the odds that a run goes on are about twice the odds that an advert is lost.
extension LossRuns {
  /// The number of runs that the prior is worth: an hour's own runs outweigh it.
  private static let priorRuns = 6.0
  /// The prior of the share, as numbers of adverts: a third, which makes an even chance that a run goes on.
  private static let priorShare = (lost: 16.0, received: 32.0)
  /// The least odds that a run goes on: those of a probability of 0.07, as in the traces with the fewest losses.
  private static let minimumOdds = 0.075
  /// The same of a beacon that fading may hide: it goes on as likely as not, however little was lost so far.
  private static let minimumFadingOdds = 1.0

  /// The prior of a run's length, as numbers of times that runs continued and ended.
  ///
  /// - Parameter isFading: true if the beacon is so weak that fading hides it now and then.
  /// - Returns: the prior.
  package func runLengthPrior(isFading: Bool) -> (continued: Double, ended: Double) {
    let before = LossRuns.priorShare
    let odds = 2 * (Double(lost) + before.lost) / (Double(received) + before.received)
    let minimum = isFading ? LossRuns.minimumFadingOdds : LossRuns.minimumOdds
    return (LossRuns.priorRuns * max(minimum, odds), LossRuns.priorRuns)
  }
}

extension LossRuns {
  /// Indicates whether long runs are evidently more frequent, or longer, than those of all tracks: by five standard deviations.
  ///
  /// Of many tracks that lose alike, one has the longest runs by chance, and they are compared again and again.
  func hasWorseTail(than all: LossRuns) -> Bool {
    guard all.received > 0 else { return longRuns > 0 }
    let expected = all.longRuns / all.received * received
    if longRuns > expected + 5 * expected.squareRoot() + 2 { return true }
    // The losses beyond the length that makes a run long are geometric.
    let mean = (all.longLost + 1) / (all.longRuns + 1)
    return longLost > longRuns * mean + 5 * (longRuns * mean * (1 + mean)).squareRoot()
  }

  /// Returns the tail of long runs: of at least eight losses, or of at least 32.
  ///
  /// - Parameters:
  ///   - number: 0 for runs of at least eight losses, 1 for those of at least 32.
  ///   - ordinary: the probability that any run goes on: long ones are believed to be like the others in the weight of six.
  /// - Returns: the tail, or nil if there were no such runs.
  fileprivate func tail(_ number: Int, ordinary: Double) -> SilenceBasis.Tail? {
    let isMaximum = number == 1
    let runs = Double(isMaximum ? cappedRuns : longRuns)
    let lost = Double(isMaximum ? cappedLost : longLost)
    guard runs >= 0.5 else { return nil }
    let chance = runs / (Double(received) + AdaptiveSilence.runsBefore.received)
    let continued = 6 * ordinary / (1 - ordinary) + lost
    let continuation = continued / (continued + 6 + runs)
    return SilenceBasis.Tail(
      from: Int(isMaximum ? LossRuns.longFrom.1 : LossRuns.longFrom.0),
      chance: chance,
      continuation: continuation
    )
  }
}

extension SilenceBasis.Tail {
  /// The number of losses in a row that are exceeded once in so many adverts.
  fileprivate func losses(of expected: Double) -> Double {
    guard chance > 0, continuation > 0, continuation < 1 else { return 0 }
    let bits = RadioMath.binaryLog(expected * chance)
    let further = bits > 0 ? (bits / -RadioMath.binaryLog(continuation)).rounded(.up) : 0
    return Double(from) + min(further, PredictiveTail.maximum)
  }
}

/// Bodies in the way: they take 10 to 20 dB for some seconds, and hide a beacon that is not loud enough altogether.
extension AdaptiveSilence {
  /// The level below which one body in the way may hide a beacon altogether.
  ///
  /// - Units: dBm; 20 dB above the −92 to −94 dBm at which usual gateways stop receiving.
  static let bodyReach: Float = -71
  /// The longest time for which a body stands in the way; any shorter one is as likely.
  ///
  /// - Units: seconds; a person who walks by or stops for a moment.
  static let bodyTime = 10.0
  /// The rate below which ordinary losses do not explain a pause: once in a hundred days, so that what chance makes of
  /// them counts for at most a default budget.
  ///
  /// - Units: times a second.
  private static let bodyChance = 0.01 / 86_400

  /// The pause in seconds from which on ordinary losses do not explain it, or nil before so much is known; a tag that comes
  /// to rest has other pauses.
  package var unexplainedPause: Double? {
    guard learner.interval > 0, history.slowest == 0 else { return nil }
    let interval = Double(learner.interval)
    var counts = history.all(received: learner.received)
    counts.add(belief)
    guard counts.received >= 64 else { return nil }
    let begun = (Double(counts.runs) + 1) / Double(counts.received + 2)
    let goesOn = (Double(counts.lost - counts.runs) + 1) / (Double(counts.lost) + 2)
    let bits = RadioMath.binaryLog(begun / (AdaptiveSilence.bodyChance * interval))
    return interval * (1.5 + max(0, bits / -RadioMath.binaryLog(goesOn)))
  }

  /// The share of bodies whose pause ordinary losses would not explain, or nil before so much is known.
  var unexplainedShare: Double? { unexplainedPause.map { max(0, 1 - $0 / AdaptiveSilence.bodyTime) } }

  /// The silence that a body in the way and the losses around it exceed at most as often as the budget allows.
  ///
  /// A body stays for any time up to D alike, and the losses around it are geometric with the mean time m. Both together
  /// exceed g with the probability q · e^((D − g) ÷ m) for g above D, where q = m ÷ D · (1 − e^(−D ÷ m)), and at most with
  /// 1 − (g − m) ÷ D below.
  func hiding(budget: Double, _ continuation: Double, pace: Double) -> TimeSpan {
    let bodies = bodies * (unexplainedShare ?? 1)
    guard bodies > budget else { return .zero }
    let maximum = AdaptiveSilence.bodyTime
    let around = -pace / RadioMath.naturalLog(continuation)
    let beyond = around / maximum * (1 - RadioMath.exponential(-maximum / around))
    let share = max(budget / bodies, 1e-12)
    let seconds =
      share < beyond
      ? maximum + around * RadioMath.naturalLog(beyond / share) : maximum * (1 - share) + around
    return .milliseconds(Int64((seconds * 1_000).rounded(.up)))
  }

  /// The silence that fading may make of a beacon whose usual level is hardly more than what the observer can receive: a
  /// fade, and what is lost around it.
  private func fading(
    _ policy: PresencePolicy,
    at levelClass: LevelClass,
    _ continuation: Double,
    pace: Double
  ) -> TimeSpan {
    guard isUsuallyWeak || isWeak && (levelClass == .usual || !isUsualKnown) else { return .zero }
    let bits = RadioMath.binaryLog(AdaptiveSilence.fadesPerDay / max(policy.falseExitsPerDay, 1e-9))
    // There every second advert is lost, or more. One that was loud a moment ago rather goes.
    let losses = (bits / -RadioMath.binaryLog(max(continuation, 0.5))).rounded(.up)
    let around = isUsuallyWeak ? losses : 3
    let seconds = min(AdaptiveSilence.fadingTime.minimum + around * pace, AdaptiveSilence.fadingTime.maximum)
    return .milliseconds(Int64((seconds * 1_000).rounded(.up)))
  }
}

extension SilenceBasis {
  /// The number of losses in a row that are always granted.
  private static let minimumMisses = 2

  /// The smallest run of losses whose expected number a day, at such levels, is within the budget.
  package var recomputedMisses: Int {
    let expected = opportunities / max(budget, 1e-12)
    guard expected > 0 else { return SilenceBasis.minimumMisses }
    let ordinary = RadioMath.binaryLog(expected * max(runChance, 1e-9))
    var misses = 1 + PredictiveTail(continued: continued, ended: ended).losses(forBits: ordinary)
    if let tail { misses = max(misses, Int(tail.losses(of: expected))) }
    return max(SilenceBasis.minimumMisses, misses)
  }

  /// The silence that so many misses make: a little beyond the last of them, within floor and ceiling.
  ///
  /// Three tenths of an interval, since the learned interval is wrong by up to a hundredth, thirty times over.
  package var allowedGap: TimeSpan {
    min(max(SilenceBasis.gap(of: misses, pace: pace.seconds), floor), ceiling)
  }

  /// The silence that so many misses make at a pace in seconds.
  package static func gap(of misses: Int, pace: Double) -> TimeSpan {
    let milliseconds = (pace * 1_000).rounded() * (Double(misses) + 0.3)
    return .seconds(milliseconds.rounded(.up) / 1_000)
  }
}

/// The distribution of the length of a run of losses, if the chance that a run goes on is only known from some runs.
///
/// If the chance c that a run goes on were known, m more losses would have the chance c^m. It is known only as well as so
/// many runs tell: its posterior is Beta(continued, ended), and the chance of m more is the mean of c^m over it,
/// Γ(a+m) Γ(a+b) ÷ (Γ(a) Γ(a+b+m)). That is tight after hundreds of runs and has a heavy tail after few, which is the
/// caution that little history calls for.
///
/// - Source: A. Gelman et al., "Bayesian Data Analysis", third edition, 2013, 2.1 and 2.4 (posterior predictive of the
///   binomial); Stirling's series for ln Γ.
package struct PredictiveTail {
  /// The first parameter: how often a run went on.
  let continued: Double
  /// The second parameter: how often a run ended.
  let ended: Double

  package init(continued: Double, ended: Double) {
    self.continued = continued
    self.ended = ended
  }

  /// The longest run that is looked for; beyond it any ceiling has long been reached.
  package static let maximum = 100_000.0

  /// The smallest whole number of further losses whose chance is at most 2 to the power of minus `bits`.
  ///
  /// Newton's method against ln(m + middle), in which the logarithm of the chance is nearly straight; a few whole steps
  /// then settle what rounding left open. Every track asks for it now and then, so no logarithm is taken twice.
  package func losses(forBits bits: Double) -> Int {
    guard bits > 0 else { return 0 }
    let sum = continued + ended
    let (logContinued, logSum) = (RadioMath.binaryLog(continued), RadioMath.binaryLog(sum))
    let whole =
      PredictiveTail.logGamma(sum, log: logSum) - PredictiveTail.logGamma(continued, log: logContinued)
    /// Returns the bits by which so many losses are too likely, and the bits that one more of them takes off.
    func excess(_ more: Double) -> (over: Double, slope: Double) {
      let (low, high) = (RadioMath.binaryLog(continued + more), RadioMath.binaryLog(sum + more))
      let over =
        whole + PredictiveTail.logGamma(continued + more, log: low)
        - PredictiveTail.logGamma(sum + more, log: high) + bits
      return (over, high - low)
    }
    let middle = continued + ended / 2
    // As if c were known: never too long, since the mean of c^m is at least the mean of c to the power of m.
    var more = min(bits / (logSum - logContinued), PredictiveTail.maximum)
    var last = excess(more)
    for _ in 0..<12 where last.over > 0.002 {
      let step = min(last.over / (last.slope * (more + middle)), 4)
      more = min((more + middle) * PredictiveTail.exponential(step) - middle, PredictiveTail.maximum)
      if more >= PredictiveTail.maximum { return Int(PredictiveTail.maximum) }
      last = excess(more)
    }
    var count = more.rounded(.up)
    // From one loss to the next the slope falls by less than half.
    let isEnough = last.over - last.slope / 2 * (count - more) < -1e-6
    let isMinimum = last.over + last.slope * (more - count + 1) > 1e-6
    if isEnough, isMinimum { return Int(count) }
    for _ in 0..<64 {
      guard count >= 1, excess(count - 1).over <= 0 else { break }
      count -= 1
    }
    for _ in 0..<64 {
      guard excess(count).over > 0, count < PredictiveTail.maximum else { break }
      count += 1
    }
    return Int(count)
  }

  /// e to the power of a step between 0 and 4, well enough to step by: Padé's approximant of the second order.
  private static func exponential(_ step: Double) -> Double {
    let even = 1 + step * step / 12
    return (even + step / 2) / (even - step / 2)
  }

  /// The logarithm to base 2 of Γ, but for the constant ½ ln 2π.
  ///
  /// Stirling's series; at 1, where it is worst, it is wrong by 0.0004. Below 1 by Γ(x) = Γ(x + 1) ÷ x.
  private static func logGamma(_ value: Double, log: Double) -> Double {
    guard value >= 1 else { return logGamma(value + 1, log: RadioMath.binaryLog(value + 1)) - log }
    let inverse = 1 / value
    let square = inverse * inverse
    let series = inverse * (1.0 / 12 - square * (1.0 / 360 - square / 1_260))
    return (value - 0.5) * log + (series - value) / RadioMath.naturalLogOfTwo
  }
}
