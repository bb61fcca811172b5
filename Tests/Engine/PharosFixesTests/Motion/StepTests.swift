import PharosFixes
import PharosModel
import PharosTestSupport
import Testing

@Suite("Steps")
struct StepTests {
  @Test(
    "each swing of the acceleration is a step, at any gait",
    arguments: [1.2, 1.6, 1.9, 2.3, 2.8],
    [1.5, 3, 5]
  )
  func counts(cadence: Double, swing: Double) {
    let walk = DrawnWalk(legs: [.rest(0, for: 2), .ahead(0, for: 20, cadence: cadence, swing: swing)])
    let steps = MotionTracker.movements(of: walk.samples([.accelerometer])).steps
    #expect(abs(steps.count - walk.steps) <= 1, "\(steps.count) of \(walk.steps)")
    let periods = steps.dropFirst(2).map { ($0.time - $0.began).seconds }
    #expect(periods.allSatisfy { abs($0 - 1 / cadence) < 0.05 })
    #expect(steps.allSatisfy { $0.heading == nil }, "no sensor tells where to")
  }

  @Test("a step is known within half a second after its push, and never before")
  func prompt() throws {
    let walk = DrawnWalk(legs: [.rest(0, for: 3), .ahead(0, for: 10, cadence: 2)])
    let steps = MotionTracker.movements(of: walk.samples([.accelerometer])).steps
    for (index, step) in steps.enumerated() {
      // The bump's top is a quarter into each period of half a second.
      let top = DrawnWalk.start + .seconds(3 + 0.5 * Double(index) + 0.125)
      #expect(step.time > top && step.time - top < .seconds(0.5))
    }
    #expect(steps.count >= 19)
  }

  @Test("standing, swaying and trembling make no step")
  func standing() {
    var generator = SeededGenerator(seed: 65)
    var samples: [(time: Timestamp, sample: MotionSample)] = []
    for tick in 0..<3_000 {
      let noise = (0..<3).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
      let sample = MotionSample(
        kind: .accelerometer,
        age: .zero,
        x: noise[0],
        y: noise[1],
        z: 9.81 + noise[2]
      )
      samples.append((DrawnWalk.start + .milliseconds(20 * Int64(tick)), sample))
    }
    #expect(MotionTracker.movements(of: samples).steps.isEmpty)
  }

  @Test("stronger steps are longer, and none is longer or shorter than a walker's")
  func lengths() throws {
    var before: Float = 0
    for swing in [1, 2, 4, 8, 20] {
      let walk = DrawnWalk(legs: [.ahead(0, for: 10, swing: Double(swing))])
      let last = try #require(MotionTracker.movements(of: walk.samples([.accelerometer])).steps.last)
      #expect(last.length >= before)
      #expect(MotionRules.lengths.contains(last.length))
      #expect(last.lengthDeviation > 0 && last.lengthDeviation < last.length / 2)
      before = last.length
    }
    #expect(before > 0.8)
  }

  @Test("steps that the handset tells are taken as they are, and none is found beside them")
  func handsetSteps() throws {
    var samples = DrawnWalk(legs: [.ahead(1, for: 10)]).samples([.accelerometer, .rotationVector])
    for index in 0..<18 {
      let sample = MotionSample(kind: .step, age: .zero, x: 0.8, y: 7, z: 0)
      samples.append((DrawnWalk.start + .milliseconds(Int64(index) * 550), sample))
    }
    samples.sort { $0.time < $1.time }
    let steps = MotionTracker.movements(of: samples).steps
    #expect(steps.count == 18)
    for step in steps {
      #expect(step.length == 0.8)
      let heading = try #require(step.heading)
      #expect(abs(Bearing.wrapped(heading.radians - 7)) < 1e-5)
    }
  }

  @Test("a step without length or heading gets them from the rules and the compass")
  func bareSteps() throws {
    var samples = DrawnWalk(legs: [.ahead(1, for: 5)]).samples([.rotationVector])
    let bare = MotionSample(kind: .step, age: .zero, x: 0, y: .nan, z: 0)
    samples.append((DrawnWalk.start + .seconds(5), bare))
    let step = try #require(MotionTracker.movements(of: samples).steps.first)
    #expect(step.length == MotionRules.usualStep)
    let heading = try #require(step.heading)
    #expect(abs(heading.radians - 1) < 0.01)
  }
}
