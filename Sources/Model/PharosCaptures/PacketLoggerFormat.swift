import PharosModel

/// Reads the logs of Apple's PacketLogger (`.pklg`): HCI packets of iPhones and Macs.
///
/// They begin with no magic number: a first record that makes sense is what they are recognised by. The byte order is
/// big-endian, unless the length of the first record makes sense only the other way round.
///
/// - Shape: records of 0 length u32 (of what follows it), 4 seconds u32, 8 microseconds u32, 12 type u8, then the bytes.
///   Types: 0 command, 1 event, 2 ACL data sent, 3 received, and above that notes of the system.
/// - Source: BlueKitchen/btstack, `tool/create_packet_log.py`; libimobiledevice, `idevicebtlogger`.
struct PacketLoggerFormat: Sendable {
  private let order: ByteOrder
  private var records = 0
  /// The one interface.
  let interface = CaptureInterface(linkType: .btsnoopHCI, snapLength: 0, name: nil, clock: .microseconds)

  /// The length of the header of a record, and what of it the record's own length counts.
  ///
  /// - Units: bytes.
  static let header = 13
  private static let counted = 9

  /// Recognises the first record; nil if it makes no sense in either byte order.
  init?(_ view: ByteView) {
    guard view.count >= PacketLoggerFormat.header,
      let order = [ByteOrder.big, .little].first(where: { PacketLoggerFormat.isRecord(view, $0) })
    else { return nil }
    self.order = order
  }

  /// Returns whether bytes can be the header of a log's first record: a packet no longer than HCI has any.
  private static func isRecord(_ view: ByteView, _ order: ByteOrder) -> Bool {
    let length = Int(view.u32(0, order))
    guard counted...counted + 4_096 ~= length, view.u32(4, order) > 0, view.u32(8, order) < 1_000_000 else {
      return false
    }
    return Kind(rawValue: view[12]) != nil || view[12] >= firstNote
  }

  /// The kinds of packets.
  private enum Kind: UInt8 {
    case command
    case event
    case sent
    case received

    /// The flags of the same packet in a btsnoop file: bit 0 from the controller, bit 1 a command or event.
    var flags: UInt32 {
      switch self {
      case .command: 2
      case .event: 3
      case .sent: 0
      case .received: 1
      }
    }
  }

  /// The type of the first of the kinds of notes.
  private static let firstNote: UInt8 = 0xFB

  /// Reads the next record.
  mutating func step(_ buffer: inout CaptureBuffer) throws(CaptureError) -> CaptureStep {
    let part = "record \(records + 1)"
    guard buffer.count >= PacketLoggerFormat.header else {
      return .needsMore(
        part: "the header of \(part)",
        missing: buffer.missing(for: PacketLoggerFormat.header)
      )
    }
    let view = buffer.view
    let length = view.u32(0, order)
    guard length >= PacketLoggerFormat.counted, length <= CaptureLimits.packet else {
      throw CaptureError(
        .tooLong(part: part, length: UInt64(length), limit: UInt64(CaptureLimits.packet)),
        at: buffer.offset
      )
    }
    let total = Int(length) + 4
    guard buffer.count >= total else {
      return .needsMore(part: part, missing: buffer.missing(for: total))
    }
    records += 1
    let microseconds = Int64(view.u32(4, order)) * 1_000_000 + Int64(view.u32(8, order))
    let packet = Packet(
      number: records,
      time: Timestamp(nanoseconds: microseconds * 1_000),
      linkType: .btsnoopHCI,
      // A note is counted as a packet that holds no report.
      flags: Kind(rawValue: view[12])?.flags ?? 0,
      originalLength: total - PacketLoggerFormat.header,
      bytes: view.slice(PacketLoggerFormat.header, total - PacketLoggerFormat.header)
    )
    buffer.consume(total)
    return .item(.packet(packet))
  }
}
