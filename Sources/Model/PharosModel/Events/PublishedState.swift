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
  /// The regions that were reset since the state that this one is newer than, in order: they begin again, whatever that state
  /// knows of their subjects.
  package var resets: [RegionKey] = []

  /// Creates an empty state.
  public init() {}

  /// Indicates whether there are no records.
  public var isEmpty: Bool { regions.isEmpty && zones.isEmpty && observers.isEmpty && hasNoStays }

  /// Indicates whether there are no records of visits and of thresholds, no beacon is unmonitored in its zone, and no region was
  /// reset.
  package var hasNoStays: Bool {
    visits.isEmpty && occupancies.isEmpty && resets.isEmpty && !zones.contains(where: \.isUnmonitored)
  }

  /// The state of a subject relative to a region.
  ///
  /// A record with an empty identifier says that the subject is outside of all areas of the application of which there is no
  /// record of their own.
  public struct RegionRecord: Hashable, Sendable {
    /// The application that the region belongs to.
    public var application: String
    /// The region's identifier, or empty.
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

    /// Creates a record.
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

    /// Creates a record.
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

    /// Creates a record.
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
  /// All that keeps records asks it: ``StateTable`` and the rows of the journal.
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
      case (.regionState, _, .region(let transition)), (.regionsOutside, _, .region(let transition)):
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

  /// Returns a site without the regions that were reset.
  package func withoutResets(_ site: Site) -> Site {
    var site = site
    let reset = Set(resets)
    for index in site.applications.indices where !reset.isEmpty {
      let application = site.applications[index].identifier
      site.applications[index].regions.removeAll {
        reset.contains(RegionKey(application: application, region: $0.identifier))
      }
    }
    return site
  }

  /// Puts the records into order.
  public mutating func sort() {
    regions.sort()
    zones.sort { $0.beacon < $1.beacon }
    observers.sort { $0.observer < $1.observer }
    visits.sort { $0.subject < $1.subject }
    resets.sort()
    occupancies.sort { left, right in
      guard left.zone.utf8.elementsEqual(right.zone.utf8) else {
        return left.zone.utf8.lexicographicallyPrecedes(right.zone.utf8)
      }
      let (first, second) = (left.transition.threshold, right.transition.threshold)
      return (first.above, first.below) < (second.above, second.below)
    }
  }
}

extension PublishedState.RegionRecord {
  /// Restores a machine to what the record says.
  package func restore(_ machine: inout RegionMachine) {
    machine.restore(state, lastKnown: lastKnown, enteredAt: enteredAt, at: time)
  }

  /// Creates the record after an event, given the record before it.
  fileprivate init(_ event: Event, _ transition: RegionTransition, after before: PublishedState.RegionRecord?)
  {
    var machine = RegionMachine(assuming: .unknown, since: .distantPast)
    before?.restore(&machine)
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
}

extension PublishedState.RegionRecord: Comparable {
  /// Orders by application, region and subject.
  public static func < (left: Self, right: Self) -> Bool {
    left.key == right.key ? left.subject < right.subject : left.key < right.key
  }

  /// The region.
  package var key: RegionKey { RegionKey(application: application, region: region) }

  /// Indicates whether it is about all areas of which there is no record of their own.
  package var isAboutOthers: Bool { region.isEmpty }
}

/// The records of regions, zones and observers; those of stays follow only where a ``Restoration`` has any.
extension PublishedState: FieldStruct {
  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&regions)
    try coder.code(&zones)
    try coder.code(&observers)
  }
}

extension PublishedState.RegionRecord: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      application: try coder.field(value().application),
      region: try coder.field(value().region),
      subject: try coder.field(value().subject),
      state: try coder.field(value().state),
      lastKnown: try coder.field(value().lastKnown),
      enteredAt: try coder.field(value().enteredAt),
      refinement: try coder.field(value().refinement),
      observer: try coder.field(value().observer),
      time: try coder.field(value().time),
      decidedAt: try coder.field(value().decidedAt)
    )
  }
}

extension PublishedState.ZoneRecord: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      beacon: try coder.field(value().beacon),
      zone: try coder.field(value().zone),
      time: try coder.field(value().time),
      decidedAt: try coder.field(value().decidedAt)
    )
  }
}

extension PublishedState.ObserverRecord: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      observer: try coder.field(value().observer),
      isUp: try coder.field(value().isUp),
      time: try coder.field(value().time),
      decidedAt: try coder.field(value().decidedAt)
    )
  }
}

/// A region of an application; names are compared byte by byte, so that two that merely look alike are two.
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

  /// The key of the records about all areas of the application of which there is no record of their own.
  package var others: RegionKey { RegionKey(application: application, region: "") }

  package static func == (left: RegionKey, right: RegionKey) -> Bool {
    left.application.utf8.elementsEqual(right.application.utf8)
      && left.region.utf8.elementsEqual(right.region.utf8)
  }

  /// Orders by application, then by region.
  package static func < (left: RegionKey, right: RegionKey) -> Bool {
    guard left.application.utf8.elementsEqual(right.application.utf8) else {
      return left.application.utf8.lexicographicallyPrecedes(right.application.utf8)
    }
    return left.region.utf8.lexicographicallyPrecedes(right.region.utf8)
  }
}

extension PublishedState {
  /// Hands the records of visits and of thresholds to a coder, the beacons that are unmonitored in their zones, and the regions
  /// that were reset; a recording from before zones could be unmonitored ends before them.
  package mutating func visitStays<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&visits)
    try coder.code(&occupancies)
    guard coder.hasMore(true) else { return }
    var unmonitored = zones.filter(\.isUnmonitored).map(\.beacon)
    try coder.code(&unmonitored)
    if Coder.isReader {
      let unmonitored = Set(unmonitored)
      for index in zones.indices where unmonitored.contains(zones[index].beacon) {
        zones[index].isUnmonitored = true
      }
    }
    var place = 0
    while coder.hasMore(place < resets.count) {
      let key = RegionKey(
        application: try coder.field(resets[place].application),
        region: try coder.field(resets[place].region)
      )
      if Coder.isReader { resets.append(key) }
      place += 1
    }
  }
}

extension PublishedState.VisitRecord: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      subject: try coder.field(value().subject),
      visit: try coder.field(value().visit),
      decidedAt: try coder.field(value().decidedAt)
    )
  }
}

extension PublishedState.OccupancyRecord: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let zone = try coder.field(value().zone)
    let transition = OccupancyTransition(
      direction: try coder.field(value().transition.direction),
      count: try coder.field(value().transition.count),
      threshold: OccupancyThreshold(
        above: try coder.field(value().transition.threshold.above),
        below: try coder.field(value().transition.threshold.below)
      )
    )
    return Self(zone: zone, transition: transition, decidedAt: try coder.field(value().decidedAt))
  }
}
