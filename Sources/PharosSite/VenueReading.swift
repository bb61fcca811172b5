import PharosModel
import PharosVenues
import Yams

/// A reader of one `venue.yaml` and the files that it names.
struct VenueReading {
  let files: VenueFiles
  let noted: SiteProblems
  let problems: VenueProblems
  /// Reads identities by the rules of the site file.
  let identities: SiteReading
  /// The place that has x = 0 and y = 0 on every floor that says nothing else.
  var origin: Coordinate?
  /// Indicates whether the missing origin has been reported.
  var hasToldOfOrigin = false
  /// The number of placed beacons, observers, access points and entrances.
  var placedCount = 0
  /// The number of floors.
  var floorCount = 0

  private static let keys = ["id", "name", "origin", "imdf", "buildings", "connectors"]
  private static let buildingKeys = ["id", "name", "floors"]
  private static let connectorKeys = ["id", "kind", "stops"]

  init(files: VenueFiles, noted: SiteProblems, problems: VenueProblems) {
    self.files = files
    self.noted = noted
    self.problems = problems
    identities = SiteReading(problems: noted)
  }

  mutating func venue(of root: Node) -> Venue? {
    guard
      let fields = SiteFields(root, place: "venue", path: "", known: VenueReading.keys, problems: noted)
    else { return nil }
    let id = fields.requiredText("id", expected: "the venue's name in events")
    let name = fields.text("name")
    if fields.has("origin") {
      origin = coordinate(fields.fields("origin", known: ["latitude", "longitude"]))
    }
    var venue = Venue(identifier: id ?? "", name: name ?? id ?? "")
    if let folder = fileName("imdf", fields) {
      var reading = IMDFReading(folder: folder, origin: origin, files: files, problems: problems)
      if let read = reading.venue() {
        venue.buildings = read.buildings
        venue.connectors = read.connectors
        if name == nil { venue.name = read.name }
        origin = origin ?? reading.origin
      }
    }
    for (index, path, node) in fields.list("buildings", of: "buildings") where !noted.isFull {
      building(node, place: node.named("building", index), path: path, into: &venue)
    }
    if venue.buildings.isEmpty {
      fields.mistake("buildings", "no building", expected: "buildings, or the folder of an IMDF archive")
    }
    connectors(fields, into: &venue)
    return venue
  }

  private mutating func building(_ node: Node, place: String, path: String, into venue: inout Venue) {
    let known = VenueReading.buildingKeys
    guard let fields = SiteFields(node, place: place, path: path, known: known, problems: noted) else {
      return
    }
    let id = fields.requiredText("id", expected: "the building's name") ?? ""
    let found = venue.buildings.firstIndex { $0.identifier == id || $0.name == id }
    var building = found.map { venue.buildings[$0] } ?? Building(identifier: id)
    if let name = fields.text("name") { building.name = name } else if found == nil { building.name = id }
    var seen: Set<Int> = []
    for (index, path, node) in fields.list("floors", of: "floors") where !noted.isFull {
      let level = node.mapping?["level"]?.scalar?.string ?? "\(index + 1)"
      let floorPlace = "\(place): floor \(PlainText.cut(level, to: 20))"
      guard let floor = floor(node, place: floorPlace, path: path, in: building) else { continue }
      if !seen.insert(floor.level).inserted {
        noted.mistake(
          "\(floorPlace) is listed already",
          line: node.mark?.line ?? fields.line,
          field: path,
          expected: "each level once"
        )
      }
      building.floors.removeAll { $0.level == floor.level }
      building.floors.append(floor)
    }
    building.floors.sort { $0.level < $1.level }
    if building.floors.isEmpty { fields.mistake("floors", "no floor", expected: "one floor or more") }
    if let found {
      venue.buildings[found] = building
    } else {
      venue.buildings.append(building)
    }
  }

  private mutating func connectors(_ fields: SiteFields, into venue: inout Venue) {
    var seen = Set(venue.connectors.map(\.identifier))
    for (index, path, node) in fields.list("connectors", of: "connectors") where !noted.isFull {
      guard venue.connectors.count < VenueFolder.mostConnectors else {
        let limit = VenueFolder.mostConnectors
        fields.mistake("connectors", "more than \(limit) connectors", expected: "at most \(limit)")
        return
      }
      let place = node.named("connector", index)
      let known = VenueReading.connectorKeys
      guard let entry = SiteFields(node, place: place, path: path, known: known, problems: noted) else {
        continue
      }
      let kind = entry.parsed("kind", expected: "stairs, lift, escalator or ramp") {
        Connector.Kind(rawValue: $0)
      }
      if !entry.has("kind") {
        entry.mistake("kind", "kind is missing", expected: "stairs, lift, escalator or ramp")
      }
      guard let id = entry.requiredText("id", expected: "the connector's name") else { continue }
      if !seen.insert(id).inserted {
        entry.mistake("id", "this id is taken already", expected: "each connector once")
      }
      let stops = entry.list("stops", of: "stops").compactMap { stop($0.node, entry, $0.path, venue) }
      if let kind { venue.connectors.append(Connector(identifier: id, kind: kind, stops: stops)) }
    }
  }

  private func stop(_ node: Node, _ connector: SiteFields, _ path: String, _ venue: Venue) -> Connector.Stop?
  {
    let known = ["building", "level"] + VenueReading.positionKeys
    let place = "\(connector.place): stop"
    guard let fields = SiteFields(node, place: place, path: path, known: known, problems: noted) else {
      return nil
    }
    guard fields.has("level") else {
      fields.mistake("level", "level is missing", expected: "the floor's number")
      return nil
    }
    guard let level = fields.integer("level", in: Floor.levels) else { return nil }
    let only = venue.buildings.count == 1 ? venue.buildings[0].identifier : nil
    guard let name = fields.text("building") ?? only else {
      fields.mistake("building", "building is missing", expected: "one of the venue's buildings")
      return nil
    }
    let building = venue.buildings.first { $0.identifier == name || $0.name == name }
    guard let floor = building?.floor(level) else {
      let hint = Spelling.nearest(to: name, among: venue.buildings.map(\.identifier))
      let question = building == nil ? hint.map { "; did you mean \"\($0)\"?" } ?? "" : ""
      fields.mistake(
        building == nil ? "building" : "level",
        building == nil
          ? "building \"\(name)\" is none of the venue's\(question)" : "\"\(name)\" has no level \(level)",
        expected: building == nil ? "one of its buildings" : "one of its floors"
      )
      return nil
    }
    guard let building, let point = position(fields, on: floor) else { return nil }
    return Connector.Stop(floor: FloorID(building: building.identifier, level: level), point: point)
  }
}

extension VenueReading {
  private static let floorKeys = [
    "level", "name", "names", "origin", "plan", "surveyFolder", "shops", "map", "walls", "entrances",
    "beacons",
    "observers", "accessPoints",
  ]
  private static let planKeys = ["image", "width", "height", "anchors"]
  private static let attenuations = 0.0...100.0

  /// Reads one floor: a new one, or one that is merged into a floor of an IMDF archive.
  mutating func floor(_ node: Node, place: String, path: String, in building: Building) -> Floor? {
    let known = VenueReading.floorKeys
    guard let fields = SiteFields(node, place: place, path: path, known: known, problems: noted) else {
      return nil
    }
    floorCount += 1
    guard floorCount <= VenueFolder.mostFloors else {
      fields.mistake("", "more than \(VenueFolder.mostFloors) floors", expected: "at most so many")
      return nil
    }
    guard fields.has("level") else {
      fields.mistake("level", "level is missing", expected: "a whole number, 0 for the ground floor")
      return nil
    }
    guard let level = fields.integer("level", in: Floor.levels) else { return nil }
    guard var draft = draft(fields, level: level, in: building) else { return nil }
    draft.floor.names = names(fields) + draft.floor.names
    if let plan = plan(fields) { draft.floor.plan = plan }
    readMaps(fields, into: &draft)
    readWalls(fields, into: &draft)
    var floor = draft.finished
    readPlaced(fields, into: &floor)
    return floor
  }

  /// The floor before anything is drawn on it.
  private mutating func draft(_ fields: SiteFields, level: Int, in building: Building) -> FloorDraft? {
    if let folder = fileName("surveyFolder", fields) {
      let reading = SurveyFolderReading(folder: folder, files: files, problems: problems)
      return reading.draft(level: level, shops: shops(fields))
    }
    if fields.has("shops") {
      fields.mistake("shops", "shops stands without surveyFolder", expected: "a surveyFolder, or no such key")
    }
    if let floor = building.floor(level) { return FloorDraft(floor) }
    let own = fields.fields("origin", known: ["latitude", "longitude"])
    guard let origin = own == nil ? origin : coordinate(own) else {
      if own == nil, !hasToldOfOrigin {
        hasToldOfOrigin = true
        fields.mistake(
          "origin",
          "nothing says where x = 0 and y = 0 are",
          expected: "origin: { latitude: …, longitude: … } of the venue, best its south-western corner"
        )
      }
      return nil
    }
    let plane = FloorPlane.ground(GroundPlane(origin: origin))
    return FloorDraft(Floor(level: level, plane: plane))
  }

  private func shops(_ fields: SiteFields) -> FloorDraft.Use {
    fields.parsed("shops", expected: "obstacle, room or walkable") { text in
      FloorDraft.Use(rawValue: text).flatMap { [.obstacle, .room, .walkable].contains($0) ? $0 : nil }
    } ?? .obstacle
  }

  private func names(_ fields: SiteFields) -> [String] {
    let more = fields.list("names", of: "names").compactMap { entry -> String? in
      if let text = entry.node.scalar?.string, !text.isEmpty { return text }
      fields.mistake("names", "a name is \(entry.node.sketch)", expected: "texts")
      return nil
    }
    return (fields.filledText("name", expected: "what people call the floor").map { [$0] } ?? []) + more
  }

  // MARK: The plan

  private func plan(_ fields: SiteFields) -> FloorPlan? {
    guard let plan = fields.fields("plan", known: VenueReading.planKeys) else { return nil }
    guard plan.has("image") else {
      plan.mistake("image", "image is missing", expected: "the file of the floor plan")
      return nil
    }
    guard let image = fileName("image", plan), let size = size(of: image, plan) else { return nil }
    let nodes = plan.list("anchors", of: "anchors")
    let anchors = nodes.compactMap { anchor($0.node, "\(plan.place): anchor \($0.index + 1)", $0.path) }
    guard anchors.count == nodes.count else { return nil }
    do throws(PlanAlignmentError) {
      let alignment = try PlanAlignment(anchors: anchors)
      return FloorPlan(image: image, width: size.width, height: size.height, alignment: alignment)
    } catch {
      plan.mistake("anchors", "\(error)")
      return nil
    }
  }

  private func anchor(_ node: Node, _ place: String, _ path: String) -> PlanAnchor? {
    let known = ["pixel", "latitude", "longitude"]
    guard let fields = SiteFields(node, place: place, path: path, known: known, problems: noted) else {
      return nil
    }
    let expected = "[x, y] in pixels from the upper left corner"
    if !fields.has("pixel") { fields.mistake("pixel", "pixel is missing", expected: expected) }
    let pixel = pair("pixel", fields, in: -1e6...1e6, expected: expected)
    guard let pixel, let coordinate = coordinate(fields) else { return nil }
    return PlanAnchor(pixel: Pixel(x: pixel.0, y: pixel.1), coordinate: coordinate)
  }

  /// Returns the size of the image from the file, or from the plan if the file does not contain it.
  private func size(of image: String, _ plan: SiteFields) -> (width: Int, height: Int)? {
    let width = plan.integer("width", in: ImageSize.sizes)
    let height = plan.integer("height", in: ImageSize.sizes)
    let head: [UInt8]
    do throws(VenueFiles.Failure) {
      head = try files.head(image, ImageSize.headLength)
    } catch {
      plan.mistake(
        "image",
        "\(image): \(VenueFiles.prose(error))",
        expected: "an image in the venue's folder"
      )
      return nil
    }
    if let found = ImageSize.png(head) {
      guard width ?? found.width == found.width, height ?? found.height == found.height else {
        plan.mistake(
          "width",
          "\(image) has \(found.width) × \(found.height) pixels, not \(width ?? found.width) × "
            + "\(height ?? found.height)",
          expected: "the size that anchors were set on, or no size"
        )
        return nil
      }
      return found
    }
    guard let width, let height else {
      plan.mistake(
        "image",
        "\(image) is no PNG, and does not tell its size",
        expected: "width and height in pixels"
      )
      return nil
    }
    return (width, height)
  }

  // MARK: What stands there

  /// Walls that are written into the YAML.
  private func readWalls(_ fields: SiteFields, into draft: inout FloorDraft) {
    for (index, path, node) in fields.list("walls", of: "walls") where !noted.isFull {
      let place = "\(fields.place): wall \(index + 1)"
      let known = ["from", "to", "attenuation"]
      guard let entry = SiteFields(node, place: place, path: path, known: known, problems: noted) else {
        continue
      }
      let expected = "[x, y] in metres east and north"
      for key in ["from", "to"] where !entry.has(key) {
        entry.mistake(key, "\(key) is missing", expected: expected)
      }
      let from = pair("from", entry, in: -30_000...30_000, expected: expected)
      let to = pair("to", entry, in: -30_000...30_000, expected: expected)
      let attenuation = attenuation(entry)
      guard let from, let to else { continue }
      let (start, end) = (Point(x: from.0, y: from.1), Point(x: to.0, y: to.1))
      draft.add(.lines([[start, end]]), as: .wall, name: "", attenuation: attenuation)
    }
  }

  private func attenuation(_ fields: SiteFields) -> Double {
    fields.number("attenuation", in: VenueReading.attenuations, unit: "dB") ?? FloorDraft.usualAttenuation
  }

  /// Shapes from GeoJSON files.
  private func readMaps(_ fields: SiteFields, into draft: inout FloorDraft) {
    for (index, path, node) in fields.list("map", of: "files") where !noted.isFull {
      let place = "\(fields.place): map \(index + 1)"
      let known = ["file", "as", "attenuation"]
      guard let entry = SiteFields(node, place: place, path: path, known: known, problems: noted) else {
        continue
      }
      let use = entry.parsed("as", expected: FloorDraft.Use.expected) { FloorDraft.Use(rawValue: $0) }
      let attenuation = attenuation(entry)
      guard use != nil || !entry.has("as") else { continue }
      guard entry.has("file") else {
        entry.mistake("file", "file is missing", expected: "a GeoJSON file")
        continue
      }
      guard let file = fileName("file", entry), let bytes = files.bytes(file, problems: problems) else {
        continue
      }
      guard let json = GeoJSON(bytes, file: file, problems: problems) else { continue }
      let layer = MapLayer(file: file, use: use, attenuation: attenuation, problems: problems)
      layer.draw(json.features, on: &draft)
    }
  }
}

extension VenueReading {
  /// The keys that say where something is.
  static let positionKeys = ["at", "pixel", "latitude", "longitude"]
  private static let positionExpected =
    "at: [x, y] in metres, pixel: [x, y] on the plan, or latitude and longitude"
  /// The allowed distances from the origin of the floor.
  ///
  /// - Units: metres.
  private static let meters = -30_000.0...30_000.0

  /// Returns the name of a file or folder inside the venue's folder.
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

  /// Returns the position of an entry on a floor, given in any of the allowed forms.
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
