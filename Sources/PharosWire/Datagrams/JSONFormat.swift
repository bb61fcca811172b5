public import PharosModel

/// JSON: an object, an array of objects, or any number of either one behind the other, as on lines.
///
/// Understood are Pharos's own names, raddec in JSON, and names as Theengs, OpenMQTTGateway, ESPresense and
/// Minew gateways use; the article "JSON fields" lists them all. Names that are not understood are passed
/// over, and counted if they look like the identity of a beacon that is lost. An object says who reports it, or stands
/// inside one that does.
///
/// The text must be valid JSON in UTF-8 to its last byte and nest no deeper than 16 levels; if any part of a
/// datagram is refused, all of it is.
public enum JSONFormat: DatagramFormat {
  /// The format.
  public static let format = WireFormat.json
  /// The largest depth of arrays and objects; the deepest understood shape has 5 levels.
  static let deepest = 16

  /// Returns whether the first character that is no white space opens an object or an array.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    for offset in datagram.wholeRange where !JSONScanner.isSpace(datagram.byte(at: offset)) {
      return datagram.byte(at: offset) == UInt8(ascii: "{") || datagram.byte(at: offset) == UInt8(ascii: "[")
    }
    return false
  }

  /// Appends the reports of all objects.
  public static func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    var ignored = IgnoredIdentities()
    try decode(datagram, received: received, into: &batch, ignored: &ignored)
  }

  /// Appends the reports of all objects, and counts the members that look like an identity and were ignored.
  ///
  /// - Parameters:
  ///   - datagram: the text.
  ///   - received: R.
  ///   - context: what holds for objects that do not state it themselves, as the topic of an MQTT message tells it.
  ///   - batch: the batch to append the reports to.
  ///   - ignored: the counts.
  /// - Throws: the reason for the refusal.
  static func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    within context: JSONReader.Context = JSONReader.Context(),
    into batch: inout ReportBatch,
    ignored: inout IgnoredIdentities
  ) throws(DatagramRefusal) {
    let text = 0..<WireText.end(datagram)
    guard WireText.isUTF8(datagram, text) else { throw .badText }
    let mark = batch.mark
    do throws(DatagramRefusal) {
      var reader = JSONReader(received: received, within: context)
      defer { ignored += reader.ignored }
      var scanner = JSONScanner(text, deepest: deepest)
      while !scanner.isAtEnd(datagram) {
        guard let value = try? scanner.value(datagram) else { throw .badText }
        try reader.read(value, datagram, into: &batch)
      }
      guard reader.understood else { throw .nothingUnderstood }
    } catch {
      batch.removeAll(behind: mark)
      throw error
    }
  }
}

/// Turns JSON objects into reports.
struct JSONReader {
  /// R.
  let received: Timestamp
  /// What holds for objects that do not state it themselves.
  private let outer: Context
  /// Indicates whether anything was understood, even if it held no report, as an empty list does.
  private(set) var understood = false
  /// The members that look like an identity and were ignored.
  private(set) var ignored = IgnoredIdentities()

  /// The properties that an object inherits from the object that holds it, or from the topic of its message.
  struct Context {
    var observer: ObserverID?
    /// The address of the device that was heard.
    var address: DeviceAddress?
    var timing = ReportTiming.received
  }

  init(received: Timestamp, within outer: Context) {
    self.received = received
    self.outer = outer
  }

  /// Reads the top-level value of a datagram: an object or an array of objects.
  ///
  /// It skips objects that it does not understand: other programs put their own objects beside adverts.
  mutating func read(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    switch value.kind {
    case .object:
      var context = outer
      if try read(object: value, bytes, &context, into: &batch) { understood = true }
    case .array:
      if value.range.allSatisfy({ JSONScanner.isSpace(bytes.byte(at: $0)) }) { understood = true }
      var context = outer
      var scanner = JSONScanner(value.range)
      while let element = scanner.nextElement(bytes) {
        guard element.kind == .object else { throw .nothingUnderstood }
        if try read(object: element, bytes, &context, into: &batch) { understood = true }
      }
    case .absent, .null, .yes, .no, .number, .string: throw .nothingUnderstood
    }
  }

  /// Reads the elements of a list that an object holds; each must be understood.
  mutating func read(
    list: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    var scanner = JSONScanner(list.range)
    while let element = scanner.nextElement(bytes) {
      guard element.kind == .object else { throw .badField }
      var inner = context
      guard try read(object: element, bytes, &inner, into: &batch) else { throw .nothingUnderstood }
    }
  }

  /// Reads an object, and says whether it was understood.
  private mutating func read(
    object value: JSONSlice,
    _ bytes: RawSpan,
    _ context: inout Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    let object = JSONObject(bytes, value)
    if object[.transmitter].kind == .string, object[.signature].kind == .array {
      try readRaddec(object, bytes, context, into: &batch)
      return true
    }
    if try readRuuvi(object, bytes, into: &batch) { return true }
    if object.word(.type, bytes, JSONWords.gateway) != nil, let place = try object.text(.address) {
      // Minew: the first element of an array names the gateway that heard those behind it.
      context.observer = try WireText.observer(bytes, place)
      try append(.heartbeat(Heartbeat()), .received, context, to: &batch)
      return true
    }
    var inner = context
    var sighting = try JSONSighting(object, bytes)
    if case .device(let address)? = sighting, !object.has(.rssi), JSONReader.holdsReports(object) {
      // An address without a level beside lists of reports is not heard but hears.
      inner.observer = .eui48(address.bits)
      sighting = nil
    }
    if sighting?.hasIdentity != true, object.has(.rssi) { ignored.count(value, bytes) }
    inner.observer = try object.observer(bytes, orName: sighting == nil) ?? inner.observer
    inner.timing = try object.timing(bytes, within: context.timing)
    let isEnvelope = try readEnvelope(object, bytes, inner, into: &batch)
    guard let sighting else { return isEnvelope }
    let body = try sighting.body(bytes, object, of: inner.address, appendingTo: &batch)
    try append(body, inner.timing, inner, to: &batch)
    return true
  }

  /// Returns whether an object holds lists or single reports of the observer that it is about.
  private static func holdsReports(_ object: JSONObject) -> Bool {
    object[.adverts].kind == .array || object[.rangedBeacons].kind == .array || object.has(.heartbeat)
      || object.has(.scanState) || object.has(.displayOn) || object.has(.wifiScan)
      || object[.motion].kind == .array || object[.fix].kind == .object
      || object[.relativePoses].kind == .array || object[.visualStatus].kind == .object
  }

  /// Appends a report by the observer at hand.
  func append(
    _ body: ReportBody,
    _ timing: ReportTiming,
    _ context: Context,
    to batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    guard let observer = context.observer else { throw .noObserver }
    let index = batch.index(of: observer)
    batch.append(Report(observer: index, received: received, timing: timing, body: body))
  }
}

/// The words that members may hold, compared without regard to case.
enum JSONWords {
  static let gateway: [StaticString] = ["gateway"]
  static let addressKinds: [StaticString] = ["public", "random"]
  static let scanStates: [StaticString] = ["off", "windowed", "foreground"]
  static let fixSources: [StaticString] = ["gnss", "vps"]
  /// In the order of `RelativePose.Quality`.
  static let qualities: [StaticString] = ["lost", "limited", "normal"]
  /// In the order of `PositioningState`.
  static let states: [StaticString] = ["notPositioning", "degradedPositioning", "accuratePositioning"]
  /// In the order of `ScanStatus`.
  static let scans: [StaticString] = ["stopped", "started", "failed"]
  /// In the order of `MotionSample.Kind`.
  static let motionKinds: [StaticString] = [
    "accelerometer", "gyroscope", "magnetometer", "rotationVector", "barometer", "step",
  ]
  /// In the order of `Advert.PDU`; then the names of the specification in the same order.
  static let pdus: [StaticString] = [
    "connectable", "directed", "scannable", "nonConnectable", "scanResponse", "extended",
    "ADV_IND", "ADV_DIRECT_IND", "ADV_SCAN_IND", "ADV_NONCONN_IND", "SCAN_RSP", "ADV_EXT_IND",
  ]
}

/// The lists and single reports that an object of an observer holds.
extension JSONReader {
  /// Reads them, and says whether there was any.
  ///
  /// A member of another kind than expected belongs to another program and is passed over.
  mutating func readEnvelope(
    _ object: JSONObject,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    var found = try readHead(object, bytes, context, into: &batch)
    found = try readHeartbeat(object[.heartbeat], bytes, context, into: &batch) || found
    found = try readScanState(object, bytes, context, into: &batch) || found
    found = try readDisplayOn(object[.displayOn], bytes, context, into: &batch) || found
    if object[.adverts].kind == .array {
      try read(list: object[.adverts], bytes, context, into: &batch)
      found = true
    }
    if object[.data].kind == .array {
      try read(list: object[.data], bytes, context, into: &batch)
      found = true
    }
    if object[.rangedBeacons].kind == .array {
      try read(list: object[.rangedBeacons], bytes, context, into: &batch)
      found = true
    }
    found = try readWifiScan(object[.wifiScan], bytes, context, into: &batch) || found
    found = try readMotion(object[.motion], bytes, context, into: &batch) || found
    found = try readFix(object[.fix], bytes, context, into: &batch) || found
    found = try readPoses(object[.relativePoses], bytes, context, into: &batch) || found
    found = try readVisualStatus(object[.visualStatus], bytes, context, into: &batch) || found
    return found
  }

  /// The head of a datagram from a sender that numbers what it sends.
  private func readHead(
    _ object: JSONObject,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.bootID].kind == .number, object[.sequence].kind == .number else { return false }
    guard let bootID = try object.integer(.bootID, bytes, in: 0...UInt32.max) else { return false }
    guard let sequence = try object.integer(.sequence, bytes, in: 0...UInt32.max) else { return false }
    let uptime = try object.milliseconds(.uptime, bytes) ?? .zero
    let head = Transmission(bootID: bootID, sequence: sequence, uptime: uptime)
    try append(.transmission(head), .received, context, to: &batch)
    return true
  }

  private func readHeartbeat(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    if value.kind == .yes {
      try append(.heartbeat(Heartbeat()), context.timing, context, to: &batch)
      return true
    }
    guard value.kind == .object else { return false }
    let object = JSONObject(bytes, value)
    let duty = try object.number(.scanDuty, bytes)
    guard 0...1 ~= duty ?? 0 else { throw .badField }
    let heartbeat = Heartbeat(
      advertsHeard: try object.integer(.advertsHeard, bytes, in: 0...UInt32.max),
      scanDuty: duty.map { Float($0) },
      dropped: try object.integer(.dropped, bytes, in: 0...UInt32.max) ?? 0
    )
    try append(.heartbeat(heartbeat), try object.timing(bytes, within: context.timing), context, to: &batch)
    return true
  }

  private func readScanState(
    _ outer: JSONObject,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    var word = outer.word(.scanState, bytes, JSONWords.scanStates)
    var timing = context.timing
    switch outer[.scanState].kind {
    case .string: break
    case .object:
      let object = JSONObject(bytes, outer[.scanState])
      word = object.word(.state, bytes, JSONWords.scanStates)
      timing = try object.timing(bytes, within: timing)
    case .absent, .null, .yes, .no, .number, .array: return false
    }
    guard let word, let state = ScanState(rawValue: UInt8(word)) else { throw .badField }
    try append(.scanState(state), timing, context, to: &batch)
    return true
  }

  private func readDisplayOn(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    switch value.kind {
    case .yes:
      try append(.displayOn, context.timing, context, to: &batch)
    case .object:
      let timing = try JSONObject(bytes, value).timing(bytes, within: context.timing)
      try append(.displayOn, timing, context, to: &batch)
    case .absent, .null, .no, .number, .string, .array: return false
    }
    return true
  }
}

/// The message of a Ruuvi gateway: `{"data": {"gw_mac": …, "tags": {MAC: {"rssi": …, "data": …}}}}`.
///
/// - Source: Ruuvi's documentation, "HTTP: Time-stamped data from Bluetooth-sensors" and its twin without timestamps.
extension JSONReader {
  /// Reads the message and returns whether the object was one.
  ///
  /// Its times are whole seconds, so the receive time stands. The gateway itself gives a heartbeat, since it also posts
  /// when it hears nothing.
  mutating func readRuuvi(
    _ object: JSONObject,
    _ bytes: RawSpan,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.data].kind == .object else { return false }
    let content = JSONObject(bytes, object[.data])
    guard content[.tags].kind == .object, content.has(.observer) else { return false }
    let context = Context(observer: try content.observer(bytes, orName: false))
    try append(.heartbeat(Heartbeat()), .received, context, to: &batch)
    var scanner = JSONScanner(content[.tags].range)
    while let (key, value) = scanner.nextMember(bytes) {
      guard value.kind == .object else { throw .badField }
      guard !key.isEscaped, let address = WireText.address(bytes, key.range, kind: .unknown) else {
        throw .badIdentity
      }
      let tag = JSONObject(bytes, value)
      guard let digits = try tag.text(.data) else { throw .badField }
      let level = try tag.level(bytes)
      guard let payload = WireText.withHex(bytes, digits, { batch.append(payload: $0) }) else {
        throw .badText
      }
      let advert = Advert(address: address, rssi: level, payload: payload)
      try append(.advert(advert), .received, context, to: &batch)
    }
    return true
  }
}

/// raddec in JSON: the same sighting as in the binary format, with its parts spelt out.
extension JSONReader {
  /// Appends one advert for each receiver and packet.
  func readRaddec(
    _ object: JSONObject,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    let timing = try object.timing(bytes, within: context.timing)
    let packets = object[.packets]
    guard packets.kind == .array || !packets.isPresent else { throw .badField }
    let transmitter = try transmitter(object, bytes)
    var receivers = JSONScanner(object[.signature].range)
    while let element = receivers.nextElement(bytes) {
      guard element.kind == .object else { throw .badField }
      let receiver = JSONObject(bytes, element)
      guard receiver.has(.observer) else { throw .noObserver }
      var inner = context
      inner.observer = try JSONObject.observer(receiver[.observer], bytes)
      let level = try receiver.level(bytes)
      var adverts = 0
      var scanner = JSONScanner(packets.range)
      while let packet = scanner.nextElement(bytes) {
        guard packet.kind == .string else { throw .badField }
        guard var advert = try advert(packet.range, bytes, transmitter, into: &batch) else { continue }
        advert.rssi = level
        try append(.advert(advert), timing, inner, to: &batch)
        adverts += 1
      }
      guard adverts == 0 else { continue }
      let nothing = batch.append(payload: EmptyCollection<UInt8>())
      let advert = Advert(address: transmitter.address, rssi: level, payload: nothing)
      try append(.advert(advert), timing, inner, to: &batch)
    }
  }

  private struct Transmitter {
    let address: DeviceAddress?
    let packets: RaddecIdentifierType.Packets
  }

  private func transmitter(_ object: JSONObject, _ bytes: RawSpan) throws(DatagramRefusal) -> Transmitter {
    guard let place = try object.text(.transmitter) else { throw .badIdentity }
    guard let code = try object.integer(.transmitterType, bytes, in: 0...UInt8.max) else {
      let address = WireText.address(bytes, place)
      return Transmitter(address: address, packets: address == nil ? .perhapsAdvertising : .advertising)
    }
    let type = try RaddecIdentifierType(code)
    let kind: DeviceAddress.Kind
    switch type {
    case .eui48: kind = .public
    case .rnd48: kind = .random
    case .unknown, .eui64, .tid96, .epc96, .uuid128, .eurid32:
      return Transmitter(address: nil, packets: type.packets)
    }
    guard let address = WireText.address(bytes, place, kind: kind) else { throw .badIdentity }
    return Transmitter(address: address, packets: type.packets)
  }

  /// The advert that a packet is, or nil if the transmitter's packets are not Bluetooth's.
  private func advert(
    _ digits: Range<Int>,
    _ bytes: RawSpan,
    _ transmitter: Transmitter,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Advert? {
    guard transmitter.packets != .foreign else { return nil }
    let decoded = WireText.withHex(bytes, digits) { packet in
      AdvertisingPDU.advert(packet, heardFrom: transmitter.address, into: &batch)
    }
    guard let decoded else { throw .badText }
    switch decoded {
    case .success(let advert): return advert
    case .failure(let refusal):
      guard transmitter.packets == .advertising else { return nil }
      throw refusal
    }
  }
}

extension AdvertisingPDU {
  /// The advert that a PDU is, its data appended to the batch.
  fileprivate static func advert(
    _ packet: RawSpan,
    heardFrom transmitter: DeviceAddress?,
    into batch: inout ReportBatch
  ) -> Result<Advert, DatagramRefusal> {
    do throws(DatagramRefusal) {
      let pdu = try AdvertisingPDU(packet, in: packet.wholeRange)
      return .success(
        Advert(
          address: pdu.address ?? transmitter,
          rssi: nil,
          pdu: pdu.pdu,
          advertisingSet: pdu.advertisingSet,
          payload: batch.append(payload: packet.extracting(pdu.data))
        )
      )
    } catch {
      return .failure(error)
    }
  }
}

/// Wi-Fi scans, motion and fixes.
extension JSONReader {
  func readWifiScan(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard let (list, timing) = try list(value, .accessPoints, bytes, context) else { return false }
    let start = UInt32(batch.accessPoints.count)
    var scanner = JSONScanner(list.range)
    while let element = scanner.nextElement(bytes) {
      guard element.kind == .object else { throw .badField }
      let object = JSONObject(bytes, element)
      let place = try object.text(object.has(.bssid) ? .bssid : .address)
      guard let place, let bssid = WireText.address(bytes, place) else { throw .badIdentity }
      let point = AccessPoint(
        bssid: bssid,
        rssi: try object.level(bytes),
        frequency: try object.integer(.frequency, bytes, in: 0...UInt16.max) ?? 0,
        lastHeard: try object.milliseconds(object.has(.lastHeard) ? .lastHeard : .age, bytes) ?? .zero
      )
      _ = batch.append(accessPoints: CollectionOfOne(point))
    }
    try append(.wifiScan(start..<UInt32(batch.accessPoints.count)), timing, context, to: &batch)
    return true
  }

  func readMotion(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard let (list, timing) = try list(value, .samples, bytes, context) else { return false }
    let start = UInt32(batch.motionSamples.count)
    var scanner = JSONScanner(list.range)
    while let element = scanner.nextElement(bytes) {
      guard element.kind == .object else { throw .badField }
      let object = JSONObject(bytes, element)
      guard let word = object.word(.kind, bytes, JSONWords.motionKinds) else { throw .badField }
      guard let kind = MotionSample.Kind(rawValue: UInt8(word)) else { throw .badField }
      let sample = MotionSample(
        kind: kind,
        age: try object.milliseconds(.age, bytes) ?? .zero,
        x: try single(object, .x, bytes),
        y: try single(object, .y, bytes),
        z: try single(object, .z, bytes)
      )
      _ = batch.append(motionSamples: CollectionOfOne(sample))
    }
    try append(.motion(start..<UInt32(batch.motionSamples.count)), timing, context, to: &batch)
    return true
  }

  func readFix(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard value.kind == .object else { return false }
    let object = JSONObject(bytes, value)
    let latitude = try object.number(.latitude, bytes)
    let longitude = try object.number(.longitude, bytes)
    let accuracy = try object.number(.accuracy, bytes)
    guard let latitude, let longitude, let accuracy else { throw .badField }
    let word = object.has(.source) ? object.word(.source, bytes, JSONWords.fixSources) : 0
    guard let word, let source = OutsideFix.Source(rawValue: UInt8(word)) else { throw .badField }
    let speed = try object.number(.speed, bytes).map { Float($0) } ?? -1
    guard var fix = WireLimits.fix(latitude, longitude, accuracy, speed, source) else { throw .badField }
    fix.altitude = try object.number(.altitude, bytes).map { Meters($0) }
    fix.attitude = try rotation(object[.attitude], bytes)
    try append(.outsideFix(fix), try object.timing(bytes, within: context.timing), context, to: &batch)
    return true
  }

  /// Reads one movement, or a list of them, each with its own age.
  func readPoses(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    if value.kind == .object {
      try readPose(value, bytes, context, into: &batch)
      return true
    }
    guard value.kind == .array else { return false }
    var scanner = JSONScanner(value.range)
    while let element = scanner.nextElement(bytes) {
      guard element.kind == .object else { throw .badField }
      try readPose(element, bytes, context, into: &batch)
    }
    return true
  }

  private func readPose(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    let object = JSONObject(bytes, value)
    let word = object.has(.quality) ? object.word(.quality, bytes, JSONWords.qualities) : 2
    guard let word, let quality = RelativePose.Quality(rawValue: UInt8(word)),
      let interval = try object.milliseconds(.interval, bytes),
      let pose = WireLimits.pose(
        try object.integer(.session, bytes, in: 0...UInt32.max) ?? 0,
        interval,
        try single(object, .x, bytes),
        try single(object, .y, bytes),
        try single(object, .z, bytes),
        try rotation(object[.attitude], bytes),
        quality
      )
    else { throw .badField }
    try append(.relativePose(pose), try object.timing(bytes, within: context.timing), context, to: &batch)
  }

  func readVisualStatus(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard value.kind == .object else { return false }
    let object = JSONObject(bytes, value)
    guard let word = object.word(.state, bytes, JSONWords.states),
      let state = PositioningState(rawValue: UInt8(word))
    else { throw .badField }
    let status = VisualStatus(
      state: state,
      reasons: try reasons(object[.reasons], bytes),
      scan: try scanStatus(object, .scan, bytes),
      backgroundScan: try scanStatus(object, .backgroundScan, bytes)
    )
    try append(.visualStatus(status), try object.timing(bytes, within: context.timing), context, to: &batch)
    return true
  }

  private func scanStatus(
    _ object: JSONObject,
    _ field: JSONField,
    _ bytes: RawSpan
  ) throws(DatagramRefusal) -> ScanStatus {
    guard object.has(field) else { return .stopped }
    guard let word = object.word(field, bytes, JSONWords.scans),
      let status = ScanStatus(rawValue: UInt8(word))
    else { throw .badField }
    return status
  }

  /// Reads a list of reasons; those that this version does not know are passed over.
  private func reasons(_ value: JSONSlice, _ bytes: RawSpan) throws(DatagramRefusal) -> PositioningReasons {
    guard value.isPresent else { return [] }
    guard value.kind == .array else { throw .badField }
    var found: PositioningReasons = []
    var scanner = JSONScanner(value.range)
    while let element = scanner.nextElement(bytes) {
      guard element.kind == .string else { throw .badField }
      let text = element.text(bytes)
      let known = PositioningReasons.names.first { $0.name.utf8.elementsEqual(text) }
      if let known { found.insert(known.reason) }
    }
    return found.intersection(.reported)
  }

  /// Reads a rotation with the members `w`, `x`, `y` and `z`.
  private func rotation(_ value: JSONSlice, _ bytes: RawSpan) throws(DatagramRefusal) -> Rotation? {
    guard value.isPresent else { return nil }
    guard value.kind == .object else { throw .badField }
    let object = JSONObject(bytes, value)
    let rotation = Rotation(
      w: try single(object, .w, bytes),
      x: try single(object, .x, bytes),
      y: try single(object, .y, bytes),
      z: try single(object, .z, bytes)
    )
    guard rotation.isUnit else { throw .badField }
    return rotation
  }

  /// Returns a list, bare or inside an object that says when it was made; nil if the value is neither.
  private func list(
    _ value: JSONSlice,
    _ field: JSONField,
    _ bytes: RawSpan,
    _ context: Context
  ) throws(DatagramRefusal) -> (JSONSlice, ReportTiming)? {
    if value.kind == .array { return (value, context.timing) }
    guard value.kind == .object else { return nil }
    let object = JSONObject(bytes, value)
    guard object[field].kind == .array else { throw .badField }
    return (object[field], try object.timing(bytes, within: context.timing))
  }

  private func single(
    _ object: JSONObject,
    _ field: JSONField,
    _ bytes: RawSpan
  ) throws(DatagramRefusal) -> Float {
    let value = Float(try object.number(field, bytes) ?? 0)
    guard value.isFinite else { throw .badField }
    return value
  }
}
