import PharosReports

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
