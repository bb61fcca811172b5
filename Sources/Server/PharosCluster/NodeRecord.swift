package import PharosDocuments
package import PharosJournal
package import PharosModel

/// What a node says of itself, once a second.
package struct NodeRecord: Hashable, Sendable {
  /// Its name.
  package var node = ""
  /// The version of its program.
  package var version = ""
  /// The address of its HTTP interface; empty without one.
  package var http = ""
  /// The time of the record, by its own clock.
  package var time = Timestamp.distantPast
  /// Indicates whether it decides for itself alone, to be compared.
  package var isShadow = false
  /// The time of decisions from which on its events are its own and not those of the journal that it began with.
  package var since = Timestamp.distantPast
  /// The time at which the message was stored that its engines have.
  package var latest = Timestamp.distantPast
  /// The position of the log that its engines have.
  package var position: UInt64 = 0
  /// The sequence of its newest event.
  package var head: Int64 = 0
  /// The number of batches that it could not store in the log yet.
  package var waiting: UInt32 = 0
  /// Indicates whether it has read all that was in the log when it started.
  package var isCaughtUp = false
  /// The position of the log behind which its newest checkpoint continues; 0 without one.
  package var checkpoint: UInt64 = 0
  /// The digests of its newest full blocks of events.
  package var digests: [BlockDigest] = []

  /// Makes one to read into.
  package init() {}

  /// Returns whether the node has said nothing for a while.
  package func isGone(at now: Timestamp) -> Bool { now - time > ClusterNode.goneAfter }
}

extension NodeRecord: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 2)
    try coder.code(&node)
    try coder.code(&version)
    try coder.code(&http)
    try coder.code(&time)
    try coder.code(&isShadow)
    try coder.code(&since)
    try coder.code(&latest)
    try coder.code(&position)
    try coder.code(&head)
    try coder.code(&waiting)
    try coder.code(&isCaughtUp)
    try coder.code(&checkpoint)
    try coder.code(&digests)
  }
}

/// The digest of a block of events by their sequence numbers: equal on all nodes whose journals are.
package struct BlockDigest: Hashable, Sendable {
  /// The number of events of a block.
  package static let length: Int64 = 64

  /// The number of the block: it holds the sequences from `index × 64 + 1`.
  package var index: Int64 = 0
  /// The digest.
  package var value: Int64 = 0

  /// Makes one to read into.
  package init() {}

  /// Computes the digest of a block, or returns nil if the journal does not have all of it.
  package static func of(_ index: Int64, in journal: Journal) throws(JournalError) -> BlockDigest? {
    let first = index * length + 1
    let events = try journal.events(after: first - 1, limit: Int(length))
    guard events.count == length, events.first?.sequence == first else { return nil }
    var writer = FieldWriter()
    // The id says who decided what about whom and when; an erasure that not all have made yet may change the rest.
    for event in events {
      writer.write(UInt64(bitPattern: event.sequence))
      writer.write("\(event.event.id)")
    }
    var digest = BlockDigest()
    (digest.index, digest.value) = (index, Journal.digest(writer.bytes))
    return digest
  }
}

extension BlockDigest: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&index)
    try coder.code(&value)
  }
}
