import PharosFixes
import PharosModel
import PharosSimulation
import PharosSpace
import PharosStays
import Testing

@Suite("The coverage of a venue")
struct FixCoverageTests {
  private static let venue = SimulatedMall.venue()
  private static let coverage = FixCoverage(LocatableVenue(venue: venue))

  private static func coordinate(_ x: Double, _ y: Double) throws -> Coordinate {
    let plane = try #require(venue.floor(SimulatedMall.floor(0))?.plane)
    return try #require(plane.coordinate(of: Point(x: x, y: y)))
  }

  @Test(
    "a geofence amid the radios may be smaller than one beside them, and none is judged outside of the venue"
  )
  func radii() throws {
    let amid = try #require(Self.coverage.smallestUsefulRadius(at: Self.coordinate(22.5, 20), level: 0))
    #expect((4.5...7).contains(amid))
    let bare = FixCoverage(
      LocatableVenue(venue: SimulatedMall.venue(hasAccessPoints: false, hasBeacons: false))
    )
    #expect(try #require(bare.smallestUsefulRadius(at: Self.coordinate(22.5, 20), level: 0)) > 100)
    #expect(try Self.coverage.smallestUsefulRadius(at: Self.coordinate(-30, 20), level: 0) == nil)
    #expect(try Self.coverage.smallestUsefulRadius(at: Self.coordinate(22.5, 20), level: 9) == nil)
  }

  @Test("a polygon counts as the circle of its size, holes left out")
  func polygons() throws {
    func ring(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> [Geofence.Position]
    {
      try [(west, south), (east, south), (east, north), (west, north)].map { x, y in
        let place = try Self.coordinate(x, y)
        return Geofence.Position(latitude: place.latitude, longitude: place.longitude)
      }
    }
    let fence = Geofence(shape: .polygon(rings: [try ring(0, 0, 20, 20), try ring(5, 5, 10, 10)]))
    let circle = try #require(fence.equivalentCircle)
    #expect(abs(circle.radius - (375 / Double.pi).squareRoot()) < 0.01)
    #expect(try circle.center.distance(to: Self.coordinate(10, 10)) < 0.01)
  }
}
