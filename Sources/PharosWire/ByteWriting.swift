/// What encoders append; numbers are big-endian.
extension Array where Element == UInt8 {
  /// Appends the lowest `bytes` bytes of a number.
  mutating func append(_ number: UInt64, bytes: Int) {
    var shift = bytes * 8
    while shift > 0 {
      shift -= 8
      append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  /// Appends two bytes.
  mutating func append(u16 number: UInt16) { append(UInt64(number), bytes: 2) }

  /// Appends four bytes.
  mutating func append(u32 number: UInt32) { append(UInt64(number), bytes: 4) }

  /// Appends eight bytes.
  mutating func append(u64 number: UInt64) { append(number, bytes: 8) }

  /// Appends a number of single precision.
  mutating func append(f32 number: Float) { append(u32: number.bitPattern) }

  /// Appends a number of double precision.
  mutating func append(f64 number: Double) { append(u64: number.bitPattern) }

  /// Overwrites the bytes from an offset on with the lowest `bytes` bytes of a number.
  mutating func put(_ number: UInt64, bytes: Int, at offset: Int) {
    for index in 0..<bytes {
      self[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64((bytes - 1 - index) * 8))
    }
  }
}
