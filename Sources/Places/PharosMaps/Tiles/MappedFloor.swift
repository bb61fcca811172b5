public import PharosSpace

/// A floor laid on the map: what tiles are drawn from.
///
/// All places are map points east (x) and south (y) of ``origin``, so that a tile of any zoom needs only a scale and a
/// shift.
public struct MappedFloor: Sendable {
  /// A piece of the floor.
  public struct Shape: Hashable, Sendable {
    /// The kinds of shape.
    public enum Kind: String, Hashable, Sendable {
      /// One can walk there.
      case walkable
      /// Something stands there.
      case obstacle
      /// The area of a point of interest.
      case place
    }

    /// The kind.
    public let kind: Kind
    /// The name, or an empty text.
    public let name: String
    /// The outline, clockwise as it is seen on the map, followed by the holes, counterclockwise.
    public let rings: [[Point]]
    /// The rectangle around it.
    public let extent: Extent
  }

  /// A wall.
  public struct Line: Hashable, Sendable {
    /// Its two ends.
    public let segment: Segment
    /// The loss of a signal that passes through it in dB.
    public let attenuation: Double
  }

  /// A door between two areas.
  public struct Door: Hashable, Sendable {
    /// Its line, in the gap of the wall.
    public let segment: Segment
    /// The display name, or an empty text.
    public let name: String
    /// Indicates whether a wheelchair can pass it.
    public let isAccessible: Bool
  }

  /// Something at a point.
  public struct Mark: Hashable, Sendable {
    /// The kinds of mark.
    public enum Kind: Hashable, Sendable {
      /// A door to the outdoors.
      case entrance
      /// A connector stops there.
      case connector(Connector.Kind)
      /// A point of interest.
      case place
    }

    /// The kind.
    public let kind: Kind
    /// The identifier in the venue.
    public let identifier: String
    /// The display name, or an empty text.
    public let name: String
    /// The category of a point of interest, or an empty text.
    public let category: String
    /// Indicates whether a wheelchair can use it.
    public let isAccessible: Bool
    /// The words about a point of interest.
    public let caption: Caption
    /// The place.
    public let point: Point
  }

  /// The position of a floor plan's image.
  public struct Picture: Hashable, Sendable {
    /// The place of its upper left corner.
    public let start: Point
    /// The way of one pixel to the right.
    public let right: Point
    /// The way of one pixel down.
    public let down: Point
    /// The image.
    public let plan: FloorPlan
  }

  /// The floor's identifier.
  public let id: FloorID
  /// The point of the map from which places are counted.
  public let origin: MapPoint
  /// The areas in which one can walk, then the obstacles, then the areas of points of interest.
  public let shapes: [Shape]
  /// The walls.
  public let walls: [Line]
  /// The doors between areas.
  public let doors: [Door]
  /// The entrances, the connectors that stop here and the points of interest.
  public let marks: [Mark]
  /// The image of the floor plan, if there is one.
  public let picture: Picture?
  /// The rectangle around all of it.
  public let extent: Extent

  /// Lays a floor of a venue on the map; nil where there is no such floor, or nothing on it lies on the map.
  public init?(_ id: FloorID, of venue: Venue) {
    guard let floor = venue.floor(id), let origin = MapPoint(floor.plane.origin) else { return nil }
    let lay = Laying(plane: floor.plane, origin: origin)
    self.id = id
    self.origin = origin
    shapes =
      floor.walkable.compactMap { lay.shape($0, .walkable) }
      + floor.obstacles.compactMap { lay.shape($0, .obstacle) }
      + floor.pointsOfInterest.compactMap { place in
        place.area.flatMap { lay.shape($0, .place, name: place.name) }
      }
    walls = floor.walls.all.compactMap { wall in
      guard let start = lay.place(wall.segment.start), let end = lay.place(wall.segment.end) else {
        return nil
      }
      return Line(segment: Segment(from: start, to: end), attenuation: wall.attenuation)
    }
    doors = floor.doors.compactMap { door in
      guard let start = lay.place(door.segment.start), let end = lay.place(door.segment.end) else {
        return nil
      }
      return Door(segment: Segment(from: start, to: end), name: door.name, isAccessible: door.isAccessible)
    }
    marks = lay.marks(on: floor, id, of: venue)
    picture = floor.plan.map(lay.picture)
    let corners = picture.map { picture in
      let (width, height) = (Double(picture.plan.width), Double(picture.plan.height))
      return [(0, 0), (width, 0), (width, height), (0, height)].map { x, y in
        picture.start + picture.right * x + picture.down * y
      }
    }
    let places =
      shapes.flatMap { $0.rings.joined() }
      + (walls.map(\.segment) + doors.map(\.segment)).flatMap { [$0.start, $0.end] }
      + marks.map(\.point) + (corners ?? [])
    guard let extent = Extent(around: places) else { return nil }
    self.extent = extent
  }

  /// The part of the map that the floor covers.
  public var rect: MapRect {
    let northWest = mapPoint(extent.southWest)
    return MapRect(
      origin: MapPoint(x: northWest.x < 0 ? northWest.x + MapPoint.worldSize : northWest.x, y: northWest.y),
      width: extent.width,
      height: extent.height
    )
  }

  /// The point of the map at a place.
  public func mapPoint(_ place: Point) -> MapPoint {
    MapPoint(x: origin.x + place.x, y: origin.y + place.y)
  }

  /// The place of a tile's north-western corner.
  public func corner(of tile: MapTile) -> Point {
    // The short way around the Earth leads to the middle of a tile, not to the corner of a large one.
    let half = tile.side / 2
    let way = MapPoint(x: tile.origin.x + half, y: tile.origin.y + half).offset(from: origin)
    return Point(x: way.east - half, y: way.south - half)
  }
}

/// Lays places of a floor's plane on the map.
private struct Laying {
  let plane: FloorPlane
  let origin: MapPoint

  func place(_ point: Point) -> Point? {
    switch plane {
    case .mercator(let plane): return difference(plane.mapPoint(of: point))
    case .ground(let plane): return plane.coordinate(of: point).flatMap(MapPoint.init).map(difference)
    }
  }

  func difference(_ point: MapPoint) -> Point {
    let way = point.offset(from: origin)
    return Point(x: way.east, y: way.south)
  }

  func shape(_ area: Area, _ kind: MappedFloor.Shape.Kind, name: String? = nil) -> MappedFloor.Shape? {
    guard let outline = ring(area.outline, isOuter: true), let extent = Extent(around: outline) else {
      return nil
    }
    let holes = area.holes.compactMap { ring($0, isOuter: false) }
    return MappedFloor.Shape(kind: kind, name: name ?? area.name, rings: [outline] + holes, extent: extent)
  }

  private func ring(_ polygon: Polygon, isOuter: Bool) -> [Point]? {
    var corners = polygon.corners.compactMap(place)
    guard corners.count >= 3, corners.count == polygon.corners.count else { return nil }
    // With y to the south, a ring that is seen clockwise has a positive area.
    if (Polygon(corners).signedArea > 0) != isOuter { corners.reverse() }
    return corners
  }

  func marks(on floor: Floor, _ id: FloorID, of venue: Venue) -> [MappedFloor.Mark] {
    func mark(
      _ kind: MappedFloor.Mark.Kind,
      _ identifier: String,
      _ point: Point,
      name: String = "",
      of poi: PointOfInterest? = nil
    ) -> MappedFloor.Mark? {
      place(point).map {
        MappedFloor.Mark(
          kind: kind,
          identifier: identifier,
          name: name,
          category: poi?.category ?? "",
          isAccessible: poi?.isAccessible ?? true,
          caption: poi?.caption ?? Caption(),
          point: $0
        )
      }
    }
    return floor.entrances.compactMap { mark(.entrance, $0.identifier, $0.point) }
      + venue.connectors.flatMap { connector in
        connector.stops.filter { $0.floor == id }.compactMap {
          mark(.connector(connector.kind), connector.identifier, $0.point)
        }
      }
      + floor.pointsOfInterest.compactMap { place in
        mark(.place, place.identifier, place.point, name: place.name, of: place)
      }
  }

  func picture(_ plan: FloorPlan) -> MappedFloor.Picture {
    let (width, height) = (Double(plan.width), Double(plan.height))
    func corner(_ x: Double, _ y: Double) -> Point {
      difference(plan.alignment.mapPoint(of: Pixel(x: x, y: y)))
    }
    let start = corner(0, 0)
    return MappedFloor.Picture(
      start: start,
      right: (corner(width, 0) - start) * (1 / width),
      down: (corner(0, height) - start) * (1 / height),
      plan: plan
    )
  }
}
