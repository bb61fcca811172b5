package import PharosReports

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
    /// How the packets written to it are framed.
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
  /// What was written and not drained yet.
  @usableFromInline
  internal var pending: [UInt8] = []
  /// Numbers the IPv4 packets made here, as a host does.
  var identification: UInt16 = 0

  /// Starts a capture; its header is the first thing to drain.
  ///
  /// - Parameters:
  ///   - format: pcapng, or classic pcap, which has one interface only.
  ///   - interfaces: what packets are written to.
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

  /// How many bytes wait to be drained.
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
  package mutating func takeBytes() -> [UInt8] {
    defer { pending = [] }
    return pending
  }

  /// Writes a packet that is framed already as its interface says.
  ///
  /// - Throws: That it is longer than any reader takes. Times before 1970 are written as 1970.
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
  /// - Throws: That it is longer than the reader takes. The type must have its highest bit set, and the
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
