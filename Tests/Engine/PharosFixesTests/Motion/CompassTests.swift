import Foundation
import PharosFixes
import PharosModel
import Testing

@Suite("The direction of a walk")
struct CompassTests {
  /// North, a quarter turn to the right, east, on to the south-west, with a minute in all.
  static let legs: [DrawnWalk.Leg] = [
    .rest(0, for: 2), .ahead(0, for: 15), DrawnWalk.Leg(duration: 2, heading: (0, .pi / 2), cadence: 1.8),
    .ahead(.pi / 2, for: 15), DrawnWalk.Leg(duration: 3, heading: (.pi / 2, 1.25 * .pi), cadence: 1.8),
    .ahead(1.25 * .pi, for: 20),
  ]

  /// The heading by the drawing at a time.
  static func truth(_ legs: [DrawnWalk.Leg], at time: Timestamp) -> Float {
    var start = 0.0
    let seconds = (time - DrawnWalk.start).seconds
    for leg in legs {
      if seconds < start + leg.duration {
        return Float(
          leg.heading.from + (leg.heading.to - leg.heading.from) * (seconds - start) / leg.duration
        )
      }
      start += leg.duration
    }
    return Float(legs.last?.heading.to ?? 0)
  }

  static func errors(_ walk: DrawnWalk, _ steps: [Step]) throws -> [Float] {
    try steps.map { step in
      let heading = try #require(step.heading)
      return Bearing.wrapped(heading.radians - truth(walk.legs, at: step.time))
    }
  }

  @Test(
    "any set of sensors that tells north tells the heading of each step",
    arguments: [
      [.rotationVector], [.rotationVector, .gyroscope], [.rotationVector, .gyroscope, .magnetometer],
      [.gyroscope, .magnetometer], [.magnetometer],
    ] as [Set<MotionSample.Kind>],
    [-0.2, 0.3, 1.2]
  )
  func north(kinds: Set<MotionSample.Kind>, tilt: Double) throws {
    var walk = DrawnWalk(legs: Self.legs)
    walk.tilt = tilt
    let steps = MotionTracker.movements(of: walk.samples(kinds.union([.accelerometer]))).steps
    #expect(abs(steps.count - walk.steps) <= 2)
    let errors = try Self.errors(walk, steps)
    // In a turn of 70 °/s the mean over a tenth of a second lies some degrees behind.
    #expect(errors.allSatisfy { abs($0) < 0.25 }, "\(errors)")
    #expect(errors.map(abs).sorted()[errors.count / 2] < 0.03)
    #expect(steps.allSatisfy { $0.heading?.reference == .north })
    #expect(steps.allSatisfy { ($0.heading?.biasDeviation ?? 0) >= MotionRules.headingBias })
  }

  @Test("a turn rate alone keeps the shape of a walk, and reports that north is unknown")
  func unknownReference() throws {
    let walk = DrawnWalk(legs: Self.legs)
    let steps = MotionTracker.movements(of: walk.samples([.accelerometer, .gyroscope])).steps
    let errors = try Self.errors(walk, steps)
    let first = try #require(errors.first)
    #expect(errors.allSatisfy { abs(Bearing.wrapped($0 - first)) < 0.1 }, "\(errors)")
    #expect(Set(steps.map { $0.heading?.reference }).count == 1)
    #expect(steps.allSatisfy { $0.heading?.reference != .north })
    #expect(steps.allSatisfy { ($0.heading?.biasDeviation ?? 0) > 1.8 })
  }

  @Test("after a pause of the turn rate the unknown reference is another one")
  func lostReference() {
    let part = DrawnWalk(legs: [.rest(0, for: 1), .ahead(0, for: 10)]).samples([.accelerometer, .gyroscope])
    let later = part.map { (time: $0.time + .seconds(30), sample: $0.sample) }
    let steps = MotionTracker.movements(of: part + later).steps
    #expect(Set(steps.map { $0.heading?.reference }).count == 2)
  }

  @Test("iron by the way bends the compass, and hardly the heading where there is a turn rate")
  func disturbance() throws {
    var walk = DrawnWalk(legs: [.rest(0.5, for: 2), .ahead(0.5, for: 60)])
    // For eight seconds in the midst the field points 60° elsewhere.
    walk.compassError = { abs($0 - 30) < 4 ? 1.05 : 0 }
    func worst(_ kinds: Set<MotionSample.Kind>) throws -> Float {
      let steps = MotionTracker.movements(of: walk.samples(kinds.union([.accelerometer]))).steps
      return try Self.errors(walk, steps).map(abs).max() ?? .infinity
    }
    #expect(try worst([.rotationVector]) > 1)
    #expect(try worst([.rotationVector, .gyroscope]) < 0.35)
    #expect(try worst([.gyroscope, .magnetometer]) < 0.35)
  }

  @Test(
    "a turn that the turn rate missed is believed from the compass after ten seconds",
    arguments: [0.3, 1.2]
  )
  func missedTurn(tilt: Double) throws {
    // No time passes between the two legs, so that no sample of the turn rate shows the turn.
    var walk = DrawnWalk(legs: [.ahead(0, for: 20), .ahead(2, for: 40)])
    walk.tilt = tilt
    for kinds in [[.gyroscope, .rotationVector], [.gyroscope, .magnetometer]] as [Set<MotionSample.Kind>] {
      let steps = MotionTracker.movements(of: walk.samples(kinds.union([.accelerometer]))).steps
      for step in steps where step.time > DrawnWalk.start + .seconds(38) {
        let heading = try #require(step.heading)
        #expect(abs(Bearing.wrapped(heading.radians - 2)) < 0.3)
      }
    }
  }

  @Test("a turn rate that reads too much is learned in a rest")
  func zeroRate() throws {
    func spread(rest: Double) throws -> Float {
      var walk = DrawnWalk(legs: [.rest(0, for: rest), .ahead(0, for: 60)])
      walk.zeroRate = 0.02
      let steps = MotionTracker.movements(of: walk.samples([.accelerometer, .gyroscope])).steps
      let errors = try Self.errors(walk, steps)
      return abs(Bearing.wrapped(errors[errors.count - 1] - errors[0]))
    }
    #expect(try spread(rest: 1) > 0.8)
    #expect(try spread(rest: 15) < 0.1)
  }

  @Test(
    "a heading that was wrong from the start is pulled to north, and says that it is uncertain until then"
  )
  func pulled() throws {
    var walk = DrawnWalk(legs: [.ahead(0, for: 300)])
    walk.compassError = { $0 < 2 ? 0.8 : 0 }
    let steps = MotionTracker.movements(of: walk.samples([.accelerometer, .gyroscope, .magnetometer])).steps
    let errors = try Self.errors(walk, steps)
    #expect(abs(errors[0]) > 0.6)
    #expect(abs(errors[errors.count - 1]) < 0.15)
    let first = try #require(steps.first?.heading)
    let last = try #require(steps.last?.heading)
    #expect(last.biasDeviation < first.biasDeviation)
  }
}
