import PharosFixes
import PharosModel
import PharosSpace
import Testing

/// The particle filter beside one that works out every place: same hall, same levels, same model.
@Suite("Particles beside a dense grid")
struct GridReferenceTests {
  private static let size = Point(x: 30, y: 16)
  /// What a walk's headings are off by, as steps that a handset tells have it.
  private static let biasDeviation = MotionRules.headingBias

  /// The hall, with all that switched off which the grid does not know.
  private static func hall(seed: UInt64) throws -> FusionHall {
    try FusionHall(seed: seed, size: size) { rules in
      rules.particles = 2_000
      rules.minimumParticles = 2_000
      rules.youth = .zero
      rules.auditInterval = .seconds(3_600)
      rules.receiverDeviation = 0
      rules.scaleDeviation = 0
      rules.biasWander = 0
      rules.headingBias = biasDeviation
      rules.obstacleCost = 0
      rules.insideCost = 0
    }
  }

  /// A scan's readings as the map numbers them.
  private static func readings(_ sensing: Sensing, _ map: RadioMap) -> [(emitter: Int32, level: Float)] {
    guard case .accessPoints(let points) = sensing.body else { return [] }
    return points.compactMap { point in
      guard let emitter = map.emitter(.accessPoint(point.bssid)), let rssi = point.rssi else { return nil }
      return (emitter, Float(rssi.dBm))
    }
  }

  /// How far the means lie apart, fix by fix, and how the spreads compare.
  private static func compare(_ hall: FusionHall, hasMotion: Bool) -> (apart: [Double], ratios: [Double]) {
    let rules = hall.ground.rules
    var grid = GridFilter(size: size, biasDeviation: hasMotion ? biasDeviation : 0, rules: rules)
    var apart: [Double] = []
    var ratios: [Double] = []
    var waiting = hall.sensings[...]
    var last: Timestamp?
    for fix in hall.fixes(tail: 1) {
      while let sensing = waiting.first, sensing.time <= fix.time {
        waiting.removeFirst()
        guard case .motion(let samples) = sensing.body else { continue }
        for sample in samples where last != nil { grid.step(length: sample.x, heading: sample.y) }
      }
      if let last {
        let rate = hasMotion ? rules.drift : rules.blindWalk
        grid.spread(Double(rate) * (fix.time - last).seconds.squareRoot())
      }
      last = fix.time
      for scan in hall.sensings where scan.time == fix.time {
        let readings = readings(scan, hall.ground.radio)
        if !readings.isEmpty { grid.receive(readings, on: hall.ground.radio) }
      }
      let middle = grid.middle
      apart.append(fix.point.distance(to: middle.point))
      // Before the first step the walker is as one whose motion is not known.
      let isSeen = fix.speed != nil
      let hidden = Double(isSeen ? rules.hiddenError : rules.blindHiddenError)
      let factor = Double(isSeen ? rules.spreadFactor : 1)
      let radius = max(0, fix.horizontalAccuracy * fix.horizontalAccuracy - hidden * hidden).squareRoot()
      ratios.append(radius / factor / middle.spread)
    }
    return (apart, ratios)
  }

  @Test("an unseen move is located where the grid has it", arguments: 1...3 as ClosedRange<UInt64>)
  func unseen(seed: UInt64) throws {
    var hall = try Self.hall(seed: seed)
    for second in 0..<16 {
      hall.scan(at: Point(x: 6 + Double(second), y: 8), Double(second))
    }
    let (apart, ratios) = Self.compare(hall, hasMotion: false)
    #expect(apart.count >= 16)
    // 2,000 particles spread over 3 m place their mean within 0.2 m; the grid's halves of a metre and the map's of a decibel
    // add as much.
    #expect(apart.allSatisfy { $0 < 1 }, "\(apart)")
    #expect(apart.reduce(0, +) / Double(apart.count) < 0.4, "\(apart)")
    #expect(ratios.allSatisfy { (0.8...1.25).contains($0) }, "\(ratios)")
  }

  @Test("a walking subject is located where the grid has it", arguments: 1...3 as ClosedRange<UInt64>)
  func walking(seed: UInt64) throws {
    var hall = try Self.hall(seed: seed)
    hall.scan(at: Point(x: 5, y: 8), 0)
    for step in 0..<28 {
      // Between two scans, so that no reading is of a place that was left since.
      let sample = MotionSample(kind: .step, age: .zero, x: 0.7, y: .pi / 2, z: 0)
      hall.add(.motion([sample]), at: 0.25 + Double(step) * 0.5)
      if step % 4 == 3 { hall.scan(at: Point(x: 5 + 0.7 * Double(step + 1), y: 8), Double(step + 1) * 0.5) }
    }
    let (apart, ratios) = Self.compare(hall, hasMotion: true)
    #expect(apart.count >= 14)
    // Copies of particles are moved apart by a quarter of a metre, which the grid does not do.
    #expect(apart.allSatisfy { $0 < 1.5 }, "\(apart)")
    #expect(apart.reduce(0, +) / Double(apart.count) < 0.7, "\(apart)")
    #expect(ratios.allSatisfy { (0.7...1.4).contains($0) }, "\(ratios)")
  }
}
