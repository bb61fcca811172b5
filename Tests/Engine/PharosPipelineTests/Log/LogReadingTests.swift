import PharosDocuments
import PharosModel
import PharosPipeline
import PharosTestSupport
import Testing

extension LogReading {
  /// The same, written and read back.
  var readBack: LogReading {
    get throws {
      var writer = FieldWriter()
      write(to: &writer)
      var reader = FieldReader(writer.bytes[...])
      let read = try LogReading(from: &reader)
      try reader.finish()
      return read
    }
  }
}

@Suite("A log of inputs")
struct LogReadingTests {
  @Test(
    "each batch counts once, in the order of the log, whatever is repeated, late or behind a later one",
    arguments: Seeds.drawn(0..<100 as Range<UInt64>, first: 5)
  )
  func once(seed: UInt64) throws {
    let log = SimulatedLog(seed: seed, count: 1_500, clock: .set)
    #expect(log.entries.count > log.published.count, "no repeats to prove anything")
    var reading = LogReading()
    var counted: [BatchID: [LoggedInput]] = [:]
    var (latest, wall) = (Timestamp.distantPast, TimeSpan.zero)
    var (steps, pauses) = (0, 0)
    for entry in log.entries {
      let before = reading.through
      guard let placed = try reading.read(entry) else {
        Issue.record("position \(entry.position) was read before")
        continue
      }
      if let id = placed.id, !placed.inputs.isEmpty {
        #expect(counted.updateValue(placed.inputs.map(\.input), forKey: id) == nil, "\(id) counts twice")
      }
      if let step = placed.clockStep {
        steps += 1
        wall = wall + step.span
      }
      if let pause = placed.pause {
        pauses += 1
        #expect(pause.at > before && pause.through > pause.at)
      }
      // R grows strictly, and published times are those of the log but for what a small step back is waited for.
      for instant in placed.inputs.map(\.instant) + [placed.through] {
        #expect(instant > max(before, latest))
        latest = instant
        let published = instant + wall
        #expect(published - entry.stored >= .zero && published - entry.stored < .milliseconds(51))
      }
      #expect(placed.through == reading.through)
      let isSudden = before != .distantPast && placed.through - before >= .seconds(1) + .microseconds(10)
      #expect(!isSudden || placed.pause != nil)
    }
    let expected = Dictionary(uniqueKeysWithValues: log.published.map { ($0.id, $0.inputs) })
    #expect(counted == expected.filter { !$0.value.isEmpty })
    #expect(reading.repeats == UInt64(log.entries.count - log.published.count))
    #expect(steps > 0 && pauses > 0, "the clock was not set")
  }

  @Test(
    "all who read it decide alike, also those who start from a checkpoint and are given entries again",
    arguments: Seeds.drawn(0..<60 as Range<UInt64>, first: 3)
  )
  func alike(seed: UInt64) throws {
    let log = SimulatedLog(seed: seed, count: 1_500, clock: .set)
    var random = SeededGenerator(seed: seed)
    var (steady, restarted) = (try LogReader(shards: 1), try LogReader(shards: 3))
    var restarts = 0
    for (index, entry) in log.entries.enumerated() {
      try steady.read(entry)
      if Int.random(in: 0..<100, using: &random) == 0 {
        try restarted.restart(shards: Int.random(in: 1...4, using: &random))
        // What it had read already comes again, as from a stream that it connects to again.
        for entry in log.entries[max(0, index - 5)..<index] { try restarted.read(entry) }
        restarts += 1
      }
      try restarted.read(entry)
    }
    #expect(restarts > 3 && steady.events.count > 50, "too little to prove anything")
    #expect(parting(restarted.events, steady.events) == nil)
    #expect(restarted.reading == steady.reading)
  }

  @Test(
    "repeats change nothing but the time that their position takes",
    arguments: Seeds.drawn(0..<60 as Range<UInt64>, first: 3)
  )
  func repeatsChangeNothing(seed: UInt64) throws {
    let log = SimulatedLog(seed: seed, count: 1_500, clock: .steady)
    var (all, firsts) = (try LogReader(shards: 2), try LogReader(shards: 1))
    for entry in log.entries { try all.read(entry) }
    for entry in log.withoutRepeats { try firsts.read(entry) }
    #expect(all.reading.repeats > 10 && firsts.reading.repeats == 0)
    let end = max(all.reading.through, firsts.reading.through) + .minutes(5)
    let left = all.events + all.pipeline.advance(to: end)
    #expect(left.contains { $0.kind == .regionEnter })
    let right = firsts.events + firsts.pipeline.advance(to: end)
    #expect(parting(left, right) == nil)
  }

  @Test("a silence of the log is a pause: no beacon leaves by it")
  func silence() throws {
    var visits = 0
    for seed in 0..<5 as Range<UInt64> {
      let log = SimulatedLog(seed: seed, count: 300, clock: .steady)
      var reader = try LogReader(shards: 1)
      for entry in log.entries { try reader.read(entry) }
      let inside = reader.pipeline.insideNow()
      visits += inside.count
      let last = try #require(log.entries.last)
      let tick = InputBatch(id: BatchID(publisher: "late", start: 1, number: 0), inputs: []).encoded
      let before = reader.events.count
      let silence = last.stored + .minutes(60)
      try reader.read(LogEntry(position: last.position + 1, stored: silence, bytes: tick))
      #expect(reader.pipeline.insideNow() == inside)
      #expect(!reader.events.dropFirst(before).contains { $0.kind == .regionExit })
    }
    #expect(visits > 0, "nothing could have left")
  }

  @Test("a missing entry is an error, and so is one of another version; neither changes the reading")
  func errors() throws {
    let log = SimulatedLog(seed: 1, count: 200, clock: .steady)
    var reading = LogReading()
    for entry in log.entries.prefix(10) { _ = try reading.read(entry) }
    let before = reading
    #expect(throws: LogError.missing(11, found: 12)) { try reading.read(log.entries[11]) }
    #expect(
      LogError.missing(11, found: 12).description
        == "position 11 of the log is missing, the next one is 12. Start from a checkpoint that is at least as new."
    )
    var bytes = log.entries[10].bytes
    bytes[4] = 9
    let stored = log.entries[10].stored
    let error = #expect(throws: LogError.self) {
      try reading.read(LogEntry(position: 11, stored: stored, bytes: bytes))
    }
    #expect(error?.description.hasSuffix("Run the version that writes it.") == true)
    #expect(reading == before)
    let again = try reading.read(log.entries[4])
    #expect(again?.position == nil)
  }

  @Test("foreign and damaged messages take their position and time, and nothing else")
  func foreign() throws {
    let log = SimulatedLog(seed: 2, count: 200, clock: .steady)
    var reading = LogReading()
    let whole = try #require(log.entries.first { $0.bytes.count > 80 }).bytes
    let damaged = [[], Array("hello".utf8), Array(whole.dropLast(3)), whole + [1, 2, 3]]
    for (index, bytes) in damaged.enumerated() {
      let stored = Traffic.start + .milliseconds(Int64(index))
      let placed = try reading.read(LogEntry(position: UInt64(index + 1), stored: stored, bytes: bytes))
      #expect(placed?.inputs.isEmpty == true && placed?.id == nil)
      #expect(placed.map { $0.through > stored } == true)
    }
    #expect(reading.unreadable == 4 && reading.position == 4)
  }
}

@Suite("Batches of inputs")
struct InputBatchTests {
  @Test(
    "are read back to the last bit, with what belongs together",
    arguments: Seeds.drawn(0..<100 as Range<UInt64>)
  )
  func roundTrip(seed: UInt64) throws {
    var sites = RandomSites(seed: seed)
    let source = Endpoint(IPAddress(v6: 1, 2), port: 3)
    var inputs: [LoggedInput] = []
    for index in 0..<sites.number(0...12) {
      let instant = Timestamp(seconds: Int64(index))
      switch sites.number(0...3) {
      case 0: inputs.append(.changes((0...sites.number(0...3)).map { _ in sites.change() }, at: instant))
      case 1:
        let events = (0...sites.number(0...2)).map { _ in sites.announcement() }
        inputs.append(.announced(events, at: instant))
      default:
        // One in several recorded parts now and then.
        let length = sites.number(0...20) == 0 ? 600_000 : sites.number(1...1_500)
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        inputs.append(.datagram(bytes, from: source, to: source, at: instant))
      }
      // At most one long one has room.
      if case .datagram(let bytes, from: _, to: _, at: _) = inputs.last, bytes.count > 1_500 { break }
    }
    let batch = InputBatch(id: BatchID(publisher: "a/0", start: 4, number: 9), inputs: inputs)
    #expect(try InputBatch(decoding: batch.encoded) == batch)
    #expect(batch.id.description == "a/0.4.9")
  }

  @Test("every cut is an error, and every flipped byte a batch or an error")
  func damage() throws {
    var sites = RandomSites(seed: 5)
    let inputs = (0..<4).map { LoggedInput.changes([sites.change()], at: Timestamp(seconds: Int64($0))) }
    let batch = InputBatch(id: BatchID(publisher: "a/0", start: 1, number: 2), inputs: inputs)
    let bytes = batch.encoded
    var whole = 0
    for length in 0..<bytes.count where (try? InputBatch(decoding: Array(bytes[..<length]))) != nil {
      whole += 1
    }
    // Only where one input ends is the rest a batch.
    #expect(whole == inputs.count)
    for place in bytes.indices {
      var flipped = bytes
      flipped[place] ^= 0x41
      if let read = try? InputBatch(decoding: flipped) { #expect(read != batch) }
    }
  }

  @Test("are full at 64 KB or after 20 ms, and never longer than a message may be")
  func limits() {
    let source = Endpoint(IPAddress(v4: 1), port: 2)
    let start = Timestamp(seconds: 1)
    var gathering = InputGathering(publisher: "a/0", start: 1, next: .max)
    #expect(!gathering.isDue(at: start + .minutes(1)))
    func datagram(_ length: Int, at time: Timestamp) -> LoggedInput {
      .datagram(Array(repeating: 7, count: length), from: source, to: source, at: time)
    }
    func append(_ length: Int, at time: Timestamp) -> Bool { gathering.append(datagram(length, at: time)) }
    #expect(append(1_000, at: start))
    #expect(!gathering.isDue(at: start + .milliseconds(19)) && gathering.isDue(at: start + .milliseconds(20)))
    #expect(append(64_000, at: start + .milliseconds(1)))
    #expect(!gathering.isDue(at: start + .milliseconds(2)))
    #expect(append(500, at: start + .milliseconds(2)))
    #expect(gathering.isDue(at: start + .milliseconds(2)))
    #expect(!append(InputBatch.maximumLength - 65_000, at: start))
    let first = gathering.drain()
    #expect(first.id.number == .max && gathering.isEmpty)
    #expect(append(900 << 10, at: start))
    let second = gathering.drain()
    #expect(second.id.number == 0 && second.bytes.count < 1 << 20)
    #expect(!append(InputBatch.maximumLength, at: start))
    #expect(gathering.isEmpty && !gathering.isDue(at: start + .minutes(1)))
  }
}
