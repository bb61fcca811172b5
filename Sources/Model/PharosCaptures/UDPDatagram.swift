package import PharosDocuments
package import PharosModel

/// A UDP datagram found in a capture, put together from its fragments where it came in several.
package struct UDPDatagram: Sendable, Equatable {
  /// The number of the packet that brought it, of the last fragment where there were several.
  package var frame: Int
  /// The capture time of that packet, or nil if the capture has none.
  package var time: Timestamp?
  /// The source endpoint.
  package var source: Endpoint
  /// The destination endpoint.
  package var destination: Endpoint
  /// The captured payload.
  package var payload: ArraySlice<UInt8>
  /// The length of the payload as sent.
  ///
  /// - Units: bytes.
  package var originalLength: Int

  /// Indicates whether the capture holds less than was sent; such a payload must not be decoded as a whole.
  package var isSnapped: Bool { payload.count < originalLength }

  /// Makes a datagram; without an original length it counts as whole.
  package init(
    frame: Int,
    time: Timestamp?,
    source: Endpoint,
    destination: Endpoint,
    payload: ArraySlice<UInt8>,
    originalLength: Int? = nil
  ) {
    self.frame = frame
    self.time = time
    self.source = source
    self.destination = destination
    self.payload = payload
    self.originalLength = originalLength ?? payload.count
  }
}

/// The fast path for the most common packet: one whole datagram, headers without options, no tags, no fragments.
///
/// All fields have fixed offsets, so that a capture of small datagrams costs little more than its bytes. Every other
/// packet takes the slow path. Both paths give the same result for a packet that both can read.
extension UDPDatagram {
  /// An IPv4 header without options, the first byte of which says so.
  private static let plainV4: UInt8 = 0x45
  private static let v4HeaderLength = 20
  private static let v6HeaderLength = 40

  /// Reads a packet, or gives nil where it is not plain.
  init?(plain packet: Packet) {
    let bytes = unsafe packet.bytes.span.bytes
    guard let start = UDPDatagram.internetHeader(in: bytes, of: packet.linkType) else { return nil }
    let room = bytes.byteCount - start
    guard room >= UDPDatagram.v4HeaderLength + UDPHeader.length else { return nil }
    switch bytes.number(at: start, as: UInt8.self) {
    case UDPDatagram.plainV4: self.init(plainV4: packet, bytes, at: start, room: room)
    case 0x60...0x6F: self.init(plainV6: packet, bytes, at: start, room: room)
    default: return nil
    }
  }

  private init?(plainV4 packet: Packet, _ bytes: RawSpan, at start: Int, room: Int) {
    // Neither "more fragments" nor an offset.
    guard bytes.number(at: start + 6, as: UInt16.self) & 0x3FFF == 0 else { return nil }
    guard bytes.number(at: start + 9, as: UInt8.self) == UDPHeader.protocolNumber else { return nil }
    let total = Int(bytes.number(at: start + 2, as: UInt16.self))
    guard total <= room else { return nil }
    self.init(
      plain: packet,
      bytes,
      header: start + UDPDatagram.v4HeaderLength,
      room: total - UDPDatagram.v4HeaderLength,
      from: IPAddress(v4: bytes.number(at: start + 12, as: UInt32.self)),
      to: IPAddress(v4: bytes.number(at: start + 16, as: UInt32.self))
    )
  }

  private init?(plainV6 packet: Packet, _ bytes: RawSpan, at start: Int, room: Int) {
    guard room >= UDPDatagram.v6HeaderLength + UDPHeader.length else { return nil }
    guard bytes.number(at: start + 6, as: UInt8.self) == UDPHeader.protocolNumber else { return nil }
    let length = Int(bytes.number(at: start + 4, as: UInt16.self))
    guard length <= room - UDPDatagram.v6HeaderLength else { return nil }
    let address = { (offset: Int, bytes: RawSpan) in
      IPAddress(
        v6: bytes.number(at: offset, as: UInt64.self),
        bytes.number(at: offset + 8, as: UInt64.self)
      )
    }
    self.init(
      plain: packet,
      bytes,
      header: start + UDPDatagram.v6HeaderLength,
      room: length,
      from: address(start + 8, bytes),
      to: address(start + 24, bytes)
    )
  }

  /// Reads the UDP header, behind which as many bytes were captured as the packet says there were.
  private init?(
    plain packet: Packet,
    _ bytes: RawSpan,
    header: Int,
    room: Int,
    from source: IPAddress,
    to destination: IPAddress
  ) {
    // Length 0 is what segmentation offload leaves: it goes the long way.
    guard room >= UDPHeader.length else { return nil }
    let length = Int(bytes.number(at: header + 4, as: UInt16.self))
    guard length >= UDPHeader.length, length <= room else { return nil }
    let first = packet.bytes.startIndex + header
    self.init(
      frame: packet.number,
      time: packet.time,
      source: Endpoint(source, port: bytes.number(at: header, as: UInt16.self)),
      destination: Endpoint(destination, port: bytes.number(at: header + 2, as: UInt16.self)),
      payload: packet.bytes[first + UDPHeader.length..<first + length]
    )
  }

  /// Returns the offset of the IP header, or nil if tags precede it or the framing needs the slow path.
  private static func internetHeader(in bytes: RawSpan, of linkType: LinkType) -> Int? {
    let type: Int
    let end: Int
    switch linkType {
    case .ethernet: (type, end) = (12, 14)
    case .linuxSLL: (type, end) = (14, 16)
    case .linuxSLL2: (type, end) = (0, 20)
    case .raw, .ipv4, .ipv6: return 0
    default: return nil
    }
    guard bytes.byteCount >= end else { return nil }
    switch bytes.number(at: type, as: UInt16.self) {
    case 0x0800, 0x86DD: return end
    default: return nil
    }
  }
}

extension RawSpan {
  /// A number that stands most significant byte first; the offset is checked.
  fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int,
    as type: Number.Type
  ) -> Number {
    unsafe Number(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension UDPDatagram {
  /// Appends it as a line of JSON with its line feed, as `inspect --datagrams` prints it.
  ///
  /// - Shape: `frame`, `time` (text, nine decimals), `src`, `sport`, `dst`, `dport` (all four text),
  ///   `payload` (hex), and `snapped` where the capture holds less than was sent.
  package func append(to json: inout JSONText) {
    json.openObject()
    json.member("frame", frame)
    json.member("time", orNull: time?.epochText)
    json.member("src", source.address.description)
    json.member("sport", String(source.port))
    json.member("dst", destination.address.description)
    json.member("dport", String(destination.port))
    json.member("payload", Hex.text(payload))
    if isSnapped { json.member("snapped", true) }
    json.closeObject()
    json.newLine()
  }
}

extension JSONText {
  /// Writes a key and a string, or null for nil.
  mutating func member(_ key: StaticString, orNull value: String?) {
    if let value { member(key, value) } else { null(key) }
  }
}
