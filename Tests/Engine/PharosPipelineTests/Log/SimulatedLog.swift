import PharosModel
import PharosPipeline
import PharosTestSupport
import PharosWire
import Testing

/// A log as several nodes fill it: batches come late, twice or behind later ones, and the log's clock is set now and then.
struct SimulatedLog {
  /// How the clock of the log goes.
  enum Clock {
    /// As true time does.
    case steady
    /// It is set ahead and back, by up to an hour, and trembles.
    case set
  }

  /// The messages as they were stored.
  private(set) var entries: [LogEntry] = []
  /// The identities and inputs of all batches that were published, each once.
  private(set) var published: [InputBatch] = []

  private var random: SeededGenerator
  private var gatherings: [InputGathering]
  private var encoders: [ObserverID: PharosDatagramEncoder] = [:]
  /// The messages with the true time at which they are stored.
  private var sent: [(time: Timestamp, bytes: [UInt8])] = []

  /// Publishes inputs of some minutes.
  init(seed: UInt64, count: Int, clock: Clock) {
    random = SeededGenerator(seed: seed)
    gatherings = (0..<3).map { InputGathering(publisher: "node-\($0)/0", start: 7) }
    var latest = Traffic.start
    for input in Traffic.inputs(seed: seed, count: count, changes: true) {
      // While nothing comes, some node ticks.
      while input.instant - latest >= LogReading.tickInterval {
        latest = latest + LogReading.tickInterval
        publish(Int.random(in: 0..<3, using: &random), at: latest)
      }
      let node = Int.random(in: 0..<3, using: &random)
      for logged in logged(input) { gatherings[node].append(logged) }
      for node in gatherings.indices where gatherings[node].isDue(at: input.instant) {
        publish(node, at: input.instant)
      }
      latest = input.instant
    }
    for node in gatherings.indices { publish(node, at: latest) }
    store(clock)
  }

  /// The log without what repeats a batch.
  var withoutRepeats: [LogEntry] {
    var known: Set<[UInt8]> = []
    let firsts = entries.filter { known.insert($0.bytes).inserted }
    return firsts.enumerated().map { index, entry in
      LogEntry(position: UInt64(index + 1), stored: entry.stored, bytes: entry.bytes)
    }
  }

  private mutating func logged(_ input: Traffic.Input) -> [LoggedInput] {
    switch input {
    case .change(let change, let instant): return [.changes([change], at: instant)]
    case .report(let observer, let instant, _, _):
      var batch = ReportBatch()
      Traffic.append(input, to: &batch)
      var encoder = encoders[observer] ?? PharosDatagramEncoder(observer: observer, bootID: 1)
      defer { encoders[observer] = encoder }
      guard encoder.append(batch.reports[0], from: batch) else { return [] }
      let bytes = encoder.finish(uptime: instant - Traffic.start)
      let source = Endpoint(IPAddress(v4: 0x7F00_0001), port: 9)
      return [.datagram(bytes, from: source, to: source, at: instant)]
    }
  }

  private mutating func publish(_ node: Int, at time: Timestamp) {
    let (_, bytes) = gatherings[node].drain()
    if let batch = try? InputBatch(decoding: bytes) { published.append(batch) }
    // Most are stored at once; a few only by a retry, and the publisher of some never hears that they were.
    // A late one leaves no silence of a second: two ticks are at most half of one apart.
    for _ in 0..<([1, 1, 1, 1, 2, 3].randomElement(using: &random) ?? 1) {
      let bound: Int64 = Int.random(in: 0..<8, using: &random) == 0 ? 400_000_000 : 5_000_000
      let delay = TimeSpan(nanoseconds: Int64.random(in: 100_000...bound, using: &random))
      sent.append((time + delay, bytes))
    }
  }

  private mutating func store(_ clock: Clock) {
    sent.sort { $0.time < $1.time }
    var (ahead, last) = (TimeSpan.zero, Timestamp.distantPast)
    for (index, message) in sent.enumerated() {
      if clock == .set, Int.random(in: 0..<60, using: &random) == 0 {
        ahead = .milliseconds(Int64.random(in: -3_600_000...3_600_000, using: &random))
      }
      var stored = message.time + ahead
      if clock == .set { stored = stored + .milliseconds(Int64.random(in: -20...20, using: &random)) }
      if clock == .steady { stored = max(stored, last + .microseconds(10)) }
      last = stored
      entries.append(LogEntry(position: UInt64(index + 1), stored: stored, bytes: message.bytes))
    }
  }
}

/// A pipeline that reads a log, and its reading.
struct LogReader {
  var pipeline: Pipeline
  var reading = LogReading()
  var events: [Event] = []
  private var decoder = DatagramDecoder()

  init(shards: Int) throws { pipeline = try Pipeline(site: Traffic.site, shards: shards) }

  /// Reads the next entry.
  mutating func read(_ entry: LogEntry) throws {
    guard let placed = try reading.read(entry) else { return }
    events += pipeline.apply(placed, decodingWith: &decoder)
  }

  /// Has another pipeline with another number of shards read on, from an exact checkpoint and the state of the reading.
  mutating func restart(shards: Int) throws {
    let checkpoint = try Checkpoint(decoding: pipeline.checkpoint(exactly: true).encoded)
    var site = Traffic.site
    site.applications = pipeline.applications
    pipeline = try Pipeline(site: site, restoring: checkpoint, shards: shards)
    reading = try reading.readBack
    decoder = DatagramDecoder()
    #expect(reading.through == checkpoint.instant)
  }
}
