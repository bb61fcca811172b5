package import PharosReports

/// Somebody who walks about with a handset, and what it tells.
package struct Handset: Hashable, Sendable {
  /// What it tells of motion.
  package enum MotionReports: Hashable, Sendable {
    /// Nothing.
    case none
    /// The steps that it found itself.
    case steps
    /// What its sensors read; rotation vector or magnetometer may be missing.
    case raw(Sensors)
  }

  /// Which motion sensors it has, and how good they are.
  package struct Sensors: Hashable, Sendable {
    /// How many samples each gives a second.
    package var rate: Int
    /// Whether it has a rotation vector, which the platform makes of the others.
    package var hasRotationVector: Bool
    /// Whether it has a gyroscope.
    package var hasGyroscope: Bool
    /// Whether it has a magnetometer.
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

  /// When it scans for Wi-Fi, and how long its platform repeats what it heard.
  package struct WiFiScans: Hashable, Sendable {
    /// The time from one scan to the next.
    ///
    /// - Source: Android gave 2 s on older handsets; since version 9 it throttles to four scans in two minutes: 30 s.
    package var period: TimeSpan
    /// The chance that a scan hears an access point that could be heard: it listens only briefly on each channel.
    package var hearing: Double
    /// For how long the platform repeats an access point that is heard no more.
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

    /// What a throttled handset has: a scan every 30 seconds, each of them thorough.
    package static let throttled = WiFiScans(period: .seconds(30), hearing: 0.9)
  }

  /// What it tells of beacons.
  package enum BeaconReports: Hashable, Sendable {
    /// Nothing.
    case none
    /// Every advert with its address.
    case adverts
    /// What its platform ranged, once a second.
    case ranged
  }

  /// Who it says it is.
  package var id: ObserverID
  /// The way of its carrier.
  package var journey: Journey
  /// What it tells of motion.
  package var motion: MotionReports
  /// Whether it has a barometer.
  package var hasBarometer: Bool
  /// Its Wi-Fi scans, or nil for none.
  package var wiFi: WiFiScans?
  /// What it tells of beacons.
  package var beacons: BeaconReports
  /// Whether it has a satellite receiver.
  package var hasSatellites: Bool
  /// What its antenna adds to every level.
  ///
  /// - Units: dB; handsets of different make lie within ±6.
  package var gain: Double
  /// What the body of its carrier takes from what is straight behind them.
  ///
  /// - Units: dB.
  package var bodyLoss: Double
  /// By how much the heading that it tells lies beside the way of its carrier, clockwise.
  ///
  /// - Units: radians.
  package var headingBias: Double
  /// How often it sends.
  package var period: TimeSpan
  /// Where its datagrams come from: a host as text.
  package var sourceAddress: String
  /// The network between it and the server.
  package var network: Network

  /// Makes a handset.
  package init(
    id: ObserverID,
    journey: Journey,
    motion: MotionReports = .raw(Sensors()),
    hasBarometer: Bool = true,
    wiFi: WiFiScans? = WiFiScans(),
    beacons: BeaconReports = .adverts,
    hasSatellites: Bool = false,
    gain: Double = 0,
    bodyLoss: Double = 4,
    headingBias: Double = 0,
    period: TimeSpan = .milliseconds(500),
    sourceAddress: String = "192.0.2.1",
    network: Network = Network()
  ) {
    self.id = id
    self.journey = journey
    self.motion = motion
    self.hasBarometer = hasBarometer
    self.wiFi = wiFi
    self.beacons = beacons
    self.hasSatellites = hasSatellites
    self.gain = gain
    self.bodyLoss = bodyLoss
    self.headingBias = headingBias
    self.period = period
    self.sourceAddress = sourceAddress
    self.network = network
  }
}
