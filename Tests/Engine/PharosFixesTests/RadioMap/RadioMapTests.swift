import Foundation
import PharosFixes
import PharosModel
import PharosSpace
import Testing

@Suite("Radio maps")
struct RadioMapTests {
  private static let uuid = UUID128(high: 1, low: 2)
  private static let address = DeviceAddress(bits: 0xAC23_3F00_0001, kind: .random)

  /// A floor of 60 m by 30 m with a wall of 10 dB at x = 30, and one above with its origin 5 m farther east.
  private static func venue(beaconKey: BeaconID) throws -> Venue {
    let origin = try #require(Coordinate(latitude: 50, longitude: 8))
    let east = try #require(GroundPlane(origin: origin).coordinate(of: Point(x: 5, y: 0)))
    let hall = [Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 60, y: 30)))]
    var ground = Floor(level: 0, plane: .ground(GroundPlane(origin: origin)), walkable: hall)
    ground.walls = [Wall(from: Point(x: 30, y: -1), to: Point(x: 30, y: 31), attenuation: 10)]
    ground.beacons = [PlacedBeacon(beaconKey, at: Point(x: 10, y: 15))]
    ground.observers = [PlacedObserver(.eui48(7), at: Point(x: 50, y: 15))]
    ground.accessPoints = [PlacedAccessPoint(Self.address, at: Point(x: 20, y: 15))]
    let upper = Floor(level: 1, plane: .ground(GroundPlane(origin: east)), walkable: hall)
    return Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [ground, upper])])
  }

  private static let beacon = BeaconID.proximity(uuid, major: 1, minor: 2)

  @Test("a placed beacon has the level of path loss and walls")
  func placed() throws {
    let map = RadioMap(placed: try Self.venue(beaconKey: Self.beacon))
    let number = try #require(map.emitter(.beacon(Self.beacon)))
    // The middle of a cell, so that nothing is interpolated: cells of 1 m from −6 m.
    let near = Point(x: 19.5, y: 13.5)
    let far = Point(x: 40.5, y: 13.5)
    func expected(_ point: Point) -> Double {
      let dx = point.x - 10
      let dy = point.y - 15
      return -59 - 25 * log10((dx * dx + dy * dy + 2.5 * 2.5).squareRoot())
    }
    let level = try #require(map.prediction(of: number, floor: 0, at: near))
    #expect(abs(Double(level.level) - expected(near)) <= 0.26)
    #expect(abs(level.deviation - 7) < 0.01)
    let behind = try #require(map.prediction(of: number, floor: 0, at: far))
    #expect(abs(Double(behind.level) - (expected(far) - 10)) <= 0.26)
    #expect(map.anchors.contains { $0.emitter == number && $0.point == Point(x: 10, y: 15) && $0.floor == 0 })
  }

  @Test("on the floor above it is fainter by the ceiling, above its own place")
  func above() throws {
    let map = RadioMap(placed: try Self.venue(beaconKey: Self.beacon))
    let number = try #require(map.emitter(.accessPoint(Self.address)))
    // The upper floor's origin lies 5 m farther east: above x = 20 is x = 15 there.
    let patch = try #require(map.patch(of: number, floor: 1))
    var loudest = (level: UInt8(0), point: Point.origin)
    for row in 0..<Int(patch.rows) {
      for column in 0..<Int(patch.columns) {
        let level = map.levels[Int(patch.offset) + row * Int(patch.columns) + column]
        let point = map.grids[1].middle(column: Int(patch.column) + column, row: Int(patch.row) + row)
        if level > loudest.level { loudest = (level, point) }
      }
    }
    #expect(loudest.point.distance(to: Point(x: 15, y: 15)) <= 2.2)
    let below = try #require(map.prediction(of: number, floor: 0, at: Point(x: 20, y: 15)))
    let above = try #require(map.prediction(of: number, floor: 1, at: Point(x: 15, y: 15)))
    // The upper grid's cells lie a metre farther east about the emitter: near it a cell tells up to 2 dB less.
    #expect(abs(below.level - above.level - 14) < 2)
  }

  @Test("between the middles of cells levels are interpolated, and outside of a patch there are none")
  func interpolates() throws {
    let grid = try #require(RadioGrid(corner: Point(x: 100, y: 200), cell: 2, columns: 5, rows: 4))
    var draft = RadioMapDraft(
      floors: [FloorID(building: "b", level: 0)],
      grids: [grid],
      walked: []
    )
    draft.entries = [
      RadioMapDraft.Entry(
        emitter: .accessPoint(Self.address).plain,
        group: 1,
        noise: 5,
        pieces: [
          RadioMapDraft.Piece(
            floor: 0,
            column: 1,
            row: 1,
            columns: 2,
            rows: 2,
            levels: [100, 110, 120, 140],
            deviations: [10, 20, 30, 40]
          )
        ],
        anchor: nil
      )
    ]
    let map = draft.map()
    let number = try #require(map.emitter(.accessPoint(Self.address)))
    // The middles of the four cells are (103, 203), (105, 203), (103, 205) and (105, 205).
    func level(_ x: Double, _ y: Double) -> Float? {
      map.prediction(of: number, floor: 0, at: Point(x: x, y: y))?.level
    }
    #expect(level(103, 203) == -77)
    #expect(level(105, 205) == -57)
    #expect(level(104, 203) == -74.5)
    #expect(level(104, 204) == -68.25)
    #expect(level(102.1, 202.1) == -77)
    #expect(level(101.9, 203) == nil)
    #expect(level(103, 206.1) == nil)
    #expect(map.prediction(of: number, floor: 0, at: Point(x: 104, y: 204))?.deviation == 2.5)
    #expect(map.patch(of: number, floor: 1) == nil)
    #expect(map.patch(of: 9, floor: 0) == nil)
    #expect(map.emitter(.beacon(Self.beacon)) == nil)
  }

  @Test("an address tells beacons of one identity apart, and is not asked for where it is none of the key")
  func beaconKeys() throws {
    let plain = RadioMap(placed: try Self.venue(beaconKey: Self.beacon))
    #expect(
      plain.emitter(ofBeacon: Self.beacon, address: Self.address) == plain.emitter(.beacon(Self.beacon))
    )
    #expect(plain.emitter(ofBeacon: Self.beacon, address: nil) != nil)
    let keyed = RadioMap(placed: try Self.venue(beaconKey: Self.beacon.keyed(by: Self.address)))
    #expect(keyed.emitter(ofBeacon: Self.beacon, address: Self.address) != nil)
    #expect(keyed.emitter(ofBeacon: Self.beacon, address: nil) == nil)
    let other = DeviceAddress(bits: 1, kind: .random)
    #expect(keyed.emitter(ofBeacon: Self.beacon, address: other) == nil)
  }

  @Test("an access point is the same whether its address was said to be public or not")
  func addressKinds() throws {
    let map = RadioMap(placed: try Self.venue(beaconKey: Self.beacon))
    for kind in [DeviceAddress.Kind.public, .random, .unknown] {
      #expect(map.emitter(.accessPoint(DeviceAddress(bits: Self.address.bits, kind: kind))) != nil)
    }
  }

  @Test("placed access points join a surveyed map, which keeps its own levels")
  func adding() throws {
    var venue = try Self.venue(beaconKey: Self.beacon)
    let rules = PlacedRadioRules()
    var louder = rules
    louder.beaconPower = -50
    let surveyed = RadioMap(placed: venue, rules: louder)
    venue.buildings[0].floors[0].observers.append(PlacedObserver(.eui48(8), at: Point(x: 5, y: 5)))
    let both = surveyed.adding(placed: venue, rules: rules)
    #expect(both.emitters.count == surveyed.emitters.count + 1)
    let point = Point(x: 15, y: 15)
    let before = try #require(surveyed.emitter(.beacon(Self.beacon)))
    let after = try #require(both.emitter(.beacon(Self.beacon)))
    #expect(
      surveyed.prediction(of: before, floor: 0, at: point)?.level
        == both.prediction(of: after, floor: 0, at: point)?.level
    )
    let added = try #require(both.emitter(.observer(.eui48(8))))
    #expect(both.prediction(of: added, floor: 0, at: Point(x: 5, y: 5)) != nil)
    #expect(both.adding(placed: venue, rules: rules) == both)
  }

  @Test("bytes of levels and deviations hold to their ends")
  func bytes() {
    for byte in UInt8.min...UInt8.max {
      #expect(RadioMap.byte(level: RadioMap.level(byte)) == byte)
      #expect(RadioMap.byte(deviation: RadioMap.deviation(byte)) == byte)
    }
    #expect(RadioMap.byte(level: .nan) == 0)
    #expect(RadioMap.byte(level: -300) == 0)
    #expect(RadioMap.byte(level: 300) == 255)
    #expect(RadioMap.byte(deviation: .infinity) == 255)
    #expect(RadioMap.byte(deviation: .nan) == 0)
  }
}
