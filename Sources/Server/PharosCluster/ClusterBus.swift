import Dispatch
package import PharosPipeline
import Synchronization

/// What a cluster needs of a message broker: a log, small values with compare-and-set, and large objects.
///
/// NATS JetStream gives it (`PharosNATS`), and tests give it from memory. All calls but ``append(_:_:)`` block, for a few
/// seconds at most, and are made on threads of the caller's own.
package protocol ClusterBus: Sendable {
  /// Stores a message at the end of the log; returns at once.
  ///
  /// - Parameters:
  ///   - bytes: the message, at most `InputBatch.maximumLength`.
  ///   - stored: is called with its position once it is stored, or with the reason why that is not known.
  func append(_ bytes: [UInt8], _ stored: @escaping @Sendable (Result<UInt64, ClusterError>) -> Void)

  /// Opens a reader of the log.
  ///
  /// - Parameter position: the position behind which it begins.
  /// - Returns: the reader.
  /// - Throws: ``ClusterError/trimmed(first:)`` where the log begins behind the next position.
  func reader(behind position: UInt64) throws(ClusterError) -> any ClusterReader

  /// Returns the positions of the first and the last message; the last is one less than the first in an empty log.
  func span() throws(ClusterError) -> (first: UInt64, last: UInt64)

  /// Drops the messages through a position.
  func trim(through position: UInt64) throws(ClusterError)

  /// Returns a value, or nil if there is none.
  func value(of key: String) throws(ClusterError) -> ClusterValue?

  /// Sets a value.
  ///
  /// - Parameters:
  ///   - bytes: the value.
  ///   - key: its name.
  ///   - revision: the revision that it replaces, 0 for none; nil replaces any.
  /// - Returns: its revision.
  /// - Throws: ``ClusterError/conflict`` where another one was set meanwhile.
  @discardableResult
  func set(_ bytes: [UInt8], of key: String, replacing revision: UInt64?) throws(ClusterError) -> UInt64

  /// Drops a value, if there is one.
  func remove(_ key: String) throws(ClusterError)

  /// Returns the names of all values.
  func keys() throws(ClusterError) -> [String]

  /// Stores a large object under a name, in place of another one.
  func put(_ bytes: [UInt8], object name: String) throws(ClusterError)

  /// Returns an object, or nil if there is none, or not all of it.
  func object(_ name: String) throws(ClusterError) -> [UInt8]?

  /// Returns whether there is an object of a name.
  func has(object name: String) throws(ClusterError) -> Bool

  /// Drops an object, if there is one.
  func drop(object name: String) throws(ClusterError)

  /// The broker's state, for people: where it is connected to, and its version.
  var state: String { get }

  /// Ends the connection.
  func close()
}

extension ClusterBus {
  /// Stores a message at the end of the log, and waits until it is there.
  ///
  /// - Returns: its position.
  /// - Throws: ``ClusterError``; whether it is stored may not be known.
  package func store(_ bytes: [UInt8]) throws(ClusterError) -> UInt64 {
    let result = Mutex<Result<UInt64, ClusterError>?>(nil)
    let isAnswered = DispatchSemaphore(value: 0)
    append(bytes) { stored in
      result.withLock { $0 = stored }
      isAnswered.signal()
    }
    guard isAnswered.wait(timeout: .now() + .seconds(10)) == .success, let stored = result.withLock({ $0 })
    else {
      throw .away("it has not stored a message within 10 s")
    }
    let position = try stored.get()
    // What was acknowledged may be missing all the same; see `SharedLog`.
    let reader = try reader(behind: position - 1)
    defer { reader.close() }
    guard try reader.next(1).first?.bytes == bytes else {
      throw .away("it has not kept a message. Try again")
    }
    return position
  }
}

/// Reads the messages of a log in their order, each once.
package protocol ClusterReader {
  /// Returns the next messages; none if there are none for a quarter of a second.
  ///
  /// - Parameter limit: the maximum number of messages.
  /// - Returns: the messages, in order.
  /// - Throws: the reason why it cannot read on; a new reader may.
  func next(_ limit: Int) throws(ClusterError) -> [LogEntry]
  /// Ends reading.
  func close()
}

/// A value with its revision, which grows with each change.
package struct ClusterValue: Hashable, Sendable {
  /// The bytes.
  package let bytes: [UInt8]
  /// The revision.
  package let revision: UInt64

  /// Makes a value.
  package init(bytes: [UInt8], revision: UInt64) { (self.bytes, self.revision) = (bytes, revision) }
}

/// The reason why a broker did not do what it was asked for.
package enum ClusterError: Error, Hashable, Sendable {
  /// It cannot be reached, or does not answer; the text says more.
  case away(String)
  /// It refuses; the text says what to do.
  case refused(String)
  /// Another value was set meanwhile.
  case conflict
  /// The log begins at a later position.
  case trimmed(first: UInt64)
}

extension ClusterError: CustomStringConvertible {
  /// What happened, and what to do.
  package var description: String {
    switch self {
    case .away(let reason): "The broker of the cluster does not answer: \(reason)"
    case .refused(let reason): "The broker of the cluster refuses: \(reason)"
    case .conflict: "Another node changed the value at the same time. Try again."
    case .trimmed(let first):
      "The log of the cluster begins at position \(first), behind what this node has read. Start it again: it begins "
        + "with the journal of another node."
    }
  }
}
