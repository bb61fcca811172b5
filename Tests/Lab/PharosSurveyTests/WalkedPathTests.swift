import PharosFixes
import PharosModel
import PharosSpace
import PharosSurvey
import PharosWays
import Testing

@Suite("The path between waypoints")
struct WalkedPathTests {
  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(seconds: 1_000) + .seconds(seconds)
  }

  private static func waypoint(_ seconds: Double, _ x: Double, _ y: Double) -> SurveyWalk.Waypoint {
    SurveyWalk.Waypoint(time: time(seconds), point: Point(x: x, y: y))
  }

  /// Steps that end at given seconds, each as long and in the direction given, clockwise from north.
  private static func steps(
    _ ends: [Double],
    length: Float = 0.7,
    heading: (Double) -> Float? = { _ in nil }
  ) -> [Step] {
    ends.map { end in
      Step(
        began: time(end - 0.5),
        time: time(end),
        length: length,
        lengthDeviation: 0.1,
        heading: heading(end).map {
          Heading(radians: $0, deviation: 0.1, biasDeviation: 0.1, reference: .north)
        }
      )
    }
  }

  @Test("without steps the pace is even")
  func even() throws {
    let path = WalkedPath(waypoints: [Self.waypoint(10, 10, 0), Self.waypoint(0, 0, 0)], steps: [])
    #expect(path.position(at: Self.time(2.5)) == Point(x: 2.5, y: 0))
    #expect(path.position(at: Self.time(-0.1)) == nil)
    #expect(path.position(at: Self.time(10.1)) == nil)
    #expect(path.evenStretches == 1)
    #expect(path.length == 10)
  }

  @Test("a surveyor that waits and then walks is placed by its steps")
  func waits() throws {
    let path = WalkedPath(
      waypoints: [Self.waypoint(0, 0, 0), Self.waypoint(10, 7, 0)],
      steps: Self.steps(stride(from: 5.5, through: 9.7, by: 0.5).map { $0 })
    )
    #expect(path.pacedStretches == 1)
    let waiting = try #require(path.position(at: Self.time(4)))
    #expect(waiting.x == 0)
    let walking = try #require(path.position(at: Self.time(7.5)))
    #expect(abs(walking.x - 7 * 5.0 / 9) < 0.01)
    #expect(path.position(at: Self.time(10)) == Point(x: 7, y: 0))
  }

  @Test("steps around a corner are turned and stretched until they meet the waypoints")
  func corner() throws {
    // Ten steps north and ten east, by a compass that is 0.3 rad off and steps that are reported a tenth too short.
    let ends = (1...20).map { Double($0) / 2 - 0.05 }
    let steps = Self.steps(ends, length: 0.9) { $0 < 5 ? 0.3 : 0.3 + .pi / 2 }
    let path = WalkedPath(
      waypoints: [Self.waypoint(0, 0, 0), Self.waypoint(10, 10, 10)],
      steps: steps
    )
    let corner = try #require(path.position(at: Self.time(4.95)))
    #expect(corner.distance(to: Point(x: 0, y: 10)) < 0.05)
    #expect(abs(path.length - 20) < 0.1)
  }

  @Test("a compass that is half a turn off does not bend the path")
  func wrongCompass() throws {
    let ends = (1...20).map { Double($0) / 2 - 0.05 }
    let steps = Self.steps(ends, length: 0.9) { $0 < 5 ? .pi : -.pi / 2 }
    let path = WalkedPath(waypoints: [Self.waypoint(0, 0, 0), Self.waypoint(10, 10, 10)], steps: steps)
    let middle = try #require(path.position(at: Self.time(4.95)))
    #expect(middle.distance(to: Point(x: 5, y: 5)) < 0.05)
  }

  @Test("one waypoint is no path")
  func lonely() {
    #expect(WalkedPath(waypoints: [Self.waypoint(0, 0, 0)], steps: []).span == nil)
    #expect(WalkedPath(waypoints: [], steps: []).span == nil)
    #expect(WalkedPath(waypoints: [], steps: Self.steps([1])).position(at: Self.time(1)) == nil)
  }
}
