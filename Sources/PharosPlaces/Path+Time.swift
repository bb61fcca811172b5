public import PharosReports

extension Path {
  /// Where one is at a time since the path began; before it one waits at the first stop.
  ///
  /// - Complexity: O(log stops), without allocation.
  public func position(at time: TimeSpan) -> Point {
    let local = localTime(time)
    guard let leg = lastLeg(begunBy: local) else { return stops[0].point }
    guard local < leg.ends else { return leg.to }
    let share = (local - leg.starts) / (leg.ends - leg.starts)
    return leg.from.interpolated(to: leg.to, share: share)
  }

  /// Whether one walks at a time.
  public func isMoving(at time: TimeSpan) -> Bool {
    let local = localTime(time)
    guard let leg = lastLeg(begunBy: local) else { return false }
    return local < leg.ends
  }

  /// The direction one faces: that of the present walk, at a stop that of the walk that led there.
  ///
  /// Nil for who never walks. Before the first walk one faces where it will lead.
  public func heading(at time: TimeSpan) -> Point? {
    let leg = lastLeg(begunBy: localTime(time)) ?? (time < duration || !loops ? legs.first : legs.last)
    return leg.flatMap { ($0.to - $0.from).direction }
  }

  /// For how long one has stood still: zero while walking, nil if one never walked before.
  public func stillness(at time: TimeSpan) -> TimeSpan? {
    let local = localTime(time)
    if let leg = lastLeg(begunBy: local) { return local < leg.ends ? .zero : local - leg.ends }
    guard loops, time >= duration, let last = legs.last else { return nil }
    return local + (duration - last.ends)
  }

  /// When one next sets out, later than a time; nil if never again.
  public func nextDeparture(after time: TimeSpan) -> TimeSpan? {
    guard let first = legs.first else { return nil }
    let local = localTime(time)
    if let leg = legs.first(where: { $0.starts > local }) { return time + (leg.starts - local) }
    guard loops else { return nil }
    return time + (duration - local) + first.starts
  }

  /// The time within the present round.
  private func localTime(_ time: TimeSpan) -> TimeSpan {
    guard loops, duration > .zero, time >= duration else { return time }
    return TimeSpan(nanoseconds: time.nanoseconds % duration.nanoseconds)
  }

  private func lastLeg(begunBy time: TimeSpan) -> Leg? {
    var low = 0
    var high = legs.count
    while low < high {
      let middle = (low + high) / 2
      if legs[middle].starts <= time { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? legs[low - 1] : nil
  }
}
