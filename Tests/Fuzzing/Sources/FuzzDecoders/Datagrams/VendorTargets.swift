import FuzzSupport
import PharosReports
import PharosWire

/// Datagrams of Huawei access points.
final class HuaweiTarget: FuzzTarget {
  static let name = "huawei"
  static let longest = 1_024

  private var check = DatagramCheck()

  func take(_ input: RawSpan) {
    _ = check.decode(input, as: HuaweiFormat.self)
    check.forget()
  }

  static var words: [[UInt8]] { [[0x48, 0x57, 0x01]] }

  static func seeds() throws -> [[UInt8]] {
    [
      """
      48570124a52cffffff000002 0a0b0c0d0e0f 5e0be100 c4 0000 1e
      0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5
      001122334455 5e0be101 7f 0000 00
      """,
      "485701 000000000001 0000 00",
    ]
    .compactMap { Hex.bytes($0.filter { !$0.isWhitespace }) }
  }
}

/// Datagrams of Minew gateways, their length put right three times in four.
final class MinewTarget: FuzzTarget {
  static let name = "minew"
  static let longest = 1_024

  private var check = DatagramCheck()
  private var bytes: [UInt8] = []

  func take(_ input: RawSpan) {
    bytes.removeAll(keepingCapacity: true)
    input.withUnsafeBytes { bytes.append(contentsOf: $0) }
    if bytes.count >= 8, bytes[5] & 3 != 0 {
      bytes[0] = 0xBB
      bytes[1] = 0x01
      let length = bytes.count
      bytes.replaceSubrange(
        2..<6,
        with: [0, 0, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
      )
      bytes[bytes.count - 1] = 0xDD
    }
    _ = check.decode(bytes.span.bytes, as: MinewFormat.self)
    check.forget()
  }

  static var words: [[UInt8]] { [[0xBB, 0x01], [0xDD]] }

  static func seeds() throws -> [[UInt8]] {
    [
      """
      bb01 00000049 0a0b0c0d0e0f 0002
      c0010203 0405 0002 1e 0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5 02 c4
      00 04 7f
      0000aa55aa55 0001 03 020106 00 d9
      dd
      """,
      "bb01 0000000f 00000000000a 0000 dd",
    ]
    .compactMap { Hex.bytes($0.filter { !$0.isWhitespace }) }
  }
}
