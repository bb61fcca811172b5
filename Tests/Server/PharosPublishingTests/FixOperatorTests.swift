import OpenCombine
import PharosFixes
import PharosModel
import PharosPublishing
import PharosSpace
import Testing

/// The server's own way from sensings to fixes, built by a client.
@Suite("The fixes operator", .timeLimit(.minutes(20)))
struct FixOperatorTests {
  private static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  private static let places = (0..<4).flatMap { row in
    (0..<3).map { column in Point(x: 4 + 10 * Double(row), y: 4 + 6 * Double(column)) }
  }

  private func ground() throws -> LocatableVenue {
    let origin = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    let hall = Area(name: "Hall", outline: Polygon(rectangleFrom: Point(x: 0, y: 0), to: Point(x: 40, y: 20)))
    let floor = Floor(
      level: 0,
      names: ["Ground floor"],
      plane: .ground(GroundPlane(origin: origin)),
      walkable: [hall],
      beacons: Self.places.indices.map { PlacedBeacon(beacon($0), at: Self.places[$0]) }
    )
    let building = Building(identifier: "main", floors: [floor])
    return LocatableVenue(venue: Venue(identifier: "museum", buildings: [building]))
  }

  private func beacon(_ number: Int) -> BeaconID { .proximity(Self.uuid, major: 1, minor: UInt16(number)) }

  /// What a handset hears that stands somewhere, for so many seconds: every beacon within 15 m twice a second.
  private func sensings(_ name: String, at place: Point, seconds: Int) -> [Sensing] {
    var ordinal: UInt64 = 0
    return (0..<2 * seconds).flatMap { half -> [Sensing] in
      let time = Timestamp(seconds: 1_700_000_000) + .milliseconds(500 * Int64(half))
      return Self.places.indices.compactMap { number in
        let distance = max(1, place.distance(to: Self.places[number]))
        guard distance < 15 else { return nil }
        ordinal += 1
        // Log-distance with exponent 2 from −59 dBm at 1 m, in steps of 6 dB a doubling: good enough to be near it.
        var (level, reach) = (-59.0, 1.0)
        while reach * 1.122 < distance {
          reach *= 1.122
          level -= 1
        }
        return Sensing(
          observer: .name(name),
          time: time,
          decidedAt: time + .milliseconds(20),
          ordinal: ordinal,
          body: .beacon(beacon(number), address: nil, rssi: RSSI(dBm: Int8(level)), accuracy: nil)
        )
      }
    }
  }

  /// The fixes that the server's stage makes of the same sensings.
  private func expected(_ sensings: [Sensing], _ ground: LocatableVenue, patience: TimeSpan) -> [Fix] {
    var locators = Locators(venues: [ground], site: Site(), limit: 100)
    var events: [Event] = []
    var watermark = Timestamp.distantPast
    for sensing in sensings {
      if sensing.decidedAt > watermark {
        watermark = sensing.decidedAt
        locators.advance(to: watermark - .oneNanosecond, into: &events)
      }
      locators.receive(sensing, into: &events)
    }
    locators.advance(to: watermark + patience, into: &events)
    return events.compactMap { Fix($0) }
  }

  @Test("a user's own pipeline makes the very fixes of the server, one a second and near the truth")
  func same() async throws {
    let (ground, hub) = (try ground(), EventHub())
    let truth = Point(x: 15, y: 11)
    let sensings = sensings("visitor", at: truth, seconds: 20)
    let fixes = hub.sensings.fixes(in: ground).buffering(1_000).sequence
    for sensing in sensings { hub.publish(sensings: [sensing]) }
    hub.finish()
    let made = await collect(fixes)
    #expect(made == expected(sensings, ground, patience: .seconds(2)))
    #expect(made.count >= 15)
    for (earlier, later) in zip(made, made.dropFirst()) {
      #expect(later.time - earlier.time >= .milliseconds(999))
    }
    let last = try #require(made.last)
    #expect(last.detail.venue == "museum")
    #expect(last.detail.building == "main")
    #expect(last.detail.sources.contains(.beacons))
    #expect(Point(x: last.detail.x, y: last.detail.y).distance(to: truth) < 8)
  }

  @Test("merged streams of scans, motion and rangings are located together")
  func merged() async throws {
    let (ground, hub) = (try ground(), EventHub())
    let merged = hub.heardBeacons.merge(with: hub.wifiScans, hub.motion).fixes(in: ground).sequence
    let (one, other) = (Point(x: 5, y: 5), Point(x: 35, y: 15))
    let both = sensings("one", at: one, seconds: 8) + sensings("other", at: other, seconds: 8)
    for sensing in both.sorted(by: { $0.decidedAt < $1.decidedAt }) { hub.publish(sensings: [sensing]) }
    hub.finish()
    let made = await collect(merged)
    // The newest of each alone waits for who does not take them.
    let last = Dictionary(made.map { ($0.subject, $0) }, uniquingKeysWith: { $1 })
    #expect(Set(last.keys) == [.observer(.name("one")), .observer(.name("other"))])
    for (name, truth) in [("one", one), ("other", other)] {
      let fix = try #require(last[.observer(.name(name))])
      #expect(Point(x: fix.detail.x, y: fix.detail.y).distance(to: truth) < 8, "\(name)")
    }
  }

  @Test("ranged beacons are enough for a fix")
  func ranged() async throws {
    let (ground, hub) = (try ground(), EventHub())
    let fixes = hub.rangings().fixes(in: ground).sequence
    for second in 0..<10 {
      let readings = [4, 5, 1].map { number in
        RangedReading(
          beacon: beacon(number),
          rssi: number == 4 ? -62 : -75,
          accuracy: number == 4 ? 1.5 : 6,
          deviation: 1,
          proximity: .near,
          samples: 4
        )
      }
      let silent = RangedReading(
        beacon: beacon(11),
        rssi: 0,
        accuracy: -1,
        deviation: -1,
        proximity: .unknown,
        samples: 0
      )
      hub.publish([
        Event(
          stream: "test",
          kind: .ranging,
          time: Timestamp(seconds: 1_700_000_000 + Int64(second)),
          decidedAt: Timestamp(seconds: 1_700_000_000 + Int64(second)),
          stage: 1,
          subject: .observer(.name("visitor")),
          application: "default",
          counter: UInt64(second),
          detail: .ranging(constraint: .proximity(Self.uuid), beacons: readings + [silent])
        )
      ])
    }
    hub.finish()
    let last = try #require(await collect(fixes).last)
    #expect(Point(x: last.detail.x, y: last.detail.y).distance(to: Self.places[4]) < 8)
  }

  @Test("demand is honoured, and no fix is made after a cancellation")
  func demand() async throws {
    let (ground, hub) = (try ground(), EventHub())
    let recorder = Recorder<Fix, Never>(initial: 1)
    hub.sensings.fixes(in: ground).buffering(100).subscribe(recorder)
    let sensings = sensings("visitor", at: Point(x: 15, y: 11), seconds: 10)
    for sensing in sensings.prefix(60) { hub.publish(sensings: [sensing]) }
    await recorder.wait { $0.elements.count == 1 }
    recorder.request(1)
    await recorder.wait { $0.elements.count == 2 }
    recorder.cancel()
    #expect(hub.subscriptionCount == 0)
    for sensing in sensings.dropFirst(60) { hub.publish(sensings: [sensing]) }
    hub.finish()
    #expect(recorder.elements.count == 2)
  }
}
