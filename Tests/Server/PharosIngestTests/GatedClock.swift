import Foundation
import PharosIngest
import PharosModel

/// The machine's clock, whose readers can be held: so that a socket's buffer fills while it is not read.
final class GatedClock: @unchecked Sendable {
  private let condition = NSCondition()
  private var isClosed = false
  private var isWaiting = false

  var ingest: IngestClock {
    IngestClock(
      steady: {
        self.pass()
        return IngestClock.system.steady()
      },
      wall: IngestClock.system.wall
    )
  }

  /// Closes the gate; returns once the loop stands before it.
  func close() async {
    await withCheckedContinuation { continuation in
      Thread {
        self.condition.lock()
        self.isClosed = true
        while !self.isWaiting { self.condition.wait() }
        self.condition.unlock()
        continuation.resume()
      }
      .start()
    }
  }

  /// Opens the gate.
  func open() {
    condition.lock()
    isClosed = false
    condition.broadcast()
    condition.unlock()
  }

  private func pass() {
    condition.lock()
    while isClosed {
      isWaiting = true
      condition.broadcast()
      condition.wait()
    }
    isWaiting = false
    condition.unlock()
  }
}
