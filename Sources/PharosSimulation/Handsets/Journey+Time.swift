package import PharosPlaces
package import PharosReports

extension Journey {
  /// Where one is at a time since the journey began; before it one stands at its begin, behind it at its end.
  ///
  /// - Complexity: O(log stages), without allocation.
  package func place(at time: TimeSpan) -> Place {
    let stage = stage(at: time)
    let share = Journey.share(of: stage, at: time)
    return Place(
      floor: stage.from.floor,
      point: stage.from.point.interpolated(to: stage.to.point, share: share),
      height: stage.from.height + (stage.to.height - stage.from.height) * Journey.rise(stage.rise, share),
      isOutdoors: stage.isOutdoors,
      manner: share < 1 ? stage.manner : .standing
    )
  }

  /// How many steps one has taken by a time, with the part of the one under way.
  package func steps(at time: TimeSpan) -> Double {
    let stage = stage(at: time)
    return stage.stepsBefore + stage.steps * Journey.share(of: stage, at: time)
  }

  /// The direction one faces, as a vector of length one: that of the present way, at a stop that of the way that led there
  /// until one turns to leave.
  package func heading(at time: TimeSpan) -> Point {
    let direction = Trigonometry.sineAndCosine(turns.bearing(at: time))
    return Point(x: direction.sine, y: direction.cosine)
  }

  private func stage(at time: TimeSpan) -> Stage { stages[max(0, index(at: time))] }

  /// The last stage begun by a time, or −1 before the first.
  private func index(at time: TimeSpan) -> Int {
    var low = 0
    var high = stages.count
    while low < high {
      let middle = (low + high) / 2
      if stages[middle].starts <= time { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  private static func share(of stage: Stage, at time: TimeSpan) -> Double {
    guard time > stage.starts else { return 0 }
    guard time < stage.ends else { return 1 }
    return (time - stage.starts) / (stage.ends - stage.starts)
  }

  /// How much of a stage's height is gained by a share of its time.
  ///
  /// A gentle way as a whole follows 3u² − 2u³, the shortest polynomial that begins and ends at rest.
  private static func rise(_ rise: Stage.Rise, _ share: Double) -> Double {
    func gentle(_ u: Double) -> Double { u * u * (3 - 2 * u) }
    return switch rise {
    case .steady: share
    case .gentleStart: 2 * gentle(share / 2)
    case .gentleEnd: 2 * gentle(0.5 + share / 2) - 1
    }
  }
}
