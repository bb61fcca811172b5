import Foundation
package import Logging
import PharosIngest
package import PharosModel
package import PharosPipeline
import Synchronization

/// The log that the nodes of a cluster share, as one node publishes to it and reads it.
///
/// **Publishing.** Batches go out in the order of their numbers, at most 64 at once, and each until this node has read
/// it back: a batch whose fate is not known is sent again, and so is one that the broker had acknowledged and that is not where it was
/// said to be (seen once in 60,000 with nats-server 2.9 whose leaders were killed). Readers recognise repeats. While the broker is
/// away batches wait, in memory first and then in a file (``BatchSpool``), so that what the node has received is decided once the
/// broker is back.
///
/// **Reading.** A thread of its own reads behind the position at which the engines are, and waits for them.
package final class SharedLog: InputLog, Sendable {
  /// The maximum number of batches under way.
  static let maximumUnderWay = 64
  /// The length of all batches that wait in memory; further ones wait in the file.
  ///
  /// - Units: bytes; 64 MiB are a second of a saturated node.
  static let memory = 64 << 20
  /// The pause behind a failure.
  static let pause: TimeInterval = 0.05

  /// A batch that waits, or is under way.
  private struct Batch {
    let id: String
    /// Its bytes; nil while they are in the file.
    var bytes: [UInt8]?
    let length: Int
    /// The position at which the broker has stored it; nil while that is not known.
    var position: UInt64?
  }

  private struct State {
    /// The batches that were not read back, by their order.
    var batches: [UInt64: Batch] = [:]
    /// The orders of batches by their identity.
    var orders: [String: UInt64] = [:]
    /// The number of batches whose position is not known.
    var unstored = 0
    /// The orders of the batches that wait, ascending.
    var waiting: [UInt64] = []
    var nextOrder: UInt64 = 0
    var underWay = 0
    var inMemory = 0
    var heldUntil = Date.distantPast
    var isClosed = false
    var isReading = true
    var standing = SharedLogStanding()

    /// Adds a batch behind all others.
    mutating func add(id: String, bytes: [UInt8]?, length: Int) {
      batches[nextOrder] = Batch(id: id, bytes: bytes, length: length)
      orders[id] = nextOrder
      waiting.append(nextOrder)
      unstored += 1
      nextOrder += 1
    }

    /// Drops a batch that was read back; returns it.
    mutating func drop(_ id: String) -> Batch? {
      guard let order = orders.removeValue(forKey: id), let batch = batches.removeValue(forKey: order) else {
        return nil
      }
      if let bytes = batch.bytes { inMemory -= bytes.count }
      if batch.position == nil {
        unstored -= 1
        if let index = waiting.firstIndex(of: order) { waiting.remove(at: index) }
      }
      standing.stored += 1
      return batch
    }

    /// Has those sent again whose position was read, and which were not there.
    mutating func sendAgain(through position: UInt64) {
      for (order, batch) in batches where batch.position.map({ $0 <= position }) ?? false {
        batches[order]?.position = nil
        unstored += 1
        standing.missed += 1
        wait(order)
      }
    }

    /// Has a batch wait in its order.
    mutating func wait(_ order: UInt64) {
      waiting.insert(order, at: waiting.firstIndex { $0 > order } ?? waiting.endIndex)
    }
  }

  private let bus: any ClusterBus
  private let spool: BatchSpool
  private let logger: Logger
  private let condition = NSCondition()
  // Guarded by the condition's lock as well, which wakes the thread that publishes.
  private let state = Mutex(State())

  /// Makes the log of a node, with what an earlier run has left in the file.
  ///
  /// - Parameters:
  ///   - bus: the broker.
  ///   - spool: the file of batches that wait.
  ///   - logger: the logger for messages to the operator.
  package init(bus: any ClusterBus, spool: BatchSpool, logger: Logger) {
    (self.bus, self.spool, self.logger) = (bus, spool, logger)
    for left in spool.recovered() {
      state.withLock { $0.add(id: left.id, bytes: nil, length: left.length) }
    }
    Thread { self.send() }.start()
  }

  /// How it is.
  package var standing: SharedLogStanding {
    state.withLock { state in
      var standing = state.standing
      standing.waiting = state.unstored
      return standing
    }
  }

  package func publish(_ id: BatchID, _ bytes: [UInt8]) {
    let name = id.description
    let isKept = state.withLock { state -> Bool in
      guard !state.isClosed else { return false }
      if state.inMemory + bytes.count <= SharedLog.memory, spool.isEmpty {
        state.inMemory += bytes.count
        state.add(id: name, bytes: bytes, length: bytes.count)
        return true
      }
      // A tick that waits says nothing once it is stored.
      guard !InputBatch.isTick(bytes) else { return true }
      guard spool.append(id: name, bytes) else {
        state.standing.lost += 1
        return false
      }
      state.add(id: name, bytes: nil, length: bytes.count)
      return true
    }
    if isKept { condition.wake() }
  }

  /// Ends: what is not stored yet goes to the file, for the next start.
  package func close() {
    let left = state.withLock { state -> [Batch] in
      state.isClosed = true
      state.isReading = false
      return state.batches.filter { $0.value.position == nil }.sorted { $0.key < $1.key }.map(\.value)
    }
    for batch in left {
      if let bytes = batch.bytes, !InputBatch.isTick(bytes) { _ = spool.append(id: batch.id, bytes) }
    }
    spool.close()
    condition.wake()
  }

  /// Sends batches until the end.
  private func send() {
    while true {
      let next = state.withLock { state -> Next in
        if state.isClosed { return .end }
        guard Date() >= state.heldUntil, state.underWay < SharedLog.maximumUnderWay,
          let order = state.waiting.first,
          let batch = state.batches[order]
        else { return .wait }
        state.waiting.removeFirst()
        state.underWay += 1
        return .send(order, batch)
      }
      switch next {
      case .end: return
      case .wait: condition.wait(for: SharedLog.pause)
      case .send(let order, let batch):
        guard let bytes = batch.bytes ?? spool.bytes(of: batch.id) else {
          state.withLock { state in
            state.underWay -= 1
            _ = state.drop(batch.id)
          }
          continue
        }
        bus.append(bytes) { [weak self] result in self?.finish(order, result) }
      }
    }
  }

  private enum Next {
    case end, wait
    case send(UInt64, Batch)
  }

  /// Notes the fate of a batch that was under way.
  private func finish(_ order: UInt64, _ result: Result<UInt64, ClusterError>) {
    let news = state.withLock { state -> SharedLogStanding? in
      state.underWay -= 1
      let before = state.standing.problem
      switch result {
      case .success(let position):
        state.standing.problem = nil
        // It may have been read back before.
        if state.batches[order] != nil {
          state.batches[order]?.position = position
          state.unstored -= 1
          if position <= state.standing.position { state.sendAgain(through: state.standing.position) }
        }
      case .failure(let error):
        state.standing.problem = "\(error)"
        state.standing.failures += 1
        state.heldUntil = Date() + SharedLog.pause
        if state.batches[order] != nil { state.wait(order) }
      }
      guard !state.isClosed else { return nil }
      return (before == nil) != (state.standing.problem == nil) ? state.standing : nil
    }
    if let news { say(news) }
    condition.wake()
  }

  /// Notes what was read: batches of this node are in the log.
  private func noteRead(_ entries: [LogEntry], through last: LogEntry) {
    let ids = entries.compactMap { InputBatch.id(of: $0.bytes)?.description }
    let spooled = state.withLock { state -> [String] in
      state.standing.position = last.position
      state.standing.latest = last.stored
      state.standing.readProblem = nil
      let dropped = ids.compactMap { state.drop($0) }
      state.sendAgain(through: last.position)
      return dropped.filter { $0.bytes == nil }.map(\.id)
    }
    for id in spooled { spool.drop(id) }
  }

  private func say(_ standing: SharedLogStanding) {
    guard let problem = standing.problem else {
      return logger.notice("The log of the cluster takes inputs again.")
    }
    logger.error(
      "Inputs cannot be stored in the log of the cluster. They wait, and nothing is decided meanwhile.",
      metadata: ["reason": "\(problem)", "file": "\(spool.path)"]
    )
  }

  package func read(behind position: UInt64, _ receive: @escaping @Sendable ([LogEntry]) throws -> Void) {
    Thread {
      var position = position
      var reader: (any ClusterReader)?
      defer { reader?.close() }
      while self.state.withLock({ $0.isReading }) {
        do {
          let open = try reader ?? self.bus.reader(behind: position)
          reader = open
          let entries = try open.next(256)
          guard let last = entries.last else { continue }
          try receive(entries)
          position = last.position
          self.noteRead(entries, through: last)
        } catch let error as ClusterError {
          reader?.close()
          reader = nil
          if case .trimmed(let first) = error {
            return self.state.withLock { $0.standing.trimmed = first }
          }
          self.state.withLock { $0.standing.readProblem = "\(error)" }
          Thread.sleep(forTimeInterval: SharedLog.pause)
        } catch {
          // The server stops, or cannot read on, which it has said.
          return
        }
      }
    }
    .start()
  }
}

extension NSCondition {
  /// Wakes the thread that waits.
  fileprivate func wake() {
    lock()
    signal()
    unlock()
  }

  /// Waits until it is woken, for a while at most.
  fileprivate func wait(for interval: TimeInterval) {
    lock()
    _ = wait(until: Date() + interval)
    unlock()
  }
}

/// How the log of a node is.
package struct SharedLogStanding: Hashable, Sendable {
  /// The position of the last message that the engines have.
  package var position: UInt64 = 0
  /// The time at which that was stored.
  package var latest = Timestamp.distantPast
  /// The number of batches that are not stored yet.
  package var waiting = 0
  /// The number of batches that were read back.
  package var stored: UInt64 = 0
  /// The number of batches that were acknowledged and then not where they were said to be; they were sent again.
  package var missed: UInt64 = 0
  /// The number of failed attempts.
  package var failures: UInt64 = 0
  /// The number of batches that neither memory nor the file had room for.
  package var lost: UInt64 = 0
  /// The reason why the last attempt failed; nil if it did not.
  package var problem: String?
  /// The reason why it cannot be read at present; nil if it can.
  package var readProblem: String?
  /// The first position of a log that begins behind the one that the engines have; nil of any other.
  package var trimmed: UInt64?

  /// The standing of a log that nothing has happened to.
  package init() {}
}
