package import PharosDocuments
package import PharosModel
package import PharosPipeline
package import PharosSite

/// The log between the sockets of servers and their engines: the one seam through which several servers decide alike.
///
/// Without one (``IngestConfiguration/log`` is nil, the default), what a server receives goes to its engines at once, and what
/// the journal keeps is all there is. With one, a server publishes what it receives, in batches, and its engines decide what it
/// reads from the log: the inputs of all servers in one order, at the times that the log has stored with them
/// (`LogReading`). All who read a log give the same events with the same ids.
///
/// Every message is a batch of up to 64 KB, 960 KB at most, whose identity is the same in each attempt to store it.
package protocol InputLog: Sendable {
  /// Publishes a message, and again until it is stored; returns at once.
  ///
  /// It is called on the threads of the loops, in the order of the numbers of each publisher. A log that cannot keep up, or
  /// is away, keeps what it is given, and drops what it has no room for.
  func publish(_ id: BatchID, _ bytes: [UInt8])

  /// Begins to read behind a position, on a thread of the log's own.
  ///
  /// - Parameters:
  ///   - position: the position of the last message that was read.
  ///   - receive: takes the next messages, in order, and returns once the engines have them. If it throws, reading ends: the
  ///     server stops, or cannot read on. Some of the messages may be given again.
  func read(behind position: UInt64, _ receive: @escaping @Sendable ([LogEntry]) throws -> Void)
}

/// A change of the site or of documents that a server has read from the log and made, which it stores now.
package struct LoggedEdit: Sendable {
  /// The changes.
  package let changes: [RegionChange]
  /// The documents that belong to them.
  package let documents: [DocumentChange]
  /// Indicates whether a request of this server waits for it.
  package let isOwn: Bool
  /// Is called once they are stored, with the error of a store that cannot be written.
  package let stored: @Sendable ((any Error)?) -> Void
}

/// The settings of a server that receives and decides through a log.
package struct LoggedIngest: Sendable {
  /// The log.
  package var log: any InputLog
  /// The name of the node among all that publish to the log.
  package var node: String
  /// The number of this start of the node, which grows with each.
  package var start: UInt32
  /// The reading that belongs to the checkpoint from which the server continues; a new one reads from the beginning.
  package var reading: LogReading
  /// Stores edits, in their order; called on the thread of loop 0, which it must not block.
  package var store: @Sendable (LoggedEdit) -> Void

  /// Indicates whether the server publishes nothing, and refuses requests for changes: it only reads.
  package var isReadOnly = false
  /// Returns whether the server reads nothing more behind the documents of an edit.
  package var isEnd: @Sendable ([DocumentChange]) -> Bool = { _ in false }

  /// Makes the settings.
  package init(
    log: any InputLog,
    node: String,
    start: UInt32,
    reading: LogReading = LogReading(),
    store: @escaping @Sendable (LoggedEdit) -> Void = { $0.stored(nil) }
  ) {
    (self.log, self.node, self.start, self.reading, self.store) = (log, node, start, reading, store)
  }
}

/// The place of a checkpoint in a log: what the engines cannot say themselves.
package struct LogPlace: Sendable {
  /// The reading of the log.
  package let reading: LogReading
  /// The sources of the site.
  package let sources: SiteSources
  /// The site itself, which programs change without sources.
  package let site: Site
}

/// A checkpoint with its place in a log: all that a server needs to read on as if it had not been interrupted.
package struct LoggedCheckpoint: Sendable {
  /// Its place.
  package let place: LogPlace
  /// The state of the engines there.
  package let checkpoint: Checkpoint

  /// "PHLC".
  private static let magic: UInt32 = 0x5048_4C43
  /// The version of the bytes.
  private static let version: UInt8 = 1

  /// Makes one.
  package init(place: LogPlace, checkpoint: Checkpoint) {
    (self.place, self.checkpoint) = (place, checkpoint)
  }

  /// Its bytes.
  ///
  /// - Shape: 0 "PHLC"; 4 version; 5 the reading of the log; then the documents from which the site follows, the site, and the bytes of
  ///   the checkpoint. Big-endian.
  package var encoded: [UInt8] {
    var writer = FieldWriter()
    writer.write(LoggedCheckpoint.magic)
    writer.write(LoggedCheckpoint.version)
    place.reading.write(to: &writer)
    writer.write(place.sources.documents)
    writer.write(place.site)
    writer.write(raw: checkpoint.encoded)
    return writer.bytes
  }

  /// Returns whether bytes begin as those of such a checkpoint do.
  package static func isOne(_ bytes: [UInt8]) -> Bool {
    var reader = FieldReader(bytes[...])
    return (try? reader.number(UInt32.self)) == magic
  }

  /// Reads one.
  ///
  /// - Throws: `FieldError` or `CheckpointError`: what is wrong with the bytes.
  package init(decoding bytes: [UInt8]) throws {
    var reader = FieldReader(bytes[...])
    place = try LoggedCheckpoint.place(from: &reader)
    checkpoint = try Checkpoint(decoding: try reader.raw(reader.remaining))
  }

  /// Reads the place alone, whichever version has written the state of the engines.
  ///
  /// - Throws: `FieldError` or `CheckpointError`: what is wrong with the bytes.
  package static func place(of bytes: [UInt8]) throws -> LogPlace {
    var reader = FieldReader(bytes[...])
    return try place(from: &reader)
  }

  private static func place(from reader: inout FieldReader) throws -> LogPlace {
    guard try reader.number(UInt32.self) == LoggedCheckpoint.magic else {
      throw CheckpointError.notACheckpoint
    }
    try reader.code(version: LoggedCheckpoint.version)
    let reading = try LogReading(from: &reader)
    let documents = try [DocumentChange](from: &reader)
    return LogPlace(reading: reading, sources: try SiteSources(documents), site: try Site(from: &reader))
  }
}
