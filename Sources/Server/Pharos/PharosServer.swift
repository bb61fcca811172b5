public import Logging
package import PharosDocuments
public import PharosFixes
public import PharosIngest
public import PharosModel
public import PharosPipeline
package import PharosPresence
public import PharosPublishing
package import PharosRooms
public import PharosSecurity
package import PharosSite
public import ServiceLifecycle
import Synchronization

/// Pharos inside a program of yours: it listens, decides and publishes while ``run()`` runs.
///
/// Subscribe before or after it runs; region changes wait until it listens.
///
/// ```swift
/// let server = PharosServer(site: site, listening: ["127.0.0.1:50001"])
/// let visits = server.events(in: "museum").sink { event in print(event.time, event.kind.type, event.subject) }
/// try await server.run()
/// ```
public final class PharosServer: Service, RegionControl, Sendable {
  /// The current site: that of the start, with all changes since.
  public var site: Site { owner.site }
  /// The hub of all decisions.
  public let hub = EventHub()

  private let owner: SiteOwner
  private let venues: [LocatableVenue]
  private let publishesSensings: Bool
  private let configuration: IngestConfiguration
  private let restoration: Mutex<Restoration?>
  private let logger: Logger
  let phase = Phase()

  /// Creates a server that does nothing yet.
  ///
  /// - Parameters:
  ///   - site: applications with their regions, observers, beacons, zones.
  ///   - venues: the venues in which handsets and tags are located; without venues, nothing is located. They are given
  ///     at the start and do not change.
  ///   - publishesSensings: indicates whether the hub publishes what handsets sense, for programs that locate them in
  ///     their own way.
  ///   - configuration: the listeners, the number of loops, the recording and the checkpoints.
  ///   - restoration: the state that the previous run has left, or nil to start without one. States resume where they
  ///     were, and the time between is no evidence of anything. The site must declare all that is to resume, including
  ///     regions that applications added at run time.
  ///   - logger: the logger for problems; a working server is silent.
  public convenience init(
    site: Site,
    venues: [LocatableVenue] = [],
    publishesSensings: Bool = false,
    configuration: IngestConfiguration,
    restoring restoration: Restoration? = nil,
    logger: Logger = Logger(label: "pharos")
  ) {
    self.init(
      owner: SiteOwner(declared: site),
      venues: venues,
      publishesSensings: publishesSensings,
      configuration: configuration,
      restoring: restoration,
      logger: logger
    )
  }

  /// Creates a server whose site has an owner that others read and change as well; all else is as with
  /// ``init(site:venues:publishesSensings:configuration:restoring:logger:)``.
  package init(
    owner: SiteOwner,
    venues: [LocatableVenue] = [],
    publishesSensings: Bool = false,
    configuration: IngestConfiguration,
    restoring restoration: Restoration? = nil,
    logger: Logger = Logger(label: "pharos")
  ) {
    self.owner = owner
    self.venues = venues
    self.publishesSensings = publishesSensings
    self.configuration = configuration
    self.restoration = Mutex(restoration)
    self.logger = logger
  }

  /// Makes a server that will listen at some addresses.
  ///
  /// - Parameters:
  ///   - site: applications with their regions, observers, beacons, zones.
  ///   - addresses: `HOST:PORT` each; port 0 takes any that is free, which ``addresses()`` then returns.
  public convenience init(site: Site, listening addresses: [ListenAddress]) {
    self.init(site: site, configuration: IngestConfiguration(listeners: addresses))
  }

  /// Listens, decides and publishes until the task is cancelled or its service group shuts down gracefully.
  ///
  /// At the end nothing more is read, what was read is decided and published, and every stream ends.
  ///
  /// - Throws: the reason why it cannot listen, or the error in the site.
  public func run() async throws {
    defer { hub.finish() }
    let ingest: IngestServer
    var sense: (@Sendable ([Sensing]) -> Void)?
    var configuration = configuration
    configuration.isReceiverFull = { [hub] in hub.isFull.load(ordering: .relaxed) }
    if publishesSensings { sense = { [hub] sensings in hub.publish(sensings: sensings) } }
    do {
      ingest = try await IngestServer.start(
        owner: owner,
        venues: venues,
        configuration: configuration,
        restoring: restoration.withLock { restoration in
          // As large as the checkpoint, and of no use once it has been read.
          defer { restoration = nil }
          return restoration
        },
        logger: logger,
        sense: sense,
        deliver: { [hub] events in hub.publish(events) }
      )
    } catch {
      phase.stop(error)
      throw error
    }
    phase.listen(ingest)
    // Both a graceful shutdown and a cancellation end the wait, and both are a reason to drain.
    try? await gracefulShutdown()
    await ingest.shutdown()
    phase.stop(IngestError.stopped)
  }

  /// Returns the addresses that it listens on, once it does.
  ///
  /// - Throws: the reason why it does not.
  public func addresses() async throws -> [Endpoint] {
    try await phase.ingest().localAddresses
  }

  /// Carries out a change of the site, such as an application's new region, once the server listens.
  ///
  /// - Throws: `RegionRefusal` where the change is refused, as the 21st region of an application is.
  public func apply(_ change: RegionChange) async throws {
    try await phase.ingest().apply(change)
  }

  /// Carries out several changes at one instant, all of them or none, once the server listens.
  ///
  /// - Throws: `RegionRefusal` where one of the changes is refused.
  public func apply(all changes: [RegionChange]) async throws {
    try await phase.ingest().apply(all: changes)
  }

  /// Takes over an edited site, once the server listens: what it declares alike goes on as it was.
  ///
  /// Regions that applications have added at run time stay.
  ///
  /// - Throws: `RegionRefusal` where a declared application is refused, nothing having changed.
  public func adopt(_ site: Site) async throws { try await phase.ingest().adopt(site) }

  /// Makes an edit of the site; `commit` writes it down between the check and the change.
  package func change(
    _ edit: SiteEdit,
    with documents: [DocumentChange],
    committing commit: () async throws -> Void
  ) async throws {
    try await phase.ingest().change(edit, with: documents, committing: commit)
  }

  /// Indicates whether inputs go through a log that several servers share.
  package var isReplicated: Bool { configuration.log != nil }

  /// Stores and drops documents on all servers that share the log; calls a function once this one has, or cannot.
  package func store(_ documents: [DocumentChange], _ answer: @escaping @Sendable ((any Error)?) -> Void) {
    guard let ingest = phase.listening else { return answer(IngestError.stopped) }
    ingest.store(documents, answer)
  }

  /// Takes over other keys for signed datagrams, once the server listens; returns when they count everywhere.
  ///
  /// - Parameter observers: all observers with their keys.
  /// - Throws: `IngestError.stopped`.
  public func adopt(keys observers: [KeyedObserver]) async throws {
    try await phase.ingest().adopt(keys: observers)
  }

  /// Returns what it has counted and heard so far, once it listens.
  package func snapshot() async throws -> IngestSnapshot {
    try await phase.ingest().snapshot()
  }
}

extension PharosServer: SiteEngine {}

/// The phase of a server, for callers that wait until it listens.
final class Phase: Sendable {
  private enum State {
    /// Not listening yet; these callers wait.
    case starting([CheckedContinuation<IngestServer, any Error>])
    /// Listening.
    case listening(IngestServer)
    /// Stopped, or unable to listen.
    case stopped(any Error)
  }

  private let state = Mutex(State.starting([]))

  /// Returns the ingest server, once there is one.
  func ingest() async throws -> IngestServer {
    try await withCheckedThrowingContinuation { continuation in
      let known = state.withLock { state -> Result<IngestServer, any Error>? in
        switch state {
        case .starting(let waiting):
          state = .starting(waiting + [continuation])
          return nil
        case .listening(let ingest): return .success(ingest)
        case .stopped(let error): return .failure(error)
        }
      }
      if let known { continuation.resume(with: known) }
    }
  }

  /// The ingest server while the server listens.
  var listening: IngestServer? {
    state.withLock { state in
      if case .listening(let ingest) = state { ingest } else { nil }
    }
  }

  /// Notes that the server listens, and resumes the waiting callers.
  func listen(_ ingest: IngestServer) {
    for continuation in replace(with: .listening(ingest)) { continuation.resume(returning: ingest) }
  }

  /// Notes that the server has stopped or cannot listen, and fails the waiting callers.
  func stop(_ error: any Error) {
    for continuation in replace(with: .stopped(error)) { continuation.resume(throwing: error) }
  }

  private func replace(with next: State) -> [CheckedContinuation<IngestServer, any Error>] {
    state.withLock { state in
      defer { state = next }
      guard case .starting(let waiting) = state else { return [] }
      return waiting
    }
  }
}

/// Looks at what the engines know, once the server listens; none of them changes anything.
extension PharosServer {
  /// Takes datagrams of one sender that came otherwise than over UDP, as if they had.
  ///
  /// - Parameters:
  ///   - payloads: their bytes, at most `IngestServer.maximumAtOnce` of them.
  ///   - source: the sender.
  ///   - policy: the policy by which they are accepted or refused.
  /// - Returns: the outcome for each.
  /// - Throws: an error if the server has stopped or never listened.
  package func receive(
    _ payloads: [[UInt8]],
    from source: Endpoint,
    under policy: ListenPolicy
  ) async throws -> [Receipt] {
    try await phase.ingest().receive(payloads, from: source, under: policy)
  }

  /// Publishes events that the engine did not decide, in their place among all inputs; returns at once.
  ///
  /// - Parameters:
  ///   - events: the events, such as a changed authorisation or a notification.
  ///   - otherwise: takes them instead where the server does not listen.
  package func announce(_ events: [Event], otherwise: @escaping @Sendable ([Event]) -> Void) {
    guard let ingest = phase.listening else { return otherwise(events) }
    ingest.announce(events, otherwise: otherwise)
  }

  /// Has a checkpoint taken now; returns once it was handed over.
  package func checkpoint() async throws { try await phase.ingest().checkpoint() }

  /// Begins a recording of all inputs, which begins with the state of the engines.
  ///
  /// - Parameter order: its limits, and where its bytes go.
  /// - Returns: the R behind which it begins.
  /// - Throws: `IngestError`: another recording is under way, or the server has stopped.
  package func record(_ order: RecordingOrder) async throws -> Timestamp {
    try await phase.ingest().record(order)
  }

  /// Ends that recording with all inputs so far; returns once its last bytes were handed over.
  package func endRecording() async throws { try await phase.ingest().endRecording() }

  /// Returns what is known about tracks, in order, a page at a time.
  package func tracks(_ query: TrackQuery = TrackQuery()) async throws -> [TrackInsight] {
    try await phase.ingest().tracks(query)
  }

  /// Returns the itineraries and the guidance of subjects, as the changes that assign them.
  package func assignments() async throws -> Set<RegionChange> { try await phase.ingest().assignments() }

  /// Returns the zone of every beacon that some observer of a zone hears, or that is in a zone.
  package func tags() async throws -> [TagStanding] { try await phase.ingest().tags() }

  /// Returns the present state of a subject towards an area or a region about beacons as subjects, and the start of its visit;
  /// nil for other regions.
  package func state(
    of subject: SubjectID,
    in region: RegionKey
  ) async throws -> (state: RegionState, enteredAt: Timestamp?)? {
    try await phase.ingest().state(of: subject, in: region)
  }

  /// Returns the state of every observer towards every region about observers that it has met.
  package func standings() async throws -> [RegionStanding] { try await phase.ingest().standings() }

  /// Returns the state of every beacon towards every region about beacons that it has met.
  package func beaconStandings() async throws -> [BeaconStanding] {
    try await phase.ingest().beaconStandings()
  }

  /// The offsets of observers that stand in zones, as they were found from the tags that they hear in common.
  package func calibrations() async throws -> [Calibration] { try await phase.ingest().calibrations() }

  /// The observers that are heard and do not count, since the site admits only those that it lists.
  package func quarantine() async throws -> [QuarantinedObserver] { try await phase.ingest().quarantine() }
}

extension PharosServer {
  /// Every decision, one by one.
  public var events: EventPublisher<Event, Never> { hub.events }

  /// Every decision in the batches it was made in.
  public var batches: EventPublisher<[Event], Never> { hub.batches }

  /// Decisions in Core Location's words.
  public var regionEvents: EventPublisher<RegionEvent, Never> { hub.regionEvents }

  /// Decisions about one region.
  ///
  /// - Parameters:
  ///   - region: the region's identifier.
  ///   - application: the application that registered it.
  /// - Returns: the stream.
  public func events(in region: String, application: String = "default") -> EventPublisher<Event, Never> {
    hub.events(in: region, application: application)
  }

  /// Decisions of some kinds.
  public func events(of kinds: Set<EventKind>) -> EventPublisher<Event, Never> { hub.events(of: kinds) }

  /// Returns the beacons that observers range once a second, for one constraint or for all.
  public func ranging(_ constraint: BeaconConstraint? = nil) -> EventPublisher<Ranging, Never> {
    hub.ranging(constraint)
  }

  /// Returns a stream of the newest fix of each subject, or of one subject, as far as the subscriber asks.
  ///
  /// - Parameter subject: a handset or a tag, or nil for all of them.
  /// - Returns: the stream.
  public func fixes(for subject: SubjectID? = nil) -> EventPublisher<Fix, Never> {
    hub.fixes(for: subject)
  }

  /// Returns the visits of one subject, or of all: each with its arrival, and again, complete, with its departure.
  ///
  /// - Parameter subject: a handset or a tag, or nil for all of them.
  /// - Returns: the stream.
  public func visits(of subject: SubjectID? = nil) -> EventPublisher<Visit, Never> {
    hub.visits(of: subject)
  }

  /// Returns the updates of one subject: its fixes while it moves, and one update when it becomes stationary.
  ///
  /// - Parameters:
  ///   - subject: a handset or a tag.
  ///   - configuration: the movement below which it is stationary, and what the application may learn.
  /// - Returns: the stream; nothing follows while the subject is stationary.
  public func liveUpdates(
    for subject: SubjectID,
    configuration: LocationUpdate.LiveConfiguration = .pedestrian
  ) -> EventPublisher<LocationUpdate, Never> {
    hub.liveUpdates(for: subject, configuration: configuration)
  }

  /// Returns the significant changes of a subject's location: at most one in five minutes, after 500 m or on another floor.
  ///
  /// - Parameters:
  ///   - subject: a handset or a tag.
  ///   - authorisation: returns what the application may learn about a subject; nil where it may learn everything.
  /// - Returns: the stream.
  public func significantLocationChanges(
    for subject: SubjectID,
    authorisation: (@Sendable (SubjectID) -> AuthorisationState)? = nil
  ) -> EventPublisher<LocationUpdate, Never> {
    hub.significantLocationChanges(for: subject, authorisation: authorisation)
  }

  /// Returns decisions in batches, for a program that sleeps between them, as
  /// `allowDeferredLocationUpdates(untilTraveled:timeout:)` of `CLLocationManager` does.
  ///
  /// - Parameters:
  ///   - kinds: the kinds of decisions; nil for all.
  ///   - distance: the distance that a subject moves until its decisions are due, in metres; nil for any.
  ///   - timeout: the longest time that a decision waits.
  ///   - maximumCount: the number of decisions that wait at most, at least 1.
  /// - Returns: the stream of batches.
  public func deferredEvents(
    of kinds: Set<EventKind>? = nil,
    untilTraveled distance: Double? = nil,
    timeout: TimeSpan,
    maximumCount: Int = EventPublisher<Event, Never>.defaultLimit
  ) -> EventPublisher<[Event], Never> {
    hub.deferredEvents(of: kinds, untilTraveled: distance, timeout: timeout, maximumCount: maximumCount)
  }

  /// The sensings of handsets, if the server was made to publish them: for programs that locate them in their own way.
  public var sensings: EventPublisher<Sensing, Never> { hub.sensings }

  /// Returns the regions of an application as they are now: those of the site, its rotation, and those that were added.
  public func regions(of application: String) -> [Region] {
    guard let known = site.applications.first(where: { $0.identifier == application }) else { return [] }
    return known.regions + known.rotation.flatMap(\.allRegions)
  }

  /// Returns whether there is anything by which to decide a region.
  ///
  /// A tag is located in a venue alone, and so is the floor of a handset; without venues, handsets are where they report to
  /// be, at heights above the ellipsoid.
  public func canMonitor(_ region: Region) -> Bool {
    !venues.isEmpty || region.needOfVenue == nil
  }

  /// Returns the reasons for which an application gets nothing, or less than it might, as `CLServiceSession` reports them.
  ///
  /// Fixes are not judged here: the events of a region say what they lack.
  ///
  /// - Parameters:
  ///   - application: the application.
  ///   - subject: the subject that it asks about, or nil for all.
  ///   - authorisation: returns what the application may learn about a subject; nil where it may learn everything.
  /// - Returns: the reasons as they are now; none if all is well.
  /// - Throws: the error of a server that has stopped or never listened.
  public func diagnostics(
    of application: String = "default",
    subject: SubjectID? = nil,
    authorisation: (@Sendable (SubjectID) -> AuthorisationState)? = nil
  ) async throws -> [ServiceDiagnostic] {
    func state(_ subject: SubjectID) -> AuthorisationState { authorisation?(subject) ?? .always }
    var facts = try await serviceFacts(of: application, subject: subject) {
      state($0) == .always || state($0) == .whenInUse
    }
    if let subject { facts.subject?.authorisation = state(subject) }
    return facts.diagnostics()
  }

  /// Returns the facts that the server has of an application: all but authorisations and fixes.
  ///
  /// - Parameters:
  ///   - application: the application.
  ///   - subject: the subject that it asks about, or nil for all.
  ///   - isShown: returns whether the reader may learn of an observer or a beacon.
  /// - Returns: the facts, without what the reader may not learn.
  /// - Throws: the error of a server that has stopped or never listened.
  package func serviceFacts(
    of application: String,
    subject: SubjectID?,
    isShown: (SubjectID) -> Bool
  ) async throws -> ServiceFacts {
    let (site, snapshot) = (site, try await snapshot())
    var facts = ServiceFacts(application: application)
    if let known = site.applications.first(where: { $0.identifier == application }) {
      facts.regions = known.regions + known.rotation.flatMap(\.allRegions)
      (facts.heldRegions, facts.regionLimit) = (known.regions.count, known.regionLimit)
      facts.ranging = known.ranging.map(\.constraint)
    }
    facts.unsupported = Set(facts.regions.filter { !canMonitor($0) }.map(\.identifier))
    facts.placements = venues.flatMap(\.observerPositions)
    let listed = Set(site.observers.map(\.id))
    for status in snapshot.observers where isShown(.observer(status.id)) {
      facts.observers[status.id] = ServiceFacts.Observer(
        isUp: status.isUp,
        isListed: listed.contains(status.id),
        scanState: status.scanState,
        lastHeard: status.lastHeard
      )
    }
    guard let subject else { return facts }
    facts.subject = ServiceFacts.Subject(subject)
    facts.subject?.isShown = isShown(subject)
    guard isShown(subject) else { return facts }
    for region in facts.regions where region.geofence != nil {
      let key = RegionKey(application: application, region: region.identifier)
      guard try await state(of: subject, in: key)?.state == .inside else { continue }
      facts.subject?.inside.insert(region.identifier)
    }
    if case .beacon(let beacon) = subject {
      let hearings = try await hearings(of: beacon, snapshot).filter { isShown(.observer($0.observer)) }
      facts.subject?.hearers = Set(hearings.filter(\.isNow).map(\.observer)).sorted()
      facts.subject?.lastHeard = hearings.map(\.lastHeard).max()
    }
    return facts
  }

  /// Returns the observers that have heard a beacon, registered or not, and whether they hear it now: within ten seconds, or
  /// three intervals of one that advertises seldom.
  private func hearings(
    of beacon: BeaconID,
    _ snapshot: IngestSnapshot
  ) async throws -> [(observer: ObserverID, lastHeard: Timestamp, isNow: Bool)] {
    func isNow(_ lastHeard: Timestamp, _ interval: TimeSpan) -> Bool {
      snapshot.time - lastHeard <= max(TrackInsight.recent, interval + interval + interval)
    }
    let tracks = try await tracks(TrackQuery(beacon: beacon, limit: TrackQuery.maximumLimit))
    let heard = snapshot.heard.beacons.filter { heard in
      let isSameDevice = beacon.address == nil || beacon.address?.bits == heard.address?.bits
      return isSameDevice
        && (beacon.kind == .address || heard.identities.contains { $0.unkeyed == beacon.unkeyed })
    }
    return tracks.map { ($0.observer, $0.lastHeard, isNow($0.lastHeard, $0.interval ?? .zero)) }
      + heard.map { heard in
        let interval = heard.advertsPerSecond.map { $0 > 0 ? TimeSpan.seconds(1 / $0) : .zero } ?? .zero
        return (heard.observer, heard.lastHeard, isNow(heard.lastHeard, interval))
      }
  }

  /// An application's regions in the words of `CLMonitor`.
  ///
  /// - Parameters:
  ///   - application: the application.
  ///   - options: whether the site's regions count as well, and what the application may learn.
  /// - Returns: the monitor.
  public func monitor(
    application: String = "default",
    options: RegionMonitor.Options = RegionMonitor.Options()
  ) -> RegionMonitor {
    RegionMonitor(application: application, hub: hub, control: self, options: options)
  }

  /// A monitor that keeps its conditions and records from run to run, as `CLMonitor("name")` does.
  ///
  /// - Parameters:
  ///   - name: the name, under which one monitor at a time is open.
  ///   - folder: the folder for its file, which is created where there is none.
  ///   - application: the application.
  ///   - options: as with ``monitor(application:options:)``; the store is the file.
  /// - Returns: the monitor, with the conditions of the previous run.
  public func monitor(
    _ name: String,
    in folder: String,
    application: String = "default",
    options: RegionMonitor.Options = RegionMonitor.Options()
  ) -> RegionMonitor {
    var options = options
    options.store = MonitorFile(name, in: folder)
    return monitor(application: application, options: options)
  }
}

extension ListenAddress: ExpressibleByStringLiteral {
  /// Reads `HOST:PORT`; traps on anything else, since a literal is the programmer's own.
  public init(stringLiteral text: String) {
    guard let address = ListenAddress(text) else {
      preconditionFailure("\"\(text)\" is no HOST:PORT, such as 127.0.0.1:50001 or [::1]:50001")
    }
    self = address
  }
}
