import FuzzSupport
import PharosModel
import PharosWire

/// Datagrams of Minew gateways, their length put right three times in four.
final class MinewTarget: FuzzTarget {
  static let name = "minew"
  static let maximumLength = 1_024

  private var check = DatagramCheck()
  private var bytes: [UInt8] = []

  func run(_ input: RawSpan) {
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

  static func seeds() throws -> [[UInt8]] { Samples.minew }
}

/// Frames of MINEW-CONNECT by a gateway that the topic names, their length put right three times in four.
final class MinewConnectTarget: FuzzTarget {
  static let name = "minew-connect"
  static let maximumLength = 1_024

  private var check = DatagramCheck()
  private var bytes: [UInt8] = []

  func run(_ input: RawSpan) {
    bytes.removeAll(keepingCapacity: true)
    input.withUnsafeBytes { bytes.append(contentsOf: $0) }
    if bytes.count >= 20, bytes[5] & 3 != 0 {
      bytes.replaceSubrange(0..<2, with: [0xBB, 0x02])
      let length = [
        UInt8(truncatingIfNeeded: bytes.count), UInt8(truncatingIfNeeded: bytes.count >> 8), 0, 0,
      ]
      bytes.replaceSubrange(6..<10, with: length)
    }
    _ = check.decode(bytes.span.bytes, as: MinewConnectFormat.self, of: .eui48(0xAC23_3FA0_0001))
    check.forget()
  }

  static var words: [[UInt8]] { [[0xBB, 0x02], [0x84, 0x3E]] }

  static func seeds() throws -> [[UInt8]] { Samples.minewConnect }
}

/// Messages from an MQTT broker, the length of their topic put right three times in four.
final class MQTTTarget: FuzzTarget {
  static let name = "mqtt"
  static let maximumLength = 1_024

  private var check = DatagramCheck()
  private var bytes: [UInt8] = []

  func run(_ input: RawSpan) {
    bytes.removeAll(keepingCapacity: true)
    input.withUnsafeBytes { bytes.append(contentsOf: $0) }
    if bytes.count > 8, bytes[5] & 3 != 0 {
      let topic = bytes[8...].firstIndex(of: UInt8(ascii: "{")) ?? bytes.count
      let length = topic - 8
      bytes.replaceSubrange(
        0..<8,
        with: Array("MQTT".utf8) + [1, 0, UInt8(truncatingIfNeeded: length >> 8), UInt8(length & 0xFF)]
      )
    }
    _ = check.decode(bytes.span.bytes, as: MQTTFormat.self)
    check.forget()
  }

  static var words: [[UInt8]] {
    let texts = [
      "MQTT", "home/", "/BTtoMQTT/", "/SYStoMQTT", "/LWT", "espresense/devices/", "espresense/rooms/",
      "/telemetry", "/status", "ruuvi/", "/gw_status", "/gw/", "online", "offline",
    ]
    return texts.map { Array($0.utf8) } + JSONDatagramsTarget.words
  }

  static func seeds() throws -> [[UInt8]] { Samples.mqtt }
}
