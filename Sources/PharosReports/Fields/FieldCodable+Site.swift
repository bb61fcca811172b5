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
