/// The bytes of a value as they are written: big-endian, field after field, nothing between.
public struct FieldWriter: Sendable {
  @usableFromInline var storage: [UInt8] = []

  /// What has been written.
  @inlinable public var bytes: [UInt8] { storage }

  /// Starts with nothing written.
  public init() {}

  /// Makes room for so many bytes more, so that none of them has to wait for it.
  ///
  /// The room at least doubles when it grows, so that asking often costs no more than asking once.
  public mutating func reserve(_ count: Int) {
    let wanted = storage.count + max(0, count)
    guard wanted > storage.capacity else { return }
    storage.reserveCapacity(max(wanted, storage.capacity * 2))
  }

  /// Writes one byte.
  @inlinable public mutating func write(_ byte: UInt8) { storage.append(byte) }

  /// Writes a whole number, the most significant byte first.
  @inlinable
  public mutating func write<Number: FixedWidthInteger>(_ number: Number) {
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe storage.append(contentsOf: $0) }
  }

  /// Writes a number as the 64 bits of its IEEE 754 form, so that not one of them is lost.
  @inlinable public mutating func write(_ number: Double) { write(number.bitPattern) }

  /// Writes a number as the 32 bits of its IEEE 754 form.
  @inlinable public mutating func write(_ number: Float) { write(number.bitPattern) }

  /// Writes a truth value as 0 or 1.
  @inlinable public mutating func write(_ flag: Bool) { storage.append(flag ? 1 : 0) }

  /// Writes a length in bytes as u32, then the text in UTF-8.
  public mutating func write(_ text: String) {
    write(UInt32(text.utf8.count))
    storage.append(contentsOf: text.utf8)
  }

  /// Writes bytes as they are; how many there are is for the caller to write.
  public mutating func write(raw bytes: [UInt8]) { self.storage.append(contentsOf: bytes) }

  /// Writes 0 for nil, or 1 and the value.
  public mutating func write<Value: FieldCodable>(_ value: Value?) {
    write(value != nil)
    if let value { value.write(to: &self) }
  }

  /// Writes a count as u32, then the values.
  public mutating func write<Value: FieldCodable>(_ values: [Value]) {
    write(UInt32(values.count))
    for value in values { value.write(to: &self) }
  }

  /// Writes a length in bytes as u32, then what the body writes, so that a reader may pass over it.
  public mutating func writeBlock(_ body: (inout FieldWriter) -> Void) {
    let start = storage.count
    write(0 as UInt32)
    body(&self)
    let length = UInt32(truncatingIfNeeded: storage.count - start - 4)
    for place in 0..<4 {
      storage[start + place] = UInt8(truncatingIfNeeded: length >> UInt32(24 - place * 8))
    }
  }
}
