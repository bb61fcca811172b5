import PharosModel
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Air of a house")
struct IndoorAirTests {
  @Test("a noise field has mean 0, deviation 1, and is alike within its length")
  func noise() {
    let field = NoiseField(seed: 1, 2, length: 7)
    var values: [Double] = []
    var near: [Double] = []
    var far: [Double] = []
    for row in 0..<100 {
      for column in 0..<100 {
        let point = Point(x: Double(column) * 3.3, y: Double(row) * 3.3)
        let value = field.value(at: point)
        values.append(value)
        near.append(value * field.value(at: point + Point(x: 1, y: 0)))
        far.append(value * field.value(at: point + Point(x: 30, y: 0)))
      }
    }
    #expect(values.mean.magnitude < 0.06)
    #expect(abs(values.deviation - 1) < 0.04)
    #expect(near.mean > 0.9)
    #expect(far.mean.magnitude < 0.06)
    #expect(field.value(at: Point(x: 1e300, y: 0)) == 0)
  }

  @Test("distance, walls and floors take what they take", arguments: [(0, 0.0), (1, 15), (2, 25)])
  func loss(level: Int, floors: Double) throws {
    let radio = IndoorRadio(pathLossExponent: 2, shadowing: 0)
    let air = IndoorAir(in: SimulatedMall.venue(), radio: radio, storey: 4.5, seed: 1)
    // Straight up the hall: no wall between.
    let station = IndoorAir.Station(floor: SimulatedMall.floor(level), point: Point(x: 10, y: 20))
    let place = Journey.Place(
      floor: SimulatedMall.floor(0),
      point: Point(x: 18, y: 20),
      height: 0,
      isOutdoors: false,
      manner: .standing
    )
    let up = 4.5 * Double(level) + 1.5
    let distance = (64 + up * up).squareRoot()
    let loss = try #require(air.loss(between: station, number: 3, and: place))
    #expect(abs(loss - (20 * RadioMath.decadicLog(distance) + floors)) < 1e-9)
    // In the shop behind a front: 3 dB more on its own floor.
    var shop = place
    shop.point = Point(x: 12, y: 10)
    let walls = level == 0 ? 3.0 : 0
    let there = try #require(air.loss(between: station, number: 3, and: shop))
    let way = (104 + up * up).squareRoot()
    #expect(abs(there - (20 * RadioMath.decadicLog(way) + floors + walls)) < 1e-9)
  }

  @Test("shadows hold at a place, differ from place to place and from station to station")
  func shadows() throws {
    let radio = IndoorRadio(
      pathLossExponent: 0,
      floorLoss: 0,
      furtherFloorLoss: 0,
      shadowing: 4,
      shadowLength: 7
    )
    let air = IndoorAir(in: Venue(identifier: "empty"), radio: radio, seed: 4)
    let station = IndoorAir.Station(floor: FloorID(building: "a", level: 0), point: .origin)
    var losses: [Double] = []
    for step in 0..<4_000 {
      let place = Journey.Place(
        floor: station.floor,
        point: Point(x: Double(step) * 5, y: 3),
        height: 0,
        isOutdoors: false,
        manner: .walking
      )
      let loss = try #require(air.loss(between: station, number: 1, and: place))
      #expect(loss == air.loss(between: station, number: 1, and: place))
      losses.append(loss)
    }
    #expect(losses.mean.magnitude < 0.3)
    #expect(abs(losses.deviation - 4) < 0.3)
    let elsewhere = Journey.Place(
      floor: FloorID(building: "b", level: 0),
      point: .origin,
      height: 0,
      isOutdoors: false,
      manner: .standing
    )
    #expect(air.loss(between: station, number: 1, and: elsewhere) == nil)
  }

  @Test("adverts are those of the whole time, however it is cut")
  func rhythm() {
    let rhythm = AdvertRhythm(interval: .milliseconds(300), seed: 9, number: 2)
    let whole = rhythm.times(from: .zero, until: .seconds(60))
    let parts = (0..<240).flatMap {
      rhythm.times(from: .milliseconds(250 * $0), until: .milliseconds(250 * $0 + 250))
    }
    #expect(whole == parts)
    #expect((199...201).contains(whole.count))
    for (one, next) in zip(whole, whole.dropFirst()) {
      #expect((next - one - .milliseconds(300)).milliseconds.magnitude <= 10)
    }
  }

  @Test("satellites are honest: 68 of 100 truths lie within the accuracy")
  func honestSatellites() throws {
    let venue = SimulatedMall.venue()
    let floor = SimulatedMall.floor(0)
    let place = Journey.Place(
      floor: floor,
      point: Point(x: -30, y: 20),
      height: 0,
      isOutdoors: true,
      manner: .standing
    )
    let plane = try #require(venue.floor(floor)?.plane)
    var within = 0
    for seed in 0..<2_000 {
      let sky = SkyView(venue: venue, handset: .name("h"), seed: UInt64(seed))
      let fix = try #require(sky.fix(of: place, speed: 0, at: .seconds(Double(seed % 97))))
      let coordinate = try #require(Coordinate(latitude: fix.latitude, longitude: fix.longitude))
      let point = try #require(plane.point(of: coordinate))
      if point.distance(to: place.point) <= fix.horizontalAccuracy.value { within += 1 }
    }
    #expect(abs(Double(within) / 2_000 - 0.68) < 0.04)
  }

  @Test("a tag's frame decodes to its identity")
  func frames() {
    let address = DeviceAddress(bits: 0xC0FF_EE00_1234, kind: .random)
    let shared = BeaconID.proximity(SceneParts.places, major: 0, minor: 0).keyed(by: address)
    #expect(AirFrame(shared, power: -59).address == address)
    #expect(AirFrame(.address(address), power: -59).address == address)
    let one = AirFrame(.proximity(SceneParts.places, major: 1, minor: 2), power: -59)
    let other = AirFrame(.proximity(SceneParts.places, major: 1, minor: 3), power: -59)
    #expect(one.address != other.address)
    #expect(!one.address.isPrivate)
  }
}
