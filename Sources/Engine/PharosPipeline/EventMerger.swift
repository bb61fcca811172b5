package import PharosDocuments
package import PharosFixes
package import PharosModel
import PharosPresence
package import PharosRooms
package import PharosStays

/// The merger of all shards of stage one into one ordered stream of events, with stage two behind it.
///
/// Each shard hands over its decisions with a watermark: it hands over nothing later that is decided at or before the
/// watermark. Decisions up to the lowest watermark are final, and only final ones are released, in the order of
/// `Event.isOrderedBefore`. The stream therefore does not depend on the number of shards, or on how often they hand
/// over.
///
/// A caller that spreads the work over threads follows three rules:
/// - It submits changes and clock steps before any shard's watermark reaches their instant.
/// - It gives a change to the engines before the reports of the same instant.
/// - It makes all calls from one thread.
package struct EventMerger: Sendable {
  /// An input that changes what is monitored.
  enum Change: Sendable {
    /// A change of the site, or a question about it.
    case region(RegionChange)
    /// A pause in which nothing was received, up to an instant.
    case pause(through: Timestamp)
  }

  /// The time up to which everything was released.
  package internal(set) var released = Timestamp.distantPast
  /// The counters of stage two so far.
  package var positioningCounters: PositioningCounters { stageTwo.counters }
  /// The offsets that stage two found by itself, in the order in which the zones name the observers.
  package var calibrations: [Calibration] { stageTwo.calibrations() }
  /// Returns the zone that a beacon is in, and the one that would be reported next.
  package func rival(of beacon: BeaconID) -> (present: String?, rival: ZoneRival?) {
    stageTwo.rival(of: beacon)
  }
  /// Returns what each observer of the zones contributes to a comparison of fingerprints for a beacon.
  package func look(at beacon: BeaconID) -> [FingerprintTable.Observation]? { stageTwo.look(at: beacon) }

  let stream: String
  var stageTwo: StageTwo
  var watermarks: [Timestamp]
  var events: [Event] = []
  var links: [StageLink] = []
  var order: [LinkPlace] = []
  /// The pending changes, ordered by instant.
  var changes: [(change: Change, instant: Timestamp)] = []
  /// The number of refused regions, by application.
  var refusals: [String: UInt64] = [:]
  /// The base of the refusal count of an application that has had no refusal yet.
  var refusalFloor: UInt64 = 0
  var clockSteps: UInt64 = 0
  /// The offsets of the wall clock from the mapping of the start, each with the time since which it holds, oldest
  /// first.
  ///
  /// A step is forgotten once everything up to a later one is released, so that there are few.
  var clock: [(since: Timestamp, offset: TimeSpan)] = []

  /// Indicates whether sensings are kept for ``drainSensings()``.
  let keepsSensings: Bool
  private var sensings: [Sensing] = []

  /// Starts with a site and the number of shards that will hand over.
  ///
  /// - Parameters:
  ///   - shards: the number of shards that hand over.
  ///   - site: the site as declared.
  ///   - limits: the memory limits of stage two.
  ///   - venues: the venues in which handsets and tags are located.
  ///   - keepsSensings: true if the caller calls ``drainSensings()``.
  package init(
    shards: Int,
    site: Site,
    limits: PositioningLimits = PositioningLimits(),
    venues: [LocatableVenue] = [],
    keepsSensings: Bool = false
  ) {
    stream = site.stream
    stageTwo = StageTwo(site: site, limits: limits, venues: venues)
    self.keepsSensings = keepsSensings
    watermarks = Array(repeating: .distantPast, count: max(1, shards))
  }

  /// Takes what a shard decided; nothing that it hands over later is decided at or before the watermark.
  package mutating func offer(
    _ output: borrowing StageOutput,
    from shard: Int,
    finalThrough watermark: Timestamp
  ) {
    events.append(contentsOf: output.events)
    links.append(contentsOf: output.links)
    guard watermarks.indices.contains(shard) else { return }
    watermarks[shard] = max(watermarks[shard], watermark)
  }

  /// Takes a change that the owner of the site has accepted.
  package mutating func apply(_ change: RegionChange, at instant: Timestamp) {
    insert(.region(change), at: instant)
  }

  /// Puts a change behind those that come before it.
  mutating func insert(_ change: Change, at instant: Timestamp) {
    let place = changes.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
    changes.insert((change, instant), at: place)
  }

  /// Publishes that a region was refused because its application holds as many as it may.
  ///
  /// A change that was refused for another reason was malformed: the caller knows, and there is nothing that others need to
  /// know.
  package mutating func publish(_ refusal: RegionRefusal, at instant: Timestamp) {
    guard case .regionLimitExceeded(let limit, let application, let region) = refusal else { return }
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

  /// Publishes an event that the engines did not decide, such as a changed authorisation or a notification.
  ///
  /// It takes its place among the decisions: it counts as decided at the instant. It has its id and its time already, the latter by
  /// the wall clock.
  package mutating func announce(_ event: Event, at instant: Timestamp) {
    let offset = clock.last { $0.since <= instant }?.offset ?? .zero
    events.append(event.restamped(withClockSetBy: .zero - offset).announced(at: instant))
  }

  /// Records a step of the wall clock, so that events decided later carry the new time.
  ///
  /// A step affects no decision: deadlines, order and ids use the clock of the start.
  package mutating func stepClock(by step: TimeSpan, at instant: Timestamp) {
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

  /// The time up to which all shards have handed over their decisions.
  package var finalThrough: Timestamp { watermarks.min() ?? .distantPast }

  /// Releases what has become final, in order.
  ///
  /// - Parameter limit: the latest time to release through, for a caller that examines the state of an instant.
  /// - Returns: the events that were decided up to there.
  package mutating func release(through limit: Timestamp = .distantFuture) -> [Event] {
    let final = min(finalThrough, limit)
    guard final > released else { return [] }
    released = final
    runStageTwo(through: final)
    guard !events.isEmpty else { return [] }
    let pending = events.partition { $0.decidedAt <= final }
    var ready = Array(events[pending...])
    events.removeSubrange(pending...)
    ready.sort(by: Event.isOrderedBefore)
    return clock.isEmpty ? ready : committed(ready, through: final)
  }

  /// Returns the sensings of handsets that were released since the last call and are kept, in order.
  package mutating func drainSensings() -> [Sensing] {
    guard !sensings.isEmpty else { return [] }
    defer { sensings = [] }
    return sensings
  }

  private mutating func process(_ link: StageLink) {
    if keepsSensings, case .sensing(let sensing) = link { sensings.append(sensing) }
    stageTwo.restore(link, into: &events)
  }

  /// Maps the times of released events to the wall clock as it stood when each event was decided.
  ///
  /// The event of a clock step carries the time before the step, and comes first at its instant. Other events decided
  /// at that instant carry the new time.
  private mutating func committed(_ events: [Event], through final: Timestamp) -> [Event] {
    let committed = events.map { event in
      let bound = event.kind == .clockStepped ? event.decidedAt - .oneNanosecond : event.decidedAt
      return event.restamped(withClockSetBy: clock.last { $0.since <= bound }?.offset ?? .zero)
    }
    if let current = clock.lastIndex(where: { $0.since <= final }) { clock.removeFirst(current) }
    return committed
  }

  /// Has stage two take the links that are final, in their order, and draw its conclusions up to there.
  private mutating func runStageTwo(through final: Timestamp) {
    var batch: [StageLink] = []
    swap(&batch, &links)
    var next = 0
    let released =
      LinkPlace.areInOrder(batch.span)
      ? processInOrder(batch.span, through: final, &next) : processSorted(batch.span, through: final, &next)
    if released == batch.count {
      batch.removeAll(keepingCapacity: true)
    } else if released > 0 {
      batch.removeAll { $0.decidedAt <= final }
    }
    swap(&batch, &links)
    carryOutChanges(through: final, &next)
    if next > 0 { changes.removeFirst(next) }
    stageTwo.advance(to: final, into: &events)
  }

  /// Takes links that lie in their order, as those of one shard mostly do; how many were final.
  private mutating func processInOrder(
    _ batch: Span<StageLink>,
    through final: Timestamp,
    _ next: inout Int
  ) -> Int {
    for index in batch.indices {
      let instant = batch[index].decidedAt
      guard instant <= final else { return index }
      carryOutChanges(through: instant, &next)
      process(batch[index])
    }
    return batch.count
  }

  /// Takes links that several shards have handed over, having sorted their places; how many were final.
  private mutating func processSorted(
    _ batch: Span<StageLink>,
    through final: Timestamp,
    _ next: inout Int
  ) -> Int {
    order.removeAll(keepingCapacity: true)
    for index in batch.indices {
      let instant = batch[index].decidedAt
      if instant <= final { order.append(LinkPlace(decidedAt: instant, index: index)) }
    }
    LinkPlace.sort(&order, of: batch)
    for place in order {
      carryOutChanges(through: place.decidedAt, &next)
      process(batch[place.index])
    }
    return order.count
  }

  private mutating func carryOutChanges(through instant: Timestamp, _ next: inout Int) {
    while next < changes.count, changes[next].instant <= instant {
      carryOut(changes[next])
      next += 1
    }
  }

  private mutating func carryOut(_ entry: (change: Change, instant: Timestamp)) {
    switch entry.change {
    case .region(let change): stageTwo.apply(change, at: entry.instant, into: &events)
    case .pause(through: let end): stageTwo.pause(through: end, at: entry.instant, into: &events)
    }
  }
}

/// The decision time of a link, and its index: links are several times as large, so that these are sorted in their
/// place.
struct LinkPlace: Sendable {
  let decidedAt: Timestamp
  let index: Int

  /// Sorts the places of links into the order of `StageLink.isOrderedBefore`.
  static func sort(_ places: inout [LinkPlace], of links: borrowing Span<StageLink>) {
    links.withUnsafeBufferPointer { links in
      places.sort { left, right in
        if left.decidedAt != right.decidedAt { return left.decidedAt < right.decidedAt }
        return StageLink.isOrderedBefore(links[left.index], links[right.index])
      }
    }
  }

  /// Returns true if links are in the order of `StageLink.isOrderedBefore` already.
  static func areInOrder(_ links: borrowing Span<StageLink>) -> Bool {
    var index = 1
    while index < links.count {
      guard !isBehind(links, index - 1, index) else { return false }
      index += 1
    }
    return true
  }

  /// Returns true if the first of two links belongs behind the second.
  private static func isBehind(_ links: borrowing Span<StageLink>, _ first: Int, _ second: Int) -> Bool {
    let (before, after) = (links[first].decidedAt, links[second].decidedAt)
    guard before == after else { return before > after }
    return StageLink.isOrderedBefore(links[second], links[first])
  }
}

extension EventMerger {
  /// The offset to add to times of the engines to get the wall clock's, as of what was released.
  package var clockOffset: TimeSpan { clock.last { $0.since <= released }?.offset ?? .zero }

  /// A copy that knows nothing of what shards have decided behind what was released, nor where subjects are: what a checkpoint to
  /// start again from is made of.
  package var withoutPending: EventMerger {
    var copy = atRelease
    copy.stageTwo.forgetWhereabouts()
    return copy
  }

  /// A copy that knows nothing of what shards have decided behind what was released: what an exact checkpoint is made of.
  package var atRelease: EventMerger {
    var copy = self
    copy.events = []
    copy.links = []
    copy.order = []
    copy.changes = []
    _ = copy.drainSensings()
    return copy
  }

  /// The itineraries and the guidance of subjects, as the changes that assign them.
  package var assignments: Set<RegionChange> { stageTwo.assignments }

  /// Returns the place of every beacon that some observer of a zone hears, or that is in a zone.
  package func tagStandings() -> [TagStanding] { stageTwo.tagStandings() }

  /// Returns the state of every beacon in every region about beacons that it has met.
  package func beaconStandings() -> [BeaconStanding] { stageTwo.beaconStandings() }

  /// Returns the state of every located subject towards every geofence that it is in or near.
  package func geofenceStandings() -> [GeofenceStanding] { stageTwo.geofenceStandings() }

  /// Returns the present state of a subject towards a region that stage two decides about, and the start of its visit in the
  /// wall clock's time; nil for other regions.
  package func state(
    of subject: SubjectID,
    in region: RegionKey
  ) -> (state: RegionState, enteredAt: Timestamp?)? {
    stageTwo.state(of: subject, in: region).map { ($0.state, $0.enteredAt.map { $0 + clockOffset }) }
  }

  /// Records a pause in which nothing was received, from an instant to a later one.
  package mutating func pause(through end: Timestamp, at instant: Timestamp) {
    insert(.pause(through: end), at: instant)
  }

  /// Hands what was released, counted and concluded to a coder.
  mutating func visitState<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&released)
    try coder.code(counter: &clockSteps)
    try coder.code(counter: &refusalFloor)
    try coder.code(&refusals)
    try coder.check(refusals.values.allSatisfy { $0 <= UInt64(Int64.max) }, "a counter")
    try coder.code(list: &clock, ofAtLeast: 16, into: (.distantPast, .zero)) {
      (step, coder) throws(Coder.Failure) in
      try coder.code(&step.since)
      try coder.code(&step.offset)
    }
    try stageTwo.visitState(&coder)
  }

  /// Puts the state of a checkpoint in the place of this merger's, which has taken nothing yet.
  ///
  /// - Parameters:
  ///   - checkpoint: the checkpoint.
  ///   - exactly: indicates whether it goes on where subjects were, if the checkpoint says so; otherwise they are located from the start.
  /// - Throws: an error that states what is wrong with its bytes; the merger is unchanged then.
  package mutating func restoreState(from checkpoint: Checkpoint, exactly: Bool = false) throws(FieldError) {
    var reader = FieldReader(checkpoint.merger[...])
    var restored = self
    try restored.visitState(&reader)
    try reader.finish()
    if exactly, checkpoint.isExact {
      var reader = FieldReader(checkpoint.whereabouts[...])
      try restored.stageTwo.visitWhereabouts(&reader)
      try reader.finish()
    }
    for shard in restored.watermarks.indices { restored.watermarks[shard] = restored.released }
    self = restored
  }

  /// Goes on after a restart: the time up to an instant was downtime.
  ///
  /// - Parameters:
  ///   - instant: the time at which inputs begin again; behind everything that was released.
  ///   - publishedState: the states that events have published since the checkpoint, in their times.
  package mutating func resume(at instant: Timestamp, publishedState: PublishedState) {
    // Counters of the checkpoint may have been used already by decisions that it does not know of.
    let floor = UInt64(clamping: instant.nanoseconds)
    clockSteps = max(clockSteps, floor)
    refusalFloor = max(refusalFloor, floor)
    refusals.removeAll()
    stageTwo.resume(at: instant, publishedState: publishedState.turnedBack(by: clockOffset), into: &events)
  }
}
