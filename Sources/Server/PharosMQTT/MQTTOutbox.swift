import DequeModule
package import PharosModel

/// The settings of an outbox.
package struct MQTTOutboxSettings: Hashable, Sendable {
  /// The maximum number of messages that wait for the broker's acknowledgement.
  ///
  /// 1,024: at 20,000 messages a second, the broker may take 50 ms to acknowledge one.
  package var window = 1_024
  /// The maximum number of events that are read from the journal at a time.
  package var readAhead = 512
  /// The maximum number of entities that are announced to Home Assistant.
  ///
  /// 5,000: a ranged beacon in a room has ten at most, which leaves room for 500 of them.
  package var entities = 5_000
  /// The maximum number of subjects whose distances and fixes are kept; further ones are left out.
  package var liveSubjects = 10_000
  /// The time for which the outbox waits for the end of a listing: a broker may refuse to list.
  package var listingTime = TimeSpan.seconds(10)
  /// Indicates whether device trackers are announced to Home Assistant with a topic for their state.
  package var hasTrackerStates: Bool
  /// The address of the dashboard, with a slash at its end, which devices of Home Assistant link to; nil if there is none.
  package var dashboard: String?

  /// Creates the default settings.
  package init(hasTrackerStates: Bool = true, dashboard: String? = nil) {
    self.hasTrackerStates = hasTrackerStates
    self.dashboard = dashboard
  }
}

/// The outbox of a server at a broker: a cursor in the journal, and what is published when.
///
/// A value without a clock, a socket or a journal. On each connection it lists what the broker has retained, removes what
/// is of the past, announces the entities, publishes the present states, and then each event of the journal after the
/// cursor, in order. The cursor follows the broker's acknowledgements: an event that is not acknowledged when the connection
/// breaks is published again on the next one.
///
/// The caller loads what ``nextRead`` asks for, carries out the actions that ``next()`` returns and passes on what
/// happens on the connection.
package struct MQTTOutbox: Sendable {
  /// The next step of the caller.
  package enum Action: Hashable, Sendable {
    /// Subscribe to topic filters.
    case subscribe([String])
    /// End the subscription to topic filters.
    case unsubscribe([String])
    /// Publish a message, and report the outcome with ``sent(_:)`` or ``refused()``.
    case publish(MQTTMessage)
  }

  /// The kinds of events of the journal that are published.
  package static let kinds: Set<EventKind> = [
    .regionState, .regionReset, .zoneEnter, .zoneExit, .zoneUnmonitored, .zoneMonitored, .observerOnline,
    .observerOffline, .beaconBattery, .notification,
  ]

  private enum Phase {
    /// There is no connection.
    case offline
    /// The broker lists what it has retained, until the marker comes back or the time is over.
    case listing(marker: String, found: Set<String>, until: Timestamp)
    /// Events are published.
    case online
  }

  /// An event on its way, and the number of its messages that are not acknowledged.
  private struct Entry {
    let sequence: Int64
    /// The event; nil if it may not be published.
    var event: Event?
    var outstanding: Int
  }

  private struct Outgoing {
    let message: MQTTMessage
    /// The sequence of the event that it is about, or 0.
    let sequence: Int64
  }

  private let settings: MQTTOutboxSettings
  private let names: MQTTNames
  private let discovery: HomeAssistantDiscovery
  private let messages: StateMessages
  private var site: PublishedSite
  private var phase = Phase.offline

  /// The sequence up to which every event is acknowledged.
  package private(set) var cursor: Int64
  /// The number of events that were acknowledged.
  package private(set) var delivered: Int64
  /// The number of messages that the broker took, those without acknowledgement included.
  package private(set) var published: UInt64 = 0
  /// Indicates whether entities were not announced, since there are too many.
  package private(set) var hasUnannounced = false
  /// The sequence up to which events were read.
  private var readThrough: Int64
  /// The states after the event at ``readThrough``, which messages are made from.
  private var states: StateTable
  /// The states after the event at ``cursor``, or at `committedThrough` if that is later.
  private var committed: StateTable
  private let committedThrough: Int64
  /// The highest sequence up to which events were ever read: what the broker may have retained is from no later event.
  private var highestRead: Int64
  /// Indicates whether the present states follow once the cursor has reached `committedThrough`.
  private var owesStates = false
  /// The topics that the broker has retained, and the cursor at which those that are of the past are removed.
  private var found: (topics: Set<String>, due: Int64)?
  private var entries: Deque<Entry> = []
  private var queue: Deque<Outgoing> = []
  private var actions: Deque<Action> = []
  /// The message that the caller is publishing.
  private var pending: Outgoing?
  private var inFlight: [MQTTPacketID: Int64] = [:]
  /// What was announced on this connection, by topic.
  private var announced: [String: [UInt8]] = [:]
  private var announcedEntities: Set<MQTTEntity> = []

  /// A value of which the newest alone counts: names are written when it is published.
  private enum LiveValue {
    case distance(BeaconID, RangedSighting?, at: Timestamp)
    case nearest(BeaconID, NearestObserver?)
    case battery(BeaconID, millivolts: UInt16, at: Timestamp)
    case fix(SubjectID, FixDetail, at: Timestamp)

    var subject: SubjectID {
      switch self {
      case .distance(let beacon, _, _), .nearest(let beacon, _), .battery(let beacon, _, _): .beacon(beacon)
      case .fix(let subject, _, _): subject
      }
    }

    /// The entities that show it.
    var entities: [MQTTEntity] {
      switch self {
      case .distance: [.sensor(.distance, subject)]
      case .nearest: [.sensor(.nearest, subject), .sensor(.rssi, subject)]
      case .battery: [.sensor(.battery, subject)]
      case .fix(_, let fix, _):
        (fix.latitude == nil ? [] : [.position(subject)]) + (fix.isIndoors ? [.sensor(.floor, subject)] : [])
      }
    }
  }

  /// The rooms that subjects were in last, of those that entered one in this run.
  private var lastRooms: [SubjectID: LastRoom] = [:]
  /// The observers that were removed from the site, or are not listed and were down at the start, and have not come since.
  private var removedObservers: Set<ObserverID>

  private var distances: NearestDistances
  /// The observers that hear the beacons best, as they were last taken.
  private var nearest: [BeaconID: NearestObserver] = [:]
  /// The newest values of each subject, by topic.
  private var live: [String: LiveValue] = [:]
  /// The topics of those that are to be published, and the same as a set.
  private var changedLive: Deque<String> = []
  private var waitingLive: Set<String> = []

  /// Makes an outbox.
  ///
  /// - Parameters:
  ///   - names: the topics.
  ///   - version: the version of Pharos.
  ///   - site: the site.
  ///   - cursor: the sequence up to which events were acknowledged before.
  ///   - delivered: the number of events that were acknowledged before.
  ///   - states: the states of the journal.
  ///   - through: the sequence of the newest event that the states contain.
  ///   - settings: the settings.
  package init(
    names: MQTTNames,
    version: String,
    site: Site,
    cursor: Int64,
    delivered: Int64 = 0,
    states: PublishedState,
    through: Int64,
    settings: MQTTOutboxSettings = MQTTOutboxSettings()
  ) {
    self.settings = settings
    self.names = names
    discovery = HomeAssistantDiscovery(
      names: names,
      version: version,
      hasTrackerStates: settings.hasTrackerStates,
      dashboard: settings.dashboard
    )
    distances = NearestDistances(capacity: settings.liveSubjects)
    messages = StateMessages(names: names)
    self.site = PublishedSite(site)
    self.cursor = cursor
    self.delivered = delivered
    readThrough = cursor
    highestRead = cursor
    committedThrough = through
    self.states = StateTable(states)
    committed = self.states
    removedObservers = Set(states.observers.lazy.filter { !$0.isUp }.map(\.observer))
      .subtracting(site.observers.map(\.id))
  }

  /// Indicates whether events are published.
  package var isOnline: Bool {
    switch phase {
    case .online: true
    case .offline, .listing: false
    }
  }

  /// Indicates whether nothing waits for the broker.
  package var isIdle: Bool {
    entries.isEmpty && queue.isEmpty && inFlight.isEmpty && pending == nil && changedLive.isEmpty
  }

  /// The time at which to call ``advance(to:)`` if nothing else happens before.
  package var wakeTime: Timestamp? {
    if case .listing(_, _, let until) = phase { return min(until, distances.wakeTime ?? until) }
    return distances.wakeTime
  }
}

extension MQTTOutbox {
  /// Begins on a new connection.
  ///
  /// - Parameters:
  ///   - token: a text that no other connection has used.
  ///   - now: the time.
  package mutating func connected(token: String, at now: Timestamp) {
    disconnected()
    let marker = names.marker(token)
    phase = .listing(marker: marker, found: [], until: now + settings.listingTime)
    actions.append(.subscribe(names.ownFilters))
    queue.append(Outgoing(message: MQTTMessage(marker, text: token, isRetained: false), sequence: 0))
  }

  /// Ends with a connection: whatever is not acknowledged is published again on the next one.
  package mutating func disconnected() {
    phase = .offline
    entries.removeAll()
    queue.removeAll()
    actions.removeAll()
    inFlight.removeAll()
    pending = nil
    announced.removeAll()
    announcedEntities.removeAll()
    changedLive.removeAll()
    waitingLive.removeAll()
    found = nil
    readThrough = cursor
    states = committed
  }

  /// Takes a message of the broker: one of the listing, its end, or Home Assistant's birth.
  package mutating func received(_ topic: String, payload: [UInt8], isRetained: Bool) {
    switch phase {
    case .listing(let marker, var found, let until):
      guard topic != marker else { return goOnline(after: found) }
      if isRetained, !payload.isEmpty { found.insert(topic) }
      phase = .listing(marker: marker, found: found, until: until)
    case .online:
      guard topic == names.birth, !isRetained, payload == Array("online".utf8) else { return }
      announced.removeAll()
      announcedEntities.removeAll()
      announceAll()
      queueStates()
    case .offline: break
    }
  }

  /// Advances the time: takes the distances that are due, and a listing that does not end as it is.
  package mutating func advance(to now: Timestamp) {
    for (beacon, nearest) in distances.due(at: now) {
      enqueue(.distance(beacon, nearest, at: now))
    }
    guard case .listing(_, let found, let until) = phase, now >= until else { return }
    goOnline(after: found)
  }

  /// Takes over an edited site: what is gone is removed, and what is renamed or new is announced and published.
  package mutating func update(site next: Site) {
    guard next != site.site else { return }
    let before = statedMessages
    let listed = Set(next.observers.map(\.id))
    removedObservers.formUnion(site.site.observers.lazy.map(\.id).filter { !listed.contains($0) })
    removedObservers.subtract(listed)
    site = PublishedSite(next)
    guard isOnline else { return }
    let former = announced
    announced.removeAll()
    announcedEntities.removeAll()
    announceAll(unless: former)
    for topic in former.keys.sorted() where announced[topic] == nil { remove(topic) }
    let after = statedMessages
    for topic in Set(before.keys).union(after.keys).sorted() where before[topic] != after[topic] {
      enqueue(after[topic] ?? MQTTMessage(topic, []))
    }
  }

  private mutating func goOnline(after found: Set<String>) {
    phase = .online
    actions.append(.unsubscribe(names.ownFilters))
    if let birth = names.birth { actions.append(.subscribe([birth])) }
    queue.removeAll()
    announceAll()
    // A topic that only events after the cursor explain is not of the past.
    self.found = (found, max(highestRead, committedThrough))
    removeStale()
    enqueue(MQTTMessage(names.availability, text: "online"))
    // While older events are still to be published, the present states would be ahead of them.
    owesStates = cursor < committedThrough
    if !owesStates { queueStates() }
  }
}

extension MQTTOutbox {
  /// The next read of the journal: the sequence after which to read, and the maximum number of events; nil if there is
  /// enough to do.
  package var nextRead: (after: Int64, limit: Int)? {
    guard isOnline, queue.count < settings.window, entries.count < settings.readAhead else { return nil }
    return (readThrough, settings.readAhead - entries.count)
  }

  /// Adds the next events of the journal.
  ///
  /// - Parameters:
  ///   - events: the next events of ``kinds``, in order; nil for one that may not be published.
  ///   - through: the sequence up to which there are no other ones.
  package mutating func load(_ events: [(sequence: Int64, event: Event?)], through: Int64) {
    for (sequence, event) in events {
      let messages = event.map { publish($0) } ?? []
      for message in messages { enqueue(message, sequence) }
      entries.append(Entry(sequence: sequence, event: event, outstanding: messages.count))
    }
    readThrough = max(readThrough, through)
    highestRead = max(highestRead, readThrough)
    advanceCursor()
  }

  /// Removes what the broker has retained and is of the past, once all is published that may explain it.
  private mutating func removeStale() {
    guard let (topics, due) = found, cursor >= due else { return }
    found = nil
    var kept = Set(announced.keys)
    kept.insert(names.availability)
    for message in stateMessages { kept.insert(message.topic) }
    kept.formUnion(live.keys)
    // A restart knows no distances and no batteries. What beacons still have stays, without a value that may be past, as
    // Home Assistant forgets what its users have set for an entity that is removed.
    for (subject, location) in states.subjects.sorted(by: { $0.key < $1.key }) where isPublished(location) {
      guard case .beacon(let beacon) = subject else { continue }
      var sensors: [MQTTEntity.Sensor] = [.battery, .nearest, .rssi]
      var values: [LiveValue] = [.nearest(beacon, nil)]
      if isRanged(beacon) {
        sensors.append(.distance)
        values.append(.distance(beacon, nil, at: location.time))
      }
      for entity in sensors.map({ MQTTEntity.sensor($0, subject) }) {
        if let config = names.config(entity.component, entity.object) { kept.insert(config) }
      }
      kept.insert(names.battery(of: subject))
      if lastRooms[subject] == nil { kept.insert(names.lastRoom(of: subject)) }
      for message in values.map(message(of:)) where topics.contains(message.topic) {
        if kept.insert(message.topic).inserted { enqueue(message) }
      }
      // The broker knows better since when it is there; one that has forgotten gets the time that the journal has.
      if lastRooms[subject] == nil, !topics.contains(names.lastRoom(of: subject)),
        let record = location.zone, let zone = record.zone, !record.isUnmonitored
      {
        let last = LastRoom(zone: zone, since: record.time)
        lastRooms[subject] = last
        enqueue(messages.lastRoom(of: subject, last, in: site))
      }
    }
    for topic in topics.sorted() where !kept.contains(topic) { remove(topic) }
  }

  /// Takes an event into account and returns its messages; entities that are new are announced before.
  private mutating func publish(_ event: Event) -> [MQTTMessage] {
    if case .region(let transition) = event.detail, transition.isAnswer { return [] }
    let key = RegionKey(application: event.application, region: event.region)
    let reset = event.kind == .regionReset ? states.subjects(in: key) : []
    states.record(event)
    switch (event.kind, event.subject) {
    case (.regionState, let subject):
      guard let location = states.subjects[subject], let standing = location.regions[key] else { return [] }
      announce(.tracker(subject))
      // A region that was removed since the event has no topic: what it would retain there, nothing removes.
      guard site.regions.contains(key) else { return messages.subject(subject, location, in: site) }
      announce(.presence(subject, key))
      return [message(key, subject, standing)] + messages.subject(subject, location, in: site)
    case (.zoneEnter, let subject), (.zoneExit, let subject), (.zoneUnmonitored, let subject),
      (.zoneMonitored, let subject):
      // The enter of the next zone follows at once: a change of rooms is no visit to neither.
      if event.kind == .zoneExit, case .zone(let transition) = event.detail, transition.to != nil {
        return []
      }
      guard let location = states.subjects[subject] else { return [] }
      announce(.tracker(subject))
      announceRooms(of: subject, location)
      if event.kind == .zoneEnter { lastRooms[subject] = LastRoom(zone: event.region, since: event.time) }
      let regions = location.regions.sorted { $0.key < $1.key }.filter { site.regions.contains($0.key) }
      return regions.map { message($0.key, subject, $0.value) }
        + messages.subject(subject, location, in: site)
        + (event.kind == .zoneEnter ? lastRoomMessage(subject) : [])
    case (.regionReset, _):
      return reset.flatMap { subject in
        let location = states.subjects[subject] ?? StateTable.Location()
        return [MQTTMessage(names.topic(of: key, subject), [])] + locationMessages(subject, location)
      }
    case (.observerOnline, .observer(let observer)), (.observerOffline, .observer(let observer)):
      guard let life = states.observers[observer] else { return [] }
      if life.record.isUp { removedObservers.remove(observer) }
      guard !removedObservers.contains(observer) else { return [] }
      announce(.connectivity(observer))
      return [messages.observer(observer, life, in: site)]
    case (.notification, _):
      guard case .notification(let notification) = event.detail else { return [] }
      return [messages.notification(notification, of: event, in: site)]
    case (.beaconBattery, .beacon(let beacon)):
      guard case .battery(let millivolts, _) = event.detail else { return [] }
      enqueue(.battery(beacon, millivolts: millivolts, at: event.time))
      return []
    default: return []
    }
  }

  /// Forgets a subject that is erased from the journal, with all that is retained about it.
  package mutating func forget(_ traces: SubjectTraces) {
    withdraw { subject, _ in traces.contains(subject) }
  }

  /// Removes identities that may no longer be published, with all that is retained about them.
  ///
  /// - Parameter hides: returns whether an identity may not be named in the data of an application; an empty text stands
  ///   for data that are for all applications.
  package mutating func withdraw(_ hides: @escaping (SubjectID, _ application: String) -> Bool) {
    let before = (topics: statedTopics, messages: statedMessages, subjects: states.subjects.keys)
    nearest = nearest.filter { !hides(.beacon($0.key), "") && !hides(.observer($0.value.observer), "") }
    lastRooms = lastRooms.filter { !hides($0.key, "") }
    states.withdraw(hides)
    committed.withdraw(hides)
    for place in entries.indices {
      guard let event = entries[place].event else { continue }
      let application = event.application
      let isHidden = hides(event.subject, application)
      entries[place].event = isHidden ? nil : event.without { hides($0, application) }?.event
    }
    withdrawLive(hides)
    let after = (topics: statedTopics, messages: statedMessages)
    let changed = before.topics.filter {
      !after.topics.contains($0) || after.messages[$0] != before.messages[$0]
    }
    let liveEntities = Set(live.values.flatMap(\.entities))
    // The broker may still have entities that a run before this one announced.
    let gone = before.subjects.filter { states.subjects[$0] == nil }
    let withdrawn = announcedEntities.filter { isWithdrawn($0, liveEntities) }
      .union(
        gone.flatMap { subject in
          [.position(subject)] + MQTTEntity.Sensor.allCases.map { .sensor($0, subject) }
        }
      )
    for entity in withdrawn.sorted(by: { $0.object < $1.object }) {
      announcedEntities.remove(entity)
      guard let topic = names.config(entity.component, entity.object) else { continue }
      announced[topic] = nil
      withdraw(topic, nil)
    }
    for topic in changed.sorted() { withdraw(topic, after.messages[topic]) }
  }

  /// The topics of all states, distances and fixes, also of regions that the site no longer has.
  private var statedTopics: Set<String> {
    var topics = Set(live.keys).union(states.observers.keys.map { names.topic(of: $0) })
    for (subject, location) in states.subjects {
      topics.formUnion([names.topic(of: subject), names.location(of: subject), names.lastRoom(of: subject)])
      topics.formUnion([names.distance(of: subject), names.nearest(of: subject)])
      topics.formUnion([names.battery(of: subject), names.fix(of: subject)])
      for key in location.namedRegions { topics.insert(names.topic(of: key, subject)) }
    }
    return topics
  }

  /// The messages of all states, distances and fixes, by topic.
  private var statedMessages: [String: MQTTMessage] {
    Dictionary((stateMessages + live.values.map(message(of:))).map { ($0.topic, $0) }) { $1 }
  }

  /// Removes what is retained for a topic, or replaces it; messages of it that still wait are not sent.
  private mutating func withdraw(_ topic: String, _ message: MQTTMessage?) {
    for place in queue.indices where queue[place].message.topic == topic {
      queue[place] = Outgoing(message: MQTTMessage(topic, []), sequence: queue[place].sequence)
    }
    guard isOnline else { return }
    enqueue(message ?? MQTTMessage(topic, []))
  }

  /// Removes values that may no longer be published; a distance by another observer is due again.
  private mutating func withdrawLive(_ hides: (SubjectID, _ application: String) -> Bool) {
    for beacon in distances.withdraw(hides) { live[names.distance(of: .beacon(beacon))] = nil }
    live = live.filter { _, value in
      if case .nearest(_, let nearest?) = value, hides(.observer(nearest.observer), "") { return false }
      return !hides(value.subject, "")
    }
  }

  /// Returns whether the states no longer contain what an entity is about.
  private func isWithdrawn(_ entity: MQTTEntity, _ liveEntities: Set<MQTTEntity>) -> Bool {
    switch entity {
    case .server: false
    case .tracker(let subject): states.subjects[subject] == nil
    case .presence(let subject, let key): states.subjects[subject]?.regions[key] == nil
    case .sensor(.room, let subject), .sensor(.lastRoom, let subject), .sensor(.lastRoomSince, let subject),
      .sensor(.zoneFloor, let subject):
      states.subjects[subject]?.zone == nil
    case .connectivity(let observer): states.observers[observer] == nil
    case .sensor, .position: !liveEntities.contains(entity)
    }
  }

  /// Takes an event that the journal does not keep: a ranging or a fix.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - now: the time; ``advance(to:)`` publishes the distances that are due.
  package mutating func receive(live event: Event, at now: Timestamp) {
    switch (event.detail, event.subject) {
    case (.ranging(_, let beacons), .observer(let observer)):
      for reading in beacons {
        distances.update(reading, by: observer, of: event.application, at: event.time, now: now)
      }
    case (.fix(let fix), let subject) where subject != .none:
      enqueue(.fix(subject, fix, at: event.time))
    default: break
    }
  }

  /// The beacons that are inside some region or zone, whose nearest observers are published.
  package var beaconsInside: Set<BeaconID> {
    var beacons: Set<BeaconID> = []
    for (subject, location) in states.subjects {
      guard case .beacon(let beacon) = subject else { continue }
      let isInside = location.regions.values.contains { $0.record.state == .inside }
      if isInside || location.zone.map({ $0.zone != nil && !$0.isUnmonitored }) == true {
        beacons.insert(beacon)
      }
    }
    return beacons
  }

  /// Takes the observers that hear the beacons best now.
  ///
  /// Where the observer is another one than before, the states of the beacon are published again; no event says so.
  package mutating func update(nearest next: [BeaconID: NearestObserver]) {
    let before = nearest
    nearest = next.filter { states.subjects[.beacon($0.key)] != nil }
    for beacon in Set(before.keys).union(nearest.keys).sorted() {
      if case .nearest(_, let known)? = live[names.nearest(of: .beacon(beacon))] {
        let isAlike =
          known.map { known in nearest[beacon].map(known.readsAlike) == true } ?? (nearest[beacon] == nil)
        guard !isAlike else { continue }
      }
      enqueue(.nearest(beacon, nearest[beacon]))
    }
    guard isOnline, !owesStates else { return }
    for (beacon, now) in nearest.sorted(by: { $0.key < $1.key })
    where before[beacon]?.observer != now.observer {
      let subject = SubjectID.beacon(beacon)
      for (key, standing) in (states.subjects[subject]?.regions ?? [:]).sorted(by: { $0.key < $1.key })
      where standing.record.state == .inside && site.regions.contains(key) {
        enqueue(message(key, subject, standing))
      }
    }
  }

  private func message(
    _ key: RegionKey,
    _ subject: SubjectID,
    _ standing: StateTable.Standing<PublishedState.RegionRecord>
  ) -> MQTTMessage {
    var known: NearestObserver?
    if case .beacon(let beacon) = subject, standing.record.state == .inside { known = nearest[beacon] }
    return messages.region(key, subject, standing, nearest: known, room: room(of: subject), in: site)
  }

  /// The name of the zone that a subject is in, if it is in one.
  private func room(of subject: SubjectID) -> String? { states.subjects[subject].flatMap(site.room(of:)) }

  private func message(of value: LiveValue) -> MQTTMessage {
    switch value {
    case .distance(let beacon, let nearest, let now):
      messages.distance(of: beacon, nearest, at: now, room: room(of: value.subject), in: site)
    case .nearest(let beacon, let nearest): messages.nearest(of: beacon, nearest, in: site)
    case .battery(let beacon, let millivolts, let time):
      messages.battery(of: beacon, millivolts: millivolts, at: time, in: site)
    case .fix(let subject, let fix, let time): messages.fix(of: subject, fix, at: time, in: site)
    }
  }

  private func topic(of value: LiveValue) -> String {
    switch value {
    case .distance: names.distance(of: value.subject)
    case .nearest: names.nearest(of: value.subject)
    case .battery: names.battery(of: value.subject)
    case .fix: names.fix(of: value.subject)
    }
  }

  private mutating func enqueue(_ value: LiveValue) {
    let topic = topic(of: value)
    guard live[topic] != nil || live.count < settings.liveSubjects else { return }
    // One message of a topic waits at most, the newest.
    live[topic] = value
    guard isOnline else { return }
    for entity in value.entities { announce(entity) }
    if waitingLive.insert(topic).inserted { changedLive.append(topic) }
  }
}

extension MQTTOutbox {
  /// Returns the next step, or nil if there is none until something happens.
  package mutating func next() -> Action? {
    guard pending == nil else { return nil }
    switch phase {
    case .offline: return nil
    case .listing, .online: break
    }
    if let action = actions.popFirst() { return action }
    guard inFlight.count < settings.window else { return nil }
    if let outgoing = queue.popFirst() {
      pending = outgoing
    } else {
      while pending == nil, let topic = changedLive.popFirst() {
        waitingLive.remove(topic)
        pending = live[topic].map { Outgoing(message: message(of: $0), sequence: 0) }
      }
    }
    return pending.map { .publish($0.message) }
  }

  /// Notes that the connection has taken the message of the last action.
  package mutating func sent(_ packet: MQTTPacketID) {
    guard let outgoing = pending else { return }
    pending = nil
    inFlight[packet] = outgoing.sequence
  }

  /// Notes that the connection has not taken the message of the last action; it stays the next one.
  package mutating func refused() {
    guard let outgoing = pending else { return }
    pending = nil
    queue.prepend(outgoing)
  }

  /// Notes that the broker has acknowledged a message.
  package mutating func acknowledged(_ packet: MQTTPacketID) {
    guard let sequence = inFlight.removeValue(forKey: packet) else { return }
    published += 1
    guard sequence > 0 else { return }
    // Acknowledgements come in order, so that the entry is one of the first.
    guard let place = entries.firstIndex(where: { $0.sequence == sequence }) else { return }
    entries[place].outstanding -= 1
    if place == entries.startIndex { advanceCursor() }
  }

  /// Moves the cursor over the events that are acknowledged.
  private mutating func advanceCursor() {
    while let first = entries.first, first.outstanding == 0 {
      entries.removeFirst()
      if first.sequence > committedThrough, let event = first.event { committed.record(event) }
      delivered += 1
      cursor = first.sequence
    }
    if entries.isEmpty { cursor = max(cursor, readThrough) }
    removeStale()
    guard owesStates, cursor >= committedThrough else { return }
    owesStates = false
    queueStates()
  }
}

extension MQTTOutbox {
  private mutating func enqueue(_ message: MQTTMessage, _ sequence: Int64 = 0) {
    queue.append(Outgoing(message: message, sequence: sequence))
  }

  /// Removes what the broker has retained for a topic.
  private mutating func remove(_ topic: String) { enqueue(MQTTMessage(topic, [])) }

  private mutating func announce(_ entity: MQTTEntity, unless former: [String: [UInt8]] = [:]) {
    guard names.discovery != nil, !announcedEntities.contains(entity) else { return }
    guard announcedEntities.count < settings.entities else {
      hasUnannounced = true
      return
    }
    announcedEntities.insert(entity)
    guard let message = discovery.message(announcing: entity, by: site.names) else { return }
    announced[message.topic] = message.payload
    if former[message.topic] != message.payload { enqueue(message) }
  }

  /// Announces every entity that there is.
  private mutating func announceAll(unless former: [String: [UInt8]] = [:]) {
    hasUnannounced = false
    // The device of the server comes before those that refer to it.
    announce(.server, unless: former)
    for observer in states.observers.keys.sorted() where !removedObservers.contains(observer) {
      announce(.connectivity(observer), unless: former)
    }
    for (subject, location) in states.subjects.sorted(by: { $0.key < $1.key }) where isPublished(location) {
      announce(.tracker(subject), unless: former)
      for key in location.regions.keys.sorted() where site.regions.contains(key) {
        announce(.presence(subject, key), unless: former)
      }
      if location.zone != nil { announceRooms(of: subject, location, unless: former) }
    }
    for entity in live.values.flatMap(\.entities).sorted(by: { $0.object < $1.object }) {
      announce(entity, unless: former)
    }
  }

  private mutating func announceRooms(
    of subject: SubjectID,
    _ location: StateTable.Location,
    unless former: [String: [UInt8]] = [:]
  ) {
    for sensor in [MQTTEntity.Sensor.room, .lastRoom, .lastRoomSince] {
      announce(.sensor(sensor, subject), unless: former)
    }
    guard site.zone(of: location)?.floor != nil else { return }
    if case .fix(_, let fix, _)? = live[names.fix(of: subject)], fix.isIndoors { return }
    announce(.sensor(.zoneFloor, subject), unless: former)
  }

  /// The message of the room that a subject was in last; none if no zone is known of, or it is no longer there.
  private func lastRoomMessage(_ subject: SubjectID) -> [MQTTMessage] {
    guard let last = lastRooms[subject], site.zones[last.zone] != nil else { return [] }
    return [messages.lastRoom(of: subject, last, in: site)]
  }

  /// Returns whether an application ranges a beacon.
  private func isRanged(_ beacon: BeaconID) -> Bool {
    site.site.applications.contains { $0.ranging.contains { $0.constraint.matches(beacon) } }
  }

  /// The messages of the location of a subject, or those that remove it if there is nothing to publish about it.
  private func locationMessages(_ subject: SubjectID, _ location: StateTable.Location) -> [MQTTMessage] {
    guard !isPublished(location) else { return messages.subject(subject, location, in: site) }
    return [names.location(of: subject), names.topic(of: subject), names.lastRoom(of: subject)].map {
      MQTTMessage($0, [])
    }
  }

  /// Returns whether the site still has a zone or a region that the location refers to.
  private func isPublished(_ location: StateTable.Location) -> Bool {
    location.zone != nil && !site.zones.isEmpty
      || location.regions.keys.contains(where: site.regions.contains)
  }

  /// The messages of all present states.
  private var stateMessages: [MQTTMessage] {
    var all: [MQTTMessage] = []
    for (observer, life) in states.observers.sorted(by: { $0.key < $1.key })
    where !removedObservers.contains(observer) {
      all.append(messages.observer(observer, life, in: site))
    }
    for (subject, location) in states.subjects.sorted(by: { $0.key < $1.key }) where isPublished(location) {
      for (key, standing) in location.regions.sorted(by: { $0.key < $1.key }) where site.regions.contains(key)
      {
        all.append(message(key, subject, standing))
      }
      all += messages.subject(subject, location, in: site) + lastRoomMessage(subject)
    }
    return all
  }

  private mutating func queueStates() {
    for message in stateMessages { enqueue(message) }
    changedLive = Deque(live.keys.sorted())
    waitingLive = Set(live.keys)
  }
}
