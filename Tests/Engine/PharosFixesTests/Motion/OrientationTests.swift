import Foundation
import PharosFixes
import PharosModel
import PharosTestSupport
import Testing

@Suite("How a handset lies in the world")
struct OrientationTests {
  private static func randomRotation(_ generator: inout SeededGenerator) -> (SlowRotation, SIMD3<Float>) {
    var q = (0..<4).map { _ in Double.random(in: -1...1, using: &generator) }
    let length = q.reduce(0) { $0 + $1 * $1 }.squareRoot()
    q = q.map { $0 / length * (q[0] < 0 ? -1 : 1) }
    let rotation = SlowRotation(quaternion: (q[0], q[1], q[2], q[3]))
    return (rotation, SIMD3(Float(q[1]), Float(q[2]), Float(q[3])))
  }

  private static func differ(_ left: SIMD3<Float>, _ right: SIMD3<Float>) -> Float {
    ((left - right) * (left - right)).sum().squareRoot()
  }

  @Test("a rotation vector turns the axes as its quaternion does")
  func rotationVectors() {
    var generator = SeededGenerator(seed: 61)
    for _ in 0..<5_000 {
      let (rotation, vector) = Self.randomRotation(&generator)
      let orientation = Orientation(rotationVector: vector)
      #expect(Self.differ(orientation.east, rotation.inHandset(east: 1, north: 0, up: 0)) < 2e-3)
      #expect(Self.differ(orientation.north, rotation.inHandset(east: 0, north: 1, up: 0)) < 2e-3)
      #expect(Self.differ(orientation.up, rotation.inHandset(east: 0, north: 0, up: 1)) < 2e-3)
    }
  }

  @Test(
    "the rotation of an orientation is the one that it was made of, with a real part that is not negative"
  )
  func rotations() {
    var generator = SeededGenerator(seed: 63)
    let corners: [SIMD3<Float>] = [.zero, SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1), SIMD3(0.6, 0.8, 0)]
    for number in 0..<5_000 {
      let vector = number < corners.count ? corners[number] : Self.randomRotation(&generator).1
      let rotation = Orientation(rotationVector: vector).rotation
      let found = SIMD3(rotation.x, rotation.y, rotation.z)
      #expect(rotation.w >= 0 && rotation.isUnit)
      // Half a turn about an axis is one about its opposite, too.
      let difference =
        rotation.w < 1e-3
        ? min(Self.differ(found, vector), Self.differ(-found, vector)) : Self.differ(found, vector)
      #expect(difference < 2e-3, "\(vector)")
      let back = Orientation(Rotation(w: -rotation.w, x: -rotation.x, y: -rotation.y, z: -rotation.z))
      #expect(Self.differ(back.up, Orientation(rotationVector: vector).up) < 4e-3)
    }
  }

  @Test("gravity and a field give the orientation, and a field along gravity gives none")
  func triad() throws {
    var generator = SeededGenerator(seed: 62)
    for _ in 0..<1_000 {
      let (rotation, _) = Self.randomRotation(&generator)
      let up = rotation.inHandset(east: 0, north: 0, up: 9.81)
      let field = rotation.inHandset(east: 0, north: 28, up: -36)
      let orientation = try #require(Orientation(up: up, field: field))
      #expect(Self.differ(orientation.north, rotation.inHandset(east: 0, north: 1, up: 0)) < 1e-4)
      #expect(Self.differ(orientation.east, rotation.inHandset(east: 1, north: 0, up: 0)) < 1e-4)
      #expect(Orientation(up: up, field: rotation.inHandset(east: 0, north: 0.5, up: -45)) == nil)
      #expect(Orientation(up: .zero, field: field) == nil)
    }
  }

  @Test("small turns add up to what the turn as a whole does")
  func turns() {
    var generator = SeededGenerator(seed: 63)
    for _ in 0..<50 {
      let (rotation, vector) = Self.randomRotation(&generator)
      let axis = (0..<3).map { _ in Double.random(in: -1...1, using: &generator) }
      let length = axis.reduce(0) { $0 + $1 * $1 }.squareRoot()
      let angle = Double.random(in: 0.5...6, using: &generator)
      var orientation = Orientation(rotationVector: vector)
      // In small parts, or in a few large ones, as jerks are.
      let parts = Bool.random(using: &generator) ? 200 : 3
      let small = SIMD3<Float>(axis.map { Float($0 / length * angle / Double(parts)) })
      for _ in 0..<parts { orientation.turn(by: small) }
      // The world's directions turn the other way in the handset's axes.
      let half = -angle / 2
      let s = sin(half) / length
      let turn = SlowRotation(quaternion: (cos(half), axis[0] * s, axis[1] * s, axis[2] * s))
      for (mine, world) in [(orientation.north, (0.0, 1.0, 0.0)), (orientation.up, (0, 0, 1))] {
        let before = rotation.inHandset(east: world.0, north: world.1, up: world.2)
        let v = [Double(before.x), Double(before.y), Double(before.z)]
        let after = SIMD3<Float>(turn.rows.map { row in Float(zip(row, v).reduce(0) { $0 + $1.0 * $1.1 }) })
        #expect(Self.differ(mine, after) < 2e-3)
      }
    }
  }

  @Test("veering turns the heading clockwise and nothing else")
  func veering() {
    var generator = SeededGenerator(seed: 64)
    for _ in 0..<1_000 {
      let heading = Double.random(in: -3...3, using: &generator)
      let tilt = Double.random(in: -0.4...1.5, using: &generator)
      var orientation = Orientation(rotationVector: SlowRotation(heading: heading, tilt: tilt).rotationVector)
      #expect(abs(Bearing.wrapped(orientation.bearing - Float(heading))) < 2e-3)
      let up = orientation.up
      let angle = Float.random(in: -3...3, using: &generator)
      orientation.veer(by: angle)
      #expect(abs(Bearing.wrapped(orientation.bearing - Float(heading) - angle)) < 3e-3)
      #expect(Self.differ(orientation.up, up) < 1e-5)
    }
  }

  @Test("leaning brings up to where gravity says, by the share asked for")
  func leaning() {
    var orientation = Orientation(rotationVector: SlowRotation(heading: 1, tilt: 0.4).rotationVector)
    let wanted = SlowRotation(heading: 1, tilt: 0.2).inHandset(east: 0, north: 0, up: 9.81)
    for _ in 0..<200 { orientation.lean(to: wanted, share: 0.1) }
    #expect(Self.differ(orientation.up, wanted / 9.81) < 1e-3)
    #expect(abs(Bearing.wrapped(orientation.bearing - 1)) < 1e-3)
  }
}
