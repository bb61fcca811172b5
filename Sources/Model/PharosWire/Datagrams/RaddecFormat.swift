import PharosDocuments
public import PharosModel

/// reelyActive's radio decoding (raddec), binary, one to a datagram: the open convention on UDP 50001.
///
/// A raddec is one sighting of one transmitter by up to 15 receivers, with up to 15 of its packets. Each
/// receiver and packet gives one advert, receivers in their order; without packets each receiver gives one
/// advert without payload.
///
/// * The address is that of the packet. Where there is none it is the transmitter's identifier, if that is an
///   EUI-48 (public) or RND-48 (random); for EUI-64, UUID and the rest the address stays nil, and so does
///   that of an extended packet that leaves it out, unless the transmitter's identifier tells it.
/// * Packets of RFID and EnOcean transmitters are not Bluetooth's: they give adverts without payload.
/// * The sender's time, if given, becomes `ReportTiming.sent`. Its events and positions are checked and
///   left out.
/// * Checksum, total length and all inner lengths must be right; a packet that is no advertising PDU is skipped.
///
/// - Source: reelyactive/raddec, `lib/raddec.js`, `lib/rssi.js`, `lib/position.js`.
public enum RaddecFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "raddec"
  /// The first bytes, for operators.
  public static let beginning = "10"

  /// Returns whether the datagram begins with the flag of a raddec.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    !datagram.isEmpty && datagram.byte(at: 0) == RaddecLayout.flag
  }

  /// Appends one advert for each receiver and packet.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    // Everything that can be wrong is found here, before the batch is touched.
    let layout = try RaddecLayout(datagram)
    if let reason = layout.badPacket {
      guard layout.badPackets < layout.packetCount else { throw reason }
      notes.skip(reason, count: UInt64(layout.badPackets))
    }
    guard layout.receiverCount > 0 else { return }
    let timing =
      layout.timestamp.map { ReportTiming.sent(Timestamp(nanoseconds: $0 * 1_000_000)) } ?? .received
    let payloads = UInt32(batch.payloads.count)
    var cursor = ByteCursor(layout.receivers)
    for number in 0..<layout.receiverCount {
      let receiver = try RaddecReceiver(datagram, &cursor)
      let identity = try receiver.type.observer(datagram, at: receiver.identifier.lowerBound)
      let sighting = Report(
        observer: batch.index(of: identity),
        received: context.received,
        timing: timing,
        body: .advert(
          Advert(
            address: layout.transmitterType.address(datagram, at: layout.transmitter.lowerBound),
            rssi: WireLimits.level(receiver.dBm),
            payload: payloads..<payloads
          )
        )
      )
      append(sighting, datagram, layout, isFirst: number == 0, into: &batch)
    }
  }

  /// Appends a receiver's sighting, once for each packet.
  ///
  /// The first receiver brings the AD structures with it; the adverts of the others point to the same bytes.
  private static func append(
    _ sighting: Report,
    _ datagram: RawSpan,
    _ layout: RaddecLayout,
    isFirst: Bool,
    into batch: inout ReportBatch
  ) {
    guard case .advert(let heard) = sighting.body else { return }
    var report = sighting
    var place = heard.payload.lowerBound
    var found = false
    var cursor = ByteCursor(layout.packets)
    while let packet = nextPacket(datagram, &cursor) {
      guard let pdu = advertising(datagram, packet, layout) else { continue }
      if isFirst { _ = batch.append(payload: datagram.extracting(pdu.data)) }
      let end = place + UInt32(pdu.data.count)
      report.body = .advert(
        Advert(
          address: pdu.address ?? heard.address,
          rssi: heard.rssi,
          pdu: pdu.pdu,
          advertisingSet: pdu.advertisingSet,
          payload: place..<end
        )
      )
      batch.append(report)
      place = end
      found = true
    }
    if !found { batch.append(sighting) }
  }

  private static func nextPacket(_ datagram: RawSpan, _ cursor: inout ByteCursor) -> Range<Int>? {
    guard let length = try? cursor.u8(datagram) else { return nil }
    return try? cursor.advance(Int(length))
  }

  private static func advertising(
    _ datagram: RawSpan,
    _ packet: Range<Int>,
    _ layout: RaddecLayout
  ) -> LinkLayerPDU? {
    guard layout.transmitterType.packets != .foreign else { return nil }
    return try? LinkLayerPDU(datagram, in: packet)
  }
}

/// The ranges of the parts of a raddec, found by walking it once, with every length checked, before anything is
/// reported.
///
/// - Shape: flag 0x10, u16 total length, u8 transmitter type, transmitter, u8 number of receivers, receivers,
///   options, u8 checksum.
/// - Source: reelyactive/raddec, `lib/raddec.js`.
package struct RaddecLayout {
  package static let flag: UInt8 = 0x10
  package static let timestampFlag: UInt8 = 0xF0
  package static let packetsFlag: UInt8 = 0xF1
  static let eventsFlag: UInt8 = 0xF2
  static let positionFlag: UInt8 = 0xF3
  /// The value that ends a position whose further axes are absent.
  static let endOfPosition: UInt64 = 0x7FFF_FFFF_FFFF_FFFF
  /// The flag, the length, a transmitter of type 0, no receiver, and the checksum.
  static let shortest = 6
  package static let maximumPackets = 15

  let transmitterType: RaddecIdentifierType
  /// The range of the transmitter's identifier.
  let transmitter: Range<Int>
  let receiverCount: Int
  /// The range of the receivers.
  let receivers: Range<Int>
  /// The time at which the transmitter was heard, by the sender's clock; milliseconds since the epoch.
  private(set) var timestamp: Int64?
  /// The offset of that time.
  private(set) var timestampOffset: Int?
  private(set) var packetCount = 0
  /// The number of packets that are no advertising PDUs although they should be, and the reason of the first.
  private(set) var badPackets = 0
  private(set) var badPacket: DatagramRefusal?
  /// The range of the packets, each preceded by a byte with its length.
  private(set) var packets: Range<Int>

  /// Walks a datagram.
  init(_ bytes: RawSpan) throws(DatagramRefusal) {
    guard bytes.byteCount >= RaddecLayout.shortest else { throw .tooShort }
    guard Int(bytes.u16(at: 1)) == bytes.byteCount else { throw .lengthMismatch }
    try RaddecLayout.verifyChecksum(bytes)
    var cursor = ByteCursor(3..<bytes.byteCount - 1)
    transmitterType = try RaddecIdentifierType(try cursor.u8(bytes))
    transmitter = try cursor.advance(transmitterType.byteCount)
    receiverCount = Int(try cursor.u8(bytes) & 0x0F)
    let start = cursor.offset
    for _ in 0..<receiverCount { _ = try RaddecReceiver(bytes, &cursor) }
    receivers = start..<cursor.offset
    packets = cursor.offset..<cursor.offset
    try readOptions(bytes, &cursor)
  }

  private static func verifyChecksum(_ bytes: RawSpan) throws(DatagramRefusal) {
    let last = bytes.byteCount - 1
    var sum: UInt8 = 0
    for offset in 0..<last { sum &+= bytes.byte(at: offset) }
    guard sum == bytes.byte(at: last) else { throw .checksum }
  }

  private mutating func readOptions(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(DatagramRefusal) {
    while cursor.remaining > 0 {
      switch try cursor.u8(bytes) {
      case RaddecLayout.timestampFlag:
        timestampOffset = cursor.offset
        let milliseconds = Int64(try cursor.u48(bytes))
        guard milliseconds <= WireLimits.maximumMilliseconds else { throw .badField }
        timestamp = milliseconds
      case RaddecLayout.packetsFlag:
        try readPackets(bytes, &cursor)
      case RaddecLayout.eventsFlag:
        // Appearance, displacement and the like are the sender's own decisions; Pharos takes its own.
        _ = try cursor.u8(bytes)
      case RaddecLayout.positionFlag:
        // Where the sender believes the transmitter to be.
        for _ in 0..<3 {
          if try cursor.u64(bytes) == RaddecLayout.endOfPosition { break }
        }
      default:
        // An option of a later version has no length to skip it by: what was read stands.
        return
      }
    }
  }

  private mutating func readPackets(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(DatagramRefusal) {
    packetCount = Int(try cursor.u8(bytes))
    guard packetCount <= RaddecLayout.maximumPackets else { throw .badField }
    let start = cursor.offset
    for _ in 0..<packetCount {
      let length = Int(try cursor.u8(bytes))
      let packet = try cursor.advance(length)
      guard transmitterType.packets == .advertising else { continue }
      do throws(DatagramRefusal) {
        _ = try LinkLayerPDU(bytes, in: packet)
      } catch {
        badPackets += 1
        badPacket = badPacket ?? error
      }
    }
    packets = start..<cursor.offset
  }
}

/// One receiver of a raddec: its level, and where its identifier lies.
struct RaddecReceiver {
  /// The level in dBm; the wire holds it plus 127.
  let dBm: Int
  let type: RaddecIdentifierType
  let identifier: Range<Int>

  /// Reads a receiver.
  init(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(DatagramRefusal) {
    dBm = Int(try cursor.u8(bytes)) - 127
    // The number of decodings: how many packets the level is the mean of. It stays one sighting.
    _ = try cursor.u8(bytes)
    type = try RaddecIdentifierType(try cursor.u8(bytes))
    guard type != .unknown else { throw .noObserver }
    identifier = try cursor.advance(type.byteCount)
  }
}

/// The type of a transmitter's or receiver's identifier.
///
/// - Source: reelyactive/raddec, `lib/identifiers.js`.
package enum RaddecIdentifierType: UInt8 {
  case unknown
  case eui64
  /// A public device address.
  case eui48
  /// A random device address.
  case rnd48
  case tid96
  case epc96
  case uuid128
  case eurid32

  /// Reads the type.
  init(_ code: UInt8) throws(DatagramRefusal) {
    guard let type = RaddecIdentifierType(rawValue: code) else { throw .badIdentity }
    self = type
  }

  /// The length of the identifier in bytes.
  var byteCount: Int {
    switch self {
    case .unknown: 0
    case .eui64: 8
    case .eui48, .rnd48: 6
    case .tid96, .epc96: 12
    case .uuid128: 16
    case .eurid32: 4
    }
  }

  /// The kind of packets that such a transmitter sends.
  enum Packets {
    /// Bluetooth advertising PDUs: anything else is an error.
    case advertising
    /// Bluetooth if they look like it.
    case perhapsAdvertising
    /// Those of another radio (RFID, EnOcean): only the sighting counts.
    case foreign
  }

  /// The kind of packets that such a transmitter sends.
  var packets: Packets {
    switch self {
    case .eui48, .rnd48: .advertising
    case .unknown, .eui64, .uuid128: .perhapsAdvertising
    case .tid96, .epc96, .eurid32: .foreign
    }
  }

  /// The identifier as a device address, or nil if it is none.
  func address(_ bytes: RawSpan, at offset: Int) -> DeviceAddress? {
    switch self {
    case .eui48: DeviceAddress(bits: bytes.u48(at: offset), kind: .public)
    case .rnd48: DeviceAddress(bits: bytes.u48(at: offset), kind: .random)
    case .unknown, .eui64, .tid96, .epc96, .uuid128, .eurid32: nil
    }
  }

  /// The identifier as that of an observer; RFID and EnOcean identifiers become a name of hexadecimal digits.
  func observer(_ bytes: RawSpan, at offset: Int) throws(DatagramRefusal) -> ObserverID {
    switch self {
    case .unknown: throw .noObserver
    case .eui64: .eui64(bytes.u64(at: offset))
    case .eui48, .rnd48: .eui48(bytes.u48(at: offset))
    case .uuid128: .uuid(bytes.uuid(at: offset))
    case .tid96, .epc96:
      .name(Hex.text(UInt64(bytes.u32(at: offset)), bytes: 4) + Hex.text(bytes.u64(at: offset + 4), bytes: 8))
    case .eurid32: .name(Hex.text(UInt64(bytes.u32(at: offset)), bytes: 4))
    }
  }
}

/// A link-layer advertising PDU as raddec carries it: two bytes of header, then addresses and data; no CRC.
///
/// - Shape: byte 0: low nibble the type, bit 6 whether the advertiser's address is random; byte 1: the length
///   of the rest.
/// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 2.3.
struct LinkLayerPDU {
  /// The PDU.
  let pdu: Advert.PDU
  /// The advertiser's address, or nil for an extended PDU that leaves it out.
  let address: DeviceAddress?
  /// The advertising set of an extended one, otherwise 255.
  let advertisingSet: UInt8
  /// The range of the AD structures.
  let data: Range<Int>

  /// Reads the PDU that fills a range exactly.
  ///
  /// - Throws: ``DatagramRefusal/tooShort`` or ``DatagramRefusal/lengthMismatch``.
  init(_ bytes: RawSpan, in range: Range<Int>) throws(DatagramRefusal) {
    guard range.count >= 2 else { throw .tooShort }
    let header = bytes.byte(at: range.lowerBound)
    guard Int(bytes.byte(at: range.lowerBound + 1)) == range.count - 2 else { throw .lengthMismatch }
    let body = range.lowerBound + 2..<range.upperBound
    if header & 0x0F == 7 {
      try self.init(extended: bytes, in: body, random: header & 0x40 != 0)
    } else {
      try self.init(legacy: bytes, in: body, type: header & 0x0F, random: header & 0x40 != 0)
    }
  }

  private init(
    legacy bytes: RawSpan,
    in body: Range<Int>,
    type: UInt8,
    random: Bool
  ) throws(DatagramRefusal) {
    guard body.count >= 6 else { throw .tooShort }
    address = DeviceAddress(bits: bytes.u48Reversed(at: body.lowerBound), kind: random ? .random : .public)
    advertisingSet = 255
    let rest = body.lowerBound + 6..<body.upperBound
    let none = body.upperBound..<body.upperBound
    switch type {
    case 0: (pdu, data) = (.connectable, rest)
    case 1: (pdu, data) = (.directed, none)
    case 2: (pdu, data) = (.nonConnectable, rest)
    case 4: (pdu, data) = (.scanResponse, rest)
    case 6: (pdu, data) = (.scannable, rest)
    // Scan and connection requests, and reserved types: their sender was heard, but what follows is no AD.
    default: (pdu, data) = (.unknown, none)
    }
  }

  private init(extended bytes: RawSpan, in body: Range<Int>, random: Bool) throws(DatagramRefusal) {
    pdu = .extended
    var cursor = ByteCursor(body)
    let headerLength = Int(try cursor.u8(bytes) & 0x3F)
    var header = ByteCursor(try cursor.advance(headerLength))
    data = cursor.offset..<body.upperBound
    guard headerLength > 0 else {
      address = nil
      advertisingSet = 255
      return
    }
    let flags = try header.u8(bytes)
    if flags & 0x01 != 0 {
      let place = try header.advance(6).lowerBound
      address = DeviceAddress(bits: bytes.u48Reversed(at: place), kind: random ? .random : .public)
    } else {
      address = nil
    }
    // TargetA and CTEInfo stand between the address and the advertising set.
    _ = try header.advance((flags & 0x02 != 0 ? 6 : 0) + (flags & 0x04 != 0 ? 1 : 0))
    guard flags & 0x08 != 0 else {
      advertisingSet = 255
      return
    }
    let place = try header.advance(2).lowerBound
    advertisingSet = bytes.byte(at: place + 1) >> 4
  }
}
