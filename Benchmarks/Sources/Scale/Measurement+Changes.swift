import CScaleMeter
import PharosModel
import PharosPresence
import Traffic

/// What it costs to change an application's regions while traffic goes on.
extension Measurement {
  /// How many seconds of traffic are watched after a change.
  private static let secondsWatched = 3

  /// Changes the twenty regions of an application, first their rules, then all they ask for, and tells the worst of both.
  mutating func changeRegions() -> RegionChangeCost {
    let usual = playLive()
    let otherRules = Workload.regions(of: 1).map { region in
      var other = region
      other.presence.enterSamples = 3
      return RegionChange.startMonitoring(application: "application-1", other)
    }
    var others = Workload.regions(of: 1).map {
      RegionChange.stopMonitoring(application: "application-1", identifier: $0.identifier)
    }
    for region in Workload.regions(of: 2) {
      guard let constraint = region.constraint else { continue }
      let other = Region(identifier: "moved-\(region.identifier)", constraint: constraint)
      others.append(.startMonitoring(application: "application-1", other))
    }
    let first = cost(of: otherRules, usual)
    return first.worst(cost(of: others, usual))
  }

  /// Hands over all changes in one go, as a program that replaces its set does, and hears traffic for some seconds.
  private mutating func cost(of changes: [RegionChange], _ usual: [Int64]) -> RegionChangeCost {
    // What is due by then is no part of the change.
    let now = Workload.start(ofSecond: second + 1)
    engine.advance(to: now - .oneNanosecond, into: &output)
    output.removeAll()
    var total: Int64 = 0
    var maximum: Int64 = 0
    for change in changes {
      let start = scale_thread_nanoseconds()
      engine.apply(change, at: now, into: &output)
      let accepted = scale_thread_nanoseconds() - start
      total += accepted
      maximum = max(maximum, accepted)
      output.removeAll()
    }
    let after = playLive()
    return RegionChangeCost(
      set: Double(total) / 1e6,
      call: Double(maximum) / 1e6,
      batchAfter: Double(after.max() ?? 0) / 1e6,
      batchBefore: Double(usual.max() ?? 0) / 1e6,
      usualBatch: Double(usual.sorted()[usual.count / 2]) / 1e6
    )
  }

  /// Plays some seconds as a server's shard does: after each batch time goes on to its last report, and a slice of what
  /// changes of the regions have left to do is done.
  ///
  /// - Returns: what each batch took with what follows it, in nanoseconds.
  private mutating func playLive() -> [Int64] {
    var accepted: [Int64] = []
    accepted.reserveCapacity(Measurement.secondsWatched * workload.batchesPerSecond)
    for _ in 0..<Measurement.secondsWatched {
      second += 1
      for batch in 0..<workload.batchesPerSecond {
        workload.fillWire(batch: batch, ofSecond: second)
        guard let last = workload.wire.received.last.map({ Timestamp(nanoseconds: $0) }) else { continue }
        let start = scale_thread_nanoseconds()
        receive()
        _ = engine.advance(toward: last - .oneNanosecond, into: &output)
        accepted.append(scale_thread_nanoseconds() - start)
        output.removeAll()
      }
    }
    return accepted
  }
}
