import Atomics
import PharosIngest
import PharosModel
import PharosTestSupport
import Testing

@Suite("Recordings that begin while the server runs", .serialized, .timeLimit(.minutes(20)))
struct RecordingOrderTests {
  private struct DiskFull: Error {}

  /// What ends a recording.
  enum Ending: CaseIterable {
    case shutdown, request, time, size
  }

  /// A server with a clock of its own, and what it says of the ends of its recordings.
  private final class Run {
    let clock = ManualClock()
    let harness: ServerHarness
    private let ends = AsyncStream<RecordingEnd>.makeStream(bufferingPolicy: .bufferingNewest(16))
    private var sent: UInt64 = 0
    private var generator: SeededGenerator

    init(loops: Int, seed: UInt64, isRecording: Bool = false) async throws {
      generator = SeededGenerator(seed: seed)
      let clock = self.clock
      harness = try await ServerHarness.start(isRecording: isRecording) {
        $0.loops = loops
        $0.clock = clock.ingest
      }
    }

    func order(
      duration: TimeSpan = .minutes(60),
      maximumBytes: Int = 1 << 30,
      sink: (@Sendable ([UInt8]) throws -> Void)? = nil
    ) -> RecordingOrder {
      let (output, continuation) = (harness.output, ends.continuation)
      return RecordingOrder(
        duration: duration,
        maximumBytes: maximumBytes,
        sink: sink ?? { output.record($0) },
        ended: { continuation.yield($0) }
      )
    }

    /// The reason of the next end.
    func end() async -> RecordingEnd? { await ends.stream.first { _ in true } }

    /// The number of bytes of a recording that ends as soon as it has begun.
    func sizeOfNothing() async throws -> Int {
      let size = ManagedAtomic(0)
      try await harness.server.record(order { size.wrappingIncrement(by: $0.count, ordering: .relaxed) })
      try await harness.server.endRecording()
      _ = await end()
      return size.load(ordering: .relaxed)
    }

    /// Sends adverts of tags that come and go, with changes of regions between them.
    func traffic(rounds: Range<Int>) async throws {
      for round in rounds {
        let sender = try harness.sender()
        for _ in 0..<20 {
          let datagram = Samples.raddec(
            observer: UInt64.random(in: 0..<12, using: &generator),
            minor: UInt16.random(in: 0..<6, using: &generator),
            rssi: Int8.random(in: -90 ... -40, using: &generator)
          )
          try sender.sendWaiting(datagram)
          clock.pass(.milliseconds(Int64.random(in: 0...120, using: &generator)))
        }
        sent += 20
        let region = Region(identifier: "extra-\(round)", constraint: .proximity(Samples.uuid, major: 1))
        try? await harness.server.apply(.startMonitoring(application: "app", region))
        if round % 5 == 4 { clock.pass(.seconds(5)) }
      }
      _ = await harness.snapshot(datagrams: sent)
    }
  }

  @Test(
    "processing one gives the events that the server decides from its beginning to its end, byte for byte",
    arguments: [1, 2, 3],
    Ending.allCases
  )
  func sameEvents(loops: Int, ending: Ending) async throws {
    let run = try await Run(loops: loops, seed: UInt64(loops))
    try await run.traffic(rounds: 0..<10)
    let order =
      switch ending {
      case .shutdown, .request: run.order()
      case .time: run.order(duration: .seconds(4))
      case .size: run.order(maximumBytes: try await run.sizeOfNothing() + 8_000)
      }
    let start = try await run.harness.server.record(order)
    try await run.traffic(rounds: 10..<16)
    if ending == .request { try await run.harness.server.endRecording() }
    if ending != .shutdown {
      #expect(await run.end() == (ending == .time ? .complete : ending == .size ? .full : .stopped))
      #expect(await run.harness.server.snapshot().isRecording == false)
    }
    try await run.traffic(rounds: 16..<20)
    run.clock.pass(.seconds(60))
    await run.harness.server.shutdown()
    if ending == .shutdown { #expect(await run.end() == .stopped) }
    let served = run.harness.output.all.filter { $0.decidedAt > start }
    let lines = served.map { $0.cloudEvent(stream: "test") }
    for shards in [1, 3] {
      let replayed = try run.harness.replayed(shards: shards).map { $0.cloudEvent(stream: "test") }
      #expect(replayed.count > 10 && replayed == Array(lines.prefix(replayed.count)))
      switch ending {
      case .shutdown: #expect(replayed.count == lines.count)
      case .time: #expect(served[replayed.count].decidedAt > start + .seconds(4))
      case .request, .size: #expect(replayed.count < lines.count)
      }
    }
  }

  @Test("one follows another, and a second one at a time is refused")
  func oneAtATime() async throws {
    let run = try await Run(loops: 2, seed: 5)
    for round in 0..<3 {
      try await run.traffic(rounds: round..<round + 1)
      try await run.harness.server.record(run.order())
      await #expect(throws: IngestError.alreadyRecording) {
        try await run.harness.server.record(run.order())
      }
      #expect(await run.harness.server.snapshot().isRecording)
      try await run.harness.server.endRecording()
      #expect(await run.end() == .stopped)
    }
    await run.harness.server.shutdown()
    await #expect(throws: IngestError.stopped) { try await run.harness.server.record(run.order()) }
  }

  @Test("a recording from the start is neither replaced nor ended by one that is asked for later")
  func besideTheFirst() async throws {
    let run = try await Run(loops: 1, seed: 6, isRecording: true)
    await #expect(throws: IngestError.alreadyRecording) {
      try await run.harness.server.record(run.order())
    }
    try await run.harness.server.endRecording()
    try await run.traffic(rounds: 0..<3)
    await run.harness.server.shutdown()
    #expect(try run.harness.replayed(shards: 1) == run.harness.output.all)
  }

  @Test("one that cannot be written ends with the reason, ingest goes on, and the next one can begin")
  func unwritable() async throws {
    let run = try await Run(loops: 1, seed: 7)
    try await run.harness.server.record(run.order { _ in throw DiskFull() })
    #expect(await run.end() == .failed("DiskFull()"))
    #expect(run.harness.logs.lines.count { $0.hasPrefix("error Recording stopped") } == 1)
    try await run.traffic(rounds: 0..<3)
    let start = try await run.harness.server.record(run.order())
    try await run.traffic(rounds: 3..<6)
    await run.harness.server.shutdown()
    let served = run.harness.output.all.filter { $0.decidedAt > start }
    #expect(try run.harness.replayed(shards: 1) == served)
  }
}
