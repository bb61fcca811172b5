import Foundation
package import PharosJournal
package import PharosDocuments
import PharosIngest
package import PharosModel

/// The way of a journal from one node to another that the log does not reach back to.
///
/// The node that asks sets the value `wanted.ID`, with another identity in each attempt. The node that holds the lease copies its
/// journal and puts it part by part among the objects of the broker, at most ``ahead`` parts before what the other one has taken: the
/// broker needs room for those alone. Either one gives up when the other one does nothing for ``patience``.
package struct JournalHandover: Sendable {
  /// The number of parts that wait to be taken.
  package static let ahead = 4
  /// The time for which a node waits for the other one.
  package static let patience: Duration = .seconds(30)
  /// The beginning of the names of the values by which nodes ask.
  package static let wanted = "wanted."
  /// The pause before the broker is asked again.
  private static let pause: TimeInterval = 0.05

  private let bus: any ClusterBus
  /// The length of a part but the last one.
  ///
  /// - Units: bytes.
  private let length: Int

  /// The usual length of a part.
  ///
  /// - Units: bytes.
  package static let partLength = 8 << 20

  /// Makes the way through a broker.
  package init(through bus: any ClusterBus, partLength: Int = JournalHandover.partLength) {
    (self.bus, length) = (bus, partLength)
  }

  private static func object(_ id: String, _ number: Int) -> String {
    "journal-\(id)-\(number)"
  }

  /// A journal that is handed over.
  package struct Giver: Sendable {
    /// The journal.
    package let journal: Journal
    /// The name of its node.
    package let node: String
    /// Indicates whether the node speaks for the cluster.
    package let isHolder: Bool

    /// Names the journal.
    package init(journal: Journal, node: String, isHolder: Bool) {
      (self.journal, self.node, self.isHolder) = (journal, node, isHolder)
    }

    /// Writes what is asked for to a file; false if there is nothing to give yet.
    fileprivate func write(_ request: HandoverRequest, to path: String) throws -> Bool {
      guard let since = request.since else {
        // Without a checkpoint it would be of no use.
        guard let stored = try journal.latestCheckpoint(), LoggedCheckpoint.isOne(stored.bytes) else {
          return false
        }
        try JournalFolder.copy(journal, to: path)
        return true
      }
      _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      defer { try? file.close() }
      var last: Int64 = 0
      while true {
        let events = try journal.events(after: last, matching: EventFilter(since: since), limit: 4_096)
        guard let newest = events.last else { return true }
        var writer = FieldWriter()
        for event in events { event.event.write(to: &writer) }
        try file.write(contentsOf: writer.bytes)
        last = newest.sequence
      }
    }
  }

  /// Answers a node that asks for what this one has, if there is one, and returns once it has all of it.
  ///
  /// - Returns: the identity of the attempt; nil if there was none.
  /// - Throws: ``ClusterError``, or the error of a journal that cannot be read.
  package func answer(_ giver: Giver) throws -> String? {
    for key in try bus.keys() where key.hasPrefix(JournalHandover.wanted) {
      // Who has claimed a question leaves nothing to read.
      guard let value = try bus.value(of: key), let request = try? HandoverRequest(encoded: value.bytes),
        request.node.isEmpty ? giver.isHolder : request.node == giver.node
      else { continue }
      let path = JournalFolder.draft(of: giver.journal)
      try? FileManager.default.removeItem(atPath: path)
      defer { try? FileManager.default.removeItem(atPath: path) }
      guard try giver.write(request, to: path) else { continue }
      do {
        try bus.set([], of: key, replacing: value.revision)
      } catch .conflict {
        continue
      }
      let id = String(key.dropFirst(JournalHandover.wanted.count))
      try give(path, to: id)
      return id
    }
    return nil
  }

  /// Puts a file among the objects, part by part, and returns once the other node has taken all of it.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - id: the identity of the attempt.
  /// - Throws: ``ClusterError``, or the error of a file that cannot be read; nothing of it is left at the broker then.
  package func give(_ path: String, to id: String) throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    var number = 0
    do {
      var next = try file.read(upToCount: length) ?? Data()
      repeat {
        let part = next
        next = try file.read(upToCount: length) ?? Data()
        try waitUntilGone(id, number - JournalHandover.ahead)
        try persist { () throws(ClusterError) in
          try bus.put([next.isEmpty ? 1 : 0] + part, object: JournalHandover.object(id, number))
        }
        number += 1
      } while !next.isEmpty
      try waitUntilGone(id, number - 1)
    } catch {
      drop(id, through: number)
      throw error
    }
  }

  /// Asks for a journal, again and again, and writes it to a file.
  ///
  /// - Parameters:
  ///   - path: the file, which is replaced.
  ///   - request: the request.
  ///   - waiting: is called when no node has answered for a while.
  ///   - isStopping: returns whether it is to give up.
  /// - Returns: true once the file has all of it; false if it gave up.
  /// - Throws: ``ClusterError``, or the error of a file that cannot be written.
  package func receive(
    into path: String,
    _ request: HandoverRequest,
    waiting: () -> Void,
    isStopping: () -> Bool
  ) throws -> Bool {
    while !isStopping() {
      let id = Hex.text((0..<8).map { _ in UInt8.random(in: .min ... .max) })
      try persist { () throws(ClusterError) in
        try bus.set(request.encoded, of: JournalHandover.wanted + id, replacing: nil)
      }
      defer { try? bus.remove(JournalHandover.wanted + id) }
      guard
        FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
      else {
        throw ClusterError.refused("\(path) cannot be written")
      }
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      defer { try? file.close() }
      if try receive(id, into: file, isStopping: isStopping) { return true }
      waiting()
    }
    return false
  }

  /// Writes the parts of one attempt to a file; false if they end before the last one.
  private func receive(_ id: String, into file: FileHandle, isStopping: () -> Bool) throws -> Bool {
    var (number, latest) = (0, ContinuousClock.now)
    defer { drop(id, through: number) }
    while !isStopping(), ContinuousClock.now - latest < JournalHandover.patience {
      guard let part = try? bus.object(JournalHandover.object(id, number)), let mark = part.first else {
        Thread.sleep(forTimeInterval: JournalHandover.pause)
        continue
      }
      try file.write(contentsOf: part.dropFirst())
      if mark == 1 {
        try file.synchronize()
        return true
      }
      // The next one is put once this one is gone.
      try persist { () throws(ClusterError) in try bus.drop(object: JournalHandover.object(id, number)) }
      (number, latest) = (number + 1, .now)
    }
    return false
  }

  /// Drops what may be left of an attempt.
  private func drop(_ id: String, through last: Int) {
    for number in max(0, last - JournalHandover.ahead)...last {
      try? bus.drop(object: JournalHandover.object(id, number))
    }
  }

  private func waitUntilGone(_ id: String, _ number: Int) throws(ClusterError) {
    guard number >= 0 else { return }
    let start = ContinuousClock.now
    while try persist({ () throws(ClusterError) in try bus.has(object: JournalHandover.object(id, number)) })
    {
      guard ContinuousClock.now - start < JournalHandover.patience else {
        throw .away("the node that asked for the journal has stopped to read it")
      }
      Thread.sleep(forTimeInterval: JournalHandover.pause)
    }
  }

  /// Asks the broker until it answers.
  @discardableResult
  private func persist<Value>(_ ask: () throws(ClusterError) -> Value) throws(ClusterError) -> Value {
    let start = ContinuousClock.now
    while true {
      do throws(ClusterError) {
        return try ask()
      } catch {
        guard case .away = error, ContinuousClock.now - start < JournalHandover.patience else { throw error }
        Thread.sleep(forTimeInterval: JournalHandover.pause)
      }
    }
  }
}

/// What a node, or a person, asks another node for.
package struct HandoverRequest: Hashable, Sendable {
  /// The node; empty for the one that holds the lease.
  package var node = ""
  /// The time of events from which on they are wanted; nil for the journal as a whole.
  package var since: Timestamp?

  /// Makes a request for a journal.
  package init() {}

  /// Makes a request for the events of a node since a time.
  package init(eventsOf node: String, since: Timestamp) { (self.node, self.since) = (node, since) }
}

extension HandoverRequest: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&node)
    try coder.code(&since)
  }
}
