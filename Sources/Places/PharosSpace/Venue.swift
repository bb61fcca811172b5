public import PharosModel

/// A place with an inside: its buildings, their floors, and the ways between floors.
public struct Venue: Hashable, Sendable {
  /// The identifier in files and events.
  public var identifier: String
  /// The display name.
  public var name: String
  /// The buildings, each with an identifier of its own.
  public var buildings: [Building]
  /// The stairs, lifts and escalators.
  public var connectors: [Connector]
  /// The local time, by which opening hours are read.
  public var localTime: LocalTime
  /// The postal address, of one or several lines; nil if it is not known.
  public var address: String?
  /// Indicates whether rooms without doors were opened towards the corridors that they touch.
  public var hasOpenRooms = false
  /// The height of mean sea level above the WGS 84 ellipsoid at the venue, or nil if it is not known.
  ///
  /// With it an altitude above one is known above the other as well.
  ///
  /// - Units: metres.
  public var geoidHeight: Double?

  /// Makes a venue.
  public init(
    identifier: String,
    name: String = "",
    buildings: [Building] = [],
    connectors: [Connector] = [],
    localTime: LocalTime = LocalTime()
  ) {
    self.identifier = identifier
    self.name = name
    self.buildings = buildings
    self.connectors = connectors
    self.localTime = localTime
  }

  /// A floor by its building and number.
  public func floor(_ id: FloorID) -> Floor? {
    buildings.first { $0.identifier == id.building }?.floor(id.level)
  }

  /// Every floor, building by building.
  public var floors: [(id: FloorID, floor: Floor)] {
    buildings.flatMap { building in
      building.floors.map { (FloorID(building: building.identifier, level: $0.level), $0) }
    }
  }
}

extension Venue {
  /// Indicates whether a place, a door or a connector has opening hours.
  package var hasOpeningHours: Bool {
    connectors.contains { $0.hours != nil }
      || floors.contains { _, floor in
        floor.pointsOfInterest.contains { $0.hours != nil } || floor.doors.contains { $0.hours != nil }
      }
  }

  /// The heights that mean sea level may have above the ellipsoid in metres.
  ///
  /// - Source: EGM2008: −107 m south of India to 86 m by New Guinea.
  package static let geoidHeights = -110.0...90.0

  /// Returns the distance of a coordinate from the nearest floor: 0 within its rectangle; nil for a venue without extent.
  ///
  /// - Units: metres.
  public func distance(to coordinate: Coordinate) -> Double? {
    floors.compactMap { _, floor -> Double? in
      guard let extent = floor.extent else { return nil }
      guard let point = floor.plane.point(of: coordinate) else {
        return floor.plane.coordinate(of: extent.middle)?.distance(to: coordinate)
      }
      let nearest = Point(
        x: min(max(point.x, extent.southWest.x), extent.northEast.x),
        y: min(max(point.y, extent.southWest.y), extent.northEast.y)
      )
      return nearest == point ? 0 : floor.plane.coordinate(of: nearest)?.distance(to: coordinate)
    }
    .min()
  }
}

/// A building of a venue.
public struct Building: Hashable, Sendable {
  /// The identifier in files and events.
  public var identifier: String
  /// The display name.
  public var name: String
  /// Its floors, the lowest first, each number once.
  public var floors: [Floor]
  /// The postal address, of one or several lines; nil for that of the venue.
  public var address: String?

  /// Makes a building; the floors are put in order.
  public init(identifier: String, name: String = "", floors: [Floor] = []) {
    self.identifier = identifier
    self.name = name
    self.floors = floors.sorted { $0.level < $1.level }
  }

  /// A floor by its number.
  public func floor(_ level: Int) -> Floor? { floors.first { $0.level == level } }
}

/// The identity of a floor: its building and its number.
public struct FloorID: Hashable, Comparable, Sendable {
  /// The building's identifier.
  public var building: String
  /// The floor's number, 0 for the ground floor.
  public var level: Int

  /// Names a floor.
  public init(building: String, level: Int) {
    self.building = building
    self.level = level
  }

  /// Orders floors by building, then from the lowest upwards.
  public static func < (left: FloorID, right: FloorID) -> Bool {
    (left.building, left.level) < (right.building, right.level)
  }
}

extension FloorID: CustomStringConvertible {
  /// Building and number, as in `main/0`.
  public var description: String { "\(building)/\(level)" }
}

/// A way from floor to floor.
public struct Connector: Hashable, Sendable {
  /// The kind of connector.
  public enum Kind: String, CaseIterable, Hashable, Sendable {
    /// Stairs.
    case stairs
    /// A lift.
    case lift
    /// An escalator.
    case escalator
    /// A ramp.
    case ramp

    /// Indicates whether a wheelchair can use connectors of this kind.
    public var isStepFree: Bool { self == .lift || self == .ramp }
  }

  /// The direction in which people can use a connector.
  public enum Direction: String, CaseIterable, Hashable, Sendable {
    /// Up and down.
    case both
    /// Only from lower to higher floors.
    case up
    /// Only from higher to lower floors.
    case down
  }

  /// The place at which a connector meets a floor.
  public struct Stop: Hashable, Sendable {
    /// The floor.
    public var floor: FloorID
    /// The place on that floor's plane.
    public var point: Point

    /// Makes a stop.
    public init(floor: FloorID, point: Point) {
      self.floor = floor
      self.point = point
    }
  }

  /// The identifier.
  public var identifier: String
  /// The kind of connector.
  public var kind: Kind
  /// The places at which it meets the floors that it joins.
  public var stops: [Stop]
  /// The direction in which it leads.
  public var direction: Direction
  /// Indicates whether a wheelchair can use it.
  public var isAccessible: Bool
  /// The times at which it runs or is open; nil if it always is.
  public var hours: OpeningHours?
  /// The people that it is meant for.
  public var access = Access.everyone

  /// Makes a connector for everyone.
  ///
  /// - Parameters:
  ///   - identifier: the identifier.
  ///   - kind: the kind.
  ///   - stops: the places at which it meets floors.
  ///   - direction: the direction in which it leads.
  ///   - isAccessible: indicates whether a wheelchair can use it; nil for what is usual of its kind.
  ///   - hours: the times at which it is open.
  public init(
    identifier: String,
    kind: Kind,
    stops: [Stop],
    direction: Direction = .both,
    isAccessible: Bool? = nil,
    hours: OpeningHours? = nil
  ) {
    self.identifier = identifier
    self.kind = kind
    self.stops = stops
    self.direction = direction
    self.isAccessible = isAccessible ?? kind.isStepFree
    self.hours = hours
  }
}
