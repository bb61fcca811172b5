public import PharosModel

/// Finds the beacon frames in the payload of an advert, wherever in it they stand.
///
/// Nothing is allocated and nothing fails: what is no frame is passed over, and what stands before a damaged
/// length counts. Who sent the payload, and in which PDU, does not matter: beacons use every kind of PDU.
public struct FrameDecoder: Sendable {
  /// Further companies whose manufacturer data may be iBeacons; almost always none.
  private let furtherCompanies: [UInt16]

  /// Creates a decoder.
  ///
  /// Some makers send the iBeacon layout under their own company identifier, as Nordic's `5900` does in its
  /// examples. A phone does not take those for iBeacons, and neither does Pharos unless the companies are given here.
  ///
  /// - Parameter iBeaconCompanies: companies whose manufacturer data are taken for iBeacons beside Apple's.
  public init(iBeaconCompanies: [UInt16] = []) { furtherCompanies = iBeaconCompanies }

  /// Calls a closure with each frame of a payload, in order; a frame that stands there twice comes twice.
  @inlinable
  public func forEachFrame(in payload: RawSpan, _ body: (Frame) -> Void) {
    var structures = ADStructures()
    while let structure = structures.next(in: payload) {
      guard structure.type.mayHoldFrame, let frame = frame(of: structure, in: payload) else { continue }
      body(frame)
    }
  }

  /// The frames of a payload, in order; for tools, since the array is allocated.
  public func frames(in payload: RawSpan) -> [Frame] {
    var frames: [Frame] = []
    forEachFrame(in: payload) { frames.append($0) }
    return frames
  }

  /// The frame that one AD structure of a payload holds, or nil if it holds none.
  ///
  /// The structure is one that a walk over the same payload gave; of another payload's it may trip.
  public func frame(of structure: ADStructure, in payload: RawSpan) -> Frame? {
    switch structure.type {
    case .manufacturerData: frame(manufacturerData: payload.extracting(structure.payload))
    case .serviceData16, .serviceData32, .serviceData128:
      FrameDecoder.frame(serviceData: payload.extracting(structure.payload), structure.type)
    default: nil
    }
  }

  private func frame(manufacturerData data: RawSpan) -> Frame? {
    guard data.byteCount >= 4 else { return nil }
    let company = data.littleEndian(UInt16.self, at: 0)
    switch data.u16(at: 2) {
    case IBeacon.code where data.byteCount >= IBeacon.length && accepts(company):
      return .iBeacon(IBeacon(manufacturerData: data, company: company))
    case AltBeacon.code where data.byteCount >= AltBeacon.length:
      return .altBeacon(AltBeacon(manufacturerData: data, company: company))
    default:
      return nil
    }
  }

  /// The company of manufacturer data in the layout of an iBeacon that is not taken for one; nil if there is none.
  ///
  /// For tools and tables that say which setting reads it.
  public func unreadIBeaconCompany(in payload: RawSpan) -> UInt16? {
    var structures = ADStructures()
    while let structure = structures.next(in: payload) {
      let data = structure.payload
      guard structure.type == .manufacturerData, data.count >= IBeacon.length,
        payload.u16(at: data.lowerBound + 2) == IBeacon.code
      else { continue }
      let company = payload.littleEndian(UInt16.self, at: data.lowerBound)
      if !accepts(company) { return company }
    }
    return nil
  }

  private func accepts(_ company: UInt16) -> Bool {
    company == IBeacon.appleCompany || furtherCompanies.contains(company)
  }

  /// Returns the Eddystone frame in service data, identified by the service UUID alone.
  ///
  /// It does not matter whether a list of services names that UUID as well. The first byte must match in full: under
  /// the same UUID, `21` is a sensor of KKM's and `40` and `41` are tags of the Find Hub network.
  private static func frame(serviceData data: RawSpan, _ type: ADType) -> Frame? {
    guard let length = type.serviceUUIDLength, data.byteCount > length else { return nil }
    let service: UInt64? =
      switch length {
      case 2: UInt64(data.littleEndian(UInt16.self, at: 0))
      case 4: UInt64(data.littleEndian(UInt32.self, at: 0))
      default:
        BluetoothUUID.short(
          of: UUID128(high: data.littleEndian(UInt64.self, at: 8), low: data.littleEndian(UInt64.self, at: 0))
        ).map { UInt64($0) }
      }
    guard service == UInt64(Eddystone.service) else { return nil }
    let frame = data.extracting(length..<data.byteCount)
    switch frame.byte(at: 0) {
    case EddystoneUID.code where frame.byteCount >= EddystoneUID.length:
      return .eddystoneUID(EddystoneUID(frame: frame))
    case EddystoneURL.code:
      return EddystoneURL(frame: frame).map(Frame.eddystoneURL)
    case EddystoneTLM.code where frame.byteCount >= EddystoneTLM.length:
      return telemetry(in: frame)
    case EddystoneEID.code where frame.byteCount >= EddystoneEID.length:
      return .eddystoneEID(EddystoneEID(frame: frame))
    default:
      return nil
    }
  }

  private static func telemetry(in frame: RawSpan) -> Frame? {
    switch frame.byte(at: 1) {
    case EddystoneTLM.version:
      return .eddystoneTLM(EddystoneTLM(frame: frame))
    case EddystoneEncryptedTLM.version where frame.byteCount >= EddystoneEncryptedTLM.length:
      return .eddystoneEncryptedTLM(EddystoneEncryptedTLM(frame: frame))
    default:
      return nil
    }
  }
}

extension ADType {
  /// Indicates whether such a structure may hold a beacon's frame.
  @inlinable package var mayHoldFrame: Bool {
    self == .manufacturerData || (0x16...0x21 ~= rawValue && serviceUUIDLength != nil)
  }

  /// The length of the service's UUID in front of service data; nil for a structure of another type.
  @inlinable package var serviceUUIDLength: Int? {
    switch self {
    case .serviceData16: 2
    case .serviceData32: 4
    case .serviceData128: 16
    default: nil
    }
  }
}

/// The contents of one AD structure, if it is a beacon's.
///
/// Fixed in size and free of references, so that a million of them cost no allocation.
public enum Frame: Hashable, Sendable {
  /// An iBeacon.
  case iBeacon(IBeacon)
  /// An AltBeacon.
  case altBeacon(AltBeacon)
  /// An Eddystone beacon's identity.
  case eddystoneUID(EddystoneUID)
  /// An Eddystone beacon's web address.
  case eddystoneURL(EddystoneURL)
  /// An Eddystone beacon's telemetry.
  case eddystoneTLM(EddystoneTLM)
  /// An Eddystone beacon's telemetry, encrypted.
  case eddystoneEncryptedTLM(EddystoneEncryptedTLM)
  /// An Eddystone beacon's changing identity.
  case eddystoneEID(EddystoneEID)

  /// The beacon that the frame identifies, or nil if it identifies none.
  ///
  /// A web address is no identity, telemetry has none, and a changing one is no key.
  @inlinable public var beacon: BeaconID? {
    switch self {
    case .iBeacon(let frame):
      .proximity(frame.uuid, major: frame.major, minor: frame.minor)
    case .altBeacon(let frame):
      .proximity(frame.uuid, major: frame.major, minor: frame.minor)
    case .eddystoneUID(let frame):
      .eddystone(frame.namespace, instance: frame.instance)
    case .eddystoneURL, .eddystoneTLM, .eddystoneEncryptedTLM, .eddystoneEID:
      nil
    }
  }

  /// The level at which a receiver 1 m away hears the beacon, or nil if the frame does not state it, or states none
  /// (`MeasuredPower`).
  ///
  /// Eddystone states its power at 0 m; 41 dB are taken off for the first metre.
  ///
  /// - Units: dBm.
  @inlinable public var measuredPower: Int8? { statedPower.flatMap { MeasuredPower.known($0) } }

  /// The number that the frame states as its power at one metre, whether it can be one or not.
  @inlinable var statedPower: Int8? {
    switch self {
    case .iBeacon(let frame): frame.measuredPower
    case .altBeacon(let frame): frame.measuredPower
    case .eddystoneUID(let frame): Eddystone.measuredPower(transmitPower: frame.transmitPower)
    case .eddystoneURL(let frame): Eddystone.measuredPower(transmitPower: frame.transmitPower)
    case .eddystoneEID(let frame): Eddystone.measuredPower(transmitPower: frame.transmitPower)
    case .eddystoneTLM, .eddystoneEncryptedTLM: nil
    }
  }

  /// Indicates whether the frame is one of Eddystone's.
  public var isEddystone: Bool {
    switch self {
    case .iBeacon, .altBeacon: false
    case .eddystoneUID, .eddystoneURL, .eddystoneTLM, .eddystoneEncryptedTLM, .eddystoneEID: true
    }
  }
}

extension FrameDecoder {
  /// Returns the iBeacon of a payload that holds nothing beside it but flags, or nil if the payload must be walked.
  ///
  /// The result is all that ``forEachFrame(in:_:)`` would find there. Nearly all beacons advertise so, and then three
  /// words suffice to recognise it.
  ///
  /// - Parameters:
  ///   - payloads: the bytes that hold the payload.
  ///   - range: the range of the payload in them; it trips if the range ends past them.
  /// - Returns: the identity, and the byte that states the level at one metre, which may be none (`MeasuredPower`).
  /// - Shape: `02 01 xx`, if there are flags; `1A FF 4C 00 02 15`, UUID, major, minor, measured power; then nothing, or a
  ///   length of zero.
  /// - Units: the stated power is in dBm.
  @inlinable
  @inline(__always)
  public static func soleIBeacon(
    in payloads: RawSpan,
    at range: Range<Int>
  ) -> (beacon: BeaconID, statedPower: Int8)? {
    guard range.count >= 27 else { return nil }
    precondition(
      range.lowerBound >= 0 && range.upperBound <= payloads.byteCount,
      "a payload within its bytes"
    )
    // From here on all offsets lie within the range.
    let start = range.lowerBound
    let head = UInt64(littleEndian: word(at: start, in: payloads))
    let identity: Int
    if head & 0xFFFF_FFFF_FF00_FFFF == 0x0200_4CFF_1A00_0102 {
      guard range.count >= 30, byte(at: start + 8, in: payloads) == 0x15 else { return nil }
      identity = start + 9
    } else if head & 0xFFFF_FFFF_FFFF == 0x1502_004C_FF1A {
      identity = start + 6
    } else {
      return nil
    }
    let end = identity + 21
    guard end == range.upperBound || byte(at: end, in: payloads) == 0 else { return nil }
    let tail = unsafe payloads.unsafeLoadUnaligned(fromUncheckedByteOffset: identity + 16, as: UInt32.self)
    let beacon = BeaconID(
      proximityHigh: UInt64(bigEndian: word(at: identity, in: payloads)),
      low: UInt64(bigEndian: word(at: identity + 8, in: payloads)),
      majorAndMinor: UInt32(bigEndian: tail)
    )
    return (beacon, Int8(bitPattern: byte(at: end - 1, in: payloads)))
  }

  @inlinable
  static func word(at offset: Int, in payloads: RawSpan) -> UInt64 {
    unsafe payloads.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
  }

  @inlinable
  static func byte(at offset: Int, in payloads: RawSpan) -> UInt8 {
    unsafe payloads.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }
}

extension FrameDecoder {
  /// The identity in an advert, where it carries at most one.
  public enum SoleIdentity: Hashable, Sendable {
    /// It carries no identity, and nothing else that stage one would take from it.
    case none
    /// It carries this one, and the level at one metre in dBm, if it states one.
    case one(BeaconID, measuredPower: Int8?)
    /// It carries more: further frames with identities, or telemetry.
    case more
  }

  /// Returns the identity of a payload, if it carries no other: one walk without allocation.
  ///
  /// Frames without an identity (web addresses, changing identities, encrypted telemetry) are ignored.
  public func soleIdentity(in payload: RawSpan) -> SoleIdentity {
    var structures = ADStructures()
    var found = SoleIdentity.none
    while let structure = structures.next(in: payload) {
      guard structure.type.mayHoldFrame, let frame = frame(of: structure, in: payload) else { continue }
      if case .eddystoneTLM = frame { return .more }
      guard let beacon = frame.beacon else { continue }
      guard case .none = found else { return .more }
      found = .one(beacon, measuredPower: frame.measuredPower)
    }
    return found
  }
}

extension RawSpan {
  /// The number that begins at an offset, its least significant byte first; traps when it would end past the span.
  func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type,
    at offset: Int
  ) -> Number {
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// The 16 bytes at an offset as a UUID, in the order in which it is printed.
  func uuid(at offset: Int) -> UUID128 {
    UUID128(high: u64(at: offset), low: u64(at: offset + 8))
  }
}
