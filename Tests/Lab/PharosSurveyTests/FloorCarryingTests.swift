import Foundation
import PharosFixes
import PharosModel
import PharosSpace
import PharosSurvey
import PharosTestSupport
import Testing

/// Two floors, the upper one's origin 10 m farther east; the lower one walked all over, the upper one on its western edge only.
private struct TwoFloors {
  let venue: Venue
  static let bits: UInt64 = 0x0700_0000_0001

  init() throws {
    let origin = try #require(Coordinate(latitude: 10, longitude: 20))
    let east = try #require(GroundPlane(origin: origin).coordinate(of: Point(x: 10, y: 0)))
    let hall = [Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 70, y: 30)))]
    let lower = Floor(level: 0, plane: .ground(GroundPlane(origin: origin)), walkable: hall)
    let upper = Floor(level: 1, plane: .ground(GroundPlane(origin: east)), walkable: hall)
    venue = Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [lower, upper])])
  }

  /// A walk that hears one emitter at 50, 15 of the lower floor's plane by distance, fainter by a loss.
  func walk(_ number: Int, level: Int, from start: Point, to end: Point, loss: Double?) -> SurveyWalk {
    let first = Timestamp(seconds: Int64(1_000 * number))
    let seconds = start.distance(to: end)
    var walk = SurveyWalk(
      name: "\(number)",
      floor: FloorID(building: "b", level: level),
      waypoints: [.init(time: first, point: start), .init(time: first + .seconds(seconds), point: end)]
    )
    for second in stride(from: 0.0, through: seconds, by: 2) {
      let point = start.interpolated(to: end, share: second / seconds)
      let (dx, dy) = (point.x + (level == 1 ? 10 : 0) - 50, point.y - 15)
      let time = first + .seconds(second)
      let rssi = loss.map { -40 - 20 * log10((dx * dx + dy * dy + 6).squareRoot()) - $0 } ?? -90
      walk.accessPoints.append(
        .init(
          time: time,
          heard: time,
          bssid: DeviceAddress(bits: loss == nil ? 99 : Self.bits, kind: .unknown),
          rssi: RSSI(dBm: Int8(rssi.rounded())),
          frequency: 5_180
        )
      )
    }
    return walk
  }

  func learned(_ rules: (inout SurveyRules) -> Void) -> RadioMap {
    var set = SurveyRules()
    set.accessPointDelay = .zero
    rules(&set)
    var learner = SurveyLearner(venue: venue, rules: set)
    for (number, y) in [4.0, 11, 18, 25].enumerated() {
      learner.add(walk(number, level: 0, from: Point(x: 1, y: y), to: Point(x: 69, y: y), loss: 0))
    }
    for (number, x) in [1.0, 4].enumerated() {
      learner.add(walk(10 + number, level: 1, from: Point(x: x, y: 1), to: Point(x: x, y: 29), loss: nil))
    }
    return learner.learned().map
  }
}

@Suite("Carrying levels to the next floor")
struct FloorCarryingTests {
  private static let emitter = Emitter.accessPoint(DeviceAddress(bits: TwoFloors.bits, kind: .unknown))

  @Test("where no survey walked, the next floor's level at the same place is the expected one")
  func carries() throws {
    let map = try TwoFloors().learned { $0.floorLoss = 5 }
    let number = try #require(map.emitter(Self.emitter))
    // Above 50, 15 is 40, 15 on the upper floor's plane.
    let below = try #require(map.prediction(of: number, floor: 0, at: Point(x: 50, y: 15)))
    #expect(below.level > -60)
    let above = try #require(map.prediction(of: number, floor: 1, at: Point(x: 40, y: 15)))
    #expect(abs(above.level - (-79 - 5)) < 1)
    #expect(above.deviation > 11.5)
    #expect(above.deviation < 14)
  }

  @Test("where the survey walked in silence, silence counts")
  func silence() throws {
    let map = try TwoFloors().learned { _ in }
    let number = try #require(map.emitter(Self.emitter))
    let walked = map.prediction(of: number, floor: 1, at: Point(x: 2, y: 15))
    #expect(walked?.level ?? -95 < -94)
  }

  @Test("a slab that lets few of the loud emitters through lets no level through", arguments: [5, 20])
  func slab(heardAbove: Int) throws {
    var floors: [FloorSurvey] = []
    for (id, floor) in try TwoFloors().venue.floors {
      var survey = try #require(FloorSurvey(id, floor, cells: 3...3))
      let path = WalkedPath(
        waypoints: [
          .init(time: Timestamp(seconds: 0), point: Point(x: 1, y: 1)),
          .init(time: Timestamp(seconds: 60), point: Point(x: 60, y: 1)),
        ],
        steps: []
      )
      survey.add(path, walk: Int32(floors.count), scanTimes: [], hearsBeacons: false)
      floors.append(survey)
    }
    let emitters = (0..<25).map { number in
      var readings = EmitterReadings()
      readings.add(.init(x: 1, y: 1, level: -60, floor: 0, walk: 0))
      if number < heardAbove { readings.add(.init(x: 1, y: 1, level: -80, floor: 1, walk: 1)) }
      return readings
    }
    let neighbours = FloorNeighbours(floors, emitters: emitters)
    #expect(neighbours.bridges[1].isEmpty == (heardAbove == 5))
  }

  @Test("without carrying the upper floor knows nothing of what it did not hear")
  func switchedOff() throws {
    let map = try TwoFloors().learned { $0.carriesFloors = false }
    let number = try #require(map.emitter(Self.emitter))
    #expect(map.patch(of: number, floor: 1) == nil)
    #expect(map.patch(of: number, floor: 0) != nil)
  }

  @Test("the expected level on the next floor follows the measured table")
  func table() {
    for (level, expected) in [(-45, -79), (-65, -79), (-75, -82), (-85, -87.5)] as [(Float, Float)] {
      #expect(abs(FloorCarrying.guess(level) - expected) < 0.01)
    }
    for level in stride(from: Float(-100), to: -30, by: 1) {
      #expect(FloorCarrying.guess(level) <= FloorCarrying.guess(level + 1))
    }
  }

  @Test("a place leads over the bridge to the same coordinate on the other floor's plane")
  func bridge() throws {
    let floors = try TwoFloors().venue.floors
    let change = try #require(PlaneChange(from: floors[0].floor.plane, to: floors[1].floor.plane))
    for point in [Point.origin, Point(x: 63, y: 28), Point(x: 10, y: -5)] {
      #expect(change(point).distance(to: point - Point(x: 10, y: 0)) < 0.01)
    }
  }
}
