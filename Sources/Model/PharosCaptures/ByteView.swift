/// The order in which a number's bytes stand.
enum ByteOrder: Sendable {
  /// The most significant byte first.
  case big
  /// The least significant byte first.
  case little
}

/// Bytes counted from zero, with numbers read from them.
///
/// A slice keeps the indices of the array it was cut from; here offsets are those of the format's own tables.
/// Every read is checked: callers compare with ``count`` first, and a mistake traps instead of reading on.
struct ByteView {
  /// The bytes.
  let bytes: ArraySlice<UInt8>
  /// The number of bytes.
  let count: Int
  private let base: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    count = bytes.count
    base = bytes.startIndex
  }

  /// The byte at an offset.
  subscript(_ offset: Int) -> UInt8 { bytes[base + offset] }

  /// `length` bytes from an offset on.
  func slice(_ offset: Int, _ length: Int) -> ArraySlice<UInt8> {
    bytes[(base + offset)..<(base + offset + length)]
  }

  /// All bytes from an offset on.
  func dropping(_ offset: Int) -> ByteView { ByteView(bytes[(base + offset)...]) }

  /// Two bytes as a number.
  func u16(_ offset: Int, _ order: ByteOrder) -> UInt16 {
    let number = unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
    return order == .big ? UInt16(bigEndian: number) : UInt16(littleEndian: number)
  }

  /// Four bytes as a number.
  func u32(_ offset: Int, _ order: ByteOrder) -> UInt32 {
    let number = unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return order == .big ? UInt32(bigEndian: number) : UInt32(littleEndian: number)
  }

  /// Eight bytes as a number.
  func u64(_ offset: Int, _ order: ByteOrder) -> UInt64 {
    let number = unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return order == .big ? UInt64(bigEndian: number) : UInt64(littleEndian: number)
  }

  /// Six bytes in reversed order, as radios send device addresses.
  func address(_ offset: Int) -> UInt64 {
    UInt64(u16(offset + 4, .little)) << 32 | UInt64(u32(offset, .little))
  }
}

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
