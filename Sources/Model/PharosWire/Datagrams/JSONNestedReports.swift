import PharosDocuments
import PharosModel

/// Adverts that stand where no name of a list leads: deeper in an object, under their devices' addresses, in lists without
/// names.
///
/// Programs put what a radio heard into objects of their own, each under another name: `{"DetailsBLE": {…}}`,
/// `{"data": {"value": {"device_list": […]}}}`, `{"devices": {"C3:00:00:0A:0B:0C": {…}}}`. An object that is none that this format
/// knows is therefore searched for them, except for the parts that are about its own network.
extension JSONReportReader {
  /// Reads the adverts of all objects and lists that an object holds.
  ///
  /// - Returns: whether there was anything that is understood; what is not is passed over.
  mutating func readNested(
    _ object: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) -> Bool {
    var found = false
    for (key, value) in tree.members(of: object) where !isOfNetwork(key, bytes) {
      var inner = context
      let address = key.isEscaped ? nil : JSONSighting.address(bytes, key.range)
      inner.address = address ?? context.address
      switch value.kind {
      case .object:
        if readPart(value, bytes, inner, into: &batch) { found = true }
      case .array:
        if readNameless(value, bytes, inner, into: &batch) { found = true }
        for element in tree.elements(of: value) where element.kind == .object {
          if readPart(element, bytes, inner, into: &batch) { found = true }
        }
      case .number:
        guard let address, let level = WireText.integer(bytes, value.range), -128 ... -1 ~= level else {
          continue
        }
        let advert = Advert(address: address, rssi: WireLimits.level(Int(level)), payload: 0..<0)
        if append(advert, .absent, .absent, bytes, inner, to: &batch) { found = true }
      case .absent, .null, .yes, .no, .string: continue
      }
    }
    return found
  }

  private mutating func readPart(
    _ value: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) -> Bool {
    var inner = context
    return attempt(&batch) { reader, batch throws(DatagramRefusal) in
      try reader.read(object: value, bytes, &inner, into: &batch)
    } ?? false
  }

  /// Reads an advert without names, or a list of them, perhaps behind the number of the layout's version.
  ///
  /// - Returns: whether the list is one.
  /// - Shape: address, level, data, scan response; the last two may be missing.
  /// - Source: home-assistant-libs/aioshelly, `ble/parser.py`, for Shelly's event `ble.scan_result`.
  mutating func readNameless(
    _ list: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) -> Bool {
    var elements = tree.elements(of: list)
    var first = elements.next()
    if first?.kind == .number { first = elements.next() }
    guard let first else { return false }
    switch first.kind {
    case .array:
      var found = readNameless(first, bytes, context, into: &batch)
      while let element = elements.next() {
        if element.kind == .array, readNameless(element, bytes, context, into: &batch) {
          found = true
        } else if found {
          notes.skip(.badField)
        }
      }
      return found
    case .string:
      guard !first.isEscaped, let address = JSONSighting.address(bytes, first.range),
        let level = elements.next(), level.kind == .number,
        let dBm = WireText.number(bytes, level.range), -128...127 ~= dBm
      else { return false }
      let advert = Advert(address: address, rssi: WireLimits.level(Int(dBm.rounded())), payload: 0..<0)
      let data = elements.next() ?? .absent
      append(advert, data, elements.next() ?? .absent, bytes, context, to: &batch)
      return true
    case .absent, .null, .yes, .no, .number, .object: return false
    }
  }

  /// Appends an advert with the data and the scan response that texts spell, either of which may be missing.
  ///
  /// - Returns: whether they could be read.
  @discardableResult
  private mutating func append(
    _ advert: Advert,
    _ data: JSONSlice,
    _ response: JSONSlice,
    _ bytes: RawSpan,
    _ context: Context,
    to batch: inout ReportBatch
  ) -> Bool {
    let context = context.resolved(namesDevice: true)
    let isRead: Void? = attempt(&batch) { reader, batch throws(DatagramRefusal) in
      var advert = advert
      let payload =
        data.kind == .string
        ? batch.append(spelled: data, bytes) : batch.append(payload: EmptyCollection<UInt8>())
      guard let payload else { throw .badText }
      advert.payload = payload
      try reader.append(.advert(advert), context.timing, context, to: &batch)
      try reader.appendScanResponse(response, bytes, to: advert, context, into: &batch)
    }
    return isRead != nil
  }

  /// Takes what is missing of an address, a level and data from the objects that an object holds, if it has all three then.
  func complete(_ object: inout JSONMembers, _ value: JSONSlice, _ bytes: RawSpan) {
    var whole = object
    for (key, part) in tree.members(of: value) where part.kind == .object && !isOfNetwork(key, bytes) {
      let members = members(of: part, bytes)
      // One that has both is a reading of its own.
      if !members.has(.address) || !members.has(.rssi) { whole.complete(from: members) }
    }
    if whole.isWhole { object = whole }
  }

  /// The beginnings of names under which gateways state how they are connected themselves, with addresses and levels.
  private static let networks: [StaticString] = [
    "wifi", "wi-fi", "wlan", "network", "ethernet", "modem", "cellular", "lora", "zigbee",
  ]

  private func isOfNetwork(_ key: JSONSlice, _ bytes: RawSpan) -> Bool {
    JSONReportReader.networks.contains {
      key.range.count >= $0.utf8CodeUnitCount
        && WireText.spells(bytes, key.range.prefix($0.utf8CodeUnitCount), $0)
    }
  }
}
