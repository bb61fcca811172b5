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
  /// The position of the log that its engines have.
  package var position: UInt64 = 0
  /// The sequence of its newest event.
  package var head: Int64 = 0
  /// The number of batches that it could not store in the log yet.
  package var waiting: UInt32 = 0
  /// Indicates whether it has read all that was in the log when it started.
  package var isCaughtUp = false
  /// The digests of its newest full blocks of events.
  package var digests: [BlockDigest] = []

  /// Makes one to read into.
  package init() {}
}

extension NodeRecord: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&node)
    try coder.code(&version)
    try coder.code(&http)
    try coder.code(&time)
    try coder.code(&position)
    try coder.code(&head)
    try coder.code(&waiting)
    try coder.code(&isCaughtUp)
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

/// The checkpoint from which a node starts that has none, or an older one than the log reaches back to.
package struct CheckpointPointer: Hashable, Sendable {
  /// The name of the object.
  package var object = ""
  /// The position of the log behind which it continues.
  package var position: UInt64 = 0
  /// The sequence of the last event before it.
  package var through: Int64 = 0
  /// The node that has put it.
  package var node = ""
  /// The time at which it was put.
  package var time = Timestamp.distantPast

  /// Makes one to read into.
  package init() {}
}

extension CheckpointPointer: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&object)
    try coder.code(&position)
    try coder.code(&through)
    try coder.code(&node)
    try coder.code(&time)
  }
}
