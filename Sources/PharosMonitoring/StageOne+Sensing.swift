import PharosEvents
import PharosReports

/// What handsets sense goes on to where they are located, report by report.
///
/// An observer is taken for a handset from its first report on that no gateway makes: a Wi-Fi scan, motion, a location from
/// outside, a beacon that its platform ranged, how it scans, or that its display was turned on. One that hangs at a known
/// place, or stands in a zone, never is one. What a handset heard before is not passed on after the fact.
extension StageOne {
  /// Whether an observer's adverts are to be passed on.
  func isLocated(_ index: Int) -> Bool {
    sensing != nil && states[index].isHandset && !states[index].standsInZone
  }

  /// Passes on what a report other than an advert says about where its observer is.
  mutating func sense(
    _ report: Report,
    at time: ReportTime,
    of index: Int,
    in batch: borrowing ReportBatch,
    into output: inout StageOutput
  ) {
    if !states[index].isHandset {
      guard report.body.isOfHandset, !states[index].standsInZone else { return }
      states[index].isHandset = true
      handsets &+= 1
    }
    guard !states[index].standsInZone else { return }
    switch report.body {
    case .wifiScan(let range):
      guard !range.isEmpty, Int(range.upperBound) <= batch.accessPoints.count else { return }
      let scan = batch.accessPoints[Int(range.lowerBound)..<Int(range.upperBound)]
      pass(.accessPoints(Array(scan)), at: time.event, of: index, into: &output)
    case .motion(let range):
      guard !range.isEmpty, Int(range.upperBound) <= batch.motionSamples.count else { return }
      let samples = batch.motionSamples[Int(range.lowerBound)..<Int(range.upperBound)]
      pass(.motion(Array(samples)), at: time.event, of: index, into: &output)
    case .outsideFix(let fix):
      pass(.outside(fix), at: time.event, of: index, into: &output)
    case .rangedBeacon(let ranged):
      guard let level = ranged.rssi else { return }
      let body = Sensing.Body.beacon(
        ranged.beacon,
        address: ranged.beacon.address,
        rssi: offset(level, of: index),
        accuracy: ranged.accuracy
      )
      pass(body, at: time.event, of: index, into: &output)
    case .advert, .scanState, .displayOn, .heartbeat, .transmission: break
    }
  }

  /// Passes on the identities of an advert that a handset heard.
  mutating func sense(
    _ advert: Advert,
    _ found: borrowing FoundFrames,
    at time: ReportTime,
    of index: Int,
    into output: inout StageOutput
  ) {
    guard let level = advert.rssi.map({ offset($0, of: index) }) else { return }
    let address = advert.address.flatMap { $0.isPrivate ? nil : $0 }
    if let first = found.first {
      pass(
        .beacon(first.beacon, address: address, rssi: level, accuracy: nil),
        at: time.event,
        of: index,
        into: &output
      )
    } else if let address, sensing?.beaconAddresses.contains(address.bits) == true {
      pass(
        .beacon(.address(address), address: address, rssi: level, accuracy: nil),
        at: time.event,
        of: index,
        into: &output
      )
    }
    for other in found.others {
      pass(
        .beacon(other.beacon, address: address, rssi: level, accuracy: nil),
        at: time.event,
        of: index,
        into: &output
      )
    }
  }

  private mutating func pass(
    _ body: Sensing.Body,
    at time: Timestamp,
    of index: Int,
    into output: inout StageOutput
  ) {
    counters.sensings &+= 1
    let sensing = Sensing(
      observer: states[index].id,
      time: time,
      decidedAt: current,
      ordinal: nextOrdinal(of: index),
      body: body
    )
    output.links.append(.sensing(sensing))
  }

  /// A level with what the site adds to all that the observer hears.
  private func offset(_ level: RSSI, of index: Int) -> RSSI {
    guard states[index].rssiOffset != 0 else { return level }
    let dBm = (Double(level.dBm) + states[index].rssiOffset).rounded()
    return RSSI(dBm: Int8(min(20, max(-127, dBm))))
  }
}

extension ReportBody {
  /// Whether only a handset reports such a thing.
  fileprivate var isOfHandset: Bool {
    switch self {
    case .wifiScan, .motion, .outsideFix, .rangedBeacon, .scanState, .displayOn: true
    case .advert, .heartbeat, .transmission: false
    }
  }
}
