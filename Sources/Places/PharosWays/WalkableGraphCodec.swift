import PharosModel
import PharosSpace

/// The reason for which bytes are no walkable graph.
public struct WalkableGraphError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The position of the byte at which reading stopped.
  public let offset: Int
  /// What was found and what was expected.
  public let problem: String

  /// The problem with its position and the remedy.
  public var description: String {
    "walkable graph: byte \(offset): \(problem): make the bundle again with this version of pharos"
  }
}

extension WalkableGraph {
  /// The first bytes of every graph.
  private static let magic = Array("PharosWG".utf8)
  /// The version of the format.
  private static let version: UInt16 = 3

  /// The graph as bytes: floors in triangles, doors, places and connectors; the ways are computed again on reading.
  ///
  /// All numbers are little-endian, texts and lists are preceded by their length in 32 bits.
  public func encoded() -> [UInt8] {
    var writer = GraphWriter(bytes: WalkableGraph.magic)
    writer.write(WalkableGraph.version)
    writer.write(venue)
    writer.write(Int32(clamping: localTime.utcOffset))
    writer.list(localTime.changes) { writer, change in
      writer.write(change.time.nanoseconds)
      writer.write(Int32(clamping: change.utcOffset))
    }
    writer.list(buildings.sorted { $0.key < $1.key }) { writer, building in
      writer.write(building.key)
      writer.write(building.value)
    }
    writer.list(floors.map(\.part)) { $0.write($1) }
    writer.list(connectors) { $0.write($1) }
    return writer.bytes
  }

  /// Reads a graph.
  ///
  /// - Throws: ``WalkableGraphError`` for bytes that are cut short, of another version or damaged.
  public init(decoding bytes: [UInt8]) throws(WalkableGraphError) {
    var reader = GraphReader(bytes: bytes)
    guard try reader.read(WalkableGraph.magic.count).elementsEqual(WalkableGraph.magic) else {
      throw WalkableGraphError(offset: 0, problem: "no walkable graph, which begins with \"PharosWG\"")
    }
    let version = try reader.integer(UInt16.self)
    guard (1...WalkableGraph.version).contains(version) else {
      throw reader.error("version \(version), expected \(WalkableGraph.version)")
    }
    // The first version says nothing about access.
    reader.hasAccess = version > 1
    let venue = try reader.text()
    let utcOffset = try reader.utcOffset()
    // The first two versions have no changes.
    let changes: [LocalTime.Change] =
      try version < 3
      ? []
      : reader.list { reader throws(WalkableGraphError) in
        let time = Timestamp(nanoseconds: try reader.integer(Int64.self))
        return LocalTime.Change(at: time, utcOffset: try reader.utcOffset())
      }
    guard zip(changes, changes.dropFirst()).allSatisfy({ $0.time < $1.time }) else {
      throw reader.error("changes of the local time in another order")
    }
    let buildings = try reader.list { reader throws(WalkableGraphError) in
      (try reader.text(), try reader.text())
    }
    let parts = try reader.list { reader throws(WalkableGraphError) in try reader.floor() }
    let connectors = try reader.list { reader throws(WalkableGraphError) in try reader.connector() }
    guard reader.isAtEnd else { throw reader.error("more bytes than the graph has") }
    guard Set(parts.map(\.id)).count == parts.count else {
      throw reader.error("a floor that is listed twice")
    }
    self.init(
      venue: venue,
      localTime: LocalTime(utcOffset: utcOffset, changes: changes),
      buildings: Dictionary(buildings) { first, _ in first },
      parts: parts,
      connectors: connectors
    )
  }
}

// MARK: Writing

private struct GraphWriter {
  var bytes: [UInt8]

  mutating func write(_ number: some FixedWidthInteger) {
    for byte in 0..<number.bitWidth / 8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
  }

  mutating func write(_ number: Double) { write(number.bitPattern) }

  mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  mutating func write(_ text: String) {
    write(UInt32(text.utf8.count))
    bytes += text.utf8
  }

  mutating func write(_ point: Point) {
    write(point.x)
    write(point.y)
  }

  mutating func list<Element>(_ elements: [Element], _ write: (inout GraphWriter, Element) -> Void) {
    self.write(UInt32(elements.count))
    for element in elements { write(&self, element) }
  }

  mutating func write(_ hours: OpeningHours?) {
    write(hours != nil)
    guard let hours else { return }
    list(hours.intervals) { writer, interval in
      writer.write(UInt16(interval.lowerBound))
      writer.write(UInt16(interval.upperBound))
    }
  }

  mutating func write(_ access: Access) { bytes.append(UInt8(access.rank)) }

  mutating func write(_ floor: FloorID) {
    write(floor.building)
    write(Int32(floor.level))
  }

  mutating func write(_ plane: FloorPlane) {
    switch plane {
    case .ground(let plane):
      bytes.append(0)
      write(plane.origin.latitude)
      write(plane.origin.longitude)
    case .mercator(let plane):
      bytes.append(1)
      write(plane.origin.x)
      write(plane.origin.y)
      write(plane.metersPerPointEast)
      write(plane.metersPerPointNorth)
    }
  }

  mutating func write(_ part: GraphFloor.Part) {
    write(part.id)
    write(part.name)
    write(part.plane)
    list(part.mesh.vertices) { writer, vertex in
      writer.write(vertex.x)
      writer.write(vertex.y)
    }
    list(Array(zip(part.mesh.corners, part.mesh.tags))) { writer, corner in
      writer.write(corner.0)
      writer.write(corner.1)
    }
    list(part.doors) { writer, door in
      writer.write(door.segment.start)
      writer.write(door.segment.end)
      writer.write(door.name)
      writer.write(door.isAccessible)
      writer.write(door.hours)
      writer.write(door.access)
    }
    list(part.entrances) { writer, entrance in
      writer.write(entrance.identifier)
      writer.write(entrance.point)
    }
    list(part.places) { $0.write($1) }
  }

  private mutating func write(_ place: PointOfInterest) {
    write(place.identifier)
    write(place.name)
    write(place.category)
    write(place.point)
    write(place.isAccessible)
    write(place.hours)
    write(place.area != nil)
    guard let area = place.area else { return }
    write(area.name)
    write(area.access)
    list([area.outline] + area.holes) { $0.list($1.corners) { $0.write($1) } }
  }

  mutating func write(_ connector: Connector) {
    write(connector.identifier)
    bytes.append(UInt8(Connector.Kind.allCases.firstIndex(of: connector.kind) ?? 0))
    bytes.append(UInt8(Connector.Direction.allCases.firstIndex(of: connector.direction) ?? 0))
    write(connector.isAccessible)
    write(connector.hours)
    write(connector.access)
    list(connector.stops) { writer, stop in
      writer.write(stop.floor)
      writer.write(stop.point)
    }
  }
}

// MARK: Reading

private struct GraphReader {
  let bytes: [UInt8]
  /// Indicates whether doors, areas and connectors say for whom they are.
  var hasAccess = true
  private var offset = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  func error(_ problem: String) -> WalkableGraphError { WalkableGraphError(offset: offset, problem: problem) }

  mutating func read(_ count: Int) throws(WalkableGraphError) -> ArraySlice<UInt8> {
    guard count <= bytes.count - offset else {
      throw error("\(count) bytes expected, \(bytes.count - offset) left: the graph is cut short")
    }
    offset += count
    return bytes[offset - count..<offset]
  }

  mutating func integer<Number: FixedWidthInteger>(
    _ type: Number.Type
  ) throws(WalkableGraphError) -> Number {
    var number: Number = 0
    for (index, byte) in try read(Number.bitWidth / 8).enumerated() {
      number |= Number(truncatingIfNeeded: byte) << (8 * index)
    }
    return number
  }

  mutating func double() throws(WalkableGraphError) -> Double {
    let number = Double(bitPattern: try integer(UInt64.self))
    guard number.isFinite else { throw error("no finite number") }
    return number
  }

  mutating func flag() throws(WalkableGraphError) -> Bool {
    switch try integer(UInt8.self) {
    case 0: return false
    case 1: return true
    case let byte: throw error("\(byte) where 0 or 1 is expected")
    }
  }

  /// A difference of local time from UTC in minutes.
  mutating func utcOffset() throws(WalkableGraphError) -> Int {
    let offset = Int(try integer(Int32.self))
    guard (-900...900).contains(offset) else { throw error("a UTC offset of \(offset) minutes") }
    return offset
  }

  mutating func text() throws(WalkableGraphError) -> String {
    let count = Int(try integer(UInt32.self))
    guard let text = String(validating: try read(count), as: UTF8.self) else {
      throw error("a text that is not UTF-8")
    }
    return text
  }

  mutating func point() throws(WalkableGraphError) -> Point {
    let point = Point(x: try double(), y: try double())
    guard point.x.magnitude <= 1e6, point.y.magnitude <= 1e6 else {
      throw error("\(point) is far from its floor")
    }
    return point
  }

  mutating func list<Element>(
    _ read: (inout GraphReader) throws(WalkableGraphError) -> Element
  ) throws(WalkableGraphError) -> [Element] {
    let count = Int(try integer(UInt32.self))
    // Every element takes a byte at least.
    guard count <= bytes.count - offset else {
      throw error("a list of \(count) with \(bytes.count - offset) bytes left")
    }
    var elements: [Element] = []
    for _ in 0..<count { elements.append(try read(&self)) }
    return elements
  }

  private mutating func word<Value: CaseIterable>(_ type: Value.Type) throws(WalkableGraphError) -> Value {
    let number = Int(try integer(UInt8.self))
    guard let value = Value.allCases.dropFirst(number).first else {
      throw error("\(number) is no \(Value.self)")
    }
    return value
  }

  private mutating func access() throws(WalkableGraphError) -> Access {
    hasAccess ? try word(Access.self) : .everyone
  }

  private mutating func hours() throws(WalkableGraphError) -> OpeningHours? {
    guard try flag() else { return nil }
    let intervals = try list { reader throws(WalkableGraphError) in
      let (low, high) = (Int(try reader.integer(UInt16.self)), Int(try reader.integer(UInt16.self)))
      guard low < high, high <= OpeningHours.week else {
        throw reader.error("minutes \(low) to \(high) of a week")
      }
      return low..<high
    }
    return OpeningHours(intervals)
  }

  private mutating func floorID() throws(WalkableGraphError) -> FloorID {
    let building = try text()
    let level = Int(try integer(Int32.self))
    guard Floor.levels.contains(level) else { throw error("a level of \(level)") }
    return FloorID(building: building, level: level)
  }

  private mutating func plane() throws(WalkableGraphError) -> FloorPlane {
    switch try integer(UInt8.self) {
    case 0:
      guard let origin = Coordinate(latitude: try double(), longitude: try double()) else {
        throw error("an origin that is nowhere on the Earth")
      }
      return .ground(GroundPlane(origin: origin))
    case 1:
      let origin = MapPoint(x: try double(), y: try double())
      let (east, north) = (try double(), try double())
      guard east > 0, north > 0 else { throw error("a scale of \(east) and \(north)") }
      return .mercator(MercatorPlane(origin: origin, metersPerPointEast: east, metersPerPointNorth: north))
    case let byte: throw error("\(byte) is no plane")
    }
  }

  mutating func floor() throws(WalkableGraphError) -> GraphFloor.Part {
    GraphFloor.Part(
      id: try floorID(),
      name: try text(),
      plane: try plane(),
      mesh: try mesh(),
      doors: try list { reader throws(WalkableGraphError) in
        let segment = Segment(from: try reader.point(), to: try reader.point())
        let name = try reader.text()
        let isAccessible = try reader.flag()
        let hours = try reader.hours()
        return Door(
          segment,
          name: name,
          isAccessible: isAccessible,
          hours: hours,
          access: try reader.access()
        )
      },
      entrances: try list { reader throws(WalkableGraphError) in
        Entrance(identifier: try reader.text(), point: try reader.point())
      },
      places: try list { reader throws(WalkableGraphError) in try reader.place() }
    )
  }

  private mutating func mesh() throws(WalkableGraphError) -> WalkableMesh {
    let vertices = try list { reader throws(WalkableGraphError) in
      let vertex = MeshPoint(x: try reader.integer(Int32.self), y: try reader.integer(Int32.self))
      guard Double(vertex.x).magnitude <= MeshPoint.largest, Double(vertex.y).magnitude <= MeshPoint.largest
      else {
        throw reader.error("a vertex at \(vertex.point)")
      }
      return vertex
    }
    let edges = try list { reader throws(WalkableGraphError) in
      let vertex = try reader.integer(Int32.self)
      guard vertices.indices.contains(Int(vertex)) else {
        throw reader.error("\(vertex) is none of \(vertices.count) vertices")
      }
      return (vertex: vertex, tag: try reader.integer(UInt16.self))
    }
    let mesh = WalkableMesh(vertices: vertices, corners: edges.map(\.vertex), tags: edges.map(\.tag))
    guard let mesh else { throw error("triangles that do not fit together") }
    return mesh
  }

  private mutating func place() throws(WalkableGraphError) -> PointOfInterest {
    let (identifier, name, category) = (try text(), try text(), try text())
    let point = try point()
    let isAccessible = try flag()
    let hours = try hours()
    var area: Area?
    if try flag() {
      let name = try text()
      let access = try access()
      let rings = try list { reader throws(WalkableGraphError) in
        Polygon(try reader.list { reader throws(WalkableGraphError) in try reader.point() })
      }
      guard let outline = rings.first else { throw error("an area without an outline") }
      area = Area(name: name, outline: outline, holes: Array(rings.dropFirst()), access: access)
    }
    return PointOfInterest(
      identifier: identifier,
      name: name,
      category: category,
      point: point,
      area: area,
      isAccessible: isAccessible,
      hours: hours
    )
  }

  mutating func connector() throws(WalkableGraphError) -> Connector {
    let identifier = try text()
    let kind = try word(Connector.Kind.self)
    let direction = try word(Connector.Direction.self)
    let isAccessible = try flag()
    let hours = try hours()
    let access = try access()
    let stops = try list { reader throws(WalkableGraphError) in
      Connector.Stop(floor: try reader.floorID(), point: try reader.point())
    }
    var connector = Connector(
      identifier: identifier,
      kind: kind,
      stops: stops,
      direction: direction,
      isAccessible: isAccessible,
      hours: hours
    )
    connector.access = access
    return connector
  }
}
