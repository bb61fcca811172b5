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
  /// What the tag has on top of the kind where the address is part of the key.
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
