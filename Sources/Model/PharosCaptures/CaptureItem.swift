package import PharosModel

/// One item of a capture, in the order of the file.
package enum CaptureItem: Sendable, Equatable {
  /// A packet.
  case packet(Packet)
  /// A pcapng block of a type reserved for local use, in which a recording carries inputs other than packets.
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
  /// The capture time, or nil for a pcapng Simple Packet Block, which has none.
  package var time: Timestamp?
  /// The link type of its bytes.
  package var linkType: LinkType
  /// The pcapng interface within the section, otherwise 0.
  package var interface: UInt32
  /// The pcapng section, from 1, otherwise 1.
  package var section: Int
  /// The flags of a btsnoop record (direction, packet type, monitor opcode), otherwise 0.
  package var flags: UInt32
  /// The length of the packet on the wire.
  ///
  /// - Units: bytes.
  package var originalLength: Int
  /// The captured bytes.
  package var bytes: ArraySlice<UInt8>

  /// Indicates whether the capture holds fewer bytes than were on the wire.
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

  /// The content that ``CaptureWriter`` wrote into the block, or nil if the body has another layout.
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
  /// The link type of its packets.
  package var linkType: LinkType
  /// The longest packet it records, or 0 for no limit.
  ///
  /// - Units: bytes.
  package var snapLength: UInt32
  /// Its name, if the file states one.
  package var name: String?
  /// The clock of its timestamps.
  var clock: CaptureClock
}

/// The clock of an interface: the length of a tick and the origin of the timestamps.
///
/// - Source: pcapng, options `if_tsresol` and `if_tsoffset`.
struct CaptureClock: Sendable, Equatable {
  /// The length of a tick: with the top bit clear 10^-v seconds, with it set 2^-(v & 127) seconds.
  var resolution: UInt8
  /// Seconds to add to every timestamp.
  var offset: Int64

  /// Microseconds since the Unix epoch: the default of pcapng.
  static let microseconds = CaptureClock(resolution: 6, offset: 0)

  /// The point in time of a count of ticks, held at the ends of what a `Timestamp` can say.
  ///
  /// Whole numbers throughout: a `Double` would lose the nanoseconds of today.
  func time(ticks: UInt64) -> Timestamp {
    // What all programs write that are in use: nanoseconds or microseconds of this century, and no offset.
    if offset == 0, ticks < CaptureClock.maximumTicks {
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

  /// The maximum number of microsecond ticks whose nanoseconds fit an `Int64`.
  private static let maximumTicks = UInt64(Int64.max) / 1_000

  /// Ten to the power given; above 28 every count of ticks is less than a nanosecond, and 29 stands for them
  /// all.
  private static func powerOfTen(_ exponent: Int) -> UInt128 {
    var power: UInt128 = 1
    for _ in 0..<min(exponent, 29) { power *= 10 }
    return power
  }
}

/// The counts of items found in a capture, and of packets skipped, by reason.
///
/// Each packet passed to an extractor is counted once in `packets`; the reasons account for the rest.
package struct CaptureCounters: Sendable, Equatable {
  /// Packets handed in.
  package var packets = 0
  /// Packets whose link type cannot hold what is sought.
  package var unsupportedLinkType = 0
  /// Packets of a right link type that hold something else: HCI commands, connections, TCP.
  package var unrelated = 0
  /// Packets too damaged to be read: lengths that contradict each other.
  package var malformed = 0
  /// Packets that the capture cut short, where the missing part was needed.
  package var snapped = 0
  /// The packets of the first two, by what they hold.
  package var passedOver: [PassedOver: Int] = [:]

  /// Advertising reports found.
  package var reports = 0
  /// Link-layer packets whose checksum is wrong.
  package var badCRC = 0
  /// Link-layer packets that end before their own length field says.
  package var cutShort = 0
  /// Extended advertising PDUs that only point to another and name no advertiser.
  package var pointers = 0
  /// Chains of extended advertising data given up: too long, too old, or too many at a time.
  package var abandonedChains = 0

  /// UDP datagrams found.
  package var datagrams = 0
  /// Fragments of datagrams.
  package var fragments = 0
  /// Datagrams given up because fragments of theirs never came.
  package var abandonedDatagrams = 0
  /// Datagrams refused because fragments of theirs contradict each other.
  package var overlaps = 0

  /// Counts nothing.
  package init() {}

  /// Adds what another one counted.
  package static func += (left: inout CaptureCounters, right: CaptureCounters) {
    left.packets += right.packets
    left.unsupportedLinkType += right.unsupportedLinkType
    left.unrelated += right.unrelated
    left.malformed += right.malformed
    left.snapped += right.snapped
    left.passedOver.merge(right.passedOver, uniquingKeysWith: +)
    left.reports += right.reports
    left.badCRC += right.badCRC
    left.cutShort += right.cutShort
    left.pointers += right.pointers
    left.abandonedChains += right.abandonedChains
    left.datagrams += right.datagrams
    left.fragments += right.fragments
    left.abandonedDatagrams += right.abandonedDatagrams
    left.overlaps += right.overlaps
  }
}

/// What a packet holds that is passed over.
package enum PassedOver: Hashable, Sendable {
  /// A framing that is not understood.
  case linkType(LinkType)
  /// An IP protocol other than UDP, by its number.
  case internetProtocol(UInt8)
  /// Something else than IP.
  case notInternet
  /// Bluetooth without an advertising report.
  case otherBluetooth
}

extension PassedOver: CustomStringConvertible {
  /// What it is, and what to do where something can be done.
  package var description: String {
    switch self {
    case .linkType(let type): "link type \(type), which Pharos does not read"
    case .internetProtocol(6): "TCP (Pharos reads UDP; record what arrives with `serve --record`)"
    case .internetProtocol(1), .internetProtocol(58): "ICMP"
    case .internetProtocol(let number): "IP protocol \(number)"
    case .notInternet: "not IP (ARP and the like)"
    case .otherBluetooth: "Bluetooth without an advertising report (commands, connections)"
    }
  }
}

extension CaptureCounters {
  /// What was passed over, the most frequent first, as sentences without their ends.
  package var passedOverLines: [String] {
    let sorted = passedOver.map { (count: $0.value, text: "\($0.key)") }
      .sorted { ($1.count, $0.text) < ($0.count, $1.text) }
    return sorted.map { "\($0.count) \($0.count == 1 ? "packet" : "packets") passed over: \($0.text)" }
  }
}
