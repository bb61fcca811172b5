import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

@Suite("Events in bytes")
struct EventRecordTests {
  @Test("a decoded event has the same CloudEvents JSON, byte for byte", arguments: Seeds.drawn(1..<9))
  func sameJSON(seed: Int) throws {
    var random = RandomEvents(seed: UInt64(seed))
    var kinds: Set<EventKind> = []
    var reused = EventRecord()
    for _ in 0..<500 {
      let event = random.event()
      kinds.insert(event.kind)
      reused.fill(with: event)
      let back = try reused.event()
      #expect(back.cloudEvent(stream: "s").utf8.elementsEqual(event.cloudEvent(stream: "s").utf8))
      #expect(back.id == event.id)
      #expect(back.stage == event.stage)
      #expect(back.ordinal == event.ordinal)
      #expect(back.time == event.time)
      #expect(back.decidedAt == event.decidedAt)
      #expect(EventRecord.time(inBody: reused.body) == event.time)
      // An event that was read back is published, stored and read back alike from then on.
      #expect(EventRecord(back) == reused)
      #expect(EventRecord(event) == reused)
    }
    #expect(kinds.count == EventKind.allCases.count)
  }

  @Test("a record that stands alone is read back, with what follows it left alone")
  func alone() throws {
    var random = RandomEvents(seed: 7)
    var writer = FieldWriter()
    let events = (0..<50).map { _ in random.event() }
    for event in events { event.write(to: &writer) }
    var reader = FieldReader(writer.bytes[...])
    for event in events {
      let back = try Event(from: &reader)
      #expect(back.cloudEvent(stream: "s").utf8.elementsEqual(event.cloudEvent(stream: "s").utf8))
    }
    try reader.finish()
  }

  @Test("an exit with all its evidence takes about a hundred bytes")
  func size() {
    let time = Timestamp(nanoseconds: 1_789_000_000_123_456_789)
    var evidence = Evidence(rule: .adaptiveSilence)
    evidence.gap = .milliseconds(31_415)
    evidence.allowedGap = .milliseconds(31_415)
    evidence.interval = .milliseconds(350)
    evidence.receptionShare = 0.873
    evidence.lossRun = 1.42
    evidence.level = -71.53
    evidence.levelDeviation = 3.21
    evidence.margin = 1.415
    evidence.lastHeard = time - .milliseconds(31_415)
    evidence.fixedRuleAt = time - .milliseconds(1_415)
    evidence.waitedForProof = .milliseconds(87)
    evidence.silence = SilenceBasis(
      pace: .milliseconds(350),
      surroundings: .usual,
      opportunities: 81_234.567,
      runChance: 0.012_345_678,
      budget: 0.000_123_456_789,
      continued: 123.456,
      ended: 234.567,
      floor: .seconds(2),
      ceiling: .seconds(300)
    )
    let transition = RegionTransition(
      from: .inside,
      to: .outside,
      refinement: .proximity(UUID128(high: 1, low: 2), major: 3, minor: 4),
      enteredAt: time - .seconds(412.123_456_789),
      evidence: evidence
    )
    let exit = Event(
      stream: "s",
      kind: .regionExit,
      time: time,
      decidedAt: time + .milliseconds(503),
      stage: 1,
      subject: .observer(.name("a")),
      application: "gallery",
      region: "entrance",
      counter: 5,
      ordinal: 1_000_000,
      detail: .region(transition)
    )
    #expect(EventRecord(exit).body.count <= 120)
  }

  @Test("any bytes and names at all give an event or an error", arguments: 1...4)
  func fuzz(seed: Int) {
    var random = RandomEvents(seed: UInt64(seed))
    var generator = SeededGenerator(seed: UInt64(seed))
    var (read, refused) = (0, 0)
    for _ in 0..<1_000 {
      let record = EventRecord(random.event())
      var (names, body) = (record.names, record.body)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: body.removeLast(Int.random(in: 1...body.count, using: &generator))
      case 1:
        body[Int.random(in: 0..<body.count, using: &generator)] ^=
          1 << UInt8.random(in: 0..<8, using: &generator)
      case 2: body.append(UInt8.random(in: 0...255, using: &generator))
      case 3: names.shuffle(using: &generator)
      default: if !names.isEmpty { names.removeLast() } else { body = [] }
      }
      do {
        let event = try EventRecord(names: names, body: body).event()
        #expect(!event.cloudEvent(stream: "s").isEmpty)
        read += 1
      } catch {
        refused += 1
      }
    }
    #expect(read > 0)
    #expect(refused > 0)
  }

  @Test("names that only look alike are different names")
  func spelling() {
    #expect(EventName.text("caf\u{E9}") != EventName.text("cafe\u{301}"))
    #expect(EventName.observer(.name("\u{212A}")) != EventName.observer(.name("K")))
    #expect(EventName.text("a") != EventName.observer(.name("a")))
    #expect(EventName.observer(.eui48(5)) != EventName.observer(.eui64(5)))
    #expect(Set([EventName.text("caf\u{E9}"), .text("cafe\u{301}"), .text("caf\u{E9}")]).count == 2)
  }

  @Test("evidence in full is read back to the last bit")
  func evidence() throws {
    var random = RandomEvents(seed: 11)
    for _ in 0..<500 {
      let evidence = random.evidence()
      var writer = FieldWriter()
      evidence.write(to: &writer)
      var reader = FieldReader(writer.bytes[...])
      let back = try Evidence(from: &reader)
      try reader.finish()
      var again = FieldWriter()
      back.write(to: &again)
      #expect(again.bytes == writer.bytes)
    }
  }

  @Test("records, checkpoints and JSON of earlier versions stay as they are, byte for byte")
  func digests() {
    var random = RandomEvents(seed: 25, onlyPinned: true)
    var (records, texts, evidence) = (Digest(), Digest(), Digest())
    for _ in 0..<2_000 {
      let event = random.event()
      records.add { event.write(to: &$0) }
      texts.add { $0.write(event.cloudEvent(stream: "s")) }
      let reason = random.evidence()
      evidence.add { reason.write(to: &$0) }
    }
    #expect(records.sum == 18_227_642_769_796_945_242)
    #expect(texts.sum == 15_326_696_535_881_715_407)
    #expect(evidence.sum == 4_583_474_375_460_852_482)
  }
}

/// The FNV-1a hash of 64 bits of everything that was added.
private struct Digest {
  private(set) var sum: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ write: (inout FieldWriter) -> Void) {
    var writer = FieldWriter()
    write(&writer)
    for byte in writer.bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
