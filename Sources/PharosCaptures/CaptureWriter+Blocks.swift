import PharosReports

/// The bytes around what is written.
extension CaptureWriter {
  /// Writes what stands in front of a packet's bytes.
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

  /// Writes what stands behind a packet's bytes.
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
