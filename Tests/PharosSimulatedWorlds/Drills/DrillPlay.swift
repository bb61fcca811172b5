import PharosModel
import PharosSimulation

/// A drill as it is played: its items in order of time.
package struct DrillPlay: IteratorProtocol, Sendable {
  private let end: Int64
  private let subjectCount: Int
  private var subjects: [DrillSubject]
  private var happenings: [DrillSubject.Happening] = []
  private var queue = DrillQueue()
  private var passersBy: [(random: RandomStream, next: Int64, level: Double)]
  private var observer: DrillObserver

  init(_ drill: Drill, seed: UInt64) {
    precondition(
      drill.length <= Drill.maximumLength && drill.subjects + drill.passersBy <= Drill.maximumSubjects,
      "drill \(drill.name): at most \(Drill.maximumLength.seconds) s and \(Drill.maximumSubjects) subjects"
    )
    end = drill.length.nanoseconds
    subjectCount = drill.subjects
    subjects = (0..<drill.subjects).map { DrillSubject(drill, seed: seed, number: $0) }
    passersBy = (0..<drill.passersBy).map { number in
      var random = RandomStream(seed: seed, 13, UInt64(number))
      return (random, Int64(random.uniform() * 1e9), random.uniform(-85, -65))
    }
    observer = DrillObserver(drill, random: RandomStream(seed: seed, 14))
    for number in subjects.indices {
      happenings.append(subjects[number].advance())
      queue.insert(time: happenings[number].time, number: number)
    }
    for number in passersBy.indices {
      queue.insert(time: passersBy[number].next, number: subjectCount + number)
    }
  }

  /// The next item, or nil once the drill is over.
  package mutating func next() -> DrillItem? {
    while true {
      let first = queue.first
      let due = observer.nextTime
      if due <= first?.time ?? .max {
        guard due <= end else { return nil }
        if let item = observer.next() { return item }
      } else if let first {
        guard first.time <= end else { return nil }
        if let item = next(first.number) { return item }
      }
    }
  }

  /// Returns the item of the subject or untracked device whose turn it is, or nil if the observer does not receive
  /// its advert.
  private mutating func next(_ number: Int) -> DrillItem? {
    guard number < subjectCount else { return nextPasserBy(number) }
    let happening = happenings[number]
    let next = subjects[number].advance()
    happenings[number] = next
    queue.replaceFirst(time: next.time, number: number)
    let time = Timestamp(nanoseconds: Drill.start.nanoseconds + happening.time)
    switch happening.kind {
    case .came: return .came(subject: Int32(number), time: time)
    case .left: return .left(subject: Int32(number), time: time)
    case .advert:
      guard observer.hears() else { return nil }
      return .advert(
        subject: Int32(number),
        observer: 0,
        time: time,
        level: DrillPlay.rounded(happening.level)
      )
    }
  }

  private mutating func nextPasserBy(_ number: Int) -> DrillItem? {
    let index = number - subjectCount
    let sent = passersBy[index].next
    let delay = 1_000_000_000 + Int64(passersBy[index].random.uniform() * 10_000_000)
    passersBy[index].next = sent + delay
    queue.replaceFirst(time: passersBy[index].next, number: number)
    let level = passersBy[index].level + 2 * passersBy[index].random.bell()
    guard observer.hears() else { return nil }
    return .advert(
      subject: Int32(number),
      observer: 0,
      time: Timestamp(nanoseconds: Drill.start.nanoseconds + sent),
      level: DrillPlay.rounded(level)
    )
  }

  /// A level as a radio reports it: whole dBm, never one of the values that mean "not available".
  static func rounded(_ level: Double) -> RSSI { RSSI(dBm: Int8(min(-1, max(-126, level.rounded())))) }
}

/// The observer of a drill: its heartbeats and outages.
struct DrillObserver: Sendable {
  /// The minimum time from the end of one outage to the start of the next.
  ///
  /// - Units: seconds; five minutes, so that an event that is published late still belongs to its outage.
  private static let minimumBetween = 300.0
  private static let meanBetween = 1_500.0
  /// The share of adverts that comes through a congested observer.
  private static let congestedShare = 0.1

  private let period: Int64?
  private let kinds: [Drill.Outage.Kind]
  private var random: RandomStream
  private var nextHeartbeat: Int64
  private var heard: UInt32 = 0
  private var bootID: UInt32 = 1
  private var bootsAt: Int64? = 0
  private var outage: Drill.Outage.Kind?
  private var outageCount = 0
  private var outageFrom = Int64.max
  private var outageUntil = Int64.max

  init(_ drill: borrowing Drill, random: RandomStream) {
    self.random = random
    kinds = drill.outages
    period = drill.heartbeat?.nanoseconds
    nextHeartbeat = drill.heartbeat?.nanoseconds ?? .max
    if !kinds.isEmpty { planOutage(after: 0) }
  }

  /// The time of the observer's next step, in nanoseconds since the drill began.
  var nextTime: Int64 {
    min(bootsAt ?? .max, min(nextHeartbeat, outage == nil ? outageFrom : outageUntil))
  }

  /// Returns whether the observer receives an advert now, and counts the advert if so.
  mutating func hears() -> Bool {
    switch outage {
    case nil: break
    case .congested?: guard random.chance(DrillObserver.congestedShare) else { return false }
    case .dead?, .restarted?, .hung?: return false
    }
    heard &+= 1
    return true
  }

  /// Advances past ``nextTime`` and returns the item of that time, or nil if there is none.
  mutating func next() -> DrillItem? {
    let now = nextTime
    if bootsAt == now {
      bootsAt = nil
      return .boot(observer: 0, time: DrillObserver.stamp(now), bootID: bootID)
    }
    if outage == nil, outageFrom == now { return begin(at: now) }
    if outage != nil, outageUntil == now {
      end(at: now)
      return nil
    }
    return beat(at: now)
  }

  private mutating func begin(at now: Int64) -> DrillItem {
    let kind = kinds[outageCount % kinds.count]
    outageCount += 1
    outage = kind
    switch kind {
    case .dead: outageUntil = now + random.span(30, 600)
    case .restarted: outageUntil = now + random.span(5, 60)
    case .hung: outageUntil = now + random.span(60, 600)
    case .congested: outageUntil = now + random.span(60, 120)
    }
    let span = Drill.Outage(
      kind: kind,
      start: DrillObserver.stamp(now),
      end: DrillObserver.stamp(outageUntil)
    )
    return .outage(observer: 0, outage: span)
  }

  private mutating func end(at now: Int64) {
    if outage == .restarted {
      bootID += 1
      bootsAt = now
    }
    outage = nil
    planOutage(after: now)
  }

  private mutating func planOutage(after time: Int64) {
    let wait = DrillObserver.minimumBetween + random.exponential(mean: DrillObserver.meanBetween)
    outageFrom = time + Int64(wait * 1e9)
  }

  private mutating func beat(at now: Int64) -> DrillItem? {
    nextHeartbeat = now + (period ?? .max / 2)
    if outage == .dead || outage == .restarted { return nil }
    defer { heard = 0 }
    return .heartbeat(observer: 0, time: DrillObserver.stamp(now), advertsHeard: heard)
  }

  private static func stamp(_ time: Int64) -> Timestamp {
    Timestamp(nanoseconds: Drill.start.nanoseconds + time)
  }
}
