import PharosCaptures
package import PharosEvents
package import PharosMonitoring
package import PharosReports

/// Inputs of one loop on their way to one shard, all of one reading of its clock.
package struct ShardParcel: Sendable {
  /// What there is.
  package enum Content: Sendable {
    /// Reports of observers that belong to the shard.
    case reports(ReportBatch)
    /// A change of an application's regions, accepted already; every shard gets it.
    case change(RegionChange)
    /// An edited site, accepted already; every shard gets it.
    case adoption(Site)
    /// The process stood still up to this time and received nothing; every shard gets it.
    case pause(through: Timestamp)
    /// Where a checkpoint is taken: behind everything up to the parcel's R; every shard gets it.
    case marker
  }

  /// The R from which theirs count.
  var received: Timestamp
  /// What there is.
  var content: Content

  package init(received: Timestamp, content: Content) {
    self.received = received
    self.content = content
  }
}

/// Decisions of one shard on their way to the merger.
package struct ShardResult: Sendable {
  /// What was decided.
  package var output: StageOutput
  /// All that the shard decided up to this time has been sent with it.
  var through: Timestamp
  /// The engine as it is at that time, if a checkpoint is taken there.
  var copy: EngineCopy?
}

/// An input that no observer sent.
package struct ServerInput: Sendable {
  /// What happened.
  package enum Content: Sendable {
    /// An application asked for a change of its regions, which was accepted unless there is a refusal.
    case change(RegionChange, refusal: RegionRefusal?)
    /// An edited site took the place of the one before.
    case adoption(Site)
    /// The wall clock was set by so much.
    case clockStep(TimeSpan)
    /// The process stood still up to this time and received nothing.
    case pause(through: Timestamp)
    /// A checkpoint is to be taken here.
    case marker(CheckpointMarker)
  }

  /// Its R, given out by loop 0.
  var received: Timestamp
  /// What happened.
  var content: Content

  package init(received: Timestamp, content: Content) {
    self.received = received
    self.content = content
  }
}

/// Inputs of one loop on their way to the recorder, all of one reading of its clock.
struct RecorderParcel: Sendable {
  /// What there is.
  enum Content: Sendable {
    /// Datagrams as they were received.
    case datagrams(DatagramLog)
    /// Something else.
    case server(ServerInput.Content)
  }

  /// The R from which theirs count.
  var received: Timestamp
  /// What there is.
  var content: Content
}

/// Datagrams as they were received: their bytes one behind the other.
package struct DatagramLog: Sendable {
  /// One datagram.
  package struct Entry: Sendable {
    /// Its R.
    var received: Timestamp
    /// Who sent it.
    var source: Endpoint
    /// The socket that received it.
    var destination: Endpoint
    /// Where its bytes end; they begin where those of the one before end.
    package var end: Int
  }

  /// The datagrams in order.
  package private(set) var entries: [Entry] = []
  /// Their bytes.
  package private(set) var bytes: [UInt8] = []

  /// Whether there is nothing in it.
  var isEmpty: Bool { entries.isEmpty }

  /// Appends a datagram.
  mutating func append(
    _ datagram: UnsafeRawBufferPointer,
    received: Timestamp,
    from source: Endpoint,
    to destination: Endpoint
  ) {
    bytes.append(contentsOf: datagram)
    entries.append(
      Entry(received: received, source: source, destination: destination, end: bytes.count)
    )
  }

  /// Empties it and keeps its storage.
  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }
}
