import PharosPlaces

extension ParticleCloud {
  /// Moves all by a step, each in its own direction and by its own length; steps that cost are less believed.
  ///
  /// - Parameters:
  ///   - length: what the sensors say, in metres.
  ///   - lengthDeviation: how far that may be off for this step, in metres.
  ///   - heading: what the sensors say, in radians from north clockwise.
  ///   - headingDeviation: how far that may be off for this step.
  ///   - content: the floors.
  ///   - rules: the constants.
  ///   - noise: where chance comes from.
  mutating func walk(
    length: Float,
    lengthDeviation: Float,
    heading: Float,
    headingDeviation: Float,
    _ content: Ground.Content,
    _ rules: FusionRules,
    _ noise: inout FusionNoise
  ) {
    for index in 0..<count {
      bias[index] += rules.biasWander * noise.normal()
      let way = max(0, (length + lengthDeviation * noise.normal()) * scale[index])
      let direction = Bearing.eastAndNorth(heading + bias[index] + headingDeviation * noise.normal())
      let (fromEast, fromNorth) = (east[index], north[index])
      let (toEast, toNorth) = (fromEast + way * direction.east, fromNorth + way * direction.north)
      let cost = content.floors[Int(floor[index])].cost(
        east: fromEast,
        north: fromNorth,
        toEast: toEast,
        toNorth: toNorth,
        rules
      )
      weight[index] -= cost
      east[index] = toEast
      north[index] = toNorth
    }
  }
}

extension GroundFloor {
  /// What a straight step costs, in nats.
  @inline(__always)
  func cost(
    east: Float,
    north: Float,
    toEast: Float,
    toNorth: Float,
    _ rules: FusionRules
  ) -> Float {
    let start = raster.cell(east: east, north: north)
    let end = raster.cell(east: toEast, north: toNorth)
    var cost: Float = 0
    if !end.contains(.walkable) { cost += start.contains(.walkable) ? rules.obstacleCost : rules.insideCost }
    if start.contains(.walled) || end.contains(.walled),
      space.crossesWall(
        from: Point(x: Double(east), y: Double(north)),
        to: Point(x: Double(toEast), y: Double(toNorth))
      )
    {
      cost += rules.wallCost
    }
    return cost
  }
}
