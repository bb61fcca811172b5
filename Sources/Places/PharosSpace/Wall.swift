public import PharosModel

/// Something upright that radio passes through and loses level in.
public struct Wall: Hashable, Sendable {
  /// The line of the wall.
  public var segment: Segment
  /// The loss of a signal that passes through it.
  ///
  /// - Units: dB. At 2.4 GHz plasterboard takes about 3, glass 2 to 4 (coated 10 and more), brick 6 to 10,
  ///   concrete 10 to 20, a lift's steel 30.
  /// - Source: ITU-R P.1238 and P.2040, and the multi-wall model of COST 231.
  public var attenuation: Double

  /// Makes a wall between two places.
  public init(from start: Point, to end: Point, attenuation: Double) {
    segment = Segment(from: start, to: end)
    self.attenuation = attenuation
  }
}

/// All walls of a floor, and what they do to the straight line between two places.
public struct Walls: Hashable, Sendable {
  /// The walls, in no order that matters.
  public var all: [Wall]

  /// Makes a set of walls.
  public init(_ all: [Wall] = []) { self.all = all }

  /// Returns the number of walls that a straight line passes through.
  ///
  /// - Complexity: O(walls), without allocation.
  public func count(between start: Point, and end: Point) -> Int {
    let line = Segment(from: start, to: end)
    var count = 0
    for wall in all where wall.segment.crosses(line) { count += 1 }
    return count
  }

  /// Returns the loss of a signal in the walls on a straight line between two places.
  ///
  /// - Units: dB.
  /// - Complexity: O(walls), without allocation.
  public func attenuation(between start: Point, and end: Point) -> Double {
    let line = Segment(from: start, to: end)
    var sum = 0.0
    for wall in all where wall.segment.crosses(line) { sum += wall.attenuation }
    return sum
  }

  /// Adds the four walls around a rectangle.
  ///
  /// - Parameters:
  ///   - southWest: One corner.
  ///   - northEast: The corner opposite.
  ///   - attenuation: The loss in each wall, in dB.
  public mutating func enclose(southWest: Point, northEast: Point, attenuation: Double) {
    let southEast = Point(x: northEast.x, y: southWest.y)
    let northWest = Point(x: southWest.x, y: northEast.y)
    let corners = [southWest, southEast, northEast, northWest]
    for (index, corner) in corners.enumerated() {
      let next = corners[(index + 1) % corners.count]
      all.append(Wall(from: corner, to: next, attenuation: attenuation))
    }
  }
}

extension Walls: ExpressibleByArrayLiteral {
  /// Makes a set of walls from a literal.
  public init(arrayLiteral elements: Wall...) { self.init(elements) }
}

extension Walls {
  /// The distance up to which a door may be drawn beside a wall.
  ///
  /// - Units: metres. Maps draw doors on the line of the wall; hands draw them on either face of it.
  static let doorTolerance = 0.3

  /// The walls with gaps where doors are: a door's line lies along the wall that it opens, at most 0.3 m beside it.
  ///
  /// - Complexity: O(walls + doors) where doors are spread over a floor.
  public func opened(by doors: [Segment]) -> Walls { opened(by: doors, within: Walls.doorTolerance) }

  /// The walls with gaps where doors lie along them within a distance.
  func opened(by doors: [Segment], within tolerance: Double) -> Walls {
    guard !doors.isEmpty else { return self }
    let frame = GridFrame(over: doors.flatMap { [$0.start, $0.end] }, cell: Walls.doorCell)
    let lists = CellLists(cells: frame.count, count: doors.count) { index, note in
      let ends = [doors[index].start, doors[index].end]
      guard let extent = Extent(around: ends) else { return }
      frame.forEachCell(in: extent, margin: tolerance, note)
    }
    return Walls(
      all.flatMap { wall in
        var near: Set<Int> = []
        frame.forEachCell(along: wall.segment) { cell in
          for place in lists.places(in: cell) { near.insert(lists.number(at: place)) }
          return true
        }
        return wall.opened(by: near.sorted().map { doors[$0] }, within: tolerance)
      }
    )
  }

  /// The side of a cell in which doors are looked for.
  ///
  /// - Units: metres.
  private static let doorCell = 2.0

  /// The walls with those left out that another one repeats, in the same direction or the other.
  ///
  /// Two rooms that share a wall bring it twice; its attenuation counts once, the larger one of the two.
  public func withoutRepeats() -> Walls {
    var places: [Segment: Int] = [:]
    var kept: [Wall] = []
    for wall in all {
      let turned = Segment(from: wall.segment.end, to: wall.segment.start)
      if let place = places[wall.segment] ?? places[turned] {
        kept[place].attenuation = max(kept[place].attenuation, wall.attenuation)
      } else {
        places[wall.segment] = kept.count
        kept.append(wall)
      }
    }
    return Walls(kept)
  }
}

extension Wall {
  /// The shortest piece of a wall that is kept between two gaps.
  ///
  /// - Units: metres.
  private static let shortest = 1e-5

  fileprivate func opened(by doors: [Segment], within tolerance: Double) -> [Wall] {
    let along = segment.end - segment.start
    let length = along.length
    guard let forward = along.direction else { return [] }
    var gaps: [(low: Double, high: Double)] = []
    for door in doors {
      let ends = [door.start - segment.start, door.end - segment.start]
      guard ends.allSatisfy({ forward.cross($0).magnitude <= tolerance }) else { continue }
      let shares = ends.map { min(max(0, forward.dot($0)), length) }
      guard let low = shares.min(), let high = shares.max(), high > low else { continue }
      gaps.append((low, high))
    }
    guard !gaps.isEmpty else { return [self] }
    gaps.sort { $0.low < $1.low }
    var pieces: [Wall] = []
    var position = 0.0
    for gap in gaps + [(length, length)] {
      if gap.low > position + Wall.shortest {
        let start = segment.start + forward * position
        let end = gap.low == length ? segment.end : segment.start + forward * gap.low
        pieces.append(Wall(from: start, to: end, attenuation: attenuation))
      }
      position = max(position, gap.high)
    }
    return pieces
  }
}
