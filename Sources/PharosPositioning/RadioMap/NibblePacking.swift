package import PharosReports

/// A coding that halves the size of bytes that change little from one to the next.
///
/// Each byte is coded by its difference from the one before. A difference from −7 to 7 takes four bits; any other byte
/// is coded as the bits 1111 followed by its own eight bits. Levels in steps of half a decibel and deviations that grow
/// slowly nearly always fit into four bits.
package enum NibblePacking {
  private static let escape: UInt8 = 15

  /// Packs bytes.
  package static func packed(_ values: [UInt8]) -> [UInt8] {
    var nibbles = NibbleWriter()
    var last: UInt8 = 0
    for value in values {
      let difference = Int(value) - Int(last)
      if (-7...7).contains(difference) {
        nibbles.write(UInt8(difference + 7))
      } else {
        nibbles.write(escape)
        nibbles.write(value >> 4)
        nibbles.write(value & 15)
      }
      last = value
    }
    return nibbles.bytes
  }

  /// Unpacks exactly so many bytes.
  ///
  /// - Throws: that there are fewer or more, or that a difference leads beyond what a byte holds.
  package static func unpacked(_ reader: inout FieldReader, count: Int) throws(FieldError) -> [UInt8] {
    let packed = try reader.raw(reader.remaining)
    guard count <= packed.count * 2 else { throw reader.failure(.cut) }
    var values: [UInt8] = []
    values.reserveCapacity(count)
    var place = 0
    func next() -> UInt8? {
      guard place / 2 < packed.count else { return nil }
      defer { place += 1 }
      return place % 2 == 0 ? packed[place / 2] >> 4 : packed[place / 2] & 15
    }
    var last = 0
    for _ in 0..<count {
      guard let nibble = next() else { throw reader.failure(.cut) }
      if nibble == escape {
        guard let high = next(), let low = next() else { throw reader.failure(.cut) }
        last = Int(high) << 4 | Int(low)
      } else {
        last += Int(nibble) - 7
      }
      guard (0...255).contains(last) else { throw reader.failure(.outOfRange(field: "a cell")) }
      values.append(UInt8(last))
    }
    if place % 2 == 1, next() != 0 { throw reader.failure(.outOfRange(field: "the last half byte")) }
    guard place == packed.count * 2 else { throw reader.failure(.surplus(bytes: packed.count - place / 2)) }
    return values
  }
}

/// Half bytes, one after the other, the higher half first.
private struct NibbleWriter {
  var bytes: [UInt8] = []
  private var isHalf = false

  mutating func write(_ nibble: UInt8) {
    if isHalf {
      bytes[bytes.count - 1] |= nibble
    } else {
      bytes.append(nibble << 4)
    }
    isHalf.toggle()
  }
}
