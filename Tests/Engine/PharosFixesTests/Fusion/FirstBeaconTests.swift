import PharosFixes
import PharosModel
import PharosSpace
import Testing

@Suite("Evidence of a first advert")
struct FirstBeaconTests {
  private static let start = Timestamp(seconds: 1_750_000_000)
  private static let places = [
    Point(x: 60, y: 60), Point(x: 150, y: 30), Point(x: 150, y: 100),
  ]

  private static func beacon(_ number: Int) -> BeaconID {
    .proximity(UUID128(high: 1, low: 2), major: 1, minor: UInt16(number))
  }

  /// A hall of 200 by 120 m with beacons that reach 36 m.
  private static func locator(_ change: (inout FusionRules) -> Void = { _ in }) throws -> Locator {
    let origin = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    let floor = Floor(
      level: 0,
      plane: .ground(GroundPlane(origin: origin)),
      walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 200, y: 120)))],
      beacons: places.enumerated().map { PlacedBeacon(beacon($0), at: $1) }
    )
    let venue = Venue(identifier: "hall", buildings: [Building(identifier: "main", floors: [floor])])
    var rules = FusionRules()
    change(&rules)
    return Locator(ground: LocatableVenue(venue: venue, rules: rules), seed: 7)
  }

  /// The fix two seconds after one faint advert of each of these beacons.
  private static func fix(hearing beacons: [Int], _ locator: Locator) -> FixEstimate? {
    var locator = locator
    for (ordinal, number) in beacons.enumerated() {
      let heard = Sensing.Body.beacon(beacon(number), address: nil, rssi: RSSI(dBm: -90), accuracy: nil)
      locator.receive(
        Sensing(
          observer: .name("phone"),
          time: start,
          decidedAt: start,
          ordinal: UInt64(ordinal),
          body: heard
        )
      )
    }
    locator.advance(to: start + .seconds(2))
    var last: FixEstimate?
    while let fix = locator.nextFix() { last = fix }
    return last
  }

  @Test("one faint advert places its hearer within the beacon's reach; how faint it is alone would not")
  func one() throws {
    let fix = try #require(Self.fix(hearing: [0], try Self.locator()))
    #expect(fix.point.distance(to: Self.places[0]) < 20)
    #expect(fix.horizontalAccuracy < 60)
    let vague = Self.fix(hearing: [0], try Self.locator { $0.beaconSurprise = 0 })
    #expect((vague?.horizontalAccuracy ?? .infinity) > 1.4 * fix.horizontalAccuracy)
  }

  @Test("each beacon counts once, many together at most the maximum, and none where there was a scan")
  func shares() throws {
    let locator = try Self.locator {
      $0.beaconSurprise = 4
      $0.maximumBeaconSurprise = 9
    }
    func reading(_ emitter: Int32, _ kind: RadioReading.Kind = .beacon) -> RadioReading {
      RadioReading(heard: Self.start, emitter: emitter, level: -90, kind: kind)
    }
    #expect(locator.surprises(of: [reading(0), reading(0), reading(1)]) == [4, 0, 4])
    #expect(locator.surprises(of: [reading(0), reading(1), reading(2)]) == [3, 3, 3])
    #expect(locator.surprises(of: [reading(0), reading(1, .accessPoint)]) == nil)
    #expect(locator.surprises(of: [reading(0, .observer)]) == nil)
    #expect(locator.surprises(of: []) == nil)
  }
}
