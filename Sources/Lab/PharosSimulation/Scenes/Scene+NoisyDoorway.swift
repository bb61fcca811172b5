import PharosModel
import PharosSpace

extension Scene {
  /// Tags around the door between a hall and a store, all near what the gateways can still hear.
  ///
  /// Deep shadows, fading without a line of sight, bursts of interference, and people in the way: the scene in
  /// which a rule without hysteresis flaps. One tag rests beside the door, one is wheeled through it and back,
  /// one advertises fast only while it is carried, one lies in a far corner.
  package static let noisyDoorway = Scene(
    name: "noisy-doorway",
    summary: "tags at the edge of reception beside a door between two zones: hysteresis and dwell",
    duration: .seconds(240),
    walls: Walls(SceneParts.doorwayWall(x: 10, from: 0, to: 8, attenuation: 4)),
    areas: [SceneParts.area("hall", 0, 0, 10, 8), SceneParts.area("store", 10, 0, 20, 8)],
    transmitters: [badge, trolley, box, crate],
    observers: doorwayGateways,
    radio: Radio(
      pathLossExponent: 2.6,
      shadowing: Radio.Shadowing(deviation: 4, distance: 2, time: .seconds(20)),
      riceFactor: 1,
      channelDeviation: 2.5,
      softness: 2,
      burstLoss: Radio.BurstLoss(share: 0.2, duration: .milliseconds(1_500)),
      passersby: Radio.Passersby(share: 0.15, duration: .seconds(3))
    ),
    siteYAML: doorwayYAML
  )

  private static func doorwayTag(_ name: String, _ minor: UInt16, path: Path) -> Transmitter {
    SceneParts.iBeacon(
      name,
      SceneParts.tags,
      20,
      minor,
      path: path,
      power: -66,
      interval: .milliseconds(500)
    )
  }

  private static var badge: Transmitter { doorwayTag("badge", 1, path: SceneParts.at(9.5, 4)) }

  private static var trolley: Transmitter {
    doorwayTag(
      "trolley",
      2,
      path: Path(
        from: SceneParts.stop(4, 4, for: 60),
        through: [SceneParts.stop(16, 4, for: 70), SceneParts.stop(4, 4)],
        speed: 1
      )
    )
  }

  private static var box: Transmitter {
    var box = doorwayTag(
      "box",
      3,
      path: Path(
        from: SceneParts.stop(14, 5, for: 90),
        through: [SceneParts.stop(10, 4), SceneParts.stop(6, 6)],
        speed: 1.1
      )
    )
    box.interval = .milliseconds(250)
    box.stillInterval = .seconds(4)
    box.bodyLoss = 8
    return box
  }

  private static var crate: Transmitter { doorwayTag("crate", 4, path: SceneParts.at(0.5, 0.5)) }

  private static var doorwayGateways: [Observer] {
    [(5.0, 6.0), (15.0, 2.0)].enumerated().map { index, place in
      Observer(
        id: SceneParts.gateway(UInt64(0x21 + index)),
        sourceAddress: "10.40.0.\(21 + index)",
        path: SceneParts.at(place.0, place.1),
        batchPeriod: .milliseconds(250),
        scan: Observer.Scan(interval: .milliseconds(120), window: .milliseconds(90)),
        gain: index == 0 ? 0 : -2.5,
        noise: 1.5,
        sensitivity: -88,
        network: Network(
          jitter: .milliseconds(8),
          loss: 0.01,
          duplication: 0.005,
          reordering: 0.02,
          detour: .milliseconds(400)
        )
      )
    }
  }
}

extension Scene {
  private static let doorwayYAML = """
    # A hall and a store with a door between them; the gateways hear the tags only just.
    applications:
      - id: store
        regions:
          - { id: heard, subject: beacon, uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 20 }
          # By level, 7 dB of hysteresis between coming and going, and eight seconds of patience.
          - { id: by-hall, subject: beacon, observers: ["ac:23:3f:a0:00:21"], uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 20,
              enter: { rssi: -85 }, exit: { rssi: -92, dwell: 8s } }
          - { id: by-store, subject: beacon, observers: ["ac:23:3f:a0:00:22"], uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 20,
              enter: { rssi: -85 }, exit: { rssi: -92, dwell: 8s } }
          # Advertises every 4 s at rest: once heard, its silence says nothing.
          - { id: box, subject: beacon, uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 20, minor: 3,
              enter: { samples: 1 }, exit: { silence: never } }
    observers:
      - { id: "ac:23:3f:a0:00:21", name: hall }
      - { id: "ac:23:3f:a0:00:22", name: store, rssiOffset: 2.5, lag: 800ms }   # a weaker antenna, a slow network
    zones:
      - { id: hall, observers: ["ac:23:3f:a0:00:21"], adjacent: [store] }
      - { id: store, observers: ["ac:23:3f:a0:00:22"], adjacent: [hall] }

    """
}
