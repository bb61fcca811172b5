import PharosMaps

/// Grey images for tests, written without compression.
enum TestImage {
  /// An image as PNG.
  static func png(width: Int, height: Int, _ grey: (_ x: Int, _ y: Int) -> UInt8) throws -> [UInt8] {
    var rows: [UInt8] = []
    for y in 0..<height {
      rows.append(0)
      for x in 0..<width { rows.append(grey(x, y)) }
    }
    var header = number(width) + number(height)
    header += [8, 0, 0, 0, 0]
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    return signature + chunk("IHDR", header) + chunk("IDAT", stored(rows)) + chunk("IEND", [])
  }

  private static func number(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in body {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    return number(content.count) + body + number(Int(~sum))
  }

  /// A zlib stream of stored blocks.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var (a, b): (UInt32, UInt32) = (1, 0)
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + 65_535)
      let count = UInt16(end - start)
      stream.append(end == bytes.count ? 1 : 0)
      for word in [count, ~count] {
        stream += [UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)]
      }
      stream += bytes[start..<end]
      start = end
    }
    for byte in bytes {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return stream + number(Int(b << 16 | a))
  }
}
