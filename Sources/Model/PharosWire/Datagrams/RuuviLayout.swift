import PharosDocuments
import PharosModel

/// The message of a Ruuvi gateway: `{"data": {"gw_mac": …, "tags": {MAC: {"rssi": …, "data": …}}}}`.
///
/// - Source: Ruuvi's documentation, "HTTP: Time-stamped data from Bluetooth-sensors" and its twin without timestamps.
enum RuuviLayout: JSONLayout {
  /// Reads a message.
  ///
  /// Its times are whole seconds, so the receive time stands. The gateway itself gives a heartbeat, since it also posts
  /// when it hears nothing.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.data].kind == .object else { return false }
    let content = reader.members(of: object[.data], bytes)
    guard content[.tags].kind == .object, content.has(.observer) else { return false }
    let inner = JSONReportReader.Context(observer: try content.observer(bytes, orName: false))
    try reader.append(.heartbeat(Heartbeat()), .received, inner, to: &batch)
    for (key, value) in reader.tree.members(of: content[.tags]) {
      reader.attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard value.kind == .object else { throw .badField }
        guard !key.isEscaped, let address = WireText.address(bytes, key.range, kind: .unknown) else {
          throw .badIdentity
        }
        let tag = reader.members(of: value, bytes)
        guard tag.has(.data) else { throw .badField }
        let level = try tag.level(bytes)
        guard let payload = batch.append(spelled: tag[.data], bytes) else { throw .badText }
        let advert = Advert(address: address, rssi: level, payload: payload)
        try reader.append(.advert(advert), .received, inner, to: &batch)
      }
    }
    return true
  }
}
