public import PharosModel

/// A datagram format: how to tell it from others, and how to read it.
///
/// A format has no state and reads no clock. Each one passes the same conformance suite: any bytes at all are
/// decoded or refused, never more.
public protocol DatagramFormat {
  /// The format.
  static var format: WireFormat { get }

  /// Returns whether a datagram is in this format, judged by its first bytes.
  ///
  /// No two formats recognise the same datagram.
  static func recognises(_ datagram: RawSpan) -> Bool

  /// Appends the reports of a datagram to a batch.
  ///
  /// All or nothing: a refused datagram leaves the batch exactly as it was.
  ///
  /// - Parameters:
  ///   - datagram: the whole payload of one UDP datagram.
  ///   - received: R, the time at which it was received.
  ///   - batch: the batch to append the reports to.
  /// - Throws: the reason for the refusal.
  static func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal)
}

/// A datagram format that Pharos understands.
public enum WireFormat: UInt8, CaseIterable, Hashable, Sendable {
  /// reelyActive's radio decoding, binary: the open convention on UDP 50001.
  case raddec
  /// The Pharos datagram, version 1.
  case pharos
  /// JSON: an object, an array of objects, or objects one behind the other.
  case json
  /// Ingics gateways: lines that begin with `$`.
  case ingics
  /// Huawei access points.
  case huawei
  /// Minew gateways, binary.
  case minew
  /// A message from an MQTT broker, with its topic.
  case mqtt

  /// The name in metrics, logs and site files.
  public var name: String {
    switch self {
    case .raddec: "raddec"
    case .pharos: "pharos"
    case .json: "json"
    case .ingics: "ingics"
    case .huawei: "huawei"
    case .minew: "minew"
    case .mqtt: "mqtt"
    }
  }

  /// Recognises the format of a datagram by its first bytes; nil if it is in no known format.
  ///
  /// No two formats begin alike, so the order of the checks does not matter.
  public init?(recognising datagram: RawSpan) {
    if RaddecFormat.recognises(datagram) {
      self = .raddec
    } else if PharosFormat.recognises(datagram) {
      self = .pharos
    } else if JSONFormat.recognises(datagram) {
      self = .json
    } else if IngicsFormat.recognises(datagram) {
      self = .ingics
    } else if HuaweiFormat.recognises(datagram) {
      self = .huawei
    } else if MinewFormat.recognises(datagram) {
      self = .minew
    } else if MQTTFormat.recognises(datagram) {
      self = .mqtt
    } else {
      return nil
    }
  }
}

extension WireFormat: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
