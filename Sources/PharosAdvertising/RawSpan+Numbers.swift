import PharosReports

extension RawSpan {
  /// The number that begins at an offset, its most significant byte first; trips when it would end past the span.
  func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, at offset: Int) -> Number {
    Number(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// The number that begins at an offset, its least significant byte first; trips as ``bigEndian(_:at:)`` does.
  func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type,
    at offset: Int
  ) -> Number {
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// The byte at an offset; trips when it lies past the span.
  func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// The 16 bytes at an offset as a UUID, in the order in which it is printed.
  func uuid(at offset: Int) -> UUID128 {
    UUID128(high: bigEndian(UInt64.self, at: offset), low: bigEndian(UInt64.self, at: offset + 8))
  }
}
