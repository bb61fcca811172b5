package import PharosModel

/// Writes captures that every tool reads: pcapng, or classic pcap, with nanoseconds.
///
/// The bytes gather here until the caller drains them into a file; nothing is ever opened. Whatever was
/// drained is a whole capture, so that a file cut off between two drains is read without complaint.
package struct CaptureWriter: Sendable {
  /// The format of what is written.
  package enum Format: Sendable, Equatable {
    /// pcapng, one section, little-endian.
    case pcapng
    /// Classic pcap, little-endian: one interface, no comment, no local blocks.
    case pcap
  }

  /// An interface to be described at the start.
  package struct Interface: Sendable, Equatable {
    /// The link type of the packets written to it.
    package var linkType: LinkType
    /// Its name, or nil for none.
    package var name: String?

    /// Describes an interface; datagrams go to those of link type RAW.
    package init(linkType: LinkType = .raw, name: String? = nil) {
      self.linkType = linkType
      self.name = name
    }
  }

  /// The format of what is written.
  package let format: Format
  /// The interfaces that packets can be written to, by their place here.
  package let interfaces: [Interface]
  /// The bytes written and not drained yet.
  @usableFromInline
  internal var pending: [UInt8] = []
  /// Numbers the IPv4 packets made here, as a host does.
  var identification: UInt16 = 0

  /// Starts a capture; its header is the first thing to drain.
  ///
  /// - Parameters:
  ///   - format: pcapng, or classic pcap, which has one interface only.
  ///   - interfaces: the interfaces that packets are written to.
  ///   - comment: a text about the capture, shown by Wireshark; cut to 4,096 bytes.
  ///   - application: the program that writes.
  package init(
    format: Format = .pcapng,
    interfaces: [Interface] = [Interface()],
    comment: String? = nil,
    application: String? = nil
  ) {
    precondition(!interfaces.isEmpty, "a capture needs an interface")
    precondition(format == .pcapng || interfaces.count == 1, "classic pcap has one interface")
    precondition(interfaces.allSatisfy { !$0.linkType.isBtsnoop }, "btsnoop datalinks belong in btsnoop")
    self.format = format
    self.interfaces = interfaces
    switch format {
    case .pcapng:
      appendSection(comment: comment, application: application)
      for interface in interfaces { append(interface) }
    case .pcap: appendFileHeader()
    }
  }

  /// The number of bytes not drained yet.
  package var pendingCount: Int { pending.count }

  /// Hands over what was written since the last time and forgets it, unless the body throws.
  @inlinable
  package mutating func drain<Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    guard !pending.isEmpty else { return }
    try unsafe body(pending.span.bytes)
    pending.removeAll(keepingCapacity: true)
  }

  /// Gives what was written since the last time.
  package mutating func drainBytes() -> [UInt8] {
    defer { pending = [] }
    return pending
  }

  /// Writes a packet that already has the framing of its interface.
  ///
  /// - Throws: ``CaptureError`` if it is longer than any reader takes. Times before 1970 are written as 1970.
  package mutating func write(
    packet: RawSpan,
    at time: Timestamp,
    originalLength: Int? = nil,
    interface: Int = 0
  ) throws(CaptureError) {
    try check(length: packet.byteCount, limit: CaptureLimits.packet)
    beginPacket(
      length: packet.byteCount,
      originalLength: originalLength ?? packet.byteCount,
      at: time,
      interface: interface
    )
    unsafe packet.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
    endPacket(length: packet.byteCount)
  }

  /// Writes a block for local use, which other tools skip; ``LocalBlock/content`` gives it back.
  ///
  /// - Throws: ``CaptureError`` if it is longer than the reader takes. The type must have its highest bit set, and the
  ///   format be pcapng.
  package mutating func write(block type: UInt32, content: RawSpan) throws(CaptureError) {
    precondition(format == .pcapng, "classic pcap has no blocks")
    precondition(type & PcapngFormat.BlockType.localBit != 0, "types for local use have the highest bit set")
    try check(length: content.byteCount, limit: CaptureLimits.block - 32)
    let start = pending.count
    pending.appendLittle(type)
    pending.appendLittle(UInt32(0))
    pending.appendLittle(UInt32(content.byteCount))
    unsafe content.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
    pending.padToFour(from: start)
    close(blockAt: start)
  }

  private func check(length: Int, limit: Int) throws(CaptureError) {
    guard length <= limit else {
      throw CaptureError(.blockTooLong(length: length, limit: limit), at: 0)
    }
  }
}

/// Datagrams, for which the IP and UDP headers are made here.
extension CaptureWriter {
  /// The longest payload of a datagram over IPv4.
  ///
  /// - Units: bytes.
  package static let maximumPayload = 65_507

  /// Writes a UDP datagram with headers made for it, checksums included.
  ///
  /// If only one of the two addresses is IPv6, the other is written as its mapped one.
  ///
  /// - Throws: ``CaptureError`` if the payload fits into no datagram. The interface must be of link type RAW.
  package mutating func write(
    payload: RawSpan,
    from source: Endpoint,
    to destination: Endpoint,
    at time: Timestamp,
    interface: Int = 0
  ) throws(CaptureError) {
    precondition(
      interfaces.indices.contains(interface) && interfaces[interface].linkType == .raw,
      "datagrams go to an interface of link type RAW"
    )
    guard payload.byteCount <= CaptureWriter.maximumPayload else {
      throw CaptureError(
        .payloadTooLong(length: payload.byteCount, limit: CaptureWriter.maximumPayload),
        at: 0
      )
    }
    let isV4 = source.address.version == .v4 && destination.address.version == .v4
    let udpLength = UDPHeader.length + payload.byteCount
    let length = (isV4 ? 20 : 40) + udpLength
    beginPacket(length: length, originalLength: length, at: time, interface: interface)
    if isV4 {
      appendIPv4(from: source.address, to: destination.address, udpLength: udpLength)
    } else {
      appendIPv6(from: source.address.asV6, to: destination.address.asV6, udpLength: udpLength)
    }
    appendUDP(payload, from: source.port, to: destination.port, addressLength: isV4 ? 8 : 32)
    endPacket(length: length)
  }

  private mutating func appendIPv4(from source: IPAddress, to destination: IPAddress, udpLength: Int) {
    let start = pending.count
    identification &+= 1
    pending.append(0x45)
    pending.append(0)
    pending.appendBig(UInt16(20 + udpLength))
    pending.appendBig(identification)
    // May not be fragmented, 64 hops, UDP, and a checksum still to be filled in.
    pending.appendBig(UInt16(0x4000))
    pending.append(64)
    pending.append(UDPHeader.protocolNumber)
    pending.appendBig(UInt16(0))
    pending.appendBig(UInt32(truncatingIfNeeded: source.low))
    pending.appendBig(UInt32(truncatingIfNeeded: destination.low))
    pending.replaceBig(at: start + 10, with: ~InternetChecksum.sum(pending[start...], startingFrom: 0))
  }

  private mutating func appendIPv6(from source: IPAddress, to destination: IPAddress, udpLength: Int) {
    pending.appendBig(UInt32(0x6000_0000))
    pending.appendBig(UInt16(udpLength))
    pending.append(UDPHeader.protocolNumber)
    pending.append(64)
    for address in [source, destination] {
      pending.appendBig(address.high)
      pending.appendBig(address.low)
    }
  }

  /// Writes the UDP header and the payload; the addresses that its checksum covers stand right before it.
  private mutating func appendUDP(
    _ payload: RawSpan,
    from source: UInt16,
    to destination: UInt16,
    addressLength: Int
  ) {
    let start = pending.count
    let length = UDPHeader.length + payload.byteCount
    pending.appendBig(source)
    pending.appendBig(destination)
    pending.appendBig(UInt16(length))
    pending.appendBig(UInt16(0))
    unsafe payload.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
    let pseudoHeader = UInt32(UDPHeader.protocolNumber) + UInt32(length)
    let checksum = ~InternetChecksum.sum(pending[(start - addressLength)...], startingFrom: pseudoHeader)
    // Zero would say that there is none.
    pending.replaceBig(at: start + 6, with: checksum == 0 ? 0xFFFF : checksum)
  }
}

/// The sum that IP and UDP protect themselves with.
///
/// - Source: RFC 1071.
enum InternetChecksum {
  /// The ones' complement sum of 16-bit words, the last one filled up with a zero.
  static func sum(_ bytes: ArraySlice<UInt8>, startingFrom initial: UInt32) -> UInt16 {
    var sum = UInt64(initial)
    var isHigh = true
    for byte in bytes {
      sum += isHigh ? UInt64(byte) << 8 : UInt64(byte)
      isHigh.toggle()
    }
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    return UInt16(sum)
  }
}

/// The bytes around what is written.
extension CaptureWriter {
  /// Writes the header of a packet.
  mutating func beginPacket(length: Int, originalLength: Int, at time: Timestamp, interface: Int) {
    precondition(interfaces.indices.contains(interface), "the capture has no such interface")
    let nanoseconds = UInt64(max(0, time.nanoseconds))
    switch format {
    case .pcapng:
      pending.appendLittle(PcapngFormat.BlockType.enhancedPacket)
      pending.appendLittle(UInt32(32 + (length + 3) / 4 * 4))
      pending.appendLittle(UInt32(interface))
      pending.appendLittle(UInt32(truncatingIfNeeded: nanoseconds >> 32))
      pending.appendLittle(UInt32(truncatingIfNeeded: nanoseconds))
    case .pcap:
      pending.appendLittle(UInt32(clamping: nanoseconds / 1_000_000_000))
      pending.appendLittle(UInt32(nanoseconds % 1_000_000_000))
    }
    pending.appendLittle(UInt32(length))
    pending.appendLittle(UInt32(clamping: originalLength))
  }

  /// Writes the padding and the trailer of a packet.
  mutating func endPacket(length: Int) {
    guard format == .pcapng else { return }
    let padded = (length + 3) / 4 * 4
    for _ in length..<padded { pending.append(0) }
    pending.appendLittle(UInt32(32 + padded))
  }

  /// Fills in the total length of a block at its head and writes it at its end.
  mutating func close(blockAt start: Int) {
    let total = UInt32(pending.count - start + 4)
    for index in 0..<4 { pending[start + 4 + index] = UInt8(truncatingIfNeeded: total >> UInt32(index * 8)) }
    pending.appendLittle(total)
  }

  /// Writes the section header of pcapng.
  mutating func appendSection(comment: String?, application: String?) {
    let start = pending.count
    pending.appendLittle(PcapngFormat.BlockType.section)
    pending.appendLittle(UInt32(0))
    pending.appendLittle(UInt32(0x1A2B_3C4D))
    pending.appendLittle(UInt16(1))
    pending.appendLittle(UInt16(0))
    // A length of -1 says that it was not known when the section began.
    pending.appendLittle(Int64(-1))
    append(option: PcapngOptions.comment, comment)
    append(option: PcapngOptions.application, application)
    endOptions(present: comment != nil || application != nil)
    close(blockAt: start)
  }

  /// Writes an interface description of pcapng whose timestamps count nanoseconds.
  mutating func append(_ interface: Interface) {
    let start = pending.count
    pending.appendLittle(PcapngFormat.BlockType.interface)
    pending.appendLittle(UInt32(0))
    pending.appendLittle(UInt16(truncatingIfNeeded: interface.linkType.number))
    pending.appendLittle(UInt16(0))
    pending.appendLittle(UInt32(CaptureLimits.packet))
    append(option: PcapngOptions.name, interface.name)
    pending.appendLittle(PcapngOptions.resolution)
    pending.appendLittle(UInt16(1))
    pending.append(9)
    pending.padToFour(from: start)
    endOptions(present: true)
    close(blockAt: start)
  }

  /// Writes the file header of classic pcap with nanoseconds.
  mutating func appendFileHeader() {
    pending.appendLittle(UInt32(0xA1B2_3C4D))
    pending.appendLittle(UInt16(2))
    pending.appendLittle(UInt16(4))
    pending.appendLittle(UInt64(0))
    pending.appendLittle(UInt32(CaptureLimits.packet))
    pending.appendLittle(interfaces[0].linkType.number)
  }

  private mutating func append(option code: UInt16, _ text: String?) {
    guard let text else { return }
    let start = pending.count
    let bytes = text.utf8.prefix(CaptureLimits.text)
    pending.appendLittle(code)
    pending.appendLittle(UInt16(bytes.count))
    pending.append(contentsOf: bytes)
    pending.padToFour(from: start)
  }

  private mutating func endOptions(present: Bool) {
    if present { pending.appendLittle(UInt32(0)) }
  }
}
