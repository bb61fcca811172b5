import PharosCaptures
import PharosDocuments
import PharosModel

/// Captures and packets spelt byte by byte, so that tests hold their input as data.
enum CaptureBytes {
  static func hex(_ text: String) -> [UInt8] {
    Hex.bytes(text.filter { !$0.isWhitespace }) ?? []
  }

  /// A packet of the given framing, whole unless an original length is given.
  static func packet(
    _ linkType: LinkType,
    _ text: String,
    number: Int = 1,
    at seconds: Int64 = 100,
    flags: UInt32 = 0,
    originalLength: Int? = nil
  ) -> Packet {
    let bytes = hex(text)
    return Packet(
      number: number,
      time: Timestamp(seconds: seconds),
      linkType: linkType,
      flags: flags,
      originalLength: originalLength ?? bytes.count,
      bytes: bytes[...]
    )
  }

  /// A number of so many bytes in either order, as hexadecimal text.
  static func number(_ value: UInt64, bytes: Int, big: Bool) -> String {
    let text = Hex.text(value, bytes: bytes)
    guard !big else { return text }
    return Hex.text((Hex.bytes(text) ?? []).reversed())
  }

  /// A pcapng block with its two lengths.
  static func block(_ type: UInt32, _ body: String, big: Bool) -> String {
    let length = UInt64(hex(body).count + 12)
    let total = number(length, bytes: 4, big: big)
    return number(UInt64(type), bytes: 4, big: big) + total + body + total
  }

  /// A pcapng section header without options.
  static func section(big: Bool) -> String {
    let magic = number(0x1A2B_3C4D, bytes: 4, big: big)
    return block(
      0x0A0D_0D0A,
      magic + number(1, bytes: 2, big: big) + "0000 ffffffffffffffff",
      big: big
    )
  }

  /// A pcapng interface description of Ethernet, options given as text.
  static func interface(_ options: String = "", linkType: UInt64 = 1, snap: UInt64 = 0, big: Bool) -> String {
    block(
      1,
      number(linkType, bytes: 2, big: big) + "0000" + number(snap, bytes: 4, big: big) + options,
      big: big
    )
  }

  /// A pcapng enhanced packet of interface 0 holding four bytes.
  static func enhanced(ticks: UInt64, interface: UInt64 = 0, big: Bool) -> String {
    block(
      6,
      number(interface, bytes: 4, big: big) + number(ticks >> 32, bytes: 4, big: big)
        + number(ticks & 0xFFFF_FFFF, bytes: 4, big: big) + number(4, bytes: 4, big: big)
        + number(4, bytes: 4, big: big) + "deadbeef",
      big: big
    )
  }
}
