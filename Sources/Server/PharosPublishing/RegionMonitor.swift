public import PharosModel
import Synchronization

/// A receiver of changes to an application's region set, such as the server.
public protocol RegionControl: Sendable {
  /// Carries out a change, or throws the reason why it is refused.
  func apply(_ change: RegionChange) async throws
  /// Returns the regions of an application as they are now.
  func regions(of application: String) -> [Region]
  /// Returns whether there is anything by which to decide a region.
  func canMonitor(_ region: Region) -> Bool
  /// Returns the reasons for which an application gets nothing, or less than it might.
  ///
  /// - Parameters:
  ///   - application: the application.
  ///   - subject: the subject that it asks about, or nil for all.
  ///   - authorisation: returns what the application may learn about a subject; nil where it may learn everything.
  /// - Returns: the reasons; none if all is well.
  /// - Throws: the error of a server that has stopped.
  func diagnostics(
    of application: String,
    subject: SubjectID?,
    authorisation: (@Sendable (SubjectID) -> AuthorisationState)?
  ) async throws -> [ServiceDiagnostic]
}

extension RegionControl {
  /// Returns no region.
  public func regions(of application: String) -> [Region] { [] }
  /// Returns true.
  public func canMonitor(_ region: Region) -> Bool { true }
  /// Returns none.
  public func diagnostics(
    of application: String,
    subject: SubjectID?,
    authorisation: (@Sendable (SubjectID) -> AuthorisationState)?
  ) async throws -> [ServiceDiagnostic] { [] }
}

/// Region monitoring in the words of Core Location's `CLMonitor`.
///
/// A thin view of the same decisions that the event streams carry: conditions are added under identifiers, events say
/// `satisfied` or `unsatisfied`, and a record keeps the last event of each. As with `CLMonitor`, records move on with
/// the events that are taken, and **while an event is handled the record still shows the one before it**. An event that
/// says the same as the record is left out.
public final class RegionMonitor: Sendable {
  /// The settings of a monitor.
  public struct Options: Sendable {
    /// Indicates whether the application's other regions count as well: those of the site, and what others registered.
    public var includesOtherRegions: Bool
    /// The place where conditions and records are kept for the next run; nil to keep them in memory.
    ///
    /// One monitor alone may use it.
    public var store: (any MonitorStore)?
    /// Returns what the application may learn about a subject; nil where it may learn everything.
    public var authorisation: (@Sendable (SubjectID) -> AuthorisationState)?

    /// Creates settings.
    public init(
      includesOtherRegions: Bool = false,
      store: (any MonitorStore)? = nil,
      authorisation: (@Sendable (SubjectID) -> AuthorisationState)? = nil
    ) {
      self.includesOtherRegions = includesOtherRegions
      self.store = store
      self.authorisation = authorisation
    }
  }

  /// The application whose regions these are.
  public let application: String

  private struct State {
    var book = MonitorBook()
    /// The conditions of the previous run that the server has still to be given.
    var pending: [Region] = []
    /// The conditions that were added with a state to start from.
    var assumed: [String: MonitorState] = [:]
  }

  fileprivate enum Input: Sendable {
    case decision(Event)
    case notice(MonitorEvent)
  }

  private let hub: EventHub
  private let notices = Hub<MonitorEvent>()
  private let control: any RegionControl
  private let options: Options
  private let keeper: MonitorKeeper?
  private let state: Mutex<State>

  /// Makes a monitor of an application's regions.
  ///
  /// With a store it resumes with the conditions and records of the previous run. The server is given the conditions by
  /// the first `add` or the first step of ``events``.
  public init(
    application: String = "default",
    hub: EventHub,
    control: any RegionControl,
    options: Options = Options()
  ) {
    self.application = application
    self.hub = hub
    self.control = control
    self.options = options
    keeper = options.store.map(MonitorKeeper.init)
    let book = keeper?.load() ?? MonitorBook()
    state = Mutex(State(book: book, pending: book.regions.values.sorted { $0.identifier < $1.identifier }))
  }

  /// The identifiers that were added here, and those of other regions where they count, sorted.
  public var identifiers: [String] {
    Set(state.withLock { Array($0.book.regions.keys) } + otherRegions.map(\.identifier)).sorted()
  }

  /// Monitors a condition, replacing one with the same identifier.
  ///
  /// - Parameters:
  ///   - condition: beacons, a circle or a polygon.
  ///   - identifier: the name of the condition.
  ///   - assuming: the state to start from; only a difference from it is an event.
  ///   - subject: the kind of subject: handsets and gateways, which hear beacons, or the beacons themselves.
  ///   - presence: the policy that decides when a beacon counts as here and when as gone; areas do without.
  /// - Throws: the server's refusal, such as that of the 21st region of an application.
  public func add(
    _ condition: some MonitorCondition,
    identifier: String,
    assuming: MonitorState = .unknown,
    subject: Region.Subject = .observer,
    presence: PresencePolicy = PresencePolicy()
  ) async throws {
    let region: Region
    switch condition.condition {
    case .beacons(let constraint):
      region = Region(identifier: identifier, constraint: constraint, subject: subject, presence: presence)
    case .geofence(let geofence):
      region = Region(identifier: identifier, geofence: geofence, subject: subject)
    }
    state.withLock { $0.pending.removeAll { $0.identifier == identifier } }
    await resume()
    try await control.apply(
      .startMonitoring(application: application, region, assuming: assuming.regionState)
    )
    state.withLock { state in
      state.book.regions[identifier] = region
      state.book.forget(identifier)
      state.assumed[identifier] = assuming == .unknown ? nil : assuming
    }
    store()
    if !control.canMonitor(region) { notices.publish([MonitorEvent(unsupported: identifier)]) }
  }

  /// Monitors beacons, replacing a condition with the same identifier: any other condition is added alike.
  public func add(
    _ beacons: BeaconConstraint,
    identifier: String,
    assuming: MonitorState = .unknown,
    subject: Region.Subject = .observer,
    presence: PresencePolicy = PresencePolicy()
  ) async throws {
    try await add(
      beacons.condition,
      identifier: identifier,
      assuming: assuming,
      subject: subject,
      presence: presence
    )
  }

  /// Stops monitoring the condition with an identifier.
  public func remove(_ identifier: String) async throws {
    state.withLock { $0.pending.removeAll { $0.identifier == identifier } }
    try await control.apply(.stopMonitoring(application: application, identifier: identifier))
    state.withLock { state in
      state.book.regions[identifier] = nil
      state.book.forget(identifier)
      state.assumed[identifier] = nil
    }
    store()
  }

  /// The condition under an identifier and the last event about a subject that was handled, or nil if there is none.
  public func record(for identifier: String, subject: SubjectID) -> MonitorRecord? {
    guard let region = region(identifier) else { return nil }
    let key = MonitorBook.Key(identifier: identifier, subject: subject)
    return MonitorRecord(
      condition: region.condition,
      lastEvent: state.withLock { $0.book.lastEvents[key] }
    )
  }

  /// The condition under an identifier and the last event that was handled, about whatever subject, or nil if there is
  /// none.
  public func record(for identifier: String) -> MonitorRecord? {
    guard let region = region(identifier) else { return nil }
    return MonitorRecord(
      condition: region.condition,
      lastEvent: lastEvents(of: identifier).max { ($0.date, $0.subject) < ($1.date, $1.subject) }
    )
  }

  /// Returns the subjects of a condition about which an event was handled, sorted.
  ///
  /// - Parameters:
  ///   - identifier: the identifier of the condition.
  ///   - wanted: the state of the subjects that are wanted; nil for all.
  /// - Returns: the subjects; none for an unknown condition.
  public func subjects(of identifier: String, in wanted: MonitorState? = nil) -> [SubjectID] {
    lastEvents(of: identifier)
      .filter { $0.subject != .none && (wanted == nil || $0.state == wanted) }
      .map(\.subject).sorted()
  }

  /// Returns the reasons for which the application gets nothing, or less than it might, as `CLServiceSession` reports
  /// them.
  ///
  /// - Parameter subject: the subject that it asks about, or nil for all.
  /// - Returns: the reasons as they are now, those of the server's part; none if all is well.
  /// - Throws: the error of a server that has stopped.
  public func diagnostics(for subject: SubjectID? = nil) async throws -> [ServiceDiagnostic] {
    try await control.diagnostics(
      of: application,
      subject: subject,
      authorisation: options.authorisation
    )
  }

  /// Removes what is known about a subject, here and in the store.
  ///
  /// The server is asked to forget it with `RegionChange.forget`, beforehand: what the server reports about it after this
  /// is known again.
  public func forget(_ traces: SubjectTraces) {
    state.withLock { $0.book.forget(traces) }
    store()
  }

  /// The events of all conditions, for one consumer; taking the next one files the one before.
  public var events: Events {
    let decisions = hub.events(in: nil, application: application).map { Input.decision($0) }
    let merged = StreamSource(
      merging: [decisions.source, notices.stream { $0 }.map { Input.notice($0) }.source],
      endsWithFirst: true
    )
    let publisher = EventPublisher<Input, Never>(source: merged, overflow: decisions.overflow)
    return Events(monitor: self, base: publisher.sequence)
  }

  private var otherRegions: [Region] {
    options.includesOtherRegions ? control.regions(of: application) : []
  }

  private func region(_ identifier: String) -> Region? {
    state.withLock { $0.book.regions[identifier] } ?? otherRegions.first { $0.identifier == identifier }
  }

  private func lastEvents(of identifier: String) -> [MonitorEvent] {
    state.withLock { state in state.book.lastEvents.values.filter { $0.identifier == identifier } }
  }

  private func store(behind event: MonitorEvent? = nil) {
    keeper?.store(behind: event) { state.withLock { $0.book } }
  }
}

/// What the events need.
extension RegionMonitor {
  /// Gives the server the conditions of the previous run, once it listens.
  ///
  /// What it refuses stays among the conditions, and is asked for again in the next run; the limit of regions is an event.
  fileprivate func resume() async {
    while let region = state.withLock({ $0.pending.isEmpty ? nil : $0.pending.removeFirst() }) {
      try? await control.apply(.startMonitoring(application: application, region))
      if !control.canMonitor(region) { notices.publish([MonitorEvent(unsupported: region.identifier)]) }
    }
  }

  fileprivate func file(_ event: MonitorEvent) {
    guard region(event.identifier) != nil else { return }
    state.withLock { $0.book.file(event) }
    store(behind: event)
  }

  /// Stores what is still to be stored, when no event follows.
  fileprivate func finish() { store() }

  /// Returns the events that an input may lead to, of which ``event(of:)`` passes those that say something new.
  ///
  /// That a subject is outside of all other areas is an event for each condition that is one, and about which there was none.
  /// What was known of a region that is reset no longer holds.
  fileprivate func parts(of input: Input) -> [Input] {
    guard case .decision(let event) = input else { return [input] }
    if event.kind == .regionReset, region(event.region) != nil {
      state.withLock { $0.book.forget(event.region) }
    }
    guard event.kind == .regionsOutside else { return [input] }
    return identifiers.compactMap { identifier -> Input? in
      let isAbout = region(identifier).map { $0.geofence != nil && $0.isAbout(event.subject) } ?? false
      let assumed = state.withLock { $0.assumed[identifier] }
      guard isAbout, assumed == nil,
        record(for: identifier, subject: event.subject)?.lastEvent == nil
      else { return nil }
      let part = Event(
        stream: "",
        kind: .regionState,
        time: event.time,
        decidedAt: event.decidedAt,
        stage: event.stage,
        subject: event.subject,
        application: event.application,
        region: identifier,
        counter: event.ordinal,
        ordinal: event.ordinal,
        detail: event.detail
      )
      return .decision(part)
    }
  }

  /// Returns the event of a decision, or nil for one that is not about a condition, or says nothing new.
  fileprivate func event(of input: Input) -> MonitorEvent? {
    guard case .decision(let event) = input else {
      guard case .notice(let notice) = input else { return nil }
      return completed(notice)
    }
    guard var monitored = MonitorEvent(event) else { return nil }
    if monitored.conditionLimitExceeded { return completed(monitored) }
    guard let region = region(monitored.identifier) else { return nil }
    if case .region(let transition) = event.detail, let basis = transition.evidence.geofence,
      let reach = region.geofence?.shape.reach, basis.accuracy > reach
    {
      monitored.diagnostics.insert(.accuracyLimited)
    }
    let barrier = MonitorDiagnostics(options.authorisation?(monitored.subject) ?? .always)
    if !barrier.isEmpty { monitored = monitored.hidden(for: barrier) }
    let complete = completed(monitored)
    let last = record(for: complete.identifier, subject: complete.subject)?.lastEvent
    // That nothing is decided yet is what the record says without an event.
    guard last != nil || complete.state != .unknown || !complete.diagnostics.isEmpty else { return nil }
    let isNew = last?.state != complete.state || last?.diagnostics != complete.diagnostics
    return isNew ? complete : nil
  }

  private func completed(_ event: MonitorEvent) -> MonitorEvent {
    guard keeper?.hasFailed == true else { return event }
    var event = event
    event.diagnostics.insert(.persistenceUnavailable)
    return event
  }

  /// The events of a monitor.
  public struct Events: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = MonitorEvent
    /// The sequence never fails.
    public typealias Failure = Never

    fileprivate let monitor: RegionMonitor
    fileprivate let base: EventSequence<Input, Never>

    /// Begins to take events.
    public func makeAsyncIterator() -> Iterator {
      Iterator(monitor: monitor, base: base.makeAsyncIterator())
    }

    /// Takes events and files them.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let monitor: RegionMonitor
      fileprivate var base: EventSequence<Input, Never>.Iterator
      private var handled: MonitorEvent?
      /// What is left of the last input, in reverse.
      private var left: [Input] = []

      fileprivate init(monitor: RegionMonitor, base: EventSequence<Input, Never>.Iterator) {
        self.monitor = monitor
        self.base = base
      }

      /// Files the event before and waits for the next one.
      public mutating func next() async -> MonitorEvent? {
        if let handled { monitor.file(handled) }
        handled = nil
        await monitor.resume()
        while true {
          while let input = left.popLast() {
            guard let event = monitor.event(of: input) else { continue }
            handled = event
            return event
          }
          guard let input = await base.next() else { break }
          left = monitor.parts(of: input).reversed()
        }
        monitor.finish()
        return nil
      }
    }
  }
}

extension MonitorEvent {
  /// Returns the event without what the application may not learn.
  fileprivate func hidden(for reasons: MonitorDiagnostics) -> MonitorEvent {
    var event = self
    event.state = .unknown
    event.refinement = nil
    event.diagnostics = reasons
    return event
  }
}

extension Region {
  /// Returns whether it is about subjects of the kind of this one.
  fileprivate func isAbout(_ subject: SubjectID) -> Bool { (self.subject != .observer) == subject.isBeacon }
}
