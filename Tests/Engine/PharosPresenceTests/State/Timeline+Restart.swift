import PharosDocuments
import PharosModel
import PharosPresence

/// A restart: the state at a checkpoint, the events published since, and a fresh engine.
extension Timeline {
  /// What a server keeps of an engine.
  struct Kept {
    var bytes: [UInt8]
    /// The number of events published before.
    var events: Int
  }

  /// Writes the engine's state after everything up to an instant.
  mutating func checkpoint(at seconds: Double) -> Kept {
    advance(to: seconds)
    var writer = FieldWriter()
    engine.writeState(to: &writer)
    return Kept(bytes: writer.bytes, events: events.count)
  }

  /// Returns the state that was published after a checkpoint.
  func committed(since kept: Kept) -> PublishedState {
    StateTable(after: events[kept.events...]).state
  }

  /// Restarts the server, with a checkpoint or without: unpublished events are lost.
  mutating func restart(from kept: Kept?, at seconds: Double, site: Site) throws {
    let committed = committed(since: kept ?? Kept(bytes: [], events: 0))
    engine = MonitoringEngine(site: site)
    if let kept {
      var reader = FieldReader(kept.bytes[...])
      try engine.restoreState(from: &reader) { _ in true }
      try reader.finish()
    }
    var output = StageOutput()
    engine.resume(at: Timeline.at(seconds), publishedState: committed, into: &output)
    events += output.events
    links += output.links
  }
}
