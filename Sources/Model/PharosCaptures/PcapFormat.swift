import PharosModel

/// Reads classic pcap, behind its magic number.
///
/// - Shape: header of 24 bytes: 0 magic, 4 major u16, 6 minor u16, 16 snap length u32, 20 link type in the
///   low 16 bits (checksum information above). Record: 0 seconds u32, 4 fraction u32, 8 captured u32, 12
///   original u32, then the bytes.
struct PcapFormat: Sendable {
  private var order = ByteOrder.little
  private var fractionUnit: UInt64 = 1_000
  private var packets = 0
  private var limit = CaptureLimits.packet
  /// The one interface, known once the header was read.
  private(set) var interface: CaptureInterface?

  /// The byte order and the unit of fractions in nanoseconds that a magic, read big-endian, stands for.
  static func variant(ofMagic magic: UInt32) -> (order: ByteOrder, fractionUnit: UInt64)? {
    switch magic {
    case 0xA1B2_C3D4: (.big, 1_000)
    case 0xD4C3_B2A1: (.little, 1_000)
    case 0xA1B2_3C4D: (.big, 1)
    case 0x4D3C_B2A1: (.little, 1)
    default: nil
    }
  }

  /// Returns whether a magic number, read big-endian, is that of the modified pcap.
  static func isModified(magic: UInt32) -> Bool { magic == 0xA1B2_CD34 || magic == 0x34CD_B2A1 }

  /// Reads the header or the next record.
  mutating func step(_ buffer: inout CaptureBuffer) throws(CaptureError) -> CaptureStep {
    guard let interface else { return try readHeader(&buffer) }
    guard buffer.count >= 16 else {
      return .needsMore(part: "the header of record \(packets + 1)", missing: buffer.missing(for: 16))
    }
    let view = buffer.view
    let captured = view.u32(8, order)
    guard captured <= limit else {
      throw CaptureError(
        .tooLong(part: "record \(packets + 1)", length: UInt64(captured), limit: UInt64(limit)),
        at: buffer.offset
      )
    }
    let length = 16 + Int(captured)
    guard buffer.count >= length else {
      return .needsMore(part: "record \(packets + 1)", missing: buffer.missing(for: length))
    }
    packets += 1
    let nanoseconds = UInt64(view.u32(0, order)) * 1_000_000_000 + UInt64(view.u32(4, order)) * fractionUnit
    let packet = Packet(
      number: packets,
      time: Timestamp(nanoseconds: Int64(clamping: nanoseconds)),
      linkType: interface.linkType,
      originalLength: Int(view.u32(12, order)),
      bytes: view.slice(16, Int(captured))
    )
    buffer.consume(length)
    return .item(.packet(packet))
  }

  private mutating func readHeader(_ buffer: inout CaptureBuffer) throws(CaptureError) -> CaptureStep {
    guard buffer.count >= 24 else {
      return .needsMore(part: "the file header", missing: buffer.missing(for: 24))
    }
    let view = buffer.view
    guard let variant = PcapFormat.variant(ofMagic: view.u32(0, .big)) else { return .passed }
    order = variant.order
    fractionUnit = variant.fractionUnit
    let major = UInt32(view.u16(4, order))
    guard major == 2 else {
      throw CaptureError(
        .unsupportedVersion(format: "pcap", major: major, minor: UInt32(view.u16(6, order))),
        at: 4
      )
    }
    let snapLength = view.u32(16, order)
    limit = max(CaptureLimits.packet, min(Int(snapLength), CaptureLimits.announcedPacket))
    interface = CaptureInterface(
      linkType: LinkType(pcap: UInt16(truncatingIfNeeded: view.u32(20, order))),
      snapLength: snapLength,
      name: nil,
      clock: CaptureClock(resolution: fractionUnit == 1 ? 9 : 6, offset: 0)
    )
    buffer.consume(24)
    return .passed
  }
}
