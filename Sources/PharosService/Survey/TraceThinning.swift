package import PharosReports

/// What of a trace is left out, to see how fixes fare with less: phones in pockets scan seldom, and some hear no beacon.
package struct TraceThinning: Hashable, Sendable {
  /// How far apart Wi-Fi scans are at least; nil for all of them, `TimeSpan/forever` for none.
  package var wifiEvery: TimeSpan?
  /// Whether beacons are heard.
  package var hearsBeacons: Bool
  /// Whether motion is sensed.
  package var sensesMotion: Bool

  /// Leaves out nothing unless told to.
  package init(wifiEvery: TimeSpan? = nil, hearsBeacons: Bool = true, sensesMotion: Bool = true) {
    self.wifiEvery = wifiEvery
    self.hearsBeacons = hearsBeacons
    self.sensesMotion = sensesMotion
  }
}

/// Applies a ``TraceThinning`` to the reports of one trace.
package struct TraceThinner: Sendable {
  private let thinning: TraceThinning
  /// The event time of the last scan that was kept.
  private var kept: Timestamp?

  package init(_ thinning: TraceThinning) { self.thinning = thinning }

  /// The reports that are left.
  package mutating func thinned(_ batch: ReportBatch) -> ReportBatch {
    guard thinning != TraceThinning() else { return batch }
    var left = ReportBatch()
    for report in batch.reports where keeps(report) { left.append(report, from: batch) }
    return left
  }

  private mutating func keeps(_ report: Report) -> Bool {
    switch report.body {
    case .advert, .rangedBeacon: return thinning.hearsBeacons
    case .motion: return thinning.sensesMotion
    case .wifiScan:
      guard let every = thinning.wifiEvery else { return true }
      guard every != .forever, case .age(let age) = report.timing else { return false }
      let time = report.received - age
      // A scan comes in parts of one event time.
      if let kept, time != kept, time - kept < every { return false }
      kept = time
      return true
    case .scanState, .outsideFix, .displayOn, .heartbeat, .transmission: return true
    }
  }
}
