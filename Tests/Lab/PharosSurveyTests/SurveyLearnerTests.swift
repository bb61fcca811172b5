import Foundation
import PharosFixes
import PharosModel
import PharosSpace
import PharosSurvey
import PharosTestSupport
import PharosWays
import Testing

/// A hall of 60 m by 40 m with access points that are known, and surveyors who walk its corridors at 1 m/s.
private struct SurveyedHall {
  static let floor = FloorID(building: "b", level: 0)
  static let emitters: [(bits: UInt64, x: Double, y: Double)] = [
    (0x1000_0000_0010, 12, 9), (0x2000_0000_0020, 45, 30), (0x3000_0000_0030, 30, 20),
  ]
  static let mover: UInt64 = 0x4000_0000_0040
  static let passer: UInt64 = 0x5000_0000_0050

  let venue: Venue
  var generator: SeededGenerator

  init(seed: UInt64) throws {
    let plane = FloorPlane.ground(GroundPlane(origin: try #require(Coordinate(latitude: 1, longitude: 2))))
    let hall = Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 60, y: 40)))
    let floor = Floor(level: 0, plane: plane, walkable: [hall])
    venue = Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [floor])])
    generator = SeededGenerator(seed: seed)
  }

  /// The true level of an emitter, without noise.
  static func level(_ emitter: (bits: UInt64, x: Double, y: Double), at point: Point) -> Double {
    let (dx, dy) = (point.x - emitter.x, point.y - emitter.y)
    return -38 - 25 * log10((dx * dx + dy * dy + 6.25).squareRoot())
  }

  /// A walk along a straight line; the phone that moves walks along, three metres ahead, on every third one.
  mutating func walk(_ number: Int, from start: Point, to end: Point) -> SurveyWalk {
    let first = Timestamp(seconds: Int64(1_000 * number))
    let seconds = start.distance(to: end)
    var walk = SurveyWalk(
      name: "walk \(number)",
      floor: Self.floor,
      waypoints: [
        SurveyWalk.Waypoint(time: first, point: start),
        SurveyWalk.Waypoint(time: first + .seconds(seconds), point: end),
      ]
    )
    for second in stride(from: 1.0, to: seconds, by: 2) {
      let time = first + .seconds(second)
      let point = start.interpolated(to: end, share: second / seconds)
      for emitter in Self.emitters {
        let level = Self.level(emitter, at: point) + Double.random(in: -4...4, using: &generator)
        if level > -92 { add(emitter.bits, level, time, to: &walk) }
      }
      if number % 3 == 0 { add(Self.mover, -55, time, to: &walk) }
      if number == 1 { add(Self.passer, -60, time, to: &walk) }
      let beacon = BeaconID.proximity(UUID128(high: 1, low: 1), major: 0, minor: 0)
      walk.beacons.append(
        SurveyWalk.BeaconReading(
          time: time,
          beacon: beacon,
          address: DeviceAddress(bits: 0xB0, kind: .unknown),
          rssi: RSSI(dBm: Int8(Self.level((0, 50, 10), at: point).rounded()) - 20)
        )
      )
    }
    return walk
  }

  private func add(_ bits: UInt64, _ level: Double, _ time: Timestamp, to walk: inout SurveyWalk) {
    walk.accessPoints.append(
      SurveyWalk.AccessPointReading(
        time: time + .seconds(0.5),
        heard: time,
        bssid: DeviceAddress(bits: bits, kind: .unknown),
        rssi: RSSI(dBm: Int8(level.rounded())),
        frequency: 2_437
      )
    )
  }

  /// Walks along five corridors, there and back.
  mutating func walks() -> [SurveyWalk] {
    let lines = [
      (Point(x: 2, y: 5), Point(x: 58, y: 5)), (Point(x: 2, y: 35), Point(x: 58, y: 35)),
      (Point(x: 5, y: 2), Point(x: 5, y: 38)), (Point(x: 55, y: 2), Point(x: 55, y: 38)),
      (Point(x: 25, y: 2), Point(x: 25, y: 38)),
    ]
    var walks: [SurveyWalk] = []
    for (start, end) in lines + lines.map({ ($0.1, $0.0) }) {
      walks.append(walk(walks.count + 1, from: start, to: end))
    }
    return walks
  }

  /// Rules without the delays of handsets: this surveyor's stamps are right.
  static var rules: SurveyRules {
    var rules = SurveyRules()
    rules.accessPointDelay = .zero
    rules.beaconDelay = .zero
    return rules
  }
}

@Suite("Learning from walks")
struct SurveyLearnerTests {
  private static func learned(
    _ walks: [SurveyWalk],
    venue: Venue
  ) -> (map: RadioMap, report: SurveyReport) {
    var learner = SurveyLearner(venue: venue, rules: SurveyedHall.rules)
    for walk in walks { learner.add(walk) }
    return learner.learned()
  }

  @Test("levels are predicted where the survey walked, and with more variance where it did not")
  func levels() throws {
    var hall = try SurveyedHall(seed: 1)
    let (map, report) = Self.learned(hall.walks(), venue: hall.venue)
    #expect(report.walks == 10)
    #expect(report.meters == 440)
    for emitter in SurveyedHall.emitters {
      let number = try #require(map.emitter(.accessPoint(DeviceAddress(bits: emitter.bits, kind: .unknown))))
      for point in [Point(x: 15, y: 5), Point(x: 40, y: 35), Point(x: 25, y: 30), Point(x: 55, y: 20)] {
        let reported = try #require(map.prediction(of: number, floor: 0, at: point))
        #expect(abs(Double(reported.level) - SurveyedHall.level(emitter, at: point)) < 4)
        #expect(reported.deviation < 4)
      }
      for point in [Point(x: 40, y: 20), Point(x: 15, y: 20)] {
        let reported = try #require(map.prediction(of: number, floor: 0, at: point))
        let error = abs(Double(reported.level) - SurveyedHall.level(emitter, at: point))
        #expect(error < 2.5 * Double(reported.deviation))
        #expect(reported.deviation > 4)
      }
      #expect((1.5...6).contains(map.noises[Int(number)]))
      let anchor = try #require(map.anchors.first { $0.emitter == number })
      let error = anchor.point.distance(to: Point(x: emitter.x, y: emitter.y))
      #expect(error < max(6, 2.5 * Double(anchor.deviation)))
    }
    let beacon = BeaconID.proximity(UUID128(high: 1, low: 1), major: 0, minor: 0)
    #expect(map.emitter(ofBeacon: beacon, address: DeviceAddress(bits: 0xB0, kind: .random)) != nil)
  }

  /// Walks with the beacon under other addresses: what is heard of it, with the walk's number and its own.
  private static func hall(
    seed: UInt64,
    address: (_ walk: Int, _ reading: Int) -> UInt64
  ) throws -> (hall: SurveyedHall, walks: [SurveyWalk]) {
    var hall = try SurveyedHall(seed: seed)
    var walks = hall.walks()
    for walk in walks.indices {
      for reading in walks[walk].beacons.indices {
        walks[walk].beacons[reading].address = DeviceAddress(bits: address(walk, reading), kind: .random)
      }
    }
    return (hall, walks)
  }

  private static let beacon = BeaconID.proximity(UUID128(high: 1, low: 1), major: 0, minor: 0)

  @Test("a beacon that changes its address is one, also under an address that the survey did not meet")
  func changingAddress() throws {
    // Another with each walk, and in the third one half-way.
    let (hall, walks) = try Self.hall(seed: 4) { walk, reading in
      UInt64(0xB0 + (walk == 2 && reading > 4 ? 100 : walk))
    }
    let (map, report) = Self.learned(walks, venue: hall.venue)
    #expect(report.beacons == 1)
    let number = try #require(map.emitter(.beacon(Self.beacon)))
    for address in [DeviceAddress(bits: 0xB3, kind: .random), DeviceAddress(bits: 0xFFF, kind: .random), nil]
    {
      #expect(map.emitter(ofBeacon: Self.beacon, address: address) == number)
    }
    let anchor = try #require(map.anchors.first { $0.emitter == number })
    #expect(anchor.point.distance(to: Point(x: 50, y: 10)) < max(6, 2.5 * Double(anchor.deviation)))
  }

  @Test("beacons of one identity that are heard in turns stay apart, however near")
  func sharedIdentity() throws {
    let (hall, walks) = try Self.hall(seed: 5) { _, reading in reading.isMultiple(of: 2) ? 0xB0 : 0xB1 }
    let (map, report) = Self.learned(walks, venue: hall.venue)
    #expect(report.beacons == 2)
    #expect(map.emitter(.beacon(Self.beacon)) == nil)
    let numbers = [0xB0, 0xB1].map {
      map.emitter(ofBeacon: Self.beacon, address: DeviceAddress(bits: $0, kind: .random))
    }
    #expect(numbers.allSatisfy { $0 != nil } && numbers[0] != numbers[1])
  }

  @Test("beacons of one identity far from each other stay apart, though no walk meets both")
  func distantTwins() throws {
    var hall = try SurveyedHall(seed: 6)
    var walks = hall.walks()
    // The same corridors again, as if a second hall stood 200 m to the east.
    walks += walks.enumerated().map { number, walk in
      var other = walk
      other.name = "far \(number)"
      for place in other.waypoints.indices { other.waypoints[place].point.x += 200 }
      for reading in other.beacons.indices {
        other.beacons[reading].address = DeviceAddress(bits: 0xB1, kind: .random)
      }
      return other
    }
    let (map, _) = Self.learned(walks, venue: hall.venue)
    #expect(map.emitter(.beacon(Self.beacon)) == nil)
  }

  @Test("a phone that walks along, and one that was met once, are left out and counted")
  func movers() throws {
    var hall = try SurveyedHall(seed: 2)
    var walks = hall.walks()
    // Three more walks past the place where the passer-by stood, who had left by then.
    for number in 20..<24 { walks.append(hall.walk(number, from: Point(x: 2, y: 5), to: Point(x: 58, y: 5))) }
    let (map, report) = Self.learned(walks, venue: hall.venue)
    for bits in [SurveyedHall.mover, SurveyedHall.passer] {
      #expect(map.emitter(.accessPoint(DeviceAddress(bits: bits, kind: .unknown))) == nil)
    }
    #expect((report.leftOut[.moving] ?? 0) + (report.leftOut[.fleeting] ?? 0) == 2)
    #expect(report.accessPoints == SurveyedHall.emitters.count)
    #expect(report.beacons == 1)
  }

  @Test("repeated entries, walks on strange floors and walks without places are counted and change nothing")
  func refusals() throws {
    var hall = try SurveyedHall(seed: 3)
    let walks = hall.walks()
    let clean = Self.learned(walks, venue: hall.venue)
    var repeated = walks
    for place in repeated.indices {
      repeated[place].accessPoints += walks[place].accessPoints.map { entry in
        var entry = entry
        entry.time = entry.time + .seconds(2)
        return entry
      }
    }
    var unusual = walks[0]
    unusual.floor = FloorID(building: "elsewhere", level: 0)
    var placeless = walks[0]
    placeless.waypoints.removeLast()
    let (map, report) = Self.learned(repeated + [unusual, placeless], venue: hall.venue)
    #expect(map.levels == clean.map.levels)
    #expect(report.repeatedReadings == walks.reduce(0) { $0 + $1.accessPoints.count })
    #expect(report.unmatchedWalks == ["walk 1"])
    #expect(report.placelessWalks == ["walk 1"])
    #expect(report.walks == walks.count)
  }

  @Test("the same walks give the same bytes, and the order of a walk's lists does not matter")
  func repeatable() throws {
    var hall = try SurveyedHall(seed: 4)
    let walks = hall.walks()
    let first = Self.learned(walks, venue: hall.venue).map.encoded()
    #expect(Self.learned(walks, venue: hall.venue).map.encoded() == first)
    let turned = walks.map { walk in
      var walk = walk
      walk.waypoints.reverse()
      return walk
    }
    #expect(Self.learned(turned, venue: hall.venue).map.encoded() == first)
  }

  @Test("the coverage tells where was walked and how much of the floor that is")
  func coverage() throws {
    var hall = try SurveyedHall(seed: 5)
    let (map, report) = Self.learned(hall.walks(), venue: hall.venue)
    let floor = try #require(report.floors.first)
    #expect(floor.walks == 10)
    #expect(floor.emitters == map.patches.count)
    #expect(map.emitters.count >= 4)
    #expect(floor.passes == map.walked[0])
    let share = try #require(floor.surveyedShare)
    // Five corridors of 6 m of width on 2,400 m²: 1,184 m² without their crossings' double counts.
    #expect((0.40...0.60).contains(share))
    let onWalk = try #require(floor.grid.index(of: Point(x: 30, y: 5)))
    let offWalk = try #require(floor.grid.index(of: Point(x: 40, y: 20)))
    #expect(floor.passes[onWalk] == 2)
    #expect(floor.passes[offWalk] == 0)
    #expect(floor.audible[onWalk] >= 3)
    #expect(floor.doubt[onWalk] < floor.doubt[offWalk])
    #expect(floor.isWalkable[onWalk])
  }

  @Test("nothing learned is an empty map, and invalid numbers do no harm")
  func nothing() throws {
    let hall = try SurveyedHall(seed: 6)
    let empty = Self.learned([], venue: hall.venue)
    #expect(empty.map.emitters.isEmpty)
    #expect(empty.report.walks == 0)
    let none = Self.learned([], venue: Venue(identifier: "v"))
    #expect(none.map.floors.isEmpty)
    var wild = SurveyWalk(
      name: "wild",
      floor: SurveyedHall.floor,
      waypoints: [
        SurveyWalk.Waypoint(time: .distantPast, point: Point(x: -1e9, y: 1e9)),
        SurveyWalk.Waypoint(time: .distantFuture, point: Point(x: 1e30, y: 5)),
      ]
    )
    for second in 0..<20 {
      wild.accessPoints.append(
        SurveyWalk.AccessPointReading(
          time: .distantFuture,
          heard: Timestamp(seconds: Int64(second) * 400_000_000),
          bssid: DeviceAddress(bits: 1, kind: .unknown),
          rssi: RSSI(dBm: 20),
          frequency: 0
        )
      )
    }
    let (map, report) = Self.learned([wild], venue: hall.venue)
    #expect(map.emitters.isEmpty)
    #expect(report.placelessWalks == ["wild"])
    wild.waypoints[0].time = Timestamp(seconds: 0)
    wild.waypoints[1].time = Timestamp(seconds: 80_000)
    wild.waypoints[1].point = Point(x: -5_000, y: 9_000)
    wild.waypoints[0].point = Point(x: .nan, y: 0)
    #expect(Self.learned([wild], venue: hall.venue).report.placelessWalks == ["wild"])
    wild.waypoints[0].point = Point(x: 50_000, y: 0)
    for place in wild.accessPoints.indices {
      wild.accessPoints[place].heard = Timestamp(seconds: Int64(place) * 1_000)
    }
    let far = Self.learned([wild], venue: hall.venue)
    #expect(far.report.walks == 1)
    #expect(try RadioMap(decoding: far.map.encoded()) == far.map)
  }
}
