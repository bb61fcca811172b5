import Foundation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Coordinate")
struct CoordinateTests {
  @Test(
    "numbers outside the Earth make no coordinate",
    arguments: [(90.1, 0.0), (-91, 0), (0, 180.5), (0, -181), (.nan, 0), (0, .nan), (.infinity, 0)]
  )
  func refused(latitude: Double, longitude: Double) {
    #expect(Coordinate(latitude: latitude, longitude: longitude) == nil)
  }

  @Test("poles and the date line are places")
  func edges() {
    #expect(Coordinate(latitude: 90, longitude: 180) != nil)
    #expect(Coordinate(latitude: -90, longitude: -180) != nil)
  }

  @Test(
    "distances are those of published tables",
    arguments: [
      // A quarter of the equator, a quarter of a meridian, and Vincenty's own line from Flinders Peak to Buninyong.
      (0.0, 0.0, 0.0, 90.0, 10_018_754.171),
      (0, 0, 90, 0, 10_001_965.729),
      (-37.951033416666664, 144.42486788888888, -37.652821138888886, 143.92649552777777, 54_972.271),
      (0, 0, 0, 0, 0),
      (0, 179.9, 0, -179.9, 22_263.898),
    ]
  )
  func known(
    latitude: Double,
    longitude: Double,
    other: Double,
    otherLongitude: Double,
    meters: Double
  ) throws {
    let here = try #require(Coordinate(latitude: latitude, longitude: longitude))
    let there = try #require(Coordinate(latitude: other, longitude: otherLongitude))
    #expect(abs(here.distance(to: there) - meters) < 0.002)
    #expect(abs(there.distance(to: here) - meters) < 0.002)
  }

  @Test("places opposite each other have a distance, within 0.6 % of half the Earth")
  func antipodes() throws {
    let here = try #require(Coordinate(latitude: 0, longitude: 0))
    let there = try #require(Coordinate(latitude: 0.3, longitude: 179.8))
    #expect(abs(here.distance(to: there) - 19_980_000) < 0.006 * 19_980_000)
  }

  @Test("short distances are the chord of the ellipsoid, anywhere")
  func chord() throws {
    var random = SeededGenerator(seed: 41)
    for _ in 0..<500 {
      let latitude = Double.random(in: -89...89, using: &random)
      let longitude = Double.random(in: -179...179, using: &random)
      let here = try #require(Coordinate(latitude: latitude, longitude: longitude))
      let there = try #require(
        Coordinate(
          latitude: latitude + .random(in: -0.005...0.005, using: &random),
          longitude: longitude + .random(in: -0.005...0.005, using: &random)
        )
      )
      #expect(abs(here.distance(to: there) - Reference.chord(here, there)) < 1e-4)
    }
  }
}

/// The Earth once more, slowly and with the C library.
enum Reference {
  /// Metres from the centre.
  static func position(_ place: Coordinate) -> (x: Double, y: Double, z: Double) {
    let a = 6_378_137.0
    let b = a * (1 - 1 / 298.257223563)
    let phi = place.latitude * .pi / 180
    let lambda = place.longitude * .pi / 180
    let n = a * a / (a * a * cos(phi) * cos(phi) + b * b * sin(phi) * sin(phi)).squareRoot()
    return (n * cos(phi) * cos(lambda), n * cos(phi) * sin(lambda), b * b / (a * a) * n * sin(phi))
  }

  /// The straight line through the Earth.
  static func chord(_ here: Coordinate, _ there: Coordinate) -> Double {
    let (p, q) = (position(here), position(there))
    return ((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z)).squareRoot()
  }

  /// MapKit's map point by the textbook's formula.
  static func mapPoint(_ place: Coordinate) -> (x: Double, y: Double) {
    let world = 268_435_456.0
    let phi = place.latitude * .pi / 180
    return (
      (place.longitude + 180) / 360 * world,
      (1 - log(tan(.pi / 4 + phi / 2)) / .pi) / 2 * world
    )
  }
}
