import PharosModel

/// Reads btsnoop, the Bluetooth logs of phones and of BlueZ; all of it is big-endian.
///
/// btmon writes its text form to standard output, so a trace that is written there too has text between its records, in
/// blocks of stdio's buffer, 4,096 bytes. The reader of monitor records passes over foreign bytes, counts them, and
/// continues at the next record. Reports that foreign bytes tore apart are lost; records before and behind them are
/// not.
///
/// - Shape: header of 16 bytes: 0 `btsnoop` and a zero, 8 version u32 = 1, 12 datalink u32. Record: 0
///   original u32, 4 included u32, 8 flags u32, 12 drops u32, 16 time i64 in microseconds, then the bytes.
struct BtsnoopFormat: Sendable {
  private var records = 0
  /// The foreign bytes passed over so far.
  private(set) var foreign = ForeignBytes()
  /// Indicates whether the bytes before the present ones were foreign.
  private var isLost = false
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
    if interface.linkType == .btsnoopMonitor { skipForeignBytes(&buffer) }
    guard buffer.count >= BtsnoopFormat.recordHeader else {
      return .needsMore(
        part: "the header of record \(records + 1)",
        missing: buffer.missing(for: BtsnoopFormat.recordHeader)
      )
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
    let length = BtsnoopFormat.recordHeader + Int(included)
    guard buffer.count >= length else {
      return .needsMore(part: "record \(records + 1)", missing: buffer.missing(for: length))
    }
    if interface.linkType == .btsnoopMonitor, !MonitorChannelRecord(view).isConsistent {
      // A malformed record or one with text in it: its successor tells which, as text is no header.
      let next = length + BtsnoopFormat.recordHeader
      guard isLost || buffer.count >= next else {
        return .needsMore(part: "the header of record \(records + 2)", missing: buffer.missing(for: next))
      }
      guard !isLost, MonitorChannelRecord(view.dropping(length)).hasHeader else {
        skip(1, &buffer)
        return .passed
      }
    }
    isLost = false
    records += 1
    let packet = Packet(
      number: records,
      time: BtsnoopFormat.time(Int64(bitPattern: view.u64(16, .big))),
      linkType: interface.linkType,
      flags: view.u32(8, .big),
      originalLength: Int(view.u32(0, .big)),
      bytes: view.slice(BtsnoopFormat.recordHeader, Int(included))
    )
    buffer.consume(length)
    return .item(.packet(packet))
  }

  /// Passes over bytes at the end of the file that are no record, and leaves those of a record that was cut off.
  mutating func finish(_ buffer: inout CaptureBuffer) {
    guard interface?.linkType == .btsnoopMonitor, buffer.count > 0 else { return }
    let isWhole =
      buffer.count >= BtsnoopFormat.recordHeader
      && buffer.count >= BtsnoopFormat.recordHeader + Int(buffer.view.u32(4, .big))
    let isHeader = buffer.count >= BtsnoopFormat.recordHeader
    if isWhole || isLost && !isHeader
      || !isHeader && buffer.view.bytes.allSatisfy(MonitorChannelRecord.isText)
    {
      skip(buffer.count, &buffer)
    }
  }

  /// Passes over all bytes before the next header of a record.
  private mutating func skipForeignBytes(_ buffer: inout CaptureBuffer) {
    let view = buffer.view
    var start = 0
    while start + BtsnoopFormat.recordHeader <= view.count,
      !MonitorChannelRecord(view.dropping(start)).hasHeader
    {
      start += 1
    }
    if start > 0 { skip(start, &buffer) }
  }

  private mutating func skip(_ count: Int, _ buffer: inout CaptureBuffer) {
    foreign.bytes += UInt64(count)
    if !isLost { foreign.places += 1 }
    isLost = true
    buffer.consume(count)
  }

  /// The length of the header of a record.
  ///
  /// - Units: bytes.
  private static let recordHeader = 24

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

/// What a capture holds beside its packets that is passed over: bytes that belong to no record, and packets that contradict
/// the block or the section that they are in.
package struct ForeignBytes: Sendable, Equatable {
  /// The number of bytes.
  package var bytes: UInt64 = 0
  /// The number of runs of such bytes.
  package var places = 0
  /// The number of packets of pcapng that say more bytes than their block has, or an interface that is not described.
  package var malformedPackets = 0

  /// Counts nothing.
  package init() {}

  /// Indicates whether nothing was passed over.
  package var isEmpty: Bool { bytes == 0 && malformedPackets == 0 }
}

extension ForeignBytes: CustomStringConvertible {
  /// Sentences for an operator, without the last full stop: how many there were, and what to do.
  package var description: String {
    var sentences: [String] = []
    if malformedPackets > 0 {
      sentences.append(
        "\(malformedPackets) malformed \(malformedPackets == 1 ? "packet was" : "packets were") passed over"
      )
    }
    if bytes > 0 {
      sentences.append(
        "\(bytes) foreign bytes in \(places) \(places == 1 ? "place" : "places") between the records were passed over. "
          + "If they are text of btmon, start it as `btmon -w /dev/fd/3 3>&1 >/dev/null | …`"
      )
    }
    return sentences.joined(separator: ". ")
  }
}

/// A record of the monitor channel, as far as its bytes are there, and what tells it from foreign bytes.
struct MonitorChannelRecord {
  private let view: ByteView

  init(_ view: ByteView) { self.view = view }

  /// Indicates whether the first 24 bytes are a header: lengths, adapter, opcode and drops in range, and a time of
  /// 1970 to 2200.
  ///
  /// Each field but the last two bytes of a length has a zero byte at its beginning, and text has none.
  var hasHeader: Bool {
    guard view[0] == 0, view[4] == 0, view[10] == 0, view[12] == 0, view[16] == 0 else { return false }
    let original = view.u32(0, .big)
    let included = view.u32(4, .big)
    let adapter = view.u16(8, .big)
    let time = view.u64(16, .big)
    return included <= original && original <= CaptureLimits.packet && (adapter < 256 || adapter == .max)
      && MonitorChannelRecord.times.contains(time)
  }

  /// The times that a header may hold.
  ///
  /// - Units: microseconds, as btsnoop counts them.
  private static let times =
    UInt64(BtsnoopFormat.unixEpoch)..<UInt64(BtsnoopFormat.unixEpoch) + 230 * 31_556_952 * 1_000_000

  /// Indicates whether the data of a whole record agree with the lengths in them.
  ///
  /// Text in an advertising report ends in the level. That in the data of an extended report is not found, since its
  /// level comes before them, nor is that in a packet without reports.
  var isConsistent: Bool {
    let data = view.slice(24, Int(view.u32(4, .big)))
    guard data.count == Int(view.u32(0, .big)) else { return true }
    let packet = ByteView(data)
    switch view.u16(10, .big) {
    case 2: return packet.count >= 3 && Int(packet[2]) == packet.count - 3
    case 3:
      guard packet.count >= 2, Int(packet[1]) == packet.count - 2 else { return false }
      guard packet[0] == 0x3E, packet.count >= 4 else { return packet[0] != 0x3E || packet.count == 3 }
      return switch packet[2] {
      case 0x02: MonitorChannelRecord.reports(in: packet, lengthAt: 8, tail: 1) { packet[$0 + 9 + $1] }
      case 0x0D:
        MonitorChannelRecord.reports(in: packet, lengthAt: 23, tail: 0) { start, _ in packet[start + 13] }
      default: true
      }
    case 4, 5: return packet.count >= 4 && Int(packet.u16(2, .little)) == packet.count - 4
    default: return true
    }
  }

  /// Returns whether the reports of an event end where it ends and none has a character of text for its level.
  private static func reports(
    in packet: ByteView,
    lengthAt: Int,
    tail: Int,
    level: (_ start: Int, _ length: Int) -> UInt8
  ) -> Bool {
    var at = 4
    for _ in 0..<Int(packet[3]) {
      guard at + lengthAt < packet.count else { return false }
      let length = Int(packet[at + lengthAt])
      let end = at + lengthAt + 1 + length + tail
      guard end <= packet.count, !isText(level(at, length)) else { return false }
      at = end
    }
    return at == packet.count
  }

  /// Returns whether a byte is a printed character of ASCII, a tab or the end of a line.
  static func isText(_ byte: UInt8) -> Bool {
    byte == 0x09 || byte == 0x0A || byte == 0x0D || 0x20...0x7E ~= byte
  }
}
