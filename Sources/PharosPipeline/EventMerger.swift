public import PharosEvents
public import PharosPositioning
public import PharosReports

/// Brings the shards of stage one together again: one stream of events in one order, and stage two behind it.
///
/// Each shard hands over what it decided, with a watermark: nothing it hands over later is decided at or before it. What
/// all shards are past is final, and only that is released, in the order of `Event.isOrderedBefore`. How many shards there
/// are, and how often they hand over, therefore never shows.
///
/// Whoever shares the work among threads keeps to three rules:
/// - changes and steps of the clock are given before any shard's watermark reaches their instant;
/// - a change is given to the engines before the reports of its instant;
/// - all calls come from one thread.
public struct EventMerger: Sendable {
  /// What changes what is monitored.
  enum Change: Sendable {
    /// One region, or the ranging of one constraint.
    case region(RegionChange)
    /// Whatever is different in an edited site.
    case site(Site)
  }

  /// Up to where everything was released.
  public internal(set) var released = Timestamp.distantPast
  /// What stage two has done so far.
  public var positioningCounters: PositioningCounters { stageTwo.counters }
  /// The offsets that stage two found by itself, in the order in which the zones name the observers.
  public var calibrations: [Calibration] { stageTwo.calibrations() }

  let stream: String
  var stageTwo: StageTwo
  var watermarks: [Timestamp]
  var events: [Event] = []
  var links: [StageLink] = []
  var order: [LinkPlace] = []
  /// What changes regions, ordered by instant.
  var changes: [(change: Change, instant: Timestamp)] = []
  /// How many regions were refused, by application.
  var refusals: [String: UInt64] = [:]
  /// What the refusals of an application count from on that has had none yet.
  var refusalFloor: UInt64 = 0
  var clockSteps: UInt64 = 0
  /// Since when the wall clock has been off the mapping of the start, and by how much, oldest first.
  ///
  /// A step is forgotten once everything up to a later one is released, so that there are few.
  var clock: [(since: Timestamp, offset: TimeSpan)] = []

  /// Starts with a site and the number of shards that will hand over.
  public init(shards: Int, site: Site, limits: PositioningLimits = PositioningLimits()) {
    stream = site.stream
    stageTwo = StageTwo(site: site, limits: limits)
    watermarks = Array(repeating: .distantPast, count: max(1, shards))
  }

  /// Takes what a shard decided; nothing that it hands over later is decided at or before the watermark.
  public mutating func offer(
    _ output: borrowing StageOutput,
    from shard: Int,
    finalThrough watermark: Timestamp
  ) {
    events.append(contentsOf: output.events)
    links.append(contentsOf: output.links)
    guard watermarks.indices.contains(shard) else { return }
    watermarks[shard] = max(watermarks[shard], watermark)
  }

  /// Takes a region change that the limit has let pass.
  public mutating func apply(_ change: RegionChange, at instant: Timestamp) {
    insert(.region(change), at: instant)
  }

  /// Puts a change behind those that come before it.
  mutating func insert(_ change: Change, at instant: Timestamp) {
    let place = changes.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
    changes.insert((change, instant), at: place)
  }

  /// Tells that a region was refused because its application holds as many as it may.
  public mutating func refuse(application: String, region: String, limit: Int, at instant: Timestamp) {
    let counter = (refusals[application] ?? refusalFloor) + 1
    refusals[application] = counter
    events.append(
      Event(
        stream: stream,
        kind: .regionLimitExceeded,
        time: instant,
        decidedAt: instant,
        stage: 0,
        subject: .none,
        application: application,
        region: region,
        counter: counter,
        ordinal: counter,
        detail: .regionLimit(limit: limit, refused: region)
      )
    )
  }

  /// Tells that the wall clock was set by so much, so that what is decided later is told by the new time.
  ///
  /// Decisions know nothing of it: deadlines, order and ids go by the clock of the start.
  public mutating func stepClock(by step: TimeSpan, at instant: Timestamp) {
    clockSteps += 1
    clock.append((instant, (clock.last?.offset ?? .zero) + step))
    events.append(
      Event(
        stream: stream,
        kind: .clockStepped,
        time: instant,
        decidedAt: instant,
        stage: 0,
        subject: .none,
        counter: clockSteps,
        ordinal: clockSteps,
        detail: .clockStep(step)
      )
    )
  }

  /// Up to where all shards have handed over what they decided.
  public var finalThrough: Timestamp { watermarks.min() ?? .distantPast }

  /// Releases what has become final, in order.
  ///
  /// - Parameter limit: how far at most, for who wants to look at the state of an instant.
  /// - Returns: the events that were decided up to there.
  public mutating func take(through limit: Timestamp = .distantFuture) -> [Event] {
    let final = min(finalThrough, limit)
    guard final > released else { return [] }
    released = final
    runStageTwo(through: final)
    guard !events.isEmpty else { return [] }
    let pending = events.partition { $0.decidedAt <= final }
    var ready = Array(events[pending...])
    events.removeSubrange(pending...)
    ready.sort(by: Event.isOrderedBefore)
    return clock.isEmpty ? ready : told(ready, through: final)
  }

  /// Maps what is released to the wall clock as it stood when each event was decided.
  private mutating func told(_ events: [Event], through final: Timestamp) -> [Event] {
    let told = events.map { event in
      event.told(withClockSetBy: clock.last { $0.since < event.decidedAt }?.offset ?? .zero)
    }
    if let current = clock.lastIndex(where: { $0.since <= final }) { clock.removeFirst(current) }
    return told
  }

  private mutating func runStageTwo(through final: Timestamp) {
    order.removeAll(keepingCapacity: true)
    for (index, link) in links.enumerated() where link.decidedAt <= final {
      order.append(
        LinkPlace(decidedAt: link.decidedAt, observer: link.observer, ordinal: link.ordinal, index: index)
      )
    }
    order.sort(by: LinkPlace.isOrderedBefore)
    var next = 0
    for place in order {
      while next < changes.count, changes[next].instant <= place.decidedAt {
        carryOut(changes[next])
        next += 1
      }
      stageTwo.take(links[place.index], into: &events)
    }
    if order.count == links.count {
      links.removeAll(keepingCapacity: true)
    } else if !order.isEmpty {
      links.removeAll { $0.decidedAt <= final }
    }
    while next < changes.count, changes[next].instant <= final {
      carryOut(changes[next])
      next += 1
    }
    changes.removeFirst(next)
    stageTwo.advance(to: final, into: &events)
  }

  private mutating func carryOut(_ entry: (change: Change, instant: Timestamp)) {
    switch entry.change {
    case .region(let change): stageTwo.apply(change, at: entry.instant, into: &events)
    case .site(let site): stageTwo.adopt(site, at: entry.instant, into: &events)
    }
  }
}

/// What orders a link, and where it lies: links are several times as large, so that these are sorted in their place.
struct LinkPlace: Sendable {
  let decidedAt: Timestamp
  let observer: ObserverID
  let ordinal: UInt64
  let index: Int

  /// The order of `StageLink.isOrderedBefore`.
  static func isOrderedBefore(_ left: LinkPlace, _ right: LinkPlace) -> Bool {
    if left.decidedAt != right.decidedAt { return left.decidedAt < right.decidedAt }
    if left.observer != right.observer { return left.observer < right.observer }
    return left.ordinal < right.ordinal
  }
}
