import PharosReports

/// Where the handset pointed since the last step, the last moments first.
struct Pointing: Hashable, Sendable {
  private var east: Float = 0
  private var north: Float = 0
  private var looks: Float = 0
  /// The time of the last look.
  private(set) var time = Timestamp.distantPast

  /// Takes a look; one that shows straight up or down has no length and so no weight.
  mutating func add(_ look: (east: Float, north: Float), at time: Timestamp, window: Float) {
    // Who stood and turned before the step walks where the turn ended.
    let kept = looks > 0 ? window / (window + Float((time - self.time).seconds)) : 0
    east *= kept
    north *= kept
    looks *= kept
    self.time = time
    let length = (look.east * look.east + look.north * look.north).squareRoot()
    guard length > 0.05 else { return }
    east += look.east / length
    north += look.north / length
    looks += 1
  }

  /// The mean direction.
  var bearing: Float { Bearing.of(east: east, north: north) }

  /// How much the looks differ, in radians: the deviation of the wrapped normal distribution with their mean's length, to second order.
  var spread: Float {
    guard looks > 0 else { return Compass.anyDirection }
    let share = min(1, (east * east + north * north).squareRoot() / looks)
    return min(Compass.anyDirection, (2 * (1 - share)).squareRoot())
  }
}
