public import PharosDocuments

/// The kinds of decision; the order of the cases is the order of events that are equal otherwise.
public enum EventKind: UInt8, CaseIterable, Hashable, Sendable {
  /// The state of a region changed, or was asked for.
  case regionState
  /// A subject entered a region.
  case regionEnter
  /// A subject left a region.
  case regionExit
  /// The server can no longer determine whether a subject is inside a region.
  case regionUnmonitored
  /// A beacon has been unmonitored for longer than its region holds it.
  case regionHoldExceeded
  /// A region was refused because the application holds as many as it may.
  case regionLimitExceeded
  /// The beacons that an observer ranged in the last second.
  case ranging
  /// A beacon left a zone.
  case zoneExit
  /// A beacon came into a zone.
  case zoneEnter
  /// An observer is heard, for the first time or again.
  case observerOnline
  /// An observer has fallen silent for longer than it ever does.
  case observerOffline
  /// An observer restarted.
  case observerRestarted
  /// A beacon reported the state of its battery.
  case beaconBattery
  /// The wall clock of the server was set.
  case clockStepped
  /// An estimated location.
  case fix
  /// A subject began to stay somewhere.
  case visitArrive
  /// A subject ended a stay.
  case visitDepart
  /// The access of an application to a subject's data changed.
  case authorisationChanged
  /// A rule of an application has something to say to people.
  case notification
  /// An observer that the site neither lists nor has accepted was heard for the first time.
  case observerQuarantined
  /// The number of beacons in a zone crossed a threshold.
  case zoneOccupancy
  /// The state of a handset's visual positioning changed.
  case positioningState
  /// A handset should scan its surroundings.
  case scanRequested
  /// The guidance of a subject to its destination changed.
  case guidance
  /// The server can no longer determine whether a beacon is still in its zone.
  case zoneUnmonitored
  /// An observer confirms the zone of a beacon that was unmonitored in it.
  case zoneMonitored
  /// A beacon has been unmonitored in its zone for longer than its regions hold it.
  case zoneHoldExceeded
  /// A region was removed, or replaced by one about something else: what was known about its subjects no longer holds.
  case regionReset
  /// A located subject is outside of all areas of an application, except those about which an event says otherwise.
  case regionsOutside

  /// The groups by which commands select kinds, in the order in which help lists them.
  package enum Group: String, CaseIterable, Sendable {
    /// Enters, exits and what else happens to a region, apart from its states.
    case region
    /// Every state of a region, and of all areas at once.
    case state
    /// Ranging.
    case ranging
    /// Zones.
    case zone
    /// The life of observers.
    case observer
    /// Data of beacons about themselves.
    case beacon
    /// The server.
    case server
    /// Locations.
    case fix
    /// The states of visual positioning, and what it asks for.
    case positioning
    /// Guidance to destinations.
    case guidance
    /// Stays.
    case visit
    /// Access to data.
    case authorisation
    /// Messages to people.
    case notification

    /// The kinds of the group.
    package var kinds: Set<EventKind> { Set(EventKind.allCases.filter { $0.group == self }) }
  }

  /// The significance of an event to people, which lists show as a colour.
  package enum Tone: Sendable {
    /// Something began, or works again.
    case good
    /// Something ended, as such things do.
    case ended
    /// Something is wrong or uncertain.
    case alarming
    /// None.
    case neutral
  }

  /// The CloudEvents type, the group, the word in tables, and the tone.
  private var entry: (type: String, group: Group, word: String, tone: Tone) {
    switch self {
    case .regionState: ("pharos.region.state", .state, "state", .neutral)
    case .regionEnter: ("pharos.region.enter", .region, "enter", .good)
    case .regionExit: ("pharos.region.exit", .region, "exit", .ended)
    case .regionUnmonitored: ("pharos.region.unmonitored", .region, "unmonitored", .alarming)
    case .regionHoldExceeded: ("pharos.region.holdExceeded", .region, "held long", .alarming)
    case .regionLimitExceeded: ("pharos.region.limitExceeded", .region, "refused", .alarming)
    case .regionReset: ("pharos.region.reset", .region, "reset", .neutral)
    case .regionsOutside: ("pharos.regions.outside", .state, "outside", .neutral)
    case .ranging: ("pharos.ranging", .ranging, "ranging", .neutral)
    case .zoneEnter: ("pharos.zone.enter", .zone, "zone enter", .good)
    case .zoneExit: ("pharos.zone.exit", .zone, "zone exit", .ended)
    case .zoneUnmonitored: ("pharos.zone.unmonitored", .zone, "zone unmonitored", .alarming)
    case .zoneMonitored: ("pharos.zone.monitored", .zone, "zone monitored", .good)
    case .zoneHoldExceeded: ("pharos.zone.holdExceeded", .zone, "zone held long", .alarming)
    case .observerOnline: ("pharos.observer.online", .observer, "online", .good)
    case .observerOffline: ("pharos.observer.offline", .observer, "offline", .alarming)
    case .observerRestarted: ("pharos.observer.restarted", .observer, "restarted", .neutral)
    case .observerQuarantined: ("pharos.observer.quarantined", .observer, "quarantined", .alarming)
    case .zoneOccupancy: ("pharos.zone.occupancy", .zone, "occupancy", .neutral)
    case .beaconBattery: ("pharos.beacon.battery", .beacon, "battery", .neutral)
    case .clockStepped: ("pharos.clock.stepped", .server, "clock set", .alarming)
    case .fix: ("pharos.fix", .fix, "fix", .neutral)
    case .positioningState: ("pharos.positioning.state", .positioning, "positioning", .neutral)
    case .scanRequested: ("pharos.scan.requested", .positioning, "scan wanted", .neutral)
    case .guidance: ("pharos.guidance", .guidance, "guidance", .neutral)
    case .visitArrive: ("pharos.visit.arrive", .visit, "arrive", .good)
    case .visitDepart: ("pharos.visit.depart", .visit, "depart", .ended)
    case .authorisationChanged: ("pharos.authorisation.changed", .authorisation, "authorised", .neutral)
    case .notification: ("pharos.notification", .notification, "notify", .neutral)
    }
  }

  /// The CloudEvents type.
  public var type: String { entry.type }
  /// The group that the kind belongs to.
  package var group: Group { entry.group }
  /// The kind in a word or two.
  package var word: String { entry.word }
  /// The significance to people.
  package var tone: Tone { entry.tone }

  /// The kind of a CloudEvents type, with or without `pharos.` before it; nil where there is none.
  package init?(type: String) {
    guard let kind = EventKind.allCases.first(where: { $0.type == type || $0.type == "pharos.\(type)" })
    else { return nil }
    self = kind
  }

  /// The kinds that a text names: the CloudEvents type of one, with or without `pharos.` before it, or a group of them; nil
  /// where there are none.
  package static func named(_ text: String) -> Set<EventKind>? {
    EventKind(type: text).map { [$0] } ?? Group(rawValue: text)?.kinds
  }

  /// The texts that name kinds: the types without `pharos.`, then the groups.
  package static var names: [String] {
    let types = allCases.map { String($0.type.dropFirst("pharos.".count)) }
    return types + Group.allCases.map(\.rawValue).filter { !types.contains($0) }
  }

  /// Indicates whether a beacon changed zones; a beacon is in one zone at a time.
  package var isZone: Bool { self == .zoneExit || self == .zoneEnter }

  /// The member of an event's `data` that names its region, zone or place of a visit.
  var regionKey: StaticString { group == .zone ? "zone" : "region" }

  /// Indicates whether the journal keeps events of the kind; it omits those that come once a second for each beacon.
  package var isJournalled: Bool { self != .ranging && self != .fix }
}

/// The details of a decision, by its kind.
///
/// Indirect: an event passes through many hands on its way to the subscribers, and each copy costs a reference.
public indirect enum EventDetail: Hashable, Sendable {
  /// A region's state changed, or was asked for.
  case region(RegionTransition)
  /// A region was refused: the limit, and the region that did not fit.
  case regionLimit(limit: Int, refused: String)
  /// A region was removed or replaced.
  case regionReset(RegionReset)
  /// The beacons ranged in the last second, nearest first, unknown last.
  case ranging(constraint: BeaconConstraint, beacons: [RangedReading])
  /// A beacon changed zones.
  case zone(ZoneTransition)
  /// An observer came online, went offline or restarted.
  case observer(ObserverTransition)
  /// A beacon's battery.
  case battery(millivolts: UInt16, observer: ObserverID)
  /// The wall clock was set by so much.
  case clockStep(TimeSpan)
  /// The access of an application to a subject's data changed.
  case authorisation(AuthorisationTransition)
  /// A message from a rule of an application, for people to read.
  case notification(NotificationDetail)
  /// The estimated location of a subject.
  case fix(FixDetail)
  /// The state of a handset's visual positioning changed.
  case positioning(PositioningTransition)
  /// A handset should scan its surroundings.
  case scanRequest(ScanRequest)
  /// The guidance of a subject to its destination changed.
  case guidance(GuidanceDetail)
  /// A stay of a subject.
  case visit(VisitDetail)
  /// The number of beacons in a zone crossed a threshold.
  case occupancy(OccupancyTransition)

  /// The data of the case, which declares all that is written and said of it.
  private var data: any EventData {
    switch self {
    case .region(let data): data
    case .regionLimit(let limit, let refused): RegionLimit(limit: limit, refused: refused)
    case .regionReset(let reason): ResetRegion(reason: reason)
    case .ranging(let constraint, let beacons): RangedBeacons(constraint: constraint, beacons: beacons)
    case .zone(let data): data
    case .observer(let data): data
    case .battery(let millivolts, let observer): Battery(millivolts: millivolts, observer: observer)
    case .clockStep(let step): ClockStep(step: step)
    case .authorisation(let data): data
    case .notification(let data): data
    case .fix(let data): data
    case .positioning(let data): data
    case .scanRequest(let data): data
    case .guidance(let guidance): GuidanceData(guidance: guidance)
    case .visit(let data): data
    case .occupancy(let data): data
    }
  }

  /// The types of data; the place of a type is its number in records.
  private static let types: [any EventData.Type] = [
    RegionTransition.self, RegionLimit.self, RangedBeacons.self, ZoneTransition.self, ObserverTransition.self,
    Battery.self, ClockStep.self, AuthorisationTransition.self, EarlierNotification.self, EarlierFix.self,
    PositioningTransition.self, ScanRequest.self, EarlierGuidance.self,
    VisitDetail.self, OccupancyTransition.self, ResetRegion.self, FixDetail.self, NotificationDetail.self,
    GuidanceData.self,
  ]
}

extension EventDetail {
  /// Writes the members of an event's `data`.
  func write(to json: inout JSONText, endingAt time: Timestamp) { data.write(to: &json, endingAt: time) }

  /// Writes a byte for the type of the data, then the data.
  func write(to record: inout RecordWriter) {
    let data = data
    guard let tag = EventDetail.types.firstIndex(where: { $0 == type(of: data) }) else {
      preconditionFailure("\(type(of: data)) is not among the types of data")
    }
    record.byte(UInt8(tag))
    data.write(to: &record)
  }

  /// Reads what was written.
  init(from record: inout RecordReader) throws(FieldError) {
    let tag = try record.byte()
    guard Int(tag) < EventDetail.types.count else {
      throw record.failure(.unknownTag(field: "an event's detail", tag: tag))
    }
    self = try EventDetail.types[Int(tag)].init(from: &record).detail
  }

  /// Returns the detail behind a walk through its members.
  func walked(by walk: inout MemberWalk) -> EventDetail {
    var data = data
    data.visit(&walk)
    return data.detail
  }

  /// Returns the detail in a few words, for a line of a table.
  package func summary(of event: Event) -> String { data.summary(of: event) }

  /// The reason for the decision, sentence by sentence; empty where it takes a narrator, who knows what else was heard.
  package func sentences(in application: String, _ names: SiteNames) -> [String] {
    data.sentences(in: application, names)
  }
}

/// The data of events of some kind: the members, and the words for people.
protocol EventData: Sendable {
  /// The detail that carries the data.
  var detail: EventDetail { get }
  /// Writes the members of JSON's `data`, of an event at a time.
  func write(to json: inout JSONText, endingAt time: Timestamp)
  /// Writes the data into a record.
  func write(to record: inout RecordWriter)
  /// Reads the data of a record.
  init(from record: inout RecordReader) throws(FieldError)
  /// Lets a walk change the members.
  mutating func visit(_ walk: inout MemberWalk)
  /// Returns the data in a few words, for a line of a table.
  func summary(of event: Event) -> String
  /// Returns the reason for the decision, sentence by sentence; empty where only a narrator knows it.
  func sentences(in application: String, _ names: SiteNames) -> [String]
}

extension EventData {
  mutating func visit(_: inout MemberWalk) {}
  func sentences(in _: String, _: SiteNames) -> [String] { [] }
}

/// What follows from a list of members.
extension EventData where Self: EventMembers {
  func write(to json: inout JSONText, endingAt _: Timestamp) {
    var copy = self
    copy.visitMembers(&json)
  }
  func write(to record: inout RecordWriter) { record.write(self) }
  init(from record: inout RecordReader) throws(FieldError) { self = try record.part() }
  mutating func visit(_ walk: inout MemberWalk) { visitMembers(&walk) }
}

/// What follows from a list of fields: the record.
extension EventData where Self: FieldCodable {
  func write(to record: inout RecordWriter) { record.value(self) }
  init(from record: inout RecordReader) throws(FieldError) { self = try record.value(Self.self) }
}

/// A refused region.
private struct RegionLimit {
  var limit: Int
  var refused: String
}

extension RegionLimit: EventData {
  var detail: EventDetail { .regionLimit(limit: limit, refused: refused) }

  func write(to json: inout JSONText, endingAt _: Timestamp) {
    json.member("limit", limit)
    json.member("refused", refused)
  }

  func write(to record: inout RecordWriter) {
    record.signed(Int64(limit))
    record.text(refused)
  }

  init(from record: inout RecordReader) throws(FieldError) {
    self.init(limit: Int(try record.signed()), refused: try record.text())
  }

  func summary(of _: Event) -> String { "limit \(limit): \(refused)" }

  func sentences(in application: String, _: SiteNames) -> [String] {
    ["\(application) holds \(limit) regions, the maximum, so \(refused) was refused."]
  }
}

/// The reason for which what was known about the subjects of a region no longer holds.
public enum RegionReset: String, CaseIterable, Hashable, Sendable {
  /// A region about something else, or with another policy, took its place; nothing is known about its subjects yet.
  case replaced
  /// The region is no longer monitored.
  case removed
}

extension RegionReset: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a reason for a reset" }
}

/// A region about whose subjects nothing is known.
private struct ResetRegion: EventData, EventMembers {
  var reason: RegionReset

  static let unread = ResetRegion(reason: .replaced)
  var detail: EventDetail { .regionReset(reason) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("reason", &reason, .behind)
  }

  func summary(of _: Event) -> String { reason.rawValue }

  func sentences(in application: String, _: SiteNames) -> [String] {
    switch reason {
    case .replaced:
      [
        "\(application) monitors something else under this identifier now, so nothing is known about its subjects."
      ]
    case .removed: ["\(application) no longer monitors it."]
    }
  }
}

/// The beacons that an observer ranged.
private struct RangedBeacons {
  var constraint: BeaconConstraint
  var beacons: [RangedReading]
}

extension RangedBeacons: EventData {
  var detail: EventDetail { .ranging(constraint: constraint, beacons: beacons) }

  func write(to json: inout JSONText, endingAt _: Timestamp) {
    json.member("constraint", constraint.description)
    json.array("beacons", of: beacons)
  }

  func write(to record: inout RecordWriter) {
    record.value(constraint)
    record.write(beacons)
  }

  init(from record: inout RecordReader) throws(FieldError) {
    self.init(constraint: try record.value(BeaconConstraint.self), beacons: try record.parts())
  }

  /// A list of nothing but hidden beacons would show that there are any.
  mutating func visit(_ walk: inout MemberWalk) {
    let isEmpty = beacons.isEmpty
    walk.parts("beacons", &beacons)
    if beacons.isEmpty, !isEmpty { walk.hide() }
  }

  /// Nothing: a table has a line for each beacon.
  func summary(of _: Event) -> String { "" }

  func sentences(in _: String, _ names: SiteNames) -> [String] {
    guard let nearest = beacons.first else { return ["No beacon is in range."] }
    let name = names.name(of: .beacon(nearest.beacon))
    let others = beacons.count - 1
    let more = others > 0 ? ", and \(Wording.count(others, "more beacon"))" : ""
    guard nearest.accuracy >= 0 else { return ["\(name) is not heard at present\(more)."] }
    let place = "\(nearest.proximity.rawValue), about \(Wording.meters(nearest.accuracy)) away"
    return ["\(name) is \(place) at \(Wording.level(nearest.rssi))\(more)."]
  }
}

/// The battery of a beacon, as an observer heard it.
private struct Battery: EventData, EventMembers {
  var millivolts: UInt16
  var observer: ObserverID

  static let unread = Battery(millivolts: 0, observer: .eui48(0))
  var detail: EventDetail { .battery(millivolts: millivolts, observer: observer) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("millivolts", &millivolts)
    try coder.member("observer", &observer)
  }

  func summary(of _: Event) -> String { "\(millivolts) mV" }

  func sentences(in _: String, _ names: SiteNames) -> [String] {
    let volts = Wording.decimal(Double(millivolts) / 1_000, places: 2)
    return ["Its battery has \(volts) V, as \(names.name(of: .observer(observer))) heard."]
  }
}

/// A step of the server's clock.
private struct ClockStep: EventData, EventMembers {
  var step: TimeSpan

  static let unread = ClockStep(step: .zero)
  var detail: EventDetail { .clockStep(step) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("step", &step, decimals: 9)
  }

  func summary(of _: Event) -> String { "by \(step.written)" }

  func sentences(in _: String, _: SiteNames) -> [String] {
    [
      "The server's clock was set by \(Wording.span(step)). Steps of the clock decide nothing; later times follow it."
    ]
  }
}

/// A change in an observer's life.
public struct ObserverTransition: Hashable, Sendable {
  /// The time at which the observer was last heard before, or nil if it never was.
  public var lastHeard: Timestamp?
  /// The silence that its learned gaps allow.
  public var allowedGap: TimeSpan?
  /// Its boot id, if it states one.
  public var bootID: UInt32?

  /// Makes a transition.
  public init(lastHeard: Timestamp? = nil, allowedGap: TimeSpan? = nil, bootID: UInt32? = nil) {
    self.lastHeard = lastHeard
    self.allowedGap = allowedGap
    self.bootID = bootID
  }
}

extension ObserverTransition: EventData, EventMembers {
  static var unread: ObserverTransition { ObserverTransition() }
  var detail: EventDetail { .observer(self) }

  func summary(of _: Event) -> String { bootID.map { "boot \($0)" } ?? "" }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("lastHeard", &lastHeard)
    try coder.member("allowedGap", &allowedGap)
    try coder.member("bootId", &bootID)
  }
}

/// One beacon of a ranging event.
public struct RangedReading: Hashable, Sendable {
  /// The proximity of a beacon.
  public enum Proximity: String, CaseIterable, Hashable, Sendable {
    /// Below half a metre.
    case immediate
    /// Below three metres.
    case near
    /// Farther.
    case far
    /// Not determined.
    case unknown
  }

  /// The beacon.
  public var beacon: BeaconID
  /// The mean of the samples since the last report in dBm, or 0 if there were none.
  public var rssi: Double
  /// The distance in metres, or −1 if undetermined.
  public var accuracy: Double
  /// The metres around the distance that hold the true one in 68 of 100 cases, or −1 if undetermined.
  public var deviation: Double
  /// The proximity.
  public var proximity: Proximity
  /// The number of samples since the last report.
  public var samples: Int

  /// Makes a reading.
  public init(
    beacon: BeaconID,
    rssi: Double,
    accuracy: Double,
    deviation: Double,
    proximity: Proximity,
    samples: Int
  ) {
    self.beacon = beacon
    self.rssi = rssi
    self.accuracy = accuracy
    self.deviation = deviation
    self.proximity = proximity
    self.samples = samples
  }
}

/// The identity in the words of `CLBeacon`.
extension RangedReading {
  /// The proximity UUID, if the beacon has one.
  public var uuid: UUID128? { beacon.uuid }
  /// The major number, if the beacon has one.
  public var major: UInt16? { beacon.major }
  /// The minor number, if the beacon has one.
  public var minor: UInt16? { beacon.minor }
}

extension RangedReading: EventMembers {
  static var unread: RangedReading {
    RangedReading(beacon: .unread, rssi: 0, accuracy: 0, deviation: 0, proximity: .unknown, samples: 0)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("beacon", &beacon)
    try coder.choice("proximity", &proximity, .behind)
    try coder.member("rssi", &rssi, decimals: 1)
    try coder.member("accuracy", &accuracy, decimals: 2)
    try coder.member("deviation", &deviation, decimals: 2)
    try coder.member("samples", &samples)
  }
}

/// The access of an application to a subject's data, in Core Location's terms.
public enum AuthorisationState: UInt8, CaseIterable, Hashable, Sendable {
  /// No decision has been made yet: the application learns nothing.
  case notDetermined
  /// Forbidden by policy, which the subject cannot change: the application learns nothing.
  case restricted
  /// Forbidden by the subject: the application learns nothing.
  case denied
  /// Delivered while the application has a live stream open, and to that stream alone.
  case whenInUse
  /// Delivered at any time: to streams, webhooks and the journal.
  case always

  /// The state as documents and events spell it.
  public var name: String {
    switch self {
    case .notDetermined: "notDetermined"
    case .restricted: "restricted"
    case .denied: "denied"
    case .whenInUse: "whenInUse"
    case .always: "always"
    }
  }

  /// Reads a state's name, or nil if there is none of that name.
  public init?(name: String) {
    guard let state = AuthorisationState.allCases.first(where: { $0.name == name }) else { return nil }
    self = state
  }
}

/// A change of what an application may learn about a subject.
public struct AuthorisationTransition: Hashable, Sendable {
  /// The access before.
  public var from: AuthorisationState
  /// The access now.
  public var to: AuthorisationState
  /// The purpose that the application states for the access; empty where it was never asked for one.
  public var purpose: String

  /// Makes a transition.
  public init(from: AuthorisationState, to: AuthorisationState, purpose: String) {
    self.from = from
    self.to = to
    self.purpose = purpose
  }
}

extension AuthorisationState: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "an authorisation" }
}

extension AuthorisationTransition: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      from: try coder.field(value().from),
      to: try coder.field(value().to),
      purpose: try coder.field(value().purpose)
    )
  }
}

extension AuthorisationTransition: EventData {
  var detail: EventDetail { .authorisation(self) }

  func write(to json: inout JSONText, endingAt _: Timestamp) {
    json.member("from", from.name)
    json.member("to", to.name)
    json.member("purpose", ifPresent: purpose.isEmpty ? nil : purpose)
  }

  func summary(of _: Event) -> String { "\(from.name) > \(to.name)" }

  func sentences(in application: String, _: SiteNames) -> [String] {
    ["\(application) may now learn of it: \(to.name). Before, this was \(from.name)."]
  }
}

/// A message from a rule of an application, for people to read: a hello, a goodbye, a reminder.
public struct NotificationDetail: Hashable, Sendable {
  /// The occasion that a rule waits for.
  public enum Occasion: UInt8, CaseIterable, Hashable, Sendable {
    /// A subject enters a region.
    case enter
    /// A subject leaves a region.
    case exit
    /// A beacon comes into a zone.
    case zoneEnter
    /// A beacon leaves a zone.
    case zoneExit
    /// A subject comes near a beacon.
    case proximity
    /// A subject begins to stay somewhere.
    case visitArrive
    /// A subject ends a stay.
    case visitDepart
    /// The battery of a beacon is low.
    case lowBattery
    /// An observer goes offline.
    case offline
    /// A subject has to leave now, or misses an appointment.
    case deadline

    /// The occasion as documents and events spell it.
    public var name: String {
      switch self {
      case .enter, .zoneEnter: "enter"
      case .exit, .zoneExit: "exit"
      case .proximity: "proximity"
      case .visitArrive: "arrive"
      case .visitDepart: "depart"
      case .lowBattery: "lowBattery"
      case .offline: "offline"
      case .deadline: "deadline"
      }
    }

    /// Indicates whether it is about a zone, and not a region.
    public var isAboutZone: Bool { self == .zoneEnter || self == .zoneExit }
  }

  /// The identifier of the rule, which is unique within its application.
  public var rule: String
  /// The occasion that caused the notification.
  public var occasion: Occasion
  /// The text, ready to be shown.
  public var text: String
  /// The event that caused it.
  public var cause: EventID
  /// The line above the text, or nil if there is none.
  public var title: String?
  /// The address of a page about it, or nil if there is none.
  public var link: String?
  /// The address of a picture, or nil if there is none.
  public var picture: String?
  /// The beacon that the occasion is about besides the subject, or nil if there is none.
  public var beacon: BeaconID?
  /// The time of the appointment, or nil if it is about none.
  public var deadline: Timestamp?

  /// Makes a notification.
  public init(rule: String, occasion: Occasion, text: String, cause: EventID) {
    self.rule = rule
    self.occasion = occasion
    self.text = text
    self.cause = cause
  }
}

extension NotificationDetail.Occasion: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a notification's occasion" }
}

extension NotificationDetail: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    var detail = try coded(earlier: value, by: &coder)
    detail.title = try coder.field(value().title)
    detail.link = try coder.field(value().link)
    detail.picture = try coder.field(value().picture)
    detail.beacon = try coder.field(value().beacon)
    detail.deadline = try coder.field(value().deadline)
    return detail
  }

  /// Hands the fields to a coder that records had before there were titles.
  fileprivate static func coded<C: FieldCoder>(
    earlier value: () -> Self,
    by coder: inout C
  ) throws(C.Failure) -> Self {
    Self(
      rule: try coder.field(value().rule),
      occasion: try coder.field(value().occasion),
      text: try coder.field(value().text),
      cause: try coder.field(value().cause)
    )
  }
}

extension NotificationDetail: EventData {
  var detail: EventDetail { .notification(self) }

  func write(to json: inout JSONText, endingAt _: Timestamp) {
    json.member("rule", rule)
    json.member("on", occasion.name)
    json.member("title", ifPresent: title)
    json.member("text", text)
    json.member("link", ifPresent: link)
    json.member("picture", ifPresent: picture)
    if let beacon {
      json.member("beacon", beacon.description)
      json.member("beaconName", ifPresent: json.siteNames?.given(to: .beacon(beacon)))
    }
    json.member("deadline", ifPresent: deadline?.rfc3339)
    json.member("cause", cause.description)
  }

  mutating func visit(_ walk: inout MemberWalk) { walk.member("beacon", &beacon) }

  func summary(of _: Event) -> String { text }

  func sentences(in _: String, _: SiteNames) -> [String] { ["Sent because of rule \(rule): \(text)"] }
}

/// A notification of a record that was made before notifications had titles.
private struct EarlierNotification: EventData, FieldRecord {
  private var notification: NotificationDetail
  var detail: EventDetail { .notification(notification) }

  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(notification: try NotificationDetail.coded(earlier: { value().notification }, by: &coder))
  }

  func write(to json: inout JSONText, endingAt time: Timestamp) {
    notification.write(to: &json, endingAt: time)
  }
  func summary(of event: Event) -> String { notification.summary(of: event) }
}

extension RangedReading.Proximity: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a proximity" }
}
