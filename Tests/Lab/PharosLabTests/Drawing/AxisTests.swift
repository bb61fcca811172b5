import PharosLab
import PharosModel
import Testing

@Suite("Axes")
struct AxisTests {
  /// 2026-01-05T12:03:07.5Z.
  private static let start = Timestamp(seconds: 1_767_614_587, nanoseconds: 500_000_000)

  @Test(
    "ticks of time stand at round times and do not touch",
    arguments: [
      (TimeSpan.seconds(8), ["12:03:08", "12:03:09"]), (.seconds(100), ["12:03:10", "12:03:20"]),
      (.minutes(10), ["12:04", "12:05"]), (.minutes(100), ["12:10", "12:20"]),
      (.minutes(60 * 24), ["15:00", "18:00", "21:00", "2026-01-06"]),
      (.minutes(60 * 24 * 9), ["2026-01-06", "2026-01-07"]),
    ]
  )
  func time(length: TimeSpan, first: [String]) {
    let axis = TimeAxis(from: Self.start, to: Self.start + length, left: 100, right: 1_100)
    let ticks = axis.ticks()
    #expect(Array(ticks.map(\.label).prefix(first.count)) == first)
    #expect(ticks.allSatisfy { (100...1_100).contains($0.x) })
    for (tick, next) in zip(ticks, ticks.dropFirst()) { #expect(next.x - tick.x > 70) }
  }

  @Test("a span of years has ticks, and not many")
  func years() {
    let axis = TimeAxis(from: Self.start, to: Self.start + .minutes(60 * 24 * 2_000), left: 0, right: 800)
    #expect((2...10).contains(axis.ticks().count))
  }

  @Test("a tick at the very start is kept, and times before the epoch have ticks too")
  func edges() {
    let round = Timestamp(seconds: 60)
    #expect(TimeAxis(from: round, to: round + .seconds(5), left: 0, right: 500).ticks().first?.x == 0)
    let early = Timestamp(seconds: -7)
    let labels = TimeAxis(from: early, to: early + .seconds(9), left: 0, right: 900).ticks().map(\.label)
    #expect(labels.contains("1970-01-01"))
    #expect(labels.contains("23:59:59"))
  }

  @Test("a time lies between the ends, and one beyond them at an end")
  func positions() {
    let axis = TimeAxis(from: Self.start, to: Self.start + .seconds(10), left: 100, right: 200)
    #expect(axis.x(of: Self.start + .seconds(5)) == 150)
    #expect(axis.x(of: .distantPast) == 100)
    #expect(axis.x(of: .distantFuture) == 200)
    #expect(axis.width(of: .seconds(1)) == 10)
    let empty = TimeAxis(from: Self.start, to: Self.start, left: 0, right: 10)
    #expect(empty.x(of: Self.start + .milliseconds(500)) == 5)
  }

  @Test("levels are larger upwards, between round ends")
  func levels() {
    let axis = ValueAxis(from: -87.3, to: -61.2, top: 10, bottom: 110, step: 5)
    #expect(axis.lowest == -90)
    #expect(axis.highest == -60)
    #expect(axis.y(of: -90) == 110)
    #expect(axis.y(of: -60) == 10)
    #expect(axis.y(of: -75) == 60)
    #expect(axis.y(of: 0) == 10)
    #expect(axis.ticks().map(\.label) == ["−90", "−80", "−70", "−60"])
  }

  @Test("ticks of numbers are 1, 2 or 5 times a power of ten", arguments: [0.03, 0.4, 7, 55, 1_234])
  func steps(highest: Double) throws {
    let axis = ValueAxis(from: 0, to: highest, top: 0, bottom: 300, step: highest / 10)
    let ticks = axis.ticks()
    #expect((4...12).contains(ticks.count))
    for (tick, next) in zip(ticks, ticks.dropFirst()) { #expect(tick.y - next.y > 27.9) }
  }

  @Test("an axis of one number has an extent")
  func oneNumber() {
    let axis = ValueAxis(from: -70, to: -70, top: 0, bottom: 100, step: 5)
    #expect(axis.highest - axis.lowest == 5)
  }
}
