package import PharosFixes
import PharosModel
package import PharosSpace
import PharosWays

/// The directions of walks by their compasses against the same ways on a floor's plan.
///
/// Every walk gives one angle: that by which its steps, laid end to end between each two waypoints, must be turned to lead
/// from the one to the other, long ways counting most. A compass errs from walk to walk, by how the phone is held and what
/// is built in. A plan that is not turned to north turns all walks of its floor alike, so their mean shows it.
package struct PlanOrientation: Sendable {
  /// The angle of each walk, clockwise from the compass to the plan.
  ///
  /// - Units: radians.
  private var angles: [Float] = []

  /// Starts with no walk.
  package init() {}

  /// The minimum number of walks that show a turned plan.
  ///
  /// 6: with fewer, the scatter of the walks' angles is not known well enough.
  static let minimumWalks = 6
  /// The minimum number of standard errors by which the mean angle differs from zero.
  ///
  /// 4: with ``minimumWalks`` walks, Student's distribution exceeds it once in a hundred plans that are not turned.
  static let minimumCertainty: Float = 4
  /// The minimum length of a walk's ways between waypoints.
  ///
  /// - Units: metres. A metre of error of a tap is then an angle of 3°.
  static let shortestWalk = 20.0

  /// Adds a walk on the floor.
  package mutating func add(waypoints: [SurveyWalk.Waypoint], steps: [Step]) {
    let sorted = waypoints.sorted { $0.time < $1.time }
    var (along, across, length) = (0.0, 0.0, 0.0)
    for (start, end) in zip(sorted, sorted.dropFirst()) {
      let stretch = steps.filter { $0.time > start.time && $0.time < end.time }
      guard stretch.count >= WalkedPath.minimumSteps else { continue }
      var walked = Point.origin
      var isByCompass = true
      for step in stretch {
        guard let heading = step.heading, heading.reference == .north else {
          isByCompass = false
          break
        }
        let (east, north) = Bearing.eastAndNorth(heading.radians)
        walked = walked + Point(x: Double(east), y: Double(north)) * Double(step.length)
      }
      guard isByCompass else { continue }
      let way = end.point - start.point
      along += walked.dot(way)
      across += way.cross(walked)
      length += way.length
    }
    guard length >= PlanOrientation.shortestWalk, along != 0 || across != 0 else { return }
    angles.append(Bearing.of(east: Float(across), north: Float(along)))
  }

  /// The turn of the plan; nil if the walks show none.
  ///
  /// - Source: mean direction and circular standard deviation, Mardia and Jupp, "Directional Statistics", Wiley (2000).
  package func turn(_ floor: FloorID) -> PlanTurn? {
    guard angles.count >= PlanOrientation.minimumWalks else { return nil }
    let count = Float(angles.count)
    var (sine, cosine): (Float, Float) = (0, 0)
    for angle in angles {
      let direction = Bearing.eastAndNorth(angle)
      sine += direction.east / count
      cosine += direction.north / count
    }
    let resultant = min(1, (sine * sine + cosine * cosine).squareRoot())
    guard resultant > 0 else { return nil }
    let deviation = (-2 * Float(RadioMath.naturalLog(Double(resultant)))).squareRoot()
    let mean = Bearing.of(east: sine, north: cosine)
    guard mean.magnitude >= FusionRules().headingBias,
      mean.magnitude >= PlanOrientation.minimumCertainty * deviation / count.squareRoot()
    else { return nil }
    return PlanTurn(floor: floor, radians: mean, walks: angles.count)
  }
}
