package import PharosPipeline

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

  /// Makes the settings.
  package init(log: any InputLog, node: String, start: UInt32, reading: LogReading = LogReading()) {
    (self.log, self.node, self.start, self.reading) = (log, node, start, reading)
  }
}
