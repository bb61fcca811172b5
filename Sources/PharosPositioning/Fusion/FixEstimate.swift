public import PharosEvents
public import PharosPlaces
public import PharosReports

/// Where a subject was at a time, as its ``Locator`` has it.
public struct FixEstimate: Hashable, Sendable {
  /// When the subject was there: nothing that happened later was used.
  public var time: Timestamp
  /// The floor, or nil outdoors.
  public var floor: FloorID?
  /// The place on the floor's plane; the origin outdoors.
  public var point: Point
  /// The place on the Earth, or nil where the floor's plane does not reach.
  public var coordinate: Coordinate?
  /// The radius meant to hold 68 % of truths.
  ///
  /// - Units: metres.
  public var horizontalAccuracy: Double
  /// How fast the subject moves, where that is known.
  ///
  /// - Units: m/s.
  public var speed: Double?
  /// Where it moves to, where that is known.
  ///
  /// - Units: radians from north clockwise.
  public var course: Double?
  /// What the fix was made from.
  public var sources: FixSources
  /// The age of the newest radio or outside evidence at the fix's time.
  public var age: TimeSpan
  /// Whether the handset should keep its satellite receiver on.
  public var satellites: SatelliteAdvice

  /// Makes an estimate.
  public init(
    time: Timestamp,
    floor: FloorID?,
    point: Point,
    coordinate: Coordinate?,
    horizontalAccuracy: Double,
    speed: Double? = nil,
    course: Double? = nil,
    sources: FixSources,
    age: TimeSpan,
    satellites: SatelliteAdvice
  ) {
    self.time = time
    self.floor = floor
    self.point = point
    self.coordinate = coordinate
    self.horizontalAccuracy = horizontalAccuracy
    self.speed = speed
    self.course = course
    self.sources = sources
    self.age = age
    self.satellites = satellites
  }
}
