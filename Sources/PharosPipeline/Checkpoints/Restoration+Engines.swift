public import PharosEvents
public import PharosMonitoring
public import PharosPositioning
public import PharosReports

extension Restoration {
  /// Makes the engine of one shard that goes on after a restart.
  ///
  /// - Parameters:
  ///   - site: what is declared at present.
  ///   - shard: the shard's place among all.
  ///   - shards: how many there are now, whatever their number was before.
  ///   - instant: when inputs begin again.
  ///   - sensing: what it must know of venues; nil if there are none.
  ///   - output: what follows from the events that were told since the checkpoint.
  /// - Returns: the engine.
  /// - Throws: that a state cannot be read.
  public func engine(
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

  /// Makes the merger that goes on after a restart.
  ///
  /// - Parameters:
  ///   - site: what is declared at present.
  ///   - shards: how many shards hand over.
  ///   - instant: when inputs begin again.
  ///   - grounds: the venues in which handsets and tags are located; where they are is found anew.
  ///   - keepsSensings: whether somebody takes what handsets sense.
  /// - Returns: the merger.
  /// - Throws: that its state cannot be read.
  public func merger(
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
