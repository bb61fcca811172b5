package import PharosModel
import PharosWire

/// What a straightforward program would do: dictionaries, a decoder call, a filter, a fixed time-out, one event at a
/// time.
///
/// It does less than the engine (no adaptive exits, no evidence, no late reports, no proof of life) and stands for the
/// reader's own first version, so that the gain is seen.
package struct NaiveEngine {
  private struct Key: Hashable {
    var observer: ObserverID
    var beacon: BeaconID
  }

  private struct State {
    var level: Double
    var variance = 16.0
    var samples = 0
    var lastHeard: Timestamp
    var isInside = false
    var regions: [String]
  }

  private let decoder = FrameDecoder()
  private var regions: [UUID128: [(application: String, region: Region)]] = [:]
  private var states: [Key: State] = [:]
  private var lastSweep = Timestamp.distantPast
  /// How many events were published.
  package private(set) var events = 0

  /// Makes one for the regions of a site.
  package init(site: Site) {
    for application in site.applications {
      for region in application.regions {
        guard case .proximity(let uuid, major: _, minor: _)? = region.constraint else { continue }
        regions[uuid, default: []].append((application.identifier, region))
      }
    }
  }

  /// Takes reports; what is decided is published one by one.
  package mutating func ingest(_ batch: borrowing ReportBatch, publish: (String) -> Void) {
    for report in batch.reports {
      guard case .advert(let advert) = report.body, let rssi = advert.rssi else { continue }
      let bytes = batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
      let observer = batch.observers[Int(report.observer)]
      for frame in decoder.frames(in: bytes.span.bytes) {
        guard let beacon = frame.beacon else { continue }
        receive(beacon, Double(rssi.dBm), at: report.received, of: observer, publish)
      }
      if report.received - lastSweep > .seconds(1) { sweep(at: report.received, publish) }
    }
  }

  private mutating func receive(
    _ beacon: BeaconID,
    _ level: Double,
    at time: Timestamp,
    of observer: ObserverID,
    _ publish: (String) -> Void
  ) {
    let key = Key(observer: observer, beacon: beacon)
    guard var state = states[key] else {
      guard let uuid = beacon.uuid, let candidates = regions[uuid] else { return }
      let matching =
        candidates
        .filter { $0.region.constraint?.matches(beacon) == true }
        .map(\.region.identifier)
      states[key] = State(level: level, lastHeard: time, regions: matching)
      return
    }
    let predicted = state.variance + 2 * (time - state.lastHeard).seconds
    let gain = predicted / (predicted + 16)
    state.level += gain * (level - state.level)
    state.variance = (1 - gain) * predicted
    state.samples += 1
    state.lastHeard = time
    if !state.isInside, state.samples >= 2 {
      state.isInside = true
      for region in state.regions { publish(region) }
      events += state.regions.count
    }
    states[key] = state
  }

  private mutating func sweep(at time: Timestamp, _ publish: (String) -> Void) {
    lastSweep = time
    for (key, state) in states where state.isInside && time - state.lastHeard > .seconds(30) {
      for region in state.regions { publish(region) }
      events += state.regions.count
      states[key]?.isInside = false
    }
  }
}
