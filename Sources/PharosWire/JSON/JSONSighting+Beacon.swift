import PharosReports

/// The ways in which senders name a beacon.
extension JSONSighting {
  /// The beacon that an object names, or nil if it names none.
  ///
  /// The canonical text of Pharos, UUID with major and minor, Eddystone namespace with instance, or an
  /// ESPresense id.
  static func beacon(_ object: JSONObject, _ bytes: RawSpan) throws(DatagramRefusal) -> BeaconID? {
    if object[.beacon].kind == .string {
      guard let place = try object.text(.beacon), let text = WireText.string(bytes, place) else {
        throw .badIdentity
      }
      guard let beacon = BeaconID(text) else { throw .badIdentity }
      return beacon
    }
    if object.has(.uuid), object.has(.major), object.has(.minor) {
      guard let place = try object.text(.uuid), let uuid = WireText.uuid(bytes, place) else {
        throw .badIdentity
      }
      guard let major = try object.integer(.major, bytes, in: 0...UInt16.max) else { return nil }
      guard let minor = try object.integer(.minor, bytes, in: 0...UInt16.max) else { return nil }
      return .proximity(uuid, major: major, minor: minor)
    }
    if object.has(.namespace), object.has(.instance) {
      guard let name = try object.text(.namespace), let part = try object.text(.instance) else { return nil }
      guard let beacon = eddystone(bytes, namespace: name, instance: part) else { throw .badIdentity }
      return beacon
    }
    guard object[.id].kind == .string, !object[.id].isEscaped else { return nil }
    return beacon(id: object[.id].range, bytes)
  }

  /// `iBeacon:uuid-major-minor`, `abeacon:uuid-major-minor` or `eddy:namespace-instance`, as ESPresense
  /// writes them.
  private static func beacon(id: Range<Int>, _ bytes: RawSpan) -> BeaconID? {
    guard let colon = id.first(where: { bytes.byte(at: $0) == UInt8(ascii: ":") }) else { return nil }
    let scheme = id.lowerBound..<colon
    let rest = colon + 1..<id.upperBound
    if spells(bytes, scheme, "ibeacon") || spells(bytes, scheme, "abeacon") {
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
    guard spells(bytes, scheme, "eddy"), rest.count == 33 else { return nil }
    guard bytes.byte(at: rest.lowerBound + 20) == UInt8(ascii: "-") else { return nil }
    return eddystone(
      bytes,
      namespace: rest.lowerBound..<rest.lowerBound + 20,
      instance: rest.lowerBound + 21..<rest.upperBound
    )
  }

  private static func eddystone(_ bytes: RawSpan, namespace: Range<Int>, instance: Range<Int>) -> BeaconID? {
    guard namespace.count == 20 else { return nil }
    let middle = namespace.lowerBound + 16
    guard let high = WireText.octets(bytes, namespace.lowerBound..<middle, count: 8) else { return nil }
    guard let low = WireText.octets(bytes, middle..<namespace.upperBound, count: 2) else { return nil }
    guard let instance = WireText.octets(bytes, instance, count: 6) else { return nil }
    return .eddystone(EddystoneNamespace(high: high, low: UInt16(low)), instance: instance)
  }

  /// Whether a range spells a word of lower-case letters, in any case.
  private static func spells(_ bytes: RawSpan, _ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    return range.allSatisfy { unsafe bytes.byte(at: $0) | 0x20 == word.utf8Start[$0 - range.lowerBound] }
  }
}
