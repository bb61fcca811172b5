/// A number of 24 bits and eight flags in one word.
struct TaggedNumber: Hashable, Sendable {
  /// The greatest number that fits.
  static let greatest: UInt32 = 1 << 24 - 1

  private var word: UInt32

  init(_ number: UInt32, flags: UInt8) { word = number << 8 | UInt32(flags) }

  /// The number.
  var number: UInt32 {
    @inline(__always) get { word >> 8 }
    @inline(__always) set { word = newValue << 8 | word & 0xFF }
  }

  /// The flags.
  var flags: UInt8 {
    @inline(__always) get { UInt8(truncatingIfNeeded: word) }
    @inline(__always) set { word = word & ~0xFF | UInt32(newValue) }
  }
}
