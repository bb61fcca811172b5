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
/// the holder, hands its journal to nodes that begin, and drops what no node needs of the log.
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
      (self.bus, self.log, self.journal, self.duty) = (bus, log, journal, duty)
      (self.record, self.logger) = (record, logger)
    }
  }

  /// The names of the values that nodes share.
  enum Key {
    static let lease = "lease"
    static let node = "node."
  }

  /// The interval between looks at the newest checkpoint.
  static let checkpointInterval = TimeSpan.minutes(2)
  /// The time for which the log is kept behind a checkpoint at least: a node that was away for less reads on.
  package static let logAge = TimeSpan.minutes(6 * 60)
  /// The number of blocks whose digests a node publishes.
  static let digests: Int64 = 8
  /// The time after which a node that has said nothing is gone.
  package static let goneAfter = TimeSpan.seconds(10)
  /// The time after which it is listed no longer.
  static let forgottenAfter = TimeSpan.seconds(86_400)

  private struct State {
    var lease: Lease
    var isStopping = false
    var isCaughtUp = false
    /// The last position of the log when the node started; nil while that is not known.
    var lastAtStart: UInt64?
    /// The difference from other nodes that was found.
    var difference: ClusterDifference?
    /// The change of the version by which the cluster decides.
    var superseded: ClusterSuperseded?
    var problem: String?
    var nextCheckpoint: TimeSpan?
    /// The checkpoints of this node, and when they were seen.
    var checkpoints: [(position: UInt64, time: TimeSpan)] = []
    var tenure: UInt64?
    /// The nodes as they were seen last, this one among them.
    var nodes: [NodeRecord] = []
    /// The holder of the lease.
    var holder = ""
    /// Indicates whether the journal is being handed to another node.
    var isGiving = false
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

  /// Runs until the server stops, or until the node cannot go on as it is.
  ///
  /// - Throws: ``ClusterDifference``; ``ClusterSuperseded``; ``ClusterError/trimmed(first:)`` if the log begins behind what the node has read.
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
    if let superseded = state.withLock({ $0.superseded }) { throw superseded }
    if let first = parts.log.standing.trimmed { throw ClusterError.trimmed(first: first) }
  }

  /// The nodes as they were seen last, and the name of the one that delivers.
  package var nodes: (all: [NodeRecord], holder: String, own: String) {
    state.withLock { ($0.nodes, $0.holder, parts.record.node) }
  }

  /// Indicates whether it decides for itself alone.
  package var isShadow: Bool { parts.record.isShadow }

  /// Ends the node if a version decides from here on that is not its own, or its own, of which it was a shadow.
  package func decide(by version: String) {
    let own = parts.record
    guard own.isShadow || own.version != version else { return }
    state.withLock {
      $0.superseded = ClusterSuperseded(
        version: version,
        own: own.version,
        isPromoted: own.isShadow && own.version == version
      )
    }
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
    while !state.withLock({ $0.isStopping || $0.difference != nil || $0.superseded != nil }),
      parts.log.standing.trimmed == nil
    {
      do {
        try stepLease()
        try watchStart()
        if turn.isMultiple(of: 2) { try say() }
        try watchCheckpoint()
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
    guard isCaughtUp, !parts.record.isShadow else { return }
    let value = try parts.bus.value(of: Key.lease)
    let seen = try value.map { (record: try LeaseRecord(encoded: $0.bytes), revision: $0.revision) }
    let action = state.withLock { state in
      state.holder = seen?.record.node ?? ""
      return state.lease.next(seen, at: now)
    }
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
    record.latest = standing.latest
    record.waiting = UInt32(clamping: standing.waiting)
    record.isCaughtUp = isCaughtUp
    record.checkpoint = state.withLock { $0.checkpoints.last?.position ?? 0 }
    let full = head / BlockDigest.length
    for index in max(0, full - ClusterNode.digests)..<full {
      if let digest = try BlockDigest.of(index, in: parts.journal) { record.digests.append(digest) }
    }
    try parts.bus.set(record.encoded, of: Key.node + parts.record.node, replacing: nil)
    let keys = try parts.bus.keys()
    answer(keys)
    let all = try ClusterState.nodes(on: parts.bus, keys).filter { $0.node != parts.record.node }
    try forget(all)
    state.withLock { $0.nodes = (all + [record]).sorted { $0.node < $1.node } }
    guard !parts.record.isShadow else { return }
    let others = all.filter { !$0.isShadow && $0.version == parts.record.version }
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

  /// Looks at the newest checkpoint of the own journal; the node that delivers drops what is long behind it of the log.
  private func watchCheckpoint() throws {
    let now = now
    guard state.withLock({ $0.nextCheckpoint.map { now >= $0 } ?? true }) else { return }
    guard let position = try journalled() else { return }
    let old = state.withLock { state -> UInt64? in
      state.nextCheckpoint = now + ClusterNode.checkpointInterval
      state.checkpoints.append((position, now))
      let old = state.checkpoints.lastIndex { now - $0.time >= ClusterNode.logAge }
      guard let old else { return nil }
      defer { state.checkpoints.removeFirst(old) }
      return state.checkpoints[old].position
    }
    if let old, parts.duty.isOn { try parts.bus.trim(through: old) }
  }

  /// The position of the log behind which the newest checkpoint of the own journal continues; nil without one.
  private func journalled() throws -> UInt64? {
    guard let stored = try parts.journal.latestCheckpoint(), LoggedCheckpoint.isOne(stored.bytes) else {
      return nil
    }
    return try LoggedCheckpoint.place(of: stored.bytes).reading.position
  }

  /// Hands the journal to a node that asks for one, on a thread of its own.
  private func answer(_ keys: [String]) {
    guard keys.contains(where: { $0.hasPrefix(JournalHandover.wanted) }), !state.withLock({ $0.isGiving })
    else { return }
    state.withLock { $0.isGiving = true }
    Thread { [self] in
      let giver = JournalHandover.Giver(
        journal: parts.journal,
        node: parts.record.node,
        isHolder: parts.duty.isOn
      )
      do {
        if let id = try JournalHandover(through: parts.bus).answer(giver) {
          parts.logger.notice("This node has handed its journal over.", metadata: ["id": "\(id)"])
        }
      } catch {
        parts.logger.warning("The journal was not handed over.", metadata: [LogKey.error: "\(error)"])
      }
      state.withLock { $0.isGiving = false }
    }
    .start()
  }

  /// Forgets nodes that have said nothing for a day.
  private func forget(_ others: [NodeRecord]) throws {
    guard parts.duty.isOn else { return }
    for other in others where Timestamp.wallClock - other.time > ClusterNode.forgottenAfter {
      try parts.bus.remove(Key.node + other.node)
    }
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
    "the events \(first) to \(last) of this node are not those of \(others.joined(separator: ", ")). It stops."
  }
}

/// What the nodes of a cluster have said of themselves.
package struct ClusterState: Sendable {
  /// The nodes, by name; those that are gone too, for a while.
  package var nodes: [NodeRecord]
  /// The version by which they decide; empty if none has started yet.
  package var version: String
  /// The holder of the lease; empty if there is none.
  package var holder: String
  /// The number of its tenure.
  package var tenure: UInt64
  /// The positions of the first and the last message of the log.
  package var first: UInt64
  /// The position of the last message of the log.
  package var last: UInt64
  /// The broker.
  package var broker: String

  /// Reads the state.
  package init(of bus: any ClusterBus) throws {
    nodes = try ClusterState.nodes(on: bus, bus.keys())
    version = try ClusterVersion.current(on: bus) ?? ""
    let lease = try bus.value(of: ClusterNode.Key.lease).map { try LeaseRecord(encoded: $0.bytes) }
    (holder, tenure) = (lease?.node ?? "", lease?.tenure ?? 0)
    (first, last) = try bus.span()
    broker = bus.state
  }

  static func nodes(on bus: any ClusterBus, _ keys: [String]) throws(ClusterError) -> [NodeRecord] {
    var nodes: [NodeRecord] = []
    for key in keys.sorted() where key.hasPrefix(ClusterNode.Key.node) {
      if let value = try bus.value(of: key), let node = try? NodeRecord(encoded: value.bytes) {
        nodes.append(node)
      }
    }
    return nodes
  }

  /// The state for people, a line each.
  package func lines(at now: Timestamp) -> [String] {
    func ago(_ time: Timestamp) -> String { String(format: "%.0f s ago", max(0, (now - time).seconds)) }
    var lines = ["broker      \(broker)", "log         positions \(first) to \(last)"]
    lines.append("decides     version \(version)")
    lines.append("deliveries  " + (holder.isEmpty ? "no node delivers" : "by \(holder), tenure \(tenure)"))
    for node in nodes {
      let behind = last > node.position ? last - node.position : 0
      let standing =
        node.isGone(at: now)
        ? "gone, seen \(ago(node.time))" : node.isCaughtUp ? "\(behind) behind" : "reads on, \(behind) behind"
      let waiting = node.waiting > 0 ? ", \(node.waiting) batches wait" : ""
      lines.append(
        "node        \(node.node)  \(node.version)\(node.isShadow ? " shadow" : "")  \(standing)\(waiting), \(node.head) events, checkpoint at \(node.checkpoint)  \(node.http)"
      )
    }
    return lines
  }
}
