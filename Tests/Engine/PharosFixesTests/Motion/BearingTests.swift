import Foundation
import PharosFixes
import PharosTestSupport
import Testing

@Suite("Directions in single precision")
struct BearingTests {
  @Test("a bearing is the arc tangent of the C library's, all around")
  func bearings() {
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<20_000 {
      let east = Float.random(in: -1_000...1_000, using: &generator)
      let north = Float.random(in: -1_000...1_000, using: &generator)
      let exact = atan2(Double(east), Double(north))
      #expect(abs(Double(Bearing.of(east: east, north: north)) - exact) < 5e-7)
    }
  }

  @Test(
    "the four winds",
    arguments: [(0, 1, 0), (1, 0, Float.pi / 2), (0, -1, Float.pi), (-1, 0, -Float.pi / 2), (0, 0, 0)]
      as [(Float, Float, Float)]
  )
  func winds(east: Float, north: Float, bearing: Float) {
    #expect(abs(Bearing.of(east: east, north: north) - bearing) < 1e-6)
  }

  @Test("a way along a bearing has that bearing, and the length of one")
  func ways() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<20_000 {
      let angle = Float.random(in: -40...40, using: &generator)
      let (east, north) = Bearing.eastAndNorth(angle)
      #expect(abs(Double(east) - sin(Double(angle))) < 3e-6)
      #expect(abs(Double(north) - cos(Double(angle))) < 3e-6)
      let back = Bearing.of(east: east, north: north)
      #expect(abs(Bearing.wrapped(back - angle)) < 1e-5)
      #expect(abs(Bearing.wrapped(angle)) <= .pi + 1e-5)
    }
  }

  @Test("an invalid angle leads north, and none traps")
  func invalid() {
    for angle in [Float.nan, .infinity, -.infinity, 1e30] {
      #expect(Bearing.eastAndNorth(angle) == (0, 1))
    }
  }
}
