public import PharosPlaces
public import PharosReports

/// A house of several floors with people in it: handsets that hear what hangs there, and tags that observers there hear.
///
/// Beacons, observers and access points are those that the venue's floors place. A scene says nothing by chance; together
/// with a seed it becomes an ``IndoorSimulation``.
public struct IndoorScene: Hashable, Sendable {
  /// What hangs in the house, and how it transmits.
  public struct Emission: Hashable, Sendable {
    /// The level of beacons at one metre, in dBm.
    public var beaconPower: Double
    /// The time from one advert of a beacon to the next.
    public var beaconInterval: TimeSpan
    /// The level of access points at one metre, in dBm.
    public var accessPointPower: Double
    /// The centre frequency of access points, in MHz.
    public var frequency: UInt16

    /// Makes an emission; the defaults are what such devices have.
    public init(
      beaconPower: Double = -59,
      beaconInterval: TimeSpan = .milliseconds(300),
      accessPointPower: Double = -38,
      frequency: UInt16 = 2_437
    ) {
      self.beaconPower = beaconPower
      self.beaconInterval = beaconInterval
      self.accessPointPower = accessPointPower
      self.frequency = frequency
    }
  }

  /// A name of one word, as on a command line.
  public var name: String
  /// What happens, in a sentence.
  public var summary: String
  /// When it begins.
  public var start: Timestamp
  /// How long it lasts.
  public var duration: TimeSpan
  /// The house.
  public var venue: Venue
  /// How high its storeys are, in metres.
  public var storey: Double
  /// How radio spreads.
  public var radio: IndoorRadio
  /// How what hangs there transmits.
  public var emission: Emission
  /// Access points that truly hang elsewhere than the venue says.
  public var moved: [DeviceAddress: IndoorAir.Station]
  /// The handsets, each identity once.
  public var handsets: [Handset]
  /// The tags, each identity once.
  public var tags: [CarriedTag]

  /// Makes a scene.
  public init(
    name: String,
    summary: String = "",
    start: Timestamp = Scene.defaultStart,
    duration: TimeSpan,
    venue: Venue,
    storey: Double = 4.5,
    radio: IndoorRadio = IndoorRadio(),
    emission: Emission = Emission(),
    moved: [DeviceAddress: IndoorAir.Station] = [:],
    handsets: [Handset] = [],
    tags: [CarriedTag] = []
  ) {
    self.name = name
    self.summary = summary
    self.start = start
    self.duration = duration
    self.venue = venue
    self.storey = storey
    self.radio = radio
    self.emission = emission
    self.moved = moved
    self.handsets = handsets
    self.tags = tags
  }
}
