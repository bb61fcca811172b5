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

/// A beacon goes by its canonical text, which is read back to the same value.
extension BeaconID: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(description) }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    guard let beacon = BeaconID(try reader.text()) else { throw reader.failure(.badIdentity) }
    self = beacon
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
