import PharosIngest
import PharosModel
import PharosPipeline
import PharosPresence
import PharosTestSupport
import Synchronization
import Testing

/// Loops, shards and the merger run here in any order that threads could bring about, drawn from a seed; what comes
/// out must be what one thread makes of the sorted inputs.
@Suite("The exchange between loops, shards and the merger")
struct ExchangeTests {
  @Test("gives the events of one thread, whatever the interleaving", arguments: [1, 2, 3, 4], 0..<3)
  func isDeterministic(loops: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed &* 31 &+ UInt64(loops))
    let trace = Trace(loops: loops, inputs: 300, using: &generator)
    let actual = try trace.eventsThroughExchange(using: &generator)
    #expect(actual.count > 20)
    #expect(firstDifference(actual, try trace.eventsOnOneThread(shards: loops)) { $0 } == nil)
    let lines = firstDifference(actual, try trace.eventsOnOneThread(shards: 1)) {
      $0.cloudEvent(stream: "test")
    }
    #expect(lines == nil)
  }

  @Test(
    "a marker takes the engines of its instant through all shards, and the rest follows from them alone",
    arguments: [1, 2, 4],
    0..<2 as Range<UInt64>
  )
  func makesCheckpoints(loops: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed &* 57 &+ UInt64(loops))
    let trace = Trace(loops: loops, inputs: 300, using: &generator)
    let accepted = Mutex<[PendingCheckpoint]>([])
    let actual = try trace.eventsThroughExchange(using: &generator) { pending in
      accepted.withLock { $0.append(pending) }
    }
    let pending = accepted.withLock { $0 }
    #expect(pending.map(\.instant) == trace.markers)
    #expect(pending.count > 3)
    for pending in pending {
      let checkpoint = try Checkpoint(decoding: pending.encoded())
      #expect(checkpoint.instant == pending.instant)
      let rest = try trace.events(behind: checkpoint, shards: Int.random(in: 1...3, using: &generator))
      #expect(firstDifference(Array(actual.dropFirst(Int(pending.eventsBefore))), rest) { $0 } == nil)
    }
  }

  /// Where two runs part, or nil if they are the same; whole runs would fill the screen of a failure.
  private func firstDifference<Value: Equatable>(
    _ left: [Event],
    _ right: [Event],
    by value: (Event) -> Value
  ) -> Int? {
    let parting = zip(left, right).enumerated().first { value($0.element.0) != value($0.element.1) }?.offset
    return parting ?? (left.count == right.count ? nil : min(left.count, right.count))
  }

  @Test("refuses a container only when some ring that it may need is full")
  func knowsItsRoom() {
    let exchange = Exchange(loops: 2, isRecording: false, merger: Wake { _ in })
    let ring = exchange.toShards[0][1].full
    for _ in 0..<ring.capacity {
      #expect(exchange.hasRoom(from: 0))
      #expect(ring.push(ShardParcel(received: .distantPast, content: .reports(ReportBatch()))))
    }
    #expect(!exchange.hasRoom(from: 0))
    #expect(exchange.hasRoom(from: 1))
    #expect(!exchange.waitsForRecorder(0))
    _ = ring.pop()
    #expect(exchange.hasRoom(from: 0))
  }

  @Test("covers inputs only up to the loop that is farthest behind")
  func usesTheSmallestWatermark() {
    let exchange = Exchange(loops: 3, isRecording: false, merger: Wake { _ in })
    #expect(exchange.inputsThrough == .distantPast)
    for (loop, seconds) in [(0, 5), (1, 3), (2, 9)] {
      exchange.publishInputs(of: loop, through: Timestamp(seconds: Int64(seconds)))
    }
    #expect(exchange.inputsThrough == Timestamp(seconds: 3))
  }

  @Test("the first input after a silence wakes the other loops, and none that follows soon")
  func wakesReaders() {
    let woken = Mutex<[Int]>([])
    let readers = (0..<3).map { index in Wake { _ in woken.withLock { $0.append(index) } } }
    for wake in readers { wake.setAction {} }
    let exchange = Exchange(loops: 3, isRecording: false, merger: Wake { _ in }, readers: readers)
    let start = Timestamp(seconds: 1_780_000_000)
    exchange.recordTraffic(at: start, on: 1)
    #expect(woken.withLock { $0 } == [0, 2])
    for wake in readers { wake.begin() }
    exchange.recordTraffic(at: start + Exchange.quiet - .oneNanosecond, on: 0)
    #expect(woken.withLock { $0 } == [0, 2])
    exchange.recordTraffic(at: exchange.latestTraffic + Exchange.quiet, on: 2)
    #expect(woken.withLock { $0 } == [0, 2, 0, 1])
  }

  @Test("wakes its consumer once, however many signals come before it looks")
  func coalescesWakeUps() {
    let calls = Mutex<[@Sendable () -> Void]>([])
    let wake = Wake { action in calls.withLock { $0.append(action) } }
    wake.setAction {}
    wake.signal()
    wake.signal()
    #expect(calls.withLock { $0.count } == 1)
    wake.begin()
    wake.signal()
    #expect(calls.withLock { $0.count } == 2)
  }
}

/// Inputs of several loops, in their total order.
private struct Trace {
  enum Input {
    case reports(ReportBatch)
    case change(RegionChange)
    case clockStep(TimeSpan)
    case marker
  }

  let loops: Int
  var inputs: [(received: Timestamp, loop: Int, input: Input)] = []
  let end: Timestamp

  init(loops: Int, inputs count: Int, using generator: inout SeededGenerator) {
    self.loops = loops
    var clocks = Array(repeating: Timestamp(seconds: 1_780_000_000), count: loops)
    for number in 0..<count {
      let loop = Int.random(in: 0..<loops, using: &generator)
      // Coarse steps, so that loops often agree on R to the nanosecond, and now and then a long silence.
      let step = number % 97 == 96 ? 3_000 : Int64.random(in: 1...4, using: &generator) * 50
      clocks[loop] = clocks[loop] + .milliseconds(step)
      if loop == 0, number % 10 == 3 {
        // A time of its own, as every input of a server has.
        inputs.append((clocks[loop] + .oneNanosecond, loop, .marker))
        continue
      }
      let input = Trace.input(at: clocks[loop], number: number, loop: loop, using: &generator)
      inputs.append((clocks[loop], loop, input))
    }
    inputs.sort { ($0.received, $0.loop) < ($1.received, $1.loop) }
    end = (clocks.max() ?? .distantPast) + .seconds(10)
  }

  private static func input(
    at received: Timestamp,
    number: Int,
    loop: Int,
    using generator: inout SeededGenerator
  ) -> Input {
    if loop == 0, number % 11 == 0 {
      if number % 33 == 0 { return .clockStep(.seconds(1)) }
      let region = Region(
        identifier: "extra-\(Int.random(in: 0..<25, using: &generator))",
        constraint: .proximity(Samples.uuid, major: 1, minor: UInt16(number % 5))
      )
      return Bool.random(using: &generator)
        ? .change(.startMonitoring(application: "app", region))
        : .change(.stopMonitoring(application: "app", identifier: region.identifier))
    }
    var batch = ReportBatch()
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let minor = UInt16.random(in: 0..<5, using: &generator)
      batch.appendAdvert(
        by: .eui48(UInt64.random(in: 0..<7, using: &generator)),
        address: UInt64(minor),
        rssi: Int8.random(in: -90 ... -40, using: &generator),
        data: Samples.iBeacon(minor: minor),
        at: received
      )
    }
    return .reports(batch)
  }

  /// The times of the markers.
  var markers: [Timestamp] {
    inputs.compactMap { entry in
      if case .marker = entry.input { return entry.received }
      return nil
    }
  }

  func eventsOnOneThread(shards: Int) throws -> [Event] {
    try events(of: inputs, by: Pipeline(site: Samples.site, shards: shards))
  }

  /// What a pipeline says that starts from a checkpoint and takes what came behind it.
  func events(behind checkpoint: Checkpoint, shards: Int) throws -> [Event] {
    var registered = Samples.site
    for (received, _, input) in inputs where received <= checkpoint.instant {
      if case .change(let change) = input { try? registered.accept(change) }
    }
    var site = Samples.site
    site.applications = registered.applications
    let pipeline = try Pipeline(site: site, restoring: checkpoint, shards: shards)
    return events(of: inputs.filter { $0.received > checkpoint.instant }, by: pipeline)
  }

  private func events(
    of inputs: [(received: Timestamp, loop: Int, input: Input)],
    by pipeline: Pipeline
  ) -> [Event] {
    var pipeline = pipeline
    var events: [Event] = []
    for (received, _, input) in inputs {
      switch input {
      case .marker: break
      case .reports(let batch): events += pipeline.ingest(batch)
      case .change(let change): events += pipeline.apply(change, at: received)
      case .clockStep(let step): events += pipeline.stepClock(by: step, at: received)
      }
    }
    return events + pipeline.advance(to: end)
  }

  func eventsThroughExchange(
    using generator: inout SeededGenerator,
    checkpoint: (@Sendable (PendingCheckpoint) -> Void)? = nil
  ) throws -> [Event] {
    let exchange = Exchange(loops: loops, isRecording: false, merger: Wake { _ in })
    let delivered = Mutex<[Event]>([])
    let merger = MergerLoop(
      exchange: exchange,
      merger: EventMerger(shards: loops, site: Samples.site),
      deliver: { batch in delivered.withLock { $0 += batch } },
      checkpoint: checkpoint
    )
    var shards = (0..<loops).map {
      Shard(index: $0, exchange: exchange, engine: MonitoringEngine(site: Samples.site))
    }
    var registered = Samples.site
    var queues = (0..<loops).map { loop in inputs.filter { $0.loop == loop }[...] }
    while queues.contains(where: { !$0.isEmpty }) {
      let loop = Int.random(in: 0..<loops, using: &generator)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: _ = shards[loop].run()
      case 1: shards[loop].decide()
      case 2: merger.run()
      default:
        guard let (received, _, input) = queues[loop].popFirst() else { continue }
        try push(input, at: received, of: loop, to: exchange, &registered)
        exchange.publishInputs(of: loop, through: received)
      }
      // A loop without inputs still says that time passes; here as far as the others' inputs allow it to matter.
      for idle in 0..<loops where queues[idle].isEmpty { exchange.publishInputs(of: idle, through: end) }
    }
    for loop in 0..<loops { exchange.publishInputs(of: loop, through: end) }
    while shards.contains(where: { $0.through < end }) {
      for index in shards.indices { _ = shards[index].run() }
      merger.run()
    }
    merger.run()
    return delivered.withLock { $0 }
  }

  private func push(
    _ input: Input,
    at received: Timestamp,
    of loop: Int,
    to exchange: Exchange,
    _ registered: inout Site
  ) throws {
    switch input {
    case .marker:
      for recyclingQueue in exchange.toShards[loop] {
        #expect(recyclingQueue.full.push(ShardParcel(received: received, content: .marker)))
      }
      let marker = CheckpointMarker(lease: CheckpointLease())
      #expect(exchange.serverInputs.push(ServerInput(received: received, content: .marker(marker))))
    case .clockStep(let step):
      #expect(exchange.serverInputs.push(ServerInput(received: received, content: .clockStep(step))))
    case .change(let change):
      var refusal: RegionRefusal?
      do throws(RegionRefusal) { try registered.accept(change) } catch { refusal = error }
      for recyclingQueue in exchange.toShards[loop] where refusal == nil {
        #expect(recyclingQueue.full.push(ShardParcel(received: received, content: .changes([change]))))
      }
      let committed = ServerInput(received: received, content: .changes([change], refusal: refusal))
      #expect(exchange.serverInputs.push(committed))
    case .reports(let batch):
      var parts = Array(repeating: ReportBatch(), count: loops)
      for report in batch.reports {
        let shard = batch.observers[Int(report.observer)].shard(of: loops)
        parts[shard].append(report, from: batch)
      }
      for (shard, part) in parts.enumerated() where !part.isEmpty {
        let parcel = ShardParcel(received: received, content: .reports(part))
        #expect(exchange.toShards[loop][shard].full.push(parcel))
      }
    }
  }
}
