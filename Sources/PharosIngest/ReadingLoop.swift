import Logging
import NIOCore
import PharosMonitoring
import PharosReports

/// One loop: reads its sockets, decodes, sends reports to the shards they belong to, and runs its own shard.
///
/// Lives on one NIO event loop and is touched nowhere else, so it holds no lock. What it does, in order, at every
/// wake-up: take datagrams, push them to the rings, publish its watermark, run its shard.
final class ReadingLoop {
  /// Where the loop stands on its way to the end.
  enum Phase {
    /// It reads.
    case running
    /// It reads what is left in the sockets' buffers, and then succeeds the promise.
    case draining(EventLoopPromise<Void>)
    /// Its sockets are closed; it still says that time passes, since other loops may wait for its watermark.
    case drained
    /// Time stands still until all loops have agreed on the end.
    case frozen
    /// It runs its shard up to the end, and then succeeds the promise.
    case finishing(end: Timestamp, EventLoopPromise<Void>)
    /// There is nothing left to do.
    case finished
  }

  /// The loop's place among the loops; loop 0 also takes the inputs that no observer sent.
  let index: Int
  /// The NIO loop it lives on.
  let eventLoop: any EventLoop
  let exchange: Exchange
  let configuration: IngestConfiguration
  let logger: Logger
  var phase = Phase.running
  var clock: LoopClock
  var listeners: [Listener] = []
  var shard: Shard
  /// Set on loop 0 alone.
  var server: ServerInputs?

  var drain: DatagramDrain
  var intake: Intake
  var counters = LoopCounters()
  var nextChores = Timestamp.distantPast
  var dropLog = DropLog()
  /// Whether the shard has more to do and will be run for it.
  var isShardScheduled = false
  /// Which of the listeners the next tick reads first.
  var firstListener = 0
  /// Whether the last tick left something in a socket and the next one follows at once.
  var wasBehind = false
  /// How many datagrams the last drain may still take.
  var lastDrainLeft = 0
  /// Since when the recorder has had no room.
  var recorderStalledSince: Timestamp?

  /// Makes a loop; called on its event loop.
  init(
    index: Int,
    eventLoop: any EventLoop,
    exchange: Exchange,
    timeline: Timeline,
    site: Site,
    shard: Shard,
    configuration: IngestConfiguration,
    gate: Gate,
    server: ServerInputs?,
    logger: Logger
  ) throws(IngestError) {
    self.index = index
    self.eventLoop = eventLoop
    self.exchange = exchange
    self.configuration = configuration
    self.server = server
    self.logger = logger
    clock = LoopClock(timeline, loop: index)
    self.shard = shard
    drain = try DatagramDrain(capacity: configuration.largestDatagram)
    intake = Intake(shard: index, shards: exchange.loops, iBeaconCompanies: site.iBeaconCompanies)
    intake.gate = gate
    recognise(site, applications: server?.registry.applications ?? [])
  }

  /// Has the table of what is heard know what a site asks about.
  func recognise(_ site: Site, applications: [Application]) {
    intake.recognise(site, applications: applications, showsStrangers: configuration.showsStrangers)
  }
}

/// What one loop has counted of its sockets.
struct LoopCounters: Sendable {
  /// Datagrams that the kernel dropped because the receive buffer was full.
  var kernelDrops: UInt64 = 0
  /// How often a socket had to wait because a ring was full.
  var ringWaits: UInt64 = 0
  /// Errors of sockets.
  var socketErrors: UInt64 = 0
}

/// Says when dropped datagrams are worth a line in the log: at the first ones, then once a minute at most.
struct DropLog {
  private var lastLine = Timestamp.distantPast
  private var unsaid: UInt64 = 0

  /// Counts dropped datagrams and gives the number to log, if it is time for a line.
  mutating func note(_ drops: UInt64, at time: Timestamp) -> UInt64? {
    unsaid += drops
    guard unsaid > 0, time - lastLine >= .minutes(1) else { return nil }
    defer { unsaid = 0 }
    lastLine = time
    return unsaid
  }
}
