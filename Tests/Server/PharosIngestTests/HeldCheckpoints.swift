import PharosIngest
import Synchronization

/// Keeps checkpoints that were handed over, as a journal does whose disc is slow.
final class HeldCheckpoints: Sendable {
  private let held = Mutex<(kept: [PendingCheckpoint], count: Int)>(([], 0))
  private let signals: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) =
    AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))

  /// How many came.
  var count: Int { held.withLock { $0.count } }

  func hold(_ pending: PendingCheckpoint) {
    held.withLock { held in
      held.kept.append(pending)
      held.count += 1
    }
    signals.continuation.yield()
  }

  /// Lets all go, as if they had been written.
  func letGo() { held.withLock { $0.kept.removeAll() } }

  /// Waits until so many have come.
  func wait(for count: Int) async {
    if self.count >= count { return }
    for await _ in signals.stream where self.count >= count { return }
  }
}
