import PharosReports

/// The observer of a drill: its heartbeats, and what befalls it.
struct DrillObserver: Sendable {
  /// The minimum time from the end of one outage to the start of the next.
  ///
  /// - Units: seconds; five minutes, so that an event that is published late still belongs to its outage.
  private static let leastBetween = 300.0
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

  /// When the observer has something to say next, in nanoseconds since the drill began.
  var nextTime: Int64 {
    min(bootsAt ?? .max, min(nextHeartbeat, outage == nil ? outageFrom : outageUntil))
  }

  /// Whether it notices an advert now.
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
    let wait = DrillObserver.leastBetween + random.exponential(mean: DrillObserver.meanBetween)
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
