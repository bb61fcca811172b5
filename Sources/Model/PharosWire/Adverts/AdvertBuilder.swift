import PharosModel

/// Composes the payload of an advert from AD structures, as a beacon would.
///
/// For the simulator and for tests. What does not fit is refused and leaves the payload as it was.
public struct AdvertBuilder: Sendable {
  /// The capacity of a payload, in bytes.
  public enum Capacity: Int, Sendable {
    /// Legacy advertising.
    case legacy = 31
    /// Extended advertising, its chained PDUs joined.
    case extended = 1_650
  }

  /// The structures so far.
  public private(set) var payload: [UInt8] = []
  /// The capacity of the payload.
  public let capacity: Capacity
  private var listsEddystone = false

  /// General discoverable, no BR/EDR: the flags of most beacons.
  public static let usualFlags: UInt8 = 0x06

  /// Starts with the flags, or with nothing if they are nil.
  public init(flags: UInt8? = AdvertBuilder.usualFlags, capacity: Capacity = .legacy) {
    self.capacity = capacity
    if let flags { payload = ADStructure.encoded(.flags, [flags]) }
  }

  /// Appends a frame; before the first one of Eddystone's the list of services that names it.
  public mutating func append(_ frame: Frame) throws(AdvertError) {
    guard frame.isEddystone, !listsEddystone else { return try append(structure: frame.encoded) }
    try append(structure: AdvertBuilder.eddystoneList + frame.encoded)
    listsEddystone = true
  }

  /// Appends the device's whole name.
  public mutating func append(localName: String) throws(AdvertError) {
    try append(.completeName, Array(localName.utf8))
  }

  /// Appends a structure of any type.
  public mutating func append(_ type: ADType, _ data: [UInt8]) throws(AdvertError) {
    guard data.count <= ADStructure.maximumData else { throw .structureTooLong(dataBytes: data.count) }
    try append(structure: ADStructure.encoded(type, data))
  }

  private mutating func append(structure: [UInt8]) throws(AdvertError) {
    let needed = payload.count + structure.count
    guard needed <= capacity.rawValue else {
      throw .payloadTooLong(bytes: needed, capacity: capacity.rawValue)
    }
    payload += structure
  }

  private static let eddystoneList = ADStructure.encoded(
    .allServices16,
    [UInt8(truncatingIfNeeded: Eddystone.service), UInt8(Eddystone.service >> 8)]
  )
}

extension Frame {
  /// The frame as a beacon advertises it alone: flags, for Eddystone the list of services, and the frame.
  ///
  /// Every frame fits into the 31 bytes of a legacy payload.
  public var legacyPayload: [UInt8] {
    var builder = AdvertBuilder()
    do {
      try builder.append(self)
    } catch {
      preconditionFailure("a frame alone must fit into a legacy payload: \(error)")
    }
    return builder.payload
  }
}

/// A reason why an advert cannot be composed.
public enum AdvertError: Error, Equatable, Sendable {
  /// The structures together are longer than the payload may be.
  case payloadTooLong(bytes: Int, capacity: Int)
  /// One structure has more data than its length byte can count.
  case structureTooLong(dataBytes: Int)
}

extension AdvertError: CustomStringConvertible {
  /// The part that was too long, the permitted length, and the remedy.
  public var description: String {
    switch self {
    case .payloadTooLong(let bytes, let capacity):
      "advert payload of \(bytes) bytes: at most \(capacity) fit. Leave a structure out"
        + (capacity == AdvertBuilder.Capacity.legacy.rawValue ? " or use extended advertising." : ".")
    case .structureTooLong(let dataBytes):
      "AD structure with \(dataBytes) bytes of data: at most \(ADStructure.maximumData) fit. Split the data."
    }
  }
}

extension Frame {
  /// The frame as one AD structure: length, type and data, as the specification of its kind lays them out.
  ///
  /// For tools and the simulator, since the array is allocated. Decoding gives the same frame again, provided that
  /// an iBeacon of another company than Apple is accepted.
  public var encoded: [UInt8] {
    switch self {
    case .iBeacon(let frame): frame.encoded
    case .altBeacon(let frame): frame.encoded
    case .eddystoneUID(let frame): Frame.eddystone(frame.encodedFrame)
    case .eddystoneURL(let frame): Frame.eddystone(frame.encodedFrame)
    case .eddystoneTLM(let frame): Frame.eddystone(frame.encodedFrame)
    case .eddystoneEncryptedTLM(let frame): Frame.eddystone(frame.encodedFrame)
    case .eddystoneEID(let frame): Frame.eddystone(frame.encodedFrame)
    }
  }

  private static func eddystone(_ frame: [UInt8]) -> [UInt8] {
    var data: [UInt8] = []
    data.append(littleEndian: Eddystone.service)
    return ADStructure.encoded(.serviceData16, data + frame)
  }
}

extension ADStructure {
  /// A structure as it is sent; `data` hold at most 254 bytes.
  static func encoded(_ type: ADType, _ data: [UInt8]) -> [UInt8] {
    [UInt8(data.count + 1), type.rawValue] + data
  }

  /// The most data that a structure can hold, its length being one byte that counts the type as well.
  static let maximumData = 254
}

extension [UInt8] {
  /// Appends a number, its most significant byte first.
  fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
    for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Appends a number, its least significant byte first.
  fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
    append(bigEndian: number.byteSwapped)
  }

  /// Appends a UUID in the order in which it is printed.
  fileprivate mutating func append(_ uuid: UUID128) {
    append(bigEndian: uuid.high)
    append(bigEndian: uuid.low)
  }
}

extension IBeacon {
  fileprivate var encoded: [UInt8] {
    var data: [UInt8] = []
    data.append(littleEndian: company)
    data.append(bigEndian: IBeacon.code)
    data.append(uuid)
    data.append(bigEndian: major)
    data.append(bigEndian: minor)
    data.append(UInt8(bitPattern: measuredPower))
    return ADStructure.encoded(.manufacturerData, data)
  }
}

extension AltBeacon {
  fileprivate var encoded: [UInt8] {
    var data: [UInt8] = []
    data.append(littleEndian: company)
    data.append(bigEndian: AltBeacon.code)
    data.append(uuid)
    data.append(bigEndian: major)
    data.append(bigEndian: minor)
    data.append(UInt8(bitPattern: measuredPower))
    data.append(manufacturerByte)
    return ADStructure.encoded(.manufacturerData, data)
  }
}

extension EddystoneUID {
  fileprivate var encodedFrame: [UInt8] {
    var frame = [EddystoneUID.code, UInt8(bitPattern: transmitPower)]
    frame.append(bigEndian: namespace.high)
    frame.append(bigEndian: namespace.low)
    for shift in stride(from: 40, through: 0, by: -8) {
      frame.append(UInt8(truncatingIfNeeded: instance >> UInt64(shift)))
    }
    return frame + [0, 0]
  }
}

extension EddystoneURL {
  fileprivate var encodedFrame: [UInt8] {
    [EddystoneURL.code, UInt8(bitPattern: transmitPower), scheme.rawValue] + encoded
  }
}

extension EddystoneTLM {
  fileprivate var encodedFrame: [UInt8] {
    var frame = [EddystoneTLM.code, EddystoneTLM.version]
    frame.append(bigEndian: batteryWord)
    frame.append(bigEndian: temperatureWord)
    frame.append(bigEndian: advertCount)
    frame.append(bigEndian: uptimeTenths)
    return frame
  }
}

extension EddystoneEncryptedTLM {
  fileprivate var encodedFrame: [UInt8] {
    var frame = [EddystoneTLM.code, EddystoneEncryptedTLM.version]
    frame.append(bigEndian: high)
    frame.append(bigEndian: low)
    frame.append(bigEndian: salt)
    frame.append(bigEndian: integrityCheck)
    return frame
  }
}

extension EddystoneEID {
  fileprivate var encodedFrame: [UInt8] {
    var frame = [EddystoneEID.code, UInt8(bitPattern: transmitPower)]
    frame.append(bigEndian: identifier)
    return frame
  }
}
