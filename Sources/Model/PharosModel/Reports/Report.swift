public import PharosDocuments

/// One thing that an observer said it heard, measured or did.
///
/// Fixed in size and free of references: what varies in length (payloads, access points, motion samples) lies in
/// the batch that holds the report, and a report says where. A million of them cost no allocation each.
public struct Report: Equatable, Sendable {
  /// The observer that reports: an index into ``ReportBatch/observers``.
  public var observer: UInt32
  /// R: the time at which the datagram was received, or the packet's time in a capture.
  public var received: Timestamp
  /// The event time that the sender stated.
  public var timing: ReportTiming
  /// The content of the report.
  public var body: ReportBody

  /// Makes a report.
  public init(observer: UInt32, received: Timestamp, timing: ReportTiming, body: ReportBody) {
    self.observer = observer
    self.received = received
    self.timing = timing
    self.body = body
  }
}

/// The event time that a sender states for a report.
public enum ReportTiming: Equatable, Sendable {
  /// Nothing, or only whole seconds: the receive time stands.
  case received
  /// So long before the datagram was sent. No clock but the gateway's stop-watch matters.
  case age(TimeSpan)
  /// At this time by the sender's own clock, which stage one corrects by an offset per observer.
  case sent(Timestamp)
}

/// The content of a report.
public enum ReportBody: Equatable, Sendable {
  /// An advert that its radio heard.
  case advert(Advert)
  /// A beacon that its platform ranged: what an iOS app can know.
  case rangedBeacon(RangedBeacon)
  /// The state of its radio's scanning.
  case scanState(ScanState)
  /// A Wi-Fi scan; the range is of ``ReportBatch/accessPoints``.
  case wifiScan(Range<UInt32>)
  /// Motion, raw or as steps; the range is of ``ReportBatch/motionSamples``.
  case motion(Range<UInt32>)
  /// A location from outside Pharos: GNSS or a visual positioning service.
  case outsideFix(OutsideFix)
  /// A movement that visual odometry measured.
  case relativePose(RelativePose)
  /// The state of a visual positioning service on the handset.
  case visualStatus(VisualStatus)
  /// Its display was turned on.
  case displayOn
  /// It lives, and this is how its radio fares.
  case heartbeat(Heartbeat)
  /// The head of the datagram that the reports behind it came in.
  case transmission(Transmission)
}

/// One BLE advertising report, as heard by one observer at one time.
public struct Advert: Equatable, Sendable {
  /// The advertising PDU that carried it.
  public enum PDU: UInt8, Sendable {
    /// Connectable, scannable, undirected.
    case connectable
    /// Connectable, directed: it carries no data.
    case directed
    /// Scannable, not connectable.
    case scannable
    /// Neither connectable nor scannable: what most beacons send.
    case nonConnectable
    /// The answer to a scan request.
    case scanResponse
    /// Extended advertising.
    case extended
    /// The format of the report does not state it.
    case unknown
  }

  /// The advertiser's address, or nil if it was anonymous.
  public var address: DeviceAddress?
  /// The level, or nil if the radio had none.
  public var rssi: RSSI?
  /// The PDU that brought it.
  public var pdu: PDU
  /// The advertising channel 37, 38 or 39, or 0 if unknown.
  public var channel: UInt8
  /// The advertising set (SID) of an extended advert, or 255 if it has none.
  public var advertisingSet: UInt8
  /// The range of its AD structures in ``ReportBatch/payloads``.
  public var payload: Range<UInt32>

  /// Makes an advert.
  public init(
    address: DeviceAddress?,
    rssi: RSSI?,
    pdu: PDU = .unknown,
    channel: UInt8 = 0,
    advertisingSet: UInt8 = 255,
    payload: Range<UInt32>
  ) {
    self.address = address
    self.rssi = rssi
    self.pdu = pdu
    self.channel = channel
    self.advertisingSet = advertisingSet
    self.payload = payload
  }
}

/// A beacon as a handset's platform reports it: identity and level, without payload or address.
public struct RangedBeacon: Equatable, Sendable {
  /// The beacon.
  public var beacon: BeaconID
  /// Its level, or nil if the platform had none.
  public var rssi: RSSI?
  /// The platform's own estimate of the distance, or nil where it had none.
  public var accuracy: Meters?
  /// The level at which a receiver 1 m away hears it, or nil where the platform leaves it out or states none
  /// (``MeasuredPower``).
  ///
  /// - Units: dBm.
  public let measuredPower: Int8?
  /// The address that it was heard with, or nil where the platform hides it.
  public var address: DeviceAddress?

  /// Makes a ranged beacon.
  public init(beacon: BeaconID, rssi: RSSI?, accuracy: Meters?, measuredPower: Int8? = nil) {
    self.beacon = beacon
    self.rssi = rssi
    self.accuracy = accuracy
    self.measuredPower = measuredPower.flatMap { MeasuredPower.known($0) }
  }
}

/// The scanning state of an observer's radio; silence while it does not scan is no evidence.
public enum ScanState: UInt8, Equatable, Sendable {
  /// Not at all.
  case off
  /// In windows, as a phone does in the background.
  case windowed
  /// All the time.
  case foreground
}

extension ScanState: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a scan state" }
}

/// One access point in a Wi-Fi scan.
public struct AccessPoint: Hashable, Sendable {
  /// The basic service set identifier: the address of the radio.
  public var bssid: DeviceAddress
  /// Its level, or nil if the platform had none.
  public var rssi: RSSI?
  /// The centre frequency in MHz, or 0 if unknown.
  public var frequency: UInt16
  /// The time from when it was last heard to the report: platforms repeat stale entries.
  public var lastHeard: TimeSpan

  /// Makes an access point.
  public init(bssid: DeviceAddress, rssi: RSSI?, frequency: UInt16, lastHeard: TimeSpan) {
    self.bssid = bssid
    self.rssi = rssi
    self.frequency = frequency
    self.lastHeard = lastHeard
  }
}

/// One sample of motion.
public struct MotionSample: Hashable, Sendable {
  /// The quantity sampled.
  public enum Kind: UInt8, Sendable {
    /// Acceleration with gravity, three axes of the device, m/s².
    case accelerometer
    /// Turn rate, three axes of the device, rad/s.
    case gyroscope
    /// Magnetic field, three axes of the device, µT.
    case magnetometer
    /// Orientation as the vector part of a unit quaternion.
    case rotationVector
    /// Air pressure in hPa, in `x`.
    case barometer
    /// A step that the handset detected: length in metres in `x`, heading in radians from north in `y`.
    case step
  }

  /// The quantity sampled.
  public var kind: Kind
  /// The time from the sample to the report.
  public var age: TimeSpan
  /// The first value.
  public var x: Float
  /// The second value, or 0.
  public var y: Float
  /// The third value, or 0.
  public var z: Float

  /// Makes a sample.
  public init(kind: Kind, age: TimeSpan, x: Float, y: Float, z: Float) {
    self.kind = kind
    self.age = age
    self.x = x
    self.y = y
    self.z = z
  }
}

/// A sign of life with what the radio saw since the last one.
public struct Heartbeat: Equatable, Sendable {
  /// The number of adverts that the radio heard since the last heartbeat, or nil if the format does not state it.
  public var advertsHeard: UInt32?
  /// The share of time that the radio listened, 0 to 1, or nil if the format does not state it.
  public var scanDuty: Float?
  /// The number of adverts that the gateway dropped since the last heartbeat.
  public var dropped: UInt32

  /// Makes a heartbeat.
  public init(advertsHeard: UInt32? = nil, scanDuty: Float? = nil, dropped: UInt32 = 0) {
    self.advertsHeard = advertsHeard
    self.scanDuty = scanDuty
    self.dropped = dropped
  }
}

/// The head of a datagram from a sender that numbers what it sends.
public struct Transmission: Equatable, Sendable {
  /// A number that increases with each start of the sender.
  public var bootID: UInt32
  /// Counts the sender's datagrams since it started.
  public var sequence: UInt32
  /// The time for which the sender has been up.
  public var uptime: TimeSpan

  /// Makes a head.
  public init(bootID: UInt32, sequence: UInt32, uptime: TimeSpan) {
    self.bootID = bootID
    self.sequence = sequence
    self.uptime = uptime
  }
}

/// A received signal strength as a radio reports it.
///
/// - Units: dBm, −127 to +20; the values 127 and 0, with which radios and wire formats say "not available",
///   never become an `RSSI`.
public struct RSSI: Hashable, Comparable, Sendable {
  /// The level in dBm.
  public let dBm: Int8

  /// A level, or nil for the two values that mean that the radio had none: 127 and 0.
  public init?(reported dBm: Int8) {
    guard dBm != 127, dBm != 0 else { return nil }
    self.dBm = dBm
  }

  /// A level that is known to be one.
  public init(dBm: Int8) { self.dBm = dBm }

  /// Orders levels, the weakest first.
  public static func < (left: RSSI, right: RSSI) -> Bool { left.dBm < right.dBm }
}

/// The level at which a receiver 1 m away hears a beacon: which numbers are one, in every source of it.
///
/// What is not negative is the power of a transmitter, the charge of a battery or a level without its sign, since a beacon is
/// never so loud at that distance; −128 is the byte of senders that have none. Each of them means that the power is unknown,
/// and with it the distance.
///
/// - Units: dBm.
public enum MeasuredPower {
  /// The powers that there are.
  public static let range = -127.0 ... -1.0

  /// The power that a sender states in a byte, or nil if that is none.
  @inlinable
  public static func known(_ dBm: Int8) -> Int8? { dBm < 0 && dBm != .min ? dBm : nil }

  /// The power that a person, a site or a computation states, or nil if that is none.
  public static func known(_ dBm: Double) -> Double? { range ~= dBm ? dBm : nil }
}

/// A distance.
///
/// - Units: metres.
public struct Meters: Hashable, Comparable, Sendable {
  /// The distance in metres.
  public let value: Double

  /// Makes a distance from a count of metres.
  public init(_ value: Double) { self.value = value }

  /// Orders distances, the shortest first.
  public static func < (left: Meters, right: Meters) -> Bool { left.value < right.value }
}

extension Meters: FieldForm {
  /// The number of metres.
  @inlinable public var form: Double { value }
  /// Makes a length.
  @inlinable
  public init(form: Double) { self.init(form) }
}
