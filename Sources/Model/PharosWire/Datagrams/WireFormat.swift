/// A datagram format that Pharos understands: a place in the list of formats.
public struct WireFormat: CaseIterable, Hashable, Sendable {
  /// The formats: a new one is a file and an entry here.
  package static let list: [any DatagramFormat.Type] = [
    RaddecFormat.self, PharosFormat.self, JSONFormat.self, IngicsFormat.self, HuaweiFormat.self,
    MinewFormat.self, MQTTFormat.self, MinewConnectFormat.self, AprilBrotherFormat.self, HCITextFormat.self,
  ]

  /// All formats, in the order of the list.
  public static let allCases = list.map(WireFormat.init)

  /// reelyActive's radio decoding, binary: the open convention on UDP 50001.
  public static let raddec = WireFormat(RaddecFormat.self)
  /// The Pharos datagram, version 1.
  public static let pharos = WireFormat(PharosFormat.self)
  /// JSON: an object, an array of objects, or objects one behind the other.
  public static let json = WireFormat(JSONFormat.self)
  /// Ingics gateways: lines that begin with `$`.
  public static let ingics = WireFormat(IngicsFormat.self)
  /// Huawei access points.
  public static let huawei = WireFormat(HuaweiFormat.self)
  /// A message from an MQTT broker, with its topic.
  public static let mqtt = WireFormat(MQTTFormat.self)

  /// The place in the list.
  let place: Int

  /// The format that a type reads, which is in the list.
  package init(_ layout: any DatagramFormat.Type) {
    guard let place = WireFormat.list.firstIndex(where: { $0 == layout }) else {
      preconditionFailure("the format \(layout.name) is not in the list")
    }
    self.place = place
  }

  /// How the format is recognised and read.
  package var layout: any DatagramFormat.Type { WireFormat.list[place] }

  /// The name in metrics, logs and site files.
  public var name: String { layout.name }

  /// Recognises the format of a datagram; nil if it is in no known format.
  ///
  /// No two formats begin alike, so the order of the checks does not matter. Among formats of text that begins in the middle
  /// of a line, the first of the list counts.
  public init?(recognising datagram: RawSpan) {
    for (place, layout) in WireFormat.list.enumerated() where layout.recognises(datagram) {
      self.place = place
      return
    }
    for (place, layout) in WireFormat.list.enumerated() where layout.recognisesWithin(datagram) {
      self.place = place
      return
    }
    return nil
  }

  /// A message for an operator about datagrams that are refused for a reason; it names the formats where that helps.
  public static func advice(on reason: DatagramRefusal) -> String {
    guard reason == .unrecognised else { return reason.description }
    let formats = list.filter { $0 != MQTTFormat.self }.map { "\($0.name) (\($0.beginning))" }
    return reason.description + " Formats: " + formats.joined(separator: ", ") + "."
  }
}

extension WireFormat: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
