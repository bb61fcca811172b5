import PharosFixes
import PharosModel
import PharosTestSupport
import Testing

@Suite("How many particles there are")
struct ParticleCountTests {
  private static let rules = FusionRules()

  /// A cloud of 400 drawn evenly from a rectangle on each of some floors.
  private static func cloud(
    east: ClosedRange<Float>,
    north: ClosedRange<Float>,
    floors: Int = 1,
    _ random: inout SeededGenerator
  ) -> ParticleCloud {
    var cloud = ParticleCloud()
    for index in 0..<400 {
      cloud.append(
        east: .random(in: east, using: &random),
        north: .random(in: north, using: &random),
        bias: .random(in: -0.2...0.2, using: &random),
        scale: 1,
        floor: UInt8(index % floors)
      )
    }
    return cloud
  }

  @Test(
    "As many as the squares ask for that a plain set counts, within the bounds",
    arguments: Seeds.fixed(0..<50)
  )
  func squares(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let west = Float.random(in: -90...90, using: &random)
    let south = Float.random(in: -90...90, using: &random)
    let cloud = Self.cloud(
      east: west...west + .random(in: 0...30, using: &random),
      north: south...south + .random(in: 0...30, using: &random),
      &random
    )
    let covered = Set(
      (0..<cloud.count).map { [(cloud.east[$0] / 3).rounded(.down), (cloud.north[$0] / 3).rounded(.down)] }
    ).count
    let needed = cloud.needed(Self.rules)
    // Where a coordinate lies on the edge of a square within rounding, either of two is right.
    let near = (covered - 1...covered + 1).map { min(400, max(100, $0 * 10)) }
    #expect(near.contains(needed))
  }

  @Test(
    "A belief that has narrowed is carried by fewer, one that spreads again by more, about the same place"
  )
  func narrowing() {
    var random = SeededGenerator(seed: 5)
    var noise = FusionNoise(seed: 5)
    var cloud = Self.cloud(east: -40...40, north: -40...40, floors: 2, &random)
    cloud.resample(Self.rules, &noise)
    #expect(cloud.count == 400)
    // A reading that leaves a metre around a place.
    for index in 0..<cloud.count {
      let (east, north) = (cloud.east[index] - 11, cloud.north[index] + 7)
      cloud.weight[index] = -(east * east + north * north) / 2
    }
    cloud.resample(Self.rules, &noise)
    cloud.resample(Self.rules, &noise)
    #expect(cloud.count == 100)
    #expect(cloud.weight == [Float](repeating: 0, count: 100))
    #expect(abs(Self.mean(cloud.east) - 11) < 1.5)
    #expect(abs(Self.mean(cloud.north) + 7) < 1.5)
    cloud.spread(20, &noise)
    var sizes: [Int] = []
    for _ in 0..<6 {
      cloud.resample(Self.rules, &noise)
      sizes.append(cloud.count)
    }
    #expect(sizes.last == 400, "\(sizes)")
    #expect(sizes == sizes.sorted())
  }

  @Test(
    "Each is drawn as often as its weight says, whatever their number becomes",
    arguments: [50, 100, 400, 2_000]
  )
  func shares(maximum: Int) {
    var rules = Self.rules
    rules.particles = maximum
    rules.minimumParticles = maximum
    var random = SeededGenerator(seed: UInt64(maximum))
    var noise = FusionNoise(seed: UInt64(maximum))
    var cloud = Self.cloud(east: 0...30, north: 0...30, floors: 4, &random)
    // Two on each floor carry all of the weight, floor by floor 1 to 4 tenths of it.
    for index in 0..<cloud.count {
      let share = Float(RadioMath.naturalLog(Double(cloud.floor[index] + 1)))
      cloud.weight[index] = index < 8 ? share : -90
    }
    cloud.resample(rules, &noise)
    #expect(cloud.count == maximum)
    for floor in 0..<4 {
      let share = Double(cloud.floor.count { Int($0) == floor }) / Double(maximum)
      #expect(abs(share - Double(floor + 1) / 10) <= 2 / Double(maximum))
    }
  }

  @Test("Particles that are nowhere count, and harm nothing")
  func nowhere() {
    var cloud = ParticleCloud()
    for place in [Float.nan, .infinity, -.infinity, 1e30, -1e30, 0] {
      cloud.append(east: place, north: -place, bias: 0, scale: 1, floor: 255)
    }
    #expect(cloud.needed(Self.rules) == 100)
  }

  @Test("Equal weights are equal shares")
  func even() {
    var random = SeededGenerator(seed: 1)
    var cloud = Self.cloud(east: 0...9, north: 0...9, &random)
    let plain = cloud.shares()
    for index in 0..<cloud.count { cloud.weight[index] = -12.5 }
    #expect(cloud.shares() == plain)
    #expect(plain.allSatisfy { $0 == 1 / 400 })
    cloud.weight[399] = -13
    let other = cloud.shares()
    #expect(other[399] < other[0])
    #expect(abs(other.reduce(0, +) - 1) < 1e-5)
  }

  private static func mean(_ values: [Float]) -> Float { values.reduce(0, +) / Float(values.count) }
}
