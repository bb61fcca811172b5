public import PharosReports

/// An Eddystone-TLM frame in the clear: how a beacon fares.
///
/// - Shape: service data behind the UUID, all big-endian: 0 `20`, 1 version `00`, 2 battery (u16, mV),
///   4 temperature (signed 8.8, °C), 6 adverts sent (u32), 10 time since start (u32, 0.1 s); 14 bytes.
public struct EddystoneTLM: Hashable, Sendable {
  /// The battery's voltage as sent: 0 if there is no battery or no way to measure it.
  let batteryWord: UInt16
  /// The temperature as sent: `8000` if there is no sensor.
  let temperatureWord: UInt16
  /// How many frames the beacon has advertised since it started.
  public let advertCount: UInt32
  /// How long the beacon has been running, as sent.
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

  /// The battery's voltage, or nil if the beacon does not tell.
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

  /// How long the beacon has been running.
  public var uptime: TimeSpan { .milliseconds(Int64(uptimeTenths) * 100) }

  /// The first byte of the frame, plain or encrypted.
  static let code: UInt8 = 0x20
  /// The second byte of a frame in the clear.
  static let version: UInt8 = 0x00
  /// The shortest frame.
  static let length = 14
  /// What a beacon without a sensor sends: −128 °C.
  private static let noTemperature: UInt16 = 0x8000

  /// Reads a frame that begins with ``code`` and ``version`` and is at least ``length`` long.
  init(frame: RawSpan) {
    batteryWord = frame.bigEndian(UInt16.self, at: 2)
    temperatureWord = frame.bigEndian(UInt16.self, at: 4)
    advertCount = frame.bigEndian(UInt32.self, at: 6)
    uptimeTenths = frame.bigEndian(UInt32.self, at: 10)
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
  static let version: UInt8 = 0x01
  /// The shortest frame.
  static let length = 18

  /// Reads a frame that begins with the code of ``EddystoneTLM`` and ``version`` and is at least ``length`` long.
  init(frame: RawSpan) {
    self.init(
      high: frame.bigEndian(UInt64.self, at: 2),
      low: frame.bigEndian(UInt32.self, at: 10),
      salt: frame.bigEndian(UInt16.self, at: 14),
      integrityCheck: frame.bigEndian(UInt16.self, at: 16)
    )
  }
}
