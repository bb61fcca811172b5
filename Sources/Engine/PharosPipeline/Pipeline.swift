import PharosDocuments
package import PharosFixes
public import PharosModel
package import PharosPresence
package import PharosRooms
import PharosSecurity
import PharosSpace
import PharosStays

/// The two stages composed on one thread: inputs in, events in their order out.
///
/// `process` runs it, and it is the measure of what a server on many threads must give. The events depend on the inputs
/// alone: neither the size of the batches, nor ticks between them, nor the number of shards changes a byte.
///
/// Inputs come in order of their receive time R. One that goes back is moved to where the pipeline stands, and
/// counted. An event is given as soon as no input to come can precede it, so ``ingest(_:)`` holds back what was
/// decided at the last R, since more reports of that instant may follow, until ``advance(to:)`` or ``finish(tail:)``.
public struct Pipeline: Sendable {
  /// The counters of inputs and events, apart from those of the stages.
  package internal(set) var counters = PipelineCounters()

  /// Finds out whose changing addresses are; nil where the site has no key.
  var resolver: Resolver?
  var shards: [MonitoringEngine]
  var merger: EventMerger
  /// The site that was declared: at the start, or by the edited site that was adopted last.
  var declared: Site
  /// The site with all changes since.
  var site: Site
  var output = StageOutput()
  private var owners: [Int] = []
  /// The R of the last input.
  var latest = Timestamp.distantPast
  /// The least R that a report may have.
  var reportFloor = Timestamp.distantPast
  /// The least R that a change may have: behind every report, so that it comes first at its own instant.
  var changeFloor = Timestamp.distantPast

  /// Creates a pipeline of one shard for a site.
  ///
  /// - Parameter site: the site.
  /// - Throws: the first refusal of a declared application.
  public init(site: Site) throws(RegionRefusal) { try self.init(site: site, shards: 1) }

  /// Creates a pipeline for a site and spreads the observers over a number of shards.
  ///
  /// - Parameters:
  ///   - site: the site.
  ///   - shards: the number of shards; any number gives the same events.
  ///   - monitoring: the memory limits of stage one.
  ///   - positioning: the memory limits of stage two.
  ///   - venues: the venues in which handsets and tags are located; without venues, locating is off and costs nothing.
  /// - Throws: the first refusal of a declared application.
  package init(
    site: Site,
    shards: Int = 1,
    monitoring: MonitoringLimits = MonitoringLimits(),
    positioning: PositioningLimits = PositioningLimits(),
    venues: [LocatableVenue] = []
  ) throws(RegionRefusal) {
    try site.check()
    self.site = site
    declared = site
    resolver = Resolver(site: site)
    var engine = MonitoringEngine(site: site, limits: monitoring, sensing: SensingScope(venues))
    engine.sharesModes = shards > 1
    self.shards = Array(repeating: engine, count: max(1, shards))
    merger = EventMerger(shards: max(1, shards), site: site, limits: positioning, venues: venues)
  }

  /// Takes reports and gives what has become final.
  ///
  /// Adverts from changing addresses that a key of the site resolves are taken as adverts of that beacon's own address.
  public mutating func ingest(_ batch: borrowing ReportBatch) -> [Event] {
    guard resolver != nil else { return decide(batch) }
    var resolved = copy batch
    resolver?.resolve(&resolved)
    return decide(resolved)
  }

  private mutating func decide(_ batch: borrowing ReportBatch) -> [Event] {
    if let last = lastOfOrderly(batch) {
      latest = last
      reportFloor = last
      shards[0].ingest(batch, into: &output)
      counters.reports &+= UInt64(batch.count)
      changeFloor = latest + .oneNanosecond
      return release(through: latest - .oneNanosecond)
    }
    assignOwners(batch)
    var count: UInt64 = 0
    for report in batch.reports {
      let observer = Int(report.observer)
      guard owners.indices.contains(observer) else {
        counters.strayReports &+= 1
        continue
      }
      var report = report
      if report.received < reportFloor {
        report.received = reportFloor
        counters.backwardReports &+= 1
      }
      latest = report.received
      reportFloor = latest
      shards[owners[observer]].ingest(report, in: batch, into: &output)
      shareModes(of: owners[observer])
      count &+= 1
    }
    counters.reports &+= count
    guard count > 0 else { return [] }
    changeFloor = latest + .oneNanosecond
    return release(through: latest - .oneNanosecond)
  }

  /// Advances to an instant up to which all inputs were given, and returns all events that are due by then.
  public mutating func advance(to instant: Timestamp) -> [Event] {
    guard instant != .distantFuture, instant > merger.released else { return [] }
    latest = max(latest, instant)
    reportFloor = max(reportFloor, instant + .oneNanosecond)
    changeFloor = max(changeFloor, instant + .oneNanosecond)
    return release(through: instant)
  }

  /// Takes a change of the site and gives what has become final.
  ///
  /// One that is refused for the limit gives an event that says so and changes nothing else; `check(_:)` tells
  /// beforehand, and why.
  public mutating func apply(_ change: RegionChange, at instant: Timestamp) -> [Event] {
    apply(all: [change], at: instant)
  }

  /// Takes changes that are made at one instant, all of them or none, and gives what has become final.
  ///
  /// Refused changes give no event unless there is only one: then as ``apply(_:at:)``.
  package mutating func apply(all changes: [RegionChange], at instant: Timestamp) -> [Event] {
    let instant = enter(at: instant)
    do throws(RegionRefusal) {
      try site.accept(changes)
      carryOut(changes, at: instant)
    } catch {
      counters.refusedChanges &+= 1
      if changes.count == 1 { merger.publish(error, at: instant) }
    }
    return release(through: instant - .oneNanosecond)
  }

  private mutating func carryOut(_ changes: [RegionChange], at instant: Timestamp) {
    counters.changes &+= UInt64(changes.count)
    for change in changes {
      if case .declare(let settings) = change {
        declared = settings.with(declared.applications)
        resolver = Resolver(site: settings)
      }
      for index in shards.indices where change.reaches(shard: index, of: shards.count) {
        shards[index].apply(change, at: instant, into: &output)
      }
      merger.apply(change, at: instant)
    }
  }

  /// Checks whether a change would be accepted now.
  ///
  /// - Throws: the refusal that it would meet.
  package func check(_ change: RegionChange) throws(RegionRefusal) {
    var trial = site
    try trial.accept(change)
  }

  /// Notes that the wall clock was set by so much, and gives what has become final.
  package mutating func stepClock(by step: TimeSpan, at instant: Timestamp) -> [Event] {
    let instant = enter(at: instant)
    merger.stepClock(by: step, at: instant)
    return release(through: instant - .oneNanosecond)
  }

  /// Takes an event that the engines did not decide, and gives what has become final.
  package mutating func announce(_ event: Event, at instant: Timestamp) -> [Event] {
    let instant = enter(at: instant)
    merger.announce(event, at: instant)
    return release(through: instant - .oneNanosecond)
  }

  /// Takes any input but the site at the beginning, which a pipeline is made from.
  public mutating func process(_ input: borrowing PipelineInput) -> [Event] {
    switch copy input {
    case .site: return []
    case .reports(let batch): return ingest(batch)
    case .change(let change, let instant): return apply(change, at: instant)
    case .tick(let instant): return advance(to: instant)
    case .clockStep(let step, let instant): return stepClock(by: step, at: instant)
    case .pause(through: let end, at: let instant): return pause(through: end, at: instant)
    case .announced(let event, let instant): return announce(event, at: instant)
    case .restored(let restoration, let instant):
      // A recording that began while the server ran: no time lies between the checkpoint and the inputs.
      let continues = restoration.continues(at: instant)
      if let checkpoint = restoration.checkpoint, (try? restore(checkpoint, exactly: continues)) == nil,
        // Where the venues are others, all are located from the start.
        (try? restore(checkpoint, exactly: false)) == nil
      {
        counters.refusedCheckpoints &+= 1
      }
      guard !continues || latest != instant else { return [] }
      return resume(at: instant, publishedState: restoration.publishedState)
    }
  }

  /// Ends at the last input, or so much later, and gives what is left to say.
  public mutating func finish(tail: TimeSpan? = nil) -> [Event] {
    guard latest != .distantPast else { return [] }
    return advance(to: latest + (tail.map { max(.zero, $0) } ?? .zero))
  }

  /// Returns the subjects that are inside a region, ordered by application, region and subject.
  package func insideNow() -> [Standing] {
    let observers = shards.flatMap { $0.standings() }.compactMap {
      Standing($0.application, $0.region, .observer($0.observer), $0.state, since: $0.enteredAt)
    }
    let beacons = merger.beaconStandings().compactMap {
      Standing($0.application, $0.region, .beacon($0.beacon), $0.state, since: $0.enteredAt)
    }
    let located = merger.geofenceStandings().compactMap {
      Standing($0.application, $0.region, $0.subject, $0.state, since: $0.enteredAt)
    }
    return (observers + beacons + located).sorted { left, right in
      if left.application != right.application { return left.application < right.application }
      if left.region != right.region { return left.region < right.region }
      return left.subject < right.subject
    }
  }

  /// The applications and their regions as they are now.
  package var applications: [Application] { site.applications }

  /// The counters of stage one, all shards together.
  package var monitoringCounters: MonitoringCounters {
    var sum = MonitoringCounters()
    for shard in shards { sum.add(shard.counters) }
    return sum
  }

  /// The counters of stage two.
  package var positioningCounters: PositioningCounters { merger.positioningCounters }

  /// Returns stage one's insight into a beacon at an observer by now; nil if the observer is unknown or has no track of
  /// it.
  ///
  /// The call changes nothing. Make it after ``advance(to:)``, so that everything due by then is decided.
  package func insight(observer: ObserverID, beacon: BeaconID) -> TrackInsight? {
    shards[observer.shard(of: shards.count)].insight(observer: observer, beacon: beacon)
  }

  /// Returns the zone that a beacon is in, and the one that would be reported next with what it lacks; nil if no observer
  /// hears it in another zone.
  ///
  /// The call changes nothing.
  package func rival(of beacon: BeaconID) -> (present: String?, rival: ZoneRival?) {
    merger.rival(of: beacon)
  }

  /// Returns what each observer of the zones contributes to a comparison of fingerprints for a beacon, in the order in which
  /// the zones name the observers; nil if none of them hears the beacon.
  ///
  /// The call changes nothing.
  package func look(at beacon: BeaconID) -> [FingerprintTable.Observation]? { merger.look(at: beacon) }

  /// The offsets of observers that stand in zones, as they were found from the tags that they hear in common.
  package func calibrations() -> [Calibration] { merger.calibrations }

  /// Returns the status of every observer, in the order of their identities.
  package func observers() -> [ObserverStatus] { shards.flatMap { $0.observers() }.sorted { $0.id < $1.id } }

  // MARK: The parts

  /// The R of a batch's last report, if the only shard may take it as a whole: no report goes back or is a stray.
  private func lastOfOrderly(_ batch: borrowing ReportBatch) -> Timestamp? {
    guard shards.count == 1 else { return nil }
    let reports = batch.entries.span
    let observers = batch.observers.count
    var last = reportFloor
    for index in reports.indices {
      guard reports[index].received >= last, Int(reports[index].observer) < observers else { return nil }
      last = reports[index].received
    }
    return reports.isEmpty ? nil : last
  }

  /// The shard of each observer of a batch.
  private mutating func assignOwners(_ batch: borrowing ReportBatch) {
    owners.removeAll(keepingCapacity: true)
    for observer in batch.observers { owners.append(observer.shard(of: shards.count)) }
  }

  /// The instant at which an input that is no report takes its place.
  mutating func enter(at instant: Timestamp) -> Timestamp {
    let place = max(instant, changeFloor)
    if place != instant { counters.backwardChanges &+= 1 }
    latest = max(latest, place)
    reportFloor = max(reportFloor, place)
    changeFloor = place
    return place
  }

  /// Tells the other shards what modes of tags a shard has found.
  private mutating func shareModes(of shard: Int) {
    let found = shards[shard].drainFoundModes()
    guard !found.isEmpty else { return }
    for other in shards.indices where other != shard { shards[other].learn(found) }
  }

  /// Brings all shards to an instant and gives what has become final.
  mutating func release(through instant: Timestamp) -> [Event] {
    let instant = max(instant, merger.released)
    for index in shards.indices {
      shards[index].advance(to: instant, into: &output)
      merger.offer(output, from: index, finalThrough: instant)
      output.removeAll()
    }
    let events = merger.release()
    counters.events &+= UInt64(events.count)
    return events
  }
}

/// The counters of a pipeline, apart from those of its stages.
package struct PipelineCounters: Hashable, Sendable {
  /// Reports.
  package var reports: UInt64 = 0
  /// Reports whose receive time went back, and was moved to where the pipeline stood.
  package var backwardReports: UInt64 = 0
  /// Reports that name no observer of their batch; they are passed over.
  package var strayReports: UInt64 = 0
  /// Region changes that were accepted.
  package var changes: UInt64 = 0
  /// Region changes that were refused.
  package var refusedChanges: UInt64 = 0
  /// Inputs other than reports whose time went back, and was moved to where the pipeline stood.
  package var backwardChanges: UInt64 = 0
  /// Checkpoints that could not be read; their pipelines started from the published states alone.
  package var refusedCheckpoints: UInt64 = 0
  /// Events given.
  package var events: UInt64 = 0

  /// Starts at zero.
  package init() {}
}

extension Pipeline {
  /// Makes a pipeline that continues from a checkpoint, as if it had not been interrupted.
  ///
  /// After a restart, call ``resume(at:publishedState:)`` next. Without that call, the pipeline continues at the instant of
  /// the checkpoint, with the same events to the byte.
  ///
  /// - Parameters:
  ///   - site: the current site; state that it no longer needs is dropped.
  ///   - checkpoint: the state of the previous pipeline.
  ///   - shards: the number of shards, which may differ from that of the previous pipeline.
  ///   - monitoring: the memory limits of stage one.
  ///   - positioning: the memory limits of stage two.
  ///   - venues: the venues in which handsets and tags are located; their positions are found from scratch unless the checkpoint
  ///     is exact, and then these are the venues that it was made with.
  /// - Throws: `RegionRefusal` for the site; a `FieldError` if a state cannot be read.
  package init(
    site: Site,
    restoring checkpoint: Checkpoint,
    shards: Int = 1,
    monitoring: MonitoringLimits = MonitoringLimits(),
    positioning: PositioningLimits = PositioningLimits(),
    venues: [LocatableVenue] = []
  ) throws {
    try self.init(
      site: site,
      shards: shards,
      monitoring: monitoring,
      positioning: positioning,
      venues: venues
    )
    try restore(checkpoint, exactly: true)
  }

  /// The state by now: everything decided up to the last instant that is complete.
  ///
  /// Called behind ``advance(to:)``, so that no decision of that instant is left to tell.
  ///
  /// - Parameter exactly: indicates whether it is to say where subjects are, so that fixes continue as well.
  /// - Returns: the state.
  package func checkpoint(exactly: Bool = false) -> Checkpoint {
    Checkpoint(shards: shards, merger: exactly ? merger.atRelease : merger.withoutPending, exactly: exactly)
  }

  /// Resumes after a restart: the time since the checkpoint, or all earlier time if there is none, was downtime.
  ///
  /// No subject enters, leaves or becomes silent because of the downtime: silence is counted from the instant. The
  /// states published since the checkpoint take precedence over it. All counters continue from the instant, so that no
  /// id is used twice.
  ///
  /// - Parameters:
  ///   - instant: the time at which inputs begin again.
  ///   - publishedState: the states published since the checkpoint, or all published states if there is no checkpoint.
  /// - Returns: the events that have become final.
  package mutating func resume(at instant: Timestamp, publishedState: PublishedState) -> [Event] {
    let instant = enter(at: instant)
    let resumed = publishedState.turnedBack(by: merger.clockOffset)
    for index in shards.indices {
      shards[index].resume(
        at: instant,
        publishedState: resumed.part(of: index, among: shards.count),
        into: &output
      )
    }
    merger.resume(at: instant, publishedState: publishedState)
    return release(through: instant - .oneNanosecond)
  }

  /// Records a pause in which nothing was received, and returns the events that have become final.
  ///
  /// A pause of the machine counts as downtime: the server reads all that was sent in the meantime at once, and until
  /// then silence is no evidence.
  ///
  /// - Parameters:
  ///   - end: the time at which the process continued.
  ///   - instant: the start of the pause, after everything received before it and before everything received since.
  /// - Returns: the events that have become final.
  package mutating func pause(through end: Timestamp, at instant: Timestamp) -> [Event] {
    let instant = enter(at: instant)
    for index in shards.indices { shards[index].pause(through: end, at: instant, into: &output) }
    merger.pause(through: end, at: instant)
    return release(through: instant - .oneNanosecond)
  }

  /// Takes over an edited site: what it declares alike goes on as it was, and what applications added at run time stays.
  ///
  /// - Returns: the events that have become final.
  /// - Throws: the first refusal that the site meets, nothing having changed.
  package mutating func adopt(_ site: Site, at instant: Timestamp) throws(RegionRefusal) -> [Event] {
    let instant = enter(at: instant)
    do throws(RegionRefusal) {
      carryOut(try self.site.adopt(site, inPlaceOf: declared), at: instant)
      declared = site
    } catch {
      counters.refusedChanges &+= 1
      throw error
    }
    return release(through: instant - .oneNanosecond)
  }

  /// Returns stage one's insights into tracks, in order, a page at a time.
  package func tracks(_ query: TrackQuery) -> [TrackInsight] {
    Array(shards.flatMap { $0.tracks(query) }.sorted { $0.key < $1.key }.prefix(query.limit))
  }

  /// Returns the place of every beacon that some observer of a zone hears, or that is in a zone.
  package func tags() -> [TagStanding] { merger.tagStandings() }

  /// The observers that are heard and do not count, in their order.
  package func quarantine() -> [QuarantinedObserver] {
    shards.flatMap { $0.quarantine() }.sorted { $0.id < $1.id }
  }

  /// Puts the state of a checkpoint in the place of a pipeline's that has taken nothing yet.
  ///
  /// - Parameters:
  ///   - checkpoint: the checkpoint.
  ///   - exactly: indicates whether the pipeline continues at the instant of the checkpoint, and is not resumed.
  /// - Throws: an error that states what is wrong with its bytes; the pipeline is unchanged then.
  mutating func restore(_ checkpoint: Checkpoint, exactly: Bool) throws(FieldError) {
    var (engines, restored) = (shards, merger)
    for index in engines.indices {
      try checkpoint.restore(&engines[index], shard: index, among: engines.count)
    }
    try restored.restoreState(from: checkpoint, exactly: exactly)
    (shards, merger) = (engines, restored)
    latest = checkpoint.instant
    reportFloor = checkpoint.instant + .oneNanosecond
    changeFloor = reportFloor
  }
}

/// One input of a pipeline, as a capture or a recording gives it.
public enum PipelineInput: Sendable {
  /// The site that a recording was made with: the pipeline is to be made from it.
  case site(Site)
  /// The state that the server resumed from after a restart; it comes right behind the site.
  case restored(Restoration, at: Timestamp)
  /// Reports, in order of their receive times.
  case reports(ReportBatch)
  /// A change of the regions.
  case change(RegionChange, at: Timestamp)
  /// All inputs up to here were given.
  case tick(through: Timestamp)
  /// The wall clock was set by so much.
  case clockStep(TimeSpan, at: Timestamp)
  /// The server stood still from an instant to a later one.
  case pause(through: Timestamp, at: Timestamp)
  /// An event that the engines did not decide: a changed authorisation, a notification.
  case announced(Event, at: Timestamp)

  /// The same input with the identity keys of a site: a recording names the keys of tags that change their addresses, and
  /// holds none of them.
  package func withKeys(of site: Site) -> PipelineInput {
    switch self {
    case .change(.declare(let settings), let instant):
      .change(.declare(settings.withKeys(of: site)), at: instant)
    default: self
    }
  }

  /// The shortest pause of a server that counts: half of the shortest silence that a beacon may leave by.
  ///
  /// Anything shorter is over before a deadline that it may have torn.
  package static let minimumPause = TimeSpan.seconds(1)
}

extension SensingScope {
  /// Makes the scope of the venues in which handsets and tags are located; nil if there are none, so that nothing is
  /// handed on.
  package init?(_ venues: [LocatableVenue]) {
    guard !venues.isEmpty else { return nil }
    self.init()
    for (_, floor) in venues.lazy.flatMap(\.venue.floors) {
      fixedObservers.formUnion(floor.observers.map(\.observer))
      for placed in floor.beacons where placed.beacon.kind == .address {
        if let address = placed.beacon.address { beaconAddresses.insert(address.bits) }
      }
    }
  }
}

/// A subject that is inside a region.
package struct Standing: Hashable, Sendable {
  /// The application.
  package let application: String
  /// The region's identifier.
  package let region: String
  /// The subject that is inside.
  package let subject: SubjectID
  /// The start of the visit.
  package let since: Timestamp

  /// Takes a state of the engines; nil unless the subject is inside.
  init?(
    _ application: String,
    _ region: String,
    _ subject: SubjectID,
    _ state: RegionState,
    since: Timestamp?
  ) {
    guard state == .inside, let since else { return nil }
    (self.application, self.region, self.subject, self.since) = (application, region, subject, since)
  }
}
