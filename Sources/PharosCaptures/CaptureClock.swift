import PharosReports

/// What the timestamps of an interface count: the length of a tick and where they start.
///
/// - Source: pcapng, options `if_tsresol` and `if_tsoffset`.
struct CaptureClock: Sendable, Equatable {
  /// The length of a tick: with the top bit clear 10^-v seconds, with it set 2^-(v & 127) seconds.
  var resolution: UInt8
  /// Seconds to add to every timestamp.
  var offset: Int64

  /// Microseconds since the Unix epoch: what pcapng means when it says nothing.
  static let microseconds = CaptureClock(resolution: 6, offset: 0)

  /// The point in time of a count of ticks, held at the ends of what a `Timestamp` can say.
  ///
  /// Whole numbers throughout: a `Double` would lose the nanoseconds of today.
  func time(ticks: UInt64) -> Timestamp {
    // What all programs write that are in use: nanoseconds or microseconds of this century, and no offset.
    if offset == 0, ticks < CaptureClock.mostTicks {
      if resolution == 9 { return Timestamp(nanoseconds: Int64(ticks)) }
      if resolution == 6 { return Timestamp(nanoseconds: Int64(ticks) * 1_000) }
    }
    let nanoseconds: UInt128
    let exponent = Int(resolution & 0x7F)
    if resolution & 0x80 != 0 {
      nanoseconds = (UInt128(ticks) * 1_000_000_000) >> UInt128(exponent)
    } else {
      switch exponent {
      case 9: nanoseconds = UInt128(ticks)
      case 6: nanoseconds = UInt128(ticks) * 1_000
      default: nanoseconds = UInt128(ticks) * 1_000_000_000 / CaptureClock.powerOfTen(exponent)
      }
    }
    // Ticks of whole seconds or longer overflow an Int64 of nanoseconds long before they overflow here.
    let shifted = Int128(nanoseconds) + Int128(offset) * 1_000_000_000
    return Timestamp(nanoseconds: Int64(clamping: shifted))
  }

  /// Ticks of a microsecond at most that surely are no more nanoseconds than an `Int64` holds.
  private static let mostTicks = UInt64(Int64.max) / 1_000

  /// Ten to the power given; above 28 every count of ticks is less than a nanosecond, and 29 stands for them
  /// all.
  private static func powerOfTen(_ exponent: Int) -> UInt128 {
    var power: UInt128 = 1
    for _ in 0..<min(exponent, 29) { power *= 10 }
    return power
  }
}
