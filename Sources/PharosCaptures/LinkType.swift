/// What the first byte of a packet is: which framing a capture says that it recorded.
///
/// Capture files of the pcap family and btsnoop files number their framings apart; here both live in one
/// value.
///
/// - Source: the list of link types at tcpdump.org, and the datalinks of BlueZ's `btsnoop.h`.
public struct LinkType: Hashable, Sendable {
  /// The number, with its highest bit set where it is a btsnoop datalink.
  public let rawValue: UInt32

  /// Marks a number as one of btsnoop's.
  static let btsnoopBit: UInt32 = 1 << 31

  /// A link type of the pcap family.
  public init(pcap number: UInt16) { rawValue = UInt32(number) }

  /// A datalink of btsnoop.
  public init(btsnoop number: UInt32) { rawValue = number & ~LinkType.btsnoopBit | LinkType.btsnoopBit }

  /// Whether the number is a btsnoop datalink.
  public var isBtsnoop: Bool { rawValue & LinkType.btsnoopBit != 0 }

  /// The number as the file has it.
  public var number: UInt32 { rawValue & ~LinkType.btsnoopBit }
}

extension LinkType {
  /// BSD loopback: the address family in the order of the capturing host, then IP.
  public static let null = LinkType(pcap: 0)
  /// Ethernet.
  public static let ethernet = LinkType(pcap: 1)
  /// Raw IP as old files number it.
  public static let rawOld = LinkType(pcap: 12)
  /// Raw IP as old OpenBSD files number it.
  public static let rawOpenBSD = LinkType(pcap: 14)
  /// Raw IP, version 4 or 6.
  public static let raw = LinkType(pcap: 101)
  /// OpenBSD loopback: the address family big-endian, then IP.
  public static let loop = LinkType(pcap: 108)
  /// Linux "cooked" capture, as `-i any` writes it.
  public static let linuxSLL = LinkType(pcap: 113)
  /// HCI packets behind an H4 type byte.
  public static let bluetoothH4 = LinkType(pcap: 187)
  /// Per-packet information, a header that names the true link type.
  public static let ppi = LinkType(pcap: 192)
  /// HCI packets behind a direction and an H4 type byte.
  public static let bluetoothH4WithDirection = LinkType(pcap: 201)
  /// Raw IPv4.
  public static let ipv4 = LinkType(pcap: 228)
  /// Raw IPv6.
  public static let ipv6 = LinkType(pcap: 229)
  /// Bluetooth LE link layer from the access address on.
  public static let bluetoothLE = LinkType(pcap: 251)
  /// BlueZ's monitor channel.
  public static let linuxMonitor = LinkType(pcap: 254)
  /// Bluetooth LE link layer behind a header with channel, level and checksum flags.
  public static let bluetoothLEWithHeader = LinkType(pcap: 256)
  /// Nordic Semiconductor's sniffer.
  public static let nordicBLE = LinkType(pcap: 272)
  /// Linux "cooked" capture, version 2.
  public static let linuxSLL2 = LinkType(pcap: 276)
  /// btsnoop: HCI packets whose type stands in the record's flags.
  public static let btsnoopHCI = LinkType(btsnoop: 1001)
  /// btsnoop: HCI packets behind an H4 type byte; nearly every phone's log.
  public static let btsnoopH4 = LinkType(btsnoop: 1002)
  /// btsnoop: BlueZ's monitor channel.
  public static let btsnoopMonitor = LinkType(btsnoop: 2001)
  /// btsnoop: BlueZ's simulator, which holds nothing that was on the air.
  public static let btsnoopSimulator = LinkType(btsnoop: 2002)
}

extension LinkType: CustomStringConvertible {
  /// The number with its name, as in `1 (Ethernet)` or `btsnoop 1002 (H4)`.
  public var description: String {
    let label = isBtsnoop ? "btsnoop \(number)" : "\(number)"
    guard let name else { return label }
    return "\(label) (\(name))"
  }

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
    default: nil
    }
  }
}

extension LinkType {
  /// Whether packets of this type hold Bluetooth rather than IP.
  public var isBluetooth: Bool {
    // Asked for every packet: what nearly all captures are comes first.
    switch self {
    case .ethernet, .raw, .linuxSLL, .linuxSLL2: false
    case .bluetoothH4, .bluetoothH4WithDirection, .ppi, .bluetoothLE, .bluetoothLEWithHeader, .linuxMonitor,
      .nordicBLE, .btsnoopHCI, .btsnoopH4, .btsnoopMonitor, .btsnoopSimulator:
      true
    default: false
    }
  }
}
