public import PharosDocuments

/// A transmitter's identity, which distinguishes it from other beacons.
///
/// One flat value of 40 bytes rather than an enum with payloads: it is the key of the track table, hashed and
/// compared for every advert.
public struct BeaconID: Hashable, Sendable {
  /// The kind of identity.
  public enum Kind: UInt8, Hashable, Sendable {
    /// Proximity UUID, major and minor: an iBeacon's or an AltBeacon's.
    case proximity
    /// Eddystone-UID: a namespace of 10 bytes and an instance of 6.
    case eddystone
    /// The device address alone.
    case address
  }

  /// UUID bytes 0 to 7, or namespace bytes 0 to 7.
  @usableFromInline let high: UInt64
  /// UUID bytes 8 to 15, or the last 2 bytes of the namespace and the 6 of the instance.
  @usableFromInline let low: UInt64
  /// The address where it is part of the key: bit 63 set, then its kind, then its 48 bits; otherwise 0.
  @usableFromInline let addressWord: UInt64
  /// Major and minor, otherwise 0.
  @usableFromInline let tail: UInt32
  /// The kind of identity.
  public let kind: Kind

  /// Creates an identity from its parts, for tables that store it in a layout of their own.
  ///
  /// - Shape: the parts of ``words``, with the kind as a separate part.
  @inlinable
  public init(kind: Kind, high: UInt64, low: UInt64, tail: UInt32, addressWord: UInt64) {
    self.kind = kind
    self.high = high
    self.low = low
    self.tail = tail
    self.addressWord = addressWord
  }

  /// An iBeacon or AltBeacon from the words of its 20 bytes: a decoder's shortest way.
  ///
  /// - Shape: UUID bytes 0 to 7 and 8 to 15, the first one most significant; major in the upper half, minor in the lower.
  @inlinable
  public init(proximityHigh high: UInt64, low: UInt64, majorAndMinor tail: UInt32) {
    self.init(kind: .proximity, high: high, low: low, tail: tail, addressWord: 0)
  }

  /// Returns whether two identities are equal; it runs for every advert, so it takes no branch for each field.
  @inlinable
  public static func == (left: BeaconID, right: BeaconID) -> Bool {
    (left.high ^ right.high) | (left.low ^ right.low) | (left.addressWord ^ right.addressWord)
      | UInt64(left.tail ^ right.tail) | UInt64(left.kind.rawValue ^ right.kind.rawValue) == 0
  }

  /// The words that distinguish identities, for tables with a hash of their own.
  ///
  /// - Shape: UUID or namespace; UUID or namespace and instance; the address where it is part of the key; major, minor and
  ///   kind.
  @inlinable
  public var words: (high: UInt64, low: UInt64, address: UInt64, tail: UInt64) {
    (high, low, addressWord, UInt64(tail) | UInt64(kind.rawValue) << 32)
  }

  /// An iBeacon or AltBeacon.
  public static func proximity(_ uuid: UUID128, major: UInt16, minor: UInt16) -> BeaconID {
    BeaconID(
      kind: .proximity,
      high: uuid.high,
      low: uuid.low,
      tail: UInt32(major) << 16 | UInt32(minor),
      addressWord: 0
    )
  }

  /// An Eddystone-UID beacon; of `instance` the low 48 bits count.
  public static func eddystone(_ namespace: EddystoneNamespace, instance: UInt64) -> BeaconID {
    BeaconID(
      kind: .eddystone,
      high: namespace.high,
      low: UInt64(namespace.low) << 48 | instance & 0xFFFF_FFFF_FFFF,
      tail: 0,
      addressWord: 0
    )
  }

  /// A device known by its address alone, whatever it advertises.
  public static func address(_ address: DeviceAddress) -> BeaconID {
    BeaconID(kind: .address, high: 0, low: 0, tail: 0, addressWord: word(of: address))
  }

  /// The same identity with the address as a further part of the key (`key: mac`).
  public func keyed(by address: DeviceAddress) -> BeaconID {
    BeaconID(kind: kind, high: high, low: low, tail: tail, addressWord: BeaconID.word(of: address))
  }

  /// The same identity without an address in the key; a device that is known by its address alone stays as it is.
  public var unkeyed: BeaconID {
    kind == .address ? self : BeaconID(kind: kind, high: high, low: low, tail: tail, addressWord: 0)
  }

  /// The proximity UUID, if the identity has one.
  public var uuid: UUID128? { kind == .proximity ? UUID128(high: high, low: low) : nil }
  /// The major number, if the identity has one.
  public var major: UInt16? { kind == .proximity ? UInt16(truncatingIfNeeded: tail >> 16) : nil }
  /// The minor number, if the identity has one.
  public var minor: UInt16? { kind == .proximity ? UInt16(truncatingIfNeeded: tail) : nil }

  /// The Eddystone namespace, if the identity has one.
  public var namespace: EddystoneNamespace? {
    kind == .eddystone ? EddystoneNamespace(high: high, low: UInt16(truncatingIfNeeded: low >> 48)) : nil
  }
  /// The Eddystone instance in the low 48 bits, if the identity has one.
  public var instance: UInt64? { kind == .eddystone ? low & 0xFFFF_FFFF_FFFF : nil }

  /// The device address, where it is part of the key.
  ///
  /// Its kind is not part of the key, since some formats do not state it.
  public var address: DeviceAddress? {
    addressWord >> 63 == 1 ? DeviceAddress(bits: addressWord, kind: .unknown) : nil
  }

  private static func word(of address: DeviceAddress) -> UInt64 { 1 << 63 | address.bits }
}

extension BeaconID: Comparable {
  /// Orders identities by kind, then by their bytes.
  public static func < (left: BeaconID, right: BeaconID) -> Bool {
    (left.kind.rawValue, left.high, left.low, left.tail, left.addressWord)
      < (right.kind.rawValue, right.high, right.low, right.tail, right.addressWord)
  }
}

extension BeaconID: CustomStringConvertible {
  /// The canonical text: `UUID/major/minor`, `eddystone:namespace/instance` or `mac:address`; `@address` behind
  /// it where the address is part of the key.
  public var description: String {
    let suffix = address.map { "@\($0)" } ?? ""
    switch kind {
    case .proximity:
      return "\(UUID128(high: high, low: low))/\(tail >> 16)/\(tail & 0xFFFF)\(suffix)"
    case .eddystone:
      return
        "eddystone:\(Hex.text(high, bytes: 8))\(Hex.text(low >> 48, bytes: 2))/\(Hex.text(low, bytes: 6))"
        + suffix
    case .address:
      return "mac:" + suffix.dropFirst()
    }
  }

  /// Reads the canonical text back, or nil if it is none.
  public init?(_ text: some StringProtocol) {
    let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard let body = halves.first else { return nil }
    let id: BeaconID
    if body.hasPrefix("mac:") {
      guard halves.count == 1, let address = DeviceAddress(body.dropFirst(4)) else { return nil }
      id = .address(address)
    } else if body.hasPrefix("eddystone:") {
      let parts = body.dropFirst(10).split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, let namespace = EddystoneNamespace(parts[0]) else { return nil }
      guard let instance = OctetText.parse(parts[1], octets: 6) else { return nil }
      id = .eddystone(namespace, instance: instance)
    } else {
      let parts = body.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 3, let uuid = UUID128(parts[0]) else { return nil }
      guard let major = UInt16(parts[1]), let minor = UInt16(parts[2]) else { return nil }
      id = .proximity(uuid, major: major, minor: minor)
    }
    guard halves.count == 2 else {
      self = id
      return
    }
    guard let address = DeviceAddress(halves[1]) else { return nil }
    self = id.keyed(by: address)
  }
}

/// The 10 bytes that name the owner of a set of Eddystone-UID beacons.
public struct EddystoneNamespace: Hashable, Comparable, Sendable {
  /// Bytes 0 to 7, the first one most significant.
  public let high: UInt64
  /// Bytes 8 and 9.
  public let low: UInt16

  /// Makes a namespace from its two parts.
  public init(high: UInt64, low: UInt16) {
    self.high = high
    self.low = low
  }

  /// Reads 20 hexadecimal digits.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Hex.bytes(text), bytes.count == 10 else { return nil }
    self.init(
      high: bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) },
      low: UInt16(bytes[8]) << 8 | UInt16(bytes[9])
    )
  }

  /// Orders namespaces by their bytes.
  public static func < (left: EddystoneNamespace, right: EddystoneNamespace) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

extension EddystoneNamespace: CustomStringConvertible {
  /// 20 hexadecimal digits.
  public var description: String { Hex.text(high, bytes: 8) + Hex.text(UInt64(low), bytes: 2) }
}

/// The beacons that a region or a ranging request is about: an identity whose lower parts may be left open.
public enum BeaconConstraint: Hashable, Sendable {
  /// A proximity UUID with, if given, a major, and with that, if given, a minor.
  case proximity(UUID128, major: UInt16? = nil, minor: UInt16? = nil)
  /// An Eddystone namespace with, if given, an instance in the low 48 bits.
  case eddystone(EddystoneNamespace, instance: UInt64? = nil)
  /// A device address, whatever it advertises.
  case address(DeviceAddress)

  /// Returns whether a beacon fulfils the constraint, regardless of the address that `key: mac` adds to an identity.
  public func matches(_ beacon: BeaconID) -> Bool {
    switch self {
    case .proximity(let uuid, let major, let minor):
      beacon.uuid == uuid && (major == nil || beacon.major == major)
        && (minor == nil || beacon.minor == minor)
    case .eddystone(let namespace, let instance):
      beacon.namespace == namespace && (instance == nil || beacon.instance == instance)
    case .address(let address):
      beacon.kind == .address && beacon.address?.bits == address.bits
    }
  }
}

extension BeaconConstraint: CustomStringConvertible {
  /// As ``BeaconID/description``, with `*` for what is left open.
  public var description: String {
    switch self {
    case .proximity(let uuid, let major, let minor):
      "\(uuid)/\(major.map { "\($0)" } ?? "*")/\(minor.map { "\($0)" } ?? "*")"
    case .eddystone(let namespace, let instance):
      "eddystone:\(namespace)/\(instance.map { Hex.text($0, bytes: 6) } ?? "*")"
    case .address(let address):
      "mac:\(address)"
    }
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

extension BeaconConstraint: FieldUnion {
  /// The name of the field.
  public static var fieldName: String { "a constraint's kind" }

  /// Hands each case to a coder.
  public static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.proximity) {
      if case .proximity(let uuid, let major, let minor) = $0 { (uuid, major, minor) } else { nil }
    }
    try coder.code(&union, 1, Self.eddystone) {
      if case .eddystone(let namespace, let instance) = $0 { (namespace, instance) } else { nil }
    }
    try coder.code(&union, 2, Self.address) { if case .address(let address) = $0 { address } else { nil } }
  }
}

extension BeaconConstraint {
  /// The constraint of a value whose fields are still to be read.
  package static var unread: BeaconConstraint { .address(DeviceAddress(bits: 0, kind: .unknown)) }
}

extension EddystoneNamespace: FieldRecord {
  /// Hands each field to a coder.
  @inlinable
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(high: try coder.field(value().high), low: try coder.field(value().low))
  }
}
