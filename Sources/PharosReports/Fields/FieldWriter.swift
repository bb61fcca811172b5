/// The bytes of a recorded value as they are written: big-endian, field after field, nothing between.
public struct FieldWriter: Sendable {
  /// What has been written.
  public private(set) var bytes: [UInt8] = []

  /// Starts with nothing written.
  public init() {}

  /// Writes one byte.
  public mutating func write(_ byte: UInt8) { bytes.append(byte) }

  /// Writes a whole number, the most significant byte first.
  public mutating func write<Number: FixedWidthInteger>(_ number: Number) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
    }
  }

  /// Writes a number as the 64 bits of its IEEE 754 form, so that not one of them is lost.
  public mutating func write(_ number: Double) { write(number.bitPattern) }

  /// Writes a truth value as 0 or 1.
  public mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  /// Writes a length in bytes as u32, then the text in UTF-8.
  public mutating func write(_ text: String) {
    write(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

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
}
