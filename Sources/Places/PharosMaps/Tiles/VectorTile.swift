public import PharosSpace

/// The vector tile of a floor: its shapes with their names, for clients that draw by themselves.
///
/// The layers are `areas`, `obstacles`, `walls`, `doors`, `connectors`, `places` and `routes`; one without features is
/// left out. Coordinates are 4096 to a tile's side; shapes reach ``buffer`` over its edges, so that strokes join.
///
/// - Source: Mapbox Vector Tile Specification 2.1.
public struct VectorTile {
  /// A stored route as it is drawn on one floor.
  public struct RouteLine: Hashable, Sendable {
    /// The identifier of the route.
    public var identifier: String
    /// Its corners, in the places of the ``MappedFloor``.
    public var line: [Point]

    /// Makes a line.
    public init(identifier: String, line: [Point]) {
      self.identifier = identifier
      self.line = line
    }
  }

  /// The units on a tile's side.
  public static let extent = 4096
  /// The units that shapes may reach over a tile's edge.
  public static let buffer = 64

  /// The zooms at which tiles are made for a whole venue.
  ///
  /// At the smallest one a tile of 512 pixels shows 19 m a pixel, less than a house; at the largest one a unit of
  /// ``extent`` is 2 cm, and clients enlarge what they have.
  public static let zooms = 12...19

  /// A layer of tiles, with the properties that its features may have.
  public struct Layer: Sendable {
    /// The name.
    public let name: String
    /// The names of the properties, and those of their types in TileJSON.
    public let fields: [(name: String, type: String)]
  }

  /// The layers of the tiles of a whole venue.
  public static let venueLayers = [
    layer("areas", [("kind", "String"), ("name", "String")]), layer("obstacles", [("name", "String")]),
    layer("walls", [("attenuation", "Number")]),
    layer("doors", [("accessible", "Boolean"), ("id", "String"), ("kind", "String"), ("name", "String")]),
    layer("connectors", [("id", "String"), ("kind", "String")]),
    layer(
      "places",
      [
        ("accessible", "Boolean"), ("address", "String"), ("category", "String"), ("description", "String"),
        ("id", "String"), ("link", "String"), ("name", "String"), ("picture", "String"),
        ("properties", "String"),
        ("title", "String"),
      ]
    ),
  ]

  private static func layer(_ name: String, _ fields: [(String, String)]) -> Layer {
    Layer(
      name: name,
      fields: fields.map { (name: $0.0, type: $0.1) } + [("building", "String"), ("level", "Number")]
    )
  }

  /// The encoded tile; empty if it shows nothing.
  public let bytes: [UInt8]

  /// Encodes a tile of a floor.
  public init(_ tile: MapTile, of floor: MappedFloor, routes: [RouteLine] = []) {
    var content = TileContent()
    let frame = content.add(floor, on: tile)
    for route in routes {
      content.routes.add(.line, frame.lines([route.line]), [("id", .text(route.identifier))])
    }
    bytes = content.bytes
  }

  /// Encodes a tile of several floors, whose features have the properties `building` and `level`.
  public init(_ tile: MapTile, of floors: [MappedFloor]) {
    var content = TileContent()
    for floor in floors {
      content.common = [("building", .text(floor.id.building)), ("level", .number(Double(floor.id.level)))]
      content.add(floor, on: tile)
    }
    bytes = content.bytes
  }
}

/// The layers of a tile while they are filled.
private struct TileContent {
  var areas = VectorLayer("areas")
  var obstacles = VectorLayer("obstacles")
  var walls = VectorLayer("walls")
  var doors = VectorLayer("doors")
  var connectors = VectorLayer("connectors")
  var places = VectorLayer("places")
  var routes = VectorLayer("routes")
  /// The properties of all features that are added.
  var common: [(String, VectorValue)] = []

  /// The encoded layers, without those that have no feature.
  var bytes: [UInt8] {
    var writer = ProtobufWriter()
    for layer in [areas, obstacles, walls, doors, connectors, places, routes] where !layer.isEmpty {
      writer.write(field: 3, layer.bytes)
    }
    return writer.bytes
  }

  /// Adds what a tile shows of a floor.
  @discardableResult
  mutating func add(_ floor: MappedFloor, on tile: MapTile) -> TileFrame {
    let scale = Double(VectorTile.extent) / tile.side
    let frame = TileFrame(corner: floor.corner(of: tile), scale: scale)
    for shape in floor.shapes where frame.touches(shape.extent) {
      let tags: [(String, VectorValue)] = shape.name.isEmpty ? [] : [("name", .text(shape.name))]
      let geometry = frame.polygon(shape.rings)
      switch shape.kind {
      case .walkable, .place:
        areas.add(.polygon, geometry, [("kind", .text(shape.kind.rawValue))] + tags + common)
      case .obstacle: obstacles.add(.polygon, geometry, tags + common)
      }
    }
    addWalls(of: floor, frame)
    addMarks(of: floor, frame)
    return frame
  }

  /// Adds the walls, those of one attenuation as one feature.
  private mutating func addWalls(of floor: MappedFloor, _ frame: TileFrame) {
    var groups: [Double: [[Point]]] = [:]
    for wall in floor.walls {
      guard let extent = Extent(around: [wall.segment.start, wall.segment.end]), frame.touches(extent) else {
        continue
      }
      groups[wall.attenuation, default: []].append([wall.segment.start, wall.segment.end])
    }
    for (attenuation, lines) in groups.sorted(by: { $0.key < $1.key }) {
      walls.add(.line, frame.lines(lines), [("attenuation", .number(attenuation))] + common)
    }
  }

  private mutating func addMarks(of floor: MappedFloor, _ frame: TileFrame) {
    for door in floor.doors {
      guard let extent = Extent(around: [door.segment.start, door.segment.end]), frame.touches(extent) else {
        continue
      }
      var tags: [(String, VectorValue)] = [("kind", .text("door")), ("accessible", .flag(door.isAccessible))]
      if !door.name.isEmpty { tags.append(("name", .text(door.name))) }
      doors.add(.line, frame.lines([[door.segment.start, door.segment.end]]), tags + common)
    }
    for mark in floor.marks {
      guard let geometry = frame.point(mark.point) else { continue }
      var tags: [(String, VectorValue)] = [("id", .text(mark.identifier))]
      switch mark.kind {
      case .entrance: doors.add(.point, geometry, tags + [("kind", .text("entrance"))] + common)
      case .connector(let kind):
        connectors.add(.point, geometry, tags + [("kind", .text(kind.rawValue))] + common)
      case .place:
        if !mark.name.isEmpty { tags.append(("name", .text(mark.name))) }
        if !mark.category.isEmpty { tags.append(("category", .text(mark.category))) }
        tags += mark.caption.texts.map { ($0.name, .text($0.text)) }
        places.add(.point, geometry, tags + [("accessible", .flag(mark.isAccessible))] + common)
      }
    }
  }
}

/// The units of one tile: scales places, clips them, and encodes them as commands.
private struct TileFrame {
  let corner: Point
  let scale: Double
  let clip: TileClip

  init(corner: Point, scale: Double) {
    self.corner = corner
    self.scale = scale
    let reach = Double(VectorTile.extent + VectorTile.buffer)
    let start = -Double(VectorTile.buffer)
    clip = TileClip(low: Point(x: start, y: start), high: Point(x: reach, y: reach))
  }

  private func unit(_ place: Point) -> Point { (place - corner) * scale }

  func touches(_ extent: Extent) -> Bool {
    let (low, high) = (unit(extent.southWest), unit(extent.northEast))
    return low.x <= clip.high.x && high.x >= clip.low.x && low.y <= clip.high.y && high.y >= clip.low.y
  }

  func point(_ place: Point) -> [UInt32]? {
    let unit = unit(place)
    // A point belongs to each tile whose edge it is near, so that its symbol is drawn whole.
    guard clip.clip(unit, unit) != nil else { return nil }
    var commands = GeometryCommands()
    commands.move(to: whole(unit))
    return commands.integers
  }

  func lines(_ lines: [[Point]]) -> [UInt32] {
    var commands = GeometryCommands()
    for line in lines {
      for part in clip.clip(line: line.map(unit)) { commands.line(distinct(part)) }
    }
    return commands.integers
  }

  func polygon(_ rings: [[Point]]) -> [UInt32] {
    var commands = GeometryCommands()
    for (index, ring) in rings.enumerated() {
      var corners = distinct(clip.clip(ring: ring.map(unit)))
      if corners.count > 1, let first = corners.first, let last = corners.last, first == last {
        corners.removeLast()
      }
      let isLarge = corners.count >= 3 && commands.isOriented(corners, isOuter: index == 0)
      if isLarge { commands.ring(corners) } else if index == 0 { break }
    }
    return commands.integers
  }

  private func whole(_ unit: Point) -> GridPoint {
    GridPoint(x: Int32(unit.x.rounded()), y: Int32(unit.y.rounded()))
  }

  private func distinct(_ places: [Point]) -> [GridPoint] {
    var kept: [GridPoint] = []
    for place in places.map(whole) where place != kept.last { kept.append(place) }
    return kept
  }
}

/// A place in whole units of a tile.
private struct GridPoint: Hashable {
  let x: Int32
  let y: Int32
}

/// The commands of a geometry: each a number of repeats with its kind, followed by differences.
private struct GeometryCommands {
  private(set) var integers: [UInt32] = []
  private var cursor = GridPoint(x: 0, y: 0)

  private enum Kind: UInt32 {
    case move = 1
    case line = 2
    case close = 7
  }

  private mutating func command(_ kind: Kind, count: Int) {
    integers.append(UInt32(count) << 3 | kind.rawValue)
  }

  private mutating func step(to place: GridPoint) {
    for step in [place.x - cursor.x, place.y - cursor.y] {
      integers.append(UInt32(bitPattern: step << 1 ^ step >> 31))
    }
    cursor = place
  }

  mutating func move(to place: GridPoint) {
    command(.move, count: 1)
    step(to: place)
  }

  mutating func line(_ places: [GridPoint]) {
    guard places.count >= 2 else { return }
    move(to: places[0])
    command(.line, count: places.count - 1)
    for place in places.dropFirst() { step(to: place) }
  }

  mutating func ring(_ corners: [GridPoint]) {
    line(corners)
    command(.close, count: 1)
  }

  /// Returns whether a ring, once it is rounded, still has an area and the sense that its role asks for.
  func isOriented(_ corners: [GridPoint], isOuter: Bool) -> Bool {
    guard var previous = corners.last else { return false }
    var twice = 0
    for corner in corners {
      twice += Int(previous.x) * Int(corner.y) - Int(previous.y) * Int(corner.x)
      previous = corner
    }
    return isOuter ? twice > 0 : twice < 0
  }
}

/// A value of a feature.
private enum VectorValue: Hashable {
  case text(String)
  case number(Double)
  case flag(Bool)
}

/// A layer, whose features share their keys and values.
private struct VectorLayer {
  enum Geometry: UInt64 {
    case point = 1
    case line = 2
    case polygon = 3
  }

  private let name: String
  private var features = ProtobufWriter()
  private var keys: [String: Int] = [:]
  private var keyOrder: [String] = []
  private var values: [VectorValue: Int] = [:]
  private var valueOrder: [VectorValue] = []
  private(set) var isEmpty = true

  init(_ name: String) { self.name = name }

  /// Adds a feature, unless nothing is left of its geometry.
  mutating func add(_ kind: Geometry, _ geometry: [UInt32], _ tags: [(String, VectorValue)]) {
    guard !geometry.isEmpty else { return }
    isEmpty = false
    let numbers = tags.flatMap { [UInt32(number(of: $0.0)), UInt32(number(of: $0.1))] }
    var feature = ProtobufWriter()
    if !numbers.isEmpty { feature.write(field: 2, packed: numbers) }
    feature.write(field: 3, kind.rawValue)
    feature.write(field: 4, packed: geometry)
    features.write(field: 2, feature.bytes)
  }

  private mutating func number(of key: String) -> Int {
    if let number = keys[key] { return number }
    keys[key] = keyOrder.count
    keyOrder.append(key)
    return keyOrder.count - 1
  }

  private mutating func number(of value: VectorValue) -> Int {
    if let number = values[value] { return number }
    values[value] = valueOrder.count
    valueOrder.append(value)
    return valueOrder.count - 1
  }

  /// The encoded layer.
  var bytes: [UInt8] {
    var writer = ProtobufWriter()
    writer.write(field: 15, 2)
    writer.write(field: 1, Array(name.utf8))
    writer.append(features)
    for key in keyOrder { writer.write(field: 3, Array(key.utf8)) }
    for value in valueOrder {
      var content = ProtobufWriter()
      switch value {
      case .text(let text): content.write(field: 1, Array(text.utf8))
      case .number(let number): content.write(field: 3, double: number)
      case .flag(let flag): content.write(field: 7, flag ? 1 : 0)
      }
      writer.write(field: 4, content.bytes)
    }
    writer.write(field: 5, UInt64(VectorTile.extent))
    return writer.bytes
  }
}

/// A writer of Protocol Buffers: fields with their numbers, in the order in which they are written.
///
/// - Source: "Encoding", protobuf.dev: wire types 0 (varint), 1 (64-bit) and 2 (length-delimited).
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private mutating func tag(_ field: UInt64, wireType: UInt64) { varint(field << 3 | wireType) }

  mutating func write(field: UInt64, _ value: UInt64) {
    tag(field, wireType: 0)
    varint(value)
  }

  mutating func write(field: UInt64, zigzag value: Int) {
    write(field: field, UInt64(bitPattern: Int64(value << 1 ^ value >> (Int.bitWidth - 1))))
  }

  mutating func write(field: UInt64, double: Double) {
    tag(field, wireType: 1)
    for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: double.bitPattern >> (8 * UInt64(shift)))) }
  }

  mutating func write(field: UInt64, _ content: [UInt8]) {
    tag(field, wireType: 2)
    varint(UInt64(content.count))
    bytes += content
  }

  mutating func write(field: UInt64, packed values: [UInt32]) {
    var content = ProtobufWriter()
    for value in values { content.varint(UInt64(value)) }
    write(field: field, content.bytes)
  }

  mutating func append(_ other: ProtobufWriter) { bytes += other.bytes }
}
