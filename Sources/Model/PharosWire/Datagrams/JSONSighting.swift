import PharosDocuments
import PharosModel

/// A sighting in an object: an advert with its known properties, or a beacon by its identity alone.
///
/// Bytes come before names: where an object holds an advert's data, its sender derived the identity beside it from that
/// data; the identity is not a second sighting.
enum JSONSighting {
  /// The whole advert as a text that spells its bytes.
  case data
  /// Parts of an advert, as Theengs gives them: manufacturer data, service data.
  case parts
  /// A beacon that the sender has identified.
  case beacon(BeaconID)
  /// A device of which only the address is known.
  case device(DeviceAddress)

  /// Reads the sighting in an object, or returns nil if there is none.
  ///
  /// - Parameters:
  ///   - object: the object.
  ///   - bytes: the text.
  ///   - device: the address of the device where the object does not name it.
  /// - Throws: that what names the device or the beacon names none.
  init?(_ object: JSONMembers, _ bytes: RawSpan, of device: DeviceAddress?) throws(DatagramRefusal) {
    let address = try JSONSighting.address(object, bytes)
    let isHeard = object.has(.rssi)
    if object[.data].kind == .string || object.listedData != nil, address != nil || isHeard {
      self = .data
    } else if object[.manufacturerData].kind == .string || JSONSighting.hasServiceData(object, bytes) {
      self = .parts
    } else if let beacon = try JSONSighting.beacon(object, bytes) {
      self = .beacon(beacon)
    } else if let address = try JSONSighting.address(object, bytes, or: isHeard ? device : nil) {
      self = .device(address)
    } else {
      return nil
    }
  }

  /// Indicates whether it may hold the identity of a beacon.
  var hasIdentity: Bool {
    switch self {
    case .data, .parts, .beacon: true
    case .device: false
    }
  }

  /// The report that it is, whatever varies in length being appended to the batch.
  ///
  /// - Parameters:
  ///   - bytes: the text.
  ///   - object: the object.
  ///   - device: the address of the device where the object does not name it.
  ///   - batch: the batch.
  /// - Returns: the report.
  /// - Throws: the reason to refuse the object.
  func body(
    _ bytes: RawSpan,
    _ object: JSONMembers,
    of device: DeviceAddress?,
    appendingTo batch: inout ReportBatch
  ) throws(DatagramRefusal) -> ReportBody {
    let level = try object.level(bytes)
    let payload: Range<UInt32>?
    switch self {
    case .beacon(let beacon):
      var ranged = RangedBeacon(
        beacon: beacon,
        rssi: level,
        accuracy: try object.distance(bytes),
        measuredPower: object.measuredPower(bytes)
      )
      ranged.address = try JSONSighting.address(object, bytes, or: device)
      return .rangedBeacon(ranged)
    case .data:
      payload =
        object.listedData.map { batch.append(payload: $0) } ?? batch.append(spelled: object[.data], bytes)
    case .parts: payload = try JSONSighting.appendParts(object, bytes, to: &batch)
    case .device: payload = batch.append(payload: EmptyCollection<UInt8>())
    }
    guard let payload else { throw .badText }
    let word = object.word(.pdu, bytes, JSONWords.pdus).map { UInt8($0 % 6) }
    let channel = try object[.channel].kind == .number ? object.number(.channel, bytes) ?? 0 : 0
    return .advert(
      Advert(
        address: try JSONSighting.address(object, bytes, or: device),
        rssi: level,
        pdu: word.flatMap(Advert.PDU.init(rawValue:)) ?? .unknown,
        channel: [37, 38, 39].contains(channel) ? UInt8(channel) : 0,
        advertisingSet: try object.integer(.advertisingSet, bytes, in: 0...UInt8.max) ?? 255,
        payload: payload
      )
    )
  }

  /// The device's address: the field for it, or an `id` that is one.
  static func address(
    _ object: JSONMembers,
    _ bytes: RawSpan
  ) throws(DatagramRefusal) -> DeviceAddress? {
    let kind = try kind(object, bytes)
    if object.has(.address) {
      guard object[.address].kind == .string else { throw .badField }
      if object.isBase64, let bits = JSONMembers.base64(object[.address], bytes, count: 6) {
        return DeviceAddress(bits: bits.low, kind: kind)
      }
      guard let address = JSONSighting.address(object[.address], bytes, kind: kind) else {
        throw .badIdentity
      }
      return address
    }
    guard object[.id].kind == .string else { return nil }
    return JSONSighting.address(object[.id], bytes, kind: kind)
  }

  /// The device's address: that of the object, or the one that is known without it, of the kind that the object states.
  private static func address(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    or device: DeviceAddress?
  ) throws(DatagramRefusal) -> DeviceAddress? {
    if let own = try address(object, bytes) { return own }
    guard let device, device.kind == .unknown else { return device }
    return DeviceAddress(bits: device.bits, kind: try kind(object, bytes))
  }

  /// The device's address that a text spells; nil if it spells none.
  private static func address(
    _ text: JSONSlice,
    _ bytes: RawSpan,
    kind: DeviceAddress.Kind
  ) -> DeviceAddress? {
    guard text.isEscaped else { return address(bytes, text.range, kind: kind) }
    // Some writers put a backslash before each slash.
    let plain = text.text(bytes)
    return unsafe address(plain.span.bytes, 0..<plain.count, kind: kind)
  }

  /// The device's address that a text spells, or nil: an EUI-48, one behind two zeros (Ruckus), or one with a slash and HCI's
  /// code of its kind behind it (Tasmota).
  static func address(
    _ bytes: RawSpan,
    _ range: Range<Int>,
    kind: DeviceAddress.Kind = .unknown
  ) -> DeviceAddress? {
    if let address = WireText.address(bytes, range, kind: kind) { return address }
    if let bits = WireText.octets(bytes, range, count: 8), bits >> 48 == 0 {
      return DeviceAddress(bits: bits, kind: kind)
    }
    guard range.count > 2, bytes.byte(at: range.upperBound - 2) == UInt8(ascii: "/"),
      let code = WireText.integer(bytes, range.suffix(1)), let stated = JSONSighting.kind(code: Double(code))
    else { return nil }
    return WireText.address(bytes, range.dropLast(2), kind: stated)
  }

  private static func kind(
    _ object: JSONMembers,
    _ bytes: RawSpan
  ) throws(DatagramRefusal) -> DeviceAddress.Kind {
    let word = object.word(.addressType, bytes, JSONWords.addressKinds)
    let code = object[.addressType].kind == .number ? try object.number(.addressType, bytes) : nil
    return JSONSighting.kind(code: code ?? word.map { Double($0) }) ?? .unknown
  }

  /// The kind of an address by HCI's codes: 2 and 3 are public and random addresses that the host has resolved.
  private static func kind(code: Double?) -> DeviceAddress.Kind? {
    switch code {
    case 0, 2: .public
    case 1, 3: .random
    default: nil
    }
  }

  private static func hasServiceData(_ object: JSONMembers, _ bytes: RawSpan) -> Bool {
    object[.serviceData].kind == .string && serviceUUID(object, bytes) != nil
  }

  /// The 16-bit UUID of service data: `feaa`, `0xfeaa`, or as a UUID of 32 or 128 bits.
  private static func serviceUUID(_ object: JSONMembers, _ bytes: RawSpan) -> UInt64? {
    guard object[.serviceUUID].kind == .string else { return nil }
    var range = object[.serviceUUID].range
    if let uuid = WireText.uuid(bytes, range) { return BluetoothUUID.short(of: uuid).map { UInt64($0) } }
    if range.count > 2, bytes.byte(at: range.lowerBound + 1) | 0x20 == UInt8(ascii: "x") {
      range.removeFirst(2)
    }
    let value = WireText.octets(bytes, range, count: 2) ?? WireText.octets(bytes, range, count: 4)
    return value.flatMap { $0 <= UInt16.max ? $0 : nil }
  }

  /// Appends the AD structures that manufacturer data and service data are.
  private static func appendParts(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    to batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Range<UInt32> {
    let start = UInt32(batch.payloads.count)
    if let place = try object.text(.manufacturerData) {
      guard place.count <= 2 * 254 else { throw .badField }
      _ = batch.append(payload: [UInt8(place.count / 2 + 1), 0xFF])
      guard WireText.withHex(bytes, place, { _ = batch.append(payload: $0) }) != nil else { throw .badText }
    }
    if let uuid = serviceUUID(object, bytes), let place = try object.text(.serviceData) {
      guard place.count <= 2 * 252 else { throw .badField }
      _ = batch.append(
        payload: [UInt8(place.count / 2 + 3), 0x16, UInt8(uuid & 0xFF), UInt8(uuid >> 8)]
      )
      guard WireText.withHex(bytes, place, { _ = batch.append(payload: $0) }) != nil else { throw .badText }
    }
    return start..<UInt32(batch.payloads.count)
  }
}

/// The ways in which senders name a beacon.
extension JSONSighting {
  /// The beacon that an object names, or nil if it names none.
  ///
  /// The canonical text of Pharos, UUID with major and minor, Eddystone namespace with instance, or an
  /// ESPresense id.
  static func beacon(_ object: JSONMembers, _ bytes: RawSpan) throws(DatagramRefusal) -> BeaconID? {
    if object[.beacon].kind == .string {
      guard let place = try object.text(.beacon), let text = WireText.string(bytes, place) else {
        throw .badIdentity
      }
      guard let beacon = BeaconID(text) else { throw .badIdentity }
      return beacon
    }
    if object.has(.uuid), object.has(.major), object.has(.minor) {
      let place = try object.text(.uuid)
      let bits = object.isBase64 ? JSONMembers.base64(object[.uuid], bytes, count: 16) : nil
      guard let uuid = bits ?? place.flatMap({ WireText.uuid(bytes, $0) }) else { throw .badIdentity }
      guard let major = try object.integer(.major, bytes, in: 0...UInt16.max) else { return nil }
      guard let minor = try object.integer(.minor, bytes, in: 0...UInt16.max) else { return nil }
      return .proximity(uuid, major: major, minor: minor)
    }
    if object[.uid].kind == .string, let uuid = WireText.uuid(bytes, object[.uid].range),
      let major = dumped(object[.major], bytes), let minor = dumped(object[.minor], bytes)
    {
      return .proximity(uuid, major: major, minor: minor)
    }
    if object.has(.namespace), object.has(.instance) {
      if object.isBase64, let name = JSONMembers.base64(object[.namespace], bytes, count: 10),
        let part = JSONMembers.base64(object[.instance], bytes, count: 6)
      {
        let high = name.high << 48 | name.low >> 16
        let namespace = EddystoneNamespace(high: high, low: UInt16(name.low & 0xFFFF))
        return .eddystone(namespace, instance: part.low)
      }
      guard let name = try object.text(.namespace), let part = try object.text(.instance) else { return nil }
      guard let beacon = eddystone(bytes, namespace: name, instance: part) else { throw .badIdentity }
      return beacon
    }
    guard object[.id].kind == .string, !object[.id].isEscaped else { return nil }
    return beacon(id: object[.id].range, bytes)
  }

  /// A number as the four digits of its two bytes, as Tasmota writes them.
  private static func dumped(_ text: JSONSlice, _ bytes: RawSpan) -> UInt16? {
    guard text.kind == .string, text.range.count == 4 else { return nil }
    return WireText.octets(bytes, text.range, count: 2).map { UInt16($0) }
  }

  /// `iBeacon:uuid-major-minor`, `abeacon:uuid-major-minor` or `eddy:namespace-instance`, as ESPresense
  /// writes them.
  private static func beacon(id: Range<Int>, _ bytes: RawSpan) -> BeaconID? {
    guard let colon = id.first(where: { bytes.byte(at: $0) == UInt8(ascii: ":") }) else { return nil }
    let scheme = id.lowerBound..<colon
    let rest = colon + 1..<id.upperBound
    if WireText.spells(bytes, scheme, "ibeacon") || WireText.spells(bytes, scheme, "abeacon") {
      guard rest.count > 37 else { return nil }
      let middle = rest.lowerBound + 36
      guard let uuid = WireText.uuid(bytes, rest.lowerBound..<middle) else { return nil }
      guard bytes.byte(at: middle) == UInt8(ascii: "-") else { return nil }
      let numbers = middle + 1..<rest.upperBound
      guard let dash = numbers.first(where: { bytes.byte(at: $0) == UInt8(ascii: "-") }) else { return nil }
      guard let major = WireText.integer(bytes, numbers.lowerBound..<dash) else { return nil }
      guard let minor = WireText.integer(bytes, dash + 1..<numbers.upperBound) else { return nil }
      guard let major = UInt16(exactly: major), let minor = UInt16(exactly: minor) else { return nil }
      return .proximity(uuid, major: major, minor: minor)
    }
    guard WireText.spells(bytes, scheme, "eddy"), rest.count == 33 else { return nil }
    guard bytes.byte(at: rest.lowerBound + 20) == UInt8(ascii: "-") else { return nil }
    return eddystone(
      bytes,
      namespace: rest.lowerBound..<rest.lowerBound + 20,
      instance: rest.lowerBound + 21..<rest.upperBound
    )
  }

  /// The Eddystone beacon whose namespace and instance stand in one text of digits, or nil if they do not (BlueUp).
  static func eddystone(_ text: JSONSlice, _ bytes: RawSpan) -> BeaconID? {
    guard text.kind == .string, text.range.count == 32 else { return nil }
    return eddystone(bytes, namespace: text.range.prefix(20), instance: text.range.suffix(12))
  }

  /// The Eddystone beacon of a namespace and an instance in digits, or nil if they are none.
  static func eddystone(_ bytes: RawSpan, namespace: Range<Int>, instance: Range<Int>) -> BeaconID? {
    guard namespace.count == 20 else { return nil }
    let middle = namespace.lowerBound + 16
    guard let high = WireText.octets(bytes, namespace.lowerBound..<middle, count: 8) else { return nil }
    guard let low = WireText.octets(bytes, middle..<namespace.upperBound, count: 2) else { return nil }
    guard let instance = WireText.octets(bytes, instance, count: 6) else { return nil }
    return .eddystone(EddystoneNamespace(high: high, low: UInt16(low)), instance: instance)
  }
}
