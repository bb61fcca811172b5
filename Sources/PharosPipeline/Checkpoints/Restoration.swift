package import PharosEvents
package import PharosReports

/// What a server starts again from: the last checkpoint, and what events have told since.
package struct Restoration: Hashable, Sendable {
  /// The state of the engines, or nil if there is none that can be read.
  package var checkpoint: Checkpoint?
  /// The states published after the checkpoint, or all published states if there is no checkpoint.
  package var lastTold: LastTold

  /// Makes a restoration.
  package init(checkpoint: Checkpoint?, lastTold: LastTold = LastTold()) {
    self.checkpoint = checkpoint
    self.lastTold = lastTold
  }

  /// The latest instant that the previous run is known to have reached, by the checkpoint's clock.
  ///
  /// R must begin after it. The times of states published after the checkpoint count as well. If the wall clock was set
  /// in the meantime, they may lie ahead of it: R then begins ahead of the wall clock, and a clock step states the
  /// difference.
  package var reached: Timestamp? {
    let told = lastTold.turnedBack(by: checkpoint?.clockOffset ?? .zero)
    let times =
      told.regions.map(\.decidedAt) + told.zones.map(\.decidedAt) + told.observers.map(\.decidedAt)
    return [checkpoint?.instant, times.max()].compactMap { $0 }.max()
  }

  /// Whether there is nothing to start from.
  package var isEmpty: Bool { checkpoint == nil && lastTold.isEmpty }
}

extension Restoration: FieldCodable {
  /// Writes the value.
  package func write(to writer: inout FieldWriter) {
    writer.write(checkpoint != nil)
    if let checkpoint { writer.write(long: checkpoint.encoded) }
    lastTold.write(to: &writer)
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    checkpoint = nil
    if try reader.flag() {
      let bytes = try reader.longBytes()
      do throws(CheckpointError) {
        checkpoint = try Checkpoint(decoding: bytes)
      } catch {
        if case .unreadable(let error) = error { throw error }
        throw reader.failure(.badIdentity)
      }
    }
    lastTold = try LastTold(from: &reader)
  }
}

extension LastTold {
  /// The same by another clock, as far as one shard of so many is concerned: its own observers, and all beacons.
  func part(of shard: Int, among shards: Int) -> LastTold {
    guard shards > 1 else { return self }
    var part = self
    part.regions.removeAll { word in
      guard case .observer(let observer) = word.subject else { return false }
      return observer.shard(of: shards) != shard
    }
    part.observers.removeAll { $0.observer.shard(of: shards) != shard }
    return part
  }

  /// The same with all times by a clock that shows so much less.
  func turnedBack(by offset: TimeSpan) -> LastTold {
    guard offset != .zero else { return self }
    var turned = self
    for index in turned.regions.indices {
      turned.regions[index].time = regions[index].time - offset
      turned.regions[index].decidedAt = regions[index].decidedAt - offset
      turned.regions[index].enteredAt = regions[index].enteredAt.map { $0 - offset }
    }
    for index in turned.zones.indices {
      turned.zones[index].time = zones[index].time - offset
      turned.zones[index].decidedAt = zones[index].decidedAt - offset
    }
    for index in turned.observers.indices {
      turned.observers[index].time = observers[index].time - offset
      turned.observers[index].decidedAt = observers[index].decidedAt - offset
    }
    return turned
  }
}
