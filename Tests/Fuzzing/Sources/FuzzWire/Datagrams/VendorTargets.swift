import FuzzSupport
import PharosModel
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

  static func seeds() throws -> [[UInt8]] { Samples.huawei }
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

  static func seeds() throws -> [[UInt8]] { Samples.minew }
}

/// Frames of MINEW-CONNECT by a gateway that the topic names, their length put right three times in four.
final class MinewConnectTarget: FuzzTarget {
  static let name = "minew-connect"
  static let longest = 1_024

  private var check = DatagramCheck()
  private var bytes: [UInt8] = []

  func take(_ input: RawSpan) {
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

/// MessagePack of April Brother's gateways.
final class AprilBrotherTarget: FuzzTarget {
  static let name = "april-brother"
  static let longest = 1_024

  private var check = DatagramCheck()

  func take(_ input: RawSpan) {
    _ = check.decode(input, as: AprilBrotherFormat.self)
    check.forget()
  }

  static var words: [[UInt8]] {
    ["devices", "mac"].map { Array($0.utf8) } + [[0xC4], [0xDC, 0], [0xDE, 0], [0xD9]]
  }

  static func seeds() throws -> [[UInt8]] { Samples.aprilBrother }
}

/// HCI events in digits, by an observer that the topic names.
final class HCITextTarget: FuzzTarget {
  static let name = "hci-text"
  static let longest = 600

  private var check = DatagramCheck()

  func take(_ input: RawSpan) {
    _ = check.decode(input, as: HCITextFormat.self, of: .name("hall"))
    check.forget()
  }

  static var words: [[UInt8]] { ["043E", "0201", "0D01"].map { Array($0.utf8) } }

  static func seeds() throws -> [[UInt8]] { Samples.hciText }
}

/// Messages from an MQTT broker, the length of their topic put right three times in four.
final class MQTTTarget: FuzzTarget {
  static let name = "mqtt"
  static let longest = 1_024

  private var check = DatagramCheck()
  private var bytes: [UInt8] = []

  func take(_ input: RawSpan) {
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
