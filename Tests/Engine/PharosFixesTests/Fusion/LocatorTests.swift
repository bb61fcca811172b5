import PharosFixes
import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Locating")
struct LocatorTests {
  /// Where a walk from one end of the hall to the other and back is at a time.
  private static func truth(_ fix: FixEstimate) -> Point {
    let seconds = (fix.time - FusionHall.start).seconds
    let way = 50.0
    let walked = min(seconds * 1.4, 2 * way)
    return Point(x: 5 + (walked <= way ? walked : 2 * way - walked), y: 12)
  }

  private static func hall(
    seed: UInt64 = 1,
    hasSteps: Bool = true,
    hasScans: Bool = true,
    moved: Int? = nil
  ) throws -> FusionHall {
    var hall = try FusionHall(seed: seed)
    hall.moved = moved
    let (west, east) = (Point(x: 5, y: 12), Point(x: 55, y: 12))
    let turn = hall.walk(from: west, to: east, beginning: 0, hasSteps: hasSteps, hasScans: hasScans)
    _ = hall.walk(from: east, to: west, beginning: turn, hasSteps: hasSteps, hasScans: hasScans)
    return hall
  }

  private static func errors(_ fixes: [FixEstimate]) -> [Double] {
    fixes.filter { ($0.time - FusionHall.start).seconds > 6 }.map { $0.point.distance(to: truth($0)) }
      .sorted()
  }

  @Test(
    "a person who walks through a hall is followed, and the stated radius holds most truths",
    arguments: 1...4 as ClosedRange<UInt64>
  )
  func follows(seed: UInt64) throws {
    let fixes = try Self.hall(seed: seed).fixes(seed: seed)
    #expect(fixes.count > 60)
    let errors = Self.errors(fixes)
    #expect(errors[errors.count / 2] < 3, "median \(errors[errors.count / 2])")
    #expect(errors[errors.count * 9 / 10] < 6, "p90 \(errors[errors.count * 9 / 10])")
    let held = fixes.filter { $0.point.distance(to: Self.truth($0)) <= 2 * $0.horizontalAccuracy }
    #expect(Double(held.count) >= 0.92 * Double(fixes.count))
    #expect(fixes.allSatisfy { $0.floor == FloorID(building: "main", level: 0) && $0.coordinate != nil })
    #expect(zip(fixes, fixes.dropFirst()).allSatisfy { $1.time - $0.time >= .seconds(1) })
  }

  @Test("without motion sensors the fixes follow too, less closely")
  func noMotion() throws {
    let fixes = try Self.hall(hasSteps: false).fixes()
    let errors = Self.errors(fixes)
    // A walker without reported steps is some seconds ahead of what a random walk expects; an estimate in the
    // middle of the hall would be 15 m off.
    #expect(errors[errors.count / 2] < 10, "median \(errors[errors.count / 2])")
    let held = fixes.filter { $0.point.distance(to: Self.truth($0)) <= 2 * $0.horizontalAccuracy }
    #expect(Double(held.count) >= 0.9 * Double(fixes.count))
    #expect(fixes.allSatisfy { $0.speed == nil && !$0.sources.contains(.motion) })
  }

  @Test("an access point that hangs elsewhere than mapped does not pull the fixes away")
  func movedAccessPoint() throws {
    let errors = Self.errors(try Self.hall(moved: 1).fixes())
    #expect(errors[errors.count / 2] < 4, "median \(errors[errors.count / 2])")
  }

  @Test("inputs after a cut change no fix before it", arguments: Seeds.fixed(1..<13 as Range<UInt64>))
  func causality(seed: UInt64) throws {
    var hall = try Self.hall()
    let whole = hall.fixes()
    var random = SeededGenerator(seed: seed)
    let cut = Int.random(in: 1..<hall.sensings.count, using: &random)
    let end = hall.sensings[cut].time
    hall.sensings.removeSubrange(cut...)
    let part = hall.fixes(tail: 0)
    #expect(part == Array(whole.prefix(part.count)))
    #expect(whole.dropFirst(part.count).allSatisfy { $0.time + .seconds(1) >= end - .milliseconds(500) })
  }

  @Test("the times and the number of queries change nothing", arguments: Seeds.fixed(1..<7 as Range<UInt64>))
  func asking(seed: UInt64) throws {
    let hall = try Self.hall()
    let whole = hall.fixes()
    var random = SeededGenerator(seed: seed)
    var locator = hall.locator()
    var fixes: [FixEstimate] = []
    for (index, sensing) in hall.sensings.enumerated() {
      locator.receive(sensing)
      let following = index + 1 < hall.sensings.count ? hall.sensings[index + 1].time : sensing.time
      guard Bool.random(using: &random) else { continue }
      let share = Double.random(in: 0..<1, using: &random)
      locator.advance(to: sensing.time + (following - sensing.time) * share)
      if Bool.random(using: &random) { while let fix = locator.nextFix() { fixes.append(fix) } }
    }
    locator.advance(to: hall.sensings[hall.sensings.count - 1].time + .seconds(2))
    while let fix = locator.nextFix() { fixes.append(fix) }
    #expect(locator.counters.unfetched == 0)
    #expect(fixes == whole)
  }

  @Test("one seed, one result; another seed, nearly the same")
  func seeds() throws {
    let hall = try Self.hall()
    #expect(hall.fixes(seed: 3) == hall.fixes(seed: 3))
    let (one, other) = (hall.fixes(seed: 3), hall.fixes(seed: 4))
    #expect(one != other)
    let apart = zip(one, other).dropFirst(8).map { $0.point.distance(to: $1.point) }.sorted()
    #expect(apart[apart.count / 2] < 1.5)
  }

  @Test("a subject that turns up elsewhere is located again")
  func recovery() throws {
    var hall = try FusionHall()
    let middle = hall.walk(from: Point(x: 5, y: 5), to: Point(x: 25, y: 5), beginning: 0)
    // The phone was off while it was carried to the other corner.
    for second in 0..<40 { hall.scan(at: Point(x: 55, y: 20), middle + Double(second)) }
    let fixes = hall.fixes()
    let last = try #require(fixes.last)
    #expect(last.point.distance(to: Point(x: 55, y: 20)) < 5, "\(last.point)")
  }

  @Test("late, unknown and repeated readings are counted and change nothing")
  func refused() throws {
    let hall = try Self.hall()
    let whole = hall.fixes()
    var locator = hall.locator()
    var fixes: [FixEstimate] = []
    for sensing in hall.sensings {
      locator.receive(sensing)
      // The same again, something unknown, and something from long ago.
      if case .accessPoints = sensing.body { locator.receive(sensing) }
      var unusual = sensing
      let outsider = AccessPoint(
        bssid: DeviceAddress(bits: 0xBAD, kind: .public),
        rssi: RSSI(dBm: -40),
        frequency: 0,
        lastHeard: .zero
      )
      unusual.body = .accessPoints([outsider])
      locator.receive(unusual)
      var late = sensing
      late.time = sensing.time - .seconds(30)
      late.body = .accessPoints([
        AccessPoint(bssid: FusionHall.address(0), rssi: RSSI(dBm: -30), frequency: 0, lastHeard: .zero)
      ])
      if sensing.time > FusionHall.time(2) { locator.receive(late) }
      while let fix = locator.nextFix() { fixes.append(fix) }
    }
    locator.advance(to: hall.sensings[hall.sensings.count - 1].time + .seconds(2))
    while let fix = locator.nextFix() { fixes.append(fix) }
    #expect(fixes == whole)
    #expect(locator.counters.unknown == UInt64(hall.sensings.count))
    #expect(locator.counters.late > 0 && locator.counters.repeated > 0)
  }

  @Test("a locator stays within its memory, whatever it is given")
  func memory() throws {
    var hall = try Self.hall()
    var locator = hall.locator()
    for sensing in hall.sensings {
      locator.receive(sensing)
      #expect(locator.bytes <= 65_536)
    }
    // A flood that claims to be of one moment.
    for _ in 0..<400 { hall.scan(at: Point(x: 30, y: 12), 200) }
    for sensing in hall.sensings.suffix(400) { locator.receive(sensing) }
    #expect(locator.bytes <= 65_536 + 16_384)
    #expect(locator.counters.crowded > 0)
  }

  @Test("where radio falls silent the radius grows, and in the end fixes stop")
  func silence() throws {
    var hall = try FusionHall()
    for second in 0..<10 { hall.scan(at: Point(x: 30, y: 12), Double(second)) }
    let fixes = hall.fixes(tail: 120)
    let heard = try #require(fixes.last { $0.time <= FusionHall.time(9) })
    let last = try #require(fixes.last)
    #expect(last.horizontalAccuracy > heard.horizontalAccuracy * 1.5)
    #expect(last.time <= FusionHall.time(9 + 30) && last.time > FusionHall.time(9 + 25))
    #expect(last.age > .seconds(25))
  }
}
