import NIOCore
package import PharosModel
import Synchronization

/// A recording of all inputs that begins while the server runs: its limits, and where its bytes go.
///
/// The bytes are those of a recording from the start, except that it begins with the state of the engines at one instant. To
/// process it gives the events that the server decides from then on, byte for byte, fixes included if the venues are the same.
package struct RecordingOrder: Sendable {
  /// The time after which it ends.
  package var duration: TimeSpan
  /// The number of bytes after which it ends; the last inputs may take up to some MiB more.
  package var maximumBytes: Int
  /// Takes the bytes, in order, on the thread of the recorder; an error that it throws ends the recording.
  package var sink: @Sendable ([UInt8]) throws -> Void
  /// Is called once, behind the last bytes, with the reason for which it has ended; not called by a server that is killed.
  package var ended: @Sendable (RecordingEnd) -> Void

  /// Makes an order.
  package init(
    duration: TimeSpan,
    maximumBytes: Int,
    sink: @escaping @Sendable ([UInt8]) throws -> Void,
    ended: @escaping @Sendable (RecordingEnd) -> Void
  ) {
    (self.duration, self.maximumBytes, self.sink, self.ended) = (duration, maximumBytes, sink, ended)
  }
}

/// The reason for which a recording has ended.
package enum RecordingEnd: Hashable, Sendable {
  /// Its time was over.
  case complete
  /// The end was asked for, or the server stopped.
  case stopped
  /// It has as many bytes as it may have.
  case full
  /// The disk did not keep up with the inputs.
  case tooSlow
  /// It could not be written; the text says why.
  case failed(String)
}

/// The beginning of a recording among all inputs, and the checkpoint that is taken there.
final class RecordingStart: Sendable {
  /// What was asked for.
  let order: RecordingOrder
  /// The site at that instant.
  let site: Site
  /// The promise of the client that asked, succeeded with that instant once the recording has begun.
  let answer: EventLoopPromise<Timestamp>
  private let checkpoint = Mutex<PendingCheckpoint?>(nil)

  init(order: RecordingOrder, site: Site, answer: EventLoopPromise<Timestamp>) {
    self.order = order
    self.site = site
    self.answer = answer
  }

  /// Takes the checkpoint; called by the merger.
  func supply(_ pending: PendingCheckpoint) { checkpoint.withLock { $0 = pending } }

  /// Hands over the checkpoint, or nil if it was not taken yet; called by the recorder, which releases it soon.
  func drainCheckpoint() -> PendingCheckpoint? {
    checkpoint.withLock { checkpoint in
      defer { checkpoint = nil }
      return checkpoint
    }
  }
}
