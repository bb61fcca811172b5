import PharosDocuments
import PharosModel

/// A post of Cisco Meraki's Scanning API, version 3, about Bluetooth devices.
///
/// It comes once a minute with the access point that heard a device best; its times are text, so the receive time stands.
/// The access points that it lists are alive.
///
/// - Shape: `data` {`reportingAps` [{`mac`}], `observations` [{`clientMac`, `latestRecord` {`nearestApMac`,
///   `nearestApRssi`}, `bleBeacons` [{`rawData`}]}]}.
/// - Source: developer.cisco.com/meraki/scanning-api.
enum MerakiLayout: JSONLayout {
  /// Reads a post.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.data].kind == .object else { return false }
    let content = reader.members(of: object[.data], bytes)
    guard content[.observations].kind == .array else { return false }
    reader.forEachObject(of: content[.reportingAps], bytes, &batch) {
      reader,
      point,
      batch throws(DatagramRefusal) in
      guard let place = try point.text(.address) else { throw .badIdentity }
      var inner = context
      inner.observer = try WireText.observer(bytes, place)
      try reader.append(.heartbeat(Heartbeat()), .received, inner, to: &batch)
    }
    reader.forEachObject(of: content[.observations], bytes, &batch) {
      reader,
      device,
      batch throws(DatagramRefusal) in
      guard let address = try JSONSighting.address(device, bytes) else { throw .badIdentity }
      guard device[.latestRecord].kind == .object else { throw .badField }
      let record = reader.members(of: device[.latestRecord], bytes)
      guard record.has(.observer) else { throw .noObserver }
      var inner = context
      inner.observer = try JSONMembers.observer(record[.observer], bytes)
      var advert = Advert(address: address, rssi: try record.level(bytes), payload: 0..<0)
      let before = batch.count
      reader.forEachObject(of: device[.bleBeacons], bytes, &batch) {
        reader,
        beacon,
        batch throws(DatagramRefusal) in
        guard let payload = batch.append(spelled: beacon[.data], bytes) else { throw .badText }
        advert.payload = payload
        try reader.append(.advert(advert), .received, inner, to: &batch)
      }
      guard batch.count == before else { return }
      advert.payload = batch.append(payload: EmptyCollection<UInt8>())
      try reader.append(.advert(advert), .received, inner, to: &batch)
    }
    return true
  }
}
