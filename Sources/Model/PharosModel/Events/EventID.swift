public import PharosDocuments

/// The identity of a decision: 128 bits that depend on what was decided and on nothing else.
public struct EventID: Hashable, Sendable {
  /// Bits 64 to 127.
  public let high: UInt64
  /// Bits 0 to 63.
  public let low: UInt64

  /// Makes an id from its bits, as the journal reads them back.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The hash of what makes a decision this one; the parts are kept apart by a byte that none of them contains.
  ///
  /// - Source: FNV-1a with 128 bits (Fowler, Noll, Vo; draft-eastlake-fnv). It is no defence against forgery,
  ///   which ids are not asked for.
  init(
    stream: String,
    application: String,
    region: String,
    subject: SubjectID,
    kind: UInt8,
    counter: UInt64
  ) {
    var hash = FNV128()
    hash.mix(stream)
    hash.mix(application)
    hash.mix(region)
    hash.mix(subject.description)
    hash.mix(kind)
    for shift in stride(from: 0, to: 64, by: 8) { hash.mix(UInt8(truncatingIfNeeded: counter >> shift)) }
    high = UInt64(truncatingIfNeeded: hash.value >> 64)
    low = UInt64(truncatingIfNeeded: hash.value)
  }
}

extension EventID: FieldRecord {
  /// Hands each field to a coder.
  @inlinable
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(high: try coder.field(value().high), low: try coder.field(value().low))
  }
}

extension EventID: CustomStringConvertible {
  /// 32 hexadecimal digits.
  public var description: String { Hex.text(high, bytes: 8) + Hex.text(low, bytes: 8) }
}

private struct FNV128 {
  /// The offset basis.
  var value: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D

  mutating func mix(_ byte: UInt8) {
    value ^= UInt128(byte)
    value &*= 0x0000_0000_0100_0000_0000_0000_0000_013B
  }

  mutating func mix(_ text: String) {
    for byte in text.utf8 { mix(byte) }
    mix(0xFF)
  }
}
