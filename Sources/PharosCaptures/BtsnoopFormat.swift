import PharosModel

/// Reads btsnoop, the Bluetooth logs of phones and of BlueZ; all of it is big-endian.
///
/// - Shape: header of 16 bytes: 0 `btsnoop` and a zero, 8 version u32 = 1, 12 datalink u32. Record: 0
///   original u32, 4 included u32, 8 flags u32, 12 drops u32, 16 time i64 in microseconds, then the bytes.
struct BtsnoopFormat: Sendable {
  private var records = 0
  /// The one interface, known once the header was read.
  private(set) var interface: CaptureInterface?

  /// The btsnoop timestamp of the Unix epoch; btsnoop counts from the year 0.
  ///
  /// - Units: microseconds.
  static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

  /// The first eight bytes of every file.
  static let magic: [UInt8] = [0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0x00]

  /// Reads the header or the next record.
  mutating func step(_ buffer: inout CaptureBuffer) throws(CaptureError) -> CaptureStep {
    guard let interface else { return try readHeader(&buffer) }
    guard buffer.count >= 24 else {
      return .needsMore(part: "the header of record \(records + 1)", missing: buffer.missing(for: 24))
    }
    let view = buffer.view
    let included = view.u32(4, .big)
    guard included <= CaptureLimits.packet else {
      throw CaptureError(
        .tooLong(
          part: "record \(records + 1)",
          length: UInt64(included),
          limit: UInt64(CaptureLimits.packet)
        ),
        at: buffer.offset
      )
    }
    let length = 24 + Int(included)
    guard buffer.count >= length else {
      return .needsMore(part: "record \(records + 1)", missing: buffer.missing(for: length))
    }
    records += 1
    let packet = Packet(
      number: records,
      time: BtsnoopFormat.time(Int64(bitPattern: view.u64(16, .big))),
      linkType: interface.linkType,
      flags: view.u32(8, .big),
      originalLength: Int(view.u32(0, .big)),
      bytes: view.slice(24, Int(included))
    )
    buffer.consume(length)
    return .item(.packet(packet))
  }

  private mutating func readHeader(_ buffer: inout CaptureBuffer) throws(CaptureError) -> CaptureStep {
    guard buffer.count >= 16 else {
      return .needsMore(part: "the file header", missing: buffer.missing(for: 16))
    }
    let view = buffer.view
    let version = view.u32(8, .big)
    guard version == 1 else {
      throw CaptureError(.unsupportedVersion(format: "btsnoop", major: version, minor: 0), at: 8)
    }
    let datalink = view.u32(12, .big)
    // 2002, the simulator's, is framed like the others: its records are read and then counted as no adverts.
    guard datalink == 1001 || datalink == 1002 || datalink == 2001 || datalink == 2002 else {
      throw CaptureError(.unsupportedDatalink(datalink), at: 12)
    }
    interface = CaptureInterface(
      linkType: LinkType(btsnoop: datalink),
      snapLength: 0,
      name: nil,
      clock: .microseconds
    )
    buffer.consume(16)
    return .passed
  }

  private static func time(_ microseconds: Int64) -> Timestamp {
    Timestamp(nanoseconds: Int64(clamping: (Int128(microseconds) - Int128(unixEpoch)) * 1_000))
  }
}
