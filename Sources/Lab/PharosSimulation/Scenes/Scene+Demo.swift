import PharosModel
package import PharosSpace

extension Scene {
  /// A shop with a cold room and a store room: within five seconds a subject enters, a subject leaves, and beacons are
  /// ranged.
  ///
  /// A customer with a handset, and a basket with a tag, go into the cold room, whose steel lets nothing through,
  /// and come out again. Both ways lead back to where they began every 20 seconds, so that a copy with
  /// ``duration`` set to `.forever` plays on without end. Then a hand truck leaves the packing table in the store room once a
  /// minute, and the table's gateway loses its power every two minutes, while a scanner and a pallet stay where they are. A
  /// beacon of the neighbours is heard that no region asks about.
  package static let demo = Scene(
    name: "demo",
    summary: "a customer and a basket go in and out of a cold room, round and round every 20 s",
    duration: .seconds(20),
    walls: steelWalls,
    areas: [
      SceneParts.area("shop", 0, 0, 12, 6), SceneParts.area("cold room", 12, 0, 17, 6),
      SceneParts.area("store room", 0, 6, 17, 10),
    ],
    transmitters: shopBeacons + storeTags + [neighbour],
    observers: [customer, till] + gateways,
    radio: Radio(
      pathLossExponent: 2,
      shadowing: Radio.Shadowing(deviation: 1),
      riceFactor: 20,
      channelDeviation: 1
    ),
    siteYAML: shopYAML
  )

  /// The floor plan of ``demo``: its rooms, with the doors that its people use, and what hangs in them.
  package static var demoVenue: Venue {
    var walls = Walls()
    walls.enclose(southWest: Point(x: 0, y: 0), northEast: Point(x: 17, y: 10), attenuation: 12)
    let doors = [
      Wall(from: Point(x: 12, y: 0), to: Point(x: 12, y: 1.4), attenuation: 45),
      Wall(from: Point(x: 12, y: 3.6), to: Point(x: 12, y: 6), attenuation: 45),
      Wall(from: Point(x: 0, y: 6), to: Point(x: 5, y: 6), attenuation: 30),
      Wall(from: Point(x: 7, y: 6), to: Point(x: 17, y: 6), attenuation: 30),
    ]
    walls = Walls(walls.all + doors)
    let still = demo.observers.filter { $0.path.speed == 0 }
    let hanging = demo.transmitters.filter { ["shelf", "counter", "ice"].contains($0.name) }
    let floor = Floor(
      level: 0,
      names: ["Ground floor"],
      plane: .ground(GroundPlane(origin: shopCorner)),
      walkable: demo.areas.map { PharosSpace.Area(name: $0.name, outline: $0.shape) },
      walls: walls,
      entrances: [Entrance(identifier: "street", point: Point(x: 5, y: 0))],
      beacons: hanging.map { PlacedBeacon($0.beacon, at: $0.path.position(at: .zero)) },
      observers: still.map { PlacedObserver($0.id, at: $0.path.position(at: .zero)) }
    )
    return Venue(
      identifier: "shop",
      name: "The shop",
      buildings: [Building(identifier: "main", name: "The shop", floors: [floor])]
    )
  }

  /// The south-western corner of the shop, somewhere in a city.
  private static var shopCorner: Coordinate {
    guard let corner = Coordinate(latitude: 52.5200, longitude: 13.4050) else {
      preconditionFailure("the shop stands on the Earth")
    }
    return corner
  }

  /// The cold room is of steel, and steel shelves stand along the store room: neither lets anything through.
  private static var steelWalls: Walls {
    var walls = Walls()
    walls.enclose(southWest: Point(x: 12, y: 0), northEast: Point(x: 17, y: 6), attenuation: 45)
    return Walls(walls.all + [SceneParts.wall(y: 6, from: 0, to: 12, attenuation: 45)])
  }

  private static var shopBeacons: [Transmitter] {
    let interval = TimeSpan.milliseconds(200)
    let places = SceneParts.places
    return [
      SceneParts.iBeacon("shelf", places, 1, 1, path: SceneParts.at(10, 3), power: -59, interval: interval),
      SceneParts.iBeacon("counter", places, 1, 2, path: SceneParts.at(2, 3), power: -59, interval: interval),
      SceneParts.iBeacon("ice", places, 2, 1, path: SceneParts.at(16, 3), power: -59, interval: interval),
      SceneParts.iBeacon(
        "basket",
        SceneParts.tags,
        40,
        1,
        path: Path(
          from: SceneParts.stop(11.2, 2, for: 0.4),
          through: [SceneParts.stop(14.4, 2, for: 7.6), SceneParts.stop(4.8, 2, for: 2)],
          speed: 1.92,
          loops: true
        ),
        power: -59,
        interval: interval
      ),
    ]
  }

  /// The tags of the store room: a hand truck that fetches goods once a minute, and what stays.
  private static var storeTags: [Transmitter] {
    let fetching = Path(
      from: SceneParts.stop(6, 8, for: 28),
      through: [SceneParts.stop(6, 4, for: 10), SceneParts.stop(3, 4, for: 10)],
      speed: 1.0,
      loops: true
    )
    let ways = [
      ("hand truck", fetching), ("scanner", SceneParts.at(3, 8)), ("pallet", SceneParts.at(8, 9)),
    ]
    return ways.enumerated().map { index, way in
      let (name, path) = way
      return SceneParts.iBeacon(
        name,
        SceneParts.tags,
        41,
        UInt16(index + 1),
        path: path,
        power: -59,
        interval: .milliseconds(500)
      )
    }
  }

  /// A beacon behind the wall, of which the shop knows nothing.
  private static var neighbour: Transmitter {
    SceneParts.iBeacon(
      "neighbour",
      SceneParts.foreignDevices,
      7,
      1,
      path: SceneParts.at(8, -2),
      power: -59,
      interval: .milliseconds(500)
    )
  }

  private static var customer: Observer {
    Observer(
      id: .name("customer"),
      sourceAddress: "127.0.0.1",
      sourcePort: 52_200,
      path: Path(
        from: SceneParts.stop(11, 3, for: 0.5),
        through: [SceneParts.stop(14, 3, for: 3.75), SceneParts.stop(3, 3, for: 2)],
        speed: 1.6,
        loops: true
      ),
      batchPeriod: .milliseconds(100),
      heartbeats: Observer.Heartbeats(period: .seconds(1), includesStatistics: false),
      scanState: .foreground
    )
  }

  private static var till: Observer { gateway(0x61, at: (1, 1)) }

  /// The gateways besides the till: two more in the shop, one in the cold room, and two in the store room, of which that of
  /// the packing table fails.
  private static var gateways: [Observer] {
    [
      gateway(0x62, at: (6, 5.5)), gateway(0x63, at: (11, 1)), gateway(0x64, at: (16.5, 5.5)),
      gateway(0x65, at: (4, 9), faults: powerCuts), gateway(0x66, at: (13, 8)),
    ]
  }

  /// A power cut of 25 s every two minutes, for three days; so long no demo is looked at.
  private static var powerCuts: [Fault] {
    (0..<2_160).map { round in
      let start = TimeSpan.seconds(Double(75 + 120 * round))
      return Fault(.power, from: start, until: start + .seconds(25))
    }
  }

  private static func gateway(_ number: UInt64, at place: (Double, Double), faults: [Fault] = []) -> Observer
  {
    Observer(
      id: SceneParts.gateway(number),
      sourceAddress: "127.0.0.1",
      sourcePort: 52_140 + UInt16(number & 0xFF),
      path: SceneParts.at(place.0, place.1),
      batchPeriod: .milliseconds(100),
      heartbeats: Observer.Heartbeats(period: .seconds(1)),
      faults: faults
    )
  }
}

extension Scene {
  private static let shopYAML = """
    # A shop with a cold room and a store room: a customer carries a handset; a basket and what is stored carry tags.
    applications:
      - id: shop
        regions:
          # The handset is in the aisle while it hears any of the shop's beacons; steel walls end that at once.
          - { id: aisle, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, exit: { silence: 2s } }
          - { id: cold-room, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 2, minor: 1, exit: { silence: 2s } }
          # The basket is here while a gateway of the shop hears its tag.
          - { id: basket, subject: beacon, uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 40, exit: { silence: 2s },
              observers: ["ac:23:3f:a0:00:61", "ac:23:3f:a0:00:62", "ac:23:3f:a0:00:63"] }
          # At the packing table while the table's own gateway hears the tag; how long silence must last is learned.
          - { id: packing-table, subject: beacon, uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 41, observers: ["ac:23:3f:a0:00:65"] }
        ranging:
          - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 }
    observers:
      - { id: customer, name: handset of a customer }
      - { id: "ac:23:3f:a0:00:61", name: till }
      - { id: "ac:23:3f:a0:00:62", name: aisle gateway }
      - { id: "ac:23:3f:a0:00:63", name: window gateway }
      - { id: "ac:23:3f:a0:00:64", name: cold room gateway }
      - { id: "ac:23:3f:a0:00:65", name: packing table gateway, liveness: heartbeat }   # loses its power now and then
      - { id: "ac:23:3f:a0:00:66", name: store room gateway }
    beacons:
      - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 1, name: shelf, measuredPower: -59, interval: 200ms }
      - { uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 40, minor: 1, name: basket }
      - { uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 41, minor: 1, name: hand truck }
      - { uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 41, minor: 2, name: scanner }
      - { uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 41, minor: 3, name: pallet }
    zones:
      - { id: shop, name: Shop, observers: ["ac:23:3f:a0:00:61", "ac:23:3f:a0:00:62", "ac:23:3f:a0:00:63"], adjacent: [cold-room, store-room] }
      - { id: cold-room, name: Cold room, observers: ["ac:23:3f:a0:00:64"] }
      - { id: store-room, name: Store room, observers: ["ac:23:3f:a0:00:65", "ac:23:3f:a0:00:66"] }

    """
}
