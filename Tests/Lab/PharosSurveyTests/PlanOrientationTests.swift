import PharosFixes
import PharosModel
import PharosSpace
import PharosSurvey
import PharosTestSupport
import PharosWays
import Testing

@Suite("Plans that are not turned to north")
struct PlanOrientationTests {
  private static let floor = FloorID(building: "b", level: 0)

  /// The orientation after walks around a square of 12 m, each with a compass that errs by its own angle in radians.
  private static func orientation(
    turned: Float,
    errors: [Float],
    reference: Heading.Reference = .north
  ) -> PlanOrientation {
    var orientation = PlanOrientation()
    let corners = [(0.0, 0.0), (0, 12), (12, 12), (12, 0), (0, 0)].map { Point(x: $0.0, y: $0.1) }
    for error in errors {
      var waypoints = [SurveyWalk.Waypoint(time: Timestamp(seconds: 1_000), point: corners[0])]
      var steps: [Step] = []
      var time = waypoints[0].time
      for side in 0..<4 {
        let direction = Float(side) * .pi / 2
        for _ in 0..<16 {
          let heading = Heading(
            radians: Bearing.wrapped(direction - turned + error),
            deviation: 0.1,
            biasDeviation: 0.1,
            reference: reference
          )
          let end = time + .seconds(0.5)
          steps.append(Step(began: time, time: end, length: 0.7, lengthDeviation: 0.1, heading: heading))
          time = end
        }
        time = time + .seconds(0.1)
        waypoints.append(SurveyWalk.Waypoint(time: time, point: corners[side + 1]))
      }
      orientation.add(waypoints: waypoints, steps: steps)
    }
    return orientation
  }

  @Test("the turn is that of all walks alike", arguments: [-2.8, -1.2, -0.4, 0.4, 0.9, 3.0] as [Float])
  func turned(by angle: Float) throws {
    let errors: [Float] = [0.2, -0.1, 0.05, -0.2, 0.15, -0.1]
    let turn = try #require(Self.orientation(turned: angle, errors: errors).turn(Self.floor))
    #expect(Bearing.wrapped(turn.radians - angle).magnitude < 0.02)
    #expect(turn.walks == 6)
    #expect(turn.description.contains("\(Int((angle.magnitude * 180 / .pi).rounded()))° "))
    #expect(turn.description.contains(angle > 0 ? "° clockwise of" : "° counterclockwise of"))
  }

  @Test("a plan that is turned to north gives no finding", arguments: Seeds.drawn(0..<40 as Range<UInt64>))
  func straight(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let errors = (0..<12).map { _ in Float.random(in: -0.3...0.3, using: &generator) }
    #expect(Self.orientation(turned: 0, errors: errors).turn(Self.floor) == nil)
  }

  @Test("few walks, compasses that disagree, and headings without north give no finding")
  func unknown() {
    let few = Self.orientation(turned: 0.8, errors: [0, 0, 0, 0, 0])
    #expect(few.turn(Self.floor) == nil)
    let disagreeing = Self.orientation(turned: 0.4, errors: [1.5, -1.5, 2.5, -2.5, 0.3, -0.9])
    #expect(disagreeing.turn(Self.floor) == nil)
    let errors = [Float](repeating: 0, count: 8)
    #expect(Self.orientation(turned: 0.8, errors: errors, reference: .unknown(1)).turn(Self.floor) == nil)
    #expect(Self.orientation(turned: 0.8, errors: errors).turn(Self.floor) != nil)
    #expect(PlanOrientation().turn(Self.floor) == nil)
  }
}
