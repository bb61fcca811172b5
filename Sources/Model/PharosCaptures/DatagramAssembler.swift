import PharosModel

/// Finds the UDP datagrams in packets, putting fragmented ones together.
///
/// Ethernet with VLAN tags, Linux cooked capture, raw IP and loopback framings; IPv4 and IPv6. Checksums are
/// never verified: captures made on the sending host have wrong ones. A capture filtered by port holds only
/// the first fragment of each datagram; record with `udp port N or (ip[6:2] & 0x3fff != 0) or ip6[6] = 44`
/// instead.
package struct DatagramAssembler: Sendable {
  private var fragments = FragmentStore()
  private var latest = Timestamp(nanoseconds: 0)
  private var tally = CaptureCounters()

  /// Makes an assembler that has seen nothing.
  package init() {}

  /// The counts of datagrams found and of packets skipped.
  package var counters: CaptureCounters {
    var counters = tally
    counters.abandonedDatagrams = fragments.abandoned
    return counters
  }

  /// The number of datagrams that wait for fragments.
  package var waiting: Int { fragments.count }

  /// Takes the next packet and gives the datagram that it brings or completes.
  package mutating func add(_ packet: Packet) -> UDPDatagram? {
    tally.packets += 1
    if let time = packet.time { latest = time }
    if let datagram = UDPDatagram(plain: packet) {
      tally.datagrams += 1
      return datagram
    }
    return addUnusual(packet)
  }

  /// Takes a packet that is anything but one whole datagram behind plain headers.
  private mutating func addUnusual(_ packet: Packet) -> UDPDatagram? {
    switch PacketFraming.find(in: ByteView(packet.bytes), linkType: packet.linkType) {
    case .unsupported:
      tally.unsupportedLinkType += 1
      tally.passedOver[.linkType(packet.linkType), default: 0] += 1
    case .unrelated: pass(.notInternet)
    case .cut: count(cut: packet)
    case .ip(let view, let vlan):
      switch IPPacket.read(view, isSnapped: packet.isSnapped) {
      case .unrelated(let number): pass(.internetProtocol(number))
      case .malformed: tally.malformed += 1
      case .snapped: tally.snapped += 1
      case .packet(let found): return datagram(in: found, vlan: vlan, of: packet)
      }
    }
    return nil
  }

  private mutating func pass(_ content: PassedOver) {
    tally.unrelated += 1
    tally.passedOver[content, default: 0] += 1
  }

  private mutating func count(cut packet: Packet) {
    if packet.isSnapped { tally.snapped += 1 } else { tally.malformed += 1 }
  }

  private mutating func datagram(
    in found: IPPacket,
    vlan: UInt16,
    of packet: Packet
  ) -> UDPDatagram? {
    guard let fragment = found.fragment else { return unwrap(found, of: packet) }
    tally.fragments += 1
    guard found.payload.count == found.payloadLength else {
      tally.snapped += 1
      return nil
    }
    switch fragments.add(found, fragment, vlan: vlan, at: packet.time ?? latest) {
    case .waiting: return nil
    case .malformed:
      tally.malformed += 1
      return nil
    case .overlap:
      tally.overlaps += 1
      return nil
    case .whole(let bytes, let next):
      var whole = found
      whole.fragment = nil
      whole.next = next
      whole.payload = ByteView(bytes[...])
      whole.payloadLength = bytes.count
      // Destination options and the like may stand between the fragment header and UDP's.
      guard case .passed = whole.passExtensionHeaders(), whole.fragment == nil else {
        pass(.internetProtocol(whole.next))
        return nil
      }
      return unwrap(whole, of: packet)
    }
  }

  /// Reads the UDP header in front of a payload.
  private mutating func unwrap(_ found: IPPacket, of packet: Packet) -> UDPDatagram? {
    let view = found.payload
    guard view.count >= UDPHeader.length else {
      if view.count < found.payloadLength { tally.snapped += 1 } else { tally.malformed += 1 }
      return nil
    }
    var length = Int(view.u16(4, .big))
    // Length 0 is what segmentation offload leaves on the sending host.
    if length == 0 { length = found.payloadLength }
    guard length >= UDPHeader.length, length <= found.payloadLength else {
      tally.malformed += 1
      return nil
    }
    tally.datagrams += 1
    let present = min(length, view.count) - UDPHeader.length
    if present < length - UDPHeader.length { tally.snapped += 1 }
    return UDPDatagram(
      frame: packet.number,
      time: packet.time,
      source: Endpoint(found.source, port: view.u16(0, .big)),
      destination: Endpoint(found.destination, port: view.u16(2, .big)),
      payload: view.slice(UDPHeader.length, present),
      originalLength: length - UDPHeader.length
    )
  }
}

/// Fragments of datagrams that are not whole yet.
///
/// Bounded in number, bytes and time, whatever a capture holds. Fragments that overlap are refused with all
/// of their datagram: no sender makes them, and which of two contradicting bytes counts would be a guess.
///
/// - Source: RFC 791, RFC 8200 section 4.5, RFC 5722.
struct FragmentStore: Sendable {
  /// The key that identifies the fragments of one datagram.
  struct Key: Hashable {
    var source: IPAddress
    var destination: IPAddress
    var id: UInt32
    /// A router's mirrored port shows a datagram in the VLAN it came from and in the one it went to.
    var vlan: UInt16
  }

  /// The result of adding a fragment.
  enum Outcome {
    case waiting
    /// The last missing fragment arrived: the whole payload, and the number of its protocol or header.
    case whole([UInt8], next: UInt8)
    case overlap
    case malformed
  }

  private struct Piece: Sendable {
    var offset: Int
    var bytes: [UInt8]
    var end: Int { offset + bytes.count }
  }

  private struct Partial: Sendable {
    var serial: Int
    var pieces: [Piece] = []
    var total: Int?
    var held = 0
    var next: UInt8?
  }

  /// The maximum time that fragments wait for the others.
  private static let patience = TimeSpan.seconds(30)
  /// The maximum number of incomplete datagrams.
  private static let maximumDatagrams = 1_024
  /// The maximum storage for fragments.
  ///
  /// - Units: bytes; each piece is counted with its storage overhead.
  private static let maximumBytes = 8 << 20
  private static let costOfPiece = 96
  private static let maximumLength = 65_535

  private var partials: [Key: Partial] = [:]
  private var arrivals: [(key: Key, serial: Int, time: Timestamp)] = []
  private var firstArrival = 0
  private var serial = 0
  private var bytes = 0
  /// The number of datagrams abandoned.
  private(set) var abandoned = 0

  /// The number of incomplete datagrams.
  var count: Int { partials.count }

  /// Takes a fragment that was captured whole.
  mutating func add(
    _ packet: IPPacket,
    _ fragment: IPPacket.Fragment,
    vlan: UInt16,
    at time: Timestamp
  ) -> Outcome {
    expire(at: time)
    let end = fragment.offset + packet.payloadLength
    guard packet.payloadLength > 0, end <= FragmentStore.maximumLength else { return .malformed }
    guard !fragment.hasMore || packet.payloadLength % 8 == 0 else { return .malformed }
    let key = Key(source: packet.source, destination: packet.destination, id: fragment.id, vlan: vlan)
    if partials[key] == nil { admit(key, at: time) }
    guard var partial = partials.removeValue(forKey: key) else { return .malformed }
    let outcome = insert(
      Piece(offset: fragment.offset, bytes: Array(packet.payload.bytes)),
      next: packet.next,
      isLast: !fragment.hasMore,
      into: &partial
    )
    if case .waiting = outcome { partials[key] = partial } else { bytes -= cost(of: partial) }
    shrink(to: FragmentStore.maximumBytes)
    return outcome
  }

  private mutating func insert(
    _ piece: Piece,
    next: UInt8,
    isLast: Bool,
    into partial: inout Partial
  ) -> Outcome {
    let index = partial.pieces.firstIndex { $0.offset >= piece.offset } ?? partial.pieces.count
    if index < partial.pieces.count, partial.pieces[index].offset == piece.offset {
      // The same fragment seen twice, as a capture on all interfaces of a bridge shows it, is no
      // contradiction.
      return partial.pieces[index].bytes == piece.bytes ? .waiting : .overlap
    }
    if index > 0, partial.pieces[index - 1].end > piece.offset { return .overlap }
    if index < partial.pieces.count, partial.pieces[index].offset < piece.end { return .overlap }
    if let total = partial.total, isLast || piece.end > total { return .overlap }
    if isLast {
      if let last = partial.pieces.last, last.end > piece.end { return .overlap }
      partial.total = piece.end
    }
    if piece.offset == 0 { partial.next = next }
    partial.held += piece.bytes.count
    partial.pieces.insert(piece, at: index)
    bytes += piece.bytes.count + FragmentStore.costOfPiece
    guard let total = partial.total, partial.held == total, let next = partial.next else { return .waiting }
    var whole: [UInt8] = []
    whole.reserveCapacity(total)
    for piece in partial.pieces { whole.append(contentsOf: piece.bytes) }
    return .whole(whole, next: next)
  }
}

extension FragmentStore {
  private mutating func admit(_ key: Key, at time: Timestamp) {
    while partials.count >= FragmentStore.maximumDatagrams { abandonOldest() }
    serial += 1
    partials[key] = Partial(serial: serial)
    arrivals.append((key, serial, time))
  }

  private mutating func expire(at time: Timestamp) {
    while firstArrival < arrivals.count, time - arrivals[firstArrival].time > FragmentStore.patience {
      abandonOldest()
    }
  }

  private mutating func shrink(to maximum: Int) {
    while bytes > maximum, firstArrival < arrivals.count { abandonOldest() }
  }

  /// Forgets the datagram that waits longest, unless it is whole by now.
  private mutating func abandonOldest() {
    let oldest = arrivals[firstArrival]
    firstArrival += 1
    if let partial = partials[oldest.key], partial.serial == oldest.serial {
      bytes -= cost(of: partial)
      partials.removeValue(forKey: oldest.key)
      abandoned += 1
    }
    if firstArrival > 4_096, firstArrival * 2 > arrivals.count {
      arrivals.removeSubrange(0..<firstArrival)
      firstArrival = 0
    }
  }

  private func cost(of partial: Partial) -> Int {
    partial.held + partial.pieces.count * FragmentStore.costOfPiece
  }
}
