public import PharosEvents
public import PharosMonitoring
public import PharosReports

extension Restoration {
  /// Makes the engine of one shard that goes on after a restart.
  ///
  /// - Parameters:
  ///   - site: what is declared at present.
  ///   - shard: the shard's place among all.
  ///   - shards: how many there are now, whatever their number was before.
  ///   - instant: when inputs begin again.
  ///   - output: what follows from the events that were told since the checkpoint.
  /// - Returns: the engine.
  /// - Throws: that a state cannot be read.
  public func engine(
    for site: Site,
    shard: Int,
    among shards: Int,
    resumingAt instant: Timestamp,
    into output: inout StageOutput
  ) throws(FieldError) -> StageOne {
    var engine = StageOne(site: site)
    try checkpoint?.restore(&engine, shard: shard, among: shards)
    let told = lastTold.turnedBack(by: checkpoint?.clockOffset ?? .zero)
    engine.resume(at: instant, lastTold: told.part(of: shard, among: shards), into: &output)
    return engine
  }

  /// Makes the merger that goes on after a restart.
  ///
  /// - Throws: that its state cannot be read.
  public func merger(
    for site: Site,
    shards: Int,
    resumingAt instant: Timestamp
  ) throws(FieldError) -> EventMerger {
    var merger = EventMerger(shards: shards, site: site)
    if let checkpoint { try merger.restoreState(from: checkpoint) }
    merger.resume(at: instant, lastTold: lastTold)
    return merger
  }
}

extension Checkpoint {
  /// Has an engine know what those of before knew about the observers that are its own now.
  func restore(_ engine: inout StageOne, shard: Int, among count: Int) throws(FieldError) {
    for part in shards {
      var reader = FieldReader(part[...])
      try engine.restoreState(from: &reader) { $0.shard(of: count) == shard }
      try reader.finish()
    }
  }
}
