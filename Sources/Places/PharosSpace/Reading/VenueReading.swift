import PharosDocuments
import PharosModel

/// A reader of one `venue.yaml` and the files that it names.
struct VenueReading {
  let files: VenueFiles
  private let timeZones: KnownTimeZones
  let problems: DocumentProblems
  /// The place that has x = 0 and y = 0 on every floor that says nothing else.
  var origin: Coordinate?
  /// How people come into rooms that no door leads into.
  private var roomsWithoutDoors = RoomsWithoutDoors.closed
  /// Indicates whether the missing origin has been reported.
  var hasReportedOrigin = false
  /// The number of placed beacons, observers, access points and entrances.
  var placedCount = 0
  /// The number of floors.
  var floorCount = 0
  /// The identifiers of the places so far.
  private var placeIDs: Set<String> = []

  init(files: VenueFiles, timeZones: KnownTimeZones, problems: DocumentProblems) {
    self.files = files
    self.timeZones = timeZones
    self.problems = problems
  }

  private static let keys = [
    "id", "name", "origin", "imdf", "roomsWithoutDoors", "timeZone", "utcOffset", "geoidHeight",
    "buildings", "connectors", "address",
  ]
  private static let originKeys = ["latitude", "longitude"]

  mutating func venue(of root: DocumentNode) -> Venue? {
    guard let fields = DocumentFields(root, place: "venue", known: VenueReading.keys, problems: problems)
    else {
      return nil
    }
    let id = fields.requiredText("id", expected: "the venue's name in events")
    let name = fields.text("name")
    origin = fields.fields("origin", known: VenueReading.originKeys).flatMap { $0.coordinate() }
    var venue = Venue(identifier: id ?? "", name: name ?? id ?? "")
    let stated = localTime(fields)
    if let stated { venue.localTime = stated }
    venue.geoidHeight = fields.value("geoidHeight", .number(in: Venue.geoidHeights, unit: "m"))
    roomsWithoutDoors = fields.value("roomsWithoutDoors", .word(RoomsWithoutDoors.allCases)) ?? .closed
    venue.hasOpenRooms = roomsWithoutDoors == .open
    venue.address = fields.value("address", .postalAddress)
    if let folder = fields.fileName("imdf") {
      var reading = IMDFReading(
        folder: folder,
        origin: origin,
        roomsWithoutDoors: roomsWithoutDoors,
        timeZones: timeZones,
        files: files,
        problems: problems
      )
      if let read = reading.venue() {
        venue.buildings = read.buildings
        venue.connectors = read.connectors
        if name == nil { venue.name = read.name }
        if stated == nil { venue.localTime = read.localTime }
        venue.address = venue.address ?? read.address
        origin = origin ?? reading.origin
        placeIDs = Set(read.floors.flatMap { $0.floor.pointsOfInterest.map(\.identifier) })
      }
    }
    let known = ["id", "name", "floors", "address"]
    for entry in fields.entries("buildings", known: known, place: { $0.name("building", $1) })
    where !problems.isFull {
      building(entry, into: &venue)
    }
    if venue.buildings.isEmpty {
      fields.mistake("buildings", "no building", expected: "buildings, or the folder of an IMDF archive")
    }
    connectors(fields, into: &venue)
    return venue
  }

  /// The local time that the venue states; nil if it states none.
  private func localTime(_ fields: DocumentFields) -> LocalTime? {
    if fields.has("timeZone"), fields.has("utcOffset") {
      fields.mistake(
        "utcOffset",
        "timeZone and utcOffset both say the local time",
        expected: "timeZone alone"
      )
    }
    if let name = fields.filledText("timeZone", expected: LocalTime.exampleZone) {
      guard let stated = timeZones.named(name) else {
        fields.mistake(
          "timeZone",
          "timeZone is \"\(PlainText.cut(name, to: 60))\", which is no time zone that this machine knows",
          expected: LocalTime.exampleZone
        )
        return nil
      }
      return stated.stated
    }
    return fields.value("utcOffset", .utcOffset).map { LocalTime(utcOffset: $0).stated }
  }

  private mutating func building(_ fields: DocumentFields, into venue: inout Venue) {
    let id = fields.requiredText("id", expected: "the building's name") ?? ""
    let found = venue.buildings.firstIndex { $0.identifier == id || $0.name == id }
    var building = found.map { venue.buildings[$0] } ?? Building(identifier: id)
    if let name = fields.text("name") { building.name = name } else if found == nil { building.name = id }
    if let address = fields.value("address", .postalAddress) { building.address = address }
    var seen: Set<Int> = []
    let entries = fields.entries("floors", known: VenueReading.floorKeys) { node, index in
      "\(fields.place): floor \(PlainText.cut(node["level"]?.scalar ?? "\(index + 1)", to: 20))"
    }
    for entry in entries where !problems.isFull {
      guard let floor = floor(entry, in: building) else { continue }
      if !seen.insert(floor.level).inserted {
        problems.mistake(
          "\(entry.place) is listed already",
          line: entry.line,
          field: entry.path,
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

  private mutating func connectors(_ fields: DocumentFields, into venue: inout Venue) {
    var seen = Set(venue.connectors.map(\.identifier))
    let known = ["id", "kind", "direction", "accessible", "hours", "stops"]
    for entry in fields.entries("connectors", known: known, place: { $0.name("connector", $1) }) {
      guard venue.connectors.count < VenueFolder.maximumConnectors else {
        let limit = VenueFolder.maximumConnectors
        fields.mistake("connectors", "more than \(limit) connectors", expected: "at most \(limit)")
        return
      }
      let kind = entry.required("kind", .word([Connector.Kind.stairs, .lift, .escalator, .ramp]))
      guard let id = entry.requiredText("id", expected: "the connector's name") else { continue }
      if !seen.insert(id).inserted {
        entry.mistake("id", "this id is already in use", expected: "each connector once")
      }
      let stopKeys = ["building", "level"] + DocumentFields.positionKeys
      let stops = entry.entries("stops", known: stopKeys, place: { _, _ in "\(entry.place): stop" })
        .compactMap { stop($0, venue) }
      let direction = entry.value("direction", .word(Connector.Direction.allCases)) ?? .both
      let isAccessible = entry.value("accessible", .flag)
      let hours = entry.value("hours", .openingHours)
      guard let kind else { continue }
      venue.connectors.append(
        Connector(
          identifier: id,
          kind: kind,
          stops: stops,
          direction: direction,
          isAccessible: isAccessible,
          hours: hours
        )
      )
    }
  }

  private func stop(_ fields: DocumentFields, _ venue: Venue) -> Connector.Stop? {
    let level = fields.required("level", .integer(in: Floor.levels), expected: "the floor's number")
    guard let level else { return nil }
    let only = venue.buildings.count == 1 ? venue.buildings[0].identifier : nil
    guard let name = fields.text("building") ?? only else {
      fields.mistake("building", "building is missing", expected: "one of the venue's buildings")
      return nil
    }
    let building = venue.buildings.first { $0.identifier == name || $0.name == name }
    guard let floor = building?.floor(level) else {
      let hint = Spelling.hint(for: name, among: venue.buildings.map(\.identifier))
      fields.mistake(
        building == nil ? "building" : "level",
        building == nil
          ? "building \"\(name)\" is none of the venue's\(hint)" : "\"\(name)\" has no level \(level)",
        expected: building == nil ? "one of its buildings" : "one of its floors"
      )
      return nil
    }
    guard let building, let point = fields.position(on: floor) else { return nil }
    return Connector.Stop(floor: FloorID(building: building.identifier, level: level), point: point)
  }
}

extension VenueReading {
  private static let floorKeys = [
    "level", "name", "names", "altitude", "origin", "plan", "surveyFolder", "shops", "map", "walls",
    "entrances",
    "beacons", "observers", "accessPoints", "places",
  ]

  /// Reads one floor: a new one, or one that is merged into a floor of an IMDF archive.
  private mutating func floor(_ fields: DocumentFields, in building: Building) -> Floor? {
    floorCount += 1
    guard floorCount <= VenueFolder.maximumFloors else {
      fields.mistake("", "more than \(VenueFolder.maximumFloors) floors", expected: "at most so many")
      return nil
    }
    let expected = "a whole number, 0 for the ground floor"
    guard let level = fields.required("level", .integer(in: Floor.levels), expected: expected),
      var draft = draft(fields, level: level, in: building)
    else { return nil }
    let name = fields.filledText("name", expected: "what people call the floor")
    draft.floor.names =
      (name.map { [$0] } ?? []) + fields.values("names", of: "names", .filled("texts")) + draft.floor.names
    if let altitude = fields.value("altitude", .number(in: Floor.altitudes, unit: "m")) {
      draft.floor.altitude = altitude
    }
    if let plan = plan(fields) { draft.floor.plan = plan }
    readMaps(fields, into: &draft)
    readWalls(fields, into: &draft)
    var floor = draft.finished(roomsWithoutDoors: roomsWithoutDoors)
    readPlaced(fields, into: &floor)
    return floor
  }

  /// The floor before anything is drawn on it.
  private mutating func draft(_ fields: DocumentFields, level: Int, in building: Building) -> FloorDraft? {
    if let folder = fields.fileName("surveyFolder") {
      let reading = SurveyFolderReading(folder: folder, files: files, problems: problems)
      var draft = reading.draft(
        level: level,
        shops: fields.value("shops", .word([.obstacle, .room, .walkable])) ?? .obstacle
      )
      // Two floors may be drawn from one file; their shops have the same ids.
      draft?.floor.pointsOfInterest.removeAll { !placeIDs.insert($0.identifier).inserted }
      return draft
    }
    if fields.has("shops") {
      fields.mistake("shops", "shops is set without surveyFolder", expected: "a surveyFolder, or no such key")
    }
    if let floor = building.floor(level) { return FloorDraft(floor) }
    let own = fields.fields("origin", known: VenueReading.originKeys)
    guard let origin = own == nil ? origin : own?.coordinate() else {
      if own == nil, !hasReportedOrigin {
        hasReportedOrigin = true
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

  // MARK: The plan

  private func plan(_ fields: DocumentFields) -> FloorPlan? {
    guard let plan = fields.fields("plan", known: ["image", "width", "height", "anchors"]) else { return nil }
    guard plan.has("image") else {
      plan.mistake("image", "image is missing", expected: "the file of the floor plan")
      return nil
    }
    guard let image = plan.fileName("image"), let size = size(of: image, plan) else { return nil }
    let count = plan.list("anchors", of: "anchors").count
    let anchors = plan.entries("anchors", known: ["pixel", "latitude", "longitude"]) {
      "\(plan.place): anchor \($1 + 1)"
    }.compactMap(anchor)
    guard anchors.count == count else { return nil }
    do throws(PlanAlignmentError) {
      let alignment = try PlanAlignment(anchors: anchors)
      return FloorPlan(image: image, width: size.width, height: size.height, alignment: alignment)
    } catch {
      plan.mistake("anchors", "\(error)")
      return nil
    }
  }

  private func anchor(_ fields: DocumentFields) -> PlanAnchor? {
    let pixel = fields.required("pixel", .pixel("[x, y] in pixels from the upper left corner"))
    guard let pixel, let coordinate = fields.coordinate() else { return nil }
    return PlanAnchor(pixel: pixel, coordinate: coordinate)
  }

  /// Returns the size of the image from the file, or from the plan if the file does not contain it.
  private func size(of image: String, _ plan: DocumentFields) -> (width: Int, height: Int)? {
    let width = plan.value("width", .integer(in: ImageSize.sizes))
    let height = plan.value("height", .integer(in: ImageSize.sizes))
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
  private func readWalls(_ fields: DocumentFields, into draft: inout FloorDraft) {
    let known = ["from", "to", "attenuation"]
    for entry in fields.entries("walls", known: known, place: { "\(fields.place): wall \($1 + 1)" }) {
      let from = entry.required("from", .point)
      let to = entry.required("to", .point)
      let attenuation = entry.attenuation
      guard let from, let to else { continue }
      draft.add(.lines([[from, to]]), as: .wall, name: "", attenuation: attenuation)
    }
  }

  /// Shapes from GeoJSON files.
  private func readMaps(_ fields: DocumentFields, into draft: inout FloorDraft) {
    let known = ["file", "as", "attenuation"]
    let entries = fields.entries("map", of: "files", known: known) { "\(fields.place): map \($1 + 1)" }
    for entry in entries where !problems.isFull {
      let use = entry.value("as", .word(FloorDraft.Use.allCases))
      let attenuation = entry.attenuation
      guard use != nil || !entry.has("as") else { continue }
      guard entry.has("file") else {
        entry.mistake("file", "file is missing", expected: "a GeoJSON file")
        continue
      }
      guard let file = entry.fileName("file"),
        let json = GeoJSON(file: file, of: files, problems: problems)
      else { continue }
      let layer = MapLayer(file: file, use: use, attenuation: attenuation, problems: problems)
      layer.draw(json.features, on: &draft)
    }
  }

  /// Everything that is placed on a floor.
  private mutating func readPlaced(_ fields: DocumentFields, into floor: inout Floor) {
    for (entry, point) in placed("entrances", ["id"], fields, floor) {
      let id = entry.text("id") ?? "entrance \(floor.entrances.count + 1)"
      floor.entrances.append(Entrance(identifier: id, point: point))
    }
    for (entry, point) in placed("beacons", DocumentFields.identityKeys, fields, floor) {
      if let beacon = entry.beacon { floor.beacons.append(PlacedBeacon(beacon, at: point)) }
    }
    for (entry, point) in placed("observers", ["id"], fields, floor) {
      if let id = entry.requiredObserver("id") { floor.observers.append(PlacedObserver(id, at: point)) }
    }
    for (entry, point) in placed("accessPoints", ["bssid"], fields, floor) {
      guard entry.has("bssid") else {
        entry.mistake("bssid", "bssid is missing", expected: "six octets in quotes")
        continue
      }
      if let bssid = entry.address("bssid") { floor.accessPoints.append(PlacedAccessPoint(bssid, at: point)) }
    }
    readPlaces(fields, into: &floor)
  }

  /// The places that people look for.
  private mutating func readPlaces(_ fields: DocumentFields, into floor: inout Floor) {
    let keys =
      ["id", "name", "category", "room", "accessible", "hours"] + DocumentFields.positionKeys
      + DocumentField.keys(Caption.members)
    for entry in fields.entries("places", known: keys, place: { "\(fields.place): \($0.name("place", $1))" })
    {
      guard isRoomLeft("places", fields) else { return }
      let id = entry.requiredText("id", expected: "the place's name in requests")
      let name = entry.filledText("name", expected: "what people call the place")
      let category = entry.filledText("category", expected: "a kind of place, as in restroom or foodservice")
      let isAccessible = entry.value("accessible", .flag) ?? true
      let hours = entry.value("hours", .openingHours)
      var caption = Caption()
      DocumentField.read(Caption.members, of: entry, into: &caption)
      var area: Area?
      if let room = entry.filledText("room", expected: "the name of a room or an obstacle of this floor") {
        let named = (floor.walkable + floor.obstacles).filter { !$0.name.isEmpty }
        area = named.first { $0.name == room }
        if area == nil {
          let hint = Spelling.hint(for: room, among: named.map(\.name))
          let message = "the floor has no room \"\(PlainText.cut(room, to: 60))\"\(hint)"
          entry.mistake("room", message, expected: "the name of a feature in one of the floor's maps")
          continue
        }
      }
      let isPlaced = DocumentFields.positionKeys.contains(where: entry.has)
      guard let point = !isPlaced && area != nil ? area?.innerPoint : entry.position(on: floor) else {
        continue
      }
      guard let id else { continue }
      if !placeIDs.insert(id).inserted {
        entry.mistake("id", "this id is already in use", expected: "each place of the venue once")
      }
      floor.pointsOfInterest.append(
        PointOfInterest(
          identifier: id,
          name: name ?? id,
          category: category ?? "",
          point: point,
          area: area,
          isAccessible: isAccessible,
          hours: hours,
          caption: caption
        )
      )
    }
  }

  /// Counts a placed thing, and returns whether there may be so many.
  private mutating func isRoomLeft(_ key: String, _ fields: DocumentFields) -> Bool {
    placedCount += 1
    guard placedCount > VenueFolder.maximumPlaced else { return true }
    let limit = VenueFolder.maximumPlaced
    fields.mistake(key, "more than \(limit) things in the venue", expected: "at most \(limit)")
    return false
  }

  /// The entries of a list that say where they are.
  private mutating func placed(
    _ key: String,
    _ known: [String],
    _ fields: DocumentFields,
    _ floor: Floor
  ) -> [(entry: DocumentFields, point: Point)] {
    var found: [(DocumentFields, Point)] = []
    let keys = known + DocumentFields.positionKeys
    for entry in fields.entries(key, known: keys, place: { "\(fields.place): \(key) \($1 + 1)" }) {
      guard isRoomLeft(key, fields) else { break }
      if let point = entry.position(on: floor) { found.append((entry, point)) }
    }
    return found
  }
}

extension DocumentFields {
  /// The keys that say where something is.
  fileprivate static let positionKeys = ["at", "pixel", "latitude", "longitude"]

  /// Returns the name of a file or folder inside the venue's folder.
  fileprivate func fileName(_ key: String) -> String? {
    guard let name = filledText(key, expected: "a path in the venue's folder") else { return nil }
    guard RelativePath.isInside(name) else {
      mistake(
        key,
        "\(key) is \"\(PlainText.cut(name, to: 60))\"",
        expected: "a path inside of the venue's folder, without \"..\""
      )
      return nil
    }
    return name
  }

  /// The attenuation of walls, in dB.
  fileprivate var attenuation: Double {
    value("attenuation", .number(in: 0...100, unit: "dB")) ?? FloorDraft.usualAttenuation
  }

  /// Returns a latitude and a longitude, both of which must be there.
  fileprivate func coordinate() -> Coordinate? {
    let latitude = required("latitude", .number(in: -90...90, unit: "degrees"))
    let longitude = required("longitude", .number(in: -180...180, unit: "degrees"))
    guard let latitude, let longitude else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  /// Returns the position of an entry on a floor, given in any of the allowed forms.
  fileprivate func position(on floor: Floor) -> Point? {
    let allowed = "at: [x, y] in metres, pixel: [x, y] on the plan, or latitude and longitude"
    let said = ["at", "pixel"].filter(has)
    let isOnEarth = has("latitude") || has("longitude")
    guard said.count + (isOnEarth ? 1 : 0) == 1 else {
      let found = said.isEmpty && !isOnEarth ? "nothing says where it is" : "two ways to say where it is"
      mistake(said.first ?? "", found, expected: allowed)
      return nil
    }
    if isOnEarth {
      guard let coordinate = coordinate() else { return nil }
      guard let point = floor.plane.point(of: coordinate) else {
        mistake("latitude", "\(coordinate) is far from its floor", expected: "a place in the venue")
        return nil
      }
      return point
    }
    if has("at") { return value("at", .point) }
    guard let pixel = value("pixel", .pixel("[x, y] in pixels of the plan")) else { return nil }
    guard let point = floor.point(of: pixel) else {
      let problem =
        floor.plan == nil ? "a pixel, and the floor has no plan" : "a pixel far outside of the plan"
      mistake("pixel", problem, expected: allowed)
      return nil
    }
    return point
  }

  /// The identity of one beacon, whole: a hanging beacon is one, not many.
  fileprivate var beacon: BeaconID? {
    let address = address("mac")
    if let key = text("key"), key != "mac" || !has("mac") {
      mistake("key", "key is \"\(PlainText.cut(key, to: 40))\"", expected: "mac, beside a mac")
    }
    let id: BeaconID?
    switch (has("uuid"), has("namespace")) {
    case (true, true):
      mistake("namespace", "uuid and namespace are both set", expected: "one of them")
      return nil
    case (true, false): id = proximity
    case (false, true): id = eddystone
    case (false, false):
      guard !has("mac") else { return address.map { .address($0) } }
      mistake("", "nothing says which beacon hangs here", expected: "uuid, major and minor, or a mac")
      return nil
    }
    return has("mac") ? address.flatMap { id?.keyed(by: $0) } : id
  }

  private var proximity: BeaconID? {
    let uuid = value("uuid", .uuid)
    let expected = "the number of the one beacon that hangs here"
    let major = required("major", .integer(in: 0...UInt16.max), expected: expected)
    let minor = required("minor", .integer(in: 0...UInt16.max), expected: expected)
    guard let uuid, let major, let minor else { return nil }
    return .proximity(uuid, major: major, minor: minor)
  }

  private var eddystone: BeaconID? {
    let namespace = value("namespace", .namespace)
    let instance = required("instance", .instance)
    guard let namespace, let instance else { return nil }
    return .eddystone(namespace, instance: instance)
  }
}

extension ValueForm where Value == String {
  /// A postal address.
  fileprivate static var postalAddress: Self { .lines(upTo: Caption.maximumAddress) }
}

extension ValueForm where Value == Point {
  /// A place on a floor, at most 30 km from its origin.
  fileprivate static var point: Self {
    pair(in: -30_000...30_000, expected: "[x, y] in metres east and north") { Point(x: $0, y: $1) }
  }
}

extension ValueForm where Value == Int {
  /// A difference of local time from UTC, in minutes.
  fileprivate static var utcOffset: Self {
    ValueForm(expected: "local time minus UTC in quotes, as in \"+01:00\" or \"-05:30\"") { text in
      let digits = text.utf8.map { Int($0) - Int(UInt8(ascii: "0")) }
      guard digits.count == 6, let sign = ["+": 1, "-": -1][text.prefix(1)], text.dropFirst(3).first == ":"
      else { return nil }
      let numbers = [digits[1], digits[2], digits[4], digits[5]]
      guard numbers.allSatisfy((0...9).contains) else { return nil }
      let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
      guard hours <= 14, minutes < 60 else { return nil }
      return sign * (hours * 60 + minutes)
    }
  }
}

extension ValueForm where Value == Pixel {
  /// A place in an image.
  fileprivate static func pixel(_ expected: String) -> Self {
    pair(in: -1e6...1e6, expected: expected) { Pixel(x: $0, y: $1) }
  }
}
