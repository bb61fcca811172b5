import PharosModel

/// Reads pcapng: blocks of a type and a length, sections that may change the byte order, numbered interfaces.
///
/// - Shape: block: 0 type u32, 4 total length u32, body, total length again.
/// - Source: draft-ietf-opsawg-pcapng.
struct PcapngFormat: Sendable {
  /// The types of blocks that are looked into.
  enum BlockType {
    static let section: UInt32 = 0x0A0D_0D0A
    static let interface: UInt32 = 1
    static let oldPacket: UInt32 = 2
    static let simplePacket: UInt32 = 3
    static let enhancedPacket: UInt32 = 6
    /// Those that hold a packet.
    static let packets: [UInt32] = [oldPacket, simplePacket, enhancedPacket]
    /// Entries of the systemd journal and blocks of a company's own; Wireshark lists them among the packets,
    /// so they take a number.
    static let numbered: [UInt32] = [9, 0xBAD, 0x4000_0BAD]
    /// Set in types that are kept for local use.
    static let localBit: UInt32 = 1 << 31
  }

  private var order = ByteOrder.little
  private var packets = 0
  /// The malformed packets that were passed over.
  private(set) var foreign = ForeignBytes()
  private var skipped: (total: UInt32, offset: UInt64)?
  /// The offset of the block that is being skipped and whose end has not arrived yet.
  var offsetOfSkipped: UInt64? { skipped?.offset }
  /// The number of the section being read, from 1, or 0 before the first.
  private(set) var section = 0
  /// The interfaces of the section being read.
  private(set) var interfaces: [CaptureInterface] = []
  /// The comment of the section.
  private(set) var comment: String?
  /// The program that wrote the section.
  private(set) var application: String?

  /// Reads the next block.
  mutating func step(_ buffer: inout CaptureBuffer) throws(CaptureError) -> CaptureStep {
    if let skipped {
      guard !buffer.isSkipping, buffer.count >= 4 else {
        return .needsMore(part: "a block", missing: buffer.missing(for: 4))
      }
      try check(trailer: buffer.view.u32(0, order), head: skipped.total, at: skipped.offset)
      buffer.consume(4)
      self.skipped = nil
      return .passed
    }
    guard buffer.count >= 12 else {
      return .needsMore(part: "a block", missing: buffer.missing(for: 12))
    }
    let head = buffer.view
    if head.u32(0, .big) == BlockType.section { try readByteOrder(head, at: buffer.offset) }
    let type = head.u32(0, order)
    let total = head.u32(4, order)
    guard total >= 12, total % 4 == 0 else { throw CaptureError(.blockLength(total), at: buffer.offset) }
    guard isWanted(type: type, total: total) else {
      if BlockType.numbered.contains(type) { packets += 1 }
      skipped = (total, buffer.offset)
      buffer.consume(8)
      buffer.skip(UInt64(total) - 12)
      return .passed
    }
    guard total <= CaptureLimits.block else {
      throw CaptureError(
        .tooLong(part: "a block", length: UInt64(total), limit: UInt64(CaptureLimits.block)),
        at: buffer.offset
      )
    }
    guard buffer.count >= Int(total) else {
      return .needsMore(part: "a block", missing: buffer.missing(for: Int(total)))
    }
    try check(trailer: head.u32(Int(total) - 4, order), head: total, at: buffer.offset)
    let body = ByteView(head.slice(8, Int(total) - 12))
    let item = try read(type: type, body: body, at: buffer.offset)
    if item == nil, BlockType.packets.contains(type) {
      // The lengths of the block agree, so the next one begins behind it.
      packets += 1
      foreign.malformedPackets += 1
    }
    buffer.consume(Int(total))
    return item.map { .item($0) } ?? .passed
  }

  /// The order has to be known before the total length of a section's first block can be read.
  private mutating func readByteOrder(_ head: ByteView, at offset: UInt64) throws(CaptureError) {
    switch head.u32(8, .big) {
    case 0x1A2B_3C4D: order = .big
    case 0x4D3C_2B1A: order = .little
    case let magic: throw CaptureError(.byteOrderMagic(magic), at: offset)
    }
  }

  private func isWanted(type: UInt32, total: UInt32) -> Bool {
    switch type {
    case BlockType.section, BlockType.interface, BlockType.oldPacket, BlockType.simplePacket,
      BlockType.enhancedPacket:
      true
    default: type & BlockType.localBit != 0 && total <= CaptureLimits.block
    }
  }

  private func check(trailer: UInt32, head: UInt32, at offset: UInt64) throws(CaptureError) {
    guard trailer == head else {
      throw CaptureError(.blockTrailer(head: head, trailer: trailer), at: offset)
    }
  }

  private mutating func read(
    type: UInt32,
    body: ByteView,
    at offset: UInt64
  ) throws(CaptureError) -> CaptureItem? {
    switch type {
    case BlockType.section:
      try readSection(body, at: offset)
      return nil
    case BlockType.interface:
      try readInterface(body, at: offset)
      return nil
    case BlockType.enhancedPacket: return packet(body, isOld: false)
    case BlockType.oldPacket: return packet(body, isOld: true)
    case BlockType.simplePacket: return simplePacket(body)
    default: return .block(LocalBlock(type: type, body: body.bytes))
    }
  }
}

extension PcapngFormat {
  /// Section header: 0 magic, 4 major u16, 6 minor u16, 8 section length i64 (not trusted), 16 options.
  private mutating func readSection(_ body: ByteView, at offset: UInt64) throws(CaptureError) {
    guard body.count >= 16 else {
      throw CaptureError(.blockLength(UInt32(body.count + 12)), at: offset)
    }
    let major = UInt32(body.u16(4, order))
    guard major == 1 else {
      throw CaptureError(
        .unsupportedVersion(format: "pcapng", major: major, minor: UInt32(body.u16(6, order))),
        at: offset
      )
    }
    section += 1
    interfaces.removeAll(keepingCapacity: true)
    comment = nil
    application = nil
    PcapngOptions.forEach(in: body, from: 16, order) { code, value in
      switch code {
      case PcapngOptions.comment where comment == nil: comment = PcapngOptions.text(value)
      case PcapngOptions.application: application = PcapngOptions.text(value)
      default: break
      }
    }
  }

  /// Interface description: 0 link type u16, 4 snap length u32, 8 options.
  private mutating func readInterface(_ body: ByteView, at offset: UInt64) throws(CaptureError) {
    guard body.count >= 8 else {
      throw CaptureError(.blockLength(UInt32(body.count + 12)), at: offset)
    }
    guard interfaces.count < CaptureLimits.interfaces else {
      throw CaptureError(.tooManyInterfaces(limit: CaptureLimits.interfaces), at: offset)
    }
    var interface = CaptureInterface(
      linkType: LinkType(pcap: body.u16(0, order)),
      snapLength: body.u32(4, order),
      name: nil,
      clock: .microseconds
    )
    let order = order
    PcapngOptions.forEach(in: body, from: 8, order) { code, value in
      switch code {
      case PcapngOptions.name: interface.name = PcapngOptions.text(value)
      case PcapngOptions.resolution where value.count >= 1: interface.clock.resolution = value[0]
      case PcapngOptions.timeOffset where value.count >= 8:
        interface.clock.offset = Int64(bitPattern: value.u64(0, order))
      default: break
      }
    }
    interfaces.append(interface)
  }

  /// Enhanced packet, and the obsolete packet block, whose interface is a u16 and a count of drops: 4 time
  /// high u32, 8 time low u32, 12 captured u32, 16 original u32, 20 bytes.
  ///
  /// - Returns: nil if the packet is malformed.
  private mutating func packet(_ body: ByteView, isOld: Bool) -> CaptureItem? {
    guard body.count >= 20 else { return nil }
    let id = isOld ? UInt32(body.u16(0, order)) : body.u32(0, order)
    let captured = body.u32(12, order)
    guard id < interfaces.count, fits(captured, room: body.count - 20) else { return nil }
    packets += 1
    let ticks = UInt64(body.u32(4, order)) << 32 | UInt64(body.u32(8, order))
    return .packet(
      Packet(
        number: packets,
        time: interfaces[Int(id)].clock.time(ticks: ticks),
        linkType: interfaces[Int(id)].linkType,
        interface: id,
        section: section,
        originalLength: Int(body.u32(16, order)),
        bytes: body.slice(20, Int(captured))
      )
    )
  }

  /// Simple packet: 0 original length u32, 4 bytes.
  ///
  /// It is of interface 0, and cut to that one's snap length.
  ///
  /// - Returns: nil if the packet is malformed.
  private mutating func simplePacket(_ body: ByteView) -> CaptureItem? {
    guard body.count >= 4, let interface = interfaces.first else { return nil }
    let original = body.u32(0, order)
    let captured = interface.snapLength == 0 ? original : min(original, interface.snapLength)
    guard fits(captured, room: body.count - 4) else { return nil }
    packets += 1
    return .packet(
      Packet(
        number: packets,
        time: nil,
        linkType: interface.linkType,
        section: section,
        originalLength: Int(original),
        bytes: body.slice(4, Int(captured))
      )
    )
  }

  private func fits(_ captured: UInt32, room: Int) -> Bool {
    Int(captured) <= min(room, CaptureLimits.packet)
  }
}

/// The options at the end of a pcapng block.
///
/// - Shape: each 0 code u16, 2 length u16, value, zeros up to a multiple of 4; code 0 ends them, and so does
///   the block.
enum PcapngOptions {
  static let comment: UInt16 = 1
  /// In an interface description: its name.
  static let name: UInt16 = 2
  /// In a section header: the program that wrote it.
  static let application: UInt16 = 4
  /// In an interface description: the length of a tick.
  static let resolution: UInt16 = 9
  /// In an interface description: seconds to add.
  static let timeOffset: UInt16 = 14

  /// Walks the options from an offset on; one that runs past the block ends the walk, since none of them is
  /// vital.
  static func forEach(
    in body: ByteView,
    from start: Int,
    _ order: ByteOrder,
    _ visit: (UInt16, ByteView) -> Void
  ) {
    var offset = start
    while offset + 4 <= body.count {
      let code = body.u16(offset, order)
      let length = Int(body.u16(offset + 2, order))
      guard code != 0, offset + 4 + length <= body.count else { return }
      visit(code, ByteView(body.slice(offset + 4, length)))
      offset += 4 + (length + 3) / 4 * 4
    }
  }

  /// A value as text, cut to what is kept.
  static func text(_ value: ByteView) -> String {
    String(decoding: value.bytes.prefix(CaptureLimits.text), as: UTF8.self)
  }
}
