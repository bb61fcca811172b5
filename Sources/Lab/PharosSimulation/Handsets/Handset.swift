package import PharosModel

/// A handset that a person carries about, and the data that it reports.
package struct Handset: Hashable, Sendable {
  /// The motion data that a handset reports.
  package enum MotionReports: Hashable, Sendable {
    /// Nothing.
    case none
    /// The steps that it detects itself.
    case steps
    /// The readings of its sensors; rotation vector or magnetometer may be missing.
    case raw(Sensors)
  }

  /// The motion sensors of a handset, and their sample rate.
  package struct Sensors: Hashable, Sendable {
    /// The number of samples per second of each sensor.
    package var rate: Int
    /// Indicates whether it has a rotation vector, which the platform derives from the others.
    package var hasRotationVector: Bool
    /// Indicates whether it has a gyroscope.
    package var hasGyroscope: Bool
    /// Indicates whether it has a magnetometer.
    package var hasMagnetometer: Bool

    /// Makes a set of sensors; an accelerometer is always among them.
    package init(
      rate: Int = 50,
      hasRotationVector: Bool = true,
      hasGyroscope: Bool = true,
      hasMagnetometer: Bool = false
    ) {
      self.rate = rate
      self.hasRotationVector = hasRotationVector
      self.hasGyroscope = hasGyroscope
      self.hasMagnetometer = hasMagnetometer
    }
  }

  /// The period of Wi-Fi scans, and the time for which the platform repeats the access points it heard.
  package struct WiFiScans: Hashable, Sendable {
    /// The time from one scan to the next.
    ///
    /// - Source: Android gave 2 s on older handsets; since version 9 it throttles to four scans in two minutes: 30 s.
    package var period: TimeSpan
    /// The chance that a scan hears an access point that could be heard: it listens only briefly on each channel.
    package var hearing: Double
    /// The time for which the platform repeats an access point that it no longer hears.
    package var memory: TimeSpan

    /// Makes scans.
    package init(
      period: TimeSpan = .seconds(2),
      hearing: Double = 0.6,
      memory: TimeSpan = .seconds(30)
    ) {
      self.period = period
      self.hearing = hearing
      self.memory = memory
    }
  }

  /// The beacon data that a handset reports.
  package enum BeaconReports: Hashable, Sendable {
    /// Nothing.
    case none
    /// Every advert with its address.
    case adverts
    /// The beacons that its platform ranged, once per ``Handset/period``.
    case ranged
  }

  /// Its identity.
  package var id: ObserverID
  /// The way of its carrier.
  package var journey: Journey
  /// The motion data that a handset reports.
  package var motion: MotionReports
  /// Indicates whether it has a barometer.
  package var hasBarometer: Bool
  /// Its Wi-Fi scans, or nil for none.
  package var wiFi: WiFiScans?
  /// The beacon data that a handset reports.
  package var beacons: BeaconReports
  /// Indicates whether it has a satellite receiver.
  package var hasSatellites: Bool
  /// The times at which a visual positioning service has located it, since the scene began.
  package var visualScans: [TimeSpan]
  /// The gain of its antenna.
  ///
  /// - Units: dB; handsets of different make lie within ±6.
  package var gain: Double
  /// The attenuation by its carrier's body straight behind the carrier.
  ///
  /// - Units: dB.
  package var bodyLoss: Double
  /// The clockwise offset of the heading that it reports from the direction of its carrier.
  ///
  /// - Units: radians.
  package var headingBias: Double
  /// The period at which it sends.
  package var period: TimeSpan
  /// The host that its datagrams come from, as text.
  package var sourceAddress: String
  /// The network between it and the server.
  package var network: Network
  /// The boot id of its run.
  package var bootID: UInt32

  /// Makes a handset.
  package init(
    id: ObserverID,
    journey: Journey,
    motion: MotionReports = .raw(Sensors()),
    hasBarometer: Bool = true,
    wiFi: WiFiScans? = WiFiScans(),
    beacons: BeaconReports = .adverts,
    hasSatellites: Bool = false,
    visualScans: [TimeSpan] = [],
    gain: Double = 0,
    bodyLoss: Double = 4,
    headingBias: Double = 0,
    period: TimeSpan = .milliseconds(500),
    sourceAddress: String = "192.0.2.1",
    network: Network = Network(),
    bootID: UInt32 = 1
  ) {
    self.id = id
    self.journey = journey
    self.motion = motion
    self.hasBarometer = hasBarometer
    self.wiFi = wiFi
    self.beacons = beacons
    self.hasSatellites = hasSatellites
    self.visualScans = visualScans
    self.gain = gain
    self.bodyLoss = bodyLoss
    self.headingBias = headingBias
    self.period = period
    self.sourceAddress = sourceAddress
    self.network = network
    self.bootID = bootID
  }
}
