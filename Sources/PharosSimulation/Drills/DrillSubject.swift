import PharosReports

/// One subject of a drill: it comes, advertises, leaves and comes again.
struct DrillSubject: Sendable {
  /// The next thing about a subject that anybody notices.
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

  /// How long after leaving and before coming no reflection is heard, so that none belongs to a stay.
  ///
  /// - Units: seconds; the longest silence that any rule allows, and a little more.
  private static let quietAfterStay = 320.0
  private static let quietBeforeStay = 60.0
  /// The least time between two reflections of one subject.
  private static let betweenSpikes = 120.0
  /// How much louder than it should a spike is.
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
  /// Decides comings and leavings: shared by those who leave together.
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
  /// What is known already and still to be told, the first last.
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

  /// Goes on to the next thing that anybody notices; what is lost on the air is passed over.
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

  /// Sends adverts until one is within range: with that the subject is there.
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

  /// Sends what is left to send, to see which advert is the last one within range.
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
