import PharosModel
import PharosSpace
import PharosWays
import Testing

@Suite("Venue check")
struct VenueCheckTests {
  /// Two floors of two rooms each with a wall between, a door in the wall, a lift and an entrance.
  static func venue(door: Bool = true) -> Venue {
    let origin = MapPoint(x: MapPoint.worldSize / 2, y: MapPoint.worldSize / 3).coordinate
    let walls = Walls([Wall(from: Point(x: 10, y: 0), to: Point(x: 10, y: 10), attenuation: 6)])
    let gap = Segment(from: Point(x: 10.05, y: 4), to: Point(x: 10.05, y: 5))
    func floor(_ level: Int) -> Floor {
      Floor(
        level: level,
        plane: .ground(GroundPlane(origin: origin)),
        walkable: [
          Area(name: "hall", outline: Polygon(rectangleFrom: .origin, to: Point(x: 10, y: 10))),
          Area(name: "office", outline: Polygon(rectangleFrom: Point(x: 10, y: 0), to: Point(x: 18, y: 10))),
        ],
        walls: door ? walls.opened(by: [gap]) : walls
      )
    }
    var ground = floor(0)
    ground.entrances = [Entrance(identifier: "north", point: Point(x: 5, y: 10))]
    let lift = Connector(
      identifier: "lift",
      kind: .lift,
      stops: [
        Connector.Stop(floor: FloorID(building: "main", level: 0), point: Point(x: 1, y: 1)),
        Connector.Stop(floor: FloorID(building: "main", level: 1), point: Point(x: 1, y: 1)),
      ]
    )
    let building = Building(identifier: "main", floors: [floor(1), ground])
    return Venue(identifier: "house", buildings: [building], connectors: [lift])
  }

  private func messages(_ venue: Venue) -> [String] { VenueCheck(venue).findings.map(\.description) }

  @Test("a right venue has nothing to find, and its floors are in order")
  func right() {
    let venue = Self.venue()
    #expect(messages(venue).isEmpty)
    #expect(venue.floors.map(\.id.level) == [0, 1])
    #expect(venue.floor(FloorID(building: "main", level: 1))?.level == 1)
    #expect(venue.floor(FloorID(building: "other", level: 1)) == nil)
  }

  private static let remedy =
    " If the map has no doors, \"roomsWithoutDoors: open\" in venue.yaml opens such rooms towards the corridors that they "
    + "touch."

  @Test("a room without a door cannot be walked to")
  func unreachable() {
    #expect(
      messages(Self.venue(door: false)) == [
        "floor main/0: \"office\" (80.0 m²) cannot be walked to: is a door, a lift or an entrance missing?"
          + Self.remedy,
        "floor main/1: \"office\" (80.0 m²) cannot be walked to: is a door, a lift or an entrance missing?"
          + Self.remedy,
      ]
    )
  }

  @Test("of many rooms that cannot be walked to, every one is named, the largest first")
  func manyUnreachable() {
    var venue = Self.venue()
    venue.buildings[0].floors[1].walkable += (0..<9).map { index in
      let corner = Point(x: 100 + 10 * Double(index), y: 0)
      return Area(outline: Polygon(rectangleFrom: corner, to: corner + Point(x: 2 + Double(index) / 2, y: 4)))
    }
    let found = messages(venue)
    #expect(found.count == 1)
    #expect(
      found.first?.hasPrefix(
        "floor main/1: 9 areas without a door cannot be walked to: walkable area 11 (24.0 m²), walkable area 10 (22.0 m²)"
      ) == true
    )
    #expect((3...11).allSatisfy { number in found.first?.contains("walkable area \(number) (") == true })
  }

  @Test(
    "an unreachable part is named as seen from the largest part: a staircase without a door, not the rooms"
  )
  func cutOffStaircase() {
    var venue = Self.venue()
    for level in [0, 1] {
      venue.buildings[0].floors[level].walkable.append(
        Area(name: "staircase", outline: Polygon(rectangleFrom: Point(x: 0, y: 12), to: Point(x: 3, y: 16)))
      )
    }
    venue.connectors = [
      Connector(
        identifier: "stairs",
        kind: .stairs,
        stops: [0, 1].map {
          Connector.Stop(floor: FloorID(building: "main", level: $0), point: Point(x: 1.5, y: 14))
        }
      )
    ]
    venue.buildings[0].floors[0].entrances = []
    let found = messages(venue)
    #expect(
      found.filter { $0.contains("\"staircase\"") && $0.contains("cannot be walked to") }.count == 2,
      "\(found)"
    )
    #expect(!found.contains { $0.contains("\"hall\"") || $0.contains("\"office\"") })
    #expect(
      found.contains {
        $0
          == "floor main/1: no way leads to it from the largest part of the building: is a door of its stairs or lift "
          + "missing?"
      } || found.contains { $0.hasPrefix("floor main/0: no way leads to it") }
    )
  }

  @Test("things outside of their floor, or at two places, are named")
  func outside() {
    var venue = Self.venue()
    let beacon = BeaconID.address(DeviceAddress(bits: 0xC000_0000_0001, kind: .unknown))
    let access = DeviceAddress(bits: 0xC000_0000_0002, kind: .unknown)
    venue.buildings[0].floors[0].beacons = [PlacedBeacon(beacon, at: Point(x: 30, y: 5))]
    venue.buildings[0].floors[1].beacons = [PlacedBeacon(beacon, at: Point(x: 19, y: 5))]
    venue.buildings[0].floors[1].accessPoints = [PlacedAccessPoint(access, at: Point(x: 5, y: -20))]
    #expect(
      messages(venue) == [
        "floor main/0: beacon mac:c0:00:00:00:00:01 hangs 12.0 m outside of it: are its numbers swapped, or its floor "
          + "another?",
        "floor main/1: access point c0:00:00:00:00:02 hangs 20.0 m outside of it: are its numbers swapped, or its "
          + "floor another?",
        "beacon mac:c0:00:00:00:00:01 hangs on floor main/0 and on floor main/1: one of them is wrong",
      ]
    )
  }

  @Test("connectors that join nothing, floors that do not exist, and floors that nothing leads to")
  func connectors() {
    var venue = Self.venue()
    venue.connectors[0].stops[1].floor.level = 7
    venue.connectors[0].stops[0].point = Point(x: 5, y: -9)
    venue.connectors.append(Connector(identifier: "stairs", kind: .stairs, stops: []))
    venue.buildings[0].floors[0].entrances = []
    #expect(
      messages(venue) == [
        "connector \"lift\" stops 9.0 m from where one can walk on floor main/0",
        "floor main/1: no connector leads to it and it has no entrance",
        "connector \"lift\" stops at floor main/7, which the venue does not have",
        "connector \"stairs\" joins nothing: it needs two stops or more",
        "no floor has an entrance: where satellites take over is not known",
      ]
    )
  }

  @Test("a floor of walls alone is reported as such")
  func wallsAlone() {
    var venue = Self.venue()
    venue.buildings[0].floors[1].walkable = []
    #expect(
      messages(venue) == ["floor main/1: nothing says where one can walk: walls alone will guide fixes"]
    )
  }

  @Test("a door cuts the wall that it lies along, and no other")
  func doors() {
    let walls: Walls = [
      Wall(from: Point(x: 0, y: 0), to: Point(x: 10, y: 0), attenuation: 3),
      Wall(from: Point(x: 5, y: 0), to: Point(x: 5, y: 10), attenuation: 3),
    ]
    let opened = walls.opened(by: [
      Segment(from: Point(x: 3, y: 0.1), to: Point(x: 2, y: -0.1)),
      Segment(from: .origin, to: Point(x: 1, y: 0)),
    ])
    #expect(
      opened.all.map(\.segment) == [
        Segment(from: Point(x: 1, y: 0), to: Point(x: 2, y: 0)),
        Segment(from: Point(x: 3, y: 0), to: Point(x: 10, y: 0)),
        Segment(from: Point(x: 5, y: 0), to: Point(x: 5, y: 10)),
      ]
    )
    #expect(walls.opened(by: []) == walls)
  }

  @Test("a wall that two rooms bring counts once, with the larger loss")
  func repeats() {
    let walls: Walls = [
      Wall(from: .origin, to: Point(x: 1, y: 0), attenuation: 3),
      Wall(from: Point(x: 1, y: 0), to: .origin, attenuation: 8),
      Wall(from: .origin, to: Point(x: 0, y: 1), attenuation: 3),
    ]
    #expect(walls.withoutRepeats().all.map(\.attenuation) == [8, 3])
  }
}
