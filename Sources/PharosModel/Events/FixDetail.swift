/// The estimated location of a subject and its properties.
public struct FixDetail: Hashable, Sendable {
  /// The venue's identifier.
  public var venue: String
  /// The building's identifier; empty outdoors, where there is no floor.
  public var building: String
  /// The floor's number, 0 for the ground floor; 0 outdoors.
  public var level: Int
  /// The display name of the floor; empty outdoors, or where the venue gives it no name.
  public var floorName: String
  /// Degrees north, WGS 84, or nil if the floor is bound to no place on the Earth.
  public var latitude: Double?
  /// Degrees east, WGS 84, or nil if the floor is bound to no place on the Earth.
  public var longitude: Double?
  /// The distance east on the floor's plane; without meaning outdoors.
  ///
  /// - Units: metres.
  public var x: Double
  /// The distance north on the floor's plane; without meaning outdoors.
  ///
  /// - Units: metres.
  public var y: Double
  /// The radius meant to hold 68 % of truths.
  ///
  /// - Units: metres.
  public var horizontalAccuracy: Double
  /// The speed, or nil if it is not known.
  ///
  /// - Units: m/s.
  public var speed: Double?
  /// The direction in which the subject moves, clockwise from north, or nil if it is not known to move.
  ///
  /// - Units: radians; JSON states it in degrees, as Core Location does.
  public var course: Double?
  /// The kinds of evidence that the fix was computed from.
  public var sources: FixSources
  /// The age of the newest evidence from a radio, or from outside, at the time of the fix.
  public var age: TimeSpan
  /// The advice on whether the subject's satellite receiver is worth its power here.
  public var satellites: SatelliteAdvice

  /// Makes a fix; what is left out is not known.
  public init(
    venue: String,
    building: String = "",
    level: Int = 0,
    floorName: String = "",
    latitude: Double? = nil,
    longitude: Double? = nil,
    x: Double = 0,
    y: Double = 0,
    horizontalAccuracy: Double,
    speed: Double? = nil,
    course: Double? = nil,
    sources: FixSources,
    age: TimeSpan,
    satellites: SatelliteAdvice = .needed
  ) {
    self.venue = venue
    self.building = building
    self.level = level
    self.floorName = floorName
    self.latitude = latitude
    self.longitude = longitude
    self.x = x
    self.y = y
    self.horizontalAccuracy = horizontalAccuracy
    self.speed = speed
    self.course = course
    self.sources = sources
    self.age = age
    self.satellites = satellites
  }

  /// Indicates whether the subject is on a floor of a building.
  public var isIndoors: Bool { !building.isEmpty }
}

/// The kinds of evidence that a fix was computed from.
public struct FixSources: OptionSet, Hashable, Sendable {
  /// A bit for each source.
  public let rawValue: UInt8

  /// Makes sources from their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Wi-Fi scans.
  public static let wifi = FixSources(rawValue: 1 << 0)
  /// Beacons that the subject hears.
  public static let beacons = FixSources(rawValue: 1 << 1)
  /// Its motion.
  public static let motion = FixSources(rawValue: 1 << 2)
  /// Locations from outside: satellites, or a visual positioning service.
  public static let outside = FixSources(rawValue: 1 << 3)
  /// Fixed observers that hear the subject.
  public static let observers = FixSources(rawValue: 1 << 4)
  /// Every source there is.
  public static let all: FixSources = [.wifi, .beacons, .motion, .outside, .observers]

  /// The sources as events spell them, in the order of their bits.
  public static let names: [(source: FixSources, name: String)] = [
    (.wifi, "wifi"), (.beacons, "beacons"), (.motion, "motion"), (.outside, "outside"),
    (.observers, "observers"),
  ]
}

/// The advice to a handset on the use of its satellite receiver.
///
/// Indoors the receiver takes most of the power that positioning takes, and contributes least.
public enum SatelliteAdvice: UInt8, Hashable, Sendable {
  /// It is worth its power: the handset is outdoors, or it is not known whether it is.
  case needed
  /// It may be turned off: what is heard indoors says more.
  case notNeeded

  /// The advice as events spell it.
  public var name: String {
    switch self {
    case .needed: "needed"
    case .notNeeded: "notNeeded"
    }
  }
}
