import PharosDocuments
import PharosModel

/// The lists and single reports that an object of an observer holds.
extension JSONReportReader {
  /// Reads them, and says whether there was any.
  ///
  /// A member of another kind than expected belongs to another program and is passed over.
  mutating func readEnvelope(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) -> Bool {
    var found = false
    /// Reads one part, which costs itself alone.
    func part(
      _ reader: inout JSONReportReader,
      _ read: (inout JSONReportReader, inout ReportBatch) throws(DatagramRefusal) -> Bool
    ) {
      if reader.attempt(&batch, read) ?? true { found = true }
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readHead(object, bytes, context, into: &batch)
    }
    part(&self) { reader, batch throws(DatagramRefusal) in
      try reader.readHeartbeat(object, bytes, context, into: &batch)
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
    _ object: JSONMembers,
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
    _ outer: JSONMembers,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    let value = outer[.heartbeat]
    // The state of a gateway's network (MOKOSmart).
    if value.kind == .yes || outer.word(.netState, bytes, JSONWords.online) != nil {
      try append(.heartbeat(Heartbeat()), context.timing, context, to: &batch)
      return true
    }
    guard value.kind == .object else { return false }
    let object = members(of: value, bytes)
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
    _ outer: JSONMembers,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    var word = outer.word(.scanState, bytes, JSONWords.scanStates)
    var timing = context.timing
    switch outer[.scanState].kind {
    case .string: break
    case .object:
      let object = members(of: outer[.scanState], bytes)
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
      let timing = try members(of: value, bytes).timing(bytes, within: context.timing)
      try append(.displayOn, timing, context, to: &batch)
    case .absent, .null, .no, .number, .string, .array: return false
    }
    return true
  }
}

/// Wi-Fi scans, motion and fixes.
extension JSONReportReader {
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
    let object = members(of: value, bytes)
    let latitude = try object.number(.latitude, bytes)
    let longitude = try object.number(.longitude, bytes)
    let accuracy = try object.number(.accuracy, bytes)
    guard let latitude, let longitude, let accuracy else { throw .badField }
    let word = object.has(.source) ? object.word(.source, bytes, JSONWords.fixSources) : 0
    guard let word, let source = OutsideFix.Source(rawValue: UInt8(word)) else { throw .badField }
    let speed = try object.number(.speed, bytes).map { Float($0) } ?? -1
    guard var fix = WireLimits.fix(latitude, longitude, accuracy, speed, source) else { throw .badField }
    // An app's own `altitude` is above the sea; one that states the height above the ellipsoid as well means that one here.
    let height: JSONField = object.has(.ellipsoidalAltitude) ? .ellipsoidalAltitude : .altitude
    fix.altitude = try object.number(height, bytes).map { Meters($0) }
    fix.attitude = try rotation(object[.attitude], bytes)
    fix.verticalAccuracy = try object.number(.verticalAccuracy, bytes).map { Meters($0) }
    fix.course = WireLimits.course(try object.number(.course, bytes).map { Float($0) })
    fix.courseAccuracy = try object.number(.courseAccuracy, bytes).map { Float($0) }
    fix.speedAccuracy = try object.number(.speedAccuracy, bytes).map { Float($0) }
    if object[.isSimulated].kind == .yes { fix.information.insert(.simulatedBySoftware) }
    if object[.isAccessory].kind == .yes { fix.information.insert(.producedByAccessory) }
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
    for element in tree.elements(of: value) {
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
    let object = members(of: value, bytes)
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
    let object = members(of: value, bytes)
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
    _ object: JSONMembers,
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
    for element in tree.elements(of: value) {
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
    let object = members(of: value, bytes)
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
    let object = members(of: value, bytes)
    guard object[field].kind == .array else { throw .badField }
    return (object[field], try object.timing(bytes, within: context.timing))
  }

  private func single(
    _ object: JSONMembers,
    _ field: JSONField,
    _ bytes: RawSpan
  ) throws(DatagramRefusal) -> Float {
    let value = Float(try object.number(field, bytes) ?? 0)
    guard value.isFinite else { throw .badField }
    return value
  }
}
