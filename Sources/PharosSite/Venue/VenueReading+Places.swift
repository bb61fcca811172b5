import PharosPlaces
import PharosReports
import Yams

extension VenueReading {
  /// The keys that say where something is.
  static let positionKeys = ["at", "pixel", "latitude", "longitude"]
  private static let positionExpected =
    "at: [x, y] in metres, pixel: [x, y] on the plan, or latitude and longitude"
  /// How far from its floor's origin something may be.
  ///
  /// - Units: metres.
  private static let meters = -30_000.0...30_000.0

  /// The name of a file or folder inside of the venue's folder.
  func fileName(_ key: String, _ fields: SiteFields) -> String? {
    guard let name = fields.filledText(key, expected: "a path in the venue's folder") else { return nil }
    guard VenueFiles.isInside(name) else {
      fields.mistake(
        key,
        "\(key) is \"\(PlainText.cut(name, to: 60))\"",
        expected: "a path inside of the venue's folder, without \"..\""
      )
      return nil
    }
    return name
  }

  /// A latitude and a longitude, both of which must be there.
  func coordinate(_ fields: SiteFields?) -> Coordinate? {
    guard let fields else { return nil }
    for key in ["latitude", "longitude"] where !fields.has(key) {
      fields.mistake(key, "\(key) is missing", expected: "degrees")
    }
    let latitude = fields.number("latitude", in: -90...90, unit: "degrees")
    let longitude = fields.number("longitude", in: -180...180, unit: "degrees")
    guard let latitude, let longitude else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  /// Two numbers in a list.
  func pair(
    _ key: String,
    _ fields: SiteFields,
    in range: ClosedRange<Double>,
    expected: String
  ) -> (Double, Double)? {
    guard let node = fields[key] else { return nil }
    let numbers = (node.sequence.map(Array.init) ?? []).compactMap { $0.scalar.flatMap { Double($0.string) } }
    guard node.sequence?.count == 2, numbers.count == 2, numbers.allSatisfy(range.contains) else {
      fields.mistake(key, "\(key) is no pair of numbers", expected: expected)
      return nil
    }
    return (numbers[0], numbers[1])
  }

  /// Where something is on a floor, in whichever way it was said.
  func position(_ fields: SiteFields, on floor: Floor) -> Point? {
    let said = ["at", "pixel"].filter(fields.has)
    let isOnEarth = fields.has("latitude") || fields.has("longitude")
    guard said.count + (isOnEarth ? 1 : 0) == 1 else {
      let found = said.isEmpty && !isOnEarth ? "nothing says where it is" : "two ways to say where it is"
      fields.mistake(said.first ?? "", found, expected: VenueReading.positionExpected)
      return nil
    }
    if isOnEarth {
      guard let coordinate = coordinate(fields) else { return nil }
      guard let point = floor.plane.point(of: coordinate) else {
        fields.mistake("latitude", "\(coordinate) is far from its floor", expected: "a place in the venue")
        return nil
      }
      return point
    }
    if fields.has("at") {
      return pair("at", fields, in: VenueReading.meters, expected: "[x, y] in metres east and north")
        .map { Point(x: $0.0, y: $0.1) }
    }
    guard let pixel = pair("pixel", fields, in: -1e6...1e6, expected: "[x, y] in pixels of the plan") else {
      return nil
    }
    guard let point = floor.point(of: Pixel(x: pixel.0, y: pixel.1)) else {
      let problem =
        floor.plan == nil ? "a pixel, and the floor has no plan" : "a pixel far outside of the plan"
      fields.mistake("pixel", problem, expected: VenueReading.positionExpected)
      return nil
    }
    return point
  }

  /// Everything that is placed on a floor.
  mutating func readPlaced(_ fields: SiteFields, into floor: inout Floor) {
    for (entry, point) in placed("entrances", ["id"], fields, floor) {
      let id = entry.text("id") ?? "entrance \(floor.entrances.count + 1)"
      floor.entrances.append(Entrance(identifier: id, point: point))
    }
    for (entry, point) in placed("beacons", SiteIdentity.keys, fields, floor) {
      if let beacon = beacon(entry) { floor.beacons.append(PlacedBeacon(beacon, at: point)) }
    }
    for (entry, point) in placed("observers", ["id"], fields, floor) {
      guard let node = entry["id"] else {
        entry.mistake("id", "id is missing", expected: "a MAC in quotes, a UUID or a name")
        continue
      }
      if let id = identities.observer(node, "id", entry) {
        floor.observers.append(PlacedObserver(id, at: point))
      }
    }
    for (entry, point) in placed("accessPoints", ["bssid"], fields, floor) {
      guard entry.has("bssid") else {
        entry.mistake("bssid", "bssid is missing", expected: "six octets in quotes")
        continue
      }
      if let bssid = identities.address(entry["bssid"], "bssid", entry) {
        floor.accessPoints.append(PlacedAccessPoint(bssid, at: point))
      }
    }
  }

  /// The entries of a list that say where they are.
  private mutating func placed(
    _ key: String,
    _ known: [String],
    _ fields: SiteFields,
    _ floor: Floor
  ) -> [(entry: SiteFields, point: Point)] {
    var found: [(SiteFields, Point)] = []
    for (index, path, node) in fields.list(key, of: key) where !noted.isFull {
      placedCount += 1
      guard placedCount <= VenueFolder.mostPlaced else {
        let limit = VenueFolder.mostPlaced
        fields.mistake(key, "more than \(limit) things in the venue", expected: "at most \(limit)")
        break
      }
      let place = "\(fields.place): \(key) \(index + 1)"
      let keys = known + VenueReading.positionKeys
      guard let entry = SiteFields(node, place: place, path: path, known: keys, problems: noted),
        let point = position(entry, on: floor)
      else { continue }
      found.append((entry, point))
    }
    return found
  }

  /// The identity of one beacon, whole: a hanging beacon is one, not many.
  private func beacon(_ fields: SiteFields) -> BeaconID? {
    let address = fields.has("mac") ? identities.address(fields["mac"], "mac", fields) : nil
    if let key = fields.text("key"), key != "mac" || !fields.has("mac") {
      fields.mistake("key", "key is \"\(PlainText.cut(key, to: 40))\"", expected: "mac, beside a mac")
    }
    let id: BeaconID?
    if fields.has("uuid"), fields.has("namespace") {
      fields.mistake("namespace", "uuid and namespace stand together", expected: "one of them")
      return nil
    } else if fields.has("uuid") {
      id = proximity(fields)
    } else if fields.has("namespace") {
      id = eddystone(fields)
    } else {
      if !fields.has("mac") {
        fields.mistake(
          "",
          "nothing says which beacon hangs here",
          expected: "uuid, major and minor, or a mac"
        )
      }
      return address.map { .address($0) }
    }
    guard fields.has("mac") else { return id }
    return address.flatMap { id?.keyed(by: $0) }
  }

  private func proximity(_ fields: SiteFields) -> BeaconID? {
    let expected = "32 hexadecimal digits, as in E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    let uuid = fields.parsed("uuid", expected: expected) { UUID128($0) }
    for key in ["major", "minor"] where !fields.has(key) {
      fields.mistake(key, "\(key) is missing", expected: "the number of the one beacon that hangs here")
    }
    let major = fields.integer("major", in: 0...65_535)
    let minor = fields.integer("minor", in: 0...65_535)
    guard let uuid, let major, let minor else { return nil }
    return .proximity(uuid, major: UInt16(major), minor: UInt16(minor))
  }

  private func eddystone(_ fields: SiteFields) -> BeaconID? {
    let namespace = fields.parsed("namespace", expected: "20 hexadecimal digits") { EddystoneNamespace($0) }
    let instance = fields.parsed("instance", expected: "12 hexadecimal digits") { text in
      text.utf8.count == 12 ? Hex.bytes(text)?.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : nil
    }
    if !fields.has("instance") {
      fields.mistake("instance", "instance is missing", expected: "12 hexadecimal digits")
    }
    guard let namespace, let instance else { return nil }
    return .eddystone(namespace, instance: instance)
  }
}
