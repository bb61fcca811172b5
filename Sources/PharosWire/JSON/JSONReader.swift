import PharosReports

/// Turns JSON objects into reports.
struct JSONReader {
  /// R.
  let received: Timestamp
  /// Whether anything was understood, even if it brought no report, as an empty list does.
  private(set) var understood = false

  /// What an object inherits from the one it stands in.
  struct Context {
    var observer: ObserverID?
    var timing = ReportTiming.received
  }

  init(received: Timestamp) { self.received = received }

  /// Reads the top-level value of a datagram: an object or an array of objects.
  ///
  /// It skips objects that it does not understand: other programs put their own objects beside adverts.
  mutating func read(
    _ value: JSONValue,
    _ bytes: RawSpan,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    switch value.kind {
    case .object:
      var context = Context()
      if try read(object: value, bytes, &context, into: &batch) { understood = true }
    case .array:
      if value.range.allSatisfy({ JSONScanner.isSpace(bytes.byte(at: $0)) }) { understood = true }
      var context = Context()
      var scanner = JSONScanner(value.range)
      while let element = try scanner.nextElement(bytes) {
        guard element.kind == .object else { throw .nothingUnderstood }
        if try read(object: element, bytes, &context, into: &batch) { understood = true }
      }
    case .absent, .null, .yes, .no, .number, .string: throw .nothingUnderstood
    }
  }

  /// Reads the elements of a list that an object holds; each must be understood.
  mutating func read(
    list: JSONValue,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    var scanner = JSONScanner(list.range)
    while let element = try scanner.nextElement(bytes) {
      guard element.kind == .object else { throw .badField }
      var inner = context
      guard try read(object: element, bytes, &inner, into: &batch) else { throw .nothingUnderstood }
    }
  }

  /// Reads an object, and says whether it was understood.
  private mutating func read(
    object value: JSONValue,
    _ bytes: RawSpan,
    _ context: inout Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    let object = try JSONObject(bytes, value)
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
    inner.observer = try object.observer(bytes, orName: sighting == nil) ?? inner.observer
    inner.timing = try object.timing(bytes, within: context.timing)
    let isEnvelope = try readEnvelope(object, bytes, inner, into: &batch)
    guard let sighting else { return isEnvelope }
    let body = try sighting.body(bytes, object, appendingTo: &batch)
    try append(body, inner.timing, inner, to: &batch)
    return true
  }

  /// Whether an object holds lists or single reports of the observer that it is about.
  private static func holdsReports(_ object: JSONObject) -> Bool {
    object[.adverts].kind == .array || object[.rangedBeacons].kind == .array || object.has(.heartbeat)
      || object.has(.scanState) || object.has(.displayOn) || object.has(.wifiScan)
      || object[.motion].kind == .array || object[.fix].kind == .object
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
