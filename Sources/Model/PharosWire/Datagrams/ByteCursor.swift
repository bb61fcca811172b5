/// A place in a datagram that moves on with every field read; the bytes themselves are handed in.
///
/// Multi-byte numbers are big-endian, as in all binary formats here. Nothing is read beyond the end.
struct ByteCursor {
  /// The offset of the next field.
  private(set) var offset: Int
  /// Behind the last byte that may be read.
  let end: Int

  /// A cursor over some of the bytes.
  init(_ range: Range<Int>) {
    offset = range.lowerBound
    end = range.upperBound
  }

  /// The number of bytes left.
  var remaining: Int { end - offset }

  /// Passes over some bytes and says where they lie.
  mutating func advance(_ count: Int) throws(DatagramRefusal) -> Range<Int> {
    guard count <= remaining else { throw .tooShort }
    let start = offset
    offset += count
    return start..<offset
  }

  /// Reads one byte.
  mutating func u8(_ bytes: RawSpan) throws(DatagramRefusal) -> UInt8 {
    bytes.byte(at: try advance(1).lowerBound)
  }

  /// Reads one byte as a signed number.
  mutating func i8(_ bytes: RawSpan) throws(DatagramRefusal) -> Int8 { Int8(bitPattern: try u8(bytes)) }

  /// Reads two bytes.
  mutating func u16(_ bytes: RawSpan) throws(DatagramRefusal) -> UInt16 {
    bytes.u16(at: try advance(2).lowerBound)
  }

  /// Reads four bytes.
  mutating func u32(_ bytes: RawSpan) throws(DatagramRefusal) -> UInt32 {
    bytes.u32(at: try advance(4).lowerBound)
  }

  /// Reads six bytes.
  mutating func u48(_ bytes: RawSpan) throws(DatagramRefusal) -> UInt64 {
    bytes.u48(at: try advance(6).lowerBound)
  }

  /// Reads eight bytes.
  mutating func u64(_ bytes: RawSpan) throws(DatagramRefusal) -> UInt64 {
    bytes.u64(at: try advance(8).lowerBound)
  }

  /// Reads a number of single precision.
  mutating func f32(_ bytes: RawSpan) throws(DatagramRefusal) -> Float { Float(bitPattern: try u32(bytes)) }

  /// Reads a number of double precision.
  mutating func f64(_ bytes: RawSpan) throws(DatagramRefusal) -> Double { Double(bitPattern: try u64(bytes)) }
}

extension RawSpan {
  /// All of it.
  var wholeRange: Range<Int> { 0..<byteCount }

  /// One byte.
  func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// Two bytes, the first most significant.
  func u16(at offset: Int) -> UInt16 {
    unsafe UInt16(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  /// Four bytes, the first most significant.
  func u32(at offset: Int) -> UInt32 {
    unsafe UInt32(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// Six bytes, the first most significant.
  func u48(at offset: Int) -> UInt64 { UInt64(u16(at: offset)) << 32 | UInt64(u32(at: offset + 2)) }

  /// Six bytes, the last most significant: the order of addresses on the air.
  func u48Reversed(at offset: Int) -> UInt64 { u48(at: offset).byteSwapped >> 16 }

  /// Eight bytes, the first most significant.
  func u64(at offset: Int) -> UInt64 {
    unsafe UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

/// The same for places that the caller has compared with the end: the one record that comes by the million is read so.
extension RawSpan {
  /// One byte that is known to be there.
  func knownByte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// Two bytes that are known to be there, the first most significant.
  func knownU16(at offset: Int) -> UInt16 {
    unsafe UInt16(bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
  }

  /// Four bytes that are known to be there, the first most significant.
  func knownU32(at offset: Int) -> UInt32 {
    unsafe UInt32(bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
  }

  /// Eight bytes that are known to be there, the first most significant.
  func knownU64(at offset: Int) -> UInt64 {
    unsafe UInt64(bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }
}

/// The appending operations of the encoders; numbers are big-endian.
extension Array where Element == UInt8 {
  /// Appends the lowest `bytes` bytes of a number.
  package mutating func append(_ number: UInt64, bytes: Int) {
    var shift = bytes * 8
    while shift > 0 {
      shift -= 8
      append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  /// Appends two bytes.
  package mutating func append(u16 number: UInt16) { append(UInt64(number), bytes: 2) }

  /// Appends four bytes.
  package mutating func append(u32 number: UInt32) { append(UInt64(number), bytes: 4) }

  /// Appends eight bytes.
  package mutating func append(u64 number: UInt64) { append(number, bytes: 8) }

  /// Appends a number of single precision.
  package mutating func append(f32 number: Float) { append(u32: number.bitPattern) }

  /// Appends a number of double precision.
  package mutating func append(f64 number: Double) { append(u64: number.bitPattern) }

  /// Overwrites the bytes from an offset on with the lowest `bytes` bytes of a number.
  package mutating func put(_ number: UInt64, bytes: Int, at offset: Int) {
    for index in 0..<bytes {
      self[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64((bytes - 1 - index) * 8))
    }
  }
}
