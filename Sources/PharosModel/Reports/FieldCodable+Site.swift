extension Application: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(identifier)
    writer.write(regions)
    writer.write(ranging)
    writer.write(rotation)
    writer.write(Int64(regionLimit))
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(identifier: try reader.text())
    regions = try reader.list(Region.self)
    ranging = try reader.list(RangingRequest.self)
    rotation = try reader.list(RegionNode.self)
    regionLimit = Int(try reader.number(Int64.self))
  }
}

extension ObserverEntry: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    id.write(to: &writer)
    writer.write(name)
    writer.write(rssiOffset)
    switch liveness {
    case .auto: writer.write(0 as UInt8)
    case .heartbeat: writer.write(1 as UInt8)
    case .traffic: writer.write(2 as UInt8)
    case .assumed: writer.write(3 as UInt8)
    }
    writer.write(lag)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(id: try ObserverID(from: &reader))
    name = try reader.optional(String.self)
    rssiOffset = try reader.double()
    switch try reader.byte() {
    case 0: liveness = .auto
    case 1: liveness = .heartbeat
    case 2: liveness = .traffic
    case 3: liveness = .assumed
    case let tag: throw reader.failure(.unknownTag(field: "liveness", tag: tag))
    }
    lag = try reader.optional(TimeSpan.self)
  }
}

extension BeaconEntry: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    constraint.write(to: &writer)
    writer.write(keyedByAddress)
    writer.write(name)
    writer.write(measuredPower)
    writer.write(interval)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(constraint: try BeaconConstraint(from: &reader))
    keyedByAddress = try reader.flag()
    name = try reader.optional(String.self)
    measuredPower = try reader.optional(Double.self)
    interval = try reader.optional(TimeSpan.self)
  }
}

extension Zone: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(identifier)
    writer.write(name)
    writer.write(observers)
    writer.write(floor.map { UInt64(bitPattern: Int64($0)) })
    writer.write(adjacent)
    writer.write(beacons)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let identifier = try reader.text()
    let name = try reader.optional(String.self)
    self.init(identifier: identifier, name: name, observers: try reader.list(ObserverID.self))
    floor = try reader.optional(UInt64.self).map { Int(Int64(bitPattern: $0)) }
    adjacent = try reader.list(String.self)
    beacons = try reader.list(BeaconConstraint.self)
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
    let keys = beacons.indices.compactMap { index in beacons[index].identityKey.map { (index, $0) } }
    writer.write(
      admission.rawValue | (hasVenues ? Site.venuesBit : 0) | (keys.isEmpty ? 0 : Site.keysBit)
    )
    if hasVenues {
      positioning.write(to: &writer)
      writer.write(venues)
    }
    guard !keys.isEmpty else { return }
    // Never the keys themselves: a recording may go to anybody who is to look at it.
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
    guard let admission = Admission(rawValue: tag & ~(Site.venuesBit | Site.keysBit)) else {
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
    if tag & Site.keysBit != 0 { try readKeys(from: &reader) }
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

extension PresencePolicy: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(Int64(enterSamples))
    writer.write(enterWithin)
    writer.write(enterRSSI)
    writer.write(exitRSSI)
    writer.write(enterDistance?.value)
    writer.write(exitDistance?.value)
    exitDwell.write(to: &writer)
    switch silence {
    case .adaptive: writer.write(0 as UInt8)
    case .fixed(let span):
      writer.write(1 as UInt8)
      span.write(to: &writer)
    case .never: writer.write(2 as UInt8)
    }
    silenceFloor.write(to: &writer)
    silenceCeiling.write(to: &writer)
    writer.write(falseExitsPerDay)
    writer.write(stillInterval)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(enterSamples: Int(try reader.number(Int64.self)))
    enterWithin = try reader.optional(TimeSpan.self)
    enterRSSI = try reader.optional(Double.self)
    exitRSSI = try reader.optional(Double.self)
    enterDistance = try reader.optional(Double.self).map { Meters($0) }
    exitDistance = try reader.optional(Double.self).map { Meters($0) }
    exitDwell = try TimeSpan(from: &reader)
    switch try reader.byte() {
    case 0: silence = .adaptive
    case 1: silence = .fixed(try TimeSpan(from: &reader))
    case 2: silence = .never
    case let tag: throw reader.failure(.unknownTag(field: "silence", tag: tag))
    }
    silenceFloor = try TimeSpan(from: &reader)
    silenceCeiling = try TimeSpan(from: &reader)
    falseExitsPerDay = try reader.double()
    guard falseExitsPerDay >= 0, falseExitsPerDay.isFinite else {
      throw reader.failure(.outOfRange(field: "a policy's budget"))
    }
    stillInterval = try reader.optional(TimeSpan.self)
  }
}

extension Region.Subject: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .observer: writer.write(0 as UInt8)
    case .beacon(let observers):
      writer.write(1 as UInt8)
      writer.write(observers.map { FieldList($0) })
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .observer
    case 1: self = .beacon(observers: try reader.optional(FieldList<ObserverID>.self)?.elements)
    case let tag: throw reader.failure(.unknownTag(field: "a region's subject", tag: tag))
    }
  }
}

extension Region: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(identifier)
    constraint.write(to: &writer)
    subject.write(to: &writer)
    writer.write(keyedByAddress)
    writer.write(notifyOnEntry)
    writer.write(notifyOnExit)
    writer.write(notifyEntryStateOnDisplay)
    presence.write(to: &writer)
    maximumHold.write(to: &writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let identifier = try reader.text()
    self.init(identifier: identifier, constraint: try BeaconConstraint(from: &reader))
    subject = try Subject(from: &reader)
    keyedByAddress = try reader.flag()
    notifyOnEntry = try reader.flag()
    notifyOnExit = try reader.flag()
    notifyEntryStateOnDisplay = try reader.flag()
    presence = try PresencePolicy(from: &reader)
    maximumHold = try TimeSpan(from: &reader)
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

extension RangingRequest: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    constraint.write(to: &writer)
    writer.write(keyedByAddress)
    writer.write(whileInside)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(constraint: try BeaconConstraint(from: &reader))
    keyedByAddress = try reader.flag()
    whileInside = try reader.flag()
  }
}

extension RegionChange: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .startMonitoring(let application, let region, let assuming):
      writer.write(0 as UInt8)
      writer.write(application)
      region.write(to: &writer)
      writer.write(assuming.rawValue)
    case .stopMonitoring(let application, let identifier):
      writer.write(1 as UInt8)
      writer.write(application)
      writer.write(identifier)
    case .setRotation(let application, let tree):
      writer.write(2 as UInt8)
      writer.write(application)
      writer.write(tree)
    case .startRanging(let application, let request):
      writer.write(3 as UInt8)
      writer.write(application)
      request.write(to: &writer)
    case .stopRanging(let application, let constraint):
      writer.write(4 as UInt8)
      writer.write(application)
      constraint.write(to: &writer)
    case .requestState(let application, let identifier, let subject):
      writer.write(5 as UInt8)
      writer.write(application)
      writer.write(identifier)
      subject.write(to: &writer)
    case .acceptObserver(let observer):
      writer.write(6 as UInt8)
      observer.write(to: &writer)
    case .forget(let traces):
      writer.write(7 as UInt8)
      traces.write(to: &writer)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let tag = try reader.byte()
    guard tag <= 7 else { throw reader.failure(.unknownTag(field: "a region change", tag: tag)) }
    guard tag < 6 else {
      self =
        tag == 6
        ? .acceptObserver(try ObserverID(from: &reader)) : .forget(try SubjectTraces(from: &reader))
      return
    }
    let application = try reader.text()
    switch tag {
    case 0:
      let region = try Region(from: &reader)
      let state = try reader.byte()
      guard let assuming = RegionState(rawValue: state) else {
        throw reader.failure(.unknownTag(field: "a region's state", tag: state))
      }
      self = .startMonitoring(application: application, region, assuming: assuming)
    case 1: self = .stopMonitoring(application: application, identifier: try reader.text())
    case 2: self = .setRotation(application: application, try reader.list(RegionNode.self))
    case 3: self = .startRanging(application: application, try RangingRequest(from: &reader))
    case 4: self = .stopRanging(application: application, try BeaconConstraint(from: &reader))
    default:
      let identifier = try reader.text()
      let subject = try SubjectID(from: &reader)
      self = .requestState(application: application, identifier: identifier, subject: subject)
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
    let high = try reader.number(UInt64.self)
    self.init(high: high, low: try reader.number(UInt64.self))
  }
}

extension ObserverID: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .eui48(let bits):
      writer.write(0 as UInt8)
      writer.write(bits)
    case .eui64(let bits):
      writer.write(1 as UInt8)
      writer.write(bits)
    case .uuid(let uuid):
      writer.write(2 as UInt8)
      uuid.write(to: &writer)
    case .name(let name):
      writer.write(3 as UInt8)
      writer.write(name)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .eui48(try reader.number(UInt64.self))
    case 1: self = .eui64(try reader.number(UInt64.self))
    case 2: self = .uuid(try UUID128(from: &reader))
    case 3:
      let name = try reader.text()
      guard (1...ObserverID.longestName).contains(name.utf8.count) else { throw reader.failure(.badIdentity) }
      self = .name(name)
    case let tag: throw reader.failure(.unknownTag(field: "an observer's kind", tag: tag))
    }
  }
}

extension DeviceAddress: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(kind.rawValue)
    writer.write(bits)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let tag = try reader.byte()
    guard let kind = Kind(rawValue: tag) else {
      throw reader.failure(.unknownTag(field: "an address's kind", tag: tag))
    }
    self.init(bits: try reader.number(UInt64.self), kind: kind)
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

extension SubjectID: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .none: writer.write(0 as UInt8)
    case .observer(let observer):
      writer.write(1 as UInt8)
      observer.write(to: &writer)
    case .beacon(let beacon):
      writer.write(2 as UInt8)
      beacon.write(to: &writer)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .none
    case 1: self = .observer(try ObserverID(from: &reader))
    case 2: self = .beacon(try BeaconID(from: &reader))
    case let tag: throw reader.failure(.unknownTag(field: "a subject's kind", tag: tag))
    }
  }
}

extension BeaconConstraint: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .proximity(let uuid, let major, let minor):
      writer.write(0 as UInt8)
      uuid.write(to: &writer)
      writer.write(major)
      writer.write(minor)
    case .eddystone(let namespace, let instance):
      writer.write(1 as UInt8)
      writer.write(namespace.high)
      writer.write(namespace.low)
      writer.write(instance)
    case .address(let address):
      writer.write(2 as UInt8)
      address.write(to: &writer)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0:
      let uuid = try UUID128(from: &reader)
      let major = try reader.optional(UInt16.self)
      self = .proximity(uuid, major: major, minor: try reader.optional(UInt16.self))
    case 1:
      let high = try reader.number(UInt64.self)
      let namespace = EddystoneNamespace(high: high, low: try reader.number(UInt16.self))
      self = .eddystone(namespace, instance: try reader.optional(UInt64.self))
    case 2: self = .address(try DeviceAddress(from: &reader))
    case let tag: throw reader.failure(.unknownTag(field: "a constraint's kind", tag: tag))
    }
  }
}
