/// Numbers appended byte by byte, in either order.
extension [UInt8] {
  mutating func appendLittle(_ number: some FixedWidthInteger) { appendMemory(of: number.littleEndian) }

  mutating func appendBig(_ number: some FixedWidthInteger) { appendMemory(of: number.bigEndian) }

  /// Appends the bytes of a number as they lie in memory.
  private mutating func appendMemory(of number: some FixedWidthInteger) {
    unsafe Swift.withUnsafeBytes(of: number) { unsafe append(contentsOf: $0) }
  }

  /// Appends zeros up to a multiple of four from a starting point.
  mutating func padToFour(from start: Int) {
    while (count - start) % 4 != 0 { append(0) }
  }

  /// Overwrites two bytes with a number, the most significant byte first.
  mutating func replaceBig(at index: Int, with number: UInt16) {
    self[index] = UInt8(number >> 8)
    self[index + 1] = UInt8(truncatingIfNeeded: number)
  }
}
