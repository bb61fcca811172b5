import PharosDocuments
import PharosModel

/// The understood members of one object, each at its place; of a name that occurs twice the last one counts.
///
/// A short name, such as `p`, counts where no other name of the same field does and its value is of the field's kind.
struct JSONMembers {
  private var values: InlineArray<93, JSONSlice>
  /// The number of lists that do not count, because a later member has the same name.
  private(set) var replacedLists: UInt64 = 0
  /// The advert's data, where they are a list of numbers.
  private(set) var listedData: [UInt8]?
  /// Indicates whether bytes, as addresses are, stand in base64 and not in digits.
  var isBase64 = false

  /// Reads the members of an object.
  init(_ object: JSONSlice, of tree: JSONTree, _ bytes: RawSpan) {
    values = InlineArray(repeating: .absent)
    var short: InlineArray<3, (field: JSONField, value: JSONSlice)> = InlineArray(
      repeating: (.data, .absent)
    )
    for (key, value) in tree.members(of: object) {
      if let field = JSONField(bytes, key: key.range) {
        if values[Int(field.rawValue)].kind == .array { replacedLists += 1 }
        values[Int(field.rawValue)] = value
      } else if let (place, field) = JSONField.short(bytes, key: key.range),
        JSONMembers.fits(value, field, bytes)
      {
        short[place] = (field, value)
      }
    }
    for place in short.indices where self[short[place].field].kind == .absent {
      values[Int(short[place].field.rawValue)] = short[place].value
    }
    if self[.rssi].kind == .object {
      values[Int(JSONField.rssi.rawValue)] = JSONMembers.level(among: self[.rssi], of: tree, bytes)
    }
    let data = self[.data]
    guard data.kind == .array || data.kind == .object else { return }
    listedData = JSONMembers.listedBytes(data, of: tree, bytes)
    if listedData != nil { values[Int(JSONField.data.rawValue)] = .absent }
  }

  /// Returns whether a value is what a field holds, where its name alone does not say so.
  private static func fits(_ value: JSONSlice, _ field: JSONField, _ bytes: RawSpan) -> Bool {
    switch field {
    case .address: value.kind == .string && JSONSighting.address(bytes, value.range) != nil
    case .rssi: value.kind == .number
    default: value.kind == .string || value.kind == .array
    }
  }

  /// The names of the levels that an object may state of one device, the best first (Aruba).
  private static let levels: [StaticString] = ["last", "smooth", "avg", "max"]

  /// The best of the levels that an object states.
  private static func level(among object: JSONSlice, of tree: JSONTree, _ bytes: RawSpan) -> JSONSlice {
    for name in levels {
      for (key, value) in tree.members(of: object) where WireText.isEqual(bytes, key.range, name) {
        return value
      }
    }
    return .absent
  }

  /// The bytes of a list of numbers, signed or not, or of an object that holds one, as Node.js writes its buffers.
  private static func listedBytes(_ value: JSONSlice, of tree: JSONTree, _ bytes: RawSpan) -> [UInt8]? {
    var list = value
    if value.kind == .object {
      var type = JSONSlice.absent
      for (key, part) in tree.members(of: value) {
        if WireText.isEqual(bytes, key.range, "type") { type = part }
        if WireText.isEqual(bytes, key.range, "data") { list = part }
      }
      guard type.kind == .string, WireText.isEqual(bytes, type.range, "Buffer") else { return nil }
    }
    var listed: [UInt8] = []
    for element in tree.elements(of: list) {
      guard element.kind == .number, listed.count < WireLimits.maximumPayload,
        let number = WireText.integer(bytes, element.range), -128...255 ~= number
      else { return nil }
      listed.append(UInt8(truncatingIfNeeded: number))
    }
    return listed.isEmpty ? nil : listed
  }

  /// The member, which may be absent.
  subscript(field: JSONField) -> JSONSlice { values[Int(field.rawValue)] }

  /// Returns whether the member is there and not null.
  func has(_ field: JSONField) -> Bool { self[field].isPresent }

  /// A number, or nil if there is none; a string of digits will do.
  func number(_ field: JSONField, _ bytes: RawSpan) throws(DatagramRefusal) -> Double? {
    let value = self[field]
    guard value.isPresent else { return nil }
    guard value.kind == .number || value.kind == .string else { throw .badField }
    guard let number = WireText.number(bytes, value.range) else { throw .badField }
    return number
  }

  /// A whole number within a range, or nil if there is none.
  func integer<Number: FixedWidthInteger>(
    _ field: JSONField,
    _ bytes: RawSpan,
    in range: ClosedRange<Number>
  ) throws(DatagramRefusal) -> Number? {
    guard let number = try number(field, bytes) else { return nil }
    guard let whole = Number(exactly: number), range ~= whole else { throw .badField }
    return whole
  }

  /// A length of time given in milliseconds, or nil if there is none.
  func milliseconds(_ field: JSONField, _ bytes: RawSpan) throws(DatagramRefusal) -> TimeSpan? {
    guard let number = try number(field, bytes) else { return nil }
    guard number >= 0, number <= Double(WireLimits.maximumMilliseconds) else { throw .badField }
    return .seconds(number / 1_000)
  }

  /// A time in whole seconds, or nil if there is none.
  func seconds(_ field: JSONField, _ bytes: RawSpan) -> Int64? {
    let value = self[field]
    guard value.kind == .number || value.kind == .string, let number = WireText.integer(bytes, value.range),
      0...WireLimits.maximumMilliseconds / 1_000 ~= number
    else { return nil }
    return number
  }

  /// The bits that a text in base64 spells, up to 128 of them, or nil if it spells another number of bytes.
  static func base64(_ value: JSONSlice, _ bytes: RawSpan, count: Int) -> UUID128? {
    guard value.kind == .string else { return nil }
    let plain = value.text(bytes)
    guard let octets = unsafe WireText.base64(plain.span.bytes, 0..<plain.count), octets.count == count else {
      return nil
    }
    var (high, low) = (0 as UInt64, 0 as UInt64)
    for octet in octets { (high, low) = (high << 8 | low >> 56, low << 8 | UInt64(octet)) }
    return UUID128(high: high, low: low)
  }

  /// The level at one metre, or nil if there is none; one that is no level leaves the distance unknown.
  func measuredPower(_ bytes: RawSpan) -> Int8? {
    (try? number(.measuredPower, bytes)).flatMap { WireLimits.measuredPower($0) }
  }

  /// The sender's estimate of the distance, or nil if there is none.
  func distance(_ bytes: RawSpan) throws(DatagramRefusal) -> Meters? {
    try number(.accuracy, bytes).flatMap { $0 >= 0 ? Meters($0) : nil }
  }

  /// The level, or nil if there is none; fractions, as means have them, are rounded.
  func level(_ bytes: RawSpan) throws(DatagramRefusal) -> RSSI? {
    guard let number = try number(.rssi, bytes) else { return nil }
    guard -128...127 ~= number else { throw .badField }
    return WireLimits.level(Int(number.rounded()))
  }

  /// Returns the range of a plain string's text, or nil if there is none.
  func text(_ field: JSONField) throws(DatagramRefusal) -> Range<Int>? {
    let value = self[field]
    guard value.isPresent else { return nil }
    guard value.kind == .string, !value.isEscaped else { throw .badField }
    return value.range
  }

  /// Returns the index of the word that a member is, in any case, or nil if it is none of them.
  func word(_ field: JSONField, _ bytes: RawSpan, _ words: [StaticString]) -> Int? {
    let value = self[field]
    guard value.kind == .string else { return nil }
    return words.firstIndex { WireText.spells(bytes, value.range, $0) }
  }

  /// Returns the observer that reports: the field for it, otherwise the room.
  ///
  /// Where `orName` is true, the name is the last resort; in an advert, `name` is the device's.
  func observer(_ bytes: RawSpan, orName: Bool) throws(DatagramRefusal) -> ObserverID? {
    if has(.observer) { return try JSONMembers.observer(self[.observer], bytes) }
    if has(.room) { return try JSONMembers.observer(self[.room], bytes) }
    return orName && has(.name) ? try JSONMembers.observer(self[.name], bytes) : nil
  }

  /// The host that sent the object, which is the observer where neither the object nor what is around it names one.
  func sender(_ bytes: RawSpan) throws(DatagramRefusal) -> ObserverID? {
    self[.sender].kind == .string ? try JSONMembers.observer(self[.sender], bytes) : nil
  }

  /// Indicates whether it holds an address, a level and data.
  var isWhole: Bool {
    has(.address) && has(.rssi) && (self[.data].kind == .string || listedData != nil)
  }

  /// Takes over what is missing of an address, a level and data.
  mutating func complete(from other: JSONMembers) {
    for field in [JSONField.address, .addressType, .rssi] where !has(field) {
      values[Int(field.rawValue)] = other[field]
    }
    guard self[.data].kind != .string, listedData == nil else { return }
    listedData = other.listedData
    if other[.data].kind == .string { values[Int(JSONField.data.rawValue)] = other[.data] }
  }

  /// The identity that a string spells.
  static func observer(_ value: JSONSlice, _ bytes: RawSpan) throws(DatagramRefusal) -> ObserverID {
    guard value.kind == .string else { throw .badIdentity }
    guard value.isEscaped else { return try WireText.observer(bytes, value.range) }
    let text = value.text(bytes)
    return try unsafe WireText.observer(text.span.bytes, 0..<text.count)
  }

  /// Returns the time of the object's event: an age in milliseconds, or a time of the sender's own clock.
  ///
  /// An object that states neither has the timing of the object around it.
  func timing(_ bytes: RawSpan, within outer: ReportTiming) throws(DatagramRefusal) -> ReportTiming {
    if let age = try milliseconds(.age, bytes) { return .age(age) }
    // Times as text, as `2025-01-01T00:00:00Z`, are whole seconds more often than not.
    guard self[.time].kind == .number else { return has(.time) ? .received : outer }
    guard let timing = WireTime.timing(bytes, self[.time].range) else { throw .badField }
    return timing
  }
}

/// The members of objects that are understood, and the names they go by.
///
/// Names are compared without regard to case, dashes, underscores and spaces. The article "JSON fields" lists
/// them.
package enum JSONField: UInt8, CaseIterable {
  // Who, and what about it.
  case observer, room, sender, name, address, addressType, id, rssi, age, time
  // What was heard.
  case data, manufacturerData, serviceData, serviceUUID, pdu, channel, advertisingSet
  // What beacon it is.
  case beacon, uuid, uid, major, minor, namespace, instance, accuracy, measuredPower
  // raddec.
  case transmitter, transmitterType, signature, packets
  // Other makers' gateways.
  case scanData, addresses, accessPoint, deviceInfo, value, netState, observations, latestRecord, bleBeacons,
    reportingAps, reporter, reported, lastSeen, devices, objects
  // Lists and single reports.
  case adverts, tags, rangedBeacons, heartbeat, displayOn, scanState, wifiScan, motion, fix
  // The parts of those.
  case advertsHeard, scanDuty, dropped, state, accessPoints, bssid, frequency, lastHeard, samples, kind, x, y,
    z
  case latitude, longitude, speed, source, type
  case ellipsoidalAltitude, verticalAccuracy, course, courseAccuracy, speedAccuracy, isSimulated, isAccessory
  // Poses and the state of visual positioning.
  case altitude, attitude, w, relativePoses, session, interval, quality, visualStatus, scan, backgroundScan,
    reasons
  // The head of a datagram.
  case bootID, sequence, uptime

  /// The names it goes by, in lower case, without dashes, underscores and spaces.
  package var names: [StaticString] {
    switch self {
    case .observer:
      [
        "observer", "observerid", "gateway", "gatewayid", "gatewaymac", "gw", "gwmac", "scanner",
        "receiverid", "nearestapmac", "gatewayeuid", "apmac", "apmacaddress", "anchorid", "scannermac",
        "scannerid", "gmac", "gwid",
      ]
    case .room: ["room"]
    case .sender: ["src", "sourceid", "hostname"]
    case .name: ["name"]
    case .address:
      [
        "address", "mac", "addr", "macaddress", "bdaddr", "clientmac", "bleaddr", "bleaddress", "blemac",
        "tagmac", "beaconmac", "deviceaddress", "deviceeuid", "dmac",
      ]
    case .addressType: ["addresstype", "addrtype", "mactype", "bdaddrtype"]
    case .id: ["id"]
    case .rssi: ["rssi", "nearestaprssi", "scanrssi", "blerssi", "rss"]
    case .age: ["age", "agems"]
    case .time: ["time", "timestamp", "ts"]
    case .data:
      [
        "data", "payload", "rawdata", "adv", "advdata", "addata", "raw", "advpayload", "payloadraw",
        "rawpayload", "rawadv", "rawadvdata", "advraw", "advertisement", "advertisementdata", "scanrecord",
        "packet", "data1",
      ]
    case .manufacturerData: ["manufacturerdata"]
    case .serviceData: ["servicedata"]
    case .serviceUUID: ["servicedatauuid"]
    case .pdu: ["pdu"]
    case .channel: ["channel"]
    case .advertisingSet: ["advertisingset", "sid"]
    case .beacon: ["beacon"]
    case .uuid: ["uuid", "proximityuuid", "ibeaconuuid"]
    case .uid: ["uid"]
    case .major: ["major", "ibeaconmajor", "majorid"]
    case .minor: ["minor", "ibeaconminor", "minorid"]
    case .namespace: ["namespace", "nid"]
    case .instance: ["instance", "bid"]
    case .accuracy: ["accuracy", "horizontalaccuracy", "distance"]
    case .measuredPower: ["measuredpower", "ibeacontxpower", "refpower", "rssi@1m", "power", "txpower"]
    case .transmitter: ["transmitterid"]
    case .transmitterType: ["transmitteridtype"]
    case .signature: ["rssisignature"]
    case .packets: ["packets"]
    case .scanData: ["scandata", "rspdata", "srdata", "scanresponse", "scanrsp", "data2"]
    case .addresses: ["bdaddrs"]
    case .accessPoint: ["ap"]
    case .deviceInfo: ["deviceinfo"]
    case .value: ["value"]
    case .netState: ["netstate"]
    case .observations: ["observations"]
    case .latestRecord: ["latestrecord"]
    case .bleBeacons: ["blebeacons"]
    case .reportingAps: ["reportingaps"]
    case .reporter: ["reporter"]
    case .reported: ["reported"]
    case .lastSeen: ["lastseen"]
    case .devices: ["devices"]
    case .objects: ["obj"]
    case .adverts: ["adverts"]
    case .tags: ["tags"]
    case .rangedBeacons: ["rangedbeacons", "beacons"]
    case .heartbeat: ["heartbeat"]
    case .displayOn: ["displayon"]
    case .scanState: ["scanstate"]
    case .wifiScan: ["wifiscan"]
    case .motion: ["motion"]
    case .fix: ["fix", "outsidefix"]
    case .advertsHeard: ["advertsheard"]
    case .scanDuty: ["scanduty"]
    case .dropped: ["dropped"]
    case .state: ["state"]
    case .accessPoints: ["accesspoints"]
    case .bssid: ["bssid"]
    case .frequency: ["frequency"]
    case .lastHeard: ["lastheard"]
    case .samples: ["samples"]
    case .kind: ["kind"]
    case .x: ["x"]
    case .y: ["y"]
    case .z: ["z"]
    case .latitude: ["latitude", "lat"]
    case .longitude: ["longitude", "lon", "lng"]
    case .speed: ["speed"]
    case .source: ["source"]
    case .type: ["type"]
    case .ellipsoidalAltitude: ["ellipsoidalaltitude"]
    case .verticalAccuracy: ["verticalaccuracy"]
    case .course: ["course"]
    case .courseAccuracy: ["courseaccuracy"]
    case .speedAccuracy: ["speedaccuracy"]
    case .isSimulated: ["issimulatedbysoftware"]
    case .isAccessory: ["isproducedbyaccessory"]
    case .altitude: ["altitude"]
    case .attitude: ["attitude", "rotation"]
    case .w: ["w"]
    case .relativePoses: ["relativeposes", "relativepose"]
    case .session: ["session"]
    case .interval: ["interval"]
    case .quality: ["quality"]
    case .visualStatus: ["visualstatus", "vpsstatus"]
    case .scan: ["scan"]
    case .backgroundScan: ["backgroundscan"]
    case .reasons: ["reasons"]
    case .bootID: ["bootid"]
    case .sequence: ["sequence", "seq"]
    case .uptime: ["uptime"]
    }
  }

  /// The names that say little by themselves: a device's address, its level and its data.
  package static let shortNames: [(field: JSONField, names: [StaticString])] = [
    (.address, ["m", "deviceid", "devicemac", "tagid", "trackingid"]), (.rssi, ["r"]),
    (.data, ["p", "d", "bytes"]),
  ]

  /// The field that a key stands for if nothing else in its object does, and its place among such fields.
  static func short(_ bytes: RawSpan, key: Range<Int>) -> (place: Int, field: JSONField)? {
    guard key.count <= maximumShortLength, key.count == 1 || key.count >= 5 else { return nil }
    let place = shortNames.firstIndex { entry in
      entry.names.contains { length(bytes, key) == $0.utf8CodeUnitCount && matches(bytes, key, $0) }
    }
    return place.map { ($0, shortNames[$0].field) }
  }

  /// The longest of them, and what may be left out of it.
  private static let maximumShortLength = 12

  /// The length of a key without what is left out.
  private static func length(_ bytes: RawSpan, _ key: Range<Int>) -> Int {
    key.reduce(0) { isLeftOut(bytes.byte(at: $1)) ? $0 : $0 + 1 }
  }

  /// All names with their fields, sorted by length and then by what they say, so that few need to be
  /// compared.
  private static let table: [(name: StaticString, field: JSONField)] = JSONField.allCases
    .flatMap { field in field.names.map { (name: $0, field: field) } }
    .sorted { $0.name.utf8CodeUnitCount < $1.name.utf8CodeUnitCount }

  /// The indexes in the table at which the names of each length begin; the last entry is the end of the table.
  private static let starts: [Int] = (0...maximumNameLength + 1).map { length in
    table.firstIndex { $0.name.utf8CodeUnitCount >= length } ?? table.count
  }

  private static let maximumNameLength = table.last?.name.utf8CodeUnitCount ?? 0

  /// The field that a key names, or nil if it names none that is understood.
  init?(_ bytes: RawSpan, key: Range<Int>) {
    let length = JSONField.length(bytes, key)
    guard length <= JSONField.maximumNameLength else { return nil }
    for entry in JSONField.table[JSONField.starts[length]..<JSONField.starts[length + 1]]
    where JSONField.matches(bytes, key, entry.name) {
      self = entry.field
      return
    }
    return nil
  }

  private static func matches(_ bytes: RawSpan, _ key: Range<Int>, _ name: StaticString) -> Bool {
    var index = 0
    for offset in key {
      let ascii = bytes.byte(at: offset)
      if isLeftOut(ascii) { continue }
      let lower = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= ascii ? ascii | 0x20 : ascii
      guard unsafe lower == name.utf8Start[index] else { return false }
      index += 1
    }
    return true
  }

  /// Indicates whether it is a part of a beacon's identity, which means nothing without the others.
  var isIdentity: Bool {
    switch self {
    case .uuid, .uid, .major, .minor, .namespace, .instance: true
    default: false
    }
  }

  private static func isLeftOut(_ ascii: UInt8) -> Bool {
    ascii == UInt8(ascii: "_") || ascii == UInt8(ascii: "-") || ascii == UInt8(ascii: " ")
  }
}

/// The words that members may hold, compared without regard to case.
enum JSONWords {
  static let gateway: [StaticString] = ["gateway"]
  static let online: [StaticString] = ["online"]
  static let off: [StaticString] = ["off"]
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
