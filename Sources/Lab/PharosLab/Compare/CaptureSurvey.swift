import PharosModel
import PharosPipeline
import PharosWire

/// A survey of captures before a comparison: the beacons and observers, their numbers of adverts and reports, and the
/// first and last times.
struct CaptureSurvey {
  /// The adverts of one beacon.
  struct Heard {
    /// The number of adverts of the beacon.
    var adverts = 0
    /// Indicates whether more than one observer hears the beacon.
    var isShared = false
    fileprivate var observer: ObserverID
  }

  /// The beacons.
  private(set) var beacons: [BeaconID: Heard] = [:]
  /// The number of reports of each observer.
  private(set) var observers: [ObserverID: Int] = [:]
  /// The site that a recording brings.
  private(set) var recordedSite: Site?
  /// The R of the first report.
  private(set) var first: Timestamp?
  /// The R of the last report.
  private(set) var last: Timestamp?
  /// The number of adverts that have an identity.
  private(set) var adverts = 0
  /// The number of adverts of beacons beyond ``maximumIdentities``, counted once for each identity.
  private(set) var overflow = 0

  /// The maximum number of distinct beacons, and of distinct observers, that the survey keeps.
  static let maximumIdentities = 100_000

  private var heard: HeardBeacons

  /// Starts with nothing heard.
  init(companies: [UInt16] = []) { heard = HeardBeacons(companies: companies) }

  /// The time from the first to the last report.
  var length: TimeSpan {
    guard let first, let last else { return .zero }
    return last - first
  }

  /// Takes one input of a capture.
  mutating func add(_ input: PipelineInput) {
    switch input {
    case .site(let site): recordedSite = recordedSite ?? site
    case .reports(let batch): add(batch)
    case .change, .restored, .tick, .clockStep, .pause, .announced: return
    }
  }

  private mutating func add(_ batch: ReportBatch) {
    for report in batch.reports {
      first = first ?? report.received
      last = max(last ?? report.received, report.received)
      guard batch.observers.indices.contains(Int(report.observer)) else { continue }
      let observer = batch.observers[Int(report.observer)]
      if observers[observer] != nil || observers.count < CaptureSurvey.maximumIdentities {
        observers[observer, default: 0] += 1
      }
      heard.find(in: report, of: batch)
      if !heard.found.isEmpty { adverts += 1 }
      for identity in heard.found { record(identity.beacon, by: observer) }
    }
  }

  private mutating func record(_ beacon: BeaconID, by observer: ObserverID) {
    guard beacons[beacon] != nil || beacons.count < CaptureSurvey.maximumIdentities else {
      overflow += 1
      return
    }
    beacons[beacon, default: Heard(observer: observer)].adverts += 1
    if beacons[beacon]?.observer != observer { beacons[beacon]?.isShared = true }
  }
}

/// Finds the identities in adverts as regions ask about them: the beacons of the frames, and the address.
struct HeardBeacons {
  /// One identity in an advert.
  struct Identity {
    /// The beacon, without its address.
    var beacon: BeaconID
    /// The level at one metre that the frame states, in dBm.
    var measuredPower: Double?
  }

  /// The identities of the last advert; the storage is used again.
  private(set) var found: [Identity] = []
  private let decoder: FrameDecoder
  private let recordsAddresses: Bool

  /// Makes a finder.
  ///
  /// - Parameters:
  ///   - companies: Companies other than Apple whose frames count as iBeacons.
  ///   - recordsAddresses: True to count lasting addresses as identities as well.
  init(companies: [UInt16] = [], recordsAddresses: Bool = false) {
    decoder = FrameDecoder(iBeaconCompanies: companies)
    self.recordsAddresses = recordsAddresses
  }

  /// Finds the identities in a report; none in most reports.
  mutating func find(in report: Report, of batch: borrowing ReportBatch) {
    found.removeAll(keepingCapacity: true)
    switch report.body {
    case .advert(let advert): find(in: advert, of: batch)
    case .rangedBeacon(let ranged):
      found.append(Identity(beacon: ranged.beacon, measuredPower: ranged.measuredPower.map(Double.init)))
    case .scanState, .wifiScan, .motion, .outsideFix, .relativePose, .visualStatus, .displayOn, .heartbeat,
      .transmission:
      return
    }
  }

  private mutating func find(in advert: Advert, of batch: borrowing ReportBatch) {
    let range = Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
    guard range.upperBound <= batch.payloads.count else { return }
    var found = found
    self.found = []
    decoder.forEachFrame(in: batch.payloads.span.bytes.extracting(range)) { frame in
      guard let beacon = frame.beacon, !found.contains(where: { $0.beacon == beacon }) else { return }
      found.append(Identity(beacon: beacon, measuredPower: frame.measuredPower.map(Double.init)))
    }
    if recordsAddresses, let address = advert.address, !address.isPrivate {
      found.append(Identity(beacon: .address(address), measuredPower: found.first?.measuredPower))
    }
    self.found = found
  }
}

extension Report {
  /// The level in dBm, or nil if the report has none.
  var level: Double? {
    switch body {
    case .advert(let advert): advert.rssi.map { Double($0.dBm) }
    case .rangedBeacon(let ranged): ranged.rssi.map { Double($0.dBm) }
    case .scanState, .wifiScan, .motion, .outsideFix, .relativePose, .visualStatus, .displayOn, .heartbeat,
      .transmission:
      nil
    }
  }

  /// The advertiser's address, if it lasts and may be part of a key.
  var lastingAddress: DeviceAddress? {
    let address: DeviceAddress? =
      switch body {
      case .advert(let advert): advert.address
      case .rangedBeacon(let ranged): ranged.beacon.address
      case .scanState, .wifiScan, .motion, .outsideFix, .relativePose, .visualStatus, .displayOn, .heartbeat,
        .transmission:
        nil
      }
    return address.flatMap { $0.isPrivate ? nil : $0 }
  }
}
