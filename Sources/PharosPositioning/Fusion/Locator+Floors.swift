import PharosEvents
import PharosPlaces
import PharosReports

extension Locator {
  /// Lets some of the belief change floors: near stairs, lifts and escalators, or anywhere in a venue that knows none.
  mutating func leak(_ seconds: Float) {
    guard content.hasConnectors else { return leakAnywhere(seconds) }
    let chance = min(0.5, rules.connectorRate * seconds)
    for index in 0..<cloud.count {
      let floor = content.floors[Int(cloud.floor[index])]
      guard !floor.exits.isEmpty,
        floor.raster.cell(east: cloud.east[index], north: cloud.north[index]).contains(.connected),
        noise.share() < chance
      else { continue }
      let near = floor.exits.filter { reach(of: index, to: $0) <= rules.connectorReach }
      guard !near.isEmpty else { continue }
      leave(index, by: near[Int(noise.next() % UInt64(near.count))])
    }
  }

  private mutating func leakAnywhere(_ seconds: Float) {
    let chance = rules.leakRate * seconds
    for index in 0..<cloud.count {
      let neighbours = content.neighbours[Int(cloud.floor[index])]
      guard !neighbours.isEmpty, noise.share() < chance else { continue }
      let neighbour = neighbours[Int(noise.next() % UInt64(neighbours.count))]
      (cloud.east[index], cloud.north[index]) = neighbour.change(cloud.east[index], cloud.north[index])
      cloud.floor[index] = UInt8(truncatingIfNeeded: neighbour.floor)
    }
  }

  private func reach(of index: Int, to exit: GroundFloor.Exit) -> Float {
    let east = Float(exit.point.x) - cloud.east[index]
    let north = Float(exit.point.y) - cloud.north[index]
    return (east * east + north * north).squareRoot()
  }

  private mutating func leave(_ index: Int, by exit: GroundFloor.Exit) {
    cloud.east[index] = Float(exit.arrival.x) + Locator.arrivalSpread * noise.normal()
    cloud.north[index] = Float(exit.arrival.y) + Locator.arrivalSpread * noise.normal()
    cloud.floor[index] = UInt8(truncatingIfNeeded: exit.floor)
  }

  /// How far from a connector's end one is when it is over.
  ///
  /// - Units: metres.
  private static let arrivalSpread: Float = 1.5
  /// How far from a connector a climb may begin for the map's and the belief's own errors.
  ///
  /// - Units: metres.
  private static let climbReach: Float = 15

  /// Takes what the air pressure says: a way up or down as high as a storey or more.
  mutating func change(floorsBy climb: Climb) {
    guard climb.meters.isFinite, climb.meters.magnitude > rules.storey / 2, !cloud.isEmpty else { return }
    let rise = Int((climb.meters / rules.storey).rounded())
    let storeys = rise == 0 ? (climb.meters > 0 ? 1 : -1) : rise
    evidence.sources.insert(.motion)
    for index in 0..<cloud.count {
      let floor = content.floors[Int(cloud.floor[index])]
      let fitting = floor.exits.filter {
        ($0.rise - storeys).magnitude <= 1 && ($0.rise > 0) == (storeys > 0)
      }
      let nearest = fitting.min {
        (reach(of: index, to: $0), abs($0.rise - storeys)) < (
          reach(of: index, to: $1), abs($1.rise - storeys)
        )
      }
      if let nearest {
        let distance = reach(of: index, to: nearest)
        // A place far from every way up is no likely one to have climbed from.
        cloud.weight[index] -= max(0, distance - Locator.climbReach) * 0.2
        let there = fitting.filter { reach(of: index, to: $0) <= distance + 1 }
        let best = there.min { abs($0.rise - storeys) < abs($1.rise - storeys) } ?? nearest
        leave(index, by: best)
      } else if !content.hasConnectors {
        for _ in 0..<abs(storeys) {
          let here = content.floors[Int(cloud.floor[index])].id.level
          let neighbours = content.neighbours[Int(cloud.floor[index])]
          let next = neighbours.first { (content.floors[$0.floor].id.level > here) == (storeys > 0) }
          guard let next else { break }
          (cloud.east[index], cloud.north[index]) = next.change(cloud.east[index], cloud.north[index])
          cloud.floor[index] = UInt8(truncatingIfNeeded: next.floor)
        }
      } else {
        cloud.weight[index] -= 3
      }
    }
    cloud.resample(rules, &noise)
  }
}
