import PharosDocuments
import PharosModel

/// Reads the unpacked files of an IMDF archive: venue, buildings, levels, units, openings, fixtures, kiosks, amenities,
/// occupants with their anchors, addresses, and relationships.
///
/// - Source: Indoor Mapping Data Format 1.0.0, OGC 20-094.
struct IMDFReading {
  let folder: String
  let files: VenueFiles
  private let timeZones: KnownTimeZones
  let problems: DocumentProblems
  /// The place that has x = 0 and y = 0 on every floor: as given, else where the venue says that it is to be shown.
  private(set) var origin: Coordinate?
  private let roomsWithoutDoors: RoomsWithoutDoors
  /// The floors so far.
  private var drafts: [FloorID: FloorDraft] = [:]
  /// The floor of each level, by its identifier; levels of one building and number share a floor.
  private var floors: [String: FloorID] = [:]
  /// The people that each level is meant for, by its identifier: as it or its building states.
  private var accesses: [String: Access] = [:]
  /// The units that lead to other floors.
  private var shafts: [Shaft] = []
  /// The units by their identifiers.
  private var units: [String: Unit] = [:]
  /// The postal addresses by their identifiers.
  private var addresses: [String: String] = [:]
  /// The identifiers of the places, and of the units that lead to other floors, so far.
  private var identifiers: (places: Set<String>, shafts: Set<String>) = ([], [])

  /// A unit, as amenities, occupants and relationships refer to it.
  private struct Unit {
    let floor: FloorID
    let areas: [Area]

    /// The largest of its areas.
    var area: Area? { areas.max { $0.size < $1.size } }

    /// Returns whether a place lies in it or on its edge.
    func contains(_ point: Point) -> Bool {
      areas.contains { area in
        area.contains(point) || area.sides.contains { $0.distance(to: point) <= Unit.nearness }
      }
    }

    /// The distance from a unit up to which a point counts as lying in it.
    ///
    /// - Units: metres. Points on a wall are meant for the room beside it.
    private static let nearness = 0.3
  }

  /// A unit that leads to other floors.
  struct Shaft {
    let id: String
    let kind: Connector.Kind
    let floor: FloorID
    let area: Area
    /// Indicates whether a wheelchair can use it.
    let isAccessible: Bool
    /// The people that it is meant for.
    let access: Access
    /// The position of a person in it.
    let point: Point
  }

  /// The file that makes a folder an IMDF archive.
  static let levelFile = "level.geojson"
  private static let unitFile = "unit.geojson"
  /// The distance from the venue's shape beyond which its display point is taken for an error.
  ///
  /// - Units: metres.
  private static let farthestDisplayPoint = 5_000.0

  init(
    folder: String,
    origin: Coordinate?,
    roomsWithoutDoors: RoomsWithoutDoors = .closed,
    timeZones: KnownTimeZones,
    files: VenueFiles,
    problems: DocumentProblems
  ) {
    self.timeZones = timeZones
    self.folder = folder
    self.origin = origin
    self.roomsWithoutDoors = roomsWithoutDoors
    self.files = files
    self.problems = problems
  }

  /// Returns the path of a file of the archive.
  private func path(_ name: String) -> String {
    folder.isEmpty ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// Returns the venue; nil, with mistakes noted, if it cannot be read.
  ///
  /// Features that cannot be used are left out with a warning: one shop may not close the mall.
  mutating func venue() -> Venue? {
    guard let venueFeature = features("venue.geojson", isNeeded: true)?.first else {
      problems.mistake(path("venue.geojson"), "no venue", expected: "one feature of type venue")
      return nil
    }
    let levels = features(IMDFReading.levelFile, isNeeded: true) ?? []
    let unitFeatures = features(IMDFReading.unitFile) ?? []
    origin = origin ?? place(of: venueFeature, levels)
    guard let origin else {
      problems.mistake(path("venue.geojson"), "nothing says where the venue is", expected: "a display_point")
      return nil
    }
    var venue = Venue(identifier: venueFeature.id ?? "venue", name: venueFeature.name)
    readTimeZone(of: venueFeature, into: &venue)
    readAddresses()
    venue.address = address(of: venueFeature)
    let buildings = features("building.geojson") ?? []
    venue.buildings = buildings.map {
      var building = Building(identifier: $0.id ?? "building \($0.number)", name: $0.name)
      building.address = address(of: $0)
      return building
    }
    readAccess(of: levels, in: buildings)
    let withUnits = Set(unitFeatures.flatMap { $0.references("level_id") })
    readLevels(levels, withUnits: withUnits, into: &venue, plane: .ground(GroundPlane(origin: origin)))
    guard !drafts.isEmpty else { return nil }
    readUnits(unitFeatures)
    readObstacles("fixture.geojson")
    readObstacles("kiosk.geojson")
    readOpenings()
    readAmenities()
    readOccupants()
    for (id, draft) in drafts {
      guard let index = venue.buildings.firstIndex(where: { $0.identifier == id.building }) else { continue }
      venue.buildings[index].floors.append(draft.finished(roomsWithoutDoors: roomsWithoutDoors))
    }
    for index in venue.buildings.indices { venue.buildings[index].floors.sort { $0.level < $1.level } }
    venue.buildings.removeAll { $0.floors.isEmpty }
    venue.connectors = ShaftJoining(shafts, relationships: relationships()).connectors
    return venue
  }

  /// Reads the time zone of the venue: a member that IMDF does not have itself, as archives may add their own.
  private func readTimeZone(of feature: GeoJSON.Feature, into venue: inout Venue) {
    guard let name = feature.text("timeZone") ?? feature.text("time_zone"), !name.isEmpty else { return }
    guard let stated = timeZones.named(name) else {
      let message =
        "\"\(PlainText.cut(name, to: 60))\" is no time zone that this machine knows, and is ignored"
      layer("venue.geojson").warn(feature, "properties.timeZone", message, expected: LocalTime.exampleZone)
      return
    }
    venue.localTime = stated.stated
  }

  /// The features of a file; nil where there is none.
  private func features(_ name: String, isNeeded: Bool = false) -> [GeoJSON.Feature]? {
    let file = path(name)
    guard isNeeded || files.has(file) else { return nil }
    return GeoJSON(file: file, of: files, problems: problems, severity: .warning)?.features
  }

  /// Draws features of a file.
  private func layer(_ name: String) -> MapLayer {
    MapLayer(
      file: path(name),
      use: nil,
      attenuation: FloorDraft.usualAttenuation,
      problems: problems,
      severity: .warning
    )
  }

  /// The place of the venue: its display point, else the first position of its shape or of a level.
  private func place(of venue: GeoJSON.Feature, _ levels: [GeoJSON.Feature]) -> Coordinate? {
    let shape =
      venue.geometry?.positions.first ?? levels.lazy.compactMap { $0.geometry?.positions.first }.first
    guard let point = venue.displayPoint else { return shape ?? levels.lazy.compactMap(\.displayPoint).first }
    guard let shape, shape.distance(to: point) > IMDFReading.farthestDisplayPoint else { return point }
    layer("venue.geojson").warn(
      venue,
      "properties.display_point",
      "is far from the venue's shape and is ignored",
      expected: "a place in the venue"
    )
    return shape
  }

  // MARK: Levels

  /// Reads the people that levels are meant for.
  private mutating func readAccess(of levels: [GeoJSON.Feature], in buildings: [GeoJSON.Feature]) {
    let ofBuildings = Dictionary(
      buildings.compactMap { building in building.id.map { ($0, building.access) } }
    ) {
      first,
      _ in first
    }
    for level in levels {
      guard let id = level.id, accesses[id] == nil else { continue }
      accesses[id] = level.references("building_ids").compactMap { ofBuildings[$0] }.reduce(level.access, max)
    }
  }

  private mutating func readLevels(
    _ levels: [GeoJSON.Feature],
    withUnits: Set<String>,
    into venue: inout Venue,
    plane: FloorPlane
  ) {
    let layer = layer(IMDFReading.levelFile)
    var read: [(feature: GeoJSON.Feature, id: String, floor: FloorID)] = []
    for feature in levels where !problems.isFull {
      guard let id = feature.id, floors[id] == nil else {
        let message = feature.id == nil ? "no id" : "this id is already in use"
        layer.record(feature, "id", message, expected: "the level's identifier")
        continue
      }
      guard let ordinal = feature["ordinal"]?.wholeNumber, Floor.levels.contains(ordinal) else {
        let bounds = "\(Floor.levels.lowerBound) to \(Floor.levels.upperBound)"
        layer.record(
          feature,
          "properties.ordinal",
          "no floor's number",
          expected: "a whole number from \(bounds)"
        )
        continue
      }
      let floorID = FloorID(building: building(of: feature, in: &venue, layer), level: ordinal)
      if drafts[floorID] == nil {
        guard drafts.count < VenueFolder.maximumFloors else {
          layer.record(
            feature,
            "",
            "more than \(VenueFolder.maximumFloors) floors",
            expected: "at most so many"
          )
          continue
        }
        drafts[floorID] = FloorDraft(Floor(level: ordinal, plane: plane))
      }
      floors[id] = floorID
      read.append((feature, id, floorID))
    }
    nameFloors(read)
    drawLevels(read, withUnits: withUnits, layer)
    if drafts.isEmpty, !problems.hasMistakes {
      problems.mistake(path(IMDFReading.levelFile), "no level", expected: "one feature of type level or more")
    }
  }

  /// Gives the floors their names: an indoor level does where an outdoor level has the same number.
  private mutating func nameFloors(_ read: [(feature: GeoJSON.Feature, id: String, floor: FloorID)]) {
    for (feature, _, floor) in read.filter({ !$0.feature.isOutdoor }) + read.filter(\.feature.isOutdoor) {
      guard var draft = drafts[floor], !feature.isOutdoor || draft.floor.names.isEmpty else { continue }
      for name in [feature.name, feature.label("short_name")]
      where !name.isEmpty && !draft.floor.names.contains(name) {
        draft.floor.names.append(name)
      }
      drafts[floor] = draft
    }
  }

  /// Draws the outlines of the levels without units.
  private mutating func drawLevels(
    _ read: [(feature: GeoJSON.Feature, id: String, floor: FloorID)],
    withUnits: Set<String>,
    _ layer: MapLayer
  ) {
    let drawn = Set(withUnits.compactMap { floors[$0] })
    for (feature, id, floor) in read {
      // People walk in the units of a level that has some. The outline of the outdoors covers the buildings in it.
      guard !withUnits.contains(id), let geometry = feature.geometry else { continue }
      if feature.isOutdoor, drawn.contains(floor) {
        layer.warn(
          feature,
          "",
          "its outline is left out, because other levels of the floor have units",
          expected: "units for the outdoors"
        )
      } else if var draft = drafts[floor] {
        let count = draft.floor.walkable.count
        guard layer.draw(feature, geometry, as: .walkable, on: &draft) else { continue }
        draft.restrict(from: count, to: accesses[id] ?? .everyone)
        drafts[floor] = draft
      }
    }
  }

  /// The building that a level belongs to: the first that it names, else the only building, else one made for it.
  private func building(of level: GeoJSON.Feature, in venue: inout Venue, _ layer: MapLayer) -> String {
    let names = level.references("building_ids")
    if let id = names.first(where: { id in venue.buildings.contains { $0.identifier == id } }) { return id }
    if let name = names.first {
      layer.warn(
        level,
        "properties.building_ids",
        "there is no building \(PlainText.cut(name, to: 40))",
        expected: "ids of buildings of \(path("building.geojson"))"
      )
    }
    if level.isOutdoor, venue.buildings.count > 1 {
      let outdoors = "outdoors"
      if !venue.buildings.contains(where: { $0.identifier == outdoors }) {
        venue.buildings.append(
          Building(identifier: outdoors, name: level.name.isEmpty ? outdoors : level.name)
        )
      }
      return outdoors
    }
    if venue.buildings.isEmpty { venue.buildings = [Building(identifier: "main", name: venue.name)] }
    return venue.buildings[0].identifier
  }
}

extension GeoJSON.Feature {
  /// The identifiers that a property holds: one or a list.
  fileprivate func references(_ key: String) -> [String] {
    switch self[key] {
    case .array(let ids): ids.compactMap(GeoJSON.identifier)
    case let id?: GeoJSON.identifier(id).map { [$0] } ?? []
    case nil: []
    }
  }

  /// Indicates whether a level lies outdoors.
  fileprivate var isOutdoor: Bool { self["outdoor"] == .bool(true) }
}

extension IMDFReading {
  /// The categories of units that are obstacles.
  private static let solid: Set<String> = [
    "brick", "column", "concrete", "drywall", "glass", "opentobelow", "structure", "vegetation", "wood",
  ]
  /// Units without walls of their own.
  private static let open: Set<String> = [
    "escalator", "fieldofplay", "footbridge", "lobby", "movingwalkway", "opentobelow", "parking", "platform",
    "ramp",
    "road", "stairs", "steps", "terrace", "unenclosedarea", "unspecified", "vegetation", "walkway",
    "walkway.island",
  ]
  /// Units that lead to other floors.
  private static let kinds: [String: Connector.Kind] = [
    "elevator": .lift, "stairs": .stairs, "steps": .stairs, "escalator": .escalator, "ramp": .ramp,
  ]

  /// Reads the units: rooms, walkways, shafts and solid objects.
  private mutating func readUnits(_ features: [GeoJSON.Feature]) {
    let layer = layer(IMDFReading.unitFile)
    for feature in features where !problems.isFull {
      guard let (floor, draft) = draft(of: feature, layer) else { continue }
      var changed = draft
      guard let geometry = feature.geometry, case .polygons = geometry else {
        layer.record(feature, "geometry", "no polygon", expected: "the outline of the unit")
        continue
      }
      let category = feature.text("category") ?? "unspecified"
      let isSolid = IMDFReading.solid.contains(category)
      let use: FloorDraft.Use = isSolid ? .obstacle : IMDFReading.open.contains(category) ? .walkable : .room
      let name = feature.name.isEmpty ? category : feature.name
      let (before, solidBefore) = (changed.floor.walkable.count, changed.floor.obstacles.count)
      guard layer.draw(feature.named(name), geometry, as: use, on: &changed) else { return }
      // A lift that stops at a level for staff is not itself for staff: the level begins at its door.
      if IMDFReading.kinds[category] == nil, let level = feature.references("level_id").first {
        changed.restrict(from: before, to: accesses[level] ?? .everyone)
      }
      drafts[floor] = changed
      let drawn = changed.floor.walkable.dropFirst(before) + changed.floor.obstacles.dropFirst(solidBefore)
      let unit = Unit(floor: floor, areas: Array(drawn))
      guard let area = unit.area else { continue }
      // References to an identifier that several units bear mean the first one.
      if let id = feature.id, units[id] == nil { units[id] = unit }
      guard !isSolid else { continue }
      if !feature.name.isEmpty || category.hasPrefix("restroom") {
        addPlace(
          feature,
          category,
          at: feature.displayPoint,
          "properties.display_point",
          in: unit,
          area: area,
          address: address(of: feature),
          layer
        )
      }
      guard let kind = IMDFReading.kinds[category] else { continue }
      let shown = feature.displayPoint.flatMap { changed.floor.plane.point(of: $0) }
      let point = shown.flatMap { unit.contains($0) ? $0 : nil }
      guard addShaft(feature, kind, on: floor, area, at: point, layer) else { return }
    }
  }

  /// Adds the part of a lift or of stairs on a floor; returns false if there are too many.
  private mutating func addShaft(
    _ feature: GeoJSON.Feature,
    _ kind: Connector.Kind,
    on floor: FloorID,
    _ area: Area,
    at point: Point?,
    _ layer: MapLayer
  ) -> Bool {
    guard shafts.count < VenueFolder.maximumConnectors else {
      let limit = VenueFolder.maximumConnectors
      layer.record(
        feature,
        "properties.category",
        "more than \(limit) lifts and stairs",
        expected: "at most \(limit)"
      )
      return false
    }
    shafts.append(
      Shaft(
        id: identifier(of: feature, else: "unit", among: \.shafts, layer),
        kind: kind,
        floor: floor,
        area: area,
        isAccessible: kind.isStepFree && feature.isAccessible,
        access: feature.access,
        point: point ?? area.outline.extent?.middle ?? .origin
      )
    )
    return true
  }

  /// Reads the obstacles of a file.
  private mutating func readObstacles(_ name: String) {
    let layer = layer(name)
    for feature in features(name) ?? [] where !problems.isFull {
      guard let (floor, draft) = draft(of: feature, layer), let geometry = feature.geometry else { continue }
      var changed = draft
      guard layer.draw(feature, geometry, as: .obstacle, on: &changed) else { return }
      drafts[floor] = changed
    }
  }

  /// Reads doors, including those that lead outdoors.
  private mutating func readOpenings() {
    let layer = layer("opening.geojson")
    for feature in features("opening.geojson") ?? [] where !problems.isFull {
      guard let (floor, draft) = draft(of: feature, layer) else { continue }
      var changed = draft
      guard let geometry = feature.geometry, case .lines = geometry else {
        layer.record(feature, "geometry", "no line", expected: "the line of the door")
        continue
      }
      let count = changed.doors.count
      guard layer.draw(feature, geometry, as: .door, on: &changed) else { return }
      if feature.text("category")?.hasPrefix("pedestrian.principal") == true, changed.doors.count > count,
        changed.doors[count].access.isPassable
      {
        let door = changed.doors[count]
        let name = feature.name.isEmpty ? feature.id ?? "opening \(feature.number)" : feature.name
        let middle = door.segment.start.interpolated(to: door.segment.end, share: 0.5)
        changed.floor.entrances.append(Entrance(identifier: name, point: middle))
      }
      drafts[floor] = changed
    }
  }

  /// Reads the postal addresses, each in the order of its parts from the street to the country.
  private mutating func readAddresses() {
    for feature in features("address.geojson") ?? [] {
      guard let id = feature.id else { continue }
      let parts = [
        feature.label("address"), feature.label("unit"),
        [feature.label("postal_code"), feature.label("locality")].filter { !$0.isEmpty }
          .joined(separator: " "),
        feature.label("province").isEmpty ? feature.label("country") : feature.label("province"),
      ]
      let text = parts.filter { !$0.isEmpty }.joined(separator: ", ").cut(to: Caption.maximumAddress)
      if !text.isEmpty { addresses[id] = text }
    }
  }

  /// The postal address that a feature refers to; nil if it names none.
  private func address(of feature: GeoJSON.Feature) -> String? {
    feature.references("address_id").first.flatMap { addresses[$0] }
  }

  /// The words about a place: what IMDF says of it beside its name.
  ///
  /// `website` is the link; `alt_name` and `phone` become the properties `altName` and `phone`.
  private func caption(
    of feature: GeoJSON.Feature,
    address: String?,
    _ layer: MapLayer
  ) -> Caption {
    var caption = Caption(address: address)
    for (key, property) in [("alt_name", "altName"), ("phone", "phone")] {
      let text = feature.label(key).cut(to: Caption.maximumProperty)
      if text.contains(where: { !$0.isWhitespace }) { caption.properties[property] = text }
    }
    let website = feature.label("website")
    guard !website.isEmpty else { return caption }
    let whole = website.contains("://") ? website : "https://" + website
    caption.link = ValueForm<String>.webAddress.parsed(whole)
    if caption.link == nil {
      layer.warn(
        feature,
        "properties.website",
        "\"\(PlainText.cut(website, to: 60))\" is no web address and is left out",
        expected: ValueForm<String>.webAddress.expected
      )
    }
    return caption
  }

  /// Reads amenities: places with a point each, in the units that they name.
  private mutating func readAmenities() {
    let layer = layer("amenity.geojson")
    for feature in features("amenity.geojson") ?? [] where !problems.isFull {
      let named = feature.references("unit_ids").compactMap { units[$0] }
      guard let first = named.first else {
        layer.record(feature, "properties.unit_ids", "no unit", expected: "the ids of units of unit.geojson")
        continue
      }
      let point = feature.point
      let place = point.flatMap { drafts[first.floor]?.floor.plane.point(of: $0) }
      let unit = named.first { unit in place.map(unit.contains) ?? false } ?? first
      addPlace(
        feature,
        feature.text("category") ?? "",
        at: point,
        "geometry",
        in: unit,
        area: nil,
        address: address(of: feature),
        layer
      )
    }
  }

  /// Reads occupants, which stand at anchors in units.
  private mutating func readOccupants() {
    let anchorLayer = layer("anchor.geojson")
    var anchors: [String: (unit: Unit, point: Coordinate?, address: String?)] = [:]
    for feature in features("anchor.geojson") ?? [] where !problems.isFull {
      guard let id = feature.id else {
        anchorLayer.record(feature, "id", "no id", expected: "the id of the anchor")
        continue
      }
      guard let unit = feature.references("unit_id").first.flatMap({ units[$0] }) else {
        anchorLayer.record(
          feature,
          "properties.unit_id",
          "no unit",
          expected: "the id of a unit of unit.geojson"
        )
        continue
      }
      anchors[id] = (unit, feature.point, address(of: feature))
    }
    let layer = layer("occupant.geojson")
    for feature in features("occupant.geojson") ?? [] where !problems.isFull {
      guard let (unit, point, address) = feature.references("anchor_id").first.flatMap({ anchors[$0] }) else {
        let expected = "the id of an anchor of anchor.geojson"
        layer.record(feature, "properties.anchor_id", "no anchor", expected: expected)
        continue
      }
      let category = feature.text("category") ?? ""
      addPlace(
        feature,
        category,
        at: point,
        "the anchor's geometry",
        in: unit,
        area: unit.area,
        address: address,
        layer
      )
    }
  }

  /// Adds a place in a unit; a point of a field that lies outside of the unit is replaced by the middle of the unit.
  private mutating func addPlace(
    _ feature: GeoJSON.Feature,
    _ category: String,
    at coordinate: Coordinate?,
    _ field: String,
    in unit: Unit,
    area: Area?,
    address: String?,
    _ layer: MapLayer
  ) {
    guard let plane = drafts[unit.floor]?.floor.plane else { return }
    let given = coordinate.flatMap { plane.point(of: $0) }
    let inside = given.flatMap { unit.contains($0) ? $0 : nil }
    if coordinate != nil, inside == nil {
      layer.warn(
        feature,
        field,
        "lies outside of its unit; the middle of the unit is used",
        expected: "a place in the unit"
      )
    }
    guard let point = inside ?? unit.area?.innerPoint ?? given else { return }
    let identifier = identifier(of: feature, else: category, among: \.places, layer)
    let caption = caption(of: feature, address: address, layer)
    drafts[unit.floor]?.floor.pointsOfInterest.append(
      PointOfInterest(
        identifier: identifier,
        name: feature.name.isEmpty ? category : feature.name,
        category: category,
        point: point,
        area: area,
        isAccessible: feature.isAccessible,
        hours: layer.hours(of: feature),
        caption: caption
      )
    )
  }

  /// Returns the identifier of a feature; one that another feature of its kind bears already gets a number.
  private mutating func identifier(
    of feature: GeoJSON.Feature,
    else kind: String,
    among used: WritableKeyPath<(places: Set<String>, shafts: Set<String>), Set<String>>,
    _ layer: MapLayer
  ) -> String {
    let given = feature.id ?? "\(kind) \(feature.number)"
    guard !identifiers[keyPath: used].insert(given).inserted else { return given }
    var number = 2
    while !identifiers[keyPath: used].insert("\(given) \(number)").inserted { number += 1 }
    if feature.id != nil {
      let message = "this id is taken already; \"\(given) \(number)\" is used"
      layer.warn(feature, "id", message, expected: "each feature once")
    }
    return "\(given) \(number)"
  }

  /// Reads the relationships between units that lead to other floors.
  private func relationships() -> [ShaftJoining.Relationship] {
    let layer = layer("relationship.geojson")
    return (features("relationship.geojson") ?? []).compactMap { feature in
      let category = feature.text("category") ?? ""
      guard IMDFReading.kinds[category] != nil else { return nil }
      let between: [JSONValue] = if case .array(let values) = feature["intermediary"] { values } else { [] }
      let ends = [feature["origin"]] + between + [feature["destination"]]
      let ids = ends.compactMap { $0?["id"].flatMap(GeoJSON.identifier) }
      let levels = ids.compactMap { units[$0]?.floor.level }
      var direction = Connector.Direction.both
      if feature.text("direction") == "directed", let first = levels.first, let last = levels.last,
        first != last
      {
        direction = first < last ? .up : .down
      }
      return ShaftJoining.Relationship(
        units: ids,
        direction: direction,
        hours: layer.hours(of: feature),
        access: feature.access
      )
    }
  }

  /// The floor that a feature lies on, as far as it is drawn.
  private func draft(of feature: GeoJSON.Feature, _ layer: MapLayer) -> (floor: FloorID, draft: FloorDraft)? {
    guard let level = feature.references("level_id").first else {
      layer.record(feature, "properties.level_id", "no level", expected: "the id of a level")
      return nil
    }
    guard let floor = floors[level], let draft = drafts[floor] else {
      layer.record(
        feature,
        "properties.level_id",
        "there is no level \(PlainText.cut(level, to: 40))",
        expected: "the id of a level of \(path(IMDFReading.levelFile))"
      )
      return nil
    }
    return (floor, draft)
  }
}

extension String {
  /// Its first Unicode scalars.
  fileprivate func cut(to length: Int) -> String {
    String(String.UnicodeScalarView(unicodeScalars.prefix(length)))
  }
}

extension GeoJSON.Feature {
  /// The first point of a shape of points.
  fileprivate var point: Coordinate? {
    guard case .points(let points) = geometry else { return nil }
    return points.first
  }

  /// The same under a name.
  fileprivate func named(_ name: String) -> GeoJSON.Feature {
    GeoJSON.Feature(
      number: number,
      id: id,
      properties: [JSONValue.Member(name: "name", value: .string(name))] + properties,
      geometry: geometry
    )
  }
}

/// Joins the units of an IMDF archive that lie over each other into connectors.
///
/// A lift joins every floor on which there is a lift at its place; stairs, escalators and ramps join a floor with the next
/// one above it. Two shafts are one where the middle of either lies in the other, or where a relationship names both.
struct ShaftJoining {
  /// The connectors, in the order of the shafts.
  let connectors: [Connector]

  /// A relationship of category `elevator`, `stairs`, `escalator` or `ramp`.
  struct Relationship {
    /// The identifiers of its origin, intermediary units and destination.
    let units: [String]
    let direction: Connector.Direction
    let hours: OpeningHours?
    let access: Access
  }

  init(_ shafts: [IMDFReading.Shaft], relationships: [Relationship] = []) {
    var groups = JoinedSets(count: shafts.count)
    for upper in shafts.indices {
      for lower in 0..<upper where ShaftJoining.areOne(shafts[upper], shafts[lower]) {
        groups.join(lower, upper)
      }
    }
    let numbers = Dictionary(zip(shafts.map(\.id), shafts.indices)) { first, _ in first }
    for relationship in relationships {
      let named = relationship.units.compactMap { numbers[$0] }
      for (one, other) in zip(named, named.dropFirst()) where shafts[one].kind == shafts[other].kind {
        groups.join(one, other)
      }
    }
    var traits: [Int: Relationship] = [:]
    for relationship in relationships {
      for unit in relationship.units {
        if let number = numbers[unit] { traits[groups.root(of: number)] = relationship }
      }
    }
    var members: [Int: [IMDFReading.Shaft]] = [:]
    for index in shafts.indices { members[groups.root(of: index), default: []].append(shafts[index]) }
    connectors = members.keys.sorted().compactMap { key in
      guard let joined = members[key], let first = joined.first else { return nil }
      let stops = joined.map { Connector.Stop(floor: $0.floor, point: $0.point) }
      var connector = Connector(
        identifier: first.id,
        kind: first.kind,
        stops: stops.sorted { $0.floor < $1.floor },
        direction: traits[key]?.direction ?? .both,
        isAccessible: joined.allSatisfy(\.isAccessible),
        hours: traits[key]?.hours
      )
      // Where it stops for fewer people than elsewhere, the edge of its unit keeps the others from getting out.
      connector.access = max(joined.map(\.access).min() ?? .everyone, traits[key]?.access ?? .everyone)
      return connector
    }
  }

  private static func areOne(_ one: IMDFReading.Shaft, _ other: IMDFReading.Shaft) -> Bool {
    guard one.kind == other.kind, one.floor.building == other.floor.building else { return false }
    let rise = (one.floor.level - other.floor.level).magnitude
    guard rise > 0, one.kind == .lift || rise == 1 else { return false }
    return one.area.contains(other.point) || other.area.contains(one.point)
  }
}
