/// That nobody asks about an identity: the mark that is left of it, so that it is asked only once.
///
/// The marks stand in a table of 4,096 words; a newer one takes the place of an older one.
struct Stranger {
  /// How many places there are.
  static let places = 4_096

  /// The place where the mark stands.
  let place: Int
  /// A hash of all that the answer depends on: identity, observer, epoch, and whether there is an address that may be part of
  /// a key.
  let word: UInt64

  init(_ hash: UInt64, observer: Int, epoch: UInt32, isKeyable: Bool) {
    let mark = hash ^ UInt64(epoch) << 40 ^ UInt64(observer) << 1
    word = mark & ~1 | (isKeyable ? 1 : 0)
    place =
      Int(truncatingIfNeeded: (hash ^ UInt64(observer) &* 0x9E37_79B9_7F4A_7C15) >> 20)
      & (Stranger.places - 1)
  }

  /// Whether it was left in a table.
  @inline(__always)
  func stands(in strangers: borrowing [UInt64]) -> Bool { strangers[place] == word }
}
