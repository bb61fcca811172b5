package import PharosReports

extension IndoorTrace {
  /// A point of the floor that the surveyor tapped on the map when standing there.
  package struct Waypoint: Equatable, Sendable {
    /// When.
    package var time: Timestamp
    /// Metres east of the lower left corner of the floor's picture.
    package var x: Double
    /// Metres north of it.
    package var y: Double

    /// Makes a waypoint.
    package init(time: Timestamp, x: Double, y: Double) {
      self.time = time
      self.x = x
      self.y = y
    }
  }

  /// An iBeacon that the phone heard.
  package struct BeaconHeard: Equatable, Sendable {
    /// When.
    package var time: Timestamp
    /// UUID, major and minor.
    ///
    /// In one of the sites they are the same for 337 fixed beacons, which only ``address`` tells apart.
    package var beacon: BeaconID
    /// Its address, whose kind the trace does not tell.
    package var address: DeviceAddress
    /// The level, or nil if the phone had none.
    package var rssi: RSSI?
    /// The level at one metre that the beacon claims, in dBm; some claim nonsense.
    package var txPower: Int8
    /// The distance that the phone's own formula made of both.
    package var distance: Meters

    /// Makes a record.
    package init(
      time: Timestamp,
      beacon: BeaconID,
      address: DeviceAddress,
      rssi: RSSI?,
      txPower: Int8,
      distance: Meters
    ) {
      self.time = time
      self.beacon = beacon
      self.address = address
      self.rssi = rssi
      self.txPower = txPower
      self.distance = distance
    }
  }

  /// An access point in a Wi-Fi scan.
  ///
  /// A scan repeats what earlier ones found: a pair of address and ``lastHeard`` seen before is no new measurement.
  package struct AccessPointHeard: Equatable, Sendable {
    /// When the scan was delivered.
    package var time: Timestamp
    /// Its address.
    package var bssid: DeviceAddress
    /// The level, or nil if the phone had none.
    package var rssi: RSSI?
    /// The centre frequency in MHz.
    package var frequency: UInt16
    /// When it was really heard.
    package var lastHeard: Timestamp

    /// Makes a record.
    package init(time: Timestamp, bssid: DeviceAddress, rssi: RSSI?, frequency: UInt16, lastHeard: Timestamp) {
      self.time = time
      self.bssid = bssid
      self.rssi = rssi
      self.frequency = frequency
      self.lastHeard = lastHeard
    }
  }

  /// What one motion sensor read once, in the axes of the phone.
  package struct MotionRead: Equatable, Sendable {
    /// When.
    package var time: Timestamp
    /// Which sensor, and with it the unit.
    package var kind: MotionSample.Kind
    /// The first value.
    package var x: Float
    /// The second value.
    package var y: Float
    /// The third value.
    package var z: Float
    /// How well the sensor is calibrated, from 0 (not at all) to 3 (well).
    package var accuracy: UInt8

    /// Makes a record.
    package init(time: Timestamp, kind: MotionSample.Kind, x: Float, y: Float, z: Float, accuracy: UInt8) {
      self.time = time
      self.kind = kind
      self.x = x
      self.y = y
      self.z = z
      self.accuracy = accuracy
    }
  }
}
