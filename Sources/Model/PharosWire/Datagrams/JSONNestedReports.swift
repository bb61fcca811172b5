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

  /// A device that an object states, in which further objects name what the device is.
  struct HeardDevice {
    let address: DeviceAddress
    let rssi: RSSI?
  }

  /// Appends the beacons that objects within the object of a device name, each at the device's level.
  ///
  /// `{"mac": …, "rssi": -61, "ibeacon": [{"uuid": …, "major": 1, "minor": 7}]}` is one; objects with an address or a level are
  /// readings of their own.
  ///
  /// - Returns: whether there was any.
  mutating func readIdentities(
    of device: HeardDevice,
    in object: JSONSlice,
    isEddystone: Bool = false,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) -> Bool {
    var found = false
    for (key, value) in tree.members(of: object) where !isOfNetwork(key, bytes) {
      let isEddystone = isEddystone || WireText.spells(bytes, key.range, "eddystone")
      func read(_ part: JSONSlice, by reader: inout JSONReportReader) {
        guard part.kind == .object else { return }
        let isNamed = reader.attempt(&batch) { reader, batch throws(DatagramRefusal) in
          try reader.readIdentity(of: device, in: part, isEddystone, bytes, context, into: &batch)
        }
        if isNamed == true { found = true }
      }
      read(value, by: &self)
      for element in tree.elements(of: value) { read(element, by: &self) }
    }
    return found
  }

  private mutating func readIdentity(
    of device: HeardDevice,
    in part: JSONSlice,
    _ isEddystone: Bool,
    _ bytes: RawSpan,
    _ context: Context,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    var object = members(of: part, bytes)
    object.isBase64 = context.elements?.isBase64 == true
    guard !object.has(.address), !object.has(.rssi) else { return false }
    let named = try JSONSighting.beacon(object, bytes)
    guard let beacon = named ?? (isEddystone ? JSONSighting.eddystone(object[.uid], bytes) : nil) else {
      return readIdentities(of: device, in: part, isEddystone: isEddystone, bytes, context, into: &batch)
    }
    var ranged = RangedBeacon(
      beacon: beacon,
      rssi: device.rssi,
      accuracy: try object.distance(bytes),
      // Eddystone's is the level at 0 m.
      measuredPower: isEddystone ? nil : object.measuredPower(bytes)
    )
    ranged.address = device.address
    try append(.rangedBeacon(ranged), context.timing, context, to: &batch)
    return true
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
