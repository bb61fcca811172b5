public import PharosPlaces

/// What a survey covered, and what was made of it.
public struct SurveyReport: Hashable, Sendable {
  /// Why an emitter is not in the map.
  public enum Reason: String, Hashable, CaseIterable, Sendable {
    /// It was heard too seldom.
    case tooFew
    /// It was heard in one moment of one walk alone: a passer-by rather than a fixture.
    case fleeting
    /// Where it was strong does not fit one place: it moves, or several share its identity.
    case moving
    /// The map holds as many emitters as it may.
    case tooMany
  }

  /// One floor.
  public struct FloorCoverage: Hashable, Sendable {
    /// Which floor.
    public var floor: FloorID
    /// Walks on it.
    public var walks: Int
    /// How far they led.
    ///
    /// - Units: metres.
    public var meters: Double
    /// Readings of access points that count, each moment once.
    public var accessPointReadings: Int
    /// Readings of beacons.
    public var beaconReadings: Int
    /// Emitters that the map tells levels of here.
    public var emitters: Int
    /// The share of the walkable cells that lie within 3 m of a walk; nil where nothing says what is walkable.
    public var surveyedShare: Double?
    /// The grid that the following lists are over, row by row.
    public var grid: RadioGrid
    /// How often each cell was walked through, held at 255.
    public var passes: [UInt8]
    /// How many emitters are expected at −90 dBm or more in each cell, held at 255.
    public var audible: [UInt8]
    /// How far the levels of those are known, in each cell: their mean deviation in tenths of a decibel.
    public var doubt: [UInt8]
    /// Whether one can walk in each cell, as far as its middle tells.
    public var isWalkable: [Bool]
  }

  /// Walks that were taken in.
  public var walks = 0
  /// How far they led together.
  ///
  /// - Units: metres.
  public var meters = 0.0
  /// Walks with a floor that the venue does not have, by name.
  public var strangeWalks: [String] = []
  /// Walks with fewer than two waypoints, or with impossible ones, by name: nothing says where they led.
  public var placelessWalks: [String] = []
  /// Repeated entries of Wi-Fi scans, which are no new measurement.
  public var repeatedReadings = 0
  /// Readings from before the first or after the last waypoint.
  public var placelessReadings = 0
  /// Stretches between two waypoints that follow the walker's steps, and those at an even pace.
  public var pacedStretches = 0
  /// Stretches between two waypoints that were taken at an even pace, for want of motion.
  public var evenStretches = 0
  /// Access points in the map.
  public var accessPoints = 0
  /// Beacons in the map.
  public var beacons = 0
  /// Emitters left out, by reason.
  public var leftOut: [Reason: Int] = [:]
  /// Emitters whose place was found.
  public var anchored = 0
  /// Floor by floor, in the order of the map.
  public var floors: [FloorCoverage] = []

  /// Makes an empty report.
  public init() {}
}
