public import PharosDocuments

/// The route that a subject is to follow: a line through waypoints.
///
/// It is assigned while the server runs. The subject's location is matched with it.
public struct Itinerary: Hashable, Sendable {
  /// A place on the route.
  public struct Waypoint: Hashable, Sendable {
    /// Degrees north, WGS 84.
    public var latitude: Double
    /// Degrees east, WGS 84.
    public var longitude: Double
    /// The number of the floor; 0 is the ground floor.
    public var level: Int

    /// Makes a waypoint.
    public init(latitude: Double, longitude: Double, level: Int = 0) {
      self.latitude = latitude
      self.longitude = longitude
      self.level = level
    }

    /// Indicates whether it is a place on the Earth.
    public var isValid: Bool {
      (-90...90).contains(latitude) && (-180...180).contains(longitude) && (-1_000...1_000).contains(level)
    }
  }

  /// The waypoints in order.
  public var waypoints: [Waypoint]

  /// The number of waypoints that a route may have.
  public static let lengths = 2...1_000

  /// Makes a route through waypoints.
  public init(_ waypoints: [Waypoint]) { self.waypoints = waypoints }

  /// Indicates whether it is a route: enough waypoints, not too many, all of them on the Earth.
  public var isValid: Bool {
    Itinerary.lengths.contains(waypoints.count) && waypoints.allSatisfy(\.isValid)
  }
}

extension Itinerary: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let itinerary = Itinerary(try coder.field(value().waypoints))
    try coder.check(itinerary.isValid, "an itinerary")
    return itinerary
  }
}

extension Itinerary.Waypoint: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Itinerary.Waypoint(
      latitude: try coder.field(value().latitude),
      longitude: try coder.field(value().longitude),
      level: try coder.field(value().level)
    )
  }
}

/// The place of a subject along its itinerary.
public struct ItineraryProgress: Hashable, Sendable {
  /// The way along the route in metres.
  public var distance: Double
  /// The same as a share of the whole route, 0 to 1.
  public var share: Double
  /// The distance from the route in metres.
  public var deviation: Double
  /// Indicates whether the subject has left the route.
  public var isOffRoute: Bool
  /// The nearest place on the route in degrees north, or nil where the floor is bound to no place on the Earth.
  public var latitude: Double?
  /// The nearest place on the route in degrees east, or nil where the floor is bound to no place on the Earth.
  public var longitude: Double?

  /// Makes a progress.
  public init(
    distance: Double,
    share: Double,
    deviation: Double,
    isOffRoute: Bool,
    latitude: Double? = nil,
    longitude: Double? = nil
  ) {
    self.distance = distance
    self.share = share
    self.deviation = deviation
    self.isOffRoute = isOffRoute
    self.latitude = latitude
    self.longitude = longitude
  }
}

extension ItineraryProgress: EventMembers {
  static var unread: ItineraryProgress {
    ItineraryProgress(distance: 0, share: 0, deviation: 0, isOffRoute: false)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("distance", &distance, decimals: 1, "Metres along the route.")
    try coder.member(
      "share",
      &share,
      decimals: 4,
      MemberNote("The same as a share of the whole route.", minimum: 0, maximum: 1)
    )
    try coder.member("deviation", &deviation, decimals: 2, MemberNote("Metres from the route.", minimum: 0))
    try coder.member("offRoute", &isOffRoute, decimals: 0, "Whether the subject has left the route.")
    try coder.member(
      "latitude",
      &writtenLatitude,
      decimals: 8,
      "The nearest place on the route; degrees north."
    )
    try coder.member(
      "longitude",
      &writtenLongitude,
      decimals: 8,
      "The nearest place on the route; degrees east."
    )
  }

  private var writtenLatitude: Double? {
    get { longitude == nil ? nil : latitude }
    set { latitude = newValue }
  }

  private var writtenLongitude: Double? {
    get { latitude == nil ? nil : longitude }
    set { longitude = newValue }
  }
}
