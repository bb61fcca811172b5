import PharosPlaces
import PharosReports
import Yams

/// Reads one `venue.yaml` and the files that it names.
struct VenueReading {
  let files: VenueFiles
  let noted: SiteProblems
  let problems: VenueProblems
  /// Reads identities by the rules of the site file.
  let identities: SiteReading
  /// The place that has x = 0 and y = 0 on every floor that says nothing else.
  var origin: Coordinate?
  /// Whether the missing origin has been told of.
  var hasToldOfOrigin = false
  /// How many things have been placed.
  var placedCount = 0
  /// How many floors there are.
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
