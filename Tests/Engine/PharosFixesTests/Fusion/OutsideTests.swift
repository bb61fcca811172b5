import PharosFixes
import PharosModel
import PharosRooms
import PharosSpace
import Testing

@Suite("Locations from outside")
struct OutsideTests {
  /// A satellite fix at a place of the hall's plane.
  private static func satellites(
    _ hall: FusionHall,
    _ point: Point,
    accuracy: Double,
    speed: Float?
  ) throws -> Sensing.Body {
    let plane = try #require(hall.ground.venue.floors.first).floor.plane
    let coordinate = try #require(plane.coordinate(of: point))
    return .outside(
      OutsideFix(
        latitude: coordinate.latitude,
        longitude: coordinate.longitude,
        horizontalAccuracy: Meters(accuracy),
        speed: speed,
        source: .gnss
      )
    )
  }

  @Test("far away satellites alone lead")
  func far() throws {
    var hall = try FusionHall()
    for second in 0..<10 {
      let point = Point(x: -3_000 + Double(second) * 15, y: 400)
      hall.add(try Self.satellites(hall, point, accuracy: 5, speed: 15), at: Double(second))
    }
    let fixes = hall.fixes()
    #expect(fixes.count >= 9)
    #expect(
      fixes.allSatisfy {
        $0.floor == nil && $0.satellites == .needed && $0.sources == .outside || $0.sources.isEmpty
      }
    )
    #expect(fixes.first?.horizontalAccuracy == 5)
  }

  @Test("a fix far away has what the location from outside states, for as long as it is recent")
  func statements() throws {
    var hall = try FusionHall()
    guard case .outside(var fix) = try Self.satellites(hall, Point(x: -3_000, y: 400), accuracy: 5, speed: 2)
    else { return }
    fix.altitude = Meters(74.5)
    fix.verticalAccuracy = Meters(4.25)
    fix.course = 90
    fix.courseAccuracy = 9
    fix.speedAccuracy = 0.5
    fix.information = .producedByAccessory
    hall.add(.outside(fix), at: 0)
    let fixes = hall.fixes(tail: 12)
    let first = try #require(fixes.first)
    #expect(first.height == .ellipsoid(74.5) && first.verticalAccuracy == 4.25)
    #expect(abs(try #require(first.course) - .pi / 2) < 1e-9)
    #expect(abs(try #require(first.courseAccuracy) - .pi / 20) < 1e-9)
    #expect(first.speed == 2 && first.speedAccuracy == 0.5)
    #expect(first.floorCertainty == nil && first.information == .producedByAccessory)
    let later = try #require(fixes.last { $0.time > FusionHall.time(6) })
    #expect(later.height == nil && later.course == nil && later.speed == nil)
    #expect(later.information == .producedByAccessory)
  }

  @Test("a fix on a floor has the height of the floor, and is sure of the only one")
  func height() throws {
    var hall = try FusionHall()
    _ = hall.walk(from: Point(x: 5, y: 12), to: Point(x: 50, y: 12), beginning: 0)
    let fixes = hall.fixes().dropFirst(5)
    #expect(fixes.count > 20)
    for fix in fixes {
      #expect(fix.height == .sea(FusionHall.altitude) && fix.verticalAccuracy == 1.5)
      #expect(abs(try #require(fix.floorCertainty) - 0.99) < 0.001)
      // The length of steps is known to an eighth, and a rest to 0.15 m/s.
      #expect(fix.speedAccuracy.map { (0.15...0.3).contains($0) } == true)
      #expect(fix.course == nil || fix.courseAccuracy.map { (0.05...1).contains($0) } == true)
      // No sensor says where the handset points.
      #expect(fix.heading == nil && fix.headingAccuracy == nil && fix.information == [])
    }
  }

  @Test(
    "on a floor without an altitude a fix has the height of the last location from outside",
    arguments: [nil, 3.5, 80] as [Double?]
  )
  func heightIndoors(vertical: Double?) throws {
    var hall = try FusionHall(altitude: nil)
    let here = Point(x: 30, y: 12)
    for second in stride(from: 0.0, to: 20, by: 1) {
      hall.scan(at: here, second)
      guard second >= 10,
        case .outside(var location) = try Self.satellites(hall, here, accuracy: 30, speed: nil)
      else { continue }
      location.altitude = Meters(71)
      location.verticalAccuracy = vertical.map { Meters($0) }
      hall.add(.outside(location), at: second + 0.1)
    }
    let fixes = hall.fixes(tail: 12)
    let (before, after) = (
      fixes.filter { $0.time < FusionHall.time(10) }, fixes.filter { $0.time > FusionHall.time(12) }
    )
    #expect(before.count > 5 && before.allSatisfy { $0.floor != nil && $0.height == nil })
    // Without an accuracy of its own the height is not taken to be as good as the place, which beacons and scans give.
    let recent = after.filter { $0.time < FusionHall.time(20) }
    #expect(recent.count > 5)
    #expect(recent.allSatisfy { $0.floor != nil && $0.height == .ellipsoid(71) })
    #expect(recent.allSatisfy { $0.verticalAccuracy == vertical ?? 60 })
    #expect(after.filter { $0.time > FusionHall.time(26) }.allSatisfy { $0.height == nil })
  }

  @Test("through the door and out again: no jump, the floor comes and goes, the advice flips once each way")
  func door() throws {
    var hall = try FusionHall()
    var seconds = 0.0
    func x(_ seconds: Double) -> Double { seconds < 60 ? -40 + seconds * 1.2 : 32 - (seconds - 60) * 1.2 }
    while seconds < 125 {
      let here = Point(x: x(seconds), y: 12)
      let isInside = here.x > 0
      let wander = isInside ? 25 * (Int(seconds) % 2 == 0 ? 1.0 : -1.0) : 0
      let seen = here + Point(x: 0, y: wander)
      hall.add(try Self.satellites(hall, seen, accuracy: isInside ? 30 : 5, speed: 1.2), at: seconds)
      if isInside, Int(seconds) % 2 == 0 { hall.scan(at: here, seconds + 0.1) }
      let heading: Float = seconds < 60 ? .pi / 2 : -.pi / 2
      hall.add(.motion([MotionSample(kind: .step, age: .zero, x: 0.6, y: heading, z: 0)]), at: seconds + 0.2)
      hall.add(.motion([MotionSample(kind: .step, age: .zero, x: 0.6, y: heading, z: 0)]), at: seconds + 0.7)
      seconds += 1
    }
    let fixes = hall.fixes()
    let floors = fixes.map { $0.floor != nil }
    let advice = fixes.map(\.satellites)
    #expect(zip(floors, floors.dropFirst()).count { $0 != $1 } == 2, "\(floors)")
    #expect(zip(advice, advice.dropFirst()).count { $0 != $1 } == 2)
    let plane = try #require(hall.ground.venue.floors.first).floor.plane
    var worst = 0.0
    var previous: Point?
    for fix in fixes.dropFirst(3) {
      let coordinate = try #require(fix.coordinate)
      let point = try #require(plane.point(of: coordinate))
      let truth = Point(x: x((fix.time - FusionHall.start).seconds), y: 12)
      #expect(point.distance(to: truth) < 15)
      if let previous { worst = max(worst, point.distance(to: previous)) }
      previous = point
    }
    #expect(worst < 8, "largest jump \(worst) m")
  }

  @Test("locations that are none are counted")
  func invalid() throws {
    let hall = try FusionHall()
    var locator = hall.locator()
    for (latitude, accuracy) in [(95.0, 5.0), (.nan, 5), (52, -1), (52, .nan), (52, .infinity)] {
      let fix = OutsideFix(
        latitude: latitude,
        longitude: 13,
        horizontalAccuracy: Meters(accuracy),
        speed: nil,
        source: .gnss
      )
      locator.receive(
        Sensing(
          observer: FusionHall.observer,
          time: FusionHall.start,
          decidedAt: FusionHall.start,
          ordinal: 0,
          body: .outside(fix)
        )
      )
    }
    locator.advance(to: FusionHall.time(10))
    #expect(locator.nextFix() == nil)
    #expect(locator.counters.invalid == 5)
  }
}
