// Re-exported, since all that is drawn on a floor is made of the points and lines of its plane.
@_exported public import PharosModel

/// One floor of a building: its plane, what one can walk on, and what stands where.
///
/// All places are metres on ``plane``.
public struct Floor: Hashable, Sendable {
  /// The number of the floor: 0 is the ground floor, −1 the one below it.
  public var level: Int
  /// The display names: `LocatableVenue floor`, `EG`, `B1`; the first is the default.
  public var names: [String]
  /// The height above mean sea level, or nil if it is not known.
  ///
  /// - Units: metres.
  public var altitude: Double?
  /// The plane on which its places are measured, in metres.
  public var plane: FloorPlane
  /// Its picture, if there is one.
  public var plan: FloorPlan?
  /// The walkable areas; empty if they are not known.
  public var walkable: [Area]
  /// The obstacles within the walkable areas: shops that are closed, columns, exhibits.
  public var obstacles: [Area]
  /// The walls, which block people and attenuate radio.
  public var walls: Walls
  /// The doors between walkable areas, each in a gap of the walls.
  public var doors: [Door]
  /// The floor in doors, between the two faces of the walls: walkable, whatever else lies there.
  public var thresholds: [Area]
  /// The doors to the outdoors.
  public var entrances: [Entrance]
  /// The beacons that hang here.
  public var beacons: [PlacedBeacon]
  /// The gateways that hang here.
  public var observers: [PlacedObserver]
  /// The Wi-Fi access points that hang here.
  public var accessPoints: [PlacedAccessPoint]
  /// The points of interest: exhibits, shops, toilets.
  public var pointsOfInterest: [PointOfInterest]

  /// Makes a floor.
  public init(
    level: Int,
    names: [String] = [],
    plane: FloorPlane,
    plan: FloorPlan? = nil,
    walkable: [Area] = [],
    obstacles: [Area] = [],
    walls: Walls = [],
    doors: [Door] = [],
    thresholds: [Area] = [],
    entrances: [Entrance] = [],
    beacons: [PlacedBeacon] = [],
    observers: [PlacedObserver] = [],
    accessPoints: [PlacedAccessPoint] = [],
    pointsOfInterest: [PointOfInterest] = []
  ) {
    self.level = level
    self.names = names
    self.plane = plane
    self.plan = plan
    self.walkable = walkable
    self.obstacles = obstacles
    self.walls = walls
    self.doors = doors
    self.thresholds = thresholds
    self.entrances = entrances
    self.beacons = beacons
    self.observers = observers
    self.accessPoints = accessPoints
    self.pointsOfInterest = pointsOfInterest
  }

  /// The floors that a building may have, numbered.
  public static let levels = -20...200
  /// The altitudes that a floor may have in metres: from the shore of the Dead Sea, and mines, to the highest huts.
  package static let altitudes = -4_500.0...9_000.0

  /// The first display name, or the floor's number if it has none.
  public var name: String { names.first ?? "\(level)" }
}

/// A door between two walkable areas.
public struct Door: Hashable, Sendable {
  /// The line of the door, along the wall that it opens.
  public var segment: Segment
  /// The display name, or an empty text.
  public var name: String
  /// Indicates whether a wheelchair can pass it.
  public var isAccessible: Bool
  /// The times at which it is open; nil if it always is.
  public var hours: OpeningHours?
  /// The people that it is meant for.
  public var access: Access

  /// Makes a door.
  public init(
    _ segment: Segment,
    name: String = "",
    isAccessible: Bool = true,
    hours: OpeningHours? = nil,
    access: Access = .everyone
  ) {
    self.segment = segment
    self.name = name
    self.isAccessible = isAccessible
    self.hours = hours
    self.access = access
  }
}

/// A door to the outdoors, where satellites take over.
public struct Entrance: Hashable, Sendable {
  /// The identifier.
  public var identifier: String
  /// The place of the door.
  public var point: Point

  /// Makes an entrance.
  public init(identifier: String, point: Point) {
    self.identifier = identifier
    self.point = point
  }
}

/// A beacon that hangs at a known place.
public struct PlacedBeacon: Hashable, Sendable {
  /// Its identity, with the address where that is part of the key.
  public var beacon: BeaconID
  /// The place of the beacon.
  public var point: Point

  /// Makes a placed beacon.
  public init(_ beacon: BeaconID, at point: Point) {
    self.beacon = beacon
    self.point = point
  }
}

/// An observer that hangs at a known place.
public struct PlacedObserver: Hashable, Sendable {
  /// Its identity.
  public var observer: ObserverID
  /// The place of the observer.
  public var point: Point

  /// Makes a placed observer.
  public init(_ observer: ObserverID, at point: Point) {
    self.observer = observer
    self.point = point
  }
}

/// A Wi-Fi access point that hangs at a known place.
public struct PlacedAccessPoint: Hashable, Sendable {
  /// The address that its network is known by.
  public var bssid: DeviceAddress
  /// The place of the access point.
  public var point: Point

  /// Makes a placed access point.
  public init(_ bssid: DeviceAddress, at point: Point) {
    self.bssid = bssid
    self.point = point
  }
}

/// A place that people look for: an exhibit, a shop, a toilet.
public struct PointOfInterest: Hashable, Sendable {
  /// The identifier, unique in its venue.
  public var identifier: String
  /// The display name.
  public var name: String
  /// The kind of place, in the words of IMDF where it has one: `restroom`, `elevator`, `foodservice`, `exhibit`; or an
  /// empty text.
  public var category: String
  /// The place that routes lead to.
  public var point: Point
  /// The area that it covers, or nil if only its point is known.
  public var area: Area?
  /// Indicates whether a wheelchair can use it.
  public var isAccessible: Bool
  /// The times at which it is open; nil if they are not known.
  public var hours: OpeningHours?
  /// The words for people who look for it or are there.
  public var caption: Caption

  /// Makes a point of interest.
  public init(
    identifier: String,
    name: String,
    category: String = "",
    point: Point,
    area: Area? = nil,
    isAccessible: Bool = true,
    hours: OpeningHours? = nil,
    caption: Caption = Caption()
  ) {
    self.identifier = identifier
    self.name = name
    self.category = category
    self.point = point
    self.area = area
    self.isAccessible = isAccessible
    self.hours = hours
    self.caption = caption
  }
}

/// A piece of a floor with a name, maybe with holes in it: a hall, a shop, an atrium.
public struct Area: Hashable, Sendable {
  /// The name that people or files use, or an empty text.
  public var name: String
  /// Its outer side.
  public var outline: Polygon
  /// The holes in it.
  public var holes: [Polygon]
  /// The people that it is meant for.
  public var access: Access

  /// Makes an area.
  public init(name: String = "", outline: Polygon, holes: [Polygon] = [], access: Access = .everyone) {
    self.name = name
    self.outline = outline
    self.holes = holes
    self.access = access
  }

  /// Returns whether a place lies in it: inside the outline, and in none of the holes.
  ///
  /// - Complexity: O(corners), without allocation.
  public func contains(_ point: Point) -> Bool {
    guard outline.contains(point) else { return false }
    for hole in holes where hole.contains(point) { return false }
    return true
  }

  /// The size of the outline less that of the holes in square metres.
  public var size: Double { outline.area - holes.reduce(0) { $0 + $1.area } }

  /// A place well inside of it: the middle of the longest of some lines from west to east through it; nil for an area
  /// without any.
  package var innerPoint: Point? {
    guard let extent = outline.extent else { return nil }
    let sides = sides
    var best: (point: Point, length: Double)?
    for share in [0.5, 0.37, 0.63, 0.21, 0.79, 0.09, 0.91] {
      let y = extent.southWest.y + extent.height * share
      let crossings = sides.filter { ($0.start.y > y) != ($0.end.y > y) }
        .map { $0.start.x + (y - $0.start.y) / ($0.end.y - $0.start.y) * ($0.end.x - $0.start.x) }
        .sorted()
      for (west, east) in zip(crossings, crossings.dropFirst()) {
        let point = Point(x: (west + east) / 2, y: y)
        if east - west > best?.length ?? 0, contains(point) { best = (point, east - west) }
      }
    }
    return best?.point
  }

  /// Every side of the outline and of the holes.
  public var sides: [Segment] { ([outline] + holes).flatMap(\.sides) }
}

extension Floor {
  /// The rectangle around all that is drawn on the floor, or around its plan where nothing is drawn.
  public var extent: Extent? {
    let outlines = (walkable + obstacles).flatMap(\.outline.corners)
    let ends = walls.all.flatMap { [$0.segment.start, $0.segment.end] }
    if let drawn = Extent(around: outlines + ends) { return drawn }
    guard let plan else { return nil }
    let (width, height) = (Double(plan.width), Double(plan.height))
    let corners = [
      Pixel(x: 0, y: 0), Pixel(x: width, y: 0), Pixel(x: width, y: height), Pixel(x: 0, y: height),
    ]
    return Extent(around: corners.compactMap { point(of: $0) })
  }
}

/// The picture of a floor: an image in the venue's folder and how it lies on the Earth.
public struct FloorPlan: Hashable, Sendable {
  /// The image's file, counted from the venue's folder.
  public var image: String
  /// The width of the image in pixels.
  public var width: Int
  /// The height of the image in pixels.
  public var height: Int
  /// The alignment of the image with the Earth.
  public var alignment: PlanAlignment

  /// Makes a floor plan.
  public init(image: String, width: Int, height: Int, alignment: PlanAlignment) {
    self.image = image
    self.width = width
    self.height = height
    self.alignment = alignment
  }
}

extension Floor {
  /// The pixel of the floor plan at a place of the floor; nil without a plan.
  public func pixel(of point: Point) -> Pixel? {
    guard let plan, let coordinate = plane.coordinate(of: point) else { return nil }
    return plan.alignment.pixel(of: coordinate)
  }

  /// The place of the floor at a pixel of its plan; nil without a plan, or far outside of it.
  public func point(of pixel: Pixel) -> Point? {
    guard let plan else { return nil }
    return plane.point(of: plan.alignment.coordinate(of: pixel))
  }
}
