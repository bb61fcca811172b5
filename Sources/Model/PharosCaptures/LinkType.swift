/// The link type of a packet: the framing that a capture states for it.
///
/// Capture files of the pcap family and btsnoop files number their framings apart; here both live in one
/// value.
///
/// - Source: the list of link types at tcpdump.org, and the datalinks of BlueZ's `btsnoop.h`.
package struct LinkType: Hashable, Sendable {
  /// The number, with its highest bit set where it is a btsnoop datalink.
  package let rawValue: UInt32

  /// Marks a number as one of btsnoop's.
  static let btsnoopBit: UInt32 = 1 << 31

  /// A link type of the pcap family.
  package init(pcap number: UInt16) { rawValue = UInt32(number) }

  /// A datalink of btsnoop.
  package init(btsnoop number: UInt32) { rawValue = number & ~LinkType.btsnoopBit | LinkType.btsnoopBit }

  /// Indicates whether the number is a btsnoop datalink.
  package var isBtsnoop: Bool { rawValue & LinkType.btsnoopBit != 0 }

  /// The number as the file has it.
  package var number: UInt32 { rawValue & ~LinkType.btsnoopBit }
}

extension LinkType {
  /// BSD loopback: the address family in the order of the capturing host, then IP.
  package static let null = LinkType(pcap: 0)
  /// Ethernet.
  package static let ethernet = LinkType(pcap: 1)
  /// Raw IP as old files number it.
  package static let rawOld = LinkType(pcap: 12)
  /// Raw IP as old OpenBSD files number it.
  package static let rawOpenBSD = LinkType(pcap: 14)
  /// Raw IP, version 4 or 6.
  package static let raw = LinkType(pcap: 101)
  /// OpenBSD loopback: the address family big-endian, then IP.
  package static let loop = LinkType(pcap: 108)
  /// Linux "cooked" capture, as `-i any` writes it.
  package static let linuxSLL = LinkType(pcap: 113)
  /// HCI packets behind an H4 type byte.
  package static let bluetoothH4 = LinkType(pcap: 187)
  /// Per-packet information, a header that names the true link type.
  package static let ppi = LinkType(pcap: 192)
  /// HCI packets behind a direction and an H4 type byte.
  package static let bluetoothH4WithDirection = LinkType(pcap: 201)
  /// Raw IPv4.
  package static let ipv4 = LinkType(pcap: 228)
  /// Raw IPv6.
  package static let ipv6 = LinkType(pcap: 229)
  /// Bluetooth LE link layer from the access address on.
  package static let bluetoothLE = LinkType(pcap: 251)
  /// BlueZ's monitor channel.
  package static let linuxMonitor = LinkType(pcap: 254)
  /// Bluetooth LE link layer behind a header with channel, level and checksum flags.
  package static let bluetoothLEWithHeader = LinkType(pcap: 256)
  /// Nordic Semiconductor's sniffer.
  package static let nordicBLE = LinkType(pcap: 272)
  /// Linux "cooked" capture, version 2.
  package static let linuxSLL2 = LinkType(pcap: 276)
  /// btsnoop: HCI packets whose type stands in the record's flags.
  package static let btsnoopHCI = LinkType(btsnoop: 1001)
  /// btsnoop: HCI packets behind an H4 type byte; nearly every phone's log.
  package static let btsnoopH4 = LinkType(btsnoop: 1002)
  /// btsnoop: BlueZ's monitor channel.
  package static let btsnoopMonitor = LinkType(btsnoop: 2001)
  /// btsnoop: BlueZ's simulator, which holds nothing that was on the air.
  package static let btsnoopSimulator = LinkType(btsnoop: 2002)
}

extension LinkType: CustomStringConvertible {
  /// The number with its name, as in `1 (Ethernet)` or `btsnoop 1002 (H4)`.
  package var description: String {
    let label = isBtsnoop ? "btsnoop \(number)" : "\(number)"
    guard let name else { return label }
    return "\(label) (\(name))"
  }

  /// Link types of the pcap family that Pharos does not read, under which Bluetooth and networks are captured too.
  private static let others: [UInt32: String] = [
    9: "PPP", 105: "IEEE802_11", 127: "IEEE802_11_RADIOTAP", 147: "USER0", 157: "USER10",
    189: "USB_LINUX", 195: "IEEE802_15_4_WITHFCS", 220: "USB_LINUX_MMAPPED", 230: "IEEE802_15_4_NOFCS",
    249: "USBPCAP", 255: "BLUETOOTH_BREDR_BB", 266: "USB_DARWIN", 288: "USB_2_0",
  ]

  private var name: String? {
    switch self {
    case .null: "NULL"
    case .ethernet: "Ethernet"
    case .raw, .rawOld, .rawOpenBSD: "RAW"
    case .loop: "LOOP"
    case .linuxSLL: "SLL"
    case .linuxSLL2: "SLL2"
    case .ipv4: "IPV4"
    case .ipv6: "IPV6"
    case .bluetoothH4, .btsnoopH4: "H4"
    case .bluetoothH4WithDirection: "H4_WITH_PHDR"
    case .bluetoothLE: "LE_LL"
    case .bluetoothLEWithHeader: "LE_LL_WITH_PHDR"
    case .linuxMonitor, .btsnoopMonitor: "monitor"
    case .nordicBLE: "NORDIC_BLE"
    case .ppi: "PPI"
    case .btsnoopHCI: "HCI"
    case .btsnoopSimulator: "simulator"
    default: isBtsnoop ? nil : LinkType.others[number]
    }
  }
}

extension LinkType {
  /// Indicates whether packets of this type hold Bluetooth rather than IP.
  package var isBluetooth: Bool {
    // Asked for every packet: what nearly all captures are comes first.
    switch self {
    case .ethernet, .raw, .linuxSLL, .linuxSLL2: false
    case .bluetoothH4, .bluetoothH4WithDirection, .ppi, .bluetoothLE, .bluetoothLEWithHeader, .linuxMonitor,
      .nordicBLE, .btsnoopHCI, .btsnoopH4, .btsnoopMonitor, .btsnoopSimulator:
      true
    default: false
    }
  }

  /// Indicates whether packets of this type are searched for adverts rather than for UDP datagrams.
  package var carriesAdverts: Bool { isBluetooth && self != .btsnoopSimulator }
}
