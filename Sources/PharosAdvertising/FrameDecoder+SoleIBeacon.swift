public import PharosReports

extension FrameDecoder {
  /// The iBeacon of a payload that holds nothing beside it but flags, or nil if the payload must be walked.
  ///
  /// What it gives is all that ``forEachFrame(in:_:)`` would find there. Nearly all beacons advertise so, and then three
  /// words tell it.
  ///
  /// - Parameters:
  ///   - payloads: bytes that hold the payload.
  ///   - range: where in them the payload lies; it trips if it ends past them.
  /// - Returns: the identity and the level at one metre.
  /// - Shape: `02 01 xx`, if there are flags; `1A FF 4C 00 02 15`, UUID, major, minor, measured power; then nothing, or a
  ///   length of zero.
  /// - Units: the measured power is in dBm.
  @inlinable
  @inline(__always)
  public static func soleIBeacon(
    in payloads: RawSpan,
    at range: Range<Int>
  ) -> (beacon: BeaconID, measuredPower: Int8)? {
    guard range.count >= 27 else { return nil }
    precondition(
      range.lowerBound >= 0 && range.upperBound <= payloads.byteCount,
      "a payload within its bytes"
    )
    // From here on all offsets lie within the range.
    let start = range.lowerBound
    let head = UInt64(littleEndian: word(at: start, in: payloads))
    let identity: Int
    if head & 0xFFFF_FFFF_FF00_FFFF == 0x0200_4CFF_1A00_0102 {
      guard range.count >= 30, byte(at: start + 8, in: payloads) == 0x15 else { return nil }
      identity = start + 9
    } else if head & 0xFFFF_FFFF_FFFF == 0x1502_004C_FF1A {
      identity = start + 6
    } else {
      return nil
    }
    let end = identity + 21
    guard end == range.upperBound || byte(at: end, in: payloads) == 0 else { return nil }
    let tail = unsafe payloads.unsafeLoadUnaligned(fromUncheckedByteOffset: identity + 16, as: UInt32.self)
    let beacon = BeaconID(
      proximityHigh: UInt64(bigEndian: word(at: identity, in: payloads)),
      low: UInt64(bigEndian: word(at: identity + 8, in: payloads)),
      majorAndMinor: UInt32(bigEndian: tail)
    )
    return (beacon, Int8(bitPattern: byte(at: end - 1, in: payloads)))
  }

  @inlinable
  static func word(at offset: Int, in payloads: RawSpan) -> UInt64 {
    unsafe payloads.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
  }

  @inlinable
  static func byte(at offset: Int, in payloads: RawSpan) -> UInt8 {
    unsafe payloads.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }
}
