import PharosReports

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
  static let longestData = 254
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
