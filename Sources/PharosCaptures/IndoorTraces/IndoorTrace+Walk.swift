package import PharosReports

extension IndoorTrace {
  /// The span that the waypoints cover: only within it is the truth known.
  package var walk: ClosedRange<Timestamp>? {
    guard let first = waypoints.first, let last = waypoints.last else { return nil }
    return first.time...last.time
  }

  /// Returns the surveyor's position: on a straight line between two waypoints, at an even pace.
  ///
  /// The waypoints lie at turns and stops, so that the line is the path. The true pace is not even: a surveyor who
  /// pauses for two seconds between two waypoints is placed up to a metre or two off. Nil outside ``walk``.
  package func position(at time: Timestamp) -> (x: Double, y: Double)? {
    guard let walk, walk.contains(time) else { return nil }
    var low = 0
    var high = waypoints.count - 1
    while high - low > 1 {
      let middle = (low + high) / 2
      if waypoints[middle].time <= time { low = middle } else { high = middle }
    }
    let (before, after) = (waypoints[low], waypoints[high])
    let span = after.time - before.time
    let share = span == .zero ? 0 : (time - before.time) / span
    return (before.x + share * (after.x - before.x), before.y + share * (after.y - before.y))
  }
}
