import Dispatch
package import PharosDelivery
import PharosDocuments
package import PharosJournal
package import PharosModel
package import PharosPublishing
import PharosSite
import Synchronization

/// The numbers of subjects in each state towards one region.
package struct StateCounts: Hashable, Sendable {
  package var inside = 0
  package var outside = 0
  package var unmonitored = 0

  package init() {}
}

/// The current states, rangings and fixes, as they were published: a value without locks and tasks.
///
/// It holds what every reader may learn and more: its values pass a `Gate` before a client reads them.
///
/// The cache takes published events only, so it never contradicts what clients received. States come from the journal's
/// rows at the start and after a gap, and from published events in between. Of rangings and fixes it holds the
/// last ones only; it evicts the oldest when there are too many.
package struct StateCache: Sendable {
  /// The application, observer and constraint of a ranging.
  struct RangingKey: Hashable, Sendable {
    var application: String
    var observer: ObserverID
    var constraint: BeaconConstraint
  }

  /// The last ranging of a key.
  struct RangingWord: Hashable, Sendable {
    var key: RangingKey
    var time: Timestamp
    var beacons: [RangedReading]

    /// Returns the ranging as a reader may learn it; nil where it has nothing to tell.
    func passed(_ gate: Gate) -> RangingWord? {
      guard !gate.isOpen else { return self }
      guard gate.showsFully(.observer(key.observer), of: key.application) else { return nil }
      var passed = self
      passed.beacons.removeAll { !gate.showsFully(.beacon($0.beacon), of: key.application) }
      return passed.beacons.isEmpty && !beacons.isEmpty ? nil : passed
    }
  }

  /// The last reading of one beacon by one observer.
  struct Reading: Hashable, Sendable {
    var time: Timestamp
    var reading: RangedReading
  }

  /// The last report of a beacon's battery.
  struct Battery: Hashable, Sendable {
    var millivolts: UInt16
    var time: Timestamp
  }

  /// The maximum number of fixes: three times the 5,000 subjects that a core locates once a second.
  package static let maximumFixes = 16_384
  /// The maximum number of rangings: a thousand observers of four constraints each.
  static let maximumRangings = 4_096

  /// The states of subjects towards regions, and the zones of beacons.
  package private(set) var table = StateTable()
  private var rangings: [RangingKey: RangingWord] = [:]
  private var lastFixes: [SubjectID: Event] = [:]
  /// The last reports of batteries.
  private(set) var batteries: [BeaconID: Battery] = [:]

  package init() {}

  /// Replaces the states by the journal's rows; rangings and fixes stay.
  package mutating func reset(to state: PublishedState) { table = StateTable(state) }

  /// Updates the cache with a published event.
  package mutating func record(_ event: Event) {
    if event.kind == .fix { return record(fix: event) }
    if case .battery(let millivolts, _) = event.detail, case .beacon(let beacon) = event.subject {
      batteries[beacon] = Battery(millivolts: millivolts, time: event.time)
      return
    }
    guard case .ranging(let constraint, let beacons) = event.detail else {
      table.record(event)
      return
    }
    guard case .observer(let observer) = event.subject else { return }
    let key = RangingKey(application: event.application, observer: observer, constraint: constraint)
    if rangings[key] == nil, rangings.count >= StateCache.maximumRangings { evict() }
    rangings[key] = RangingWord(key: key, time: event.time, beacons: beacons)
  }

  /// Removes the fixes and rangings of a subject; its states go when the journal's rows are read again.
  mutating func forget(_ traces: SubjectTraces) {
    lastFixes = lastFixes.filter { !traces.contains($0.key) }
    batteries = batteries.filter { !traces.contains($0.key) }
    rangings = rangings.filter { key, word in
      !traces.contains(key.observer) && !word.beacons.contains { traces.contains($0.beacon) }
    }
  }

  /// The last fix of each subject, in no order.
  package var fixes: [Event] { Array(lastFixes.values) }

  /// Returns the last fix of a subject, or nil if it has none or it was evicted.
  package func fix(of subject: SubjectID) -> Event? { lastFixes[subject] }

  /// Returns the room that a subject is in now: the zone of a beacon, else the room of the last fix, else the zone in which an
  /// observer stands; nil if none is known.
  func room(of subject: SubjectID, by names: SiteNames) -> String? {
    if let zone = table.subjects[subject]?.zone?.zone { return names.room(ofZone: zone) }
    if case .fix(let fix)? = lastFixes[subject]?.detail { return fix.room }
    if case .observer(let observer) = subject { return names.room(of: observer) }
    return nil
  }

  /// The last rangings, by application, observer and constraint.
  var ranging: [RangingWord] {
    rangings.values.sorted { left, right in
      if left.key.application != right.key.application {
        return left.key.application < right.key.application
      }
      if left.key.observer != right.key.observer { return left.key.observer < right.key.observer }
      return left.key.constraint.description < right.key.constraint.description
    }
  }

  /// Returns the last reading of each beacon in an application's rangings, by observer.
  func readings(of application: String, through gate: Gate) -> [ObserverID: [BeaconID: Reading]] {
    var readings: [ObserverID: [BeaconID: Reading]] = [:]
    for word in rangings.values where word.key.application == application {
      guard let word = word.passed(gate) else { continue }
      for beacon in word.beacons {
        let known = readings[word.key.observer]?[beacon.beacon]
        guard known.map({ $0.time < word.time }) ?? true else { continue }
        readings[word.key.observer, default: [:]][beacon.beacon] = Reading(
          time: word.time,
          reading: beacon
        )
      }
    }
    return readings
  }

  /// Returns the rows of one application that match a condition, in no order.
  package func rows(
    of application: String,
    where isIncluded: (PublishedState.RegionRecord) -> Bool = { _ in true }
  ) -> [PublishedState.RegionRecord] {
    table.namedRegions.filter { $0.application == application && isIncluded($0) }
  }

  /// Returns the number of subjects in each state, by region.
  package func counts(of application: String, through gate: Gate) -> [String: StateCounts] {
    var counts: [String: StateCounts] = [:]
    for word in rows(of: application) where gate.showsFully(word.subject, of: application) {
      switch word.state {
      case .inside: counts[word.region, default: StateCounts()].inside += 1
      case .outside: counts[word.region, default: StateCounts()].outside += 1
      case .unmonitored: counts[word.region, default: StateCounts()].unmonitored += 1
      case .unknown: break
      }
    }
    return counts
  }

  private mutating func record(fix event: Event) {
    if lastFixes[event.subject] == nil, lastFixes.count >= StateCache.maximumFixes {
      let oldest = lastFixes.values.sorted { $0.time < $1.time }.prefix(StateCache.maximumFixes / 8)
      for fix in oldest { lastFixes[fix.subject] = nil }
    }
    lastFixes[event.subject] = event
  }

  private mutating func evict() {
    let oldest = rangings.values.sorted { $0.time < $1.time }.prefix(StateCache.maximumRangings / 8)
    for word in oldest { rangings[word.key] = nil }
  }
}

/// The cache that the interface reads: filled from the journal's rows, then updated with published events.
///
/// The thread that commits only puts published events into a queue. A queue of the cache's own applies them, or the next
/// reader does if it comes first, so that a reader finds all events that have been published.
///
/// Withheld events are not published, so the cache learns nothing about a subject while its authorisation is withdrawn.
/// After a change of authorisations the cache is therefore filled from the rows again before the next read.
package final class LiveStateCache: Sendable {
  private struct State {
    var cache = StateCache()
    /// Indicates whether the rows have to be read before the cache is.
    var isStale = true
    /// The revision of the authorisations under which the rows were read.
    var revision: UInt64 = 0
    /// The events that were published while the rows are being read; nil while no read is under way.
    var pending: [Event]?
  }

  /// The published events that have not been applied yet.
  private struct Inbox {
    var batches: [[PublishedEvent]] = []
    var count = 0
    /// Indicates whether events were dropped, so that the rows have to be read.
    var hasOverflowed = false
  }

  private let rows: @Sendable () throws(JournalError) -> PublishedState
  private let batteries: @Sendable () throws(JournalError) -> [Event]
  private let revision: @Sendable () -> UInt64
  private let state = Mutex(State())
  private let inbox = Mutex(Inbox())
  private let queue = DispatchQueue(label: "pharos.states", qos: .utility)
  private let turns = AsyncMutex()

  /// Makes a cache that is filled when it is first read.
  ///
  /// - Parameters:
  ///   - committed: the hub of published events.
  ///   - rows: reads the journal's rows.
  ///   - batteries: reads the last reports of batteries, the newest first.
  ///   - revision: returns the revision of the authorisations.
  package init(
    committed: CommittedEventHub,
    rows: @escaping @Sendable () throws(JournalError) -> PublishedState,
    batteries: @escaping @Sendable () throws(JournalError) -> [Event] = { () throws(JournalError) in [] },
    revision: @escaping @Sendable () -> UInt64
  ) {
    self.rows = rows
    self.batteries = batteries
    self.revision = revision
    committed.tap { [weak self] batch in self?.enqueue(batch) }
  }

  /// Makes a cache of what a commit publisher publishes, which is filled from its journal.
  package convenience init(
    journal: Journal,
    commitPublisher: CommitPublisher,
    authorisations: Authorisations
  ) {
    self.init(
      committed: commitPublisher.committed,
      rows: { () throws(JournalError) in try journal.publishedState() },
      batteries: { () throws(JournalError) in
        let filter = EventFilter(kinds: [.beaconBattery])
        return try journal.events(before: .max, matching: filter, limit: LiveStateCache.batteryEvents).map(
          \.event
        )
      },
      revision: { authorisations.view.revision }
    )
  }

  /// The number of the newest reports of batteries that are read: one a day of a thousand tags for four days.
  private static let batteryEvents = 4_096
  /// The maximum number of events that wait to be applied; beyond it they are dropped and the rows are read instead.
  private static let maximumWaiting = 262_144

  /// Reads the cache, with all events that have been published.
  ///
  /// - Parameter look: reads the values that it needs; it blocks other readers, so it must be quick.
  /// - Returns: the result of `look`.
  /// - Throws: the error of reading the journal's rows.
  package func read<Value: Sendable>(
    _ look: (borrowing StateCache) -> Value
  ) async throws(JournalError) -> Value {
    let revision = revision()
    let isStale = state.withLock { state in
      apply(to: &state)
      return state.isStale || state.revision != revision
    }
    if isStale { try await refill() }
    return state.withLock { state in
      apply(to: &state)
      return look(state.cache)
    }
  }

  /// Removes a subject from the cache, once it is gone from the journal.
  func forget(_ traces: SubjectTraces) {
    state.withLock { state in
      apply(to: &state)
      state.cache.forget(traces)
      state.isStale = true
    }
  }

  /// Puts published events into the queue; called on the thread that commits.
  private func enqueue(_ batch: [PublishedEvent]) {
    let isFirst = inbox.withLock { inbox in
      if inbox.count > LiveStateCache.maximumWaiting { inbox = Inbox(hasOverflowed: true) }
      inbox.batches.append(batch)
      inbox.count += batch.count
      return inbox.batches.count == 1
    }
    if isFirst { queue.async { [weak self] in self?.state.withLock { self?.apply(to: &$0) } } }
  }

  /// Applies the waiting events; under the lock of the state, so that they are applied in order.
  private func apply(to state: inout State) {
    let waiting = inbox.withLock { inbox in
      defer { inbox = Inbox() }
      return inbox
    }
    if waiting.hasOverflowed { state.isStale = true }
    for published in waiting.batches.joined() {
      state.cache.record(published.event)
      state.pending?.append(published.event)
    }
  }

  private func refill() async throws(JournalError) {
    try await turns.withLock { () async throws(JournalError) in
      let revision = revision()
      guard state.withLock({ $0.isStale || $0.revision != revision }) else { return }
      state.withLock { state in
        state.isStale = false
        state.revision = revision
        state.pending = []
      }
      do throws(JournalError) {
        let committed = try rows()
        let batteries = try batteries()
        state.withLock { state in
          apply(to: &state)
          state.cache.reset(to: committed)
          for event in batteries.reversed() { state.cache.record(event) }
          // The rows may already hold events that were published meanwhile; applying them again is harmless.
          for event in state.pending ?? [] { state.cache.record(event) }
          state.pending = nil
        }
      } catch {
        state.withLock { state in
          state.isStale = true
          state.pending = nil
        }
        throw error
      }
    }
  }
}

extension LiveStateCache {
  /// Returns the last fix of a subject as the reader of a gate may learn it, or nil.
  func fix(of subject: SubjectID, through gate: Gate) async throws -> Event? {
    try await read { $0.fix(of: subject) }.flatMap { gate.passed($0) }
  }

  /// Returns the rooms that subjects are in now, as far as the reader of a gate may learn them.
  func rooms(
    of subjects: [SubjectID],
    by names: SiteNames,
    through gate: Gate
  ) async throws -> SubjectRooms {
    let subjects = subjects.filter { subject in gate.access(to: subject).map { $0 >= .zone } ?? false }
    return try await read { cache in
      SubjectRooms(
        rooms: Dictionary(
          subjects.compactMap { subject in cache.room(of: subject, by: names).map { (subject, $0) } },
          uniquingKeysWith: { first, _ in first }
        )
      )
    }
  }
}

/// The rooms of the subjects of an answer.
struct SubjectRooms: Sendable {
  fileprivate let rooms: [SubjectID: String]

  subscript(subject: SubjectID) -> String? { rooms[subject] }
}

extension JSONText {
  /// Writes a subject with its kind, its name and its room.
  mutating func subject(_ subject: SubjectID, in rooms: SubjectRooms? = nil) {
    identity("subject", subject)
    member("subjectKind", subject.kindName)
    member("room", ifPresent: rooms?[subject])
  }
}
