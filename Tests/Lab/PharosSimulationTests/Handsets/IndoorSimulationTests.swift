import PharosDocuments
import PharosModel
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Indoor scenes")
struct IndoorSimulationTests {
  static let planner = JourneyPlanner(venue: SimulatedMall.venue(), storey: SimulatedMall.storey)

  static func handset(_ name: String, seed: UInt64 = 1) throws -> Handset {
    let journey = try planner.tour(seed: seed, on: SimulatedMall.floor(0), lasting: .minutes(3))
    return Handset(id: .name(name), journey: journey, sourceAddress: "192.0.2.7")
  }

  static func scene(_ handsets: [Handset], seconds: Double = 60) -> IndoorScene {
    IndoorScene(name: "mall", duration: .seconds(seconds), venue: SimulatedMall.venue(), handsets: handsets)
  }

  static func datagrams(_ scene: IndoorScene, seed: UInt64 = 1) throws -> [SimulatedDatagram] {
    try IndoorSimulation(scene, seed: seed).compactMap {
      if case .datagram(let datagram) = $0 { datagram } else { nil }
    }
  }

  /// Returns the Wi-Fi scans of a handset: the time of each report, in seconds, and what it lists.
  static func scans(
    _ handset: Handset,
    seconds: Double,
    seed: UInt64 = 1
  ) throws -> [(time: Double, list: [AccessPoint])] {
    let scene = scene([handset], seconds: seconds)
    return try datagrams(scene, seed: seed).flatMap { datagram in
      datagram.reports.reports.compactMap { report in
        guard case .wifiScan(let range) = report.body, case .age(let age) = report.timing else { return nil }
        let list = datagram.reports.accessPoints[Int(range.lowerBound)..<Int(range.upperBound)]
        return ((report.received - age - scene.start).seconds, Array(list))
      }
    }
  }

  @Test("the same seed gives the same items, another seed others, all in order of time")
  func determinism() throws {
    let scene = Self.scene([try Self.handset("one"), try Self.handset("two", seed: 2)], seconds: 20)
    let items = Array(try IndoorSimulation(scene, seed: 1))
    #expect(items == Array(try IndoorSimulation(scene, seed: 1)))
    #expect(items != Array(try IndoorSimulation(scene, seed: 2)))
    for (one, next) in zip(items, items.dropFirst()) { #expect(one.time <= next.time) }
  }

  @Test("one more handset changes nothing for the others")
  func independence() throws {
    let one = try Self.handset("one")
    let alone = try Self.datagrams(Self.scene([one], seconds: 20))
    let together = try Self.datagrams(Self.scene([one, try Self.handset("two", seed: 2)], seconds: 20))
    #expect(alone == together.filter { $0.observer == one.id })
  }

  @Test("reports fit datagrams, and their numbers count up")
  func datagramSizes() throws {
    let datagrams = try Self.datagrams(Self.scene([try Self.handset("one")], seconds: 30))
    #expect(datagrams.map(\.head.sequence) == Array(0..<UInt32(datagrams.count)))
    for datagram in datagrams {
      let reports = datagram.reports
      let bytes =
        reports.motionSamples.count * 17 + reports.accessPoints.count * 13 + reports.payloads.count
        + reports.reports.count * 25
      #expect(bytes < 1_300)
    }
  }

  @Test("a scan repeats what it heard before, with its age, until it is forgotten")
  func cachedScans() throws {
    let scans = try Self.scans(try Self.handset("one"), seconds: 120)
    #expect((58...61).contains(scans.count))
    let ages = scans.flatMap { $0.list.map(\.lastHeard.seconds) }
    #expect(ages.allSatisfy { (0...30).contains($0) })
    // In the median a scan or two old, some much older.
    let sorted = ages.sorted()
    #expect((0.3...5).contains(sorted[sorted.count / 2]))
    #expect(sorted[sorted.count * 9 / 10] > 4)
    // A repeated entry names the very time of its first appearance.
    var heard: [DeviceAddress: Set<Int>] = [:]
    var repeats = 0
    for (time, list) in scans {
      for point in list {
        let moment = Int(((time - point.lastHeard.seconds) * 1_000).rounded())
        let known = heard[point.bssid, default: []]
        if known.contains(where: { abs($0 - moment) <= 1 }) { repeats += 1 }
        heard[point.bssid, default: []].insert(moment)
      }
    }
    #expect(repeats > ages.count / 5)
  }

  @Test("throttled handsets scan twice a minute, others never")
  func throttled() throws {
    var handset = try Self.handset("one")
    handset.wiFi = Handset.WiFiScans(period: .seconds(30), hearing: 0.9)
    let scans = try Self.scans(handset, seconds: 120)
    #expect(scans.count == 4)
    for (one, next) in zip(scans, scans.dropFirst()) { #expect(abs(next.time - one.time - 30) < 0.002) }
    handset.wiFi = nil
    #expect(try Self.scans(handset, seconds: 60).isEmpty)
  }

  @Test("levels tell the floor: what hangs on one's own is louder")
  func floorsInLevels() throws {
    let journey = try Self.planner.journey(
      on: SimulatedMall.floor(1),
      from: Point(x: 30, y: 20),
      [.walk(to: Point(x: 31, y: 20))]
    )
    let handset = Handset(id: .name("one"), journey: journey)
    let scans = try Self.scans(handset, seconds: 40)
    var levels: [Int: [Double]] = [:]
    for point in scans.flatMap(\.list) {
      levels[Int(point.bssid.bits >> 12 & 0xF), default: []].append(Double(point.rssi?.dBm ?? -127))
    }
    let own = try #require(levels[1]).mean
    #expect(own > (levels[0] ?? [-99]).mean + 4)
    #expect(own > (levels[2] ?? [-99]).mean + 4)
  }

  @Test("access points that were moved are heard where they are")
  func moved() throws {
    let journey = try Self.planner.journey(
      on: SimulatedMall.floor(0),
      from: Point(x: 7, y: 19),
      [.walk(to: Point(x: 7, y: 21))]
    )
    let handset = Handset(id: .name("one"), journey: journey)
    let bssid = DeviceAddress(bits: 0x0200_5E00_0000, kind: .unknown)
    func level(_ scene: IndoorScene) throws -> Double {
      let lists = try Self.datagrams(scene).flatMap(\.reports.accessPoints).filter { $0.bssid == bssid }
      return lists.isEmpty ? -100 : lists.map { Double($0.rssi?.dBm ?? -127) }.mean
    }
    var scene = Self.scene([handset], seconds: 20)
    let before = try level(scene)
    scene.moved[bssid] = IndoorAir.Station(floor: SimulatedMall.floor(0), point: Point(x: 55, y: 35))
    #expect(try level(scene) < before - 15)
  }

  @Test("ranged beacons come once a period with their mean level, adverts one by one")
  func beacons() throws {
    var handset = try Self.handset("one")
    let adverts = try Self.datagrams(Self.scene([handset], seconds: 20)).flatMap(\.reports.reports).filter {
      if case .advert = $0.body { true } else { false }
    }
    #expect(adverts.count > 200)
    handset.beacons = .ranged
    handset.period = .seconds(1)
    let reports = try Self.datagrams(Self.scene([handset], seconds: 20)).flatMap(\.reports.reports)
    let ranged = reports.compactMap { if case .rangedBeacon(let beacon) = $0.body { beacon } else { nil } }
    #expect(ranged.count > 60)
    #expect(reports.allSatisfy { if case .advert = $0.body { false } else { true } })
    handset.beacons = .none
    let silent = try Self.datagrams(Self.scene([handset], seconds: 20)).flatMap(\.reports.reports)
    #expect(silent.allSatisfy { if case .rangedBeacon = $0.body { false } else { true } })
  }

  @Test("satellites are good outdoors, spoilt behind a door, gone deep inside")
  func satellites() throws {
    let journey = try Self.planner.journey(
      on: SimulatedMall.floor(0),
      from: Point(x: -20, y: 20),
      isOutdoors: true,
      [
        .stay(.seconds(10)), .enter(through: SimulatedMall.westDoor), .walk(to: Point(x: 30, y: 20)),
        .stay(.seconds(20)),
      ]
    )
    let handset = Handset(
      id: .name("one"),
      journey: journey,
      motion: .none,
      wiFi: nil,
      beacons: .none,
      hasSatellites: true
    )
    let scene = Self.scene([handset], seconds: journey.duration.seconds)
    let plane = try #require(scene.venue.floor(SimulatedMall.floor(0))?.plane)
    var accuracies: [Double] = []
    for datagram in try Self.datagrams(scene) {
      for report in datagram.reports.reports {
        guard case .outsideFix(let fix) = report.body, case .age(let age) = report.timing else { continue }
        let place = journey.place(at: report.received - age - scene.start)
        let coordinate = try #require(Coordinate(latitude: fix.latitude, longitude: fix.longitude))
        let point = try #require(plane.point(of: coordinate))
        #expect(point.distance(to: place.point) < 4 * fix.horizontalAccuracy.value)
        if place.isOutdoors {
          #expect(fix.horizontalAccuracy.value == 4)
        } else {
          #expect(place.point.x < 13)
        }
        accuracies.append(fix.horizontalAccuracy.value)
      }
    }
    // 26 s until the door, ten seconds more until there are none.
    #expect((30...38).contains(accuracies.count))
    #expect((accuracies.last ?? 0) > 30)
  }

  @Test("observers hear a tag loudest where it is")
  func tags() throws {
    let venue = SimulatedMall.venue(hasObservers: true)
    let journey = try Self.planner.journey(
      on: SimulatedMall.floor(2),
      from: Point(x: 51, y: 21),
      [.walk(to: Point(x: 53, y: 19)), .stay(.minutes(1))]
    )
    let beacon = BeaconID.proximity(UUID128(high: 1, low: 2), major: 3, minor: 4)
    let scene = IndoorScene(
      name: "tags",
      duration: .seconds(30),
      venue: venue,
      tags: [CarriedTag(beacon: beacon, journey: journey)]
    )
    var levels: [ObserverID: [Double]] = [:]
    for datagram in try Self.datagrams(scene) {
      for report in datagram.reports.reports {
        guard case .advert(let advert) = report.body, let rssi = advert.rssi else { continue }
        levels[datagram.observer, default: []].append(Double(rssi.dBm))
      }
    }
    let floor = try #require(venue.floor(SimulatedMall.floor(2)))
    let nearest = try #require(
      floor.observers.min {
        $0.point.distance(to: Point(x: 52, y: 20)) < $1.point.distance(to: Point(x: 52, y: 20))
      }
    )
    let loudest = levels.max { $0.value.mean < $1.value.mean }?.key
    #expect(loudest == nearest.observer)
    #expect(levels.count > 4)
  }

  @Test("the truth is written five times a second for all handsets, with the coordinate")
  func truth() throws {
    let scene = Self.scene([try Self.handset("one"), try Self.handset("two", seed: 2)], seconds: 10)
    let truths = try IndoorSimulation(scene, seed: 1).compactMap { item -> IndoorTruth? in
      if case .truth(let truth) = item { truth } else { nil }
    }
    #expect(truths.count == 2 * 51)
    for truth in truths {
      let plane = try #require(scene.venue.floor(truth.place.floor)?.plane)
      let coordinate = try #require(truth.coordinate)
      let point = try #require(plane.point(of: coordinate))
      #expect(point.distance(to: truth.place.point) < 1e-3)
    }
    var json = JSONText()
    truths[0].write(to: &json)
    let text = String(decoding: json.utf8, as: UTF8.self)
    #expect(text.hasPrefix(#"{"time":"2026-01-01T09:00:00"#))
    #expect(text.contains(#""subject":"one""#), "\(text)")
    #expect(text.contains(#""building":"mall","level":0,"#))
  }

  @Test("a scene that cannot be played says why")
  func mistakes() throws {
    var handset = try Self.handset("one")
    handset.period = .zero
    var scene = Self.scene([handset, handset], seconds: 0)
    scene.tags = [
      CarriedTag(beacon: .proximity(UUID128(high: 1, low: 2), major: 3, minor: 4), journey: handset.journey)
    ]
    let error = #expect(throws: InvalidScene.self) { try IndoorSimulation(scene, seed: 1) }
    let text = error?.description ?? ""
    for part in ["duration", "occurs twice", "period: must be longer", "no observer to hear"] {
      #expect(text.contains(part), "\(text)")
    }
  }
}
