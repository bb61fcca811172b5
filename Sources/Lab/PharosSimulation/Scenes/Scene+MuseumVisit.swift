import PharosModel
import PharosSpace

extension Scene {
  /// Three visitors with handsets walk through a museum of three galleries; two leave, one stays.
  ///
  /// The handsets are the observers: one reports every advert, one only ranged beacons once a second, as iOS allows,
  /// and one scans in windows, as phones do in the background. Beacons stand at the entrance and at six exhibits;
  /// a bus stop in the street keeps on being heard by those who left.
  package static let museumVisit = Scene(
    name: "museum-visit",
    summary: "three handsets walk past the exhibits of a museum: observer regions and ranging",
    duration: .seconds(180),
    walls: museumWalls,
    areas: [
      SceneParts.area("entrance hall", 0, 0, 10, 12),
      SceneParts.area("east wing", 10, 0, 20, 12),
      SceneParts.area("north wing", 20, 0, 30, 12),
    ],
    transmitters: museumBeacons,
    observers: [anna, ben, chloe],
    radio: Radio(passersby: Radio.Passersby(share: 0.08, duration: .seconds(2))),
    siteYAML: museumYAML
  )

  private static let museumWalls = Walls(
    SceneParts.doorwayWall(x: 0, from: 0, to: 12, attenuation: 8)
      + SceneParts.doorwayWall(x: 10, from: 0, to: 12, attenuation: 5)
      + SceneParts.doorwayWall(x: 20, from: 0, to: 12, attenuation: 5)
      + [
        SceneParts.wall(y: 0, from: 0, to: 30, attenuation: 8),
        SceneParts.wall(y: 12, from: 0, to: 30, attenuation: 8),
        Wall(from: Point(x: 30, y: 0), to: Point(x: 30, y: 12), attenuation: 8),
      ]
  )

  private static var museumBeacons: [Transmitter] {
    let exhibits: [(name: String, major: UInt16, minor: UInt16, x: Double, y: Double)] = [
      ("amber", 2, 1, 5, 11), ("bronze", 2, 2, 5, 1), ("clocks", 2, 3, 15, 11), ("drums", 2, 4, 15, 1),
      ("etchings", 3, 5, 25, 11), ("fossils", 3, 6, 25, 1),
    ]
    let fixed = exhibits.map {
      SceneParts.iBeacon(
        $0.name,
        SceneParts.places,
        $0.major,
        $0.minor,
        path: SceneParts.at($0.x, $0.y),
        power: -66,
        interval: .milliseconds(350)
      )
    }
    let entrance = SceneParts.iBeacon(
      "entrance",
      SceneParts.places,
      1,
      1,
      path: SceneParts.at(1, 8),
      power: -59,
      interval: .milliseconds(350)
    )
    let busStop = SceneParts.iBeacon(
      "bus stop",
      SceneParts.foreignDevices,
      1,
      1,
      path: SceneParts.at(-30, 2),
      power: -59,
      interval: .seconds(1)
    )
    return [entrance] + fixed + [busStop]
  }

  private static func visitor(
    _ id: UInt64,
    host: String,
    waiting seconds: Double,
    _ way: [Path.Stop]
  ) -> Observer {
    Observer(
      id: .uuid(UUID128(high: 0x6B1F_4C02_9D3A_4E11, low: 0xA2C7_0000_0000_0000 | id)),
      sourceAddress: host,
      sourcePort: 52_100 + UInt16(id),
      path: Path(from: SceneParts.stop(-30, 6, for: seconds), through: way, speed: 1.2),
      batchPeriod: .milliseconds(500),
      heartbeats: Observer.Heartbeats(period: .seconds(5), includesStatistics: false),
      scanState: .foreground,
      noise: 1,
      sensitivity: -88,
      bodyLoss: 6,
      network: Network(
        delay: .milliseconds(3),
        jitter: .milliseconds(4),
        loss: 0.01,
        reordering: 0.01,
        detour: .milliseconds(120)
      )
    )
  }

  private static var anna: Observer {
    var anna = visitor(
      1,
      host: "10.20.0.31",
      waiting: 4,
      [
        SceneParts.stop(1, 6), SceneParts.stop(5, 10, for: 20), SceneParts.stop(5, 2, for: 12),
        SceneParts.stop(10, 6), SceneParts.stop(15, 10, for: 15), SceneParts.stop(10, 6),
        SceneParts.stop(0, 6), SceneParts.stop(-30, 6),
      ]
    )
    anna.displayOn = [.seconds(45), .seconds(160)]
    return anna
  }

  private static var ben: Observer {
    var ben = visitor(
      2,
      host: "10.20.0.47",
      waiting: 12,
      [
        SceneParts.stop(0, 6), SceneParts.stop(10, 6), SceneParts.stop(15, 2, for: 25),
        SceneParts.stop(20, 6), SceneParts.stop(25, 2, for: 20), SceneParts.stop(25, 10),
      ]
    )
    ben.reporting = .rangedBeacons
    ben.batchPeriod = .seconds(1)
    ben.gain = -3
    return ben
  }

  private static var chloe: Observer {
    var chloe = visitor(
      3,
      host: "10.20.0.52",
      waiting: 20,
      [
        SceneParts.stop(0, 6), SceneParts.stop(5, 3, for: 30), SceneParts.stop(0, 6),
        SceneParts.stop(-30, 6),
      ]
    )
    chloe.scan = Observer.Scan(interval: .milliseconds(1_500), window: .milliseconds(500))
    chloe.scanState = .windowed
    chloe.batchPeriod = .seconds(1)
    chloe.clockDrift = 30
    return chloe
  }
}

extension Scene {
  private static let museumYAML = """
    # A museum: visitors carry handsets, beacons stand at the entrance and at the exhibits.
    applications:
      - id: gallery
        regions:
          # Every beacon of the museum has this UUID: entered by the first, left when the last is gone.
          - { id: museum, subject: observer, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 }
          # One beacon. No notification on exit, but one when the display is turned on while inside.
          - { id: entrance, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 1,
              notifyOnExit: false, notifyEntryStateOnDisplay: true }
          # All exhibits of the first two galleries.
          - { id: exhibits, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 2 }
          # Standing before an exhibit, not merely in its room: by level, with hysteresis.
          - { id: amber, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 2, minor: 1,
              enter: { samples: 2, within: 3s, rssi: -82 }, exit: { rssi: -88, dwell: 3s, silence: 10s } }
          - { id: fossils, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 3, minor: 6,
              enter: { samples: 2, within: 3s, rssi: -82 }, exit: { rssi: -88, dwell: 3s, silence: 10s } }
        ranging:
          - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 2 }
    observers:
      - { id: "6B1F4C02-9D3A-4E11-A2C7-000000000001", name: Anna }
      - { id: "6B1F4C02-9D3A-4E11-A2C7-000000000002", name: Ben, rssiOffset: 3 }     # hears 3 dB too little
      - { id: "6B1F4C02-9D3A-4E11-A2C7-000000000003", name: Chloe }
    beacons:
      - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 1, name: entrance, measuredPower: -59, interval: 350ms }
      - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 2, minor: 1, name: amber, measuredPower: -66, interval: 350ms }

    """
}
