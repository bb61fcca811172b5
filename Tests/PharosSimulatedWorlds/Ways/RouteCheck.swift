package import PharosSpace
package import PharosWays

/// Checks that people can walk along a route.
package struct RouteCheck {
  private let space: FloorSpace
  private let walls: FloorSpace

  /// Makes a check of routes on a floor.
  package init(_ floor: Floor) {
    space = FloorSpace(floor)
    // A way touches the ends of walls and the corners of areas, to which coordinates are rounded.
    var shrunk = floor
    shrunk.walls = Walls(
      floor.walls.all.compactMap { wall in
        let along = wall.segment.end - wall.segment.start
        guard along.length > 0.15, let forward = along.direction else { return nil }
        return Wall(
          from: wall.segment.start + forward * 0.05,
          to: wall.segment.end - forward * 0.05,
          attenuation: 0
        )
      }
    )
    walls = FloorSpace(shrunk)
  }

  /// Returns whether every part of a route lies on walkable ground, but for two centimetres, and crosses no wall.
  package func isWalkable(_ route: WalkingRoute) -> Bool {
    for step in route.steps {
      for (from, to) in zip(step.points, step.points.dropFirst()) {
        let count = max(2, Int(from.distance(to: to) / 0.25))
        for number in 0...count {
          let point = from.interpolated(to: to, share: Double(number) / Double(count))
          guard let near = space.nearestWalkable(to: point), near.distance(to: point) < 0.02 else {
            return false
          }
        }
        guard from.distance(to: to) > 0.02, let forward = (to - from).direction else { continue }
        if walls.crossesWall(from: from + forward * 0.005, to: to - forward * 0.005) { return false }
      }
    }
    return true
  }
}
