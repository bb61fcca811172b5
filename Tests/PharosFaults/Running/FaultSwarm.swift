import Dispatch
import Foundation
import Synchronization

/// Plays many seeds on all cores.
package struct FaultSwarm: Sendable {
  /// What came of all seeds.
  package struct Summary: Sendable {
    /// Seeds played.
    package var seeds = 0
    /// The seeds in which something was found wrong, in order.
    package var failures: [FaultSimulation.Outcome] = []
    /// What was injected.
    package var faults = FaultTally()
    /// Events that were decided.
    package var events = 0
    /// The number of events that subscribers received.
    package var committed = 0
    /// Datagrams that reached servers.
    package var datagrams: UInt64 = 0
    /// Runs of servers.
    package var runs = 0
    /// Virtual time, in seconds.
    package var seconds = 0.0

    mutating func add(_ outcome: FaultSimulation.Outcome) {
      seeds += 1
      if !outcome.violations.isEmpty { failures.append(outcome) }
      faults.add(outcome.faults)
      events += outcome.events
      committed += outcome.committed
      datagrams += outcome.datagrams
      runs += outcome.runs
      seconds += outcome.seconds
    }
  }

  /// The seeds.
  package var seeds: Range<UInt64>
  /// A bug that is put in.
  package var plant: Plant?
  /// Kinds of faults that are injected in each seed, whatever is drawn.
  package var more: Set<FaultKind> = []
  /// The generation of the generator of plans.
  package var generation = PlanGeneration.fourth
  /// How many are played at a time.
  package var threads: Int
  /// Whether it ends at the first seed in which something is found wrong.
  package var stopsAtFirst: Bool

  /// Makes a swarm.
  package init(seeds: Range<UInt64>, plant: Plant? = nil, threads: Int? = nil, stopsAtFirst: Bool = false) {
    self.seeds = seeds
    self.plant = plant
    self.threads = threads ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
    self.stopsAtFirst = stopsAtFirst
  }

  private struct Progress {
    var next: UInt64
    var summary = Summary()
    var isOver = false
  }

  /// Plays them all.
  ///
  /// - Parameter progress: called after each seed with what there is so far, from any thread.
  /// - Returns: what came of them.
  package func run(_ progress: @escaping @Sendable (Summary) -> Void = { _ in }) -> Summary {
    let state = Mutex(Progress(next: seeds.lowerBound))
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      let folder = FaultSwarm.makeFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let simulation = FaultSimulation(folder: folder)
      while let seed = nextSeed(state) {
        let outcome = simulation.play(
          seed: seed,
          plant: plant,
          adding: more,
          generation: generation
        )
        let summary = state.withLock { state in
          state.summary.add(outcome)
          if stopsAtFirst, !outcome.violations.isEmpty { state.isOver = true }
          return state.summary
        }
        progress(summary)
      }
    }
    var summary = state.withLock { $0.summary }
    summary.failures.sort { $0.seed < $1.seed }
    return summary
  }

  /// Plays one seed, with a line for each thing that happens.
  package func trace(_ seed: UInt64, _ line: @escaping (String) -> Void) -> Summary {
    let folder = FaultSwarm.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var summary = Summary()
    summary.add(
      FaultSimulation(folder: folder)
        .play(seed: seed, plant: plant, adding: more, generation: generation, trace: line)
    )
    return summary
  }

  private func nextSeed(_ state: borrowing Mutex<Progress>) -> UInt64? {
    state.withLock { state in
      guard !state.isOver, state.next < seeds.upperBound else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  /// A folder of its own for the journal's lock: in memory where there is such a place.
  package static func makeFolder() -> String {
    let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let folder = base + "/pharos-faults-" + UUID().uuidString
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
  }
}
