import PharosModel
import PharosSpace

extension Scene {
  /// Two hundred tags in a hall of 100 by 50 metres under ten gateways, for one minute.
  ///
  /// Each tag advertises once a second; most lie still, every third is carried from bay to bay. The network loses,
  /// repeats and reorders a little, and one gateway restarts.
  package static let busyHall = Scene(
    name: "busy-hall",
    summary: "200 tags under 10 gateways in five bays: load, zones, and a network that is not perfect",
    duration: .seconds(60),
    walls: Walls(
      (1...4).flatMap { SceneParts.doorwayWall(x: 20 * Double($0), from: 0, to: 50, attenuation: 3) }
    ),
    areas: (0..<5).map { SceneParts.area("bay \($0 + 1)", 20 * Double($0), 0, 20 * Double($0 + 1), 50) },
    transmitters: hallTags,
    observers: hallGateways,
    radio: Radio(pathLossExponent: 2.8, riceFactor: 3),
    siteYAML: hallYAML
  )

  /// The tags and their paths, drawn once from a separate stream, so that the scene is the same for every seed.
  private static var hallTags: [Transmitter] {
    var random = RandomStream(seed: 2_026)
    func place() -> Path.Stop { SceneParts.stop(random.uniform(1, 99), random.uniform(1, 49)) }
    return (1...200).map { number in
      let home = place()
      let path =
        number % 3 == 0
        ? Path(
          from: Path.Stop(home.point, dwell: .seconds(random.uniform(2, 20))),
          through: [Path.Stop(place().point, dwell: .seconds(random.uniform(2, 10))), place()],
          speed: random.uniform(0.8, 1.8)
        ) : Path(at: home.point)
      return SceneParts.iBeacon(
        "tag \(number)",
        SceneParts.tags,
        UInt16(30 + number % 2),
        UInt16(number),
        path: path,
        power: -62,
        interval: .seconds(1)
      )
    }
  }

  private static var hallGateways: [Observer] { (0..<10).map { hallGateway($0) } }

  private static func hallGateway(_ index: Int) -> Observer {
    let bay = Double(index / 2)
    let isSouth = index.isMultiple(of: 2)
    return Observer(
      id: SceneParts.gateway(UInt64(0x51 + index)),
      sourceAddress: "10.50.0.\(51 + index)",
      path: SceneParts.at(10 + 20 * bay, isSouth ? 12.5 : 37.5),
      batchPeriod: .milliseconds(320),
      noise: 1,
      sensitivity: -94,
      clockDrift: Double(index * 9 - 40),
      network: Network(loss: 0.005, duplication: 0.003, reordering: 0.01),
      faults: index == 4 ? [.restart(at: .seconds(30))] : []
    )
  }
}

extension Scene {
  private static let hallYAML = """
    # A hall of five bays, two gateways in each, one to the south and one to the north.
    applications:
      - id: logistics
        regions:
          - { id: hall, subject: beacon, uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21 }
          # Every second tag, and only under the five northern gateways.
          - { id: north-side, subject: beacon, uuid: 7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21, major: 31, exit: { silence: 8s },
              observers: ["ac:23:3f:a0:00:52", "ac:23:3f:a0:00:54", "ac:23:3f:a0:00:56", "ac:23:3f:a0:00:58", "ac:23:3f:a0:00:5a"] }
    observers:
      - { id: "ac:23:3f:a0:00:51", name: bay 1 south }
      - { id: "ac:23:3f:a0:00:52", name: bay 1 north }
      - { id: "ac:23:3f:a0:00:53", name: bay 2 south }
      - { id: "ac:23:3f:a0:00:54", name: bay 2 north }
      - { id: "ac:23:3f:a0:00:55", name: bay 3 south }
      - { id: "ac:23:3f:a0:00:56", name: bay 3 north }
      - { id: "ac:23:3f:a0:00:57", name: bay 4 south }
      - { id: "ac:23:3f:a0:00:58", name: bay 4 north }
      - { id: "ac:23:3f:a0:00:59", name: bay 5 south }
      - { id: "ac:23:3f:a0:00:5a", name: bay 5 north }
    zones:                                       # a tag goes from bay to bay, never through two walls at once
      - { id: bay-1, observers: ["ac:23:3f:a0:00:51", "ac:23:3f:a0:00:52"], adjacent: [bay-2] }
      - { id: bay-2, observers: ["ac:23:3f:a0:00:53", "ac:23:3f:a0:00:54"], adjacent: [bay-1, bay-3] }
      - { id: bay-3, observers: ["ac:23:3f:a0:00:55", "ac:23:3f:a0:00:56"], adjacent: [bay-2, bay-4] }
      - { id: bay-4, observers: ["ac:23:3f:a0:00:57", "ac:23:3f:a0:00:58"], adjacent: [bay-3, bay-5] }
      - { id: bay-5, observers: ["ac:23:3f:a0:00:59", "ac:23:3f:a0:00:5a"], adjacent: [bay-4] }

    """
}
