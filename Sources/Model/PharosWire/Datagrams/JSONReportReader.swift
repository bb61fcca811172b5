import PharosDocuments
import PharosModel

/// Turns JSON objects into reports.
struct JSONReportReader {
  /// R.
  let received: Timestamp
  /// What holds for objects that do not state it themselves.
  private let outer: Context
  /// Indicates whether anything was understood, even if it held no report, as an empty list does.
  private(set) var understood = false
  /// What was skipped.
  var notes: DecodingNotes

  /// The properties that an object inherits from the object that holds it, or from the topic of its message.
  struct Context {
    var observer: ObserverID?
    /// The address of the device that was heard.
    var address: DeviceAddress?
    var timing = ReportTiming.received
    /// The properties of the list of a gateway in which the object stands.
    var elements: GatewayListLayout.Elements?
    /// The address that an object around states without a level, and the observer if that is a gateway's.
    ///
    /// It is the device's if the object that has the level names none, otherwise the gateway's.
    var enclosing: (address: DeviceAddress, observer: ObserverID)?

    /// The context of an object that has a level, with or without an address of its own.
    func resolved(namesDevice: Bool) -> Context {
      guard let enclosing else { return self }
      var context = self
      if namesDevice { context.observer = enclosing.observer } else { context.address = enclosing.address }
      context.enclosing = nil
      return context
    }
  }

  /// The values of the text.
  let tree: JSONTree
  private let layouts: [any JSONLayout.Type]

  /// Makes a reader of the values of a text.
  init(
    _ tree: JSONTree,
    _ layouts: [any JSONLayout.Type],
    within context: MessageContext,
    _ notes: DecodingNotes
  ) {
    self.tree = tree
    self.layouts = layouts
    received = context.received
    outer = Context(observer: context.observer, address: context.address)
    self.notes = notes
  }

  /// Reads all values of the text.
  ///
  /// It skips objects that it does not understand, and counts them: other programs put their own objects beside adverts.
  mutating func readAll(_ bytes: RawSpan, into batch: inout ReportBatch) {
    // A lone object without members holds no report, as an empty list does: some gateways send one as a sign of life.
    var values = tree.values
    if let first = values.next(), first.kind == .object, first.range.isEmpty, values.next() == nil {
      understood = true
      return
    }
    for value in tree.values {
      var context = outer
      if value.kind == .array {
        if value.range.isEmpty { understood = true }
        for element in tree.elements(of: value) { read(element: element, bytes, &context, into: &batch) }
      } else {
        read(element: value, bytes, &context, into: &batch)
      }
    }
  }

  /// The members of an object of the text.
  func members(of object: JSONSlice, _ bytes: RawSpan) -> JSONMembers { JSONMembers(object, of: tree, bytes) }

  /// Reads one element; counts it if it cannot be read, and leaves the batch as it was.
  ///
  /// - Returns: what the closure returns; nil if the element cannot be read.
  @discardableResult
  mutating func attempt<Value>(
    _ batch: inout ReportBatch,
    _ read: (inout JSONReportReader, inout ReportBatch) throws(DatagramRefusal) -> Value
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
      isUnderstood == nil && members(of: element, bytes).word(.type, bytes, JSONWords.gateway) != nil
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
    if readNameless(list, bytes, context, into: &batch) { return }
    for element in tree.elements(of: list) {
      attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard element.kind == .object else { throw .badField }
        var (inner, object) = (context, element)
        if let wrapper {
          let wrapped = reader.members(of: element, bytes)[wrapper]
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
    _ read: (inout JSONReportReader, JSONMembers, inout ReportBatch) throws(DatagramRefusal) -> Void
  ) -> Bool {
    var isWhole = true
    for element in tree.elements(of: list) {
      let part: Void? = attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard element.kind == .object else { throw .badField }
        try read(&reader, reader.members(of: element, bytes), &batch)
      }
      if part == nil { isWhole = false }
    }
    return isWhole
  }

  /// Reads an object, and says whether it was understood.
  mutating func read(
    object value: JSONSlice,
    _ bytes: RawSpan,
    _ context: inout Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    var object = members(of: value, bytes)
    object.isBase64 = context.elements?.isBase64 == true
    if object.replacedLists > 0 { notes.skip(.badField, count: object.replacedLists) }
    for layout in layouts {
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
    if object.has(.rssi) {
      if !object.isWhole { complete(&object, value, bytes) }
      inner = context.resolved(namesDevice: try namesDevice(object, bytes, context))
    }
    var sighting = try JSONSighting(object, bytes, of: inner.address)
    // The elements of a gateway's list are heard, with or without a level.
    let isHeard = object.has(.rssi) || inner.elements != nil
    if case .device(let address)? = sighting, !isHeard, JSONReportReader.holdsReports(object) {
      // An address without a level beside lists of reports is not heard but hears.
      inner.observer = .eui48(address.bits)
      sighting = nil
    }
    if sighting?.hasIdentity != true, object.has(.rssi) { countIgnored(value, bytes) }
    let named = try object.observer(bytes, orName: sighting == nil)
    inner.observer = named ?? inner.observer
    if inner.observer == nil { inner.observer = try object.sender(bytes) }
    inner.timing = try object.timing(bytes, within: context.timing)
    if let sent = inner.elements?.sent, let heard = object.seconds(.lastSeen, bytes) {
      inner.timing = .age(.seconds(Double(max(0, sent - heard))))
    }
    if isHeard, case .device(let address)? = sighting {
      let device = HeardDevice(address: address, rssi: try object.level(bytes))
      if readIdentities(of: device, in: value, bytes, inner, into: &batch) { return true }
    }
    let isEnvelope = readEnvelope(object, bytes, inner, into: &batch)
    guard let sighting else { return isEnvelope || readNested(value, bytes, inner, into: &batch) }
    if case .device(let address) = sighting, !object.has(.rssi) {
      var around = inner
      around.enclosing = (address, named ?? .eui48(address.bits))
      if readNested(value, bytes, around, into: &batch) { return true }
    }
    // Tasmota: the device has not been heard for half a minute.
    if object.word(.state, bytes, JSONWords.off) != nil, try object.level(bytes) == nil { return true }
    let body = try sighting.body(bytes, object, of: inner.address, appendingTo: &batch)
    try append(body, inner.timing, inner, to: &batch)
    if case .advert(let advert) = body {
      try appendScanResponse(object, bytes, to: advert, inner, into: &batch)
    }
    return true
  }

  /// Returns whether an object with a level, or what is around it, names the device.
  private func namesDevice(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: Context
  ) throws(DatagramRefusal) -> Bool {
    guard context.enclosing != nil, context.address == nil else { return true }
    if try JSONSighting.address(object, bytes) != nil { return true }
    return try JSONSighting.beacon(object, bytes) != nil
  }

  /// Counts the members of an object that look like an identity.
  private mutating func countIgnored(_ object: JSONSlice, _ bytes: RawSpan) {
    for (key, value) in tree.members(of: object) {
      guard value.kind == .number || value.kind == .string, !value.range.isEmpty else { continue }
      let field = JSONField(bytes, key: key.range)
      guard field?.isIdentity ?? IgnoredIdentities.isIdentity(bytes, key.range) else { continue }
      notes.ignored.count(key.isEscaped ? 0..<0 : key.range, bytes)
    }
  }

  /// Appends what a device answered to a scan request, where an object holds it beside the advert.
  func appendScanResponse(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    to advert: Advert,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    try appendScanResponse(object[.scanData], bytes, to: advert, context, into: &batch)
  }

  /// Appends what a device answered to a scan request, if the text spells anything.
  func appendScanResponse(
    _ text: JSONSlice,
    _ bytes: RawSpan,
    to advert: Advert,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    guard text.kind == .string, !text.range.isEmpty else { return }
    guard let payload = batch.append(spelled: text, bytes) else { throw .badText }
    var response = advert
    response.pdu = .scanResponse
    response.payload = payload
    try append(.advert(response), context.timing, context, to: &batch)
  }

  /// Returns whether an object holds lists or single reports of the observer that it is about.
  private static func holdsReports(_ object: JSONMembers) -> Bool {
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
    guard let observer = context.observer ?? context.enclosing?.observer else { throw .noObserver }
    let index = batch.index(of: observer)
    batch.append(Report(observer: index, received: received, timing: timing, body: body))
  }
}

/// A layout of JSON objects by one maker, where names alone do not tell what an object means.
protocol JSONLayout: SendableMetatype {
  /// Reads an object, and returns whether it is in this layout.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool
}
