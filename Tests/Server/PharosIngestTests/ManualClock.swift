import PharosIngest
import PharosModel
import Synchronization

/// A pair of clocks that tests turn by hand.
final class ManualClock: Sendable {
  private struct Hands {
    var steady = TimeSpan.seconds(1_000)
    var wall = Timestamp(seconds: 1_780_000_000)
  }

  private let hands = Mutex(Hands())

  /// The clocks.
  var ingest: IngestClock { ingest(minimumPause: .forever) }

  /// The clocks, with the smallest jump that counts as a pause.
  func ingest(minimumPause: TimeSpan) -> IngestClock {
    IngestClock(
      steady: { self.hands.withLock { $0.steady } },
      wall: { self.hands.withLock { $0.wall } },
      minimumPause: minimumPause
    )
  }

  /// Lets time pass.
  func pass(_ span: TimeSpan) {
    hands.withLock {
      $0.steady = $0.steady + span
      $0.wall = $0.wall + span
    }
  }

  /// Sets the wall clock.
  func setWall(by step: TimeSpan) { hands.withLock { $0.wall = $0.wall + step } }
}
