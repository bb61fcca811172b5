public import PharosModel
public import PharosSpace

/// A route through a venue, in steps.
public struct WalkingRoute: Hashable, Sendable {
  /// The length in metres; on stairs, lifts, escalators and ramps only the horizontal way counts.
  public var distance: Double
  /// The time in seconds.
  public var duration: Double
  /// The steps from the departure to the arrival.
  public var steps: [RouteStep]

  /// The floors in the order in which the route uses them.
  public var floors: [FloorID] {
    var floors: [FloorID] = []
    for step in steps where floors.last != step.floor { floors.append(step.floor) }
    return floors
  }
}

/// A step of a route: a manoeuvre, and the way to the next one.
public struct RouteStep: Hashable, Sendable {
  /// The manoeuvre at its start.
  public var maneuver: Maneuver
  /// The length in metres.
  public var distance: Double
  /// The time in seconds.
  public var duration: Double
  /// The floor that it starts on.
  public var floor: FloorID
  /// The points of the way on the floor's plane; a ride has its first stop only.
  public var points: [Point]
  /// The same on the Earth.
  public var geometry: [Coordinate]
}

/// What to do at a place of a route.
public struct Maneuver: Hashable, Sendable {
  /// The kind of manoeuvre.
  public enum Kind: String, CaseIterable, Hashable, Sendable {
    /// The start.
    case depart
    /// The goal.
    case arrive
    /// A turn.
    case turn
    /// Taking stairs to another level.
    case stairs = "take stairs"
    /// Taking a lift to another level.
    case lift = "take lift"
    /// Taking an escalator to another level.
    case escalator = "take escalator"
    /// Taking a ramp to another level.
    case ramp = "take ramp"
    /// Walking on after stairs, a lift, an escalator or a ramp.
    case resume = "continue"
    /// Going into a building or a place.
    case enter
    /// Going out of a building or a place.
    case leave
    /// Going through a door.
    case door = "pass door"
  }

  /// The direction of a turn, or the side on which something lies.
  public enum Modifier: String, CaseIterable, Hashable, Sendable {
    /// Back.
    case turnAround = "uturn"
    /// More than 120° to the left.
    case sharpLeft = "sharp left"
    /// To the left.
    case left
    /// Less than 50° to the left.
    case slightLeft = "slight left"
    /// Ahead.
    case straight
    /// Less than 50° to the right.
    case slightRight = "slight right"
    /// To the right.
    case right
    /// More than 120° to the right.
    case sharpRight = "sharp right"

    /// The direction of an angle in degrees, clockwise from straight on.
    public init(degrees: Double) {
      let turned = degrees - 360 * (degrees / 360).rounded()
      switch turned.magnitude {
      case ..<Modifier.straightest: self = .straight
      case ..<50: self = turned < 0 ? .slightLeft : .slightRight
      case ..<120: self = turned < 0 ? .left : .right
      case ..<165: self = turned < 0 ? .sharpLeft : .sharpRight
      default: self = .turnAround
      }
    }

    /// The angle below which a bend is no turn.
    ///
    /// - Units: degrees.
    static let straightest = 25.0
  }

  /// The kind.
  public var kind: Kind
  /// The direction, if there is one.
  public var modifier: Modifier?
  /// The direction of the way before it, clockwise from north; 0 at the departure.
  ///
  /// - Units: degrees, 0 to 359.
  public var bearingBefore: Int
  /// The direction of the way after it, clockwise from north; 0 at the arrival.
  ///
  /// - Units: degrees, 0 to 359.
  public var bearingAfter: Int
  /// The place on the floor's plane.
  public var point: Point
  /// The place on the Earth.
  public var coordinate: Coordinate
  /// The level on which it happens.
  public var level: Int
  /// The level that a connector is taken to; nil for other kinds.
  public var targetLevel: Int?
  /// The name of the door, place or building; empty if it has none.
  public var name: String
  /// The people that what it leads through is meant for.
  public var access = Access.everyone
}

/// The options of a route.
public struct RouteOptions: Hashable, Sendable {
  /// Indicates whether to avoid steps, and places and doors that a wheelchair cannot use.
  public var isAccessible: Bool
  /// The kinds of connectors to avoid.
  public var avoided: Set<Connector.Kind>
  /// The maximum number of alternatives to the fastest route, 0 to 3.
  public var alternatives: Int
  /// The time of the departure, by which opening hours are read; nil takes everything as open.
  public var departure: Timestamp?

  /// Makes options.
  public init(
    isAccessible: Bool = false,
    avoided: Set<Connector.Kind> = [],
    alternatives: Int = 0,
    departure: Timestamp? = nil
  ) {
    self.isAccessible = isAccessible
    self.avoided = avoided
    self.alternatives = alternatives
    self.departure = departure
  }

  /// The maximum number of alternatives.
  public static let maximumAlternatives = 3
}

/// An end of a route.
public enum Waypoint: Hashable, Sendable {
  /// A position on a level.
  case coordinate(Coordinate, level: Int)
  /// A place or an entrance by its identifier or name; of several, the one that is reached first.
  case place(String)

  /// Reads `latitude,longitude,level`; nil for any other text.
  public init?(position text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
    guard parts.count == 3, let latitude = Double(parts[0]), let longitude = Double(parts[1]),
      let level = Int(parts[2]), let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    else { return nil }
    self = .coordinate(coordinate, level: level)
  }

  /// Returns whether a text is meant as a position: three numbers, whether there is such a place or not.
  package static func isPosition(_ text: String) -> Bool {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
    return parts.count == 3 && parts.allSatisfy { Double($0) != nil }
  }

  /// The end that a request for guidance names; nil for a subject, which is wherever it is.
  public init?(_ destination: GuidanceRequest.Destination) {
    switch destination {
    case .subject: return nil
    case .place(let name): self = .place(name)
    case .position(let position):
      let coordinate = Coordinate(latitude: position.latitude, longitude: position.longitude)
      self = coordinate.map { .coordinate($0, level: position.level) } ?? .place(destination.description)
    }
  }
}
