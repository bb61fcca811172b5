import PharosPlaces
import PharosReports

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

  /// Rooms, walkways, shafts and what is solid.
  ///
  /// Where a level has units one walks in them, and not on the rest of the level.
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
      guard layer.draw(feature.named(name), geometry, as: use, on: &changed) else { return }
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
          point: feature.displayPoint.flatMap { changed.floor.plane.point(of: $0) } ?? area.outline.extent?
            .middle ?? .origin
        )
      )
    }
  }

  /// What stands about.
  mutating func readObstacles(_ name: String) {
    let layer = layer(name)
    for feature in features(name, isNeeded: false) ?? [] where !problems.isFull {
      guard let (level, draft) = draft(of: feature, layer), let geometry = feature.geometry else { continue }
      var changed = draft
      guard layer.draw(feature, geometry, as: .obstacle, on: &changed) else { return }
      drafts[level] = changed
    }
  }

  /// Doors, and those of them that lead outdoors.
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
        let middle = door.start.interpolated(to: door.end, share: 0.5)
        changed.floor.entrances.append(Entrance(identifier: name, point: middle))
      }
      drafts[level] = changed
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
