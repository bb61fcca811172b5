import PharosModel

/// A point on a floor, in metres.
struct FloorPoint: Hashable, Sendable {
  var x: Double
  var y: Double

  func distance(to other: FloorPoint) -> Double {
    ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
  }
}

/// The distance of a tag that a node reports.
struct NodeRange: Sendable {
  var place: FloorPoint
  /// Metres.
  var distance: Double
}

/// The point that fits the distances of several nodes best.
///
/// - Source: the companion seeds with inverse-square weights (with two nodes it takes the point midway), then minimises
///   the squared errors of the distances, nearer nodes weighing more, within the bounds of the floor.
/// - Simplified: damped Gauss-Newton in place of a simplex search, which has the same minimum; no common scale of the
///   distances is fitted; the bounds are those of the nodes and a metre more.
enum Multilateration {
  /// A point, and how well it agrees with the distances.
  struct Solution: Sendable {
    var point: FloorPoint
    /// From 1 for no error down to 0.
    var fit: Double
    /// Pearson's, of the reported distances and those of the point; 0 where there is none.
    var correlation: Double
  }

  private static let rounds = 12

  /// Solves for at least two nodes, the nearest first.
  static func solve(_ ranges: [NodeRange]) -> Solution {
    guard ranges.count > 2 else {
      let (first, second) = (ranges[0].place, ranges[ranges.count - 1].place)
      let middle = FloorPoint(x: (first.x + second.x) / 2, y: (first.y + second.y) / 2)
      return Solution(point: middle, fit: fit(of: middle, to: ranges), correlation: 0)
    }
    var point = seed(ranges)
    var damping = 0.01
    var cost = Multilateration.cost(of: point, to: ranges)
    for _ in 0..<rounds {
      let trial = held(step(from: point, ranges, damping: damping), within: ranges)
      let trialCost = Multilateration.cost(of: trial, to: ranges)
      if trialCost < cost {
        (point, cost) = (trial, trialCost)
        damping /= 4
      } else {
        damping *= 8
      }
    }
    return Solution(point: point, fit: fit(of: point, to: ranges), correlation: correlation(point, ranges))
  }

  private static func weight(_ range: NodeRange) -> Double { 1 / max(0.01, range.distance * range.distance) }

  private static func seed(_ ranges: [NodeRange]) -> FloorPoint {
    var (x, y, sum) = (0.0, 0.0, 0.0)
    for range in ranges {
      let weight = weight(range)
      x += weight * range.place.x
      y += weight * range.place.y
      sum += weight
    }
    return FloorPoint(x: x / sum, y: y / sum)
  }

  private static func cost(of point: FloorPoint, to ranges: [NodeRange]) -> Double {
    var sum = 0.0
    for range in ranges {
      let error = point.distance(to: range.place) - range.distance
      sum += weight(range) * error * error
    }
    return sum
  }

  /// One step of Gauss and Newton, shortened by Levenberg's damping.
  private static func step(from point: FloorPoint, _ ranges: [NodeRange], damping: Double) -> FloorPoint {
    var (xx, xy, yy, gx, gy) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for range in ranges {
      let distance = max(1e-6, point.distance(to: range.place))
      let (dx, dy) = ((point.x - range.place.x) / distance, (point.y - range.place.y) / distance)
      let (weight, error) = (weight(range), distance - range.distance)
      xx += weight * dx * dx
      xy += weight * dx * dy
      yy += weight * dy * dy
      gx += weight * dx * error
      gy += weight * dy * error
    }
    let lift = damping * (xx + yy) + 1e-12
    let determinant = (xx + lift) * (yy + lift) - xy * xy
    guard determinant > 0 else { return point }
    return FloorPoint(
      x: point.x - ((yy + lift) * gx - xy * gy) / determinant,
      y: point.y - ((xx + lift) * gy - xy * gx) / determinant
    )
  }

  private static func held(_ point: FloorPoint, within ranges: [NodeRange]) -> FloorPoint {
    var (left, right, bottom, top) = (Double.infinity, -Double.infinity, Double.infinity, -Double.infinity)
    for range in ranges {
      left = min(left, range.place.x - 1)
      right = max(right, range.place.x + 1)
      bottom = min(bottom, range.place.y - 1)
      top = max(top, range.place.y + 1)
    }
    return FloorPoint(x: min(right, max(left, point.x)), y: min(top, max(bottom, point.y)))
  }

  private static func fit(of point: FloorPoint, to ranges: [NodeRange]) -> Double {
    var sum = 0.0
    for range in ranges {
      let error = point.distance(to: range.place) - range.distance
      sum += error * error
    }
    return 1 / (1 + (sum / Double(ranges.count)).squareRoot())
  }

  private static func correlation(_ point: FloorPoint, _ ranges: [NodeRange]) -> Double {
    let count = Double(ranges.count)
    let modelled = ranges.map { point.distance(to: $0.place) }
    let meanModel = modelled.reduce(0, +) / count
    let meanReport = ranges.reduce(0) { $0 + $1.distance } / count
    var (product, modelSquare, reportSquare) = (0.0, 0.0, 0.0)
    for (model, range) in zip(modelled, ranges) {
      product += (model - meanModel) * (range.distance - meanReport)
      modelSquare += (model - meanModel) * (model - meanModel)
      reportSquare += (range.distance - meanReport) * (range.distance - meanReport)
    }
    guard modelSquare > 0, reportSquare > 0 else { return 0 }
    return max(0, product / (modelSquare * reportSquare).squareRoot())
  }
}

/// A Kalman filter that takes a tag to go on as fast as it goes.
///
/// Six states in the companion, place and speed on three axes; the axes have the same noise and do not mix, so that it is
/// three filters of two states, of which the height is left out here.
///
/// - Shape: for each axis x = (place, speed), P 2 × 2.
/// - Source: companion `config.example.yaml`: process 0.01, measurement 0.1, at most 0.5 m/s; a jump beyond that is not
///   refused, but its measurement noise grows with the square of the excess.
struct ConstantVelocityFilter: Sendable {
  private static let process = 0.01
  private static let measurement = 0.1
  /// Metres a second.
  private static let fastest = 0.5

  private struct Axis: Sendable {
    var place: Double
    var speed = 0.0
    var placeVariance = 1.0
    var covariance = 0.0
    var speedVariance = 1.0

    mutating func predict(by elapsed: Double) {
      let q = ConstantVelocityFilter.process
      let square = elapsed * elapsed
      place += speed * elapsed
      placeVariance += 2 * elapsed * covariance + square * speedVariance + q * square * square / 4
      covariance += elapsed * speedVariance + q * square * elapsed / 2
      speedVariance += q * square
    }

    mutating func correct(with measured: Double, noise: Double) {
      let innovation = measured - place
      let sum = placeVariance + noise
      let (placeGain, speedGain) = (placeVariance / sum, covariance / sum)
      place += placeGain * innovation
      speed += speedGain * innovation
      speedVariance -= speedGain * covariance
      covariance -= placeGain * covariance
      placeVariance -= placeGain * placeVariance
    }
  }

  private var state: (x: Axis, y: Axis, time: Timestamp)?

  /// Moves on to an instant and gives where the tag should be then, if it was ever seen.
  mutating func predict(to time: Timestamp) -> FloorPoint? {
    guard var state else { return nil }
    let elapsed = max(0, (time - state.time).seconds)
    state.x.predict(by: elapsed)
    state.y.predict(by: elapsed)
    elapsedSinceCorrection += elapsed
    state.time = time
    self.state = state
    return FloorPoint(x: state.x.place, y: state.y.place)
  }

  /// Takes a measured place.
  mutating func correct(with point: FloorPoint, at time: Timestamp) {
    guard var state else {
      self.state = (Axis(place: point.x), Axis(place: point.y), time)
      return
    }
    let jump = point.distance(to: FloorPoint(x: state.x.place, y: state.y.place))
    let reach = ConstantVelocityFilter.fastest * max(0.1, elapsedSinceCorrection)
    let excess = max(1, jump / reach)
    let noise = ConstantVelocityFilter.measurement * excess * excess
    state.x.correct(with: point.x, noise: noise)
    state.y.correct(with: point.y, noise: noise)
    elapsedSinceCorrection = 0
    self.state = state
  }

  private var elapsedSinceCorrection = 0.0
}
