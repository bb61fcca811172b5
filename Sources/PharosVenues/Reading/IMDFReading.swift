import PharosModel

/// Reads the unpacked files of an IMDF archive: venue, buildings, levels, units, openings, fixtures, kiosks, amenities,
/// occupants with their anchors, and relationships.
///
/// - Source: Indoor Mapping Data Format 1.0.0, OGC 20-094.
struct IMDFReading {
  let folder: String
  let files: VenueFiles
  let problems: DocumentProblems
  /// The place that has x = 0 and y = 0 on every floor: as given, else where the venue says that it is to be shown.
  private(set) var origin: Coordinate?
  /// The floors by the identifiers of their levels.
  var drafts: [String: FloorDraft] = [:]
  /// The building and number of each level.
  var floors: [String: FloorID] = [:]
  /// The levels that have units.
  var levelsWithUnits: Set<String> = []
  /// The units that lead to other floors.
  var shafts: [Shaft] = []
  /// The units by their identifiers.
  var units: [String: Unit] = [:]

  /// A unit, as amenities, occupants and relationships refer to it.
  struct Unit {
    /// The identifier of its level.
    let level: String
    let area: Area
  }

  /// A unit that leads to other floors.
  struct Shaft {
    let id: String
    let kind: Connector.Kind
    let floor: FloorID
    let area: Area
    /// Indicates whether a wheelchair can use it.
    let isAccessible: Bool
    /// The position of a person in it.
    let point: Point
  }

  /// The file that makes a folder an IMDF archive.
  static let levelFile = "level.geojson"

  init(folder: String, origin: Coordinate?, files: VenueFiles, problems: DocumentProblems) {
    self.folder = folder
    self.origin = origin
    self.files = files
    self.problems = problems
  }

  /// Returns the path of a file of the archive.
  func path(_ name: String) -> String {
    folder.isEmpty ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// Returns the venue; nil, with mistakes noted, if it cannot be read.
  mutating func venue() -> Venue? {
    guard let venueFeature = features("venue.geojson", isNeeded: true)?.first else {
      problems.mistake(path("venue.geojson"), "no venue", expected: "one feature of type venue")
      return nil
    }
    origin = origin ?? venueFeature.displayPoint ?? venueFeature.geometry?.positions.first
    guard let origin else {
      problems.mistake(path("venue.geojson"), "nothing says where the venue is", expected: "a display_point")
      return nil
    }
    var venue = Venue(identifier: venueFeature.id ?? "venue", name: venueFeature.name)
    venue.buildings = (features("building.geojson", isNeeded: false) ?? []).map {
      Building(identifier: $0.id ?? "building \($0.number)", name: $0.name)
    }
    readLevels(into: &venue, plane: .ground(GroundPlane(origin: origin)))
    guard !drafts.isEmpty else { return nil }
    readUnits()
    readObstacles("fixture.geojson")
    readObstacles("kiosk.geojson")
    readOpenings()
    readAmenities()
    readOccupants()
    for (level, draft) in drafts.sorted(by: { $0.key < $1.key }) {
      guard let id = floors[level] else { continue }
      guard let index = venue.buildings.firstIndex(where: { $0.identifier == id.building }) else { continue }
      venue.buildings[index].floors.append(draft.finished)
    }
    for index in venue.buildings.indices { venue.buildings[index].floors.sort { $0.level < $1.level } }
    venue.buildings.removeAll { $0.floors.isEmpty }
    venue.connectors = ShaftJoining(shafts, relationships: relationships()).connectors
    return venue
  }

  /// The features of a file; nil where there is none.
  func features(_ name: String, isNeeded: Bool) -> [GeoJSON.Feature]? {
    let file = path(name)
    guard isNeeded || files.has(file) else { return nil }
    return GeoJSON(file: file, of: files, problems: problems)?.features
  }

  /// Draws features of a file.
  func layer(_ name: String) -> MapLayer {
    MapLayer(
      file: path(name),
      use: nil,
      attenuation: FloorDraft.usualAttenuation,
      problems: problems
    )
  }

  // MARK: Levels

  private mutating func readLevels(into venue: inout Venue, plane: FloorPlane) {
    let layer = layer(IMDFReading.levelFile)
    for feature in features(IMDFReading.levelFile, isNeeded: true) ?? [] where !problems.isFull {
      guard let id = feature.id else {
        layer.note(feature, "id", "no id", expected: "the level's identifier")
        continue
      }
      guard case .integer(let ordinal) = feature["ordinal"], Floor.levels.contains(Int(clamping: ordinal))
      else {
        let bounds = "\(Floor.levels.lowerBound) to \(Floor.levels.upperBound)"
        layer.note(
          feature,
          "properties.ordinal",
          "no floor's number",
          expected: "a whole number from \(bounds)"
        )
        continue
      }
      guard drafts.count < VenueFolder.mostFloors else {
        layer.note(feature, "", "more than \(VenueFolder.mostFloors) levels", expected: "at most so many")
        return
      }
      let building = building(of: feature, in: &venue)
      let floorID = FloorID(building: building, level: Int(ordinal))
      guard !floors.values.contains(floorID) else {
        layer.note(feature, "properties.ordinal", "floor \(floorID) is there already", expected: "each once")
        continue
      }
      let names = [feature.name, feature.label("short_name")].filter { !$0.isEmpty }
      var draft = FloorDraft(Floor(level: Int(ordinal), names: names, plane: plane))
      if let geometry = feature.geometry {
        guard layer.draw(feature, geometry, as: .walkable, on: &draft) else { continue }
      }
      drafts[id] = draft
      floors[id] = floorID
    }
    if drafts.isEmpty, !problems.hasMistakes {
      problems.mistake(path(IMDFReading.levelFile), "no level", expected: "one feature of type level or more")
    }
  }

  /// The building that a level belongs to: the first that it names, else the first there is, else one made for it.
  private func building(of level: GeoJSON.Feature, in venue: inout Venue) -> String {
    if case .array(let ids) = level["building_ids"] {
      for case .string(let id) in ids where venue.buildings.contains(where: { $0.identifier == id }) {
        return id
      }
    }
    if venue.buildings.isEmpty { venue.buildings = [Building(identifier: "main", name: venue.name)] }
    return venue.buildings[0].identifier
  }
}

extension GeoJSON.Feature {
  /// The position at which to show a feature.
  var displayPoint: Coordinate? {
    guard let value = self["display_point"], case .points(let points) = try? GeoJSON.Geometry(value) else {
      return nil
    }
    return points.first
  }

  /// Returns a text without control characters, in English if there are several languages; empty if there is none.
  func label(_ key: String) -> String {
    let text: String? =
      if case .object(let labels) = self[key] {
        labels.first { $0.name == "en" }?.value.string ?? labels.lazy.compactMap(\.value.string).first
      } else {
        self[key]?.string
      }
    return text.map(PlainText.clean) ?? ""
  }
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
  ///
  /// If a level has units, people walk in them and not on the rest of the level.
  mutating func readUnits() {
    let layer = layer("unit.geojson")
    for feature in features("unit.geojson", isNeeded: false) ?? [] where !problems.isFull {
      guard let (level, draft) = draft(of: feature, layer) else { continue }
      var changed = draft
      guard let geometry = feature.geometry, case .polygons = geometry else {
        layer.note(feature, "geometry", "no polygon", expected: "the outline of the unit")
        continue
      }
      let category = feature.text("category") ?? "unspecified"
      if levelsWithUnits.insert(level).inserted { changed.floor.walkable = [] }
      let isSolid = IMDFReading.solid.contains(category)
      let use: FloorDraft.Use = isSolid ? .obstacle : IMDFReading.open.contains(category) ? .walkable : .room
      let name = feature.name.isEmpty ? category : feature.name
      let (before, solidBefore) = (changed.floor.walkable.count, changed.floor.obstacles.count)
      guard layer.draw(feature.named(name), geometry, as: use, on: &changed) else { return }
      let drawn = (changed.floor.walkable.dropFirst(before) + changed.floor.obstacles.dropFirst(solidBefore))
        .first
      if let drawn, let id = feature.id { units[id] = Unit(level: level, area: drawn) }
      if let drawn, !isSolid, !feature.name.isEmpty || category.hasPrefix("restroom") {
        changed.addPlace(
          feature,
          category: category,
          at: feature.displayPoint,
          area: drawn,
          hours: layer.hours(of: feature, severity: .warning)
        )
      }
      drafts[level] = changed
      guard let kind = IMDFReading.kinds[category], let floor = floors[level] else { continue }
      guard shafts.count < VenueFolder.mostConnectors else {
        let limit = VenueFolder.mostConnectors
        layer.note(
          feature,
          "properties.category",
          "more than \(limit) lifts and stairs",
          expected: "at most \(limit)"
        )
        return
      }
      guard let area = changed.floor.walkable.last else { continue }
      shafts.append(
        Shaft(
          id: feature.id ?? "unit \(feature.number)",
          kind: kind,
          floor: floor,
          area: area,
          isAccessible: kind.isStepFree && feature.isAccessible,
          point: feature.displayPoint.flatMap { changed.floor.plane.point(of: $0) } ?? area.outline.extent?
            .middle ?? .origin
        )
      )
    }
  }

  /// Reads the obstacles of a file.
  mutating func readObstacles(_ name: String) {
    let layer = layer(name)
    for feature in features(name, isNeeded: false) ?? [] where !problems.isFull {
      guard let (level, draft) = draft(of: feature, layer), let geometry = feature.geometry else { continue }
      var changed = draft
      guard layer.draw(feature, geometry, as: .obstacle, on: &changed) else { return }
      drafts[level] = changed
    }
  }

  /// Reads doors, including those that lead outdoors.
  mutating func readOpenings() {
    let layer = layer("opening.geojson")
    for feature in features("opening.geojson", isNeeded: false) ?? [] where !problems.isFull {
      guard let (level, draft) = draft(of: feature, layer) else { continue }
      var changed = draft
      guard let geometry = feature.geometry, case .lines = geometry else {
        layer.note(feature, "geometry", "no line", expected: "the line of the door")
        continue
      }
      let count = changed.doors.count
      guard layer.draw(feature, geometry, as: .door, on: &changed) else { return }
      if feature.text("category")?.hasPrefix("pedestrian.principal") == true, changed.doors.count > count {
        let door = changed.doors[count]
        let name = feature.name.isEmpty ? feature.id ?? "opening \(feature.number)" : feature.name
        let middle = door.segment.start.interpolated(to: door.segment.end, share: 0.5)
        changed.floor.entrances.append(Entrance(identifier: name, point: middle))
      }
      drafts[level] = changed
    }
  }

  /// Reads amenities: places with a point each, in the units that they name.
  private mutating func readAmenities() {
    let layer = layer("amenity.geojson")
    for feature in features("amenity.geojson", isNeeded: false) ?? [] where !problems.isFull {
      guard case .points(let points) = feature.geometry, let point = points.first else {
        layer.note(feature, "geometry", "no point", expected: "the place of the amenity")
        continue
      }
      guard case .array(let ids) = feature["unit_ids"],
        let unit = ids.compactMap({ $0.string.flatMap { units[$0] } }).first
      else {
        layer.note(feature, "properties.unit_ids", "no unit", expected: "the ids of units of unit.geojson")
        continue
      }
      addPlace(feature, in: unit, at: point, area: nil, layer)
    }
  }

  /// Reads occupants, which stand at anchors in units.
  private mutating func readOccupants() {
    let anchorLayer = layer("anchor.geojson")
    var anchors: [String: (unit: Unit, point: Coordinate)] = [:]
    for feature in features("anchor.geojson", isNeeded: false) ?? [] where !problems.isFull {
      guard let id = feature.id, case .points(let points) = feature.geometry, let point = points.first else {
        anchorLayer.note(
          feature,
          "geometry",
          "no id or no point",
          expected: "an id and the place of the anchor"
        )
        continue
      }
      guard let unit = feature.text("unit_id").flatMap({ units[$0] }) else {
        anchorLayer.note(
          feature,
          "properties.unit_id",
          "no unit",
          expected: "the id of a unit of unit.geojson"
        )
        continue
      }
      anchors[id] = (unit, point)
    }
    let layer = layer("occupant.geojson")
    for feature in features("occupant.geojson", isNeeded: false) ?? [] where !problems.isFull {
      guard let anchor = feature.text("anchor_id").flatMap({ anchors[$0] }) else {
        let expected = "the id of an anchor of anchor.geojson"
        layer.note(feature, "properties.anchor_id", "no anchor", expected: expected)
        continue
      }
      addPlace(feature, in: anchor.unit, at: anchor.point, area: anchor.unit.area, layer)
    }
  }

  private mutating func addPlace(
    _ feature: GeoJSON.Feature,
    in unit: Unit,
    at point: Coordinate,
    area: Area?,
    _ layer: MapLayer
  ) {
    drafts[unit.level]?.addPlace(
      feature,
      category: feature.text("category") ?? "",
      at: point,
      area: area,
      hours: layer.hours(of: feature, severity: .warning)
    )
  }

  /// Reads the relationships between units that lead to other floors.
  private func relationships() -> [ShaftJoining.Relationship] {
    let layer = layer("relationship.geojson")
    return (features("relationship.geojson", isNeeded: false) ?? []).compactMap { feature in
      let category = feature.text("category") ?? ""
      guard IMDFReading.kinds[category] != nil else { return nil }
      let between: [JSONValue] = if case .array(let values) = feature["intermediary"] { values } else { [] }
      let ends = [feature["origin"]] + between + [feature["destination"]]
      let ids = ends.compactMap { $0?["id"]?.string }
      let levels = ids.compactMap { units[$0].flatMap { floors[$0.level]?.level } }
      var direction = Connector.Direction.both
      if feature.text("direction") == "directed", let first = levels.first, let last = levels.last,
        first != last
      {
        direction = first < last ? .up : .down
      }
      return ShaftJoining.Relationship(
        units: ids,
        direction: direction,
        hours: layer.hours(of: feature, severity: .warning)
      )
    }
  }

  /// The level that a feature lies on, and its floor so far.
  private func draft(of feature: GeoJSON.Feature, _ layer: MapLayer) -> (level: String, draft: FloorDraft)? {
    guard let level = feature.text("level_id") else {
      layer.note(feature, "properties.level_id", "no level", expected: "the id of a level")
      return nil
    }
    guard let draft = drafts[level] else {
      layer.note(
        feature,
        "properties.level_id",
        "there is no level \(PlainText.cut(level, to: 40))",
        expected: "the id of a level of \(path(IMDFReading.levelFile))"
      )
      return nil
    }
    return (level, draft)
  }
}

extension GeoJSON.Feature {
  /// The same under a name.
  fileprivate func named(_ name: String) -> GeoJSON.Feature {
    GeoJSON.Feature(
      number: number,
      id: id,
      properties: [JSONValue.Member(name: "name", value: .string(name))],
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
  }

  init(_ shafts: [IMDFReading.Shaft], relationships: [Relationship] = []) {
    var group = Array(shafts.indices)
    func root(_ index: Int) -> Int {
      var index = index
      while group[index] != index { index = group[index] }
      return index
    }
    for upper in shafts.indices {
      for lower in 0..<upper where ShaftJoining.areOne(shafts[upper], shafts[lower]) {
        let (first, second) = (root(lower), root(upper))
        group[max(first, second)] = min(first, second)
      }
    }
    let numbers = Dictionary(zip(shafts.map(\.id), shafts.indices)) { first, _ in first }
    for relationship in relationships {
      let named = relationship.units.compactMap { numbers[$0] }
      for (one, other) in zip(named, named.dropFirst()) where shafts[one].kind == shafts[other].kind {
        let (first, second) = (root(one), root(other))
        group[max(first, second)] = min(first, second)
      }
    }
    var traits: [Int: Relationship] = [:]
    for relationship in relationships {
      for unit in relationship.units { if let number = numbers[unit] { traits[root(number)] = relationship } }
    }
    var members: [Int: [IMDFReading.Shaft]] = [:]
    for index in shafts.indices { members[root(index), default: []].append(shafts[index]) }
    connectors = members.keys.sorted().compactMap { key in
      guard let joined = members[key], let first = joined.first else { return nil }
      let stops = joined.map { Connector.Stop(floor: $0.floor, point: $0.point) }
      return Connector(
        identifier: first.id,
        kind: first.kind,
        stops: stops.sorted { $0.floor < $1.floor },
        direction: traits[key]?.direction ?? .both,
        isAccessible: joined.allSatisfy(\.isAccessible),
        hours: traits[key]?.hours
      )
    }
  }

  private static func areOne(_ one: IMDFReading.Shaft, _ other: IMDFReading.Shaft) -> Bool {
    guard one.kind == other.kind, one.floor.building == other.floor.building else { return false }
    let rise = (one.floor.level - other.floor.level).magnitude
    guard rise > 0, one.kind == .lift || rise == 1 else { return false }
    return one.area.contains(other.point) || other.area.contains(one.point)
  }
}

extension FloorDraft {
  /// Adds a place of interest.
  ///
  /// - Parameters:
  ///   - feature: its feature, which gives the identifier, the name and the accessibility.
  ///   - category: its category in the words of IMDF.
  ///   - coordinate: its point; nil for one inside of its area.
  ///   - area: the area that it covers.
  ///   - hours: its opening hours.
  fileprivate mutating func addPlace(
    _ feature: GeoJSON.Feature,
    category: String,
    at coordinate: Coordinate?,
    area: Area?,
    hours: OpeningHours?
  ) {
    guard let point = coordinate.flatMap({ floor.plane.point(of: $0) }) ?? area?.innerPoint else { return }
    let id = feature.id ?? "\(category) \(feature.number)"
    floor.pointsOfInterest.append(
      PointOfInterest(
        identifier: id,
        name: feature.name.isEmpty ? category : feature.name,
        category: category,
        point: point,
        area: area,
        isAccessible: feature.isAccessible,
        hours: hours
      )
    )
  }
}
