import PharosPlaces
import PharosReports

/// Reads the unpacked files of an IMDF archive: venue, buildings, levels, units, openings, fixtures and kiosks.
///
/// - Source: Indoor Mapping Data Format 1.0.0, OGC 20-094.
struct IMDFReading {
  let folder: String
  let files: VenueFiles
  let problems: VenueProblems
  /// The place that has x = 0 and y = 0 on every floor: as given, else where the venue says that it is to be shown.
  private(set) var origin: Coordinate?
  /// The floors by the identifiers of their levels.
  var drafts: [String: FloorDraft] = [:]
  /// The building and number of each level.
  var floors: [String: FloorID] = [:]
  /// Whether a level has units.
  var levelsWithUnits: Set<String> = []
  /// The units that lead to other floors.
  var shafts: [Shaft] = []

  /// A unit that leads to other floors.
  struct Shaft {
    let id: String
    let kind: Connector.Kind
    let floor: FloorID
    let area: Area
    /// Where one stands in it.
    let point: Point
  }

  /// The file that makes a folder an IMDF archive.
  static let levelFile = "level.geojson"

  init(folder: String, origin: Coordinate?, files: VenueFiles, problems: VenueProblems) {
    self.folder = folder
    self.origin = origin
    self.files = files
    self.problems = problems
  }

  /// Where a file of the archive is.
  func path(_ name: String) -> String {
    folder.isEmpty ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// The venue; nil, with mistakes noted, where it cannot be read.
  mutating func venue() -> Venue? {
    guard let venueFeature = features("venue.geojson", isNeeded: true)?.first else {
      problems.mistake(path("venue.geojson"), "no venue", expected: "one feature of type venue")
      return nil
    }
    origin = origin ?? venueFeature.displayPoint ?? venueFeature.geometry?.coordinates.first
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
    for (level, draft) in drafts {
      guard let id = floors[level] else { continue }
      guard let index = venue.buildings.firstIndex(where: { $0.identifier == id.building }) else { continue }
      venue.buildings[index].floors.append(draft.finished)
    }
    for index in venue.buildings.indices { venue.buildings[index].floors.sort { $0.level < $1.level } }
    venue.buildings.removeAll { $0.floors.isEmpty }
    venue.connectors = ShaftJoining(shafts).connectors
    return venue
  }

  /// The features of a file; nil where there is none.
  func features(_ name: String, isNeeded: Bool) -> [GeoJSON.Feature]? {
    let file = path(name)
    guard isNeeded || files.has(file) else { return nil }
    guard let bytes = files.bytes(file, problems: problems) else { return nil }
    return GeoJSON(bytes, file: file, problems: problems)?.features
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
  /// Where a feature is to be shown.
  var displayPoint: Coordinate? {
    guard let value = self["display_point"], case .points(let points) = try? GeoJSON.Geometry(value) else {
      return nil
    }
    return points.first
  }

  /// A text in English where there are several languages; empty if there is none.
  func label(_ key: String) -> String {
    switch self[key] {
    case .string(let text): text
    case .object(let labels):
      labels.first { $0.name == "en" }?.value.string ?? labels.lazy.compactMap(\.value.string).first ?? ""
    default: ""
    }
  }
}
