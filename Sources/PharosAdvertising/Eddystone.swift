public import PharosReports

/// What the Eddystone frames have in common.
///
/// - Source: google/eddystone, `protocol-specification.md`.
@usableFromInline
enum Eddystone {
  /// The 16-bit service UUID under which all frames are sent.
  static let service: UInt16 = 0xFEAA

  /// What is lost in the first metre: Eddystone states its power at 0 m, everyone else at 1 m.
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
  static let code: UInt8 = 0x00
  /// The shortest frame: one without the reserved bytes.
  static let length = 18

  /// Reads a frame that begins with ``code`` and is at least ``length`` long.
  init(frame: RawSpan) {
    high = frame.bigEndian(UInt64.self, at: 2)
    low = frame.bigEndian(UInt64.self, at: 10)
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
  static let code: UInt8 = 0x30
  /// The shortest frame.
  static let length = 10

  /// Reads a frame that begins with ``code`` and is at least ``length`` long.
  init(frame: RawSpan) {
    self.init(
      identifier: frame.bigEndian(UInt64.self, at: 2),
      transmitPower: Int8(bitPattern: frame.byte(at: 1))
    )
  }
}
