import PharosCluster
import PharosModel
import PharosTestSupport
import Testing

@Suite("The comparison of a shadow with its cluster")
struct ShadowReportTests {
  private static let start = Timestamp(nanoseconds: 1_800_000_000_000_000_000)

  private func event(_ number: Int, at second: Int, level: Int = 50) -> Event {
    let time = ShadowReportTests.start + .seconds(Double(second))
    return Event(
      stream: "test",
      kind: number.isMultiple(of: 2) ? .regionEnter : .regionExit,
      time: time,
      decidedAt: time,
      stage: 1,
      subject: .observer(.name("visitor-\(number)")),
      application: "shop",
      region: "door",
      counter: 0,
      detail: .regionLimit(limit: level, refused: "door")
    )
  }

  @Test(
    "names each difference once, and nothing else",
    arguments: Seeds.drawn(0..<400 as Range<UInt64>, first: 40)
  )
  func differences(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (cluster, shadow): ([Event], [Event]) = ([], [])
    var expected: [ShadowReport.Difference: Int] = [:]
    let span = ShadowReportTests.start..<ShadowReportTests.start + .minutes(60)
    let count = Int.random(in: 0...60, using: &random)
    for number in 0..<count {
      // Far enough from both ends that one which comes earlier or later is within them.
      let second = Int.random(in: 200...3_000, using: &random)
      let difference =
        Int.random(in: 0...1, using: &random) == 0
        ? nil : ShadowReport.Difference.allCases.randomElement(using: &random)
      if let difference { expected[difference, default: 0] += 1 }
      if difference != .onlyShadow { cluster.append(event(number, at: second)) }
      switch difference {
      case nil, .onlyShadow: shadow.append(event(number, at: second))
      case .onlyCluster: break
      case .otherTime: shadow.append(event(number, at: second + Int.random(in: 1...120, using: &random)))
      case .otherwise: shadow.append(event(number, at: second, level: 51))
      }
    }
    // What lies outside is not compared.
    cluster.append(event(1_000, at: -1))
    shadow.append(event(1_001, at: 3_601))
    let report = ShadowReport(
      cluster: cluster.shuffled(using: &random),
      shadow: shadow.shuffled(using: &random),
      within: span
    )
    var found: [ShadowReport.Difference: Int] = [:]
    for (group, events) in report.groups { found[group.difference, default: 0] += events.count }
    #expect(found == expected)
    #expect(report.compared == cluster.count - 1)
    #expect(expected.isEmpty == (report.lines == ["no difference in \(count) decisions"]))
  }
}
