import PharosDocuments
public import PharosModel

/// JSON: an object, an array of objects, or any number of either one behind the other, as on lines.
///
/// Understood are Pharos's own names, raddec in JSON, and names as Theengs, OpenMQTTGateway, ESPresense and
/// Minew gateways use; the article "JSON fields" lists them all. Names that are not understood are passed
/// over, and counted if they look like the identity of a beacon that is lost. An object says who reports it, or stands
/// inside one that does.
///
/// An element that cannot be read costs itself alone: an object of a list, a tag, a packet, a single report. Text that is
/// malformed, cut off or nested deeper than 16 levels is read without the elements that are (`JSONRepair`); of text that
/// is not UTF-8 the members in which it is not are ignored. Server-sent events, as Cassia's gateways and access controllers
/// send them, are read as the JSON of their `data` lines.
public enum JSONFormat: DatagramFormat {
  /// The format.
  public static let format = WireFormat.json
  /// The name in metrics, logs and site files.
  public static let name = "json"
  /// The largest depth of arrays and objects; the deepest understood shape has 5 levels.
  static let deepest = 16

  /// Returns whether the first character that is no white space opens an object or an array, or whether the first line is
  /// one of a server-sent event.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    for offset in start(of: datagram)..<datagram.byteCount
    where !JSONScanner.isSpace(datagram.byte(at: offset)) {
      let first = datagram.byte(at: offset)
      return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        || EventStreamLines.begin(datagram, at: offset)
    }
    return false
  }

  /// The start of the text: some senders put a byte order mark before it.
  private static func start(of datagram: RawSpan) -> Int {
    let hasMark = datagram.byteCount >= 3 && datagram.u16(at: 0) == 0xEFBB && datagram.byte(at: 2) == 0xBF
    return hasMark ? 3 : 0
  }

  /// Appends the reports of all objects, and counts the members that look like an identity and were ignored.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    let text = start(of: datagram)..<WireText.end(datagram)
    if !WireText.isUTF8(datagram, text) { notes.skip(.badText) }
    let before = batch.count
    var reader = JSONReader(context, notes)
    defer { notes = reader.notes }
    if let events = EventStreamLines(datagram, text) {
      unsafe reader.readWhatIsWell(0..<events.data.count, events.data.span.bytes, into: &batch)
    } else {
      reader.readWhatIsWell(text, datagram, into: &batch)
    }
    if batch.count == before, let reason = reader.notes.firstReason { throw reason }
    guard reader.understood else { throw .nothingUnderstood }
  }
}

/// The `data` lines of a stream of server-sent events.
///
/// - Source: WHATWG HTML, 9.2.6, Interpreting an event stream.
private struct EventStreamLines {
  /// The data of the lines, each on a line of its own.
  private(set) var data: [UInt8] = []

  private static let fields: [StaticString] = ["data:", "event:", "id:", "retry:", ":"]

  /// Returns whether a line of an event begins at an offset.
  static func begin(_ text: RawSpan, at offset: Int) -> Bool {
    fields.contains { line(text, offset..<text.byteCount, beginsWith: $0) }
  }

  /// Takes the lines of a text; nil if it is no stream of events.
  init?(_ text: RawSpan, _ range: Range<Int>) {
    guard let start = range.first(where: { !JSONScanner.isSpace(text.byte(at: $0)) }),
      EventStreamLines.begin(text, at: start)
    else { return nil }
    var lines = TextFields(range)
    while let line = lines.nextLine(text) {
      guard EventStreamLines.line(text, line, beginsWith: "data:") else { continue }
      for offset in line.dropFirst(5) { data.append(text.byte(at: offset)) }
      data.append(UInt8(ascii: "\n"))
    }
  }

  private static func line(_ text: RawSpan, _ range: Range<Int>, beginsWith word: StaticString) -> Bool {
    guard range.count >= word.utf8CodeUnitCount else { return false }
    return (0..<word.utf8CodeUnitCount).allSatisfy {
      unsafe text.byte(at: range.lowerBound + $0) == word.utf8Start[$0]
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
  /// What was skipped.
  fileprivate(set) var notes: DecodingNotes

  /// The properties that an object inherits from the object that holds it, or from the topic of its message.
  struct Context {
    var observer: ObserverID?
    /// The address of the device that was heard.
    var address: DeviceAddress?
    var timing = ReportTiming.received
  }

  init(_ context: MessageContext, _ notes: DecodingNotes) {
    received = context.received
    outer = Context(observer: context.observer, address: context.address)
    self.notes = notes
  }

  /// Reads one element; counts it if it cannot be read, and leaves the batch as it was.
  ///
  /// - Returns: what the closure returns; nil if the element cannot be read.
  @discardableResult
  mutating func attempt<Value>(
    _ batch: inout ReportBatch,
    _ read: (inout JSONReader, inout ReportBatch) throws(DatagramRefusal) -> Value
  ) -> Value? {
    let mark = batch.mark
    do throws(DatagramRefusal) {
      return try read(&self, &batch)
    } catch {
      batch.removeAll(behind: mark)
      notes.skip(error)
      return nil
    }
  }

  /// Reads all values of a text; of malformed text, all that are well formed.
  fileprivate mutating func readWhatIsWell(
    _ text: Range<Int>,
    _ bytes: RawSpan,
    into batch: inout ReportBatch
  ) {
    guard !read(text, bytes, into: &batch) else { return }
    let repair = JSONRepair(bytes, text, deepest: JSONFormat.deepest)
    notes.skip(.badText, count: UInt64(repair.dropped))
    _ = unsafe read(0..<repair.text.count, repair.text.span.bytes, into: &batch)
  }

  /// Reads all values of a text.
  ///
  /// - Returns: whether the text is well formed; otherwise the batch is left as it was.
  mutating func read(_ text: Range<Int>, _ bytes: RawSpan, into batch: inout ReportBatch) -> Bool {
    let mark = batch.mark
    let before = self
    var scanner = JSONScanner(text, deepest: JSONFormat.deepest)
    while !scanner.isAtEnd(bytes) {
      guard let value = try? scanner.value(bytes) else {
        batch.removeAll(behind: mark)
        self = before
        return false
      }
      read(value, bytes, into: &batch)
    }
    return true
  }

  /// Reads the top-level value of a datagram: an object or an array of objects.
  ///
  /// It skips objects that it does not understand, and counts them: other programs put their own objects beside adverts.
  private mutating func read(_ value: JSONSlice, _ bytes: RawSpan, into batch: inout ReportBatch) {
    var context = outer
    guard value.kind == .array else { return read(element: value, bytes, &context, into: &batch) }
    if value.range.allSatisfy({ JSONScanner.isSpace(bytes.byte(at: $0)) }) { understood = true }
    var scanner = JSONScanner(value.range)
    while let element = scanner.nextElement(bytes) { read(element: element, bytes, &context, into: &batch) }
  }

  private mutating func read(
    element: JSONSlice,
    _ bytes: RawSpan,
    _ context: inout Context,
    into batch: inout ReportBatch
  ) {
    guard element.kind == .object else { return notes.skip(.nothingUnderstood) }
    var inner = context
    let isUnderstood = attempt(&batch) { reader, batch throws(DatagramRefusal) in
      try reader.read(object: element, bytes, &inner, into: &batch)
    }
    // Behind a gateway that cannot be read, the one before it may not stand.
    let isGateway =
      isUnderstood == nil && JSONObject(bytes, element).word(.type, bytes, JSONWords.gateway) != nil
    context = isGateway ? outer : inner
    if isUnderstood == true { understood = true }
    if isUnderstood == false { notes.skip(.nothingUnderstood) }
  }

  /// Reads the elements of a list that an object holds; those that are not understood are counted.
  ///
  /// An element may have all that it says under a member of its own, the wrapper.
  mutating func read(
    list: JSONSlice,
    under wrapper: JSONField? = nil,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) {
    var scanner = JSONScanner(list.range)
    while let element = scanner.nextElement(bytes) {
      attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard element.kind == .object else { throw .badField }
        var (inner, object) = (context, element)
        if let wrapper {
          let wrapped = JSONObject(bytes, element)[wrapper]
          if wrapped.kind == .object { object = wrapped }
        }
        guard try reader.read(object: object, bytes, &inner, into: &batch) else { throw .nothingUnderstood }
      }
    }
  }

  /// Hands over each object of a list; an element that cannot be read is counted.
  ///
  /// - Returns: whether all could be read.
  @discardableResult
  mutating func forEachObject(
    of list: JSONSlice,
    _ bytes: RawSpan,
    _ batch: inout ReportBatch,
    _ read: (inout JSONReader, JSONObject, inout ReportBatch) throws(DatagramRefusal) -> Void
  ) -> Bool {
    guard list.kind == .array else { return true }
    var isWhole = true
    var scanner = JSONScanner(list.range)
    while let element = scanner.nextElement(bytes) {
      let part: Void? = attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard element.kind == .object else { throw .badField }
        try read(&reader, JSONObject(bytes, element), &batch)
      }
      if part == nil { isWhole = false }
    }
    return isWhole
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
    for layout in JSONReader.layouts {
      if try layout.read(object, bytes, context, by: &self, into: &batch) { return true }
    }
    if object.word(.type, bytes, JSONWords.gateway) != nil, object.has(.address) {
      // Minew: the first element of an array names the gateway that heard those behind it.
      guard let place = try object.text(.address) else { throw .badIdentity }
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
    if sighting?.hasIdentity != true, object.has(.rssi) { notes.ignored.count(value, bytes) }
    inner.observer = try object.observer(bytes, orName: sighting == nil) ?? inner.observer
    inner.timing = try object.timing(bytes, within: context.timing)
    let isEnvelope = readEnvelope(object, bytes, inner, into: &batch)
    guard let sighting else { return isEnvelope }
    let body = try sighting.body(bytes, object, of: inner.address, appendingTo: &batch)
    try append(body, inner.timing, inner, to: &batch)
    if case .advert(let advert) = body {
      try appendScanResponse(object, bytes, to: advert, inner, into: &batch)
    }
    return true
  }

  /// Appends what a device answered to a scan request, where an object holds it beside the advert.
  func appendScanResponse(
    _ object: JSONObject,
    _ bytes: RawSpan,
    to advert: Advert,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    guard object[.scanData].kind == .string, let digits = try object.text(.scanData), !digits.isEmpty else {
      return
    }
    guard let payload = WireText.withHex(bytes, digits, { batch.append(payload: $0) }) else { throw .badText }
    var response = advert
    response.pdu = .scanResponse
    response.payload = payload
    try append(.advert(response), context.timing, context, to: &batch)
  }

  /// The layouts of other makers' gateways: what a new one is added to.
  private static let layouts: [any JSONLayout.Type] = [CassiaLayout.self, MOKOLayout.self, MerakiLayout.self]

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

/// A layout of JSON objects by one maker, where names alone do not tell what an object means.
protocol JSONLayout: SendableMetatype {
  /// Reads an object, and returns whether it is in this layout.
  static func read(
    _ object: JSONObject,
    _ bytes: RawSpan,
    _ context: JSONReader.Context,
    by reader: inout JSONReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool
}

/// The words that members may hold, compared without regard to case.
enum JSONWords {
  static let gateway: [StaticString] = ["gateway"]
  static let online: [StaticString] = ["online"]
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
  ) -> Bool {
    var found = false
    /// Reads one part, which costs itself alone.
    func part(
      _ reader: inout JSONReader,
      _ read: (inout JSONReader, inout ReportBatch) throws(DatagramRefusal) -> Bool
    ) {
      if reader.attempt(&batch, read) ?? true { found = true }
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readHead(object, bytes, context, into: &batch)
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readHeartbeat(object[.heartbeat], bytes, context, into: &batch)
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readScanState(object, bytes, context, into: &batch)
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readDisplayOn(object[.displayOn], bytes, context, into: &batch)
    }
    for field in [JSONField.adverts, .data, .rangedBeacons] where object[field].kind == .array {
      read(list: object[field], bytes, context, into: &batch)
      found = true
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readWifiScan(object[.wifiScan], bytes, context, into: &batch)
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readMotion(object[.motion], bytes, context, into: &batch)
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readFix(object[.fix], bytes, context, into: &batch)
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readPoses(object[.relativePoses], bytes, context, into: &batch)
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readVisualStatus(object[.visualStatus], bytes, context, into: &batch)
    }
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
      attempt(&batch) { reader, batch throws(DatagramRefusal) in
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
        try reader.append(.advert(advert), .received, context, to: &batch)
      }
    }
    return true
  }
}

/// raddec in JSON: the same sighting as in the binary format, with its parts spelt out.
extension JSONReader {
  /// Appends one advert for each receiver and packet.
  mutating func readRaddec(
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
      attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard element.kind == .object else { throw .badField }
        let receiver = JSONObject(bytes, element)
        guard receiver.has(.observer) else { throw .noObserver }
        var inner = context
        inner.observer = try JSONObject.observer(receiver[.observer], bytes)
        let level = try receiver.level(bytes)
        var adverts = 0
        var scanner = JSONScanner(packets.range)
        while let packet = scanner.nextElement(bytes) {
          reader.attempt(&batch) { reader, batch throws(DatagramRefusal) in
            // One that cannot be read was a packet: the receiver has not heard the transmitter without any.
            adverts += 1
            guard packet.kind == .string else { throw .badField }
            guard var advert = try reader.advert(packet.range, bytes, transmitter, into: &batch) else {
              adverts -= 1
              return
            }
            advert.rssi = level
            try reader.append(.advert(advert), timing, inner, to: &batch)
          }
        }
        guard adverts == 0 else { return }
        let nothing = batch.append(payload: EmptyCollection<UInt8>())
        let advert = Advert(address: transmitter.address, rssi: level, payload: nothing)
        try reader.append(.advert(advert), timing, inner, to: &batch)
      }
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
  mutating func readWifiScan(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard let (list, timing) = try list(value, .accessPoints, bytes, context) else { return false }
    let start = UInt32(batch.accessPoints.count)
    let isWhole = forEachObject(of: list, bytes, &batch) {
      reader,
      object,
      batch throws(DatagramRefusal) in
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
    let scan = start..<UInt32(batch.accessPoints.count)
    if isWhole || !scan.isEmpty { try append(.wifiScan(scan), timing, context, to: &batch) }
    return true
  }

  mutating func readMotion(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard let (list, timing) = try list(value, .samples, bytes, context) else { return false }
    let start = UInt32(batch.motionSamples.count)
    let isWhole = forEachObject(of: list, bytes, &batch) {
      reader,
      object,
      batch throws(DatagramRefusal) in
      guard let word = object.word(.kind, bytes, JSONWords.motionKinds),
        let kind = MotionSample.Kind(rawValue: UInt8(word))
      else { throw .badField }
      let sample = MotionSample(
        kind: kind,
        age: try object.milliseconds(.age, bytes) ?? .zero,
        x: try reader.single(object, .x, bytes),
        y: try reader.single(object, .y, bytes),
        z: try reader.single(object, .z, bytes)
      )
      _ = batch.append(motionSamples: CollectionOfOne(sample))
    }
    let samples = start..<UInt32(batch.motionSamples.count)
    if isWhole || !samples.isEmpty { try append(.motion(samples), timing, context, to: &batch) }
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
  mutating func readPoses(
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
      attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard element.kind == .object else { throw .badField }
        try reader.readPose(element, bytes, context, into: &batch)
      }
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
