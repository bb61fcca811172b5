import PharosModel
import PharosSpace

extension Scene {
  /// A gateway loses its power for a minute, another its network, a third goes deaf; tags stay, move and leave.
  ///
  /// Three rooms with thick walls and closed doors, each heard by its own gateway alone. While the gateway of room B is down, its
  /// bed stays, its chair goes to room A, and its cart leaves the building. Only the pump leaves and comes back
  /// with all gateways alive.
  package static let gatewayOutage = Scene(
    name: "gateway-outage",
    summary: "three gateways fail in three ways while tags stay, move and leave: regions about beacons",
    duration: .seconds(270),
    walls: [
      Wall(from: Point(x: 12, y: 0), to: Point(x: 12, y: 8), attenuation: 12),
      Wall(from: Point(x: 24, y: 0), to: Point(x: 24, y: 8), attenuation: 12),
      SceneParts.wall(y: 0, from: 0, to: 36, attenuation: 12),
      SceneParts.wall(y: 8, from: 0, to: 36, attenuation: 12),
    ],
    areas: [
      SceneParts.area("room A", 0, 0, 12, 8),
      SceneParts.area("room B", 12, 0, 24, 8),
      SceneParts.area("room C", 24, 0, 36, 8),
    ],
    transmitters: wardTags,
    observers: wardGateways,
    radio: Radio(pathLossExponent: 2.4, shadowing: Radio.Shadowing(deviation: 2)),
    siteYAML: wardYAML
  )

  private static var wardTags: [Transmitter] {
    let away = SceneParts.stop(18, -80)
    let ways: [(name: String, path: Path)] = [
      (
        "pump",
        Path(
          from: SceneParts.stop(5, 2, for: 25),
          through: [SceneParts.stop(6, -80, for: 40), SceneParts.stop(5, 2)],
          speed: 1.6
        )
      ),
      ("bed", SceneParts.at(17, 5)),
      (
        "chair",
        Path(from: SceneParts.stop(19, 5, for: 75), through: [SceneParts.stop(7, 4)], speed: 0.9)
      ),
      ("cart", Path(from: SceneParts.stop(18, 2, for: 80), through: [away], speed: 1.4)),
      ("drip", SceneParts.at(31, 5)),
      ("lamp", SceneParts.at(4, 5)),
    ]
    return ways.enumerated().map { index, tag in
      SceneParts.iBeacon(
        tag.name,
        SceneParts.tags,
        10,
        UInt16(index + 1),
        path: tag.path,
        power: -62,
        interval: .seconds(1)
      )
    }
  }

  private static var wardGateways: [Observer] {
    let faults: [[Fault]] = [
      [Fault(.radio, from: .seconds(205), until: .seconds(225))],
      [Fault(.power, from: .seconds(60), until: .seconds(120))],
      [Fault(.network, from: .seconds(150), until: .seconds(175))],
    ]
    return faults.enumerated().map { index, faults in
      Observer(
        id: SceneParts.gateway(UInt64(index + 1)),
        sourceAddress: "10.30.0.\(11 + index)",
        path: SceneParts.at(6 + 12 * Double(index), 4),
        batchPeriod: .milliseconds([500, 1_000, 2_000][index]),
        sensitivity: -88,
        clockDrift: [0, 40, -25][index],
        network: Network(loss: 0.002),
        faults: faults
      )
    }
  }
}

extension Scene {
  private static let wardYAML = """
    # A ward of three rooms, a gateway in each: which tags are where, and what an outage must not claim.
    applications:
      - id: ward
        regions:
          # Inside while any gateway hears the tag; gone after the usual half minute.
          - { id: building, subject: beacon, uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 10, exit: { silence: 30s } }
          # Inside while the room's own gateway hears it; how long silence must last is learned.
          - { id: room-a, subject: beacon, observers: ["ac:23:3f:a0:00:01"], uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 10 }
          - { id: room-b, subject: beacon, observers: ["ac:23:3f:a0:00:02"], uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 10 }
          - { id: room-c, subject: beacon, observers: ["ac:23:3f:a0:00:03"], uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 10 }
    observers:
      - { id: "ac:23:3f:a0:00:01", name: room A }
      - { id: "ac:23:3f:a0:00:02", name: room B }
      - { id: "ac:23:3f:a0:00:03", name: room C, liveness: heartbeat }   # few tags: only heartbeats prove it alive
    beacons:
      - { uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 10, minor: 1, name: pump, measuredPower: -62, interval: 1s }
    zones:
      - { id: zone-a, observers: ["ac:23:3f:a0:00:01"], adjacent: [zone-b] }
      - { id: zone-b, observers: ["ac:23:3f:a0:00:02"], adjacent: [zone-a, zone-c] }
      - { id: zone-c, observers: ["ac:23:3f:a0:00:03"], adjacent: [zone-b] }

    """
}
