package import PharosEvents
package import PharosPlaces
package import PharosReports

/// Where a subject was at a time, as its ``Locator`` has it.
package struct FixEstimate: Hashable, Sendable {
  /// When the subject was there: nothing that happened later was used.
  package var time: Timestamp
  /// The floor, or nil outdoors.
  package var floor: FloorID?
  /// The place on the floor's plane; the origin outdoors.
  package var point: Point
  /// The place on the Earth, or nil where the floor's plane does not reach.
  package var coordinate: Coordinate?
  /// The radius meant to hold 68 % of truths.
  ///
  /// - Units: metres.
  package var horizontalAccuracy: Double
  /// How fast the subject moves, where that is known.
  ///
  /// - Units: m/s.
  package var speed: Double?
  /// Where it moves to, where that is known.
  ///
  /// - Units: radians from north clockwise.
  package var course: Double?
  /// What the fix was made from.
  package var sources: FixSources
  /// The age of the newest radio or outside evidence at the fix's time.
  package var age: TimeSpan
  /// Whether the handset should keep its satellite receiver on.
  package var satellites: SatelliteAdvice

  /// Makes an estimate.
  package init(
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
