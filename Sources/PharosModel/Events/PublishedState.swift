/// The state of regions, zones and observers after the last events about them: what a server that restarts knows
/// without a checkpoint.
///
/// The records are sorted by what they are about, so that two equal states compare equal.
public struct PublishedState: Hashable, Sendable {
  /// The states of subjects relative to regions.
  public var regions: [RegionRecord] = []
  /// The zones that beacons are in.
  public var zones: [ZoneRecord] = []
  /// The states of observers.
  public var observers: [ObserverRecord] = []
  /// The last visits of subjects.
  public var visits: [VisitRecord] = []
  /// The sides of the thresholds of zones on which the numbers of beacons are.
  public var occupancies: [OccupancyRecord] = []

  /// Creates an empty state.
  public init() {}

  /// Indicates whether there are no records.
  public var isEmpty: Bool { regions.isEmpty && zones.isEmpty && observers.isEmpty && hasNoStays }

  /// Indicates whether there are no records of visits and of thresholds, and no beacon is unmonitored in its zone.
  package var hasNoStays: Bool {
    visits.isEmpty && occupancies.isEmpty && !zones.contains(where: \.isUnmonitored)
  }

  /// The state of a subject relative to a region.
  public struct RegionRecord: Hashable, Sendable {
    /// The application that the region belongs to.
    public var application: String
    /// The region's identifier.
    public var region: String
    /// The subject.
    public var subject: SubjectID
    /// The state.
    public var state: RegionState
    /// The state; where it is `unmonitored`, the one before it.
    public var lastKnown: RegionState
    /// The start of the visit, where the last known state is `inside`.
    public var enteredAt: Timestamp?
    /// The most specific identity that caused the state, where one did.
    public var refinement: BeaconID?
    /// The observer whose hearing settled it, for regions about beacons.
    public var observer: ObserverID?
    /// The time of the last event.
    public var time: Timestamp
    /// The time of the decision.
    public var decidedAt: Timestamp

    /// Makes a word.
    public init(
      application: String,
      region: String,
      subject: SubjectID,
      state: RegionState,
      lastKnown: RegionState,
      enteredAt: Timestamp? = nil,
      refinement: BeaconID? = nil,
      observer: ObserverID? = nil,
      time: Timestamp,
      decidedAt: Timestamp
    ) {
      self.application = application
      self.region = region
      self.subject = subject
      self.state = state
      self.lastKnown = lastKnown
      self.enteredAt = enteredAt
      self.refinement = refinement
      self.observer = observer
      self.time = time
      self.decidedAt = decidedAt
    }
  }

  /// The zone that a beacon is in.
  public struct ZoneRecord: Hashable, Sendable {
    /// The beacon.
    public var beacon: BeaconID
    /// The zone, or nil if it is in none.
    public var zone: String?
    /// Indicates whether the observers of the zone are down, so that it is the last one known.
    public var isUnmonitored: Bool
    /// The time of the last event.
    public var time: Timestamp
    /// The time of the decision.
    public var decidedAt: Timestamp

    /// Makes a word.
    public init(
      beacon: BeaconID,
      zone: String?,
      isUnmonitored: Bool = false,
      time: Timestamp,
      decidedAt: Timestamp
    ) {
      self.beacon = beacon
      self.zone = zone
      self.isUnmonitored = isUnmonitored
      self.time = time
      self.decidedAt = decidedAt
    }
  }

  /// The state of an observer.
  public struct ObserverRecord: Hashable, Sendable {
    /// The observer.
    public var observer: ObserverID
    /// Indicates whether the observer is online.
    public var isUp: Bool
    /// The time at which the observer came online or went offline.
    public var time: Timestamp
    /// The time of the decision.
    public var decidedAt: Timestamp

    /// Makes a word.
    public init(observer: ObserverID, isUp: Bool, time: Timestamp, decidedAt: Timestamp) {
      self.observer = observer
      self.isUp = isUp
      self.time = time
      self.decidedAt = decidedAt
    }
  }

  /// The last visit of a subject.
  public struct VisitRecord: Hashable, Sendable {
    /// The subject.
    public var subject: SubjectID
    /// The visit, which lasts if it has no departure.
    public var visit: VisitDetail
    /// The time of the decision.
    public var decidedAt: Timestamp

    /// Makes a record.
    public init(subject: SubjectID, visit: VisitDetail, decidedAt: Timestamp) {
      self.subject = subject
      self.visit = visit
      self.decidedAt = decidedAt
    }
  }

  /// The side of a threshold on which the number of beacons in a zone is.
  public struct OccupancyRecord: Hashable, Sendable {
    /// The zone.
    public var zone: String
    /// The threshold, the number and the side.
    public var transition: OccupancyTransition
    /// The time of the decision.
    public var decidedAt: Timestamp

    /// Makes a record.
    public init(zone: String, transition: OccupancyTransition, decidedAt: Timestamp) {
      self.zone = zone
      self.transition = transition
      self.decidedAt = decidedAt
    }
  }
}

extension PublishedState {
  /// Takes an event into account; one that changes no row (an answer, an enter, a battery) changes nothing.
  ///
  /// - Complexity: logarithmic in the number of words where there is a word already, linear otherwise.
  public mutating func note(_ event: Event) {
    switch (event.kind, event.detail) {
    case (.regionState, _):
      let (index, isThere) = regionPlace(
        application: event.application,
        region: event.region,
        subject: event.subject
      )
      guard let record = RegionRecord(event, after: isThere ? regions[index] : nil) else { return }
      if isThere { regions[index] = record } else { regions.insert(record, at: index) }
    case (.zoneEnter, _), (.zoneExit, _), (.zoneUnmonitored, _), (.zoneMonitored, _):
      guard case .beacon(let beacon) = event.subject else { return }
      let (index, isThere) = zones.place {
        $0.beacon < beacon ? .before : $0.beacon == beacon ? .same : .after
      }
      guard let record = ZoneRecord(event, after: isThere ? zones[index] : nil) else { return }
      if isThere { zones[index] = record } else { zones.insert(record, at: index) }
    case (.observerOnline, _), (.observerOffline, _):
      guard let record = ObserverRecord(event) else { return }
      let (index, isThere) = observers.place {
        $0.observer < record.observer ? .before : $0.observer == record.observer ? .same : .after
      }
      if isThere { observers[index] = record } else { observers.insert(record, at: index) }
    case (_, .visit(let visit)):
      let (index, isThere) = visits.place {
        $0.subject < event.subject ? .before : $0.subject == event.subject ? .same : .after
      }
      let record = VisitRecord(subject: event.subject, visit: visit, decidedAt: event.decidedAt)
      if isThere { visits[index] = record } else { visits.insert(record, at: index) }
    case (_, .occupancy(let transition)):
      let (index, isThere) = occupancies.place { $0.order(event.region, transition.threshold) }
      let record = OccupancyRecord(zone: event.region, transition: transition, decidedAt: event.decidedAt)
      if isThere { occupancies[index] = record } else { occupancies.insert(record, at: index) }
    default: break
    }
  }

  /// The word about a region and a subject, if there is one.
  public func region(application: String, region: String, subject: SubjectID) -> RegionRecord? {
    let (index, isThere) = regionPlace(application: application, region: region, subject: subject)
    return isThere ? regions[index] : nil
  }

  /// Puts the words into the order in which ``note(_:)`` keeps them.
  public mutating func sort() {
    regions.sort { $0.isBefore($1.application, $1.region, $1.subject) == .before }
    zones.sort { $0.beacon < $1.beacon }
    observers.sort { $0.observer < $1.observer }
    visits.sort { $0.subject < $1.subject }
    occupancies.sort { $0.order($1.zone, $1.transition.threshold) == .before }
  }

  private func regionPlace(
    application: String,
    region: String,
    subject: SubjectID
  ) -> (index: Int, isThere: Bool) {
    regions.place { $0.isBefore(application, region, subject) }
  }
}

/// The order of an element relative to the one searched for.
private enum Order {
  case before, same, after
}

extension PublishedState.OccupancyRecord {
  fileprivate func order(_ zone: String, _ threshold: OccupancyThreshold) -> Order {
    guard self.zone.utf8.elementsEqual(zone.utf8) else {
      return self.zone.utf8.lexicographicallyPrecedes(zone.utf8) ? .before : .after
    }
    let (mine, other) = (transition.threshold, threshold)
    return mine == other
      ? .same : (mine.above, mine.below) < (other.above, other.below) ? .before : .after
  }
}

/// What is known of a subject in a region, whether it is monitored or not: the one rule for the state before an outage and
/// for the beginning of a visit.
package struct LastKnownRegion: Hashable, Sendable {
  /// The state; while the region is not monitored, the one before.
  package var state: RegionState
  /// The start of the visit, if the state is `inside`.
  package var enteredAt: Timestamp?

  /// Names what is known.
  package init(state: RegionState, enteredAt: Timestamp?) {
    (self.state, self.enteredAt) = (state, enteredAt)
  }

  /// What a record says.
  fileprivate init(_ record: PublishedState.RegionRecord) {
    self.init(state: record.lastKnown, enteredAt: record.enteredAt)
  }

  /// What is known after a change of state at a time.
  package init(_ transition: RegionTransition, at time: Timestamp, after before: LastKnownRegion?) {
    state =
      switch (transition.to, transition.from) {
      case (.unmonitored, .unmonitored): before?.state ?? .unknown
      case (.unmonitored, let from): from
      case (let to, _): to
      }
    let kept = before?.state == .inside ? before?.enteredAt : nil
    let beginning = transition.to == .inside ? time : nil
    enteredAt = state == .inside ? transition.enteredAt ?? kept ?? beginning : nil
  }
}

extension PublishedState.ZoneRecord {
  /// Creates the record after an event about a zone, given the record before it; nil if the event changes nothing.
  package init?(_ event: Event, after before: PublishedState.ZoneRecord?) {
    guard case .beacon(let beacon) = event.subject,
      [.zoneEnter, .zoneExit, .zoneUnmonitored, .zoneMonitored].contains(event.kind)
    else { return nil }
    // A beacon that leaves a zone after it entered another one stays in the other.
    if event.kind == .zoneExit, let zone = before?.zone, !zone.utf8.elementsEqual(event.region.utf8) {
      return nil
    }
    self.init(
      beacon: beacon,
      zone: event.kind == .zoneExit ? nil : event.region,
      isUnmonitored: event.kind == .zoneUnmonitored,
      time: event.time,
      decidedAt: event.decidedAt
    )
  }
}

extension PublishedState.ObserverRecord {
  /// Creates the record after an event about an observer; nil if it is about none.
  package init?(_ event: Event) {
    guard event.kind == .observerOnline || event.kind == .observerOffline,
      case .observer(let observer) = event.subject
    else { return nil }
    self.init(
      observer: observer,
      isUp: event.kind == .observerOnline,
      time: event.time,
      decidedAt: event.decidedAt
    )
  }
}

extension PublishedState.RegionRecord {
  /// Creates the record after an event about a region, given the record before it; nil if the event changes no state.
  package init?(_ event: Event, after before: PublishedState.RegionRecord?) {
    guard event.kind == .regionState, case .region(let transition) = event.detail, !transition.isAnswer else {
      return nil
    }
    let known = LastKnownRegion(transition, at: event.time, after: before.map(LastKnownRegion.init))
    self.init(
      application: event.application,
      region: event.region,
      subject: event.subject,
      state: transition.to,
      lastKnown: known.state,
      enteredAt: known.enteredAt,
      refinement: transition.refinement,
      observer: transition.observer,
      time: event.time,
      decidedAt: event.decidedAt
    )
  }

  fileprivate func isBefore(_ application: String, _ region: String, _ subject: SubjectID) -> Order {
    let names = [(self.application, application), (self.region, region)]
    for (mine, other) in names where !mine.utf8.elementsEqual(other.utf8) {
      return mine.utf8.lexicographicallyPrecedes(other.utf8) ? .before : .after
    }
    return self.subject == subject ? .same : self.subject < subject ? .before : .after
  }
}

extension Array {
  /// Returns the index of an element in a sorted array, or the index at which it would be inserted.
  fileprivate func place(_ order: (Element) -> Order) -> (index: Int, isThere: Bool) {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      switch order(self[middle]) {
      case .same: return (middle, true)
      case .before: low = middle + 1
      case .after: high = middle
      }
    }
    return (low, false)
  }
}

/// The records of regions, zones and observers; those of stays follow only where a ``Restoration`` has any.
extension PublishedState: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: PublishedState {
    PublishedState()
  }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&regions)
    try coder.code(&zones)
    try coder.code(&observers)
  }
}

extension PublishedState.RegionRecord: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: PublishedState.RegionRecord {
    PublishedState.RegionRecord(
      application: "",
      region: "",
      subject: .none,
      state: .unknown,
      lastKnown: .unknown,
      time: .distantPast,
      decidedAt: .distantPast
    )
  }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&application)
    try coder.code(&region)
    try coder.code(&subject)
    try coder.code(&state)
    try coder.code(&lastKnown)
    try coder.code(&enteredAt)
    try coder.code(&refinement)
    try coder.code(&observer)
    try coder.code(&time)
    try coder.code(&decidedAt)
  }
}

extension PublishedState.ZoneRecord: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: PublishedState.ZoneRecord {
    PublishedState.ZoneRecord(beacon: .unread, zone: nil, time: .distantPast, decidedAt: .distantPast)
  }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&beacon)
    try coder.code(&zone)
    try coder.code(&time)
    try coder.code(&decidedAt)
  }
}

extension PublishedState.ObserverRecord: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: PublishedState.ObserverRecord {
    PublishedState.ObserverRecord(
      observer: .eui48(0),
      isUp: false,
      time: .distantPast,
      decidedAt: .distantPast
    )
  }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&observer)
    try coder.code(&isUp)
    try coder.code(&time)
    try coder.code(&decidedAt)
  }
}

/// A region of an application.
package struct RegionKey: Hashable, Comparable, Sendable {
  /// The application.
  package var application: String
  /// The region's identifier.
  package var region: String

  /// Names a region.
  package init(application: String, region: String) {
    self.application = application
    self.region = region
  }

  /// Orders by application, then by region.
  package static func < (left: RegionKey, right: RegionKey) -> Bool {
    (left.application, left.region) < (right.application, right.region)
  }
}

extension PublishedState {
  /// Writes the records of visits and of thresholds, and the beacons that are unmonitored in their zones.
  package func writeStays(to writer: inout FieldWriter) {
    writer.write(UInt32(visits.count))
    for record in visits {
      writer.write(record.subject)
      writer.write(record.visit)
      writer.write(record.decidedAt)
    }
    writer.write(UInt32(occupancies.count))
    for record in occupancies {
      var transition = record.transition
      writer.write(record.zone)
      transition.visitMembers(&writer)
      writer.write(record.decidedAt)
    }
    writer.write(zones.filter(\.isUnmonitored).map(\.beacon))
  }

  /// Reads what ``writeStays(to:)`` wrote; a recording from before zones could be unmonitored ends before them.
  package mutating func readStays(from reader: inout FieldReader) throws(FieldError) {
    for _ in 0..<(try reader.count(ofAtLeast: 8)) {
      let subject = try SubjectID(from: &reader)
      let visit = try VisitDetail(from: &reader)
      visits.append(VisitRecord(subject: subject, visit: visit, decidedAt: try reader.read()))
    }
    for _ in 0..<(try reader.count(ofAtLeast: 8)) {
      let zone = try reader.text()
      var transition = OccupancyTransition.unread
      try transition.visitMembers(&reader)
      occupancies.append(OccupancyRecord(zone: zone, transition: transition, decidedAt: try reader.read()))
    }
    guard reader.remaining > 0 else { return }
    let unmonitored = Set(try reader.list(BeaconID.self))
    for index in zones.indices where unmonitored.contains(zones[index].beacon) {
      zones[index].isUnmonitored = true
    }
  }
}
