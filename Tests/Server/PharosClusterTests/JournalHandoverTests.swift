import Foundation
import PharosTestSupport
import Synchronization
import Testing

import PharosCluster

@Suite("The way of a journal from node to node")
struct JournalHandoverTests {
  /// Runs a function that waits on a thread of its own.
  private func apart<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }

  /// Waits for the first node that asks, and gives it a file.
  private func give(_ path: String, over bus: MemoryBus, partLength: Int) async throws {
    try await apart {
      var keys: [String] = []
      while keys.isEmpty { keys = try bus.keys().filter { $0.hasPrefix(JournalHandover.wanted) } }
      let id = String(keys[0].dropFirst(JournalHandover.wanted.count))
      try JournalHandover(through: bus, partLength: partLength).give(path, to: id)
    }
  }

  @Test(
    "a file of any length arrives as it was, few parts wait at a time, and nothing is left at the broker",
    arguments: Seeds.drawn(0..<300 as Range<UInt64>, first: 12)
  )
  func whole(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    let partLength = Int.random(in: 1...64, using: &random)
    let multiple = Bool.random(using: &random)
    let count =
      multiple
      ? partLength * Int.random(in: 0...20, using: &random) : Int.random(in: 0...1_000, using: &random)
    let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let source = folder.path("source")
    try Data(bytes).write(to: URL(fileURLWithPath: source))
    let broker = MemoryBroker()
    async let given: Void = give(source, over: MemoryBus(broker), partLength: partLength)
    let target = folder.path("target")
    let isWhole = try await apart {
      try JournalHandover(through: MemoryBus(broker)).receive(
        into: target,
        HandoverRequest(),
        waiting: {},
        isStopping: { false }
      )
    }
    try await given
    #expect(isWhole)
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data(bytes))
    #expect(broker.objectsAtOnce <= JournalHandover.ahead + 1)
    #expect(broker.names == (objects: [], values: []))
  }

  @Test("a node that is stopped gives up, and takes its question back")
  func stopped() throws {
    let broker = MemoryBroker()
    let folder = try TemporaryFolder()
    let asked = Mutex(0)
    let isWhole = try JournalHandover(through: MemoryBus(broker)).receive(
      into: folder.path("target"),
      HandoverRequest(),
      waiting: {},
      isStopping: {
        asked.withLock {
          $0 += 1; return $0 > 3
        }
      }
    )
    #expect(!isWhole)
    #expect(broker.names == (objects: [], values: []))
  }
}
