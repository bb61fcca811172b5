import PharosReports

/// What a Ruuvi gateway posts: `{"data": {"gw_mac": …, "tags": {MAC: {"rssi": …, "data": …}}}}`.
///
/// - Source: Ruuvi's documentation, "HTTP: Time-stamped data from Bluetooth-sensors" and its twin without timestamps.
extension JSONReader {
  /// Reads it, and says whether it was one.
  ///
  /// Its times are whole seconds, so the receive time stands. The gateway itself gives a heartbeat, since it also posts
  /// when it hears nothing.
  mutating func readRuuvi(
    _ object: JSONObject,
    _ bytes: RawSpan,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.data].kind == .object else { return false }
    let content = try JSONObject(bytes, object[.data])
    guard content[.tags].kind == .object, content.has(.observer) else { return false }
    let context = Context(observer: try content.observer(bytes, orName: false))
    try append(.heartbeat(Heartbeat()), .received, context, to: &batch)
    var scanner = JSONScanner(content[.tags].range)
    while let (key, value) = try scanner.nextMember(bytes) {
      guard value.kind == .object else { throw .badField }
      guard !key.isEscaped, let address = WireText.address(bytes, key.range, kind: .unknown) else {
        throw .badIdentity
      }
      let tag = try JSONObject(bytes, value)
      guard let digits = try tag.text(.data) else { throw .badField }
      let level = try tag.level(bytes)
      guard let payload = WireText.withHex(bytes, digits, { batch.append(payload: $0) }) else {
        throw .badText
      }
      let advert = Advert(address: address, rssi: level, payload: payload)
      try append(.advert(advert), .received, context, to: &batch)
    }
    return true
  }
}
