import NIOCore
public import PharosModel
import PharosPipeline
import PharosPresence

/// A checkpoint that was taken and is still to be written: copies of the engines as they were at one instant.
///
/// Taking the copies costs the loops next to nothing; while a copy is held, the loops copy what they change, so it
/// should not be held for long. Writing them as bytes takes a while, on whatever thread ``encoded()`` is called. Until
/// it is released, no further one is taken by the interval.
public struct PendingCheckpoint: Sendable {
  /// The instant: everything received and due up to it is in it, and nothing behind it.
  public let instant: Timestamp
  /// The number of events that had been delivered since the start when it was taken: all of them are in it, and no
  /// later one.
  public let eventsBefore: UInt64

  /// Its place in the log of inputs; nil of a server without a log.
  package let place: LogPlace?

  private let shards: [EngineCopy]
  private let merger: EventMerger
  private let isExact: Bool
  private let lease: CheckpointLease

  /// Takes copies.
  init(
    shards: [EngineCopy],
    merger: EventMerger,
    isExact: Bool,
    eventsBefore: UInt64,
    marker: CheckpointMarker
  ) {
    self.isExact = isExact
    instant = merger.released
    self.eventsBefore = eventsBefore
    self.shards = shards
    self.merger = merger
    lease = marker.lease
    place = marker.place
  }

  /// The bytes to keep, which `Checkpoint(decoding:)` reads; of a server with a log `LoggedCheckpoint(decoding:)` does.
  public func encoded() -> [UInt8] {
    place.map { LoggedCheckpoint(place: $0, checkpoint: checkpoint).encoded } ?? checkpoint.encoded
  }

  /// The state of both stages and of the merger.
  var checkpoint: Checkpoint {
    Checkpoint(shards: shards.map(\.engine), merger: merger, exactly: isExact)
  }
}

/// A shard's engine as it was at the instant of a checkpoint.
///
/// A reference, so that a result without one takes only a pointer's room in the rings.
final class EngineCopy: Sendable {
  /// The engine.
  let engine: MonitoringEngine

  /// Keeps a copy.
  init(_ engine: MonitoringEngine) { self.engine = engine }
}

/// Lives as long as a checkpoint that was asked for: from the marker until its bytes are written.
package final class CheckpointLease: Sendable {
  package init() {}
}

/// The marker that passes through the shards and the merger and shows where to take a checkpoint.
package struct CheckpointMarker: Sendable {
  /// Lives until the checkpoint is written.
  let lease: CheckpointLease
  /// Takes the checkpoint for a recording that begins with it, if one does.
  let record: (@Sendable (PendingCheckpoint) -> Void)?
  /// The promises of those who asked for the checkpoint.
  private let answers: [EventLoopPromise<Void>]
  /// The place of the marker in the log of inputs; nil of a server without a log.
  let place: LogPlace?

  init(
    lease: CheckpointLease,
    record: (@Sendable (PendingCheckpoint) -> Void)?,
    answers: [EventLoopPromise<Void>],
    place: LogPlace?
  ) {
    self.lease = lease
    self.record = record
    self.answers = answers
    self.place = place
  }

  package init(lease: CheckpointLease, place: LogPlace? = nil) {
    self.init(lease: lease, record: nil, answers: [], place: place)
  }

  /// Succeeds the promises once the checkpoint was handed over.
  func succeed() { for answer in answers { answer.succeed(()) } }

  /// Fails the promises.
  func fail(_ error: any Error) { for answer in answers { answer.fail(error) } }
}
