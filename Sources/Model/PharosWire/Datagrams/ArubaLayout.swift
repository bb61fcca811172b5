import PharosDocuments
import PharosModel

/// A telemetry report of an Aruba access point, as its connection "Telemetry-Https" posts it.
///
/// It lists what the access point has heard lately, each device with the second in which it was heard last. Both times are of
/// the access point's clock, so that their difference is the age. A device that was heard before the report preceding this one is
/// listed again with the same second, and its age grows. The access point itself is alive.
///
/// - Shape: `reporter` {`mac`, `time`}; `reported` [{`mac`, `lastSeen`, `rssi` {`last`, or `smooth`, `avg` or `max`}, `beacons`
///   [{`ibeacon` {`uuid`, `major`, `minor`, `power`}, `eddystone` {`uid` {`nid`, `bid`}}}]}]; times in whole seconds.
/// - Source: the Aruba IoT Server Interface Guide 8.8, "Telemetry"; reelyactive/barnowl-aruba, `proto/aos8v1`.
enum ArubaLayout: JSONLayout {
  /// The levels that a report may state of a device, the best first.
  private static let levels: [StaticString] = ["last", "smooth", "avg", "max"]
  /// The greatest second that a time may be, that of the last `Timestamp`.
  private static let latest = Int64(WireLimits.maximumMilliseconds) / 1_000

  /// Reads a report.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.reporter].kind == .object else { return false }
    let reporter = reader.members(of: object[.reporter], bytes)
    guard let place = try reporter.text(.address) else { return false }
    var inner = context
    inner.observer = try WireText.observer(bytes, place)
    let now = seconds(.time, of: reporter, bytes)
    try reader.append(.heartbeat(Heartbeat()), .received, inner, to: &batch)
    reader.forEachObject(of: object[.reported], bytes, &batch) {
      reader,
      device,
      batch throws(DatagramRefusal) in
      guard let address = try JSONSighting.address(device, bytes) else { throw .badIdentity }
      var timing = ReportTiming.received
      if let now, let heard = seconds(.lastSeen, of: device, bytes) {
        timing = .age(.seconds(Double(max(0, now - heard))))
      }
      let level = try level(device, bytes, reader.tree)
      let before = batch.count
      for element in reader.tree.elements(of: device[.rangedBeacons]) {
        for (key, value) in reader.tree.members(of: element) where value.kind == .object {
          let part = reader.members(of: value, bytes)
          let isEddystone = WireText.isEqual(bytes, key.range, "eddystone")
          let identity = try isEddystone ? uid(value, bytes, reader.tree) : JSONSighting.beacon(part, bytes)
          guard let identity else { continue }
          // A power that is none leaves the distance unknown.
          let power = (try? part.number(.measuredPower, bytes)).flatMap { WireLimits.measuredPower($0) }
          var ranged = RangedBeacon(
            beacon: identity,
            rssi: level,
            accuracy: nil,
            measuredPower: isEddystone ? nil : power
          )
          ranged.address = address
          try reader.append(.rangedBeacon(ranged), timing, inner, to: &batch)
        }
      }
      guard batch.count == before else { return }
      let payload = batch.append(payload: EmptyCollection<UInt8>())
      let advert = Advert(address: address, rssi: level, payload: payload)
      try reader.append(.advert(advert), timing, inner, to: &batch)
    }
    return true
  }

  /// A time in whole seconds, or nil if there is none.
  private static func seconds(_ field: JSONField, of object: JSONMembers, _ bytes: RawSpan) -> Int64? {
    let value = object[field]
    guard value.kind == .number || value.kind == .string, let number = WireText.integer(bytes, value.range),
      0...latest ~= number
    else { return nil }
    return number
  }

  /// The level of a device, which stands in an object.
  private static func level(
    _ device: JSONMembers,
    _ bytes: RawSpan,
    _ tree: JSONTree
  ) throws(DatagramRefusal) -> RSSI? {
    guard device[.rssi].kind == .object else { return try device.level(bytes) }
    for name in levels {
      for (key, value) in tree.members(of: device[.rssi]) where WireText.isEqual(bytes, key.range, name) {
        guard value.kind == .number, let dBm = WireText.number(bytes, value.range), -128...127 ~= dBm else {
          throw .badField
        }
        return WireLimits.level(Int(dBm.rounded()))
      }
    }
    return nil
  }

  /// The identity in an Eddystone frame, or nil if it has none: the frames of telemetry and links have none.
  private static func uid(
    _ frame: JSONSlice,
    _ bytes: RawSpan,
    _ tree: JSONTree
  ) throws(DatagramRefusal) -> BeaconID? {
    for (key, value) in tree.members(of: frame) where WireText.isEqual(bytes, key.range, "uid") {
      var (namespace, instance) = (JSONSlice.absent, JSONSlice.absent)
      for (key, value) in tree.members(of: value) where value.kind == .string {
        if WireText.isEqual(bytes, key.range, "nid") { namespace = value }
        if WireText.isEqual(bytes, key.range, "bid") { instance = value }
      }
      guard namespace.kind == .string, instance.kind == .string else { return nil }
      guard let beacon = JSONSighting.eddystone(bytes, namespace: namespace.range, instance: instance.range)
      else {
        throw .badIdentity
      }
      return beacon
    }
    return nil
  }
}
