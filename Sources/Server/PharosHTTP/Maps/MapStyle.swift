import Foundation
import PharosDocuments
import PharosMaps
import PharosModel
import PharosSpace

/// The vector tiles of a venue as TileJSON describes them, and a style that draws one level of them.
///
/// - Source: TileJSON 3.0.0; MapLibre Style Specification, version 8.
struct MapStyle {
  let venue: Venue
  /// The address of this server as the client has it, without a slash at its end.
  let server: String

  private var path: String { "\(server)/v1/venues/\(PercentCoding.encode(segment: venue.identifier))" }

  /// The rectangle around the venue in degrees: west, south, east, north; nil for a venue without extent.
  private var bounds: [Double]? {
    venue.floors.compactMap { VenueDocuments.bounds(of: $0.floor) }.reduce(nil) { known, next in
      guard let known else { return next }
      return [min(known[0], next[0]), min(known[1], next[1]), max(known[2], next[2]), max(known[3], next[3])]
    }
  }

  /// The middle of the venue, and the zoom at which a view of 1024 pixels shows all of it.
  private var center: (longitude: Double, latitude: Double, zoom: Double)? {
    guard let bounds, let corner = Coordinate(latitude: bounds[1], longitude: bounds[0]),
      let opposite = Coordinate(latitude: bounds[3], longitude: bounds[2]),
      let rect = MapRect(around: [corner, opposite].compactMap(MapPoint.init))
    else { return nil }
    let side = max(rect.width, rect.height, MapTile.side(at: MapTile.zooms.upperBound))
    // The whole map is 512 pixels wide at zoom 0.
    let zoom = log2(2 * MapPoint.worldSize / side)
    let limits = Double(VectorTile.zooms.lowerBound)...Double(MapTile.zooms.upperBound)
    return (
      (bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2,
      min(max(zoom, limits.lowerBound), limits.upperBound)
    )
  }

  /// The levels of the venue, the lowest first.
  var levels: [Int] { Set(venue.floors.map(\.id.level)).sorted() }

  /// The level that is drawn where none is asked for: that nearest to the ground floor.
  var groundLevel: Int {
    levels.min { ($0.magnitude, -$0) < ($1.magnitude, -$1) } ?? 0
  }

  /// The members of the TileJSON object.
  static let tileMembers: [DocumentField<MapStyle>] = [
    .always("tilejson", .text(.words(["3.0.0"]))) { _ in "3.0.0" },
    .always("name", .text) { $0.name },
    .always("scheme", .text(.words(["xyz"]))) { _ in "xyz" },
    DocumentField(writing: [.required("tiles", .list(.text, 1...))]) { style, json in
      json.strings("tiles", ["\(style.path)/vector/{z}/{x}/{y}.mvt"])
    },
    .always("minzoom", .integer) { _ in VectorTile.zooms.lowerBound },
    .always("maxzoom", .integer) { _ in VectorTile.zooms.upperBound },
    DocumentField(writing: [.optional("bounds", .list(.number, 4...4))]) { style, json in
      guard let bounds = style.bounds else { return }
      json.openArray("bounds")
      for degrees in bounds { json.element(degrees, decimals: JSONText.degreeDecimals) }
      json.closeArray()
    },
    DocumentField(writing: [.optional("center", .list(.number, 3...3))]) { style, json in
      guard let center = style.center else { return }
      json.openArray("center")
      json.element(center.longitude, decimals: JSONText.degreeDecimals)
      json.element(center.latitude, decimals: JSONText.degreeDecimals)
      json.element(min(Int(center.zoom), VectorTile.zooms.upperBound))
      json.closeArray()
    },
    .always("vector_layers", .list(.object(MapStyle.layerMembers))) { _ in VectorTile.venueLayers },
  ]

  private static let layerMembers: [DocumentField<VectorTile.Layer>] = [
    .always("id", .text) { $0.name },
    DocumentField(
      writing: [
        .required("fields", .anyObject, "The properties of features, each with the name of its type.")
      ]
    ) { layer, json in
      json.openObject("fields")
      for field in layer.fields { json.member(named: field.name, field.type) }
      json.closeObject()
    },
  ]

  /// The name of the venue, else its identifier.
  private var name: String { venue.name.isEmpty ? venue.identifier : venue.name }

  /// The font of names where the address of glyphs is given and no font, which most servers of glyphs have.
  static let usualFont = "Noto Sans Regular"
  /// The name of the font that the server has itself.
  static let ownFont = "Pharos Sans"

  /// Writes the members of the style.
  ///
  /// - Parameters:
  ///   - level: the level that the layers show.
  ///   - labels: the address of glyphs and a font for names; nil for those of the server.
  ///   - json: the text.
  func write(level: Int, labels: (glyphs: String, font: String)?, to json: inout JSONText) {
    json.member("version", 8)
    json.member("name", name)
    json.openObject("metadata")
    json.member("pharos:level", level)
    json.openArray("pharos:levels")
    for level in levels { json.element(level) }
    json.closeArray()
    json.closeObject()
    if let center {
      json.openArray("center")
      json.element(center.longitude, decimals: JSONText.degreeDecimals)
      json.element(center.latitude, decimals: JSONText.degreeDecimals)
      json.closeArray()
      json.member("zoom", center.zoom, decimals: 2)
    }
    json.openObject("sources")
    json.openObject("venue")
    json.member("type", "vector")
    json.member("url", "\(path)/tiles.json")
    json.closeObject()
    json.closeObject()
    json.member("glyphs", labels?.glyphs ?? "\(server)/v1/fonts/{fontstack}/{range}.pbf")
    json.openArray("layers")
    json.openObject()
    json.member("id", "background")
    json.member("type", "background")
    json.openObject("paint")
    json.member("background-color", "#f5f5f1")
    json.closeObject()
    json.closeObject()
    for layer in MapStyle.layers { layer.write(level: level, to: &json) }
    MapStyle.writeLabels(labels?.font ?? MapStyle.ownFont, level: level, to: &json)
    json.closeArray()
  }

  private static func writeLabels(_ font: String, level: Int, to json: inout JSONText) {
    json.openObject()
    json.member("id", "names")
    json.member("type", "symbol")
    json.member("source", "venue")
    json.member("source-layer", "places")
    Layer.write(level: level, kind: nil, to: &json)
    json.openObject("layout")
    json.openArray("text-field")
    json.element("get")
    json.element("name")
    json.closeArray()
    json.openArray("text-font")
    json.element(font)
    json.closeArray()
    json.member("text-size", 12)
    json.member("text-anchor", "top")
    json.openArray("text-offset")
    json.element(0)
    json.element(0.6, decimals: 1)
    json.closeArray()
    json.closeObject()
    json.openObject("paint")
    json.member("text-color", "#1b2328")
    json.member("text-halo-color", "#ffffff")
    json.member("text-halo-width", 1)
    json.closeObject()
    json.closeObject()
  }

  /// The layers in the colours of the tiles that the server draws itself.
  private static let layers = [
    Layer("walkable", "fill", "areas", kind: "walkable", [("fill-color", .color("#ffffff"))]),
    Layer("obstacles", "fill", "obstacles", [("fill-color", .color("#eceeea"))]),
    Layer("rooms", "fill", "areas", kind: "place", [("fill-color", .color("#e0eef2"))]),
    Layer("room-outlines", "line", "areas", kind: "place", [("line-color", .color("#d9dcd8"))]),
    Layer("walls", "line", "walls", [("line-color", .color("#848d93")), ("line-width", .number(1.5))]),
    Layer(
      "doors",
      "line",
      "doors",
      kind: "door",
      [("line-color", .color("#53606a")), ("line-width", .number(2))]
    ),
    Layer(
      "entrances",
      "circle",
      "doors",
      kind: "entrance",
      [
        ("circle-radius", .number(4)), ("circle-color", .color("#ffffff")),
        ("circle-stroke-color", .color("#1f6a45")), ("circle-stroke-width", .number(2)),
      ]
    ),
    Layer(
      "connectors",
      "circle",
      "connectors",
      [
        ("circle-radius", .number(5)), ("circle-color", .color("#f5f5f1")),
        ("circle-stroke-color", .color("#1b2328")), ("circle-stroke-width", .number(1.5)),
      ]
    ),
    Layer(
      "places",
      "circle",
      "places",
      [
        ("circle-radius", .number(3)), ("circle-color", .color("#0d5c75")),
        ("circle-stroke-color", .color("#ffffff")), ("circle-stroke-width", .number(1)),
      ]
    ),
  ]

  /// A layer of the style.
  private struct Layer {
    enum Value {
      case color(String)
      case number(Double)
    }

    let id: String
    let type: String
    let source: String
    let kind: String?
    let paint: [(name: StaticString, value: Value)]

    init(
      _ id: String,
      _ type: String,
      _ source: String,
      kind: String? = nil,
      _ paint: [(StaticString, Value)]
    ) {
      self.id = id
      self.type = type
      self.source = source
      self.kind = kind
      self.paint = paint.map { (name: $0.0, value: $0.1) }
    }

    func write(level: Int, to json: inout JSONText) {
      json.openObject()
      json.member("id", id)
      json.member("type", type)
      json.member("source", "venue")
      json.member("source-layer", source)
      Layer.write(level: level, kind: kind, to: &json)
      json.openObject("paint")
      for (name, value) in paint {
        switch value {
        case .color(let color): json.member(name, color)
        case .number(let number): json.member(name, number)
        }
      }
      json.closeObject()
      json.closeObject()
    }

    /// Writes the filter of a level; it is always the second element, so that clients can put another level in its place.
    static func write(level: Int, kind: String?, to json: inout JSONText) {
      json.openArray("filter")
      json.element("all")
      json.comparison(of: "level") { $0.element(level) }
      if let kind { json.comparison(of: "kind") { $0.element(kind) } }
      json.closeArray()
    }
  }
}

extension JSONText {
  /// Writes the expression that compares a property with a value.
  fileprivate mutating func comparison(of property: String, _ value: (inout JSONText) -> Void) {
    openArray()
    element("==")
    openArray()
    element("get")
    element(property)
    closeArray()
    value(&self)
    closeArray()
  }
}

extension Schema {
  static let tileJSON = Schema.object(MapStyle.tileMembers).named("TileJSON")

  static let mapStyle = Schema.object([
    .required("version", .integers([8])),
    .required("name", .text),
    .required(
      "metadata",
      .object([
        .required("pharos:level", .integer),
        .required("pharos:levels", .list(.integer)),
      ])
    ),
    .optional("center", .list(.number, 2...2)),
    .optional("zoom", .number),
    .required("sources", .anyObject),
    .required("glyphs", .text),
    .required("layers", .list(.anyObject, 1...)),
  ]).described("MapLibre Style Specification, version 8.").named("MapStyle")
}
