extension Application: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: Application { Application(identifier: "") }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&identifier)
    try coder.code(&regions)
    try coder.code(&ranging)
    try coder.code(&rotation)
    try coder.code(&regionLimit)
  }
}

extension ObserverEntry: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: ObserverEntry { ObserverEntry(id: .eui48(0)) }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&id)
    try coder.code(&name)
    try coder.code(&rssiOffset)
    try coder.code(&liveness)
    try coder.code(&lag)
  }
}

extension ObserverEntry.Liveness: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "liveness" }
}

/// An entry without its identity key, which only the site may write.
extension BeaconEntry: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: BeaconEntry { BeaconEntry(constraint: .unread) }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&constraint)
    try coder.code(&keyedByAddress)
    try coder.code(&name)
    try coder.code(&measuredPower)
    try coder.code(&interval)
  }
}

extension Zone: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: Zone { Zone(identifier: "", observers: []) }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&identifier)
    try coder.code(&name)
    try coder.code(&observers)
    try coder.code(&floor)
    try coder.code(&adjacent)
    try coder.code(&beacons)
  }
}

extension Site: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(stream)
    writer.write(applications)
    writer.write(observers)
    writer.write(beacons)
    writer.write(zones)
    writer.write(iBeaconCompanies)
    writer.write(pathLossExponent)
    let hasVenues = !venues.isEmpty || positioning != PositioningSettings()
    let thresholds = zones.indices.filter { !zones[$0].occupancy.isEmpty }
    let hasStays = visits != nil || !thresholds.isEmpty
    let keys = beacons.indices.compactMap { index in beacons[index].identityKey.map { (index, $0) } }
    writer.write(
      admission.rawValue | (hasVenues ? Site.venuesBit : 0) | (keys.isEmpty ? 0 : Site.keysBit)
        | (hasStays ? Site.staysBit : 0)
    )
    if hasVenues {
      positioning.write(to: &writer)
      writer.write(venues)
    }
    if hasStays {
      writer.write(visits)
      writer.write(UInt32(thresholds.count))
      for index in thresholds {
        writer.write(UInt32(index))
        writer.write(zones[index].occupancy)
      }
    }
    guard !keys.isEmpty else { return }
    // Never the keys themselves: a recording may be passed on to others.
    writer.write(UInt32(keys.count))
    for (index, key) in keys {
      writer.write(UInt32(index))
      writer.write(key.fingerprint)
    }
  }

  /// Marks the admission of a site with venues, which follow; without it the bytes are those of before there were any.
  private static let venuesBit: UInt8 = 1 << 7
  /// Marks the admission of a site some of whose beacons have identity keys, whose fingerprints follow.
  private static let keysBit: UInt8 = 1 << 6
  /// Marks the admission of a site with visits or thresholds of occupancy, which follow.
  private static let staysBit: UInt8 = 1 << 5

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(stream: try reader.text())
    applications = try reader.list(Application.self)
    observers = try reader.list(ObserverEntry.self)
    beacons = try reader.list(BeaconEntry.self)
    zones = try reader.list(Zone.self)
    iBeaconCompanies = try reader.list(UInt16.self)
    pathLossExponent = try reader.double()
    let tag = try reader.byte()
    guard let admission = Admission(rawValue: tag & ~(Site.venuesBit | Site.keysBit | Site.staysBit)) else {
      throw reader.failure(.unknownTag(field: "admission", tag: tag))
    }
    self.admission = admission
    if tag & Site.venuesBit != 0 {
      positioning = try PositioningSettings(from: &reader)
      venues = try reader.list(String.self)
      guard !venues.isEmpty || positioning != PositioningSettings() else {
        throw reader.failure(.outOfRange(field: "positioning without anything in it"))
      }
    }
    if tag & Site.staysBit != 0 { try readStays(from: &reader) }
    if tag & Site.keysBit != 0 { try readKeys(from: &reader) }
  }

  private mutating func readStays(from reader: inout FieldReader) throws(FieldError) {
    visits = try reader.read()
    let count = try reader.number(UInt32.self)
    guard visits != nil || count > 0, count <= zones.count else {
      throw reader.failure(.outOfRange(field: "the zones with thresholds"))
    }
    var next = 0
    for _ in 0..<count {
      let index = Int(try reader.number(UInt32.self))
      guard index >= next, index < zones.count else {
        throw reader.failure(.outOfRange(field: "the zone of a threshold"))
      }
      next = index + 1
      zones[index].occupancy = try reader.read()
    }
  }

  private mutating func readKeys(from reader: inout FieldReader) throws(FieldError) {
    let count = try reader.number(UInt32.self)
    guard count > 0, count <= beacons.count else { throw reader.failure(.outOfRange(field: "identity keys")) }
    var next = 0
    for _ in 0..<count {
      let index = Int(try reader.number(UInt32.self))
      guard index >= next, index < beacons.count else {
        throw reader.failure(.outOfRange(field: "the beacon of an identity key"))
      }
      next = index + 1
      beacons[index].identityKey = IdentityKey(withheld: try reader.number(UInt32.self))
    }
  }
}

extension PresencePolicy: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: PresencePolicy { PresencePolicy() }

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

extension PresencePolicy.Silence: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .adaptive: writer.write(tag: 0)
    case .fixed(let span): writer.write(tag: 1, span)
    case .never: writer.write(tag: 2)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .adaptive
    case 1: self = .fixed(try reader.read())
    case 2: self = .never
    case let tag: throw reader.failure(.unknownTag(field: "silence", tag: tag))
    }
  }
}

extension Region.Subject: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .observer: writer.write(tag: 0)
    case .beacon(let observers): writer.write(tag: 1, observers)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .observer
    case 1: self = .beacon(observers: try reader.read())
    case let tag: throw reader.failure(.unknownTag(field: "a region's subject", tag: tag))
    }
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
    case let tag: self = .beacons(try BeaconConstraint(tag: tag, from: &reader))
    }
  }
}

extension Region: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: Region { Region(identifier: "", constraint: .unread) }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&identifier)
    try coder.code(&condition)
    try coder.code(&subject)
    try coder.code(&keyedByAddress)
    try coder.code(&notifyOnEntry)
    try coder.code(&notifyOnExit)
    try coder.code(&notifyEntryStateOnDisplay)
    try coder.code(&presence)
    try coder.code(&maximumHold)
  }
}

extension RegionNode: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    region.write(to: &writer)
    writer.write(children)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let region = try Region(from: &reader)
    let children = try reader.deeper { (reader: inout FieldReader) throws(FieldError) in
      try reader.list(RegionNode.self)
    }
    self.init(region: region, children: children)
  }
}

extension RangingRequest: FieldStruct {
  /// A value whose fields are still to be read.
  public static var unread: RangingRequest { RangingRequest(constraint: .unread) }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&constraint)
    try coder.code(&keyedByAddress)
    try coder.code(&whileInside)
  }
}

extension RegionState: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a region's state" }
}

extension RegionChange: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .startMonitoring(let application, let region, let assuming):
      writer.write(tag: 0, application, region, assuming)
    case .stopMonitoring(let application, let identifier): writer.write(tag: 1, application, identifier)
    case .setRotation(let application, let tree): writer.write(tag: 2, application, tree)
    case .startRanging(let application, let request): writer.write(tag: 3, application, request)
    case .stopRanging(let application, let constraint): writer.write(tag: 4, application, constraint)
    case .requestState(let application, let identifier, let subject):
      writer.write(tag: 5, application, identifier, subject)
    case .acceptObserver(let observer): writer.write(tag: 6, observer)
    case .forget(let traces): writer.write(tag: 7, traces)
    case .setRegionLimit(let application, let limit): writer.write(tag: 8, application, Int64(limit))
    case .dismissObserver(let observer): writer.write(tag: 9, observer)
    case .declare(let site): writer.write(tag: 10, site.settings)
    case .setItinerary(let subject, let itinerary): writer.write(tag: 11, subject, itinerary)
    case .setGuidance(let subject, let request): writer.write(tag: 12, subject, request)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0:
      self = .startMonitoring(application: try reader.text(), try reader.read(), assuming: try reader.read())
    case 1: self = .stopMonitoring(application: try reader.text(), identifier: try reader.text())
    case 2: self = .setRotation(application: try reader.text(), try reader.read())
    case 3: self = .startRanging(application: try reader.text(), try reader.read())
    case 4: self = .stopRanging(application: try reader.text(), try reader.read())
    case 5:
      self = .requestState(
        application: try reader.text(),
        identifier: try reader.text(),
        subject: try reader.read()
      )
    case 6: self = .acceptObserver(try reader.read())
    case 7: self = .forget(try reader.read())
    case 8:
      self = .setRegionLimit(application: try reader.text(), Int(try reader.number(Int64.self)))
    case 9: self = .dismissObserver(try reader.read())
    case 10:
      let site = try Site(from: &reader)
      guard site.applications.isEmpty else {
        throw reader.failure(.outOfRange(field: "the applications of a declaration"))
      }
      self = .declare(site)
    case 11: self = .setItinerary(subject: try reader.read(), try reader.read())
    case 12: self = .setGuidance(subject: try reader.read(), try reader.read())
    case let tag: throw reader.failure(.unknownTag(field: "a region change", tag: tag))
    }
  }
}

extension UUID128: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(high)
    writer.write(low)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(high: try reader.read(), low: try reader.read())
  }
}

extension ObserverID: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .eui48(let bits): writer.write(tag: 0, bits)
    case .eui64(let bits): writer.write(tag: 1, bits)
    case .uuid(let uuid): writer.write(tag: 2, uuid)
    case .name(let name): writer.write(tag: 3, name)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .eui48(try reader.read())
    case 1: self = .eui64(try reader.read())
    case 2: self = .uuid(try reader.read())
    case 3:
      let name = try reader.text()
      guard (1...ObserverID.longestName).contains(name.utf8.count) else { throw reader.failure(.badIdentity) }
      self = .name(name)
    case let tag: throw reader.failure(.unknownTag(field: "an observer's kind", tag: tag))
    }
  }
}

extension DeviceAddress.Kind: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "an address's kind" }
}

extension DeviceAddress: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(kind)
    writer.write(bits)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let kind = try reader.read(Kind.self)
    self.init(bits: try reader.read(), kind: kind)
  }
}

/// A beacon is a tag and its bytes: 21 for an iBeacon, 17 for an Eddystone-UID, 7 for an address, and 6 more where the
/// address is part of the key.
extension BeaconID: FieldCodable {
  /// The value added to the kind in the tag where the address is part of the key.
  private static let keyed: UInt8 = 4

  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    let address = words.address
    writer.write(kind.rawValue | (kind != .address && address != 0 ? BeaconID.keyed : 0))
    if kind != .address {
      writer.write(words.high)
      writer.write(words.low)
    }
    if kind == .proximity { writer.write(UInt32(truncatingIfNeeded: words.tail)) }
    guard address != 0 else { return }
    writer.write(UInt16(truncatingIfNeeded: address >> 32))
    writer.write(UInt32(truncatingIfNeeded: address))
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let tag = try reader.byte()
    guard let kind = Kind(rawValue: tag & ~BeaconID.keyed), tag != Kind.address.rawValue | BeaconID.keyed
    else {
      throw reader.failure(.unknownTag(field: "a beacon's kind", tag: tag))
    }
    guard kind != .address else {
      self = .address(try BeaconID.address(from: &reader))
      return
    }
    let high = try reader.number(UInt64.self)
    let low = try reader.number(UInt64.self)
    let tail = kind == .proximity ? try reader.number(UInt32.self) : 0
    let plain = BeaconID(kind: kind, high: high, low: low, tail: tail, addressWord: 0)
    self = tag & BeaconID.keyed == 0 ? plain : plain.keyed(by: try BeaconID.address(from: &reader))
  }

  private static func address(from reader: inout FieldReader) throws(FieldError) -> DeviceAddress {
    let high = UInt64(try reader.number(UInt16.self))
    return DeviceAddress(bits: high << 32 | UInt64(try reader.number(UInt32.self)), kind: .unknown)
  }
}

extension BeaconID {
  /// The beacon of a value whose fields are still to be read.
  package static var unread: BeaconID { .address(DeviceAddress(bits: 0, kind: .unknown)) }
}

extension SubjectID: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .none: writer.write(tag: 0)
    case .observer(let observer): writer.write(tag: 1, observer)
    case .beacon(let beacon): writer.write(tag: 2, beacon)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .none
    case 1: self = .observer(try reader.read())
    case 2: self = .beacon(try reader.read())
    case let tag: throw reader.failure(.unknownTag(field: "a subject's kind", tag: tag))
    }
  }
}

extension BeaconConstraint: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .proximity(let uuid, let major, let minor): writer.write(tag: 0, uuid, major, minor)
    case .eddystone(let namespace, let instance): writer.write(tag: 1, namespace, instance)
    case .address(let address): writer.write(tag: 2, address)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    try self.init(tag: try reader.byte(), from: &reader)
  }

  /// Reads the value behind its tag.
  fileprivate init(tag: UInt8, from reader: inout FieldReader) throws(FieldError) {
    switch tag {
    case 0: self = .proximity(try reader.read(), major: try reader.read(), minor: try reader.read())
    case 1: self = .eddystone(try reader.read(), instance: try reader.read())
    case 2: self = .address(try reader.read())
    case let tag: throw reader.failure(.unknownTag(field: "a constraint's kind", tag: tag))
    }
  }
}

extension BeaconConstraint {
  /// The constraint of a value whose fields are still to be read.
  package static var unread: BeaconConstraint { .address(DeviceAddress(bits: 0, kind: .unknown)) }
}

extension EddystoneNamespace: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(high)
    writer.write(low)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(high: try reader.read(), low: try reader.read())
  }
}
