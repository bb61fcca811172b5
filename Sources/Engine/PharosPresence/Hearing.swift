import PharosDocuments
import PharosModel
import PharosWire

extension ReportBody {
  /// Indicates whether only handsets make such a report.
  var isOfHandset: Bool {
    switch self {
    case .wifiScan, .motion, .outsideFix, .relativePose, .visualStatus, .rangedBeacon, .scanState, .displayOn:
      true
    case .advert, .heartbeat, .transmission: false
    }
  }
}

/// The event time of a report, and a flag that is set if it came too late to decide anything.
struct ReportTime {
  var event: Timestamp
  var isLate: Bool
  /// Indicates whether the report came with a time, or the age, of what it is about.
  var isTimed: Bool
}

/// One advert as the tracks of its identities see it.
struct Hearing {
  var level: Double?
  var address: DeviceAddress?
  var advertisingSet: UInt8
  var time: ReportTime

  /// The key that reports of one transmission share.
  var sampleKey: UInt64 { Hearing.sampleKey(address, advertisingSet) }

  /// Returns the key that reports of one transmission from an address share.
  static func sampleKey(_ address: DeviceAddress?, _ advertisingSet: UInt8) -> UInt64 {
    guard let address else { return Hearing.namelessMark | UInt64(advertisingSet) << 48 }
    return address.bits | UInt64(advertisingSet) << 48 | (address.isPrivate ? Hearing.privateMark : 0)
  }

  /// The same of an advert as a batch keeps it.
  @inline(__always)
  static func sampleKey(_ advert: ReportEntry) -> UInt64 {
    let kind = advert.address >> 56
    let key = advert.address & 0xFF_FFFF_FFFF_FFFF
    if kind == UInt64(DeviceAddress.Kind.random.rawValue) {
      return key >> 46 & 0b11 == 0b11 ? key : key | Hearing.privateMark
    }
    return kind > UInt64(DeviceAddress.Kind.unknown.rawValue) ? key | Hearing.namelessMark : key
  }

  /// Marks the key of an address that changes by itself.
  static let privateMark: UInt64 = 1 << 62

  /// Marks the key of an advert without an address.
  static let namelessMark: UInt64 = 1 << 63

  /// The address, if it lasts and can be part of a key.
  var keyAddress: DeviceAddress? { address.flatMap { $0.isPrivate ? nil : $0 } }
}

/// The identities of one advert: nearly always none or one, so that further ones may cost an allocation.
struct FoundFrames {
  /// An identity and its level at one metre.
  struct Identity {
    var beacon: BeaconID
    var power: Double?
  }

  /// The first identity.
  var first: Identity?
  /// The others, without repetitions.
  var others: [Identity] = []
  /// A battery's voltage in plain telemetry.
  var millivolts: UInt16?

  mutating func add(_ frame: Frame) {
    if case .eddystoneTLM(let telemetry) = frame { millivolts = telemetry.batteryMillivolts ?? millivolts }
    guard let beacon = frame.beacon else { return }
    let identity = Identity(beacon: beacon, power: frame.measuredPower.map(Double.init))
    guard let first else {
      first = identity
      return
    }
    guard first.beacon != beacon, !others.contains(where: { $0.beacon == beacon }) else { return }
    others.append(identity)
  }
}
