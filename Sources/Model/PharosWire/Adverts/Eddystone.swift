import PharosDocuments
public import PharosModel

/// The constants that the Eddystone frames share.
///
/// - Source: google/eddystone, `protocol-specification.md`.
@usableFromInline
package enum Eddystone {
  /// The 16-bit service UUID under which all frames are sent.
  package static let service: UInt16 = 0xFEAA

  /// The loss in the first metre: Eddystone states its power at 0 m, all other formats at 1 m.
  ///
  /// - Units: dB.
  @inlinable static var lossOfFirstMetre: Int { 41 }

  /// The level at 1 m of a beacon that states `transmitPower` at 0 m, held at the end of the range.
  @inlinable
  static func measuredPower(transmitPower: Int8) -> Int8 {
    Int8(clamping: Int(transmitPower) - lossOfFirstMetre)
  }
}

/// An Eddystone-UID frame: a namespace and an instance in it.
///
/// - Shape: service data behind the UUID: 0 `00`, 1 transmit power, 2 namespace (10), 12 instance (6), 18 reserved
///   (2), which some senders leave out.
public struct EddystoneUID: Hashable, Sendable {
  /// Namespace bytes 0 to 7.
  @usableFromInline let high: UInt64
  /// Namespace bytes 8 and 9, then the instance.
  @usableFromInline let low: UInt64
  /// The level at 0 m.
  ///
  /// - Units: dBm.
  public let transmitPower: Int8

  /// Makes a frame; of `instance` the low 48 bits count.
  public init(namespace: EddystoneNamespace, instance: UInt64, transmitPower: Int8) {
    high = namespace.high
    low = UInt64(namespace.low) << 48 | instance & 0xFFFF_FFFF_FFFF
    self.transmitPower = transmitPower
  }

  /// The 10 bytes that name the owner.
  @inlinable public var namespace: EddystoneNamespace {
    EddystoneNamespace(high: high, low: UInt16(truncatingIfNeeded: low >> 48))
  }

  /// The 6 bytes that number the beacon, in the low 48 bits.
  @inlinable public var instance: UInt64 { low & 0xFFFF_FFFF_FFFF }

  /// The first byte of the frame.
  package static let code: UInt8 = 0x00
  /// The shortest frame: one without the reserved bytes.
  static let length = 18

  /// Reads a frame that begins with ``code`` and is at least ``length`` long.
  init(frame: RawSpan) {
    high = frame.u64(at: 2)
    low = frame.u64(at: 10)
    transmitPower = Int8(bitPattern: frame.byte(at: 1))
  }
}

/// An Eddystone-EID frame: an identifier that changes and that only its owner can resolve.
///
/// - Shape: service data behind the UUID: 0 `30`, 1 transmit power, 2 identifier (8).
public struct EddystoneEID: Hashable, Sendable {
  /// The identifier of the moment, its first byte most significant.
  public let identifier: UInt64
  /// The level at 0 m.
  ///
  /// - Units: dBm.
  public let transmitPower: Int8

  /// Makes a frame.
  public init(identifier: UInt64, transmitPower: Int8) {
    self.identifier = identifier
    self.transmitPower = transmitPower
  }

  /// The first byte of the frame.
  package static let code: UInt8 = 0x30
  /// The shortest frame.
  static let length = 10

  /// Reads a frame that begins with ``code`` and is at least ``length`` long.
  init(frame: RawSpan) {
    self.init(
      identifier: frame.u64(at: 2),
      transmitPower: Int8(bitPattern: frame.byte(at: 1))
    )
  }
}

/// An Eddystone-URL frame: a web address, shortened by one byte for its beginning and one for each usual ending.
///
/// It keeps the bytes as they were sent; the text is made when it is asked for.
///
/// - Shape: service data behind the UUID: 0 `10`, 1 transmit power, 2 scheme (0 to 3), 3 the encoded rest, 1 to 17
///   bytes. A frame with another scheme, or whose rest is empty or longer, is refused.
public struct EddystoneURL: Sendable {
  /// The scheme with which the address begins.
  public enum Scheme: UInt8, CaseIterable, Hashable, Sendable {
    /// `http://www.`
    case httpWWW
    /// `https://www.`
    case httpsWWW
    /// `http://`
    case http
    /// `https://`
    case https

    /// The text that the byte stands for.
    public var text: String {
      switch self {
      case .httpWWW: "http://www."
      case .httpsWWW: "https://www."
      case .http: "http://"
      case .https: "https://"
      }
    }
  }

  /// The level at 0 m.
  ///
  /// - Units: dBm.
  public let transmitPower: Int8
  /// The scheme with which the address begins.
  public let scheme: Scheme
  /// The number of bytes of `bytes` that were sent.
  let count: UInt8
  /// The encoded rest, zeros behind it.
  let bytes: InlineArray<17, UInt8>

  /// Makes a frame from the encoded rest of an address, or nil if that is empty or longer than 17 bytes.
  public init?(scheme: Scheme, encoded: [UInt8], transmitPower: Int8) {
    guard (1...EddystoneURL.maximumRest).contains(encoded.count) else { return nil }
    self.transmitPower = transmitPower
    self.scheme = scheme
    count = UInt8(encoded.count)
    bytes = InlineArray { index in index < encoded.count ? encoded[index] : 0 }
  }

  /// The encoded rest of the address as it is sent: characters and codes for usual endings.
  public var encoded: [UInt8] { (0..<Int(count)).map { bytes[$0] } }

  /// The first byte of the frame.
  package static let code: UInt8 = 0x10
  /// The number of bytes before the rest.
  static let headLength = 3
  /// The longest rest that the specification allows: what fits beside flags and the list of services.
  static let maximumRest = 17

  /// Reads a frame that begins with ``code``, or gives nil if it is none.
  init?(frame: RawSpan) {
    let restLength = frame.byteCount - EddystoneURL.headLength
    guard restLength >= 1, restLength <= EddystoneURL.maximumRest else { return nil }
    guard let scheme = Scheme(rawValue: frame.byte(at: 2)) else { return nil }
    var bytes = InlineArray<17, UInt8>(repeating: 0)
    for index in 0..<restLength { bytes[index] = frame.byte(at: EddystoneURL.headLength + index) }
    self.bytes = bytes
    self.scheme = scheme
    count = UInt8(restLength)
    transmitPower = Int8(bitPattern: frame.byte(at: 1))
  }
}

extension EddystoneURL: Hashable {
  /// Compares what was sent.
  public static func == (left: EddystoneURL, right: EddystoneURL) -> Bool {
    guard left.transmitPower == right.transmitPower, left.scheme == right.scheme else { return false }
    guard left.count == right.count else { return false }
    for index in 0..<Int(left.count) where left.bytes[index] != right.bytes[index] { return false }
    return true
  }

  /// Hashes what was sent.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transmitPower)
    hasher.combine(scheme)
    for index in 0..<Int(count) { hasher.combine(bytes[index]) }
  }
}

extension EddystoneURL {
  /// The address as text.
  ///
  /// Bytes that cannot stand in an address (control characters, spaces, bytes beyond ASCII and the codes that the
  /// specification reserves) are percent-encoded, so that no advert can write control characters to a terminal.
  public var url: String {
    var text = scheme.text
    for index in 0..<Int(count) {
      let byte = bytes[index]
      if Int(byte) < EddystoneURL.endings.count {
        text += EddystoneURL.endings[Int(byte)]
      } else if byte > 0x20, byte < 0x7F {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "%" + Hex.text(CollectionOfOne(byte)).uppercased()
      }
    }
    return text
  }

  /// Makes a frame from an address, or nil if it does not begin with `http://` or `https://`, holds what cannot be
  /// encoded, or does not fit into 17 bytes once it is.
  public init?(_ url: String, transmitPower: Int8) {
    let text = Array(url.utf8)
    guard let scheme = Scheme.allCases.first(where: { text.starts(with: $0.text.utf8) }) else { return nil }
    var rest = text.dropFirst(scheme.text.utf8.count)
    var encoded: [UInt8] = []
    while let byte = rest.first {
      guard encoded.count < EddystoneURL.maximumRest else { return nil }
      if let code = EddystoneURL.endings.firstIndex(where: { rest.starts(with: $0.utf8) }) {
        encoded.append(UInt8(code))
        rest = rest.dropFirst(EddystoneURL.endings[code].utf8.count)
      } else {
        guard byte > 0x20, byte < 0x7F else { return nil }
        encoded.append(byte)
        rest = rest.dropFirst()
      }
    }
    self.init(scheme: scheme, encoded: encoded, transmitPower: transmitPower)
  }

  /// The texts for the codes 0 to 13; those with a slash come first, so that the longest match is the first.
  private static let endings = [
    ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/",
    ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov",
  ]
}

/// An Eddystone-TLM frame in the clear: how a beacon fares.
///
/// - Shape: service data behind the UUID, all big-endian: 0 `20`, 1 version `00`, 2 battery (u16, mV),
///   4 temperature (signed 8.8, °C), 6 adverts sent (u32), 10 time since start (u32, 0.1 s); 14 bytes.
public struct EddystoneTLM: Hashable, Sendable {
  /// The battery's voltage as sent: 0 if there is no battery or no way to measure it.
  package let batteryWord: UInt16
  /// The temperature as sent: `8000` if there is no sensor.
  package let temperatureWord: UInt16
  /// The number of frames that the beacon has advertised since it started.
  public let advertCount: UInt32
  /// The time for which the beacon has been running, as sent.
  ///
  /// - Units: tenths of a second.
  public let uptimeTenths: UInt32

  /// Makes a frame; the temperature is given in 256ths of a degree Celsius, as it is sent.
  public init(
    batteryMillivolts: UInt16?,
    temperature256ths: Int16?,
    advertCount: UInt32,
    uptimeTenths: UInt32
  ) {
    batteryWord = batteryMillivolts ?? 0
    temperatureWord = temperature256ths.map(UInt16.init(bitPattern:)) ?? EddystoneTLM.noTemperature
    self.advertCount = advertCount
    self.uptimeTenths = uptimeTenths
  }

  /// The battery's voltage, or nil if the beacon does not state it.
  ///
  /// - Units: mV.
  public var batteryMillivolts: UInt16? { batteryWord == 0 ? nil : batteryWord }

  /// The beacon's temperature, or nil if it has no sensor.
  ///
  /// - Units: °C.
  public var temperature: Double? {
    guard temperatureWord != EddystoneTLM.noTemperature else { return nil }
    return Double(Int16(bitPattern: temperatureWord)) / 256
  }

  /// The time for which the beacon has been running.
  public var uptime: TimeSpan { .milliseconds(Int64(uptimeTenths) * 100) }

  /// The first byte of the frame, plain or encrypted.
  package static let code: UInt8 = 0x20
  /// The second byte of a frame in the clear.
  package static let version: UInt8 = 0x00
  /// The shortest frame.
  static let length = 14
  /// The temperature that a beacon without a sensor sends: −128 °C.
  private static let noTemperature: UInt16 = 0x8000

  /// Reads a frame that begins with ``code`` and ``version`` and is at least ``length`` long.
  init(frame: RawSpan) {
    batteryWord = frame.u16(at: 2)
    temperatureWord = frame.u16(at: 4)
    advertCount = frame.u32(at: 6)
    uptimeTenths = frame.u32(at: 10)
  }
}

/// An Eddystone-TLM frame that only the owner of the beacon's key can read.
///
/// - Shape: service data behind the UUID, all big-endian: 0 `20`, 1 version `01`, 2 encrypted telemetry (12),
///   14 salt (2), 16 message integrity check (2); 18 bytes.
public struct EddystoneEncryptedTLM: Hashable, Sendable {
  /// Encrypted bytes 0 to 7, the first one most significant.
  public let high: UInt64
  /// Encrypted bytes 8 to 11, the first one most significant.
  public let low: UInt32
  /// The number that makes the encryption differ from frame to frame.
  public let salt: UInt16
  /// The check by which the owner knows that the key was the right one.
  public let integrityCheck: UInt16

  /// Makes a frame.
  public init(high: UInt64, low: UInt32, salt: UInt16, integrityCheck: UInt16) {
    self.high = high
    self.low = low
    self.salt = salt
    self.integrityCheck = integrityCheck
  }

  /// The second byte of an encrypted frame.
  package static let version: UInt8 = 0x01
  /// The shortest frame.
  static let length = 18

  /// Reads a frame that begins with the code of ``EddystoneTLM`` and ``version`` and is at least ``length`` long.
  init(frame: RawSpan) {
    self.init(
      high: frame.u64(at: 2),
      low: frame.u32(at: 10),
      salt: frame.u16(at: 14),
      integrityCheck: frame.u16(at: 16)
    )
  }
}
