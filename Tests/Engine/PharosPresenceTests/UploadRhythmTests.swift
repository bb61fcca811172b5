import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Gateways that upload now and then")
struct UploadRhythmTests {
  /// What a gateway sends with each upload.
  enum Upload: CaseIterable {
    /// A heartbeat and the adverts of one tag.
    case heartbeatAndTag
    /// The adverts of three tags, one tag after the other.
    case tags
    /// A heartbeat and one advert each of three tags.
    case heartbeatAndTags
  }

  private static func upload(_ upload: Upload, at time: Double, to timeline: inout Timeline) {
    if upload != .tags { timeline.give(.heartbeat(Heartbeat()), at: time) }
    for tag in 1...(upload == .heartbeatAndTag ? 1 : 3) {
      for _ in 0..<(upload == .tags ? 4 : 1) { timeline.receive(1, UInt16(tag), at: time) }
    }
  }

  @Test(
    "they are up from the third upload on, their tags enter by the seventh, and none leaves",
    arguments: [31, 45, 60, 120, 240] as [Double],
    Upload.allCases
  )
  func rhythm(interval: Double, upload: Upload) {
    var generator = SeededGenerator(seed: UInt64(interval))
    for _ in 0..<10 {
      var timeline = Timeline(Timeline.site([SparseBeaconTests.region()], liveness: .auto))
      for number in 0..<40 {
        let jitter = Double.random(in: -0.02...0.02, using: &generator) * interval
        Self.upload(upload, at: Double(number + 1) * interval + (interval > 120 ? 0 : jitter), to: &timeline)
      }
      #expect(timeline.events.count { $0.kind == .observerOffline } <= 2)
      // Intervals above two minutes enter by their batches alone.
      guard interval <= 120 else { continue }
      let enters = timeline.events.filter { $0.kind == .regionEnter }
      // The region is about the gateway, which enters once, with the first of its tags.
      #expect(enters.count == 1, "\(timeline.story())")
      let latest = enters.map { ($0.decidedAt - Timeline.at(0)).seconds }.max() ?? .infinity
      #expect(latest <= 9.1 * interval, "\(latest) s")
      #expect(!timeline.events.contains { $0.kind == .regionExit })
    }
  }

  @Test(
    "adverts of one time, as of a scan response, make no upload; without times they do",
    arguments: [1.5, 5, 20, 45] as [Double]
  )
  func scanResponses(gap: Double) {
    func delays(_ timing: (Double) -> ReportTiming) -> Set<TimeSpan> {
      let zones = [Zone(identifier: "hall", observers: [Timeline.handset])]
      var timeline = Timeline(Timeline.site([SparseBeaconTests.region()], liveness: .auto, zones: zones))
      for number in 1...40 {
        let time = Double(number) * gap
        for _ in 0..<2 { timeline.receive(1, 1, at: time, timing: timing(time)) }
      }
      return Set(
        timeline.links.compactMap { if case .life(let life) = $0 { life.listening.delay } else { nil } }
      )
    }
    #expect(delays { .sent(Timeline.at($0)) } == [.zero])
    #expect(delays { _ in .received }.contains { $0 >= .seconds(gap.rounded(.down)) })
  }

  @Test("outages of equal length between which it is heard for minutes are outages")
  func outages() {
    var timeline = Timeline(Timeline.site([SparseBeaconTests.region()], liveness: .auto))
    for round in 0..<8 {
      let start = Double(round) * 660
      for second in 0..<600 { timeline.give(.heartbeat(Heartbeat()), at: start + Double(second)) }
    }
    #expect(timeline.events.count { $0.kind == .observerOffline } == 7)
  }
}
