import PharosCaptures
import PharosModel
import Testing

@Suite("The receive times of a capture")
struct CaptureTimelineTests {
  private static let start = Timestamp(seconds: 1_700_000_000)

  /// The receive times of packets at some seconds, in seconds, and the remarks.
  private static func receive(
    _ times: [Double],
    after end: Double? = nil
  ) -> (received: [Double], timeline: CaptureTimeline) {
    var timeline = CaptureTimeline(after: end.map { start + .seconds($0) })
    let received = times.map { timeline.receive(start + .seconds($0)) }
    return (received.map { ($0 - start).milliseconds / 1_000 }, timeline)
  }

  @Test("packets in the order of their times keep them, and there is no remark")
  func inOrder() {
    let (received, timeline) = Self.receive([0, 1, 1, 5, 3_600])
    #expect(received == [0, 1, 1, 5, 3_600])
    #expect(timeline.remarks.isEmpty && timeline.backwards == 0)
  }

  @Test("packets a moment out of order are held at the latest time")
  func jitter() {
    let (received, timeline) = Self.receive([0, 1, 0.95, 1.5, 0, 2])
    #expect(received == [0, 1, 1, 1.5, 1.5, 2])
    #expect(timeline.backwards == 2 && timeline.remarks.count == 1)
    #expect(Self.receive([0, 1, 0.999, 2]).timeline.remarks.isEmpty)
  }

  @Test("captures one behind the other keep their intervals, and the disorder is named")
  func segments() {
    let minute = (0..<60).map { Double($0) * 2 }
    let (received, timeline) = Self.receive(minute + minute + [400, 401])
    #expect(received == minute + minute.map { $0 + 118 } + [400, 401])
    #expect(timeline.backwards == 59 && timeline.farthest == .seconds(118))
    #expect(timeline.remarks.count == 1)
    #expect(timeline.remarks[0].hasPrefix("59 packets go back in time, by up to 118 s"))
    #expect(timeline.remarks[0].contains("reordercap"))
  }

  @Test("a clock that is set back, even twice, shortens no interval", arguments: [4.0, 20, 3_600])
  func clockSetBack(step: Double) {
    let first = (0..<50).map(Double.init)
    let times = first + first.map { 50 + $0 - step } + first.map { 100 + $0 - 2 * step }
    let (received, timeline) = Self.receive(times)
    let intervals = zip(received, received.dropFirst()).map { $1 - $0 }
    // One interval at each step is not known.
    #expect(intervals.count { abs($0 - 1) > 1e-6 } == 2)
    #expect(intervals.allSatisfy { $0 >= 0 })
    #expect(!timeline.remarks.isEmpty)
  }

  @Test("a part that begins before the end of the part before it follows that, and this is named")
  func parts() {
    let (received, timeline) = Self.receive([0, 10], after: 119)
    #expect(received == [119, 129])
    #expect(timeline.remarks.count == 1 && timeline.remarks[0].hasPrefix("it begins 119 s before"))
    #expect(Self.receive([119, 130], after: 119).timeline.remarks.isEmpty)
  }

  @Test("the packets of a recording are held, however far they go back")
  func recording() {
    var timeline = CaptureTimeline()
    timeline.advance(to: Self.start + .seconds(60))
    #expect(timeline.receive(Self.start, isHeld: true) == Self.start + .seconds(60))
  }
}
