import PharosFixes
import PharosModel
import PharosRooms
import PharosSpace
import PharosTestSupport
import Testing

@Suite("A locator's time")
struct LocatorTimeTests {
  @Test("the next due time lies after the time advanced to", arguments: Seeds.drawn(1..<9 as Range<UInt64>))
  func progress(seed: UInt64) throws {
    var hall = try FusionHall(seed: seed)
    var random = SeededGenerator(seed: seed)
    var clock = 0.0
    for _ in 0..<60 {
      clock += Double.random(in: 0...1.5, using: &random)
      hall.scan(at: Point(x: 30, y: 12), clock)
      if Bool.random(using: &random) {
        hall.add(.motion([MotionSample(kind: .step, age: .zero, x: 0.7, y: 0, z: 0)]), at: clock)
      }
    }
    var locator = hall.locator(seed: seed)
    var seen = 0
    for sensing in hall.sensings {
      var reported = sensing
      // Some of it comes late, some of it from ahead, some much too late.
      reported.time =
        sensing.time + .milliseconds([0, 0, -300, -900, -5_000, 400].randomElement(using: &random) ?? 0)
      locator.receive(reported)
      let instant = sensing.decidedAt + .milliseconds(Int64.random(in: -800...2_000, using: &random))
      locator.advance(to: instant)
      #expect(locator.nextDue > instant)
      // Asking at the instant that it names makes a fix, or names a later one.
      let due = locator.nextDue
      guard due < sensing.decidedAt + .seconds(1) else { continue }
      locator.advance(to: due)
      #expect(locator.nextDue > due)
      while locator.nextFix() != nil { seen += 1 }
    }
    #expect(seen > 10)
    locator.advance(to: .distantFuture)
    #expect(locator.nextDue == .distantFuture)
  }

  @Test("readings from before the motion have little weight for the present position")
  func beforeTheWalk() throws {
    var hall = try FusionHall()
    // A phone that is switched on mid-walk: its first scan still lists half of what it heard at the other end.
    for step in 0..<4 {
      let sample = MotionSample(kind: .step, age: .zero, x: 0.7, y: .pi / 2, z: 0)
      hall.add(.motion([sample]), at: 0.4 * Double(step))
    }
    let points = (0..<8).compactMap { index -> AccessPoint? in
      let isOld = index < 4
      let rssi = hall.level(of: index, at: Point(x: isOld ? 54 : 6, y: 12))
      return rssi.map {
        AccessPoint(
          bssid: FusionHall.address(index),
          rssi: $0,
          frequency: 2_412,
          lastHeard: isOld ? .seconds(15) : .zero
        )
      }
    }
    hall.add(.accessPoints(points), at: 2)
    let fix = try #require(hall.fixes(tail: 1).first)
    #expect(fix.point.x < 20, "\(fix.point)")
  }
}
