import PharosDocuments
import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Datagrams that come twice")
struct RepeatTests {
  /// A datagram with one advert of the tag.
  private static func datagram(
    _ sequence: UInt32,
    at seconds: Double,
    boot: UInt32 = 1,
    _ timeline: inout Timeline
  ) {
    let head = Transmission(bootID: boot, sequence: sequence, uptime: .zero)
    timeline.give(.transmission(head), at: seconds)
    timeline.receive(at: seconds)
  }

  @Test("a repeated datagram is one sample, and keeps no beacon inside")
  func once() {
    var timeline = Timeline(Timeline.site([Timeline.region(samples: 2)]))
    for (sequence, second) in [(1, 0.0), (1, 0.4), (2, 1.0), (2, 2.0), (1, 3.0)] {
      RepeatTests.datagram(UInt32(sequence), at: second, &timeline)
    }
    timeline.advance(to: 20)
    #expect(timeline.story() == ["regionEnter door 1.0", "regionExit door 4.0"])
    #expect(timeline.engine.counters.sequenceRepeats == 3)
    #expect(timeline.engine.tracks(TrackQuery()).first?.samples == 2)
  }

  @Test("two senders with one identity are both heard, whatever their numbers; a repeat has the same uptime")
  func twins() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    func send(_ sequence: Int, uptime: Double, at second: Double, hears: Bool) {
      let head = Transmission(bootID: 1, sequence: UInt32(sequence), uptime: .seconds(uptime))
      timeline.give(.transmission(head), at: second)
      if hears { timeline.receive(at: second) }
    }
    for second in 1...100 {
      send(second, uptime: Double(second), at: Double(second), hears: false)
      // The second one was switched on 0.3 s earlier and has the same numbers: it alone hears the tag.
      send(second, uptime: Double(second) + 0.3, at: Double(second) + 0.1, hears: true)
      send(second, uptime: Double(second), at: Double(second) + 0.2, hears: true)
    }
    #expect(timeline.engine.counters.sequenceConflicts == 100)
    #expect(timeline.engine.counters.sequenceRepeats == 100)
    #expect(timeline.engine.tracks(TrackQuery()).first?.samples == 100)
    timeline.advance(to: 101)
    #expect(timeline.story() == ["regionEnter door 1.1"])
  }

  @Test("repeats do not make a beacon seem quick", arguments: Seeds.fixed(0..<5 as Range<UInt64>))
  func pace(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    for sequence in 1...200 as ClosedRange<UInt32> {
      RepeatTests.datagram(sequence, at: Double(sequence), &timeline)
      guard Int.random(in: 0..<5, using: &random) == 0 else { continue }
      RepeatTests.datagram(sequence, at: Double(sequence) + 0.018, &timeline)
    }
    let track = timeline.engine.tracks(TrackQuery()).first
    #expect(track?.samples == 200)
    #expect(track?.interval == .seconds(1))
  }

  @Test(
    "copies of an advert within one advertising event are one sample, whichever comes first and however strong",
    arguments: Seeds.fixed(0..<6 as Range<UInt64>)
  )
  func copies(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var timeline = Timeline(Timeline.site([Timeline.region(samples: 3)]))
    let address = DeviceAddress(bits: 0xC300_000A_0B0C, kind: .random)
    var time = 0.0
    let events = 300
    for event in 1...events {
      // Three channels, two radios, or two ways to the server: up to 10 ms apart.
      let delays = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        Double.random(in: 0...0.010, using: &random)
      }
      for delay in delays.sorted() {
        let rssi = Int8.random(in: -66 ... -60, using: &random)
        timeline.receive(at: time + delay, rssi: rssi, address: address)
      }
      let isInside = timeline.story().contains { $0.hasPrefix("regionEnter") }
      #expect(isInside == (event >= 3))
      time += Double.random(in: 0.030...0.040, using: &random)
    }
    #expect(timeline.engine.tracks(TrackQuery()).first.map { Int($0.samples) } == events)
    #expect(timeline.story().count == 1)
  }

  @Test("overtaken datagrams are heard, and those of a later boot, whatever their numbers")
  func others() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    for (sequence, boot) in [(5, 1), (7, 1), (6, 1), (4, 1), (7, 2), (6, 2)] {
      let samples = timeline.engine.tracks(TrackQuery()).first?.samples ?? 0
      let second = Double(samples)
      RepeatTests.datagram(UInt32(sequence), at: second, boot: UInt32(boot), &timeline)
      #expect(timeline.engine.tracks(TrackQuery()).first?.samples == samples + 1)
    }
    // The two that were not missing.
    #expect(timeline.engine.counters.sequenceRepeats == 2)
  }

  @Test("a sender that does not count, or restarts its count under the same boot id, is heard after a while")
  func uncounted() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    for second in 0..<100 { RepeatTests.datagram(9, at: Double(second), &timeline) }
    let first = 1 + 100 - 1 - Int(SequenceCheck.maximumRepeats)
    #expect(timeline.engine.tracks(TrackQuery()).first?.samples == first)
    for second in 100..<150 { RepeatTests.datagram(UInt32(second - 90), at: Double(second), &timeline) }
    #expect(timeline.engine.tracks(TrackQuery()).first?.samples == first + 50)
    for second in 150..<210 { RepeatTests.datagram(UInt32(second - 140), at: Double(second), &timeline) }
    let last = first + 110 - Int(SequenceCheck.maximumRepeats)
    #expect(timeline.engine.tracks(TrackQuery()).first?.samples == last)
  }

  @Test("a state knows of repeats")
  func state() throws {
    var check = SequenceCheck()
    for number in [1, 2, 2, 2] {
      _ = check.record(Transmission(bootID: 1, sequence: UInt32(number), uptime: .zero))
    }
    check.interrupt()
    var writer = FieldWriter()
    check.visitFields(&writer)
    var reader = FieldReader(writer.bytes[...])
    var read = SequenceCheck()
    try read.visitFields(&reader)
    #expect(read.repeats == 2)
    #expect(read.isRepeat)
    #expect(read.isInterrupted)
  }
}
