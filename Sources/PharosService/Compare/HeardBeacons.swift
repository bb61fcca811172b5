import PharosAdvertising
import PharosReports

/// Finds the identities in adverts as regions ask about them: the beacons of the frames, and the address.
struct HeardBeacons {
  /// One identity in an advert.
  struct Identity {
    /// Which one, without its address.
    var beacon: BeaconID
    /// The level at one metre that the frame tells, in dBm.
    var measuredPower: Double?
  }

  /// The identities of the last advert; the storage is used again.
  private(set) var found: [Identity] = []
  private let decoder: FrameDecoder
  private let takesAddresses: Bool

  /// Makes a finder.
  ///
  /// - Parameters:
  ///   - companies: Companies other than Apple whose frames count as iBeacons.
  ///   - takesAddresses: Whether lasting addresses are identities as well.
  init(companies: [UInt16] = [], takesAddresses: Bool = false) {
    decoder = FrameDecoder(iBeaconCompanies: companies)
    self.takesAddresses = takesAddresses
  }

  /// Finds the identities of what a report tells; none in most reports.
  mutating func find(in report: Report, of batch: borrowing ReportBatch) {
    found.removeAll(keepingCapacity: true)
    switch report.body {
    case .advert(let advert): find(in: advert, of: batch)
    case .rangedBeacon(let ranged): found.append(Identity(beacon: ranged.beacon, measuredPower: nil))
    case .scanState, .wifiScan, .motion, .outsideFix, .displayOn, .heartbeat, .transmission: return
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
    if takesAddresses, let address = advert.address, !address.isPrivate {
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
    case .scanState, .wifiScan, .motion, .outsideFix, .displayOn, .heartbeat, .transmission: nil
    }
  }

  /// The advertiser's address, if it lasts and may be part of a key.
  var lastingAddress: DeviceAddress? {
    let address: DeviceAddress? =
      switch body {
      case .advert(let advert): advert.address
      case .rangedBeacon(let ranged): ranged.beacon.address
      case .scanState, .wifiScan, .motion, .outsideFix, .displayOn, .heartbeat, .transmission: nil
      }
    return address.flatMap { $0.isPrivate ? nil : $0 }
  }
}
