import PharosReports

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
    if object[.rangedBeacons].kind == .array {
      try read(list: object[.rangedBeacons], bytes, context, into: &batch)
      found = true
    }
    found = try readWifiScan(object[.wifiScan], bytes, context, into: &batch) || found
    found = try readMotion(object[.motion], bytes, context, into: &batch) || found
    found = try readFix(object[.fix], bytes, context, into: &batch) || found
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
    _ value: JSONValue,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    if value.kind == .yes {
      try append(.heartbeat(Heartbeat()), context.timing, context, to: &batch)
      return true
    }
    guard value.kind == .object else { return false }
    let object = try JSONObject(bytes, value)
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
      let object = try JSONObject(bytes, outer[.scanState])
      word = object.word(.state, bytes, JSONWords.scanStates)
      timing = try object.timing(bytes, within: timing)
    case .absent, .null, .yes, .no, .number, .array: return false
    }
    guard let word, let state = ScanState(rawValue: UInt8(word)) else { throw .badField }
    try append(.scanState(state), timing, context, to: &batch)
    return true
  }

  private func readDisplayOn(
    _ value: JSONValue,
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
