package import PharosReports

/// What a capture gives, in the order of the file.
package enum CaptureItem: Sendable, Equatable {
  /// A packet.
  case packet(Packet)
  /// A pcapng block of a type kept for local use: how a recording carries inputs that are no packets.
  case block(LocalBlock)
}

/// One captured packet.
///
/// Its bytes are a slice of the reader's own buffer. If the caller releases the packet before the next
/// `append(_:)`, nothing is ever copied; if it keeps the packet, the bytes stay valid, at
/// the price of a copy.
package struct Packet: Sendable, Equatable {
  /// The number that Wireshark shows, from 1: packets in pcap and pcapng (custom blocks and journal
  /// entries too), records in btsnoop.
  package var number: Int
  /// When it was captured, or nil for a pcapng Simple Packet Block, which does not say.
  package var time: Timestamp?
  /// How its bytes are framed.
  package var linkType: LinkType
  /// The pcapng interface within the section, otherwise 0.
  package var interface: UInt32
  /// The pcapng section, from 1, otherwise 1.
  package var section: Int
  /// The flags of a btsnoop record (direction, packet type, monitor opcode), otherwise 0.
  package var flags: UInt32
  /// How long the packet was on the wire.
  ///
  /// - Units: bytes.
  package var originalLength: Int
  /// What was captured of it.
  package var bytes: ArraySlice<UInt8>

  /// Whether the capture holds less than was on the wire.
  package var isSnapped: Bool { bytes.count < originalLength }

  /// Makes a packet.
  package init(
    number: Int,
    time: Timestamp?,
    linkType: LinkType,
    interface: UInt32 = 0,
    section: Int = 1,
    flags: UInt32 = 0,
    originalLength: Int,
    bytes: ArraySlice<UInt8>
  ) {
    self.number = number
    self.time = time
    self.linkType = linkType
    self.interface = interface
    self.section = section
    self.flags = flags
    self.originalLength = originalLength
    self.bytes = bytes
  }
}

/// A pcapng block whose type has its highest bit set: kept for local use, skipped by every other tool.
package struct LocalBlock: Sendable, Equatable {
  /// The block type, highest bit included.
  package var type: UInt32
  /// The block's whole body, padding included: a multiple of four bytes.
  package var body: ArraySlice<UInt8>

  /// Makes a block.
  package init(type: UInt32, body: ArraySlice<UInt8>) {
    self.type = type
    self.body = body
  }

  /// What ``CaptureWriter`` was given to put into the block, or nil if the body is not laid out as it does
  /// that.
  ///
  /// - Shape: 0 length u32 little-endian whatever the section's order; 4 content; zeros up to a multiple of
  ///   4.
  package var content: ArraySlice<UInt8>? {
    let view = ByteView(body)
    guard view.count >= 4 else { return nil }
    let length = Int(view.u32(0, .little))
    guard length <= view.count - 4, view.count - 4 - length < 4 else { return nil }
    return view.slice(4, length)
  }
}

/// An interface that a pcapng section describes, or the one interface of the other formats.
package struct CaptureInterface: Sendable, Equatable {
  /// How its packets are framed.
  package var linkType: LinkType
  /// The longest packet it records, or 0 for no limit.
  ///
  /// - Units: bytes.
  package var snapLength: UInt32
  /// Its name, if the file tells it.
  package var name: String?
  /// What its timestamps count.
  var clock: CaptureClock
}
