import PharosCaptures
import PharosReports
import Testing

/// When packets are due, drawn as times in and times out.
@Suite("The clock of a replay")
struct ReplayClockTests {
  private func deadlines(_ pace: ReplayClock.Pace, _ seconds: [Int64?]) -> [Double] {
    var clock = ReplayClock(pace: pace)
    return seconds.map { clock.deadline(of: $0.map { Timestamp(seconds: $0) }).seconds }
  }

  @Test(
    "packets are due by the capture's gaps, by a rate, or at once",
    arguments: [
      (.captured(speed: 1), [100, 101, 105], [0, 1, 5]),
      (.captured(speed: 2), [100, 101, 105], [0, 0.5, 2.5]),
      (.captured(speed: 0.5), [100, 101], [0, 2]),
      (.captured(speed: 1), [100, 103, 101, 104], [0, 3, 3, 4]),
      (.captured(speed: 1), [nil, 100, nil, 102], [0, 0, 0, 2]),
      (.rate(perSecond: 4), [100, 100, nil, 7], [0, 0.25, 0.5, 0.75]), (.unpaced, [100, 200], [0, 0]),
    ] as [(ReplayClock.Pace, [Int64?], [Double])]
  )
  func due(pace: ReplayClock.Pace, seconds: [Int64?], expected: [Double]) {
    #expect(deadlines(pace, seconds) == expected)
  }

  @Test("a further lap follows after the mean gap, and says how far its times have moved")
  func laps() {
    var clock = ReplayClock(pace: .captured(speed: 2))
    for lap in 0..<3 {
      let due = [100, 101, 104].map { clock.deadline(of: Timestamp(seconds: $0)).seconds }
      #expect(due == [0, 0.5, 2].map { $0 + Double(lap) * 3 })
      #expect(clock.startLap() == .seconds(Double(lap + 1) * 6))
    }
  }
}
