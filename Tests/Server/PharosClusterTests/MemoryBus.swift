import Foundation
import PharosCluster
import PharosModel
import PharosPipeline
import PharosTerminal

/// A broker in memory, which several nodes share: a log, values and objects.
final class MemoryBroker: @unchecked Sendable {
  fileprivate let condition = NSCondition()
  fileprivate var log: [LogEntry] = []
  fileprivate var first: UInt64 = 1
  fileprivate var values: [String: ClusterValue] = [:]
  fileprivate var objects: [String: [UInt8]] = [:]
  fileprivate var revision: UInt64 = 0
  fileprivate var atOnce = 0

  /// All messages so far.
  var entries: [LogEntry] { locked { log } }
  /// The identities of the batches that were stored, each as often as it was.
  var stored: [String] { locked { log.compactMap { InputBatch.id(of: $0.bytes)?.description } } }

  /// The names of the objects and values that there are.
  var names: (objects: [String], values: [String]) {
    locked { (objects.keys.sorted(), values.keys.sorted()) }
  }
  /// The maximum number of objects at any time.
  var objectsAtOnce: Int { locked { atOnce } }

  fileprivate func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    condition.lock()
    defer { condition.unlock() }
    return try body()
  }
}

/// The connection of one node to a broker in memory; it can be cut, and lose answers.
final class MemoryBus: ClusterBus, @unchecked Sendable {
  private let broker: MemoryBroker
  private var isCut = false
  /// Of how many messages one answer is lost, which is stored all the same; 0 for none.
  private var losing = 0
  /// Of how many messages one is acknowledged and not stored; 0 for none.
  private var forgetting = 0
  private var appended = 0

  init(_ broker: MemoryBroker, losing: Int = 0, forgetting: Int = 0) {
    (self.broker, self.losing, self.forgetting) = (broker, losing, forgetting)
  }

  /// Cuts the connection, or mends it.
  func cut(_ isCut: Bool) {
    broker.locked {
      self.isCut = isCut
      broker.condition.broadcast()
    }
  }

  private func connected<Result>(_ body: () -> Result) throws(ClusterError) -> Result {
    let result: Result? = broker.locked { isCut ? nil : body() }
    guard let result else { throw .away("the connection is cut") }
    return result
  }

  func append(_ bytes: [UInt8], _ stored: @escaping @Sendable (Result<UInt64, ClusterError>) -> Void) {
    do throws(ClusterError) {
      let (position, isLost) = try connected { () -> (UInt64, Bool) in
        appended += 1
        let position = (broker.log.last?.position ?? 0) + 1
        let isForgotten = forgetting > 0 && appended.isMultiple(of: forgetting)
        broker.log.append(LogEntry(position: position, stored: .wallClock, bytes: isForgotten ? [] : bytes))
        broker.condition.broadcast()
        return (position, losing > 0 && appended.isMultiple(of: losing))
      }
      stored(isLost ? .failure(.away("the answer is lost")) : .success(position))
    } catch {
      stored(.failure(error))
    }
  }

  func reader(behind position: UInt64) throws(ClusterError) -> any ClusterReader {
    let first = try connected { broker.first }
    guard position + 1 >= first else { throw .trimmed(first: first) }
    return Reader(bus: self, position: position)
  }

  func span() throws(ClusterError) -> (first: UInt64, last: UInt64) {
    try connected { (broker.first, broker.log.last?.position ?? broker.first - 1) }
  }

  func trim(through position: UInt64) throws(ClusterError) { try connected { broker.first = position + 1 } }

  func value(of key: String) throws(ClusterError) -> ClusterValue? { try connected { broker.values[key] } }

  func set(_ bytes: [UInt8], of key: String, replacing revision: UInt64?) throws(ClusterError) -> UInt64 {
    let set = try connected { () -> UInt64? in
      guard revision == nil || revision == broker.values[key]?.revision ?? 0 else { return nil }
      broker.revision += 1
      broker.values[key] = ClusterValue(bytes: bytes, revision: broker.revision)
      return broker.revision
    }
    guard let set else { throw .conflict }
    return set
  }

  func keys() throws(ClusterError) -> [String] { try connected { Array(broker.values.keys) } }
  func put(_ bytes: [UInt8], object name: String) throws(ClusterError) {
    try connected {
      broker.objects[name] = bytes
      broker.atOnce = max(broker.atOnce, broker.objects.count)
    }
  }
  func object(_ name: String) throws(ClusterError) -> [UInt8]? { try connected { broker.objects[name] } }
  func remove(_ key: String) throws(ClusterError) { try connected { broker.values[key] = nil } }
  func has(object name: String) throws(ClusterError) -> Bool { try connected { broker.objects[name] != nil } }
  func drop(object name: String) throws(ClusterError) { try connected { broker.objects[name] = nil } }
  var state: String { "memory" }
  func close() {}

  private final class Reader: ClusterReader {
    let bus: MemoryBus
    var position: UInt64

    init(bus: MemoryBus, position: UInt64) { (self.bus, self.position) = (bus, position) }

    func next(_ limit: Int) throws(ClusterError) -> [LogEntry] {
      let broker = bus.broker
      let found = broker.locked { () -> [LogEntry]? in
        if broker.log.count <= Int(position), !bus.isCut { _ = broker.condition.wait(until: Date() + 0.25) }
        guard !bus.isCut else { return nil }
        return Array(broker.log.dropFirst(Int(position)).prefix(limit))
      }
      guard let found else { throw .away("the connection is cut") }
      position = found.last?.position ?? position
      return found
    }

    func close() {}
  }
}
