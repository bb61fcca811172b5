package import PharosModel
package import PharosSpace

/// A small mall of three floors, made up: a hall from end to end with shops on both sides, two doors to the street,
/// stairs, a lift and two escalators.
///
/// 60 × 40 m. The hall runs from west to east between y = 15 and y = 25; each shop has a door to it.
package enum SimulatedMall {
  /// The identifier of its only building.
  package static let building = "mall"
  /// The identifiers of its ways from floor to floor.
  package static let stairs = "stairs", lift = "lift"
  /// The escalators from the ground floor to the first, and from the first to the second.
  package static let lowerEscalator = "escalator 0-1", upperEscalator = "escalator 1-2"
  /// The doors to the street on the ground floor.
  package static let westDoor = "west door", eastDoor = "east door"
  /// The proximity UUID of its beacons; major is the level, minor counts them.
  package static let beacons = UUID128(high: 0x5A4B_CFCE_174E_4BAC, low: 0xA814_092E_77F6_B7E5)
  /// The height of a storey, in metres.
  package static let storey = 4.5

  /// A floor by its number, 0 to 2.
  package static func floor(_ level: Int) -> FloorID { FloorID(building: building, level: level) }

  /// Returns the mall with its fixed devices.
  ///
  /// - Parameters:
  ///   - hasAccessPoints: true to place eight Wi-Fi access points on each floor.
  ///   - hasBeacons: true to place thirteen beacons on each floor.
  ///   - hasObservers: true to place nine observers on each floor.
  ///   - networks: the number of networks of each access point, each with an address of its own; 1 to 16.
  /// - Returns: the venue, bound to the Earth.
  package static func venue(
    hasAccessPoints: Bool = true,
    hasBeacons: Bool = true,
    hasObservers: Bool = false,
    networks: Int = 1
  ) -> Venue {
    let floors = (0...2).map { level in
      var floor = emptyFloor(level)
      if hasAccessPoints { floor.accessPoints = accessPoints(level, networks: max(1, min(16, networks))) }
      if hasBeacons { floor.beacons = beacons(level) }
      if hasObservers { floor.observers = observers(level) }
      return floor
    }
    return Venue(
      identifier: "mall",
      name: "The mall",
      buildings: [Building(identifier: building, name: "Mall", floors: floors)],
      connectors: connectors
    )
  }

  private static let names = ["Ground floor", "First floor", "Second floor"]
  /// The dividing walls between shops.
  private static let divisions: [Double] = [15, 30, 45]
  /// Half the width of a door in metres.
  private static let halfDoor = 1.5

  private static func emptyFloor(_ level: Int) -> Floor {
    Floor(
      level: level,
      names: [names[level]],
      plane: .ground(GroundPlane(origin: origin)),
      walkable: [Area(name: "inside", outline: Polygon(rectangleFrom: .origin, to: Point(x: 60, y: 40)))],
      walls: walls(level),
      entrances: level == 0
        ? [
          Entrance(identifier: westDoor, point: Point(x: 0.5, y: 20)),
          Entrance(identifier: eastDoor, point: Point(x: 59.5, y: 20)),
        ] : [],
      pointsOfInterest: shops(level)
    )
  }

  /// The names and categories of the shops: on each floor those south of the hall from west to east, then those north.
  private static let shopNames: [[(name: String, category: String)]] = [
    [
      ("Harbour Books", "shop"), ("Sole Shoes", "shop"), ("Corner Pharmacy", "pharmacy"),
      ("Fresh Market", "grocery"), ("Flower Box", "shop"), ("Information", "information"),
      ("Key Service", "shop"), ("Restrooms ground floor", "restroom"),
    ],
    [
      ("North Wear", "shop"), ("Sound Room", "shop"), ("Post Office", "postoffice"), ("Bank", "bank"),
      ("Games Den", "shop"), ("Optician", "shop"), ("Restrooms first floor", "restroom"),
      ("Café Lumen", "foodservice"),
    ],
    [
      ("Cinema 1", "cinema"), ("Cinema 2", "cinema"), ("Cinema 3", "cinema"), ("Gym", "gym"),
      ("Toy Chest", "shop"), ("Art Room", "shop"), ("Restrooms second floor", "restroom"),
      ("Sky Bar", "foodservice"),
    ],
  ]

  private static func shops(_ level: Int) -> [PointOfInterest] {
    shopNames[level].enumerated().map { index, shop in
      let isSouth = index < 4
      let west = Double(index % 4) * 15
      let outline = Polygon(
        rectangleFrom: Point(x: west, y: isSouth ? 0 : 25),
        to: Point(x: west + 15, y: isSouth ? 15 : 40)
      )
      return PointOfInterest(
        identifier: "\(level)-\(index + 1)",
        name: shop.name,
        category: shop.category,
        point: Point(x: west + 7.5, y: isSouth ? 8 : 32),
        area: Area(name: shop.name, outline: outline)
      )
    }
  }

  /// The south-western corner, somewhere in the plains of central Europe.
  private static let origin = MapPoint(x: 144_200_000, y: 88_100_000).coordinate

  private static func walls(_ level: Int) -> Walls {
    var walls: [Wall] = []
    func add(_ x: Double, _ y: Double, _ toX: Double, _ toY: Double, _ attenuation: Double) {
      walls.append(Wall(from: Point(x: x, y: y), to: Point(x: toX, y: toY), attenuation: attenuation))
    }
    add(0, 0, 60, 0, 12)
    add(0, 40, 60, 40, 12)
    for x in [0.0, 60] {
      // Only the ground floor has doors to the street.
      if level == 0 {
        add(x, 0, x, 20 - halfDoor, 12)
        add(x, 20 + halfDoor, x, 40, 12)
      } else {
        add(x, 0, x, 40, 12)
      }
    }
    for x in divisions {
      add(x, 0, x, 15, 6)
      add(x, 25, x, 40, 6)
    }
    let edges = [0.0] + divisions + [60]
    for (west, east) in zip(edges, edges.dropFirst()) {
      let middle = (west + east) / 2
      for y in [15.0, 25] {
        add(west, y, middle - halfDoor, y, 3)
        add(middle + halfDoor, y, east, y, 3)
      }
    }
    return Walls(walls)
  }

  private static var connectors: [Connector] {
    func stops(_ levels: [Int], _ points: [Point]) -> [Connector.Stop] {
      zip(levels, points).map { Connector.Stop(floor: floor($0), point: $1) }
    }
    let stairFoot = Point(x: 44, y: 16)
    let cabin = Point(x: 18, y: 24)
    return [
      Connector(
        identifier: stairs,
        kind: .stairs,
        stops: stops([0, 1, 2], [stairFoot, stairFoot, stairFoot])
      ),
      Connector(identifier: lift, kind: .lift, stops: stops([0, 1, 2], [cabin, cabin, cabin])),
      Connector(
        identifier: lowerEscalator,
        kind: .escalator,
        stops: stops([0, 1], [Point(x: 26, y: 18), Point(x: 34, y: 18)])
      ),
      Connector(
        identifier: upperEscalator,
        kind: .escalator,
        stops: stops([1, 2], [Point(x: 34, y: 22), Point(x: 26, y: 22)])
      ),
    ]
  }

  /// Two in each quarter: one in the hall, one in a shop, those of each floor a little beside those below.
  private static func accessPoints(_ level: Int, networks: Int) -> [PlacedAccessPoint] {
    let places = [(7, 20), (22, 21), (38, 19), (53, 20), (8, 33), (37, 6), (22, 34), (52, 7)]
    return places.enumerated().flatMap { number, place in
      let point = Point(x: Double(place.0) + Double(level), y: Double(place.1) - Double(level) * 0.5)
      return (0..<networks).map { network in
        let bits = 0x0200_5E00_0000 | UInt64(level) << 12 | UInt64(number) << 4 | UInt64(network)
        return PlacedAccessPoint(DeviceAddress(bits: bits, kind: .unknown), at: point)
      }
    }
  }

  /// Five along the hall, one in each shop.
  private static func beacons(_ level: Int) -> [PlacedBeacon] {
    let hall = [4, 17, 30, 43, 56].map { Point(x: Double($0), y: 20) }
    let shops = [7.5, 22.5, 37.5, 52.5].flatMap { [Point(x: $0, y: 8), Point(x: $0, y: 32)] }
    return (hall + shops).enumerated().map { number, point in
      PlacedBeacon(.proximity(beacons, major: UInt16(level), minor: UInt16(number + 1)), at: point)
    }
  }

  /// Three along the hall, three along each row of shops.
  private static func observers(_ level: Int) -> [PlacedObserver] {
    [8.0, 30, 52].flatMap { x in [6.0, 20, 34].map { Point(x: x, y: $0) } }.enumerated().map {
      number,
      point in
      PlacedObserver(SceneParts.gateway(UInt64(0x100 * (level + 1) + number)), at: point)
    }
  }
}
