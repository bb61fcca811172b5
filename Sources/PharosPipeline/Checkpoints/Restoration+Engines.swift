package import PharosEvents
package import PharosMonitoring
package import PharosPositioning
package import PharosReports

extension Restoration {
  /// Makes the engine of one shard and resumes it after a restart.
  ///
  /// - Parameters:
  ///   - site: the current site.
  ///   - shard: the index of the shard.
  ///   - shards: the current number of shards, which may differ from that of the checkpoint.
  ///   - instant: the time at which inputs begin again.
  ///   - sensing: the facts about venues that the engine needs; nil if there are no venues.
  ///   - output: receives the events and links that follow from the states published since the checkpoint.
  /// - Returns: the engine.
  /// - Throws: an error if a state cannot be read.
  package func engine(
    for site: Site,
    shard: Int,
    among shards: Int,
    resumingAt instant: Timestamp,
    sensing: SensingScope? = nil,
    into output: inout StageOutput
  ) throws(FieldError) -> MonitoringEngine {
    var engine = MonitoringEngine(site: site, sensing: sensing)
    try checkpoint?.restore(&engine, shard: shard, among: shards)
    let told = lastTold.turnedBack(by: checkpoint?.clockOffset ?? .zero)
    engine.resume(at: instant, lastTold: told.part(of: shard, among: shards), into: &output)
    return engine
  }

  /// Makes the merger and resumes it after a restart.
  ///
  /// - Parameters:
  ///   - site: the current site.
  ///   - shards: the number of shards whose output is merged.
  ///   - instant: the time at which inputs begin again.
  ///   - grounds: the venues in which handsets and tags are located; their positions are found from scratch.
  ///   - keepsSensings: true if the caller calls ``EventMerger/takeSensings()``.
  /// - Returns: the merger.
  /// - Throws: an error if its state cannot be read.
  package func merger(
    for site: Site,
    shards: Int,
    resumingAt instant: Timestamp,
    grounds: [Ground] = [],
    keepsSensings: Bool = false
  ) throws(FieldError) -> EventMerger {
    var merger = EventMerger(shards: shards, site: site, grounds: grounds, keepsSensings: keepsSensings)
    if let checkpoint { try merger.restoreState(from: checkpoint) }
    merger.resume(at: instant, lastTold: lastTold)
    return merger
  }
}

extension Checkpoint {
  /// Has an engine know what those of before knew about the observers that are its own now.
  func restore(_ engine: inout MonitoringEngine, shard: Int, among count: Int) throws(FieldError) {
    for part in shards {
      var reader = FieldReader(part[...])
      try engine.restoreState(from: &reader) { $0.shard(of: count) == shard }
      try reader.finish()
    }
  }
}
