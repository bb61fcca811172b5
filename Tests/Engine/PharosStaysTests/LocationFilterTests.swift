import PharosModel
import PharosSpace
import PharosStays
import PharosTestSupport
import Testing

/// What is passed on of drawn fixes, compared with a slow reference, and of fixes that are simple enough to see it.
@Suite("Filters of fixes")
struct LocationFilterTests {
  private static let start = Timestamp(seconds: 1_790_000_000)

  private static func ground(_ level: Int?) -> VisitFix.Ground {
    VisitFix.Ground(venue: "mall", floor: level.map { FloorID(building: "main", level: $0) })
  }

  private static func fix(
    _ second: Double,
    x: Double = 0,
    accuracy: Double = 3,
    level: Int? = 0,
    latitude: Double? = nil
  ) -> VisitFix {
    let time = start + .seconds(second)
    return VisitFix(
      time: time,
      decidedAt: time,
      ground: ground(level),
      point: Point(x: x, y: 0),
      coordinate: latitude.flatMap { Coordinate(latitude: $0, longitude: 13) },
      accuracy: accuracy
    )
  }

  /// The seconds of the fixes that pass.
  private static func passed(_ fixes: [VisitFix], _ passes: (VisitFix) -> Bool) -> [Double] {
    fixes.filter(passes).map { ($0.time - start).seconds }
  }

  @Test("fixes pass a distance apart, on another floor at once, and all of them without a limit")
  func distance() {
    let fixes = (0..<30).map { Self.fix(Double($0), x: Double($0)) } + [Self.fix(30, x: 29, level: 1)]
    var ten = LocationFilter(distance: 10)
    #expect(Self.passed(fixes) { ten.passes($0) } == [0, 10, 20, 30])
    var none = LocationFilter(distance: -1, accuracy: 0)
    #expect(Self.passed(fixes) { none.passes($0) }.count == fixes.count)
  }

  @Test("outdoors the distance is that on the Earth")
  func outdoors() {
    // A millionth of a degree of latitude is 11 cm.
    let fixes = (0..<10).map { Self.fix(Double($0), level: nil, latitude: 52 + Double($0) * 0.000_1) }
    var filter = LocationFilter(distance: 30)
    #expect(Self.passed(fixes) { filter.passes($0) } == [0, 3, 6, 9])
  }

  @Test("a fix that is vaguer than desired waits ten seconds for a better one")
  func accuracy() {
    var filter = LocationFilter(accuracy: 5)
    let fixes = (0..<25).map { Self.fix(Double($0), accuracy: $0 == 4 ? 5 : 20) }
    #expect(Self.passed(fixes) { filter.passes($0) } == [0, 4, 14, 24])
  }

  @Test("drawn fixes pass as the two rules say", arguments: Seeds.drawn(1..<6))
  func reference(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let distance = Double.random(in: 1...20, using: &random)
    let accuracy = Double.random(in: 2...8, using: &random)
    var x = 0.0
    let fixes = (0..<400).map { second in
      x += Double.random(in: -3...3, using: &random)
      let level = Int.random(in: 0..<20, using: &random) == 0 ? 1 : 0
      return Self.fix(Double(second), x: x, accuracy: .random(in: 1...10, using: &random), level: level)
    }
    var filter = LocationFilter(distance: distance, accuracy: accuracy)
    var last: VisitFix?
    for fix in fixes {
      let isNear = last.map { $0.ground == fix.ground && abs($0.point.x - fix.point.x) < distance } ?? false
      let isVague = last.map { fix.accuracy > accuracy && fix.time - $0.time < .seconds(10) } ?? false
      #expect(filter.passes(fix) == (!isNear && !isVague))
      if !isNear, !isVague { last = fix }
    }
  }

  @Test("places on a plane and the same places on the Earth decide alike", arguments: Seeds.drawn(1..<6))
  func eitherCoordinates(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let origin = Coordinate(
      latitude: .random(in: -60...60, using: &random),
      longitude: .random(in: -179...179, using: &random)
    )
    let plane = GroundPlane(origin: try #require(origin))
    let distance = Double.random(in: 5...40, using: &random)
    var filters = (LocationFilter(distance: distance), LocationFilter(distance: distance))
    var changes = (SignificantChangeTrack(), SignificantChangeTrack())
    var (here, passed, reported) = (Point.origin, 0, 0)
    for second in 0..<3_000 {
      here = here + Point(x: .random(in: -10...12, using: &random), y: .random(in: -10...10, using: &random))
      let time = Self.start + .seconds(Double(second))
      let indoors = VisitFix(
        time: time,
        decidedAt: time,
        ground: Self.ground(0),
        point: here,
        accuracy: 3
      )
      let outdoors = VisitFix(
        time: time,
        decidedAt: time,
        ground: VisitFix.Ground(venue: "", floor: nil),
        point: .origin,
        coordinate: plane.coordinate(of: here),
        accuracy: 3
      )
      let isPassed = filters.0.passes(indoors)
      let isReported = changes.0.reports(indoors)
      #expect(filters.1.passes(outdoors) == isPassed, "second \(second)")
      #expect(changes.1.reports(outdoors) == isReported, "second \(second)")
      passed += isPassed ? 1 : 0
      reported += isReported ? 1 : 0
    }
    #expect(passed > 10 && reported > 2)
  }
}

/// Significant changes of walks that are simple enough to see what must follow.
@Suite("Significant changes")
struct SignificantChangeTests {
  private static let start = Timestamp(seconds: 1_790_000_000)

  /// The seconds of the changes for fixes once a second.
  private static func changes(
    _ seconds: Range<Int>,
    level: (Int) -> Int? = { _ in 0 },
    metres: (Int) -> Double = { _ in 0 },
    accuracy: Double = 5
  ) -> [Int] {
    var track = SignificantChangeTrack()
    return seconds.filter { second in
      let time = start + .seconds(Double(second))
      let fix = VisitFix(
        time: time,
        decidedAt: time,
        ground: VisitFix.Ground(
          venue: "mall",
          floor: level(second).map { FloorID(building: "main", level: $0) }
        ),
        point: Point(x: metres(second), y: 0),
        // 111.3 km a degree of latitude, as far as ten metres.
        coordinate: Coordinate(latitude: 52 + metres(second) / 111_300, longitude: 13),
        accuracy: accuracy
      )
      return track.reports(fix)
    }
  }

  @Test("the first fix is one, and a walk on one floor makes no further one")
  func still() {
    #expect(Self.changes(0..<3_600, metres: { Double($0 % 200) }) == [0])
  }

  @Test("another floor is reported after five minutes, if the subject is still there")
  func floors() {
    #expect(Self.changes(0..<1_000, level: { $0 < 60 ? 0 : 1 }) == [0, 300])
    #expect(Self.changes(0..<1_000, level: { 60..<240 ~= $0 ? 1 : 0 }) == [0])
    #expect(Self.changes(0..<1_000, level: { $0 < 400 ? 0 : 1 }) == [0, 430])
    #expect(Self.changes(0..<1_000, level: { $0 < 400 ? 0 : nil }) == [0, 430])
  }

  @Test("fixes that go to and fro between floors make none")
  func flicker() {
    #expect(Self.changes(0..<2_000, level: { $0 / 20 % 2 }) == [0])
  }

  @Test("500 m are reported, at most once in five minutes")
  func distances() {
    // 1 m/s: 500 m take longer than five minutes.
    let slow = Self.changes(0..<1_200, level: { _ in nil }, metres: { Double($0) })
    #expect(
      slow.count == 3 && slow[0] == 0 && (495...505).contains(slow[1]) && (990...1_010).contains(slow[2])
    )
    // 10 m/s: they take less.
    #expect(Self.changes(0..<1_000, level: { _ in nil }, metres: { Double($0) * 10 }) == [0, 300, 600, 900])
  }

  @Test("fixes whose circles meet are no change")
  func vague() {
    #expect(
      Self.changes(0..<900, level: { _ in nil }, metres: { $0 < 400 ? 0 : 700 }, accuracy: 400) == [0]
    )
    #expect(
      Self.changes(0..<900, level: { _ in nil }, metres: { $0 < 400 ? 0 : 900 }, accuracy: 400) == [0, 400]
    )
  }
}
