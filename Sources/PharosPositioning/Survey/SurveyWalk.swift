package import PharosPlaces
package import PharosReports

/// What a handset recorded on a walk through one floor, with the places where the surveyor said to be.
///
/// Lists may be in any order; the learner sorts them.
package struct SurveyWalk: Hashable, Sendable {
  /// A place that the surveyor marked on the plan when standing there.
  package struct Waypoint: Hashable, Sendable {
    /// When.
    package var time: Timestamp
    /// The place on the floor's plane.
    package var point: Point

    /// Makes a waypoint.
    package init(time: Timestamp, point: Point) {
      self.time = time
      self.point = point
    }
  }

  /// An access point in a Wi-Fi scan.
  ///
  /// Scans repeat what earlier ones found: of entries with the same address and ``heard`` the first one counts.
  package struct AccessPointReading: Hashable, Sendable {
    /// When the scan was delivered.
    package var time: Timestamp
    /// When the access point was really heard.
    package var heard: Timestamp
    /// Its address.
    package var bssid: DeviceAddress
    /// Its level.
    package var rssi: RSSI
    /// The centre frequency in MHz, or 0 if not told.
    package var frequency: UInt16

    /// Makes a reading.
    package init(time: Timestamp, heard: Timestamp, bssid: DeviceAddress, rssi: RSSI, frequency: UInt16) {
      self.time = time
      self.heard = heard
      self.bssid = bssid
      self.rssi = rssi
      self.frequency = frequency
    }
  }

  /// A beacon that was heard.
  package struct BeaconReading: Hashable, Sendable {
    /// When.
    package var time: Timestamp
    /// Which one.
    package var beacon: BeaconID
    /// Its address, if the platform tells it.
    package var address: DeviceAddress?
    /// Its level.
    package var rssi: RSSI

    /// Makes a reading.
    package init(time: Timestamp, beacon: BeaconID, address: DeviceAddress?, rssi: RSSI) {
      self.time = time
      self.beacon = beacon
      self.address = address
      self.rssi = rssi
    }
  }

  /// One sample of motion and when it was taken; the sample's own age does not count.
  package struct MotionReading: Hashable, Sendable {
    /// When.
    package var time: Timestamp
    /// What was read.
    package var sample: MotionSample

    /// Makes a reading.
    package init(time: Timestamp, sample: MotionSample) {
      self.time = time
      self.sample = sample
    }
  }

  /// How messages call it.
  package var name: String
  /// The floor walked on.
  package var floor: FloorID
  /// Where the surveyor said to be.
  package var waypoints: [Waypoint]
  /// The access points heard.
  package var accessPoints: [AccessPointReading]
  /// The beacons heard.
  package var beacons: [BeaconReading]
  /// What the motion sensors read; may be empty.
  package var motion: [MotionReading]

  /// Makes a walk.
  package init(
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
