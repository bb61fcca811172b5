import PharosModel
import PharosSimulation

/// One subject of a drill: it comes, advertises, leaves and comes again.
struct DrillSubject: Sendable {
  /// An event of a subject that is visible outside: an arrival, a departure or a received advert.
  struct Happening: Sendable {
    enum Kind: Sendable {
      case came
      case left
      case advert
    }

    var time: Int64
    var kind: Kind
    /// The level of an advert, in dBm.
    var level = 0.0
  }

  /// The times after a departure and before an arrival without reflections, so that none belongs to a stay.
  ///
  /// - Units: seconds; the longest silence that any rule allows, and a little more.
  private static let quietAfterStay = 320.0
  private static let quietBeforeStay = 60.0
  /// The minimum time between two reflections of one subject.
  private static let betweenSpikes = 120.0
  /// The excess level of a spike.
  private static let spike = 15.0

  private enum Phase {
    case away
    case coming
    case here
    case going
  }

  private let motion: Drill.Motion
  private let noise: Drill.Noise
  private let stayLengths: ClosedRange<TimeSpan>
  private let awayLengths: ClosedRange<TimeSpan>
  private let spikeMean: Double
  /// The random stream of arrivals and departures, shared by subjects that leave together.
  private var timeline: RandomStream
  private var random: RandomStream
  private var clockwork: DrillClockwork
  private var air: DrillAir
  private var stay: DrillStay
  private var phase = Phase.away
  private var nextAdvert: Int64 = 0
  private var nextSpike = Int64.max
  private let stagger: Int64
  private var isInRange = false
  private var lastSent: Int64 = 0
  /// The events not returned yet, in reverse order.
  private var ready: [Happening] = []

  init(_ drill: borrowing Drill, seed: UInt64, number: Int) {
    timeline = RandomStream(seed: seed, 11, drill.leavesTogether ? 0 : UInt64(number) + 1)
    random = RandomStream(seed: seed, 12, UInt64(number))
    motion = drill.motion
    noise = drill.effectiveNoise
    stayLengths = drill.stay
    awayLengths = drill.away
    spikeMean = drill.spikesPerHour > 0 ? 3_600 / drill.spikesPerHour : 0
    clockwork = DrillClockwork(drill.interval)
    air = DrillAir(drill, random: &random)
    stagger = drill.leavesTogether ? random.span(0, 10) : 0
    stay = DrillStay(from: 0, length: 0, motion: .still, noise: noise, random: &random)
    plan(from: timeline.span(1, 600))
    if spikeMean > 0 { nextSpike = Int64(random.exponential(mean: spikeMean) * 1e9) }
  }

  /// Advances to the next event and returns it; adverts lost on the air are skipped.
  mutating func advance() -> Happening {
    while true {
      if let known = ready.popLast() { return known }
      switch phase {
      case .away:
        if let spike = reflection() { return spike }
        air.begin(random: &random)
        nextAdvert = clockwork.begin(stay, random: &random)
        phase = .coming
      case .coming: come()
      case .here:
        guard nextAdvert < stay.goingFrom else {
          phase = .going
          continue
        }
        if let heard = send() { return heard }
      case .going: go()
      }
    }
  }

  /// Sends adverts until one is within range: with that advert the subject has arrived.
  private mutating func come() {
    while nextAdvert < stay.goingFrom {
      let heard = send()
      guard isInRange || heard != nil else { continue }
      if let heard { ready.append(heard) }
      ready.append(Happening(time: lastSent, kind: .came))
      phase = .here
      return
    }
    leave()
  }

  /// Sends the remaining adverts, to find the last one within range.
  private mutating func go() {
    var last = lastSent
    var heard: [Happening] = []
    while nextAdvert < max(stay.silentFrom, stay.goingFrom) {
      if let advert = send() { heard.append(advert) }
      if isInRange { last = lastSent }
    }
    let place = heard.firstIndex { $0.time > last } ?? heard.endIndex
    heard.insert(Happening(time: last, kind: .left), at: place)
    ready = heard.reversed()
    leave()
  }

  /// Sends the advert that is due; nil if it is lost.
  private mutating func send() -> Happening? {
    let time = nextAdvert
    let interval = clockwork.interval
    lastSent = time
    nextAdvert = clockwork.next(after: time, random: &random)
    let mean = stay.level(at: time)
    let received = air.receive(at: time, mean: mean, interval: interval, random: &random)
    isInRange = stay.slope == 0 || air.isInRange(mean: mean)
    guard var level = received else { return nil }
    if time >= nextSpike {
      level += DrillSubject.spike
      scheduleSpike(after: time)
    }
    return Happening(time: time, kind: .advert, level: level)
  }

  /// A single advert from out of range, if one comes before the next stay.
  private mutating func reflection() -> Happening? {
    guard nextSpike < stay.from - Int64(DrillSubject.quietBeforeStay * 1e9) else { return nil }
    let time = nextSpike
    scheduleSpike(after: time)
    return Happening(time: time, kind: .advert, level: random.uniform(-78, -60))
  }

  private mutating func scheduleSpike(after time: Int64) {
    let wait = DrillSubject.betweenSpikes + random.exponential(mean: spikeMean)
    nextSpike = time + Int64(wait * 1e9)
  }

  private mutating func leave() {
    phase = .away
    let gone = max(stay.silentFrom, stay.until)
    plan(from: stay.until + timeline.logarithmic(awayLengths))
    guard spikeMean > 0 else { return }
    nextSpike = max(nextSpike, gone + Int64(DrillSubject.quietAfterStay * 1e9))
  }

  /// Plans the next stay: at least so long that two adverts fall in it.
  private mutating func plan(from time: Int64) {
    let length = max(timeline.logarithmic(stayLengths), 2 * clockwork.interval + 20_000_000)
    stay = DrillStay(
      from: time + stagger,
      length: length - stagger,
      motion: motion,
      noise: noise,
      random: &random
    )
  }
}

/// One stay of a subject: its start and end within range, and the level without randomness.
struct DrillStay: Sendable {
  /// The rate at which the level of a walking subject changes while it arrives or leaves.
  ///
  /// - Units: dB a second: 1.4 m/s past furniture and a door or two.
  private static let walkingSlope = (1.5, 4.0)
  /// The rate at which the level of a distant passing subject changes.
  ///
  /// - Units: dB a second: 1.2 m/s at 12 to 35 m.
  private static let passingSlope = (0.4, 1.2)

  /// The start and the end, in nanoseconds since the drill began.
  let from: Int64
  let until: Int64
  /// The level during the stay, in dBm; for a passing subject the maximum.
  let level: Double
  /// The rate at which the level rises and falls at both ends, in dB a second; 0 if the subject comes and goes at once.
  let slope: Double

  /// The range of the slow noise of the drill: three standard deviations, in dB.
  private let reach: Double

  init(
    from: Int64,
    length: Int64,
    motion: Drill.Motion,
    noise: Drill.Noise,
    random: inout RandomStream
  ) {
    reach = 3 * noise.slow
    self.from = from
    until = from + length
    switch motion {
    case .still:
      level = random.uniform(-75, -55)
      slope = 0
    case .shadowed:
      level = random.uniform(-78, -62)
      slope = 0
    case .walking:
      level = random.uniform(-76, -62)
      slope = random.uniform(DrillStay.walkingSlope.0, DrillStay.walkingSlope.1)
    case .passing:
      level = random.uniform(-88, -78)
      slope = random.uniform(DrillStay.passingSlope.0, DrillStay.passingSlope.1)
    }
  }

  /// The time from which any advert may be the last one within range.
  var goingFrom: Int64 {
    guard slope > 0 else { return until }
    return max(from + (until - from) / 2, until - Int64(reach / slope * 1e9))
  }

  /// The time from which no advert can be received, whatever the noise.
  var silentFrom: Int64 {
    slope > 0 ? until + Int64((DrillAir.edge + reach) / slope * 1e9) : until
  }

  /// The level without chance at a time, in dBm.
  func level(at time: Int64) -> Double {
    guard slope > 0 else { return level }
    let ramp = min(Double(time - from), Double(until - time)) / 1e9
    return min(level, DrillAir.sensitivity + slope * ramp)
  }
}

/// The advertising schedule of a subject: its interval, the effect of its motion, and the advDelay of each advert.
struct DrillClockwork: Sendable {
  /// The greatest delay that is added to each interval.
  private static let delay = 10_000_000.0
  /// The mean rest, the mean motion between rests, and the time in motion while the subject arrives and leaves.
  ///
  /// - Units: seconds.
  private static let meanRest = 900.0
  private static let meanMotion = 30.0
  private static let coming = 20.0

  private let fast: Int64
  private let slow: Int64
  private var isMoving = true
  private var changes = Int64.max
  private var leavesFrom = Int64.max
  /// The interval that led to the last time given.
  private(set) var interval: Int64

  init(_ interval: Drill.Interval) {
    switch interval {
    case .steady(let span):
      fast = span.nanoseconds
      slow = fast
    case .triggered(let moving, let still):
      fast = moving.nanoseconds
      slow = still.nanoseconds
    }
    self.interval = fast
  }

  /// The time of the first advert of a stay.
  mutating func begin(_ stay: DrillStay, random: inout RandomStream) -> Int64 {
    isMoving = true
    interval = fast
    if slow > fast {
      changes = stay.from + Int64(DrillClockwork.coming * 1e9)
      leavesFrom = stay.until - Int64(DrillClockwork.coming * 1e9)
    }
    return stay.from + Int64(random.uniform() * Double(fast))
  }

  /// The time of the next advert.
  mutating func next(after time: Int64, random: inout RandomStream) -> Int64 {
    let delay = Int64(random.uniform() * DrillClockwork.delay)
    if slow > fast, time >= changes, time < leavesFrom { turn(at: time, random: &random) }
    if isMoving || slow == fast {
      interval = fast
      return time + fast + delay
    }
    // A tag that is picked up says so at once.
    let wakes = min(changes, leavesFrom)
    interval = slow
    guard time + slow > wakes else { return time + slow + delay }
    if wakes == leavesFrom { isMoving = true }
    return max(time, wakes) + delay
  }

  private mutating func turn(at time: Int64, random: inout RandomStream) {
    isMoving.toggle()
    let mean = isMoving ? DrillClockwork.meanMotion : DrillClockwork.meanRest
    changes = time + Int64(random.exponential(mean: mean) * 1e9)
  }
}

/// The air between one subject and the observer: the noise, the bodies in the way, and the loss of its adverts.
struct DrillAir: Sendable {
  /// The level at which every second advert is received.
  ///
  /// - Units: dBm. Common gateways stop receiving at −92 to −97.
  static let sensitivity = -94.0
  /// The radio without anything by chance but reception, with the exponent of ESPresense's default absorption.
  static let radio = Radio(
    pathLossExponent: 2.7,
    shadowing: nil,
    riceFactor: nil,
    channelDeviation: 0,
    softness: 1.5
  )
  /// The distance from the sensitivity beyond which reception is certain or impossible.
  ///
  /// - Units: dB. Six softnesses: one advert in 400.
  static let edge = 9.0
  /// The mean time between bodies in the way, the time that a body stays, and its attenuation.
  private static let meanBetweenBodies = 600.0
  private static let bodyTime = (2.0, 10.0)
  private static let bodyLoss = (10.0, 20.0)

  private let loss: Drill.Loss
  private let noise: Drill.Noise
  private let isShadowed: Bool
  /// The chances that an advert is lost after one that was received, and after one that was lost.
  private let lossAfter: (received: Double, lost: Double)
  private var wasLost = false
  private var slow = 0.0
  private var memory = 1.0
  private var innovation = 0.0
  private var memoryInterval: Int64 = 0
  private var body: (from: Int64, until: Int64, loss: Double) = (0, 0, 0)

  init(_ drill: borrowing Drill, random: inout RandomStream) {
    loss = drill.loss
    noise = drill.effectiveNoise
    isShadowed = drill.motion == .shadowed
    if let run = drill.loss.meanRun, drill.loss.share > 0 {
      lossAfter = (min(1, loss.share / ((1 - loss.share) * max(1, run))), 1 - 1 / max(1, run))
    } else {
      lossAfter = (drill.loss.share, drill.loss.share)
    }
    if isShadowed { body = DrillAir.nextBody(after: 0, random: &random) }
  }

  /// Draws the initial state of the air for a subject that arrives.
  mutating func begin(random: inout RandomStream) {
    slow = noise.slow * random.bell()
    wasLost = random.chance(loss.share)
  }

  /// Lets an advert pass, or loses it.
  ///
  /// - Parameters:
  ///   - time: The time at which it is sent, in nanoseconds since the drill began; never before the last one.
  ///   - mean: The level without chance, in dBm.
  ///   - interval: The time since the last one was sent, to within the advDelay.
  ///   - random: The source of randomness.
  /// - Returns: The level at which it is received, in dBm, or nil if it is lost.
  mutating func receive(
    at time: Int64,
    mean: Double,
    interval: Int64,
    random: inout RandomStream
  ) -> Double? {
    if interval != memoryInterval { remember(interval) }
    slow = slow * memory + innovation * random.bell()
    wasLost = random.chance(wasLost ? lossAfter.lost : lossAfter.received)
    guard !wasLost else { return nil }
    var level = mean + slow + noise.fast * random.bell()
    if isShadowed { level -= shadow(at: time, random: &random) }
    return DrillAir.isReceived(level, random: &random) ? level : nil
  }

  /// Returns whether the last advert was within range, apart from loss and the noise of the single advert.
  func isInRange(mean: Double) -> Bool { mean + slow >= DrillAir.sensitivity }

  /// Returns whether an advert of a level is received, by a random draw.
  static func isReceived(_ level: Double, random: inout RandomStream) -> Bool {
    let above = level - sensitivity
    if above >= edge { return true }
    if above <= -edge { return false }
    return random.chance(radio.receptionChance(level: level, sensitivity: sensitivity))
  }

  private mutating func remember(_ interval: Int64) {
    memoryInterval = interval
    memory = RadioMath.exponential(-Double(interval) / Double(max(1, noise.time.nanoseconds)))
    innovation = noise.slow * (1 - memory * memory).squareRoot()
  }

  private mutating func shadow(at time: Int64, random: inout RandomStream) -> Double {
    guard time >= body.from else { return 0 }
    while time >= body.until { body = DrillAir.nextBody(after: body.until, random: &random) }
    return time >= body.from ? body.loss : 0
  }

  private static func nextBody(
    after time: Int64,
    random: inout RandomStream
  ) -> (from: Int64, until: Int64, loss: Double) {
    let from = time + Int64(random.exponential(mean: meanBetweenBodies) * 1e9)
    return (
      from, from + random.span(bodyTime.0, bodyTime.1), random.uniform(bodyLoss.0, bodyLoss.1)
    )
  }
}
