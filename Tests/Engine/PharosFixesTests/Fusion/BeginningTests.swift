import PharosFixes
import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Where a belief begins")
struct BeginningTests {
  private static let time = Timestamp(seconds: 1_750_000_000)

  private static func address(_ floor: Int, _ number: Int) -> DeviceAddress {
    DeviceAddress(bits: UInt64(floor * 100 + number + 1) << 32 | 0x1234, kind: .public)
  }

  /// A house of three floors of 60 by 24 m, ten access points on each.
  private static func ground(_ random: inout SeededGenerator) throws -> LocatableVenue {
    let origin = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    let floors = (0..<3).map { level in
      Floor(
        level: level,
        plane: .ground(GroundPlane(origin: origin)),
        walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 60, y: 24)))],
        accessPoints: (0..<10).map { number in
          let place = Point(x: .random(in: 0...60, using: &random), y: .random(in: 0...24, using: &random))
          return PlacedAccessPoint(address(level, number), at: place)
        }
      )
    }
    return LocatableVenue(
      venue: Venue(identifier: "house", buildings: [Building(identifier: "main", floors: floors)])
    )
  }

  /// A field of three floors and any heights, some floors far below the others.
  private static func field(on ground: LocatableVenue, _ random: inout SeededGenerator) -> VenueField {
    var field = VenueField(
      values: ground.radio.grids.map { grid in
        let base = Float.random(in: -60...0, using: &random)
        return (0..<grid.count).map { _ in base + .random(in: -40...0, using: &random) }
      }
    )
    field.findBest()
    return field
  }

  @Test("Shares are what exponentials come to", arguments: Seeds.fixed(1..<21 as Range<UInt64>))
  func shares(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let field = Self.field(on: try Self.ground(&random), &random)
    let shares = VenueShares(field)
    var total = 0.0
    for (values, reported) in zip(field.values, shares.values) {
      #expect(values.count == reported.count)
      for (value, share) in zip(values, reported) {
        let plain = RadioMath.exponential(Double(value - field.best))
        total += plain
        // Beyond 25 nats, a hundred thousand millionth, nothing.
        #expect(abs(Double(share) - plain) < 1e-6 * plain + 2e-11)
      }
    }
    #expect(abs(Double(shares.total) / total - 1) < 1e-4)
    let evidence = Double(field.best) + RadioMath.naturalLog(total)
    #expect(abs(Double(shares.evidence) - evidence) < 1e-3)
  }

  @Test("Without any place there is nothing to draw from")
  func nowhere() throws {
    var random = SeededGenerator(seed: 1)
    var locator = Locator(ground: try Self.ground(&random), seed: 1)
    for field in [VenueField(), VenueField(values: [[], [], []])] {
      let shares = VenueShares(field)
      #expect(shares.total == 0)
      #expect(shares.evidence == -.infinity)
      #expect(locator.draw(10, from: shares).isEmpty)
    }
  }

  @Test("With a map of floors that the venue does not have no subject is located, and nothing else happens")
  func foreignMap() throws {
    var random = SeededGenerator(seed: 1)
    let house = try Self.ground(&random)
    let other = Venue(
      identifier: "other",
      buildings: [Building(identifier: "elsewhere", floors: house.venue.floors.map(\.floor))]
    )
    var locator = Locator(ground: LocatableVenue(venue: other, radio: house.radio), seed: 1)
    for second in 0..<30 {
      let time = Self.time + .seconds(Double(second))
      let points = (0..<10).map { number in
        AccessPoint(bssid: Self.address(1, number), rssi: RSSI(dBm: -60), frequency: 2_412, lastHeard: .zero)
      }
      locator.receive(
        Sensing(
          observer: .name("phone"),
          time: time,
          decidedAt: time,
          ordinal: 0,
          body: .accessPoints(points)
        )
      )
      locator.advance(to: time + .seconds(1))
      #expect(locator.nextFix() == nil)
    }
  }

  @Test("Places are drawn as often as they are probable", arguments: Seeds.fixed(1..<21 as Range<UInt64>))
  func draws(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let ground = try Self.ground(&random)
    var locator = Locator(ground: ground, seed: seed)
    var field = Self.field(on: ground, &random)
    for (radio, grid) in ground.radio.grids.enumerated() {
      for index in 0..<grid.count where !Self.isInside(grid, index) { field.values[radio][index] = -1_000 }
    }
    field.findBest()
    let shares = VenueShares(field)
    let count = 500
    var found = shares.values.map { [Int](repeating: 0, count: $0.count) }
    for place in locator.draw(count, from: shares) {
      let radio = try #require(ground.radio.floors.firstIndex(of: ground.content.floors[place.floor].id))
      let point = Point(x: Double(place.east), y: Double(place.north))
      found[radio][try #require(ground.radio.grids[radio].index(of: point))] += 1
    }
    #expect(found.joined().reduce(0, +) == count)
    for (share, number) in zip(shares.values.joined(), found.joined()) {
      // Even draws meet a cell as often as they fit into it, or once more; rounding may move one across its border.
      #expect(abs(Float(number) - share / shares.total * Float(count)) < 2)
    }
  }

  /// Whether the middle of a cell lies in the house.
  private static func isInside(_ grid: RadioGrid, _ index: Int) -> Bool {
    let middle = grid.middle(column: index % grid.columns, row: index / grid.columns)
    return (0...60).contains(middle.x) && (0...24).contains(middle.y)
  }

  @Test("a particle drawn beside the floor moves to its nearest point")
  func besideTheFloor() throws {
    var random = SeededGenerator(seed: 1)
    let ground = try Self.ground(&random)
    var locator = Locator(ground: ground, seed: 1)
    let grid = ground.radio.grids[0]
    let cell = try #require(grid.index(of: Point(x: 30.5, y: 26.5)))
    var field = VenueField(values: ground.radio.grids.map { [Float](repeating: -1_000, count: $0.count) })
    field.values[0][cell] = 0
    field.findBest()
    let places = locator.draw(50, from: VenueShares(field))
    #expect(places.count == 50)
    #expect(places.allSatisfy { (29...32).contains($0.east) && (23.9...24).contains($0.north) })
  }

  @Test(
    "A floor that is left out would have counted for nothing, however loud the subject hears",
    arguments: Seeds.fixed(1..<13 as Range<UInt64>)
  )
  func floorsLeftOut(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let ground = try Self.ground(&random)
    let locator = Locator(ground: ground, seed: seed)
    let here = Point(x: .random(in: 5...55, using: &random), y: .random(in: 5...19, using: &random))
    let readings = (0..<10).compactMap { number -> RadioReading? in
      guard let emitter = ground.radio.emitter(.accessPoint(Self.address(1, number))),
        let expected = ground.radio.prediction(of: emitter, floor: 1, at: here)
      else { return nil }
      let level = expected.level + .random(in: -6...6, using: &random)
      return RadioReading(heard: Self.time, emitter: emitter, level: level, kind: .accessPoint)
    }
    let worths = readings.map { _ in Float.random(in: 8...16, using: &random) }
    let trials = locator.offset.trials
    let middle = try #require(trials.indices.max { trials[$0].prior < trials[$1].prior })
    func field(_ trial: Int, on floors: [Bool]?) -> VenueField {
      locator.everywhere(
        readings,
        worths,
        from: locator.priors(nil),
        on: floors,
        louder: trials[trial].decibels,
        at: Self.time
      )
    }
    let likely = field(middle, on: nil).likelyFloors
    // So heavily weighed that a floor falls behind: else nothing would be left out here.
    #expect(likely.contains(true) && likely.contains(false))
    for trial in trials.indices {
      let whole = field(trial, on: nil)
      let part = field(trial, on: likely)
      let shares = VenueShares(whole)
      #expect(part.best == whole.best)
      for floor in likely.indices {
        #expect(part.values[floor] == (likely[floor] ? whole.values[floor] : []))
        if !likely[floor] { #expect(shares.values[floor].allSatisfy { $0 == 0 }) }
      }
    }
  }

  @Test("A floor is in question down to 40 nats behind the best place")
  func inQuestion() {
    var field = VenueField(values: [[-300, -7], [-46.9, -90], [-47.1], []])
    field.findBest()
    #expect(field.likelyFloors == [true, true, false, false])
  }

  /// A belief of some particles on the ground floor, and others on the next one.
  private static func believe(_ locator: inout Locator, _ lower: Int, _ upper: Int) {
    locator.cloud.removeAll()
    for number in 0..<lower + upper {
      locator.cloud.append(east: 5, north: 5, bias: 0, scale: 1, floor: number < lower ? 0 : 1)
    }
  }

  @Test("A fix keeps to its floor until another one is twice as probable")
  func floorIsKept() throws {
    var random = SeededGenerator(seed: 1)
    var locator = Locator(ground: try Self.ground(&random), seed: 1)
    func reported(_ lower: Int, _ upper: Int) -> Int? {
      Self.believe(&locator, lower, upper)
      return locator.estimate(at: Self.time)?.floor?.level
    }
    #expect(reported(6, 4) == 0)
    #expect(reported(4, 6) == 0)
    #expect(reported(34, 66) == 0)
    #expect(reported(33, 67) == 1)
    #expect(reported(60, 40) == 1)
    #expect(reported(70, 30) == 0)
  }
}
