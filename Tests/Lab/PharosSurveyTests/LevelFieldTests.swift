import Foundation
import PharosFixes
import PharosSurvey
import PharosTestSupport
import Testing

/// The same process in double precision, by Gauss's elimination: slow, and plain to see that it is right.
private struct SlowField {
  let levels: [PathLossFit.Level]
  let loss: PathLoss
  let variance: Double
  let length: Double

  func covariance(_ ax: Float, _ ay: Float, _ bx: Float, _ by: Float) -> Double {
    let distance = hypot(Double(ax - bx), Double(ay - by)) * 3.0.squareRoot() / length
    return variance * (1 + distance) * exp(-distance)
  }

  private func solve(_ right: [Double]) -> [Double] {
    let count = levels.count
    var rows = (0..<count).map { row in
      (0..<count).map { column in
        covariance(levels[row].x, levels[row].y, levels[column].x, levels[column].y)
          + (row == column ? 1 / Double(levels[row].weight) : 0)
      } + [right[row]]
    }
    for pivot in 0..<count {
      for row in 0..<count where row != pivot {
        let factor = rows[row][pivot] / rows[pivot][pivot]
        for column in pivot...count { rows[row][column] -= factor * rows[pivot][column] }
      }
    }
    return (0..<count).map { rows[$0][count] / rows[$0][$0] }
  }

  func prediction(_ x: Float, _ y: Float) -> (level: Double, deviation: Double) {
    let near = levels.map { covariance(x, y, $0.x, $0.y) }
    let alpha = solve(levels.map { Double($0.level - loss.level($0.x, $0.y)) })
    let level = Double(loss.level(x, y)) + zip(near, alpha).reduce(0) { $0 + $1.0 * $1.1 }
    let explained = zip(near, solve(near)).reduce(0) { $0 + $1.0 * $1.1 }
    return (level, max(0, variance - explained).squareRoot())
  }
}

@Suite("The field of an emitter's levels")
struct LevelFieldTests {
  private static let loss = PathLoss(x: 10, y: 10, power: -40, slope: 25)

  private static func levels(_ count: Int, seed: UInt64) -> [PathLossFit.Level] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in
      let x = Float.random(in: 0...40, using: &generator)
      let y = Float.random(in: 0...25, using: &generator)
      return PathLossFit.Level(
        x: x,
        y: y,
        level: loss.level(x, y) + Float.random(in: -8...8, using: &generator),
        weight: 1 / Float.random(in: 4...40, using: &generator)
      )
    }
  }

  @Test("levels and deviations are those of the slow process", arguments: [1, 5, 8, 17, 40])
  func agrees(count: Int) throws {
    let levels = Self.levels(count, seed: UInt64(count))
    let kernel = ShadowKernel(variance: 49, length: 6)
    let field = try #require(LevelField(levels, about: Self.loss, kernel: kernel))
    let slow = SlowField(levels: levels, loss: Self.loss, variance: 49, length: 6)
    for (x, y) in [(0, 0), (10, 10), (12.5, 3), (39, 24), (20, 12), (55, -10), (400, 400)] as [(Float, Float)]
    {
      let expected = slow.prediction(x, y)
      #expect(abs(Double(field.level(x, y)) - expected.level) < 0.05)
      #expect(abs(Double(field.deviation(x, y)) - expected.deviation) < 0.05)
    }
  }

  @Test("far from all walks the level is that of path loss, and the doubt that of shadows")
  func farAway() throws {
    let field = try #require(
      LevelField(Self.levels(20, seed: 4), about: Self.loss, kernel: ShadowKernel(variance: 49, length: 6))
    )
    #expect(abs(field.level(150, 150) - Self.loss.level(150, 150)) < 0.01)
    #expect(abs(field.deviation(150, 150) - 7) < 0.01)
  }

  @Test("path loss falls by the slope over a tenfold distance and ends at the least level")
  func pathLoss() {
    let near = Self.loss.level(10 + 10, 10)
    let far = Self.loss.level(10 + 100, 10)
    // 2.5 m above the handset: 10 m along the floor are 10.31 m through the air, 100 m are 100.03 m.
    #expect(abs(near - (-40 - 25 * Float(log10(10.307764)))) < 0.02)
    #expect(abs(far - (-40 - 25 * Float(log10(100.031245)))) < 0.02)
    #expect(Self.loss.level(1e6, 0) == PathLoss.floor)
  }

  @Test("an emitter is found where it hangs, from levels on two crossing corridors")
  func finds() throws {
    var generator = SeededGenerator(seed: 9)
    let places: [(Float, Float)] =
      (0..<20).map { (Float($0) * 2, 4) } + (0..<14).map { (14, Float($0) * 2) }
    let heard = places.map { x, y in
      PathLossFit.Level(
        x: x,
        y: y,
        level: Self.loss.level(x, y) + Float.random(in: -2...2, using: &generator),
        weight: 1 / 8
      )
    }
    let fit = try #require(PathLossFit(heard: heard, silent: [], rules: SurveyRules()))
    #expect(abs(fit.best.x - 10) <= 4)
    #expect(abs(fit.best.y - 10) <= 4)
    #expect(fit.deviation < 6)
    for (x, y) in [(25, 18), (3, 12)] as [(Float, Float)] {
      #expect(abs(fit.best.level(x, y) - Self.loss.level(x, y)) < 4)
    }
    #expect(PathLossFit(heard: [], silent: heard, rules: SurveyRules()) == nil)
  }
}
