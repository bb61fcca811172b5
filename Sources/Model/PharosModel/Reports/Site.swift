public import PharosDocuments

/// The declared properties of an observer.
public struct ObserverEntry: Hashable, Sendable {
  /// The means by which an observer proves that its silence about a beacon means something.
  public enum Liveness: String, CaseIterable, Hashable, Sendable {
    /// By heartbeats and by other traffic, whichever it has; assumed if it never had either.
    case auto
    /// By heartbeats only.
    case heartbeat
    /// By adverts of any beacon only.
    case traffic
    /// Not at all: it is taken to live.
    case assumed
  }

  /// The observer.
  public var id: ObserverID
  /// Its name for people.
  public var name: String?
  /// The offset added to every level that it hears, clamped to ``rssiOffsets``; not a number adds nothing.
  ///
  /// - Units: dB.
  public var rssiOffset: Double
  /// The means by which it proves that it is alive.
  public var liveness: Liveness
  /// Its lag, or nil to learn it.
  public var lag: TimeSpan?

  /// The permitted offsets: receivers in the field differ by some 20 dB.
  ///
  /// - Units: dB.
  public static let rssiOffsets: ClosedRange<Double> = -40...40

  /// Makes an entry.
  public init(
    id: ObserverID,
    name: String? = nil,
    rssiOffset: Double = 0,
    liveness: Liveness = .auto,
    lag: TimeSpan? = nil
  ) {
    self.id = id
    self.name = name
    self.rssiOffset = rssiOffset
    self.liveness = liveness
    self.lag = lag
  }
}

/// The declared properties of a beacon.
public struct BeaconEntry: Hashable, Sendable {
  /// The beacon or beacons.
  public var constraint: BeaconConstraint
  /// Indicates whether the device address is part of its identity (`key: mac`).
  public var keyedByAddress: Bool
  /// Its name for people.
  public var name: String?
  /// Its level at one metre in dBm, in place of what it advertises itself; what is no ``MeasuredPower`` becomes nil.
  public var measuredPower: Double? {
    didSet { measuredPower = measuredPower.flatMap { MeasuredPower.known($0) } }
  }
  /// Its advertising interval.
  public var interval: TimeSpan?
  /// The key with which it makes the addresses it changes, which are then taken as the one of ``constraint``; nil for a beacon
  /// that keeps its address.
  public var identityKey: IdentityKey?
  /// The words for people who are near it.
  public var caption = Caption()

  /// Makes an entry.
  public init(
    constraint: BeaconConstraint,
    keyedByAddress: Bool = false,
    name: String? = nil,
    measuredPower: Double? = nil,
    interval: TimeSpan? = nil,
    identityKey: IdentityKey? = nil
  ) {
    self.constraint = constraint
    self.keyedByAddress = keyedByAddress
    self.name = name
    self.measuredPower = measuredPower.flatMap { MeasuredPower.known($0) }
    self.interval = interval
    self.identityKey = identityKey
  }
}

extension BeaconEntry {
  /// The constraint by which one beacon is described: its address, if that is part of its identity.
  package static func constraint(of beacon: BeaconID) -> BeaconConstraint {
    beacon.address.map { .address($0) } ?? beacon.constraints.first
      ?? .address(DeviceAddress(bits: 0, kind: .unknown))
  }

  /// The entry without the name and the caption, which decide nothing.
  package var withoutWords: BeaconEntry {
    var entry = self
    entry.name = nil
    entry.caption = Caption()
    return entry
  }

  /// Indicates whether it says nothing of the beacon but words for people.
  package var isOnlyWords: Bool { withoutWords == BeaconEntry(constraint: constraint) }
}

/// A place made of observers; a beacon is in at most one leaf zone at a time.
public struct Zone: Hashable, Sendable {
  /// The zone's identifier.
  public var identifier: String
  /// Its name for people.
  public var name: String?
  /// The observers that stand in it.
  public var observers: [ObserverID]
  /// The floor it is on, counted from the ground floor 0, or nil where floors do not matter.
  public var floor: Int?
  /// The zones that one can walk to from it; empty means any of its floor.
  public var adjacent: [String]
  /// The beacons it places; empty means all that some region asks about.
  public var beacons: [BeaconConstraint]
  /// The numbers of beacons in it at which an event is published.
  public var occupancy: [OccupancyThreshold]
  /// The levels of beacons in it, if they were learned.
  public var fingerprint: ZoneFingerprint?

  /// Makes a zone.
  public init(
    identifier: String,
    name: String? = nil,
    observers: [ObserverID],
    floor: Int? = nil,
    adjacent: [String] = [],
    beacons: [BeaconConstraint] = [],
    occupancy: [OccupancyThreshold] = []
  ) {
    self.identifier = identifier
    self.name = name
    self.observers = observers
    self.floor = floor
    self.adjacent = adjacent
    self.beacons = beacons
    self.occupancy = occupancy
  }
}

/// A threshold of the number of beacons in a zone, with two bounds so that it does not flap.
public struct OccupancyThreshold: Hashable, Sendable {
  /// The number that must be exceeded for an event `above`.
  public var above: Int
  /// The number below which the count must then fall for an event `below`; at most ``above``.
  public var below: Int

  /// The permitted bounds: a zone has at most as many beacons as stage two keeps.
  public static let bounds = 0...65_536
  /// The largest number of thresholds of a zone.
  public static let maximumCount = 16

  /// Makes a threshold.
  public init(above: Int, below: Int) {
    self.above = above
    self.below = below
  }
}

/// All that a site declares: who asks, who hears, what is known, and where it stands.
public struct Site: Hashable, Sendable {
  /// The name of the stream of events; part of every event's id and source.
  public var stream: String
  /// The applications, each identifier once.
  public var applications: [Application]
  /// The declared properties of observers.
  public var observers: [ObserverEntry]
  /// The declared properties of beacons.
  public var beacons: [BeaconEntry]
  /// The zones.
  public var zones: [Zone]
  /// Companies other than Apple whose frames of iBeacon layout count as iBeacons.
  public var iBeaconCompanies: [UInt16]
  /// The path-loss exponent of log-distance ranging.
  public var pathLossExponent: Double
  /// The observers whose reports count.
  public var admission: Admission
  /// The settings for locating handsets and tags in the venues.
  public var positioning: PositioningSettings
  /// The folders of the venues, as paths that can be opened.
  public var venues: [String]
  /// The scale of visits, or nil if visits are not decided.
  public var visits: VisitSettings?

  /// The observers whose reports count.
  public enum Admission: UInt8, Hashable, Sendable {
    /// Those of all observers.
    case open
    /// Those of the observers that the site lists, and of those that were accepted since; all others are quarantined: they
    /// change nothing, and are counted and shown.
    case listed
  }

  /// The path-loss exponent unless a site says otherwise.
  ///
  /// 2.0 is free space; furnished indoor lines of sight measure 1.6 to 2.5 (Rappaport, Wireless Communications,
  /// table 4.2).
  public static let defaultPathLossExponent = 2.0

  /// Makes a site.
  public init(
    stream: String = "pharos",
    applications: [Application] = [],
    observers: [ObserverEntry] = [],
    beacons: [BeaconEntry] = [],
    zones: [Zone] = [],
    iBeaconCompanies: [UInt16] = [],
    pathLossExponent: Double = Site.defaultPathLossExponent,
    admission: Admission = .open,
    positioning: PositioningSettings = PositioningSettings(),
    venues: [String] = [],
    visits: VisitSettings? = nil
  ) {
    self.stream = stream
    self.applications = applications
    self.observers = observers
    self.beacons = beacons
    self.zones = zones
    self.iBeaconCompanies = iBeaconCompanies
    self.pathLossExponent = pathLossExponent
    self.admission = admission
    self.positioning = positioning
    self.venues = venues
    self.visits = visits
  }
}

/// The settings for locating a site's handsets and tags; see `positioning:` in the site file.
public struct PositioningSettings: Hashable, Sendable {
  /// The shortest time between two fixes of one subject.
  public var interval: TimeSpan
  /// The time for which a fix waits for reports that are still on their way.
  public var lag: TimeSpan
  /// The largest number of particles for one subject, or nil for the default number.
  public var particles: Int?
  /// The beacons that are located as tags; empty means all that some region asks about.
  public var tags: [BeaconConstraint]
  /// Indicates whether software simulates what is located: a replay or a scene feeds the site.
  public var isSimulated = false

  /// The default time between fixes: once a second, as Core Location delivers them.
  public static let defaultInterval = TimeSpan.seconds(1)
  /// The default waiting time of a fix.
  ///
  /// 1 s: of the lines of handsets that were recorded, 99 in 100 came no later.
  public static let defaultLag = TimeSpan.seconds(1)
  /// The permitted times between fixes.
  ///
  /// From four a second, more than steps have, to one an hour.
  public static let intervals = TimeSpan.milliseconds(250)...TimeSpan.minutes(60)
  /// The permitted waiting times of a fix: after more than 30 s, a location is no longer of interest.
  public static let lags = TimeSpan.zero...TimeSpan.seconds(30)
  /// The permitted numbers of particles: fewer lose a subject at the first corner, more need over 64 KiB a subject.
  public static let particleCounts = 50...2_000

  /// Makes settings; those that are left out are the usual ones.
  public init(
    interval: TimeSpan = PositioningSettings.defaultInterval,
    lag: TimeSpan = PositioningSettings.defaultLag,
    particles: Int? = nil,
    tags: [BeaconConstraint] = []
  ) {
    self.interval = interval
    self.lag = lag
    self.particles = particles
    self.tags = tags
  }
}

extension PositioningSettings: FieldStruct {
  /// Makes the usual settings.
  public init() { self.init(tags: []) }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&interval)
    try coder.code(&lag)
    try coder.check(
      PositioningSettings.intervals.contains(interval) && PositioningSettings.lags.contains(lag),
      "a time of positioning"
    )
    try coder.code(&particles)
    try coder.check(
      particles.map(PositioningSettings.particleCounts.contains) ?? true,
      "a number of particles"
    )
    try coder.code(&tags)
  }
}

/// The scale of visits; see `visits:` in the site file.
public struct VisitSettings: Hashable, Sendable {
  /// The shortest stay that counts as a visit.
  public var minimum: TimeSpan
  /// The distance from the centre within which a subject may move about during a visit.
  ///
  /// - Units: metres.
  public var radius: Double
  /// The time for which a visit lasts on without evidence.
  public var hold: TimeSpan

  /// The default radius.
  ///
  /// 5 m: a shelf, a table with its chairs, a small room.
  public static let defaultRadius = 5.0
  /// The default hold.
  ///
  /// 30 min: a handset at rest scans every few minutes, and a stop for lunch often lies behind a concrete wall.
  public static let defaultHold = TimeSpan.minutes(30)
  /// The permitted shortest stays: below 20 s a stop cannot be distinguished from a hesitation, above a day none is
  /// found.
  public static let minimums = TimeSpan.seconds(20)...TimeSpan.minutes(24 * 60)
  /// The permitted radii: from a desk to a hall.
  ///
  /// - Units: metres.
  public static let radii = 1.0...50.0
  /// The permitted holds.
  public static let holds = TimeSpan.seconds(30)...TimeSpan.minutes(24 * 60)

  /// Makes settings; those that are left out are the usual ones.
  public init(
    minimum: TimeSpan,
    radius: Double = VisitSettings.defaultRadius,
    hold: TimeSpan = VisitSettings.defaultHold
  ) {
    self.minimum = minimum
    self.radius = radius
    self.hold = hold
  }
}

extension VisitSettings: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let settings = VisitSettings(
      minimum: try coder.field(value().minimum),
      radius: try coder.field(value().radius),
      hold: try coder.field(value().hold)
    )
    try coder.check(
      minimums.contains(settings.minimum) && radii.contains(settings.radius) && holds.contains(settings.hold),
      "the scale of visits"
    )
    return settings
  }
}

extension OccupancyThreshold: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let above = Int(try coder.field(UInt32(truncatingIfNeeded: value().above)))
    let below = Int(try coder.field(UInt32(truncatingIfNeeded: value().below)))
    try coder.check(bounds.contains(above) && (0...above).contains(below), "a threshold of occupancy")
    return OccupancyThreshold(above: above, below: below)
  }
}

extension Site {
  /// What the directory says of beacons apart from their names and captions.
  package var describedBeacons: [BeaconEntry] { beacons.lazy.filter { !$0.isOnlyWords }.map(\.withoutWords) }

  /// The site without its applications.
  package var settings: Site { with([]) }

  /// Returns the same settings with other applications.
  package func with(_ applications: [Application]) -> Site {
    var site = self
    site.applications = applications
    return site
  }
}

extension Site {
  /// Returns the same site with the keys of another site, wherever this one names only their fingerprints.
  ///
  /// This completes a recording's site: the recording names the keys that were used, and the site file holds them.
  public func withKeys(of other: Site) -> Site {
    var known: [UInt32: IdentityKey] = [:]
    for key in other.beacons.compactMap(\.identityKey) where !key.isWithheld { known[key.fingerprint] = key }
    var site = self
    for index in site.beacons.indices {
      guard let key = site.beacons[index].identityKey, key.isWithheld else { continue }
      site.beacons[index].identityKey = known[key.fingerprint] ?? key
    }
    return site
  }

  /// The number of beacons whose key is missing here.
  public var withheldKeys: Int { beacons.count { $0.identityKey?.isWithheld ?? false } }
}

extension ObserverEntry: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      id: try coder.field(value().id),
      name: try coder.field(value().name),
      rssiOffset: try coder.field(value().rssiOffset),
      liveness: try coder.field(value().liveness),
      lag: try coder.field(value().lag)
    )
  }
}

extension ObserverEntry.Liveness: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "liveness" }
}

/// An entry without its identity key, which only the site may write, and without its caption, which decides nothing.
extension BeaconEntry: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      constraint: try coder.field(value().constraint),
      keyedByAddress: try coder.field(value().keyedByAddress),
      name: try coder.field(value().name),
      measuredPower: try coder.field(value().measuredPower),
      interval: try coder.field(value().interval)
    )
  }
}

extension Zone: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      identifier: try coder.field(value().identifier),
      name: try coder.field(value().name),
      observers: try coder.field(value().observers),
      floor: try coder.field(value().floor),
      adjacent: try coder.field(value().adjacent),
      beacons: try coder.field(value().beacons)
    )
  }
}

extension Site: FieldStruct {
  /// Makes a site with nothing in it.
  public init() { self.init(applications: []) }

  /// What follows the admission in the same byte's bits; without any of it the bytes are those of before there was any.
  private struct Tail: OptionSet {
    let rawValue: UInt8
    static let fingerprints = Tail(rawValue: 1 << 3)
    static let simulated = Tail(rawValue: 1 << 4)
    static let stays = Tail(rawValue: 1 << 5)
    static let keys = Tail(rawValue: 1 << 6)
    static let venues = Tail(rawValue: 1 << 7)
    static let all: Tail = [.fingerprints, .simulated, .stays, .keys, .venues]
  }

  private var tail: Tail {
    var tail: Tail = beacons.contains { $0.identityKey != nil } ? .keys : []
    if !venues.isEmpty || positioning != PositioningSettings() { tail.insert(.venues) }
    if positioning.isSimulated { tail.insert(.simulated) }
    if visits != nil || zones.contains(where: { !$0.occupancy.isEmpty }) { tail.insert(.stays) }
    if zones.contains(where: { $0.fingerprint != nil }) { tail.insert(.fingerprints) }
    return tail
  }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&stream)
    try coder.code(&applications)
    try coder.code(&observers)
    try coder.code(&beacons)
    try coder.code(&zones)
    try coder.code(&iBeaconCompanies)
    try coder.code(&pathLossExponent)
    let bits = try coder.field(admission.rawValue | tail.rawValue)
    let known = Admission(rawValue: bits & ~Tail.all.rawValue)
    try coder.check(known != nil, "admission")
    admission = known ?? admission
    let tail = Tail(rawValue: bits)
    try coder.check(
      !tail.contains(.simulated) || tail.contains(.venues),
      "a simulated site without positioning"
    )
    if tail.contains(.venues) {
      try coder.code(&positioning)
      if Coder.isReader { positioning.isSimulated = tail.contains(.simulated) }
      try coder.code(&venues)
      try coder.check(self.tail.contains(.venues), "positioning without anything in it")
    }
    if tail.contains(.stays) { try visitStays(&coder) }
    if tail.contains(.keys) { try visitKeys(&coder) }
    if tail.contains(.fingerprints) { try visitFingerprints(&coder) }
  }

  private mutating func visitStays<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&visits)
    var places = zones.indices.filter { !zones[$0].occupancy.isEmpty }
    try coder.code(list: &places, into: 0) { (place, coder) throws(Coder.Failure) in
      try coder.code(place: &place)
      try coder.check(zones.indices.contains(place), "the zone of a threshold")
      let occupancy = try coder.field(zones[place].occupancy)
      if Coder.isReader { zones[place].occupancy = occupancy }
    }
    try coder.check(visits != nil || !places.isEmpty, "the zones with thresholds")
    try coder.check(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "the zone of a threshold")
  }

  private mutating func visitFingerprints<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var places = zones.indices.filter { zones[$0].fingerprint != nil }
    try coder.code(list: &places, into: 0) { (place, coder) throws(Coder.Failure) in
      try coder.code(place: &place)
      try coder.check(zones.indices.contains(place), "the zone of a fingerprint")
      let fingerprint = try coder.field(zones[place].fingerprint)
      try coder.check(fingerprint != nil, "a fingerprint")
      if Coder.isReader { zones[place].fingerprint = fingerprint }
    }
    try coder.check(!places.isEmpty, "the zones with fingerprints")
    try coder.check(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "the zone of a fingerprint")
  }

  /// Hands the fingerprints of identity keys to a coder: never the keys, since a recording may be passed on to others.
  private mutating func visitKeys<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var places = beacons.indices.filter { beacons[$0].identityKey != nil }
    try coder.code(list: &places, into: 0) { (place, coder) throws(Coder.Failure) in
      try coder.code(place: &place)
      try coder.check(beacons.indices.contains(place), "the beacon of an identity key")
      let fingerprint = try coder.field(beacons[place].identityKey?.fingerprint ?? 0)
      if Coder.isReader { beacons[place].identityKey = IdentityKey(withheld: fingerprint) }
    }
    try coder.check(!places.isEmpty, "identity keys")
    try coder.check(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "the beacon of an identity key")
  }
}

extension OccupancyThreshold: EventMembers {
  static var unread: OccupancyThreshold { OccupancyThreshold(above: 0, below: 0) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("above", &above)
    try coder.member("below", &below)
  }
}
