import PharosPlaces
import PharosReports
import Yams

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

  /// How wide and high the image is: as the file says, and as the plan says where the file does not tell.
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
