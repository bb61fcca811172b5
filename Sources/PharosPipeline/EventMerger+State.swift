package import PharosEvents
package import PharosPositioning
package import PharosReports

extension EventMerger {
  /// What is to be added to times of the engines to get the wall clock's, as of what was released.
  package var clockOffset: TimeSpan { clock.last { $0.since <= released }?.offset ?? .zero }

  /// A copy that knows nothing of what shards have decided behind what was released: what a checkpoint is made of.
  package var settled: EventMerger {
    var copy = self
    copy.events = []
    copy.links = []
    copy.order = []
    copy.changes = []
    copy.stageTwo.forgetWhereabouts()
    _ = copy.takeSensings()
    return copy
  }

  /// Where every beacon is that some observer of a zone hears, or that is in a zone.
  package func tagStandings() -> [TagStanding] { stageTwo.tagStandings() }

  /// Where every beacon stands towards every region about beacons that it has met.
  package func beaconStandings() -> [BeaconStanding] { stageTwo.beaconStandings() }

  /// Takes over an edited site, which the registry has accepted; what it declares alike keeps its state.
  package mutating func adopt(_ site: Site, at instant: Timestamp) { insert(.site(site), at: instant) }

  /// Records a pause in which nothing was received, from an instant to a later one.
  package mutating func pause(through end: Timestamp, at instant: Timestamp) {
    insert(.pause(through: end), at: instant)
  }

  /// Writes what was released, counted and concluded.
  func writeState(to writer: inout FieldWriter) {
    released.write(to: &writer)
    writer.write(clockSteps)
    writer.write(refusalFloor)
    writer.write(UInt32(truncatingIfNeeded: refusals.count))
    for (application, count) in refusals.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      writer.write(application)
      writer.write(count)
    }
    writer.write(UInt32(truncatingIfNeeded: clock.count))
    for (since, offset) in clock {
      since.write(to: &writer)
      offset.write(to: &writer)
    }
    stageTwo.writeState(to: &writer)
  }

  /// Puts the state of a checkpoint in the place of this merger's, which has taken nothing yet.
  ///
  /// - Throws: what is wrong with its bytes; the merger is as it was then.
  package mutating func restoreState(from checkpoint: Checkpoint) throws(FieldError) {
    var reader = FieldReader(checkpoint.merger[...])
    var restored = self
    restored.released = try Timestamp(from: &reader)
    restored.clockSteps = try reader.transitions()
    restored.refusalFloor = try reader.transitions()
    for _ in 0..<(try reader.count(ofAtLeast: 12)) {
      let application = try reader.text()
      restored.refusals[application] = try reader.transitions()
    }
    for _ in 0..<(try reader.count(ofAtLeast: 16)) {
      let since = try Timestamp(from: &reader)
      restored.clock.append((since, try TimeSpan(from: &reader)))
    }
    try restored.stageTwo.restoreState(from: &reader)
    try reader.finish()
    for shard in restored.watermarks.indices { restored.watermarks[shard] = restored.released }
    self = restored
  }

  /// Goes on after a restart: the time up to an instant was downtime.
  ///
  /// - Parameters:
  ///   - instant: when inputs begin again; behind everything that was released.
  ///   - lastTold: what events have told since the checkpoint, in their times.
  package mutating func resume(at instant: Timestamp, lastTold: LastTold) {
    // Counters of the checkpoint may have been used already by decisions that it does not know of.
    let floor = UInt64(clamping: instant.nanoseconds)
    clockSteps = max(clockSteps, floor)
    refusalFloor = max(refusalFloor, floor)
    refusals.removeAll()
    stageTwo.resume(at: instant, lastTold: lastTold.turnedBack(by: clockOffset), into: &events)
  }
}

extension FieldReader {
  /// Reads a count of transitions, which may go on for another 2^63 of them.
  fileprivate mutating func transitions() throws(FieldError) -> UInt64 {
    let count = try number(UInt64.self)
    guard count <= UInt64(Int64.max) else { throw failure(.cut) }
    return count
  }
}
