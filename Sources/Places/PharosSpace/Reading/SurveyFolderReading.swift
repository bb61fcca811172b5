import PharosDocuments
import PharosModel

/// A reader of a floor in the format of the open data set of the Indoor Location Competition 2.0.
///
/// A folder holds `floor_image.png`, `floor_info.json` (width and height of the image in metres) and
/// `geojson_map.json`, whose first feature is the outline of the floor and whose others are shops. Those with a name and
/// an id are places of interest too. The rectangle around the outline is the image's, and metres are counted from its
/// lower left corner.
struct SurveyFolderReading {
  let folder: String
  let files: VenueFiles
  let problems: DocumentProblems

  /// The allowed widths and heights of a floor.
  ///
  /// - Units: metres.
  private static let lengths = 1.0...10_000.0

  private func path(_ name: String) -> String { folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)" }

  /// Returns the floor; nil, with mistakes noted, if it cannot be read.
  func draft(level: Int, shops: FloorDraft.Use) -> FloorDraft? {
    let map = path("geojson_map.json")
    guard let (width, height) = size(),
      let features = GeoJSON(file: map, of: files, problems: problems)?.features
    else { return nil }
    let layer = MapLayer(file: map, use: shops, attenuation: FloorDraft.usualAttenuation, problems: problems)
    guard let outline = features.first, case .polygons = outline.geometry,
      let coordinates = outline.geometry?.positions, let box = Box(coordinates)
    else {
      problems.mistake(map, "the first feature is no outline", expected: "a polygon around the floor")
      return nil
    }
    guard
      let plane = MercatorPlane(
        southWest: box.southWest,
        northEast: box.northEast,
        width: width,
        height: height
      )
    else {
      layer.record(
        outline,
        "geometry.coordinates",
        "the outline has no width or height",
        expected: "a polygon"
      )
      return nil
    }
    var draft = FloorDraft(Floor(level: level, plane: .mercator(plane)))
    if let outline = outline.geometry { _ = layer.draw(features[0], outline, as: .walkable, on: &draft) }
    layer.draw(Array(features.dropFirst()), on: &draft)
    draft.floor.pointsOfInterest = features.dropFirst().compactMap { place($0, on: draft.floor.plane) }
    draft.floor.plan = plan(box)
    return draft
  }

  /// Returns the place that a shop is; nil for one without a name.
  private func place(_ shop: GeoJSON.Feature, on plane: FloorPlane) -> PointOfInterest? {
    guard !shop.name.isEmpty, let id = shop.text("id"), !id.isEmpty,
      let area = shop.geometry?.projected(on: plane)?.areas(named: shop.name).first,
      let point = area.innerPoint
    else { return nil }
    return PointOfInterest(identifier: id, name: shop.name, point: point, area: area)
  }

  private func size() -> (width: Double, height: Double)? {
    let name = path("floor_info.json")
    guard let bytes = files.bytes(name, problems: problems),
      let value = DocumentNode.parse(bytes, file: name, problems)
    else { return nil }
    let sizes = ["width", "height"].map { key -> Double? in
      let number = value["map_info"]?[key]?.double
      guard let number, SurveyFolderReading.lengths.contains(number) else {
        problems.mistake(name, "map_info.\(key) is missing or no length", expected: "1 to 10000 metres")
        return nil
      }
      return number
    }
    guard let width = sizes[0], let height = sizes[1] else { return nil }
    return (width, height)
  }

  /// Returns the image, which lies in the rectangle around the outline.
  private func plan(_ box: Box) -> FloorPlan? {
    let image = path("floor_image.png")
    let head: [UInt8]
    do throws(VenueFiles.Failure) {
      head = try files.head(image, ImageSize.headLength)
    } catch {
      problems.mistake(image, VenueFiles.prose(error), expected: "the image of the floor")
      return nil
    }
    guard let size = ImageSize.png(head) else {
      problems.mistake(image, "no PNG", expected: "the image of the floor")
      return nil
    }
    do throws(PlanAlignmentError) {
      let alignment = try PlanAlignment(anchors: [
        PlanAnchor(pixel: Pixel(x: 0, y: Double(size.height)), coordinate: box.southWest),
        PlanAnchor(pixel: Pixel(x: Double(size.width), y: 0), coordinate: box.northEast),
      ])
      return FloorPlan(image: image, width: size.width, height: size.height, alignment: alignment)
    } catch {
      problems.mistake(image, "\(error)")
      return nil
    }
  }
}

/// The rectangle around some coordinates.
private struct Box {
  let southWest: Coordinate
  let northEast: Coordinate

  init?(_ coordinates: [Coordinate]) {
    guard let west = coordinates.map(\.longitude).min(), let east = coordinates.map(\.longitude).max(),
      let south = coordinates.map(\.latitude).min(), let north = coordinates.map(\.latitude).max(),
      let low = Coordinate(latitude: south, longitude: west),
      let high = Coordinate(latitude: north, longitude: east)
    else { return nil }
    southWest = low
    northEast = high
  }
}

/// A reader of the size of an image from its first bytes.
enum ImageSize {
  /// The number of bytes that contain the size.
  static let headLength = 24

  /// Returns the size of a PNG in pixels; nil if the bytes are not the beginning of one.
  ///
  /// - Source: PNG specification (third edition), 5.2 and 11.2.1: signature, then the IHDR chunk.
  static func png(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    let header: [UInt8] = [0x49, 0x48, 0x44, 0x52]
    guard bytes.count >= headLength, bytes.starts(with: signature) else { return nil }
    guard Array(bytes[12..<16]) == header else { return nil }
    func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    let (width, height) = (number(at: 16), number(at: 20))
    guard sizes.contains(width), sizes.contains(height) else { return nil }
    return (width, height)
  }

  /// The allowed widths and heights of an image.
  ///
  /// - Units: pixels on a side.
  static let sizes = 1...100_000
}
