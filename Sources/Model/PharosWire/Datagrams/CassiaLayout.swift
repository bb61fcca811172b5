import PharosDocuments
import PharosModel

/// A scan event of Cassia's gateways and access controllers.
///
/// The access controller names the gateway; one that sends itself does not, and the topic or the sender has to state
/// it.
///
/// - Shape: `bdaddrs` [{`bdaddr`, `bdaddrType`}], `rssi`, `adData` and `scanData` in hexadecimal digits, `ap`.
/// - Source: reelyactive/barnowl-cassia, `lib/cassiadecoder.js`.
enum CassiaLayout: JSONLayout {
  /// Reads an event.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.addresses].kind == .array else { return false }
    var addresses = reader.tree.elements(of: object[.addresses])
    guard let first = addresses.next(), first.kind == .object else { throw .badIdentity }
    let device = reader.members(of: first, bytes)
    guard let address = try JSONSighting.address(device, bytes) else { throw .badIdentity }
    var inner = context
    if object.has(.accessPoint) { inner.observer = try JSONMembers.observer(object[.accessPoint], bytes) }
    var advert = Advert(address: address, rssi: try object.level(bytes), payload: 0..<0)
    if object.has(.data), !object[.data].range.isEmpty {
      guard let payload = batch.append(spelled: object[.data], bytes) else { throw .badText }
      advert.payload = payload
      try reader.append(.advert(advert), context.timing, inner, to: &batch)
    } else if object[.scanData].range.isEmpty {
      advert.payload = batch.append(payload: EmptyCollection<UInt8>())
      try reader.append(.advert(advert), context.timing, inner, to: &batch)
    }
    try reader.appendScanResponse(object, bytes, to: advert, inner, into: &batch)
    return true
  }
}
