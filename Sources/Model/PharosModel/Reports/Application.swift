public import PharosDocuments

/// A client of Pharos: its regions, what it ranges, and how many regions it may hold.
public struct Application: Hashable, Sendable {
  /// The application's identifier.
  public var identifier: String
  /// The regions it monitors, each identifier once.
  public var regions: [Region]
  /// The beacons that it ranges; there is no limit.
  public var ranging: [RangingRequest]
  /// A tree of regions of any size, of which the most relevant are monitored for each subject.
  public var rotation: [RegionNode]
  /// The largest number of regions that it may hold.
  public var regionLimit: Int

  /// Core Location's limit: 20 regions for each application.
  ///
  /// - Source: Apple, Region Monitoring and iBeacon, Location and Maps Programming Guide.
  public static let defaultRegionLimit = 20
  /// The longest purpose of an application, a text that a person reads before granting an authorisation.
  ///
  /// - Units: Unicode scalars, as `maxLength` of JSON Schema counts.
  package static let maximumPurpose = 1_000

  /// Makes an application.
  public init(
    identifier: String,
    regions: [Region] = [],
    ranging: [RangingRequest] = [],
    rotation: [RegionNode] = [],
    regionLimit: Int = Application.defaultRegionLimit
  ) {
    self.identifier = identifier
    self.regions = regions
    self.ranging = ranging
    self.rotation = rotation
    self.regionLimit = regionLimit
  }

  /// Returns whether the application has a region, in its list or its rotation.
  package func hasRegion(_ identifier: String) -> Bool {
    (regions + rotation.flatMap(\.allRegions)).contains { $0.identifier == identifier }
  }

  /// Returns how many further regions an application may hold, or, below 0, how many it holds too many.
  ///
  /// This is the one rule of the limit. A recording may hold any limit; one below 0 counts as 0.
  package static func room(limit: Int, holding count: Int) -> Int { max(0, limit) - count }
}

/// Beacons that an application wants ranged once a second.
public struct RangingRequest: Hashable, Sendable {
  /// The beacons to range.
  public var constraint: BeaconConstraint
  /// Indicates whether the device address is part of a beacon's identity here (`key: mac`).
  public var keyedByAddress: Bool
  /// Indicates whether to range only while a region of the same application with the same constraint is inside.
  public var whileInside: Bool

  /// Makes a request.
  public init(constraint: BeaconConstraint, keyedByAddress: Bool = false, whileInside: Bool = false) {
    self.constraint = constraint
    self.keyedByAddress = keyedByAddress
    self.whileInside = whileInside
  }
}

/// A node of a rotation tree (venue, floor, exhibit): a region and those that lie within it.
public struct RegionNode: Hashable, Sendable {
  /// The region of this node.
  public var region: Region
  /// The regions within it, the order being the tie-break of relevance.
  public var children: [RegionNode]

  /// Makes a node.
  public init(region: Region, children: [RegionNode] = []) {
    self.region = region
    self.children = children
  }

  /// The regions of the node and of all below it, parents before children.
  package var allRegions: [Region] { [region] + children.flatMap(\.allRegions) }
}

/// An application's name for a set of beacons or an area of the Earth, with the rules for being inside.
public struct Region: Hashable, Sendable {
  /// What a region is about.
  public enum Condition: Hashable, Sendable {
    /// The subject hears these beacons, or is one of them and is heard.
    case beacons(BeaconConstraint)
    /// The subject is located within an area.
    indirect case geofence(Geofence)
  }

  /// The kind of subject that a region is about.
  public enum Subject: Hashable, Sendable {
    /// An observer is inside when it hears any matching beacon, as a handset is for Core Location, or is in the area.
    case observer
    /// A beacon is inside when any of these observers hears it; nil means all observers. A geofence lists none.
    case beacon(observers: [ObserverID]?)
  }

  /// The application's name for it; a region with the same identifier replaces this one.
  public var identifier: String
  /// The beacons or the area that it is about.
  public var condition: Condition
  /// The kind of subject that it is about.
  public var subject: Subject
  /// Indicates whether the device address is part of a beacon's identity here (`key: mac`).
  public var keyedByAddress: Bool
  /// Indicates whether an entry produces an enter event.
  public var notifyOnEntry: Bool
  /// Indicates whether an exit produces an exit event.
  public var notifyOnExit: Bool
  /// Indicates whether a display-on report while inside produces a state event.
  public var notifyEntryStateOnDisplay: Bool
  /// The rules for the presence and the absence of a beacon.
  public var presence: PresencePolicy
  /// The time for which a beacon may stay unmonitored before an alarm event reports it, for regions about beacons.
  public var maximumHold: TimeSpan
  /// The words for people who are inside.
  public var caption = Caption()

  /// The time for which a beacon may stay unmonitored unless a region sets another.
  ///
  /// An hour: longer than a gateway's restart or a short power cut, shorter than a shift.
  public static let defaultMaximumHold = TimeSpan.minutes(60)

  /// Makes a region about beacons with the defaults of Core Location and of ``PresencePolicy``.
  public init(
    identifier: String,
    constraint: BeaconConstraint,
    subject: Subject = .observer,
    keyedByAddress: Bool = false,
    notifyOnEntry: Bool = true,
    notifyOnExit: Bool = true,
    notifyEntryStateOnDisplay: Bool = false,
    presence: PresencePolicy = PresencePolicy(),
    maximumHold: TimeSpan = Region.defaultMaximumHold
  ) {
    self.identifier = identifier
    self.condition = .beacons(constraint)
    self.subject = subject
    self.keyedByAddress = keyedByAddress
    self.notifyOnEntry = notifyOnEntry
    self.notifyOnExit = notifyOnExit
    self.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    self.presence = presence
    self.maximumHold = maximumHold
  }

  /// Makes a region about an area, with the defaults of Core Location and of `Geofence.Policy`.
  public init(
    identifier: String,
    geofence: Geofence,
    subject: Subject = .observer,
    notifyOnEntry: Bool = true,
    notifyOnExit: Bool = true
  ) {
    self.init(
      identifier: identifier,
      constraint: .unread,
      subject: subject,
      notifyOnEntry: notifyOnEntry,
      notifyOnExit: notifyOnExit
    )
    condition = .geofence(geofence)
  }

  /// The beacons that it is about; nil for a geofence.
  ///
  /// Not inlined: optimised within a closure of another module, Swift 6.3's compiler ends the borrow of the region too early.
  @inline(never)
  public var constraint: BeaconConstraint? {
    guard case .beacons(let constraint) = condition else { return nil }
    return constraint
  }

  /// The area that it is about; nil for a region about beacons.
  @inline(never)
  public var geofence: Geofence? {
    guard case .geofence(let geofence) = condition else { return nil }
    return geofence
  }

  /// Returns whether another region has the same condition, subject and policy, so that replacing one by the other restarts
  /// nothing.
  package func asksTheSame(as other: Region) -> Bool {
    condition == other.condition && subject == other.subject && keyedByAddress == other.keyedByAddress
      && presence == other.presence
  }
}

/// The rules for the presence and the absence of a beacon, with which a track debounces.
public struct PresencePolicy: Hashable, Sendable {
  /// The length of silence that means absence.
  public enum Silence: Hashable, Sendable {
    /// As long as the beacon's learned interval and this observer's reception make it unlikely enough.
    case adaptive
    /// A fixed time, 30 s being the usual value of Core Location and AltBeacon.
    case fixed(TimeSpan)
    /// Forever: the beacon is silent at rest.
    case never

    /// The length as declared; nil where it is learned.
    package var declared: TimeSpan? {
      switch self {
      case .adaptive: nil
      case .fixed(let span): span
      case .never: .forever
      }
    }
  }

  /// The number of adverts that it takes to enter.
  public var enterSamples: Int
  /// The time within which they must arrive; nil means, for two of them, three intervals, as learned or as declared at rest, at
  /// least 3 s, 30 s for an unknown beacon, a third more for each further one, or in regular distance up to two minutes apart.
  public var enterWithin: TimeSpan?
  /// The filtered level in dBm that counts towards entering; nil means any.
  public var enterRSSI: Double?
  /// The filtered level in dBm below which a beacon leaves after the dwell; nil means never by level.
  public var exitRSSI: Double?
  /// The distance up to which a beacon counts towards entering; nil means any.
  ///
  /// It is turned into the level that the beacon has there, by its power at one metre and the site's distance model; a
  /// beacon whose power is unknown never counts. Where a level is given too, both must be met.
  public var enterDistance: Meters?
  /// The distance beyond which a beacon leaves after the dwell; nil means never by distance.
  ///
  /// Turned into a level as `enterDistance` is; where a level is given too, either is enough to leave.
  public var exitDistance: Meters?
  /// The time for which the level must stay below `exitRSSI`, or beyond `exitDistance`.
  public var exitDwell: TimeSpan
  /// The length of silence that means absence.
  public var silence: Silence
  /// The shortest adaptive silence.
  public var silenceFloor: TimeSpan
  /// The longest adaptive silence.
  public var silenceCeiling: TimeSpan
  /// The number of false exits that a region and subject may have in a day under adaptive silence.
  public var falseExitsPerDay: Double
  /// The slowest interval that the beacon is known to advertise with, at rest.
  public var stillInterval: TimeSpan?

  /// The longest silence of a beacon that is present, before anything is learned about it.
  ///
  /// Declared knowledge wins over a ceiling that would contradict it.
  package var maximumSilence: TimeSpan {
    silence.declared ?? max(silenceCeiling, silenceFloor, (stillInterval ?? .zero) * 3)
  }

  /// Makes a policy; the defaults are those of the design, section 6.
  ///
  /// Two adverts to enter, so that one spike alone never does. Five seconds of exit dwell, since a body in the
  /// way takes 10 to 20 dB for a few seconds. Silence between 2 s, below which scan windows beat against
  /// intervals, and 300 s, since a beacon heard every 10 s through 50 % bursty loss needs over three minutes. A
  /// budget of 0.01 false exits a day: 20 a day over 2,000 tags.
  public init(
    enterSamples: Int = 2,
    enterWithin: TimeSpan? = nil,
    enterRSSI: Double? = nil,
    exitRSSI: Double? = nil,
    enterDistance: Meters? = nil,
    exitDistance: Meters? = nil,
    exitDwell: TimeSpan = .seconds(5),
    silence: Silence = .adaptive,
    silenceFloor: TimeSpan = .seconds(2),
    silenceCeiling: TimeSpan = .seconds(300),
    falseExitsPerDay: Double = 0.01,
    stillInterval: TimeSpan? = nil
  ) {
    self.enterSamples = enterSamples
    self.enterWithin = enterWithin
    self.enterRSSI = enterRSSI
    self.exitRSSI = exitRSSI
    self.enterDistance = enterDistance
    self.exitDistance = exitDistance
    self.exitDwell = exitDwell
    self.silence = silence
    self.silenceFloor = silenceFloor
    self.silenceCeiling = silenceCeiling
    self.falseExitsPerDay = falseExitsPerDay
    self.stillInterval = stillInterval
  }
}

extension Region.Condition: CustomStringConvertible {
  /// The constraint or the area in a few words.
  public var description: String {
    switch self {
    case .beacons(let constraint): constraint.description
    case .geofence(let geofence): geofence.description
    }
  }
}

extension Application: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      identifier: try coder.field(value().identifier),
      regions: try coder.field(value().regions),
      ranging: try coder.field(value().ranging),
      rotation: try coder.field(value().rotation),
      regionLimit: try coder.field(value().regionLimit)
    )
  }
}

extension PresencePolicy: FieldStruct {
  /// Makes the usual policy.
  public init() { self.init(enterWithin: nil) }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&enterSamples)
    try coder.code(&enterWithin)
    try coder.code(&enterRSSI)
    try coder.code(&exitRSSI)
    try coder.code(&enterDistance)
    try coder.code(&exitDistance)
    try coder.code(&exitDwell)
    try coder.code(&silence)
    try coder.code(&silenceFloor)
    try coder.code(&silenceCeiling)
    try coder.code(&falseExitsPerDay)
    try coder.check(falseExitsPerDay >= 0 && falseExitsPerDay.isFinite, "a policy's budget")
    try coder.code(&stillInterval)
  }
}

extension PresencePolicy.Silence: FieldUnion {
  /// The name of the field.
  public static var fieldName: String { "silence" }

  /// Hands each case to a coder.
  public static func visitCases<Coder: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.code(&union, 0, .adaptive)
    try coder.code(&union, 1, Self.fixed) { if case .fixed(let span) = $0 { span } else { nil } }
    try coder.code(&union, 2, .never)
  }
}

extension Region.Subject: FieldUnion {
  /// The name of the field.
  public static var fieldName: String { "a region's subject" }

  /// Hands each case to a coder.
  public static func visitCases<Coder: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.code(&union, 0, .observer)
    try coder.code(&union, 1, Self.beacon) { if case .beacon(let observers) = $0 { observers } else { nil } }
  }
}

/// A constraint as it is, so that a region about beacons has the bytes that it had before there were geofences, or a tag that
/// no constraint has.
extension Region.Condition: FieldCodable {
  private static let geofenceTag: UInt8 = 3

  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .beacons(let constraint): writer.write(constraint)
    case .geofence(let geofence): writer.write(tag: Region.Condition.geofenceTag, geofence)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case Region.Condition.geofenceTag: self = .geofence(try reader.read())
    case let tag: self = .beacons(try reader.union(tag: tag))
    }
  }
}

/// A region without its caption, which decides nothing.
extension Region: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let identifier = try coder.field(value().identifier)
    var region =
      switch try coder.field(value().condition) {
      case .beacons(let constraint): Region(identifier: identifier, constraint: constraint)
      case .geofence(let geofence): Region(identifier: identifier, geofence: geofence)
      }
    region.subject = try coder.field(value().subject)
    region.keyedByAddress = try coder.field(value().keyedByAddress)
    region.notifyOnEntry = try coder.field(value().notifyOnEntry)
    region.notifyOnExit = try coder.field(value().notifyOnExit)
    region.notifyEntryStateOnDisplay = try coder.field(value().notifyEntryStateOnDisplay)
    region.presence = try coder.field(value().presence)
    region.maximumHold = try coder.field(value().maximumHold)
    return region
  }
}

extension RegionNode: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<Coder: FieldCoder>(
    _ value: () -> Self,
    by coder: inout Coder
  ) throws(Coder.Failure) -> Self {
    let region = try coder.field(value().region)
    try coder.descend(1)
    let children = try coder.field(value().children)
    try coder.descend(-1)
    return RegionNode(region: region, children: children)
  }
}

extension RangingRequest: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      constraint: try coder.field(value().constraint),
      keyedByAddress: try coder.field(value().keyedByAddress),
      whileInside: try coder.field(value().whileInside)
    )
  }
}

extension Region {
  /// What a venue alone can give, and an area needs to be decided.
  package enum VenueNeed: CaseIterable, Sendable {
    /// The places of tags, which report none themselves.
    case tags
    /// Floors and buildings.
    case floor
    /// Heights above mean sea level: handsets report those above the ellipsoid.
    case seaLevel

    /// The predicate of a sentence whose subject is the region.
    package var reason: String {
      switch self {
      case .tags: "is an area for tags, and without a venue no tag is located."
      case .floor: "lies on a floor or in a building, and there is no venue that has one."
      case .seaLevel:
        "counts heights from mean sea level, and without a venue only heights above the ellipsoid are known."
      }
    }

    /// The situation in which the area is decided.
    package var expected: String {
      switch self {
      case .tags: "a venue on whose floors observers are placed"
      case .floor: "a venue that has the floor"
      case .seaLevel: "a venue that states the altitudes of its floors or its geoidHeight"
      }
    }

    /// The step that leads there.
    package var remedy: String {
      switch self {
      case .tags: "Name a venue in the site file, or monitor beacons in place of the area."
      case .floor: "Name a venue in the site file, or leave level and building out."
      case .seaLevel:
        "Count the heights from the ellipsoid (reference), or name such a venue in the site file."
      }
    }
  }

  /// What the region needs of a venue; nil where it can be decided without one.
  package var needOfVenue: VenueNeed? {
    guard let geofence else { return nil }
    if subject != .observer { return .tags }
    if geofence.building != nil || geofence.level ?? 0 != 0 { return .floor }
    return geofence.altitude?.reference == .seaLevel ? .seaLevel : nil
  }
}
