import Logging
import PharosCaptures
import PharosFixes
import PharosIngest
import PharosModel
import PharosPipeline
import PharosPresence
import PharosSite
import PharosTestSupport
import Synchronization
import Testing

/// A server under test, with what it delivered, recorded and logged.
final class ServerHarness: Sendable {
  /// What the server gave out so far.
  final class Output: Sendable {
    private let events = Mutex<[Event]>([])
    private let recording = Mutex<[UInt8]>([])
    private let checkpoints = Mutex<[(bytes: [UInt8], eventsBefore: UInt64, place: LogPlace?)]>([])
    private let signals: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) =
      AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))

    func receive(_ batch: [Event]) {
      events.withLock { $0 += batch }
      signals.continuation.yield()
    }

    func keep(_ pending: PendingCheckpoint) {
      let bytes = pending.encoded()
      checkpoints.withLock { $0.append((bytes, pending.eventsBefore, pending.place)) }
      signals.continuation.yield()
    }

    var kept: [(bytes: [UInt8], eventsBefore: UInt64)] {
      checkpoints.withLock { $0.map { ($0.bytes, $0.eventsBefore) } }
    }

    func record(_ bytes: [UInt8]) { recording.withLock { $0 += bytes } }

    var all: [Event] { events.withLock { $0 } }
    var recorded: [UInt8] { recording.withLock { $0 } }

    /// Waits until the events so far fulfil a condition.
    func wait(until condition: ([Event]) -> Bool) async {
      if condition(all) { return }
      for await _ in signals.stream where condition(all) { return }
    }
  }

  let server: IngestServer
  let output: Output
  let logs: LogLines

  private init(server: IngestServer, output: Output, logs: LogLines) {
    self.server = server
    self.output = output
    self.logs = logs
  }

  static func start(
    site: Site = Samples.site,
    owner: SiteOwner? = nil,
    venues: [LocatableVenue] = [],
    listeners: [ListenAddress] = [ListenAddress(host: "127.0.0.1", port: 0)],
    isRecording: Bool = false,
    restoring restoration: Restoration? = nil,
    configure: (inout IngestConfiguration) -> Void = { _ in },
    sense: (@Sendable ([Sensing]) -> Void)? = nil
  ) async throws -> ServerHarness {
    let output = Output()
    let logs = LogLines()
    var configuration = IngestConfiguration(listeners: listeners)
    configuration.clock = SlowTime().clock
    if isRecording { configuration.record = { output.record($0) } }
    configuration.checkpoint = { output.keep($0) }
    configure(&configuration)
    let server = try await IngestServer.start(
      owner: owner ?? SiteOwner(declared: site),
      venues: venues,
      configuration: configuration,
      restoring: restoration,
      logger: Logger(label: "test") { _ in logs },
      sense: sense,
      deliver: { output.receive($0) }
    )
    return ServerHarness(server: server, output: output, logs: logs)
  }

  /// A socket that sends to the server's first address.
  func sender() throws -> DatagramSender {
    let address = try #require(server.localAddresses.first)
    return try DatagramSender(to: address)
  }

  /// Waits until the server has received so many datagrams, and gives its counters.
  func snapshot(datagrams: UInt64) async -> IngestSnapshot {
    while true {
      let snapshot = await server.snapshot()
      if snapshot.datagrams + snapshot.kernelDrops >= datagrams { return snapshot }
      await Task.yield()
    }
  }

  /// Lets time pass, and waits until no loop is still at work with a time that it read before.
  ///
  /// What is sent behind it is received at the new time; what was sent before it is received at the old one only if that has
  /// been waited for.
  func pass(_ span: TimeSpan, on clock: ManualClock) async {
    clock.pass(span)
    _ = await server.snapshot()
  }

  /// The events that one thread makes of the recording.
  func replayed(shards: Int, on venues: [LocatableVenue] = []) throws -> [Event] {
    try ServerHarness.replayed([self], shards: shards, on: venues)
  }

  /// The events that one thread makes of the recordings of runs of which each continues the one before exactly.
  static func replayed(
    _ runs: [ServerHarness],
    shards: Int,
    on venues: [LocatableVenue] = []
  ) throws -> [Event] {
    var pipeline: Pipeline?
    var events: [Event] = []
    for (index, run) in runs.enumerated() {
      var feed = CaptureFeed(observer: .name("none"))
      feed.append(run.output.recorded)
      while let input = try feed.next(maxReports: 17) {
        switch input {
        case .site(let site) where index == 0:
          pipeline = try Pipeline(site: site, shards: shards, venues: venues)
        case .restored where index > 0: break
        default: events += pipeline?.process(input) ?? []
        }
      }
      try feed.finish()
    }
    return events + (pipeline?.finish() ?? [])
  }

  /// What an exact continuation starts from: the checkpoint of the orderly end, in bytes as they are kept.
  func continuation() throws -> Restoration {
    let last = try #require(output.kept.last)
    let isLogged = LoggedCheckpoint.isOne(last.bytes)
    let checkpoint =
      try isLogged ? LoggedCheckpoint(decoding: last.bytes).checkpoint : Checkpoint(decoding: last.bytes)
    #expect(checkpoint.isExact)
    return Restoration(checkpoint: checkpoint)
  }
}

extension SlowTime {
  /// The clocks of a server that goes by this time.
  var clock: IngestClock {
    let start = IngestClock.system.wall()
    return IngestClock(
      steady: { TimeSpan(nanoseconds: self.nanoseconds) },
      wall: { start + TimeSpan(nanoseconds: self.nanoseconds) }
    )
  }
}

/// Keeps log lines instead of printing them.
final class LogLines: LogHandler, Sendable {
  private let kept = Mutex<[String]>([])

  /// The lines: level, message and metadata in alphabetical order.
  var lines: [String] { kept.withLock { $0 } }

  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }

  var logLevel: Logger.Level {
    get { .info }
    set {}
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) {
    let pairs = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
    kept.withLock { $0.append("\(event.level) \(event.message) \(pairs)") }
  }
}
