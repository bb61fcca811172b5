package import PharosPlaces
package import PharosReports

/// A house of several floors with people in it: handsets that hear what hangs there, and tags that observers there hear.
///
/// Beacons, observers and access points are those that the venue's floors place. A scene says nothing by chance; together
/// with a seed it becomes an ``IndoorSimulation``.
package struct IndoorScene: Hashable, Sendable {
  /// What hangs in the house, and how it transmits.
  package struct Emission: Hashable, Sendable {
    /// The level of beacons at one metre, in dBm.
    package var beaconPower: Double
    /// The time from one advert of a beacon to the next.
    package var beaconInterval: TimeSpan
    /// The level of access points at one metre, in dBm.
    package var accessPointPower: Double
    /// The centre frequency of access points, in MHz.
    package var frequency: UInt16

    /// Makes an emission; the defaults are what such devices have.
    package init(
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
  package var name: String
  /// What happens, in a sentence.
  package var summary: String
  /// When it begins.
  package var start: Timestamp
  /// How long it lasts.
  package var duration: TimeSpan
  /// The house.
  package var venue: Venue
  /// How high its storeys are, in metres.
  package var storey: Double
  /// How radio spreads.
  package var radio: IndoorRadio
  /// How what hangs there transmits.
  package var emission: Emission
  /// Access points that truly hang elsewhere than the venue says.
  package var moved: [DeviceAddress: IndoorAir.Station]
  /// The handsets, each identity once.
  package var handsets: [Handset]
  /// The tags, each identity once.
  package var tags: [CarriedTag]

  /// Makes a scene.
  package init(
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
