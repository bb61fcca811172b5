/// The records that published events leave behind, by what they are about: what is known now.
///
/// It is the one store of all that keep records in memory: the HTTP interface and each MQTT outbox feed a table of their own
/// as any subscriber is fed, apart from the thread that commits. ``PublishedState`` has the same records as sorted lists.
///
/// - Complexity: an event costs the same however many records there are, except for the reset of a region.
package struct StateTable: Sendable {
  /// A record and the event that left it.
  package struct Standing<Record: Hashable & Sendable>: Hashable, Sendable {
    package var record: Record
    /// The event; nil for a state from before the server's start.
    package var event: EventID?
  }

  /// What is known of a subject.
  package struct Location: Hashable, Sendable {
    package var regions: [RegionKey: Standing<PublishedState.RegionRecord>] = [:]
    /// The zone; nil if no zone has been decided about.
    package var zone: PublishedState.ZoneRecord?
    package var time = Timestamp.distantPast
    package var event: EventID?

    /// The regions of ``regions`` in order, without the records about all other areas.
    package var namedRegions: [RegionKey] { regions.keys.filter { !$0.region.isEmpty }.sorted() }

    /// Creates a location of which nothing is known.
    package init() {}

    fileprivate mutating func update(_ time: Timestamp, _ event: EventID?) {
      guard event != nil || time >= self.time else { return }
      self.time = time
      self.event = event
    }
  }

  private struct ThresholdKey: Hashable {
    let zone: String
    let threshold: OccupancyThreshold
  }

  package private(set) var subjects: [SubjectID: Location] = [:]
  package private(set) var observers: [ObserverID: Standing<PublishedState.ObserverRecord>] = [:]
  package private(set) var visits: [SubjectID: PublishedState.VisitRecord] = [:]
  private var occupancies: [ThresholdKey: PublishedState.OccupancyRecord] = [:]

  /// Creates a table that begins with a state.
  package init(_ state: PublishedState = PublishedState()) {
    for record in state.regions {
      insert(.region(record), at: record.time, event: nil, subject: record.subject)
    }
    for record in state.zones {
      insert(.zone(record), at: record.time, event: nil, subject: .beacon(record.beacon))
    }
    for record in state.observers { observers[record.observer] = Standing(record: record) }
    for record in state.visits { visits[record.subject] = record }
    for record in state.occupancies {
      insert(.occupancy(record), at: record.decidedAt, event: nil, subject: .none)
    }
  }

  /// Creates the table that events leave behind, in the order of the sequence.
  package init(after events: some Sequence<Event>) { for event in events { record(event) } }

  /// The records as sorted lists.
  package var state: PublishedState {
    var state = PublishedState()
    state.regions = Array(regions)
    state.zones = subjects.values.compactMap(\.zone)
    state.observers = observers.values.map(\.record)
    state.visits = Array(visits.values)
    state.occupancies = Array(occupancies.values)
    state.sort()
    return state
  }

  /// The records of regions, in no order.
  package var regions: some Sequence<PublishedState.RegionRecord> {
    subjects.values.lazy.flatMap { $0.regions.values.lazy.map(\.record) }
  }

  /// The records of single regions, in no order: without those about all other areas.
  package var namedRegions: some Sequence<PublishedState.RegionRecord> {
    regions.lazy.filter { !$0.isAboutOthers }
  }

  /// Returns what is known of a subject and a region; of an area, also what is known of all areas without a record of their own.
  package func standing(
    of subject: SubjectID,
    in region: RegionKey,
    isArea: Bool
  ) -> Standing<PublishedState.RegionRecord>? {
    guard let known = subjects[subject]?.regions else { return nil }
    if let own = known[region] { return own }
    guard isArea, var other = known[region.others] else { return nil }
    other.record.region = region.region
    return other
  }

  /// Records what an event leaves behind, if it leaves anything.
  package mutating func record(_ event: Event) {
    let record = PublishedState.Record(
      event,
      region: {
        subjects[event.subject]?.regions[RegionKey(application: event.application, region: event.region)]?
          .record
      },
      zone: { _ in subjects[event.subject]?.zone }
    )
    if let record { insert(record, at: event.time, event: event.id, subject: event.subject) }
  }

  private mutating func insert(
    _ record: PublishedState.Record,
    at time: Timestamp,
    event: EventID?,
    subject: SubjectID
  ) {
    switch record {
    case .region(let record):
      subjects[subject, default: Location()].regions[record.key] = Standing(record: record, event: event)
      subjects[subject]?.update(time, event)
    case .zone(let record):
      subjects[subject, default: Location()].zone = record
      subjects[subject]?.update(time, event)
    case .observer(let record): observers[record.observer] = Standing(record: record, event: event)
    case .visit(let record): visits[record.subject] = record
    case .occupancy(let record):
      occupancies[ThresholdKey(zone: record.zone, threshold: record.transition.threshold)] = record
    case .reset(let key): for subject in subjects(in: key) { subjects[subject]?.regions[key] = nil }
    }
  }

  /// The subjects whose state towards a region is known, in order.
  package func subjects(in region: RegionKey) -> [SubjectID] {
    subjects.filter { $0.value.regions[region] != nil }.map(\.key).sorted()
  }

  /// Removes identities that may no longer be published: subjects, their states in the regions of an application, and
  /// observers that settled a state.
  package mutating func withdraw(_ hides: (SubjectID, _ application: String) -> Bool) {
    for (subject, location) in subjects {
      guard !hides(subject, "") else {
        subjects[subject] = nil
        continue
      }
      for (key, standing) in location.regions {
        if hides(subject, key.application) {
          subjects[subject]?.regions[key] = nil
        } else if let observer = standing.record.observer, hides(.observer(observer), key.application) {
          subjects[subject]?.regions[key]?.record.observer = nil
        }
      }
    }
    for observer in observers.keys where hides(.observer(observer), "") { observers[observer] = nil }
  }
}
