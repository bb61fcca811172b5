public import PharosDocuments

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
  /// The record that an event leaves behind: the one reducer from events to what is known.
  ///
  /// All that keeps records asks it: ``PublishedState``, the rows of the journal, and what a broker retains.
  package enum Record: Hashable, Sendable {
    case region(RegionRecord)
    case zone(ZoneRecord)
    case observer(ObserverRecord)
    case visit(VisitRecord)
    case occupancy(OccupancyRecord)
    /// The records of the region are no longer valid.
    case reset(RegionKey)

    /// Creates the record after an event; nil if the event changes nothing (an answer, an enter, a battery).
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - region: returns the record of the event's region and subject before it.
    ///   - zone: returns the record of a beacon's zone before it.
    /// - Throws: the error of `region` or `zone`.
    package init?<Failure: Error>(
      _ event: Event,
      region: () throws(Failure) -> RegionRecord?,
      zone: (BeaconID) throws(Failure) -> ZoneRecord?
    ) throws(Failure) {
      switch (event.kind, event.subject, event.detail) {
      case (.regionState, _, .region(let transition)):
        guard !transition.isAnswer else { return nil }
        self = .region(RegionRecord(event, transition, after: try region()))
      case (.zoneExit, .beacon(let beacon), _):
        // A beacon that leaves a zone after it entered another one stays in the other.
        if let zone = try zone(beacon)?.zone, !zone.utf8.elementsEqual(event.region.utf8) { return nil }
        self = .zone(ZoneRecord(beacon: beacon, zone: nil, time: event.time, decidedAt: event.decidedAt))
      case (.zoneEnter, .beacon(let beacon), _), (.zoneUnmonitored, .beacon(let beacon), _),
        (.zoneMonitored, .beacon(let beacon), _):
        self = .zone(
          ZoneRecord(
            beacon: beacon,
            zone: event.region,
            isUnmonitored: event.kind == .zoneUnmonitored,
            time: event.time,
            decidedAt: event.decidedAt
          )
        )
      case (.observerOnline, .observer(let observer), _), (.observerOffline, .observer(let observer), _):
        self = .observer(
          ObserverRecord(
            observer: observer,
            isUp: event.kind == .observerOnline,
            time: event.time,
            decidedAt: event.decidedAt
          )
        )
      case (_, _, .regionReset):
        self = .reset(RegionKey(application: event.application, region: event.region))
      case (_, _, .visit(let visit)):
        self = .visit(VisitRecord(subject: event.subject, visit: visit, decidedAt: event.decidedAt))
      case (_, _, .occupancy(let transition)):
        self = .occupancy(
          OccupancyRecord(zone: event.region, transition: transition, decidedAt: event.decidedAt)
        )
      default: return nil
      }
    }
  }

  /// Takes an event into account.
  ///
  /// - Complexity: logarithmic in the number of records where there is a record already, linear otherwise.
  public mutating func note(_ event: Event) {
    let record = Record(
      event,
      region: { region(application: event.application, region: event.region, subject: event.subject) },
      zone: zone(of:)
    )
    switch record {
    case .region(let record):
      regions.put(record) { $0.isBefore(record.application, record.region, record.subject) }
    case .zone(let record): zones.put(record) { $0.order(record.beacon) }
    case .observer(let record):
      observers.put(record) {
        $0.observer < record.observer ? .before : $0.observer == record.observer ? .same : .after
      }
    case .visit(let record):
      visits.put(record) {
        $0.subject < record.subject ? .before : $0.subject == record.subject ? .same : .after
      }
    case .occupancy(let record):
      occupancies.put(record) { $0.order(record.zone, record.transition.threshold) }
    case .reset(let key):
      regions.removeAll { $0.application == key.application && $0.region == key.region }
    case nil: break
    }
  }

  /// The record of a beacon's zone, if there is one.
  public func zone(of beacon: BeaconID) -> ZoneRecord? {
    let (index, isThere) = zones.place { $0.order(beacon) }
    return isThere ? zones[index] : nil
  }

  /// The word about a region and a subject, if there is one.
  public func region(application: String, region: String, subject: SubjectID) -> RegionRecord? {
    let (index, isThere) = regions.place { $0.isBefore(application, region, subject) }
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

extension PublishedState.ZoneRecord {
  fileprivate func order(_ beacon: BeaconID) -> Order {
    self.beacon < beacon ? .before : self.beacon == beacon ? .same : .after
  }
}

extension PublishedState.RegionRecord {
  /// Creates the record after an event, given the record before it.
  fileprivate init(_ event: Event, _ transition: RegionTransition, after before: PublishedState.RegionRecord?)
  {
    var machine = RegionMachine(assuming: .unknown, since: .distantPast)
    if let before { machine.restore(before) }
    machine.follow(transition, at: event.time)
    self.init(
      application: event.application,
      region: event.region,
      subject: event.subject,
      state: machine.state,
      lastKnown: machine.lastKnown,
      enteredAt: machine.enteredAt,
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

  /// Replaces an element of a sorted array, or inserts it.
  fileprivate mutating func put(_ element: Element, _ order: (Element) -> Order) {
    let (index, isThere) = place(order)
    if isThere { self[index] = element } else { insert(element, at: index) }
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
