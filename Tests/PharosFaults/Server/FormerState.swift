import PharosModel

/// A checkpoint as a program with a former version of the engines' states wrote it: whole, but for a version that nothing reads.
///
/// - Shape: that of `Checkpoint.encoded`, whose checksum is computed here once more.
enum FormerState {
  private static let placeOfChecksum = 5

  /// Returns the bytes with the version of the first shard's state lowered by one.
  static func bytes(of checkpoint: [UInt8]) -> [UInt8] {
    var bytes = checkpoint
    var place = placeOfChecksum + 8
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    func number(_ width: Int) -> UInt64 {
      defer { place += width }
      return bytes[place..<place + width].reduce(0) { $0 << 8 | UInt64($1) }
    }
    func mix(_ word: UInt64) {
      sum = (sum ^ word) &* 0x0000_0100_0000_01B3
      sum ^= sum >> 32
    }
    func mix(count: Int) {
      mix(UInt64(count))
      let end = place + count
      while place + 8 <= end { mix(number(8)) }
      while place < end { mix(number(1)) }
    }
    mix(number(8))
    mix(number(8))
    mix(count: Int(number(4)))
    mix(count: Int(number(8)))
    for shard in 0..<number(4) {
      let count = Int(number(8))
      if shard == 0 { bytes[place] &-= 1 }
      mix(count: count)
    }
    for index in 0..<8 {
      bytes[placeOfChecksum + index] = UInt8(truncatingIfNeeded: sum >> UInt64(56 - index * 8))
    }
    return bytes
  }
}
