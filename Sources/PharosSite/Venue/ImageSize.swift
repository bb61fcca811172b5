/// How wide and high an image is, read from its first bytes.
enum ImageSize {
  /// How many bytes tell.
  static let headLength = 24

  /// The size of a PNG in pixels; nil if the bytes begin none.
  ///
  /// - Source: PNG specification (third edition), 5.2 and 11.2.1: signature, then the IHDR chunk.
  static func png(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    let header: [UInt8] = [0x49, 0x48, 0x44, 0x52]
    guard bytes.count >= headLength, bytes.starts(with: signature) else { return nil }
    guard Array(bytes[12..<16]) == header else { return nil }
    func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    let (width, height) = (number(at: 16), number(at: 20))
    guard sizes.contains(width), sizes.contains(height) else { return nil }
    return (width, height)
  }

  /// What an image of a floor may measure.
  ///
  /// - Units: pixels on a side.
  static let sizes = 1...100_000
}
