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
  public static func soleIBeacon(
    in payloads: RawSpan,
    at range: Range<Int>
  ) -> (beacon: BeaconID, measuredPower: Int8)? {
    guard range.count >= 27 else { return nil }
    let start = range.lowerBound
    let head = UInt64(
      littleEndian: unsafe payloads.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)
    )
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
    let high = unsafe payloads.unsafeLoadUnaligned(fromByteOffset: identity, as: UInt64.self)
    let low = unsafe payloads.unsafeLoadUnaligned(fromByteOffset: identity + 8, as: UInt64.self)
    let tail = unsafe payloads.unsafeLoadUnaligned(fromByteOffset: identity + 16, as: UInt32.self)
    let beacon = BeaconID(
      proximityHigh: UInt64(bigEndian: high),
      low: UInt64(bigEndian: low),
      majorAndMinor: UInt32(bigEndian: tail)
    )
    return (beacon, Int8(bitPattern: byte(at: end - 1, in: payloads)))
  }

  @inlinable
  static func byte(at offset: Int, in payloads: RawSpan) -> UInt8 {
    unsafe payloads.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
