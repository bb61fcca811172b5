import PharosDocuments
public import PharosModel

/// An MQTT message of a gateway, with its topic.
///
/// Gateways do not send it: the server puts what it receives from a broker into this form, so that a message passes the
/// same queues and counters as a datagram and a recording contains it. The topic names the observer where the payload does
/// not; the article "MQTT topics" lists the topics that are understood. On any other topic, the payload is read as a
/// datagram, which has to name its observer.
///
/// - Shape: `MQTT`, u8 version (1), u8 the level of the topic that names the observer (from 1; 0: none is set), u16 length of
///   the topic (big-endian), topic in UTF-8, payload.
public enum MQTTFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "mqtt"
  /// The first bytes, for operators.
  public static let beginning = "MQTT"

  private static let magic: UInt32 = 0x4D51_5454
  private static let version: UInt8 = 1

  /// Returns whether the datagram begins with `MQTT`.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 4 && datagram.u32(at: 0) == magic
  }

  /// Returns the datagram of a message; nil if the topic is longer than MQTT permits, 65,535 bytes.
  ///
  /// The observer's level of the topic counts from 1; 0 where the site does not set it.
  package static func datagram(
    topic: some Collection<UInt8>,
    observerLevel level: UInt8 = 0,
    payload: some Collection<UInt8>
  ) -> [UInt8]? {
    guard let length = UInt16(exactly: topic.count) else { return nil }
    var datagram: [UInt8] = []
    datagram.reserveCapacity(8 + topic.count + payload.count)
    for shift in [24, 16, 8, 0] as [UInt32] { datagram.append(UInt8(truncatingIfNeeded: magic >> shift)) }
    datagram += [version, level, UInt8(length >> 8), UInt8(length & 0xFF)]
    datagram += topic
    datagram += payload
    return datagram
  }

  /// Appends the reports of the message.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    var cursor = ByteCursor(datagram.wholeRange)
    _ = try cursor.advance(4)
    guard try cursor.u8(datagram) == version else { throw .unsupportedVersion }
    let level = Int(try cursor.u8(datagram))
    let topic = try cursor.advance(Int(try cursor.u16(datagram)))
    guard WireText.isUTF8(datagram, topic) else { throw .badText }
    guard cursor.remaining > 0 else { throw .empty }
    let payload = datagram.extracting(cursor.offset..<cursor.end)
    let reading = MessageReading(
      source: try MessageSource(datagram, topic, observerLevel: level),
      received: context.received
    )
    try reading.read(payload, into: &batch, notes: &notes)
  }
}

/// The sender of a message and the kind of its payload, by its topic.
enum MessageSource {
  /// `…/GATEWAY/BTtoMQTT/…`: what OpenMQTTGateway and Theengs gateways hear.
  case theengs(gateway: ObserverID)
  /// `espresense/devices/ID/ROOM`: what ESPresense nodes hear.
  case espresense(room: ObserverID)
  /// `ruuvi/GATEWAY/TAG`: what Ruuvi gateways hear.
  case ruuvi(gateway: ObserverID, tag: DeviceAddress)
  /// `/gw/GATEWAY/status`: what Minew gateways hear.
  case minew(gateway: ObserverID)
  /// `…/GATEWAY/LWT`, `espresense/rooms/ROOM/status`, `ruuvi/GATEWAY/gw_status`: online or offline.
  case availability(gateway: ObserverID)
  /// `…/GATEWAY/SYStoMQTT`, `espresense/rooms/ROOM/telemetry`: the state of the gateway, published at intervals.
  case telemetry(gateway: ObserverID)
  /// `tele/GATEWAY/BLE`, `tele/GATEWAY/SENSOR` and `tele/GATEWAY/STATE`: what Tasmota gateways hear and measure.
  case tasmota(gateway: ObserverID)
  /// A topic of which the site says what level names the observer; another level may be the device's address.
  case named(observer: ObserverID, device: DeviceAddress?, isLevel: Bool)
  /// Any other topic.
  case other

  /// The maximum number of levels of a topic that is understood.
  private static let maximumLevels = 8

  /// Reads a topic.
  ///
  /// - Parameters:
  ///   - bytes: the datagram.
  ///   - topic: the range of the topic.
  ///   - named: the level that names the observer, from 1; 0 if the site does not set it.
  /// - Throws: that a name in it cannot be an observer's, or an address none.
  init(_ bytes: RawSpan, _ topic: Range<Int>, observerLevel named: Int) throws(DatagramRefusal) {
    var levels: [Range<Int>] = []
    var start = topic.lowerBound
    for offset in topic where bytes.byte(at: offset) == UInt8(ascii: "/") {
      levels.append(start..<offset)
      start = offset + 1
    }
    levels.append(start..<topic.upperBound)
    if named > 0 {
      self = try MessageSource.named(bytes, levels, observer: named - 1)
      return
    }
    guard levels.count <= MessageSource.maximumLevels else {
      self = .other
      return
    }
    func level(_ index: Int, is word: StaticString) -> Bool {
      levels.indices.contains(index) && WireText.isEqual(bytes, levels[index], word)
    }
    func observer(_ index: Int) throws(DatagramRefusal) -> ObserverID {
      try WireText.observer(bytes, levels[index])
    }
    let last = levels.count - 1
    let first = levels[0].isEmpty ? 1 : 0
    if let place = levels.indices.dropFirst().first(where: { level($0, is: "BTtoMQTT") }) {
      self = .theengs(gateway: try observer(place - 1))
    } else if last > 0, level(last, is: "SYStoMQTT") {
      self = .telemetry(gateway: try observer(last - 1))
    } else if last > 0, level(last, is: "LWT") {
      self = .availability(gateway: try observer(last - 1))
    } else if last > 1, level(0, is: "tele"),
      ["BLE", "SENSOR", "STATE"].contains(where: { level(last, is: $0) })
    {
      self = .tasmota(gateway: try observer(last - 1))
    } else if level(0, is: "espresense"), level(1, is: "devices"), last == 3 {
      self = .espresense(room: try observer(3))
    } else if level(0, is: "espresense"), level(1, is: "rooms"), last == 3, level(3, is: "telemetry") {
      self = .telemetry(gateway: try observer(2))
    } else if level(0, is: "espresense"), level(1, is: "rooms"), last == 3, level(3, is: "status") {
      self = .availability(gateway: try observer(2))
    } else if level(0, is: "ruuvi"), last == 2, level(2, is: "gw_status") {
      self = .availability(gateway: try observer(1))
    } else if level(0, is: "ruuvi"), last == 2 {
      guard let address = WireText.address(bytes, levels[2]) else { throw .badIdentity }
      self = .ruuvi(gateway: try observer(1), tag: address)
    } else if last == first + 2, level(first, is: "gw"), level(last, is: "status") {
      self = .minew(gateway: try observer(first + 1))
    } else {
      self = .other
    }
  }

  /// The source of a topic of which one level, by its index, names the observer.
  private static func named(
    _ bytes: RawSpan,
    _ levels: [Range<Int>],
    observer: Int
  ) throws(DatagramRefusal) -> MessageSource {
    guard observer < levels.count else { throw .noObserver }
    let devices = levels.indices.filter { index in
      index != observer && JSONSighting.address(bytes, levels[index]) != nil
    }
    let device = devices.count == 1 ? JSONSighting.address(bytes, levels[devices[0]]) : nil
    let last = levels.count - 1
    return .named(
      observer: try WireText.observer(bytes, levels[observer]),
      device: device,
      isLevel: device != nil && (devices[0] == last || WireText.spells(bytes, levels[last], "rssi"))
    )
  }
}

/// The reading of one message's payload.
private struct MessageReading {
  let source: MessageSource
  let received: Timestamp

  func read(
    _ payload: RawSpan,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    switch source {
    case .theengs(let gateway), .espresense(room: let gateway):
      try read(payload, in: [JSONFormat.self], of: gateway, into: &batch, notes: &notes)
    case .ruuvi(let gateway, let tag):
      try read(payload, in: [JSONFormat.self], of: gateway, tag: tag, into: &batch, notes: &notes)
    case .minew(let gateway):
      let before = batch.count
      try read(
        payload,
        in: [MinewFormat.self, MinewConnectFormat.self, JSONFormat.self],
        of: gateway,
        into: &batch,
        notes: &notes
      )
      if batch.count == before { appendHeartbeat(of: gateway, to: &batch) }
    case .availability(let gateway):
      if try isOnline(payload) { appendHeartbeat(of: gateway, to: &batch) }
    case .telemetry(let gateway):
      // ESPresense counts adverts since its start, not since the last message, so that the count is left out.
      guard try object(payload) != nil else { throw .nothingUnderstood }
      appendHeartbeat(of: gateway, to: &batch)
    case .tasmota(let gateway):
      // What it measures besides proves that it is alive.
      guard try object(payload) != nil else { throw .nothingUnderstood }
      do throws(DatagramRefusal) {
        try read(payload, in: [JSONFormat.self], of: gateway, into: &batch, notes: &notes)
      } catch .nothingUnderstood {
        appendHeartbeat(of: gateway, to: &batch)
      }
    case .named(let observer, let device?, isLevel: true) where level(payload) != nil:
      let nothing = batch.append(payload: EmptyCollection<UInt8>())
      let advert = Advert(address: device, rssi: level(payload), payload: nothing)
      MessageContext(received: received).append(.advert(advert), of: observer, to: &batch)
    case .named(let observer, let device, _):
      try read(payload, in: nil, of: observer, tag: device, into: &batch, notes: &notes)
    case .other:
      // The payload names its observer itself.
      try read(payload, in: nil, into: &batch, notes: &notes)
    }
  }

  /// Reads a payload that is a datagram in one of some formats; nil for any.
  private func read(
    _ payload: RawSpan,
    in formats: [any DatagramFormat.Type]?,
    of gateway: ObserverID? = nil,
    tag: DeviceAddress? = nil,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    guard let format = WireFormat(recognising: payload)?.layout, format != MQTTFormat.self,
      formats?.contains(where: { $0 == format }) ?? true
    else { throw .unrecognised }
    let context = MessageContext(received: received, observer: gateway, address: tag)
    try format.decode(payload, within: context, into: &batch, notes: &notes)
  }

  /// The level that a payload is, if it is nothing else.
  private func level(_ payload: RawSpan) -> RSSI? {
    guard let number = WireText.number(payload, 0..<WireText.end(payload)), -127 ... -1 ~= number else {
      return nil
    }
    return WireLimits.level(Int(number.rounded()))
  }

  private func appendHeartbeat(of observer: ObserverID, to batch: inout ReportBatch) {
    MessageContext(received: received).append(.heartbeat(Heartbeat()), of: observer, to: &batch)
  }

  /// Returns whether a gateway reports that it is online: the word itself, or an object with it as `state` (Ruuvi).
  private func isOnline(_ payload: RawSpan) throws(DatagramRefusal) -> Bool {
    var word = 0..<WireText.end(payload)
    if let object = try object(payload) {
      guard object[.state].kind == .string else { throw .nothingUnderstood }
      word = object[.state].range
    }
    if WireText.spells(payload, word, "online") { return true }
    guard WireText.spells(payload, word, "offline") else { throw .nothingUnderstood }
    return false
  }

  /// Reads a payload that is one JSON object; nil if it is no JSON at all.
  private func object(_ payload: RawSpan) throws(DatagramRefusal) -> JSONMembers? {
    guard JSONFormat.recognises(payload) else { return nil }
    let text = 0..<WireText.end(payload)
    guard WireText.isUTF8(payload, text),
      let tree = try? JSONReader.value(payload, text, deepest: JSONFormat.deepest)
    else { throw .badText }
    guard tree.root.kind == .object else { throw .nothingUnderstood }
    return JSONMembers(tree.root, of: tree, payload)
  }
}
