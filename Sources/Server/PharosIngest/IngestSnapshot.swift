import PharosCaptures
package import PharosModel
package import PharosPipeline
package import PharosPresence
package import PharosWire

/// The counters and tables of ingest, put together from all loops at about one moment.
package struct IngestSnapshot: Sendable {
  /// The time of the snapshot, by the clock that R is taken from.
  package var time = Timestamp.distantPast
  /// Datagrams received.
  package var datagrams: UInt64 = 0
  /// Their bytes.
  package var bytes: UInt64 = 0
  /// The decoded and refused datagrams, by format and reason.
  package var decoding = DatagramCounters()
  /// The senders of refused datagrams, the one with the most refusals first; bounded, the oldest are evicted.
  package var refusedSources: [RefusedSource] = []
  /// Datagrams longer than the largest that is taken; also counted as refused.
  package var truncated: UInt64 = 0
  /// Datagrams that the kernel dropped because a receive buffer was full.
  package var kernelDrops: UInt64 = 0
  /// The number of times that a socket had to wait because a queue between threads was full; nothing is lost by it.
  package var queueWaits: UInt64 = 0
  /// Reports that were decoded by one loop and decided by another.
  package var forwarded: UInt64 = 0
  /// Passing errors of sockets.
  package var socketErrors: UInt64 = 0
  /// Entries that the bounded tables forgot to make room.
  package var tableEvictions: UInt64 = 0
  /// The counters of stage one.
  package var monitoring = MonitoringCounters()
  /// The counters of stage two.
  package var positioning = PositioningCounters()
  /// The states of the observers, by identity.
  package var observers: [ObserverStatus] = []
  /// All that is heard, registered or not.
  package var heard = Heard()
  /// The sockets.
  package var sockets: [SocketStatus] = []
  /// The time through which all events have been delivered.
  package var deliveredThrough = Timestamp.distantPast
  /// Indicates whether inputs are being recorded.
  package var isRecording = false

  /// Starts with nothing.
  package init() {}
}

/// One socket.
package struct SocketStatus: Hashable, Sendable {
  /// The address on which it listens.
  package var address: Endpoint
  /// The index of the loop that reads it.
  package var loop: Int
  /// The receive buffer that the kernel granted.
  ///
  /// - Units: bytes, as they are asked for.
  package var receiveBuffer: Int
}

extension ReadingLoop {
  /// Returns the contribution of this loop to a snapshot, its lists in no order.
  func snapshot() -> IngestSnapshot {
    readDropCounters()
    var snapshot = IngestSnapshot()
    snapshot.time = clock.last
    snapshot.datagrams = intake.counters.datagrams
    snapshot.bytes = intake.counters.bytes
    snapshot.decoding = intake.decoder.counters
    snapshot.refusedSources = intake.refusals.sources
    snapshot.truncated = intake.counters.truncated
    snapshot.kernelDrops = counters.kernelDrops
    snapshot.queueWaits = counters.ringWaits + shard.waits
    snapshot.forwarded = intake.counters.forwarded
    snapshot.socketErrors = counters.socketErrors
    snapshot.tableEvictions = intake.heard.evictions + intake.refusals.evictions
    snapshot.monitoring = shard.engine.counters
    snapshot.observers = shard.engine.observers()
    snapshot.heard = intake.heard.unsorted(at: clock.last)
    return snapshot
  }
}

extension IngestSnapshot {
  /// Puts the loops' contributions together.
  init(merging loops: [IngestSnapshot]) {
    self.init()
    for loop in loops {
      time = max(time, loop.time)
      datagrams += loop.datagrams
      bytes += loop.bytes
      truncated += loop.truncated
      kernelDrops += loop.kernelDrops
      queueWaits += loop.queueWaits
      forwarded += loop.forwarded
      socketErrors += loop.socketErrors
      tableEvictions += loop.tableEvictions
      decoding += loop.decoding
      monitoring.add(loop.monitoring)
    }
    observers = loops.flatMap(\.observers).sorted { $0.id < $1.id }
    heard = Heard(merging: loops.map(\.heard))
    refusedSources = RefusedSource.merged(loops.flatMap(\.refusedSources))
  }
}
