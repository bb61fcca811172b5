import Foundation
package import Logging
package import PharosDelivery
import PharosIngest
package import PharosJournal
package import PharosModel
import PharosPipeline
import PharosTerminal
import ServiceLifecycle
import Synchronization

/// What a node does beside deciding: it holds the lease or waits for it, says how it is, compares itself with the others, and, as
/// the holder, keeps a checkpoint for all and drops what no node needs of the log.
package final class ClusterNode: Service, Sendable {
  /// The parts of a node.
  package struct Parts: Sendable {
    /// The broker.
    package var bus: any ClusterBus
    /// The log.
    package var log: SharedLog
    /// The node's own journal.
    package var journal: Journal
    /// What is set while it holds the lease.
    package var duty: Duty
    /// What the node says of itself: its name, the version of its program and the address of its HTTP interface.
    package var record: NodeRecord
    /// The logger for messages to the operator.
    package var logger: Logger

    /// Puts the parts together.
    package init(
      bus: any ClusterBus,
      log: SharedLog,
      journal: Journal,
      duty: Duty,
      record: NodeRecord,
      logger: Logger
    ) {
      (self.bus, self.log, self.journal) = (bus, log, journal)
      (self.duty, self.record, self.logger) = (duty, record, logger)
    }
  }

  /// The names of the values that nodes share.
  enum Key {
    static let lease = "lease"
    static let checkpoint = "checkpoint"
    static let node = "node."
  }

  /// The interval between the checkpoints that are kept for all.
  package static let checkpointInterval = TimeSpan.minutes(2)
  /// The time for which the log is kept behind a checkpoint at least: a node that was away for less reads on.
  package static let logAge = TimeSpan.minutes(6 * 60)
  /// The number of blocks whose digests a node publishes.
  static let digests: Int64 = 8
  /// The time after which a node that has said nothing is gone.
  package static let goneAfter = TimeSpan.seconds(10)

  private struct State {
    var lease: Lease
    var isStopping = false
    var isCaughtUp = false
    /// The last position of the log when the node started; nil while that is not known.
    var lastAtStart: UInt64?
    /// The difference from other nodes that was found.
    var difference: ClusterDifference?
    var problem: String?
    var nextCheckpoint: TimeSpan?
    /// The checkpoints that this node has put, and when.
    var checkpoints: [(position: UInt64, time: TimeSpan)] = []
    var tenure: UInt64?
  }

  private let parts: Parts
  private let state: Mutex<State>
  private let begin = ContinuousClock.now

  /// Makes the node.
  package init(_ parts: Parts) {
    self.parts = parts
    state = Mutex(State(lease: Lease(node: parts.record.node)))
  }

  /// Indicates whether it has read all that was in the log when it started.
  package var isCaughtUp: Bool { state.withLock { $0.isCaughtUp } }

  /// How the log of the node is.
  package var log: SharedLogStanding { parts.log.standing }

  /// The reasons why the node should not be asked; none if all is well.
  package var problems: [String] {
    let standing = parts.log.standing
    return state.withLock { state in
      var problems: [String] = []
      if let problem = standing.problem ?? standing.readProblem ?? state.problem { problems.append(problem) }
      if standing.isTrimmed { problems.append("the log begins behind what this node has read") }
      if standing.lost > 0 {
        problems.append("\(standing.lost) batches of inputs were lost: the file for them is full")
      }
      if let difference = state.difference { problems.append("\(difference)") }
      if !state.isCaughtUp { problems.append("the node reads what the others have decided meanwhile") }
      return problems
    }
  }

  /// Waits until the node has read all that was in the log when it started, or is stopped.
  package func catchUp() async {
    while !state.withLock({ $0.isCaughtUp || $0.isStopping }) {
      guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
    }
  }

  /// Runs until the server stops, or until the node differs from the others.
  ///
  /// - Throws: ``ClusterDifference``.
  package func run() async throws {
    let ended = AsyncStream<Void>.makeStream()
    Thread {
      self.work()
      ended.continuation.finish()
    }
    .start()
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        for await _ in ended.stream {}
      } onGracefulShutdown: {
        self.stop()
      }
    } onCancel: {
      stop()
    }
    if let difference = state.withLock({ $0.difference }) { throw difference }
  }

  private func stop() { state.withLock { $0.isStopping = true } }

  /// Ends the log, once nothing publishes to it: what it could not store goes to the file.
  package func close() { parts.log.close() }

  private var now: TimeSpan {
    let (seconds, attoseconds) = begin.duration(to: .now).components
    return TimeSpan(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }

  private func work() {
    var turn = 0
    while !state.withLock({ $0.isStopping || $0.difference != nil }) {
      do {
        try stepLease()
        try watchStart()
        if turn.isMultiple(of: 2) { try say() }
        if parts.duty.isOn { try keepCheckpoint() }
        state.withLock { $0.problem = nil }
      } catch {
        state.withLock { $0.problem = "\(error)" }
      }
      turn += 1
      Thread.sleep(forTimeInterval: Lease.interval.seconds)
    }
    parts.duty.set(until: .now)
    // The next holder goes on from what the followers save now.
    let end = now + Lease.timeToLive
    while parts.duty.isBusy, now < end { Thread.sleep(forTimeInterval: 0.01) }
    if let last = state.withLock({ $0.lease.release() }),
      let value = try? parts.bus.value(of: Key.lease),
      (try? LeaseRecord(encoded: value.bytes))?.tenure == last.tenure
    {
      _ = try? parts.bus.set(last.encoded, of: Key.lease, replacing: value.revision)
    }
  }

  /// Renews the lease, asks for it or looks at it.
  private func stepLease() throws {
    // A node that is behind would deliver late, and one that differs wrongly.
    guard isCaughtUp else { return }
    let value = try parts.bus.value(of: Key.lease)
    let seen = try value.map { (record: try LeaseRecord(encoded: $0.bytes), revision: $0.revision) }
    let action = state.withLock { $0.lease.next(seen, at: now) }
    guard case .set(let record, let revision) = action else { return }
    do {
      let set = try parts.bus.set(record.encoded, of: Key.lease, replacing: revision)
      let tenure = state.withLock { state -> (UInt64?, Bool) in
        state.lease.succeeded(revision: set, at: now)
        let tenure = state.lease.tenure(at: now)
        defer { state.tenure = tenure }
        return (tenure, tenure != state.tenure)
      }
      guard let number = tenure.0 else { return }
      parts.duty.set(until: .now + .nanoseconds(Lease.tenancy.nanoseconds))
      if tenure.1 {
        parts.logger.notice("This node delivers for the cluster now.", metadata: ["tenure": "\(number)"])
      }
    } catch {
      state.withLock { $0.lease.failed() }
      if error != .conflict { throw error }
    }
  }

  /// Finds out whether the node has read what was in the log when it started.
  private func watchStart() throws {
    guard !isCaughtUp else { return }
    let last = try state.withLock({ $0.lastAtStart }) ?? parts.bus.span().last
    let isCaughtUp = parts.log.standing.position >= last
    state.withLock { state in
      state.lastAtStart = last
      state.isCaughtUp = isCaughtUp
    }
    if isCaughtUp {
      parts.logger.notice("This node has read the log.", metadata: ["position": "\(last)"])
    }
  }

  /// Says how the node is, and compares it with the others.
  private func say() throws {
    let (standing, head) = (parts.log.standing, parts.journal.head)
    var record = parts.record
    (record.time, record.position, record.head) = (.wallClock, standing.position, head)
    record.waiting = UInt32(clamping: standing.waiting)
    record.isCaughtUp = isCaughtUp
    let full = head / BlockDigest.length
    for index in max(0, full - ClusterNode.digests)..<full {
      if let digest = try BlockDigest.of(index, in: parts.journal) { record.digests.append(digest) }
    }
    try parts.bus.set(record.encoded, of: Key.node + parts.record.node, replacing: nil)
    let others = try ClusterState.nodes(on: parts.bus).filter {
      $0.node != parts.record.node && $0.version == parts.record.version
    }
    guard let difference = try difference(from: others) else { return }
    parts.logger.critical("\(difference)")
    state.withLock { $0.difference = difference }
  }

  /// Finds the first block that most of the others have otherwise.
  private func difference(from others: [NodeRecord]) throws -> ClusterDifference? {
    let blocks = Set(others.flatMap { $0.digests.map(\.index) }).sorted()
    for index in blocks {
      guard let own = try BlockDigest.of(index, in: parts.journal) else { continue }
      let known = others.compactMap { other in
        other.digests.first { $0.index == index }.map { (other.node, $0.value) }
      }
      let different = known.filter { $0.1 != own.value }
      // Of two that differ the one that does not hold the lease steps back.
      let isOutnumbered =
        different.count * 2 > known.count + 1 || (different.count * 2 == known.count + 1 && !parts.duty.isOn)
      guard !different.isEmpty, isOutnumbered else { continue }
      return ClusterDifference(
        first: index * BlockDigest.length + 1,
        last: (index + 1) * BlockDigest.length,
        others: different.map(\.0).sorted()
      )
    }
    return nil
  }

  /// Puts the newest checkpoint where all can find it, and drops what is behind the one before it.
  private func keepCheckpoint() throws {
    let now = now
    guard state.withLock({ $0.nextCheckpoint.map { now >= $0 } ?? true }) else { return }
    state.withLock { $0.nextCheckpoint = now + ClusterNode.checkpointInterval }
    guard let stored = try parts.journal.latestCheckpoint(), LoggedCheckpoint.isOne(stored.bytes) else {
      return
    }
    let position = try LoggedCheckpoint(decoding: stored.bytes).place.reading.position
    let value = try parts.bus.value(of: Key.checkpoint)
    let former = try value.map { try CheckpointPointer(encoded: $0.bytes) }
    guard position > former?.position ?? 0 else { return }
    var pointer = CheckpointPointer()
    (pointer.object, pointer.position, pointer.through) = ("checkpoint-\(position)", position, stored.through)
    (pointer.node, pointer.time) = (parts.record.node, .wallClock)
    try parts.bus.put(stored.bytes, object: pointer.object)
    try parts.bus.set(pointer.encoded, of: Key.checkpoint, replacing: value?.revision ?? 0)
    if let former { try parts.bus.drop(object: former.object) }
    let behind = state.withLock { state -> UInt64? in
      state.checkpoints.append((position, now))
      let old = state.checkpoints.lastIndex { now - $0.time >= ClusterNode.logAge }
      guard let old else { return nil }
      defer { state.checkpoints.removeFirst(old) }
      return state.checkpoints[old].position
    }
    if let behind { try parts.bus.trim(through: behind) }
  }
}

/// The difference between a node and the others, for which it stops.
package struct ClusterDifference: Error, Hashable, Sendable, CustomStringConvertible {
  /// The first sequence of the block that differs.
  package let first: Int64
  /// Its last sequence.
  package let last: Int64
  /// The nodes that have it otherwise.
  package let others: [String]

  /// Where the difference lies, and what to do.
  package var description: String {
    "the events \(first) to \(last) of this node are not those of \(others.joined(separator: ", ")). It stops. Keep its data folder for a "
      + "report, and start it again with an empty one."
  }
}

/// What the nodes of a cluster have said of themselves.
package struct ClusterState: Sendable {
  /// The nodes, by name; those that are gone too, for a while.
  package var nodes: [NodeRecord]
  /// The holder of the lease; empty if there is none.
  package var holder: String
  /// The number of its tenure.
  package var tenure: UInt64
  /// The positions of the first and the last message of the log.
  package var first: UInt64
  /// The position of the last message of the log.
  package var last: UInt64
  /// The checkpoint that is kept for all.
  package var checkpoint: CheckpointPointer?
  /// The broker.
  package var broker: String

  /// Reads the state.
  package init(of bus: any ClusterBus) throws {
    nodes = try ClusterState.nodes(on: bus)
    let lease = try bus.value(of: ClusterNode.Key.lease).map { try LeaseRecord(encoded: $0.bytes) }
    (holder, tenure) = (lease?.node ?? "", lease?.tenure ?? 0)
    (first, last) = try bus.span()
    checkpoint = try bus.value(of: ClusterNode.Key.checkpoint).map {
      try CheckpointPointer(encoded: $0.bytes)
    }
    broker = bus.state
  }

  static func nodes(on bus: any ClusterBus) throws -> [NodeRecord] {
    try bus.keys().filter { $0.hasPrefix(ClusterNode.Key.node) }.sorted().compactMap { key in
      try bus.value(of: key).flatMap { try? NodeRecord(encoded: $0.bytes) }
    }
  }

  /// The state for people, a line each.
  package func lines(at now: Timestamp) -> [String] {
    func ago(_ time: Timestamp) -> String { String(format: "%.0f s ago", max(0, (now - time).seconds)) }
    var lines = ["broker      \(broker)", "log         positions \(first) to \(last)"]
    let checkpoint = checkpoint.map { "position \($0.position), \(ago($0.time)) by \($0.node)" } ?? "none yet"
    lines.append("checkpoint  \(checkpoint)")
    lines.append("deliveries  " + (holder.isEmpty ? "no node delivers" : "by \(holder), tenure \(tenure)"))
    for node in nodes {
      let behind = last > node.position ? last - node.position : 0
      let isGone = now - node.time > ClusterNode.goneAfter
      let standing =
        isGone
        ? "gone, seen \(ago(node.time))" : node.isCaughtUp ? "\(behind) behind" : "reads on, \(behind) behind"
      let waiting = node.waiting > 0 ? ", \(node.waiting) batches wait" : ""
      lines.append(
        "node        \(node.node)  \(node.version)  \(standing)\(waiting), \(node.head) events  \(node.http)"
      )
    }
    return lines
  }
}
