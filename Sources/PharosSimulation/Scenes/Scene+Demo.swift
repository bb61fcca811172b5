import PharosModel
import PharosVenues

extension Scene {
  /// A shop with a cold room: within five seconds a subject enters, a subject leaves, and beacons are ranged.
  ///
  /// A customer with a handset, and a basket with a tag, go into the cold room, whose steel lets nothing through,
  /// and come out again. Both ways lead back to where they began every 20 seconds, so that a copy with
  /// ``duration`` set to `.forever` plays on without end.
  package static let demo = Scene(
    name: "demo",
    summary: "a customer and a basket go in and out of a cold room, round and round every 20 s",
    duration: .seconds(20),
    walls: coldRoom,
    areas: [SceneParts.area("shop", 0, 0, 12, 6), SceneParts.area("cold room", 12, 0, 17, 6)],
    transmitters: shopBeacons,
    observers: [customer, till],
    radio: Radio(
      pathLossExponent: 2,
      shadowing: Radio.Shadowing(deviation: 1),
      riceFactor: 20,
      channelDeviation: 1
    ),
    siteYAML: shopYAML
  )

  private static var coldRoom: Walls {
    var walls = Walls()
    walls.enclose(southWest: Point(x: 12, y: 0), northEast: Point(x: 17, y: 6), attenuation: 45)
    return walls
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
      heartbeats: Observer.Heartbeats(period: .seconds(1), tellsStatistics: false),
      scanState: .foreground
    )
  }

  private static var till: Observer {
    Observer(
      id: SceneParts.gateway(0x61),
      sourceAddress: "127.0.0.1",
      sourcePort: 52_201,
      path: SceneParts.at(1, 1),
      batchPeriod: .milliseconds(100),
      heartbeats: Observer.Heartbeats(period: .seconds(1))
    )
  }
}

extension Scene {
  private static let shopYAML = """
    # A shop with a cold room: a customer carries a handset, a basket carries a tag.
    applications:
      - id: shop
        regions:
          # The handset is in the aisle while it hears any of the shop's beacons; steel walls end that at once.
          - { id: aisle, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, exit: { silence: 2s } }
          - { id: cold-room, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 2, minor: 1, exit: { silence: 2s } }
          # The basket is here while the till's gateway hears its tag.
          - { id: basket, subject: beacon, uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 40, exit: { silence: 2s } }
        ranging:
          - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 }
    observers:
      - { id: customer, name: handset of a customer }
      - { id: "ac:23:3f:a0:00:61", name: till }
    beacons:
      - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 1, name: shelf, measuredPower: -59, interval: 200ms }

    """
}
