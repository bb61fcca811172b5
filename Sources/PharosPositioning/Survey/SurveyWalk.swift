public import PharosPlaces
public import PharosReports

/// What a handset recorded on a walk through one floor, with the places where the surveyor said to be.
///
/// Lists may be in any order; the learner sorts them.
public struct SurveyWalk: Hashable, Sendable {
  /// A place that the surveyor marked on the plan when standing there.
  public struct Waypoint: Hashable, Sendable {
    /// When.
    public var time: Timestamp
    /// The place on the floor's plane.
    public var point: Point

    /// Makes a waypoint.
    public init(time: Timestamp, point: Point) {
      self.time = time
      self.point = point
    }
  }

  /// An access point in a Wi-Fi scan.
  ///
  /// Scans repeat what earlier ones found: of entries with the same address and ``heard`` the first one counts.
  public struct AccessPointReading: Hashable, Sendable {
    /// When the scan was delivered.
    public var time: Timestamp
    /// When the access point was really heard.
    public var heard: Timestamp
    /// Its address.
    public var bssid: DeviceAddress
    /// Its level.
    public var rssi: RSSI
    /// The centre frequency in MHz, or 0 if not told.
    public var frequency: UInt16

    /// Makes a reading.
    public init(time: Timestamp, heard: Timestamp, bssid: DeviceAddress, rssi: RSSI, frequency: UInt16) {
      self.time = time
      self.heard = heard
      self.bssid = bssid
      self.rssi = rssi
      self.frequency = frequency
    }
  }

  /// A beacon that was heard.
  public struct BeaconReading: Hashable, Sendable {
    /// When.
    public var time: Timestamp
    /// Which one.
    public var beacon: BeaconID
    /// Its address, if the platform tells it.
    public var address: DeviceAddress?
    /// Its level.
    public var rssi: RSSI

    /// Makes a reading.
    public init(time: Timestamp, beacon: BeaconID, address: DeviceAddress?, rssi: RSSI) {
      self.time = time
      self.beacon = beacon
      self.address = address
      self.rssi = rssi
    }
  }

  /// One sample of motion and when it was taken; the sample's own age does not count.
  public struct MotionReading: Hashable, Sendable {
    /// When.
    public var time: Timestamp
    /// What was read.
    public var sample: MotionSample

    /// Makes a reading.
    public init(time: Timestamp, sample: MotionSample) {
      self.time = time
      self.sample = sample
    }
  }

  /// How messages call it.
  public var name: String
  /// The floor walked on.
  public var floor: FloorID
  /// Where the surveyor said to be.
  public var waypoints: [Waypoint]
  /// The access points heard.
  public var accessPoints: [AccessPointReading]
  /// The beacons heard.
  public var beacons: [BeaconReading]
  /// What the motion sensors read; may be empty.
  public var motion: [MotionReading]

  /// Makes a walk.
  public init(
    name: String,
    floor: FloorID,
    waypoints: [Waypoint],
    accessPoints: [AccessPointReading] = [],
    beacons: [BeaconReading] = [],
    motion: [MotionReading] = []
  ) {
    self.name = name
    self.floor = floor
    self.waypoints = waypoints
    self.accessPoints = accessPoints
    self.beacons = beacons
    self.motion = motion
  }
}
