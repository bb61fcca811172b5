/// The options at the end of a pcapng block.
///
/// - Shape: each 0 code u16, 2 length u16, value, zeros up to a multiple of 4; code 0 ends them, and so does
///   the block.
enum PcapngOptions {
  static let comment: UInt16 = 1
  /// In an interface description: its name.
  static let name: UInt16 = 2
  /// In a section header: the program that wrote it.
  static let application: UInt16 = 4
  /// In an interface description: the length of a tick.
  static let resolution: UInt16 = 9
  /// In an interface description: seconds to add.
  static let timeOffset: UInt16 = 14

  /// Walks the options from an offset on; one that runs past the block ends the walk, since none of them is
  /// vital.
  static func forEach(
    in body: ByteView,
    from start: Int,
    _ order: ByteOrder,
    _ visit: (UInt16, ByteView) -> Void
  ) {
    var offset = start
    while offset + 4 <= body.count {
      let code = body.u16(offset, order)
      let length = Int(body.u16(offset + 2, order))
      guard code != 0, offset + 4 + length <= body.count else { return }
      visit(code, ByteView(body.slice(offset + 4, length)))
      offset += 4 + (length + 3) / 4 * 4
    }
  }

  /// A value as text, cut to what is kept.
  static func text(_ value: ByteView) -> String {
    String(decoding: value.bytes.prefix(CaptureLimits.text), as: UTF8.self)
  }
}
