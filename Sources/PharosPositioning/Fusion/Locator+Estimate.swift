import PharosEvents
import PharosPlaces
import PharosReports

extension Locator {
  /// The middle of the belief on its most probable floor.
  struct Middle {
    var floor: Int
    var point: Point
    /// The root of the mean square distance of the particles, in metres.
    var spread: Float
    /// How probable the floor is.
    var share: Float
    /// How probable its building is.
    var building: Float
  }

  /// The middle of the belief; nil while there is none.
  func middle() -> Middle? {
    guard !cloud.isEmpty else { return nil }
    let shares = cloud.shares()
    var floors = [Float](repeating: 0, count: content.floors.count)
    for index in 0..<cloud.count { floors[Int(cloud.floor[index])] += shares[index] }
    guard let floor = floors.indices.max(by: { floors[$0] < floors[$1] }), floors[floor] > 0 else {
      return nil
    }
    var (east, north): (Float, Float) = (0, 0)
    for index in 0..<cloud.count where Int(cloud.floor[index]) == floor {
      east += shares[index] * cloud.east[index]
      north += shares[index] * cloud.north[index]
    }
    east /= floors[floor]
    north /= floors[floor]
    var square: Float = 0
    for index in 0..<cloud.count where Int(cloud.floor[index]) == floor {
      let (dx, dy) = (cloud.east[index] - east, cloud.north[index] - north)
      square += shares[index] * (dx * dx + dy * dy)
    }
    return Middle(
      floor: floor,
      point: Point(x: Double(east), y: Double(north)),
      spread: (square / floors[floor]).squareRoot(),
      share: floors[floor],
      building: floors.indices.reduce(0) { sum, other in
        sum + (content.floors[other].id.building == content.floors[floor].id.building ? floors[other] : 0)
      }
    )
  }

  /// The middle drawn towards where most of the belief lies, away from what is left of other places.
  private func focused(_ middle: Middle) -> Middle {
    guard rules.focus > 0, middle.spread > rules.focus else { return middle }
    let shares = cloud.shares()
    var found = middle
    var (east, north) = (Float(middle.point.x), Float(middle.point.y))
    var width = middle.spread
    for _ in 0..<4 {
      width = max(rules.focus, width * 0.7)
      let factor = -1 / (2 * width * width)
      var (sum, sumEast, sumNorth): (Float, Float, Float) = (0, 0, 0)
      for index in 0..<cloud.count where Int(cloud.floor[index]) == middle.floor {
        let (dx, dy) = (cloud.east[index] - east, cloud.north[index] - north)
        let share = shares[index] * FusionMath.exponential(factor * (dx * dx + dy * dy))
        sum += share
        sumEast += share * cloud.east[index]
        sumNorth += share * cloud.north[index]
      }
      guard sum > 1e-6 else { break }
      (east, north) = (sumEast / sum, sumNorth / sum)
    }
    found.point = Point(x: Double(east), y: Double(north))
    return found
  }

  /// The fix for a time up to which everything has been weighed.
  mutating func estimate(at time: Timestamp) -> FixEstimate? {
    let sources = evidence.sources
    evidence.sources = []
    let age = max(.zero, time - evidence.newest)
    let isWalking = time - gait.step < .seconds(2) && gait.speed > 0
    let speed = seesMotion(at: time) ? (isWalking ? Double(gait.speed) : 0) : sky.speed(at: time)
    if let far = sky.far(at: time) {
      return FixEstimate(
        time: time,
        floor: nil,
        point: .origin,
        coordinate: far.coordinate,
        horizontalAccuracy: far.radius + (time - far.time).seconds * (speed ?? Double(rules.blindWalk)),
        speed: speed,
        sources: sources,
        age: age,
        satellites: .needed
      )
    }
    guard let middle = middle().map({ focused($0) }), middle.building >= Locator.leastBuilding else {
      return nil
    }
    let floor = content.floors[middle.floor]
    let hidden = rules.hiddenError
    let spread = middle.spread * rules.spreadFactor
    let radius = (spread * spread + hidden * hidden).squareRoot()
    guard radius <= rules.vaguest else { return nil }
    let course = isWalking ? course() : nil
    var point = middle.point
    if let course, isWalking {
      let seconds = min((time - gait.step).seconds, Locator.longestForesight)
      let ahead = Bearing.eastAndNorth(Float(course))
      let way = Float(seconds) * gait.speed * rules.foresight
      point = point + Point(x: Double(way * ahead.east), y: Double(way * ahead.north))
    }
    let isOutside = sky.isOutside
    return FixEstimate(
      time: time,
      floor: isOutside ? nil : floor.id,
      point: isOutside ? .origin : point,
      coordinate: floor.plane.coordinate(of: point),
      horizontalAccuracy: Double(radius),
      speed: speed,
      course: course,
      sources: sources,
      age: age,
      satellites: sky.advice
    )
  }

  /// How probable the building must be for a fix: a point between two buildings is in neither.
  private static let leastBuilding: Float = 0.6
  /// How long after a step the next one is taken for granted.
  ///
  /// - Units: seconds. People take about 1.8 a second.
  private static let longestForesight = 0.6

  /// Where the subject walks to: the direction of its sensors, turned by the bias that is believed.
  private func course() -> Double? {
    guard gait.reference != nil, gait.east != 0 || gait.north != 0 else { return nil }
    let shares = cloud.shares()
    var (sine, cosine): (Float, Float) = (0, 0)
    for index in 0..<cloud.count {
      let turned = Bearing.eastAndNorth(cloud.bias[index])
      sine += shares[index] * turned.east
      cosine += shares[index] * turned.north
    }
    let angle = Bearing.of(east: gait.east, north: gait.north) + Bearing.of(east: sine, north: cosine)
    let wrapped = Double(Bearing.wrapped(angle))
    return wrapped < 0 ? wrapped + 2 * .pi : wrapped
  }
}
