import PharosDocuments
import PharosModel

/// A layout in which one object names a gateway, and a list holds what the gateway heard.
///
/// The elements of the list are read as objects everywhere; the layout says only where the name and the list stand. A maker's
/// layout of this kind is an entry of ``all``.
struct GatewayListLayout: JSONLayout {
  /// The member that describes the gateway; nil if the object itself does.
  let gateway: JSONField?
  /// The member of the description that names the gateway.
  let name: JSONField
  /// The member that holds the list, in the description or beside it.
  let list: JSONField
  /// Indicates whether the list is an object, in which the address of each device is the key of what was heard of it.
  var isKeyed = false
  /// The member under which an element may hold all that it says.
  var wrapper: JSONField?
  /// Indicates whether each message proves that the gateway is alive, even one that lists nothing.
  var isHeartbeat = true

  /// The layouts, by maker.
  private static let all = [
    // Ruuvi. The times are whole seconds, so the receive time stands.
    // Source: Ruuvi's documentation, "HTTP: Time-stamped data from Bluetooth-sensors" and its twin without timestamps.
    GatewayListLayout(gateway: .data, name: .observer, list: .tags, isKeyed: true),
    // MOKOSmart: adverts (`msg_id` 3070, formerly 3004), or an object with the state of the network (3003).
    // Source: reelyactive/barnowl-mokosmart, `lib/mqttprotocoldecoder.js`.
    GatewayListLayout(
      gateway: .deviceInfo,
      name: .address,
      list: .data,
      wrapper: .value,
      isHeartbeat: false
    ),
    // Aruba, "Telemetry-Https". A device that was heard before the preceding report is listed again, and its age grows.
    // Source: the Aruba IoT Server Interface Guide 8.8, "Telemetry"; reelyactive/barnowl-aruba, `proto/aos8v1`.
    GatewayListLayout(gateway: .reporter, name: .address, list: .reported),
    // KKM, and makers that sell its gateways.
    // Source: sajjad1124/lighthouse, README, for `gmac`, `obj`, `dmac` and `data1`; of the others only the names are known.
    GatewayListLayout(gateway: nil, name: .observer, list: .objects),
  ]

  /// The properties that the elements of such a list inherit.
  struct Elements {
    /// The time at which the gateway sent, by its own clock in seconds; what is left after a device's last time is its age.
    let sent: Int64?
    /// Indicates whether the gateway writes bytes, as addresses are, in base64 and not in digits, as Protocol Buffers' JSON does.
    let isBase64: Bool
  }

  /// Reads an object in one of the layouts.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    for layout in all {
      guard let gateway = layout.gateway else {
        if try layout.read(object, object, bytes, context, by: &reader, into: &batch) { return true }
        continue
      }
      guard object[gateway].kind == .object else { continue }
      let description = reader.members(of: object[gateway], bytes)
      if try layout.read(object, description, bytes, context, by: &reader, into: &batch) { return true }
    }
    return false
  }

  private func read(
    _ object: JSONMembers,
    _ description: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    let content = description.has(list) ? description[list] : object[list]
    guard description.has(name), accepts(content.kind) else { return false }
    let address = name == .address ? JSONMembers.base64(description[name], bytes, count: 6) : nil
    var inner = JSONReportReader.Context(timing: context.timing)
    if let address {
      inner.observer = .eui48(address.low)
    } else {
      inner.observer = try JSONMembers.observer(description[name], bytes)
    }
    inner.elements = Elements(sent: description.seconds(.time, bytes), isBase64: address != nil)
    if isHeartbeat { try reader.append(.heartbeat(Heartbeat()), .received, inner, to: &batch) }
    if content.kind == .array {
      reader.read(list: content, under: wrapper, bytes, inner, into: &batch)
    } else if isKeyed {
      read(keyed: content, bytes, inner, by: &reader, into: &batch)
    } else if content.kind == .object {
      return try reader.read(object: content, bytes, &inner, into: &batch)
    }
    return true
  }

  /// Returns whether the list may be of a kind: one that a gateway describes beside itself may be missing if it is empty, and an
  /// object stands for it where messages do not prove life, to state that.
  private func accepts(_ kind: JSONSlice.Kind) -> Bool {
    switch kind {
    case .array: !isKeyed
    case .object: isKeyed || !isHeartbeat
    case .absent: gateway != nil && !isKeyed && isHeartbeat
    case .null, .yes, .no, .number, .string: false
    }
  }

  private func read(
    keyed content: JSONSlice,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) {
    for (key, value) in reader.tree.members(of: content) {
      reader.attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard !key.isEscaped, let address = WireText.address(bytes, key.range) else { throw .badIdentity }
        guard value.kind == .object, reader.members(of: value, bytes).has(.data) else { throw .badField }
        var inner = context
        inner.address = address
        guard try reader.read(object: value, bytes, &inner, into: &batch) else { throw .nothingUnderstood }
      }
    }
  }
}
