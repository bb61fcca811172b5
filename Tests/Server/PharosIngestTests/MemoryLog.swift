import Foundation
import PharosIngest
import PharosModel
import PharosPipeline
import PharosTestSupport

/// A log of inputs in memory: it stores some messages late, behind later ones, and some twice, as retries do.
final class MemoryLog: InputLog, @unchecked Sendable {
  private let condition = NSCondition()
  private let clock: ManualClock
  private var stored: [LogEntry] = []
  private var late: [[UInt8]] = []
  private var random: SeededGenerator
  private var published: [String: Timestamp] = [:]
  private var isFinished = false

  init(seed: UInt64, clock: ManualClock) {
    random = SeededGenerator(seed: seed)
    self.clock = clock
  }

  /// All messages so far.
  var entries: [LogEntry] { locked { stored } }

  /// Returns whether each of some publishers has published something at a time or later.
  func hasPublished(_ publishers: [String], since time: Timestamp) -> Bool {
    locked { publishers.allSatisfy { published[$0].map { $0 >= time } ?? false } }
  }

  func publish(_ id: BatchID, _ bytes: [UInt8]) {
    locked {
      published[id.publisher] = clock.ingest.wall()
      let before = late
      late = []
      switch Int.random(in: 0..<6, using: &random) {
      case 0: late.append(bytes)
      case 1:
        store(bytes)
        late.append(bytes)
      default: store(bytes)
      }
      for bytes in before { store(bytes) }
      condition.broadcast()
    }
  }

  func read(behind position: UInt64, _ receive: @escaping @Sendable ([LogEntry]) throws -> Void) {
    Thread {
      var next = Int(position)
      while let entries = self.wait(behind: next) {
        guard (try? receive(entries)) != nil else { return }
        next += entries.count
      }
    }
    .start()
  }

  /// Ends all reading.
  func finish() {
    locked {
      isFinished = true
      condition.broadcast()
    }
  }

  private func store(_ bytes: [UInt8]) {
    let entry = LogEntry(position: UInt64(stored.count + 1), stored: clock.ingest.wall(), bytes: bytes)
    stored.append(entry)
  }

  private func wait(behind next: Int) -> [LogEntry]? {
    locked {
      while stored.count <= next, !isFinished { condition.wait() }
      return isFinished ? nil : Array(stored[next..<min(stored.count, next + 7)])
    }
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    condition.lock()
    defer { condition.unlock() }
    return body()
  }
}
