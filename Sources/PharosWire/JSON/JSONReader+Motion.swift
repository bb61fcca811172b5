import PharosReports

/// Wi-Fi scans, motion and fixes.
extension JSONReader {
  func readWifiScan(
    _ value: JSONValue,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard let (list, timing) = try list(value, .accessPoints, bytes, context) else { return false }
    let start = UInt32(batch.accessPoints.count)
    var scanner = JSONScanner(list.range)
    while let element = try scanner.nextElement(bytes) {
      guard element.kind == .object else { throw .badField }
      let object = try JSONObject(bytes, element)
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
    _ value: JSONValue,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard let (list, timing) = try list(value, .samples, bytes, context) else { return false }
    let start = UInt32(batch.motionSamples.count)
    var scanner = JSONScanner(list.range)
    while let element = try scanner.nextElement(bytes) {
      guard element.kind == .object else { throw .badField }
      let object = try JSONObject(bytes, element)
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
    _ value: JSONValue,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard value.kind == .object else { return false }
    let object = try JSONObject(bytes, value)
    let latitude = try object.number(.latitude, bytes)
    let longitude = try object.number(.longitude, bytes)
    let accuracy = try object.number(.accuracy, bytes)
    guard let latitude, let longitude, let accuracy else { throw .badField }
    let word = object.has(.source) ? object.word(.source, bytes, JSONWords.fixSources) : 0
    guard let word, let source = OutsideFix.Source(rawValue: UInt8(word)) else { throw .badField }
    let speed = try object.number(.speed, bytes).map { Float($0) } ?? -1
    guard let fix = WireLimits.fix(latitude, longitude, accuracy, speed, source) else { throw .badField }
    try append(.outsideFix(fix), try object.timing(bytes, within: context.timing), context, to: &batch)
    return true
  }

  /// Returns a list, bare or inside an object that says when it was made; nil if the value is neither.
  private func list(
    _ value: JSONValue,
    _ field: JSONField,
    _ bytes: RawSpan,
    _ context: Context
  ) throws(DatagramRefusal) -> (JSONValue, ReportTiming)? {
    if value.kind == .array { return (value, context.timing) }
    guard value.kind == .object else { return nil }
    let object = try JSONObject(bytes, value)
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
