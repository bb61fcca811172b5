package import PharosReports

/// Datagrams, for which the IP and UDP headers are made here.
extension CaptureWriter {
  /// The longest payload of a datagram over IPv4.
  ///
  /// - Units: bytes.
  package static let longestPayload = 65_507

  /// Writes a UDP datagram with headers made for it, checksums included.
  ///
  /// If only one of the two addresses is IPv6, the other is written as its mapped one.
  ///
  /// - Throws: That the payload fits into no datagram. The interface must be of link type RAW.
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
    guard payload.byteCount <= CaptureWriter.longestPayload else {
      throw CaptureError(
        .payloadTooLong(length: payload.byteCount, limit: CaptureWriter.longestPayload),
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
