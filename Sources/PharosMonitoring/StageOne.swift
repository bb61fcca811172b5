import PharosAdvertising
public import PharosEvents
public import PharosReports

/// Stage one: who hears which beacon, what that says about regions, and how near it is.
///
/// One value is one shard's engine. Everything in it is kept for each observer by itself, so that any spread of
/// observers over engines gives the same events. Time is an input: see <doc:TimeAndOrder>.
public struct StageOne: Sendable {
  /// The times that an engine counts with, from the year 1823 to 2116: a deadline behind any of them is no overflow, and a
  /// state with another one was not written by an engine.
  static let times = Timestamp(nanoseconds: -(1 << 62))...Timestamp(nanoseconds: 1 << 62)

  /// What has been counted since the start.
  public internal(set) var counters: MonitoringCounters = .init()

  let stream: String
  let limits: MonitoringLimits
  let filter: LevelFilterKind
  let models: RangingModels
  let hash = KeyedHash()
  /// What was declared last; what applications changed since is in the catalog alone.
  var site: Site
  var distance: DistanceModel
  var decoder: FrameDecoder
  var entries: [ObserverID: ObserverEntry]
  package var catalog: RegionCatalog
  /// What there is to know of venues, or nil where nobody is located.
  let sensing: SensingScope?
  /// How many observers were found to be handsets so far.
  var handsets: UInt64 = 0
  /// Observers that were let in although the site does not list them.
  var accepted: Set<ObserverID> = []
  var quarantined = QuarantineTable()
  /// The site that the engine was made with, where a state with one of its own was read into it: taken over when it resumes.
  var awaitedSite: Site?
  var wheel = TimerWheel()
  var observerTable = IdentityTable()
  package var states: [ObserverState] = []
  var freeObservers: [Int32] = []
  /// The places of the observers of each cell, in the order in which they came.
  var cells: [[Int32]]
  /// How many tracks the observers of each cell have.
  var tracksOfCell: [Int]
  /// The receive time of the input, or the due time of the timer, that is being handled.
  var current = Timestamp.distantPast
  /// Up to where timers were fired last: the present, as far as it is known here.
  var present = Timestamp.distantPast
  /// Hashes of identities that nobody asks about, so that strangers cost one look.
  var strangers: [UInt64] = Array(repeating: 0, count: 4_096)
  var epoch: UInt32 = 1
  /// The changes that some observers have not caught up with, in their order.
  var pendingChanges: [PendingChange] = []
  /// How much of that is done at a time.
  package var sliceCost = StageOne.sliceCost
  /// How many observers are behind, and where the next slice of catching up begins.
  var behind = 0
  var nextBehind = 0
  /// The tracks that the changes at hand may concern.
  var concerned: [Int32] = []
  var latest = Timestamp.distantPast
  /// What the reports at hand ask for, found out before the first of them is handled.
  var ahead: [Ahead] = []
  /// What looking ahead read, so that it is not left out as useless.
  var touchedAhead: UInt64 = 0
  /// The places of a batch's observers, as far as they have been looked up.
  var placesOfBatch: [Int32] = []
  var lastObserver: (id: ObserverID, index: Int)?

  /// Makes an engine for a site that ``RegionRegistry`` has accepted.
  ///
  /// - Parameters:
  ///   - site: what is declared.
  ///   - limits: how much it keeps.
  ///   - sensing: what it must know of venues to hand on what handsets and tags are located by; nil if there are none.
  public init(site: Site, limits: MonitoringLimits = .init(), sensing: SensingScope? = nil) {
    self.init(site: site, limits: limits, models: RangingModels(), sensing: sensing)
  }

  /// Makes an engine with other models of ranging than the default ones.
  public init(
    site: Site,
    limits: MonitoringLimits = .init(),
    models: RangingModels,
    sensing: SensingScope? = nil
  ) {
    self.sensing = sensing
    stream = site.stream
    self.site = site
    self.limits = limits
    self.models = models
    cells = Array(repeating: [], count: limits.cells)
    tracksOfCell = Array(repeating: 0, count: limits.cells)
    filter = models.filter
    distance = models.distance ?? .logDistance(exponent: site.pathLossExponent)
    decoder = FrameDecoder(iBeaconCompanies: site.iBeaconCompanies)
    entries = Dictionary(site.observers.map { ($0.id, $0) }) { first, _ in first }
    catalog = RegionCatalog(site: site, fixedObservers: sensing?.fixedObservers ?? [])
    for application in site.applications {
      catalog.regionLimits[application.identifier] = application.regionLimit
      for region in application.regions {
        _ = catalog.add(region, application: application.identifier, since: .distantPast)
      }
      catalog.add(nodes: application.rotation, of: application.identifier, since: .distantPast)
      for request in application.ranging { catalog.add(request, application: application.identifier) }
    }
  }

  /// Handles one report, after everything that was due before it was received.
  public mutating func ingest(
    _ report: Report,
    in batch: borrowing ReportBatch,
    into output: inout StageOutput
  ) {
    let received = arrive(at: report.received, into: &output)
    counters.reports += 1
    let id = batch.observers[Int(report.observer)]
    guard let index = observerIndex(of: id, report, into: &output) else { return }
    if isBehind(index) { catchUp(index, before: received, into: &output) }
    states[index].lastReceived = received
    handle(report, of: index, in: batch, into: &output)
    if states[index].isAwaited { tellReturn(of: index, into: &output) }
    if states[index].standsInZone { tellLife(of: index, into: &output) }
  }

  /// Fires everything that is due at or before the watermark, and finishes what changes of the regions have begun.
  ///
  /// The caller promises that every input received at or before it has been given. Calling more or less often changes when
  /// events appear, never which ones.
  public mutating func advance(to watermark: Timestamp, into output: inout StageOutput) {
    catchUpAll(into: &output)
    pass(watermark, into: &output)
  }

  /// Fires everything that is due at or before the watermark, and goes on with what changes of the regions have begun for
  /// about a quarter of a millisecond.
  ///
  /// A change of regions that concerns a million tracks would hold a live engine up for long. So observers catch up with it
  /// a few at a time, and each at once when it is heard or one of its timers fires; which events there are, and their order,
  /// are the same as with ``advance(to:into:)``.
  ///
  /// - Returns: up to when the output is final: the watermark, or the instant before a change that is not finished.
  public mutating func advance(
    toward watermark: Timestamp,
    into output: inout StageOutput
  ) -> Timestamp {
    pass(watermark, into: &output)
    guard let first = pendingChanges.first else { return watermark }
    let isDone = catchUpSlice(sliceCost, into: &output)
    // What was due in between for those who have caught up.
    pass(watermark, into: &output)
    return isDone ? watermark : min(watermark, first.instant - .oneNanosecond)
  }

  /// Finishes what changes of the regions have begun, without letting time run on: what ``writeState(to:)`` needs.
  public mutating func finishChanges(into output: inout StageOutput) { catchUpAll(into: &output) }

  /// Handles a change that ``RegionRegistry`` has accepted, after everything that was due before it was received.
  ///
  /// Observers that it concerns catch up with it when they are heard, or with ``advance(to:into:)``.
  public mutating func apply(
    _ change: RegionChange,
    at received: Timestamp,
    into output: inout StageOutput
  ) {
    _ = arrive(at: received, into: &output)
    perform(change, into: &output)
  }

  /// How every observer fares, in the order of their identities.
  public func observers() -> [ObserverStatus] {
    placesInOrder.map { states[$0].status }
  }

  /// Where every observer stands towards every region that it has met, in the order of (observer, application, region).
  public func standings() -> [RegionStanding] {
    placesInOrder.flatMap { place in
      let rows = states[place].rows.filter {
        $0.isLive && $0.isActive && catalog.slots[Int($0.slot)].isLive
      }
      .map { row in
        let slot = catalog.slots[Int(row.slot)]
        return RegionStanding(
          application: slot.application,
          region: slot.region.identifier,
          observer: states[place].id,
          state: row.state,
          enteredAt: row.enteredAt
        )
      }
      return rows.sorted { ($0.application, $0.region) < ($1.application, $1.region) }
    }
  }

  /// The places of all observers, in the order of their identities.
  ///
  /// Places rather than observers, each of which is a kilobyte and more to copy: somebody waits for this at every look at the server.
  private var placesInOrder: [Int] {
    states.indices.filter { states[$0].isLive }.sorted { states[$0].id < states[$1].id }
  }

  /// Counts, for the extensions.
  mutating func count(_ change: (inout MonitoringCounters) -> Void) { change(&counters) }

  /// Lets time run on to an input: fires what was due before it.
  ///
  /// - Returns: the time at which it is handled, which is no earlier than that of the input before.
  mutating func arrive(at received: Timestamp, into output: inout StageOutput) -> Timestamp {
    let received = clamped(received)
    run(upTo: received, into: &output)
    return received
  }

  /// Fires what was due before an instant, at which everything happens from then on.
  mutating func run(upTo instant: Timestamp, into output: inout StageOutput) {
    fire(through: instant - .oneNanosecond, into: &output)
    current = instant
  }

  /// Moves an input that goes back to where the engine stands, and one that no clock can mean to the end of what an engine counts.
  private mutating func clamped(_ received: Timestamp) -> Timestamp {
    let received = min(max(received, StageOne.times.lowerBound), StageOne.times.upperBound)
    guard received < latest else {
      latest = received
      return received
    }
    counters.backwards += 1
    return latest
  }

  /// Fires what is due up to an instant, behind which no input goes back from then on.
  private mutating func pass(_ instant: Timestamp, into output: inout StageOutput) {
    let instant = min(instant, StageOne.times.upperBound)
    fire(through: instant, into: &output)
    latest = max(latest, instant)
  }

  private mutating func observerIndex(
    of id: ObserverID,
    _ report: Report,
    into output: inout StageOutput
  ) -> Int? {
    if let last = lastObserver, last.id == id { return last.index }
    let found = place(of: id)
    guard found != nil || isAdmitted(id) else {
      quarantine(id, into: &output)
      return nil
    }
    let index = found ?? makeObserver(id, for: report, into: &output)
    lastObserver = (id, index)
    return index
  }

  /// The place of an observer that has been heard; mutating, as otherwise it would be given a copy of the engine.
  mutating func place(of id: ObserverID) -> Int? { observerTable.find(hash(id)) { states[$0].id == id } }

  private mutating func makeObserver(
    _ id: ObserverID,
    for report: Report,
    into output: inout StageOutput
  ) -> Int {
    let cell = id.cell % limits.cells
    if cells[cell].count >= limits.observersPerCell { evictObservers(of: cell, into: &output) }
    var time = current
    if case .age(let age) = report.timing { time = current - max(.zero, age) }
    let state = ObserverState(id: id, entry: entries[id], received: current, time: time)
    let index = add(state)
    begin(index, at: time, into: &output)
    return index
  }

  /// For how many observers room is kept from the beginning: 16 MiB of addresses, not of memory.
  private static let mostReserved = 16_384

  /// Gives an observer a place.
  mutating func add(_ state: ObserverState) -> Int {
    var state = state
    state.epoch = epoch
    state.version = catalog.version
    state.standsInZone = catalog.standsInZone(state.id)
    let index: Int
    if let free = freeObservers.popLast() {
      index = Int(free)
      states[index] = state
    } else {
      index = states.count
      // Room for all of them at once, which costs nothing until it is used: to move them takes milliseconds.
      if index == 0 { states.reserveCapacity(min(limits.observers, StageOne.mostReserved)) }
      states.append(state)
    }
    observerTable.insert(hash(state.id), place: index)
    let cell = state.id.cell % limits.cells
    cells[cell].append(Int32(index))
    tracksOfCell[cell] += state.table.count
    counters.observers += 1
    counters.tracks += UInt64(state.table.count)
    return index
  }

  /// Forgets an observer; its regions become unmonitored, which is no exit.
  ///
  /// The caller takes it out of its cell.
  mutating func letGo(_ index: Int, into output: inout StageOutput) {
    if isBehind(index) { catchUp(index, into: &output) }
    lastObserver = nil
    // A place may go to an observer about which the answers differ.
    strangers = Array(repeating: 0, count: strangers.count)
    counters.observers -= 1
    counters.tracks -= UInt64(states[index].table.count)
    tracksOfCell[states[index].id.cell % limits.cells] -= states[index].table.count
    suspend(index, at: current, rule: .eviction, into: &output)
    observerTable.remove(hash(states[index].id), place: index)
    states[index].isLive = false
    states[index].tracks.removeAll()
    states[index].scopes = 0
    states[index].rows = []
    states[index].deadRows = 0
    states[index].rowOfSlot = [:]
    states[index].listed = []
    states[index].table = IdentityTable()
    states[index].families = [:]
    freeObservers.append(Int32(index))
  }
}
