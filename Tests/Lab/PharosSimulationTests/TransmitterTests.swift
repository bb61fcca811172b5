import PharosModel
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Transmitter")
struct TransmitterTests {
  @Test("intervals are the set one and up to 10 ms more", arguments: [100, 350, 1_000])
  func intervals(milliseconds: Int64) throws {
    let scene = Bench.scene(
      seconds: Double(milliseconds),
      transmitters: [Bench.transmitter(interval: .milliseconds(milliseconds))]
    )
    let times = Playback(scene).sightings.map(\.heard)
    let intervals = zip(times, times.dropFirst()).map { ($1 - $0) * 1_000 - Double(milliseconds) }
    #expect(intervals.count > 900)
    #expect(intervals.allSatisfy { $0 >= -0.001 && $0 <= 10.001 })
    #expect(abs(intervals.mean - 5) < 0.5)
    #expect(abs(intervals.deviation - 10 / 12.0.squareRoot()) < 0.3)
  }

  @Test("a tag that rests advertises slowly, and at once when it is picked up")
  func motionTriggered() throws {
    var tag = Bench.transmitter(
      at: Path(
        from: Path.Stop(Point(x: 1, y: 0), dwell: .seconds(33)),
        through: [Path.Stop(Point(x: 5, y: 0))],
        speed: 1
      )
    )
    tag.stillInterval = .seconds(10)
    tag.stillAfter = .seconds(3)
    let times = Playback(Bench.scene(seconds: 80, transmitters: [tag])).sightings.map(\.heard)
    #expect((3...4).contains(times.count { $0 < 33 }))
    #expect(times.contains { $0 >= 33 && $0 <= 33.011 })
    let fast = times.filter { $0 > 33 && $0 < 40 }
    #expect(abs(fast.count - 67) <= 2)
    #expect((3...5).contains(times.count { $0 > 40.2 }))
  }

  @Test("it is silent when it is not on air")
  func onAir() throws {
    var tag = Bench.transmitter()
    tag.onAir = TimeWindow(from: .seconds(10), until: .seconds(20))
    let times = Playback(Bench.scene(seconds: 30, transmitters: [tag])).sightings.map(\.heard)
    #expect(times.count > 90)
    #expect(times.allSatisfy { $0 >= 10 && $0 < 20 })
  }

  @Test("payloads are sent in turn")
  func payloads() throws {
    var tag = Bench.transmitter()
    tag.payloads = [[0x02, 0x01, 0x06], [0x02, 0x0A, 0xF4], [0x03, 0x03, 0xAA, 0xFE]]
    let playback = Playback(Bench.scene(seconds: 3, transmitters: [tag]))
    let sent = playback.datagrams.map(\.reports.payloads)
    #expect(sent.count > 20)
    for (index, payload) in sent.enumerated() { #expect(payload == tag.payloads[index % 3]) }
  }
}
