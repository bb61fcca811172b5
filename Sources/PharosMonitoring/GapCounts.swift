/// What the last gaps of a track had in common, in two bytes.
///
/// - Shape: common divisor 5 bits, gaps 4, regular gaps 4, short gaps 3; the lowest first.
package struct GapCounts: Hashable, Sendable {
  /// The gaps it takes to be sure that an interval has grown.
  package static let window: UInt8 = 12
  /// The most regular gaps that are counted.
  static let mostRegular: UInt8 = 8
  /// The greatest divisor there is: beyond so many intervals gaps are not counted.
  static let greatestDivisor: UInt8 = 16
  /// The most short gaps that are counted.
  static let mostShorts: UInt8 = 7

  private var word: UInt16 = 0

  package init() {}

  /// The common divisor of the gaps in this window, in intervals; 0 stands for all multiples at once.
  package var divisor: UInt8 {
    get { UInt8(truncatingIfNeeded: word & 0x1F) }
    set { word = word & ~0x1F | UInt16(newValue & 0x1F) }
  }

  /// How many gaps this window has.
  package var gaps: UInt8 {
    get { UInt8(truncatingIfNeeded: word >> 5 & 0xF) }
    set { word = word & ~(0xF << 5) | UInt16(newValue & 0xF) << 5 }
  }

  /// How many gaps of just one interval came lately, while the track was young.
  package var regular: UInt8 {
    get { UInt8(truncatingIfNeeded: word >> 9 & 0xF) }
    set { word = word & ~(0xF << 9) | UInt16(newValue & 0xF) << 9 }
  }

  /// How many gaps came that were too short and alike, after the first of them.
  package var shorts: UInt8 {
    get { UInt8(truncatingIfNeeded: word >> 13) }
    set { word = word & ~(0x7 << 13) | UInt16(newValue & 0x7) << 13 }
  }

  /// Counts a gap of one interval: whatever came before it, the common divisor is one.
  @inline(__always)
  package mutating func noteOne() {
    let next = (word & ~0x1F | 1) &+ 1 << 5
    // The twelfth ends the window.
    word = next >> 5 & 0xF == UInt16(GapCounts.window) ? next & ~0x1FF : next
  }

  /// Counts a gap of several intervals; true if it is the last of a window whose gaps all have a divisor above one.
  @inline(__always)
  package mutating func note(multiple: UInt8) -> Bool {
    let common = divisor == 1 ? 1 : GapCounts.commonDivisor(multiple, divisor)
    divisor = common
    gaps += 1
    guard gaps >= GapCounts.window else { return false }
    forgetDivisor()
    return common >= 2
  }

  /// Begins another window.
  mutating func forgetDivisor() { word &= ~0x1FF }

  /// Euclid's algorithm; 0 stands for all multiples at once.
  package static func commonDivisor(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var (larger, smaller) = (left, right)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return larger
  }
}
