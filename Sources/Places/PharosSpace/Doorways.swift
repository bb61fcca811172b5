import PharosModel

/// Finds what the doors of a floor open.
///
/// Outlines of rooms seldom share a line: they lie a rounding or the thickness of a wall apart, and the strip between them
/// belongs to no area. For each door:
///
/// 1. Move the door onto the nearest line that it lies along.
/// 2. Cut its length into slabs at the ends and crossings of the lines near it, so that lines keep their order in a slab.
/// 3. List the barriers across each slab: walls, and strips that belong to no area or to an obstacle between two areas.
/// 4. The nearest barrier, and those that lie with it within a wall's thickness, are one wall. The door opens it.
///
/// A door joins two areas. Where it is drawn longer than the wall of the two areas that share most of its length, the rest
/// stays closed.
package struct Doorways {
  fileprivate let areas: AreaIndex
  /// The sides of all areas, followed by the walls.
  fileprivate let lines: SegmentGrid
  fileprivate let sideCount: Int

  /// The largest distance between the outlines of two areas that a door joins.
  ///
  /// - Units: metres. Partitions are 0.1 m thick, brick walls 0.24 m.
  package static let wallThickness = Walls.doorTolerance
  /// The error of a distance between two coordinates that were written with seven decimals of a degree.
  ///
  /// - Units: metres.
  fileprivate static let rounding = 0.02
  fileprivate static let tolerance = wallThickness + rounding
  /// The distance below which two lines are one.
  ///
  /// - Units: metres.
  fileprivate static let nearness = 2e-6
  /// The maximum number of lines that are compared at a door: a hundred times as many as at the doors of malls.
  fileprivate static let maximumLines = 1_000

  package init(_ floor: Floor) {
    let all = floor.walkable + floor.obstacles
    let sides = all.flatMap(\.sides)
    let segments = sides + floor.walls.all.map(\.segment)
    let ends = segments.flatMap { [$0.start, $0.end] }
    let frame = GridFrame(over: ends, cell: 2, areas: all, lines: segments)
    areas = AreaIndex(walkable: floor.walkable, obstacles: floor.obstacles, frame: frame)
    lines = SegmentGrid(segments, frame: frame)
    sideCount = sides.count
  }

  /// What a door opens.
  package struct Opening {
    /// The line of the door, moved onto the wall that it opens.
    var segment: Segment
    /// The floor between the two faces of the wall.
    var thresholds: [Area] = []
    /// The pieces of walls that are gone.
    var faces: [Segment] = []
    /// The walkable areas on both sides, by their index.
    package var joined: Set<Int> = []

    fileprivate mutating func add(_ passage: Passage.Open) {
      thresholds += passage.thresholds
      faces += passage.faces
      joined.formUnion(passage.sides.below.union(passage.sides.above))
    }
  }

  /// Returns what a door opens.
  func opening(of door: Segment) -> Opening {
    let profile = Profile(along: base(of: door), door: door, near(door, Doorways.reach), self)
    let passages = profile.slabs.map { profile.passage(in: $0) }
    // The two areas that share most of the door.
    var widths: [Passage.Sides: Double] = [:]
    for case .open(let passage) in passages { widths[passage.sides, default: 0] += passage.width }
    let best = widths.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    var opening = Opening(segment: profile.base)
    for case .open(let passage) in passages {
      guard let best, passage.sides.shares(best) else { continue }
      opening.add(passage)
    }
    for case .closed(let faces) in passages { opening.faces += faces }
    return opening
  }

  /// Returns what is open along a side of a room towards some areas.
  package func opening(along side: Segment, of room: Int, towards halls: Set<Int>) -> Opening {
    let profile = Profile(along: side, door: side, near(side, Doorways.reach), self)
    var opening = Opening(segment: side)
    for slab in profile.slabs {
      guard case .open(let passage) = profile.passage(in: slab) else { continue }
      let (below, above) = (passage.sides.below, passage.sides.above)
      guard
        below.contains(room) && !halls.isDisjoint(with: above)
          || above.contains(room) && !halls.isDisjoint(with: below)
      else { continue }
      opening.add(passage)
    }
    return opening
  }

  /// Returns the distance between the two outlines at the middle of a door, however large; nil if no area lies near on
  /// one of its sides.
  ///
  /// - Units: metres.
  package func gap(at door: Segment) -> Double? {
    let profile = Profile(
      along: base(of: door),
      door: door,
      near(door, Doorways.farReach),
      self,
      Doorways.farReach
    )
    let middle = profile.base.length / 2
    guard let slab = profile.slabs.first(where: { $0.from <= middle && $0.to >= middle }) else { return nil }
    return profile.nearestBarrier(in: slab).map { $0.high - $0.low }
  }

  /// The distance from a door up to which the areas beside it are looked for: it may lie a wall's thickness beside a wall.
  fileprivate static let reach = 2 * tolerance + 0.05
  /// The same for measuring a gap that is too wide.
  fileprivate static let farReach = 3.0

  /// The lines near a door.
  private func near(_ door: Segment, _ reach: Double) -> [Int] {
    guard let extent = Extent(around: [door.start, door.end]) else { return [] }
    var found: Set<Int> = []
    lines.forEachSegment(in: extent, margin: reach) { found.insert($0) }
    return Array(found.sorted().prefix(Doorways.maximumLines))
  }

  /// The door moved onto the nearest line that it lies along, or the door itself where there is none.
  private func base(of door: Segment) -> Segment {
    var best: (moved: Segment, distance: Double)?
    for number in near(door, Doorways.tolerance) {
      let line = lines.segments[number]
      let along = line.end - line.start
      guard let forward = along.direction else { continue }
      let ends = [door.start - line.start, door.end - line.start]
      let shares = ends.map { forward.dot($0) }
      let distance = ends.map { forward.cross($0).magnitude }.max() ?? 0
      guard distance <= Doorways.tolerance, distance < best?.distance ?? .infinity,
        shares.max() ?? 0 > 0, shares.min() ?? 0 < along.length
      else { continue }
      let moved = shares.map { line.start + forward * $0 }
      best = (Segment(from: moved[0], to: moved[1]), distance)
    }
    return best?.moved ?? door
  }

  // MARK: Across a door

  /// A part of a door's length in which the lines near it neither end nor cross.
  fileprivate struct Slab {
    let from: Double
    let to: Double
    /// The lines across it, from right to left.
    let lines: [Profile.Line]
  }

  /// The result of looking across a slab.
  fileprivate enum Passage {
    /// Two areas that the door joins.
    struct Sides: Hashable, Comparable {
      let below: Set<Int>
      let above: Set<Int>

      /// Returns whether both lie between the same areas, apart from those that reach over the wall, as a hall under all
      /// of its rooms.
      func shares(_ other: Sides) -> Bool {
        func isSame(_ one: Set<Int>, _ another: Set<Int>) -> Bool {
          one.isEmpty && another.isEmpty || !one.isDisjoint(with: another)
        }
        let common = below.intersection(above).union(other.below.intersection(other.above))
        return isSame(below.subtracting(common), other.below.subtracting(common))
          && isSame(above.subtracting(common), other.above.subtracting(common))
      }

      static func < (left: Sides, right: Sides) -> Bool {
        (left.below.min() ?? 0, left.above.min() ?? 0) < (right.below.min() ?? 0, right.above.min() ?? 0)
      }
    }

    struct Open {
      let sides: Sides
      let width: Double
      let thresholds: [Area]
      let faces: [Segment]
    }

    /// People can pass.
    case open(Open)
    /// No area lies beyond the wall, which is open for radio alone.
    case closed(faces: [Segment])
    /// There is no wall.
    case none
  }

  /// The lines near a door, by their distance along it and to its left.
  fileprivate struct Profile {
    /// A line from lower to higher distances along the door.
    struct Line {
      let from: Point
      let to: Point
      let isWall: Bool

      /// The distance to the left of the base at a distance along it.
      func y(at x: Double) -> Double { from.y + (to.y - from.y) * (x - from.x) / (to.x - from.x) }
    }

    /// Something that stops people between two places where they can walk.
    struct Barrier {
      /// The range of lines in the slab.
      var lines: ClosedRange<Int>
      let low: Double
      let high: Double

      func distance(to height: Double) -> Double { max(0, low - height, height - high) }
    }

    let base: Segment
    private(set) var slabs: [Slab] = []
    private let doorways: Doorways
    private let reach: Double
    private let forward: Point
    private let aside: Point
    /// The distances of the ends of the door, as it is drawn, to the left of the base.
    private let drawn: (start: Double, end: Double)

    init(
      along base: Segment,
      door: Segment,
      _ near: [Int],
      _ doorways: Doorways,
      _ reach: Double = Doorways.reach
    ) {
      self.base = base
      self.doorways = doorways
      self.reach = reach
      forward = (base.end - base.start).direction ?? Point(x: 1, y: 0)
      aside = Point(x: -forward.y, y: forward.x)
      drawn = (aside.dot(door.start - base.start), aside.dot(door.end - base.start))
      let length = base.length
      var lines: [Line] = []
      for number in near {
        let segment = doorways.lines.segments[number]
        let ends = [segment.start, segment.end].map { point in
          Point(x: forward.dot(point - base.start), y: aside.dot(point - base.start))
        }.sorted { $0.x < $1.x }
        // A line across the door separates nothing along it.
        guard ends[1].x - ends[0].x > Doorways.nearness, ends[1].x > 0, ends[0].x < length else { continue }
        lines.append(Line(from: ends[0], to: ends[1], isWall: number >= doorways.sideCount))
      }
      var cuts = [0, length]
      for (number, line) in lines.enumerated() {
        cuts += [line.from.x, line.to.x]
        for other in lines[..<number] {
          let (low, high) = (max(line.from.x, other.from.x), min(line.to.x, other.to.x))
          guard low < high else { continue }
          let (before, after) = (line.y(at: low) - other.y(at: low), line.y(at: high) - other.y(at: high))
          if before * after < 0 { cuts.append(low + (high - low) * before / (before - after)) }
        }
      }
      cuts = cuts.filter { $0 >= 0 && $0 <= length }.sorted()
      var from = 0.0
      for to in cuts where to - from > Doorways.nearness || to == length && to > from {
        let middle = (from + to) / 2
        let center = self.center(at: middle)
        let across = lines.filter { line in
          line.from.x < middle && line.to.x > middle && (line.y(at: middle) - center).magnitude < reach
        }
        slabs.append(Slab(from: from, to: to, lines: across.sorted { $0.y(at: middle) < $1.y(at: middle) }))
        from = to
      }
    }

    /// The distance of the door, as it is drawn, to the left of the base.
    private func center(at x: Double) -> Double {
      let length = base.length
      return length > 0 ? drawn.start + (drawn.end - drawn.start) * x / length : drawn.start
    }

    private func point(_ x: Double, _ y: Double) -> Point { base.start + forward * x + aside * y }

    /// The barriers of a slab between two places where people can walk, and the walls that have none behind them.
    private func barriers(in slab: Slab) -> (passable: [Barrier], others: [Line]) {
      let middle = (slab.from + slab.to) / 2
      let center = self.center(at: middle)
      let heights = [center - reach] + slab.lines.map { $0.y(at: middle) } + [center + reach]
      // For each gap between neighbours: nil if they are one line, else whether people can walk there.
      let isFree: [Bool?] = zip(heights, heights.dropFirst()).map { low, high in
        guard high - low > Doorways.nearness else { return nil }
        return doorways.areas.isWalkable(point(middle, (low + high) / 2))
      }
      var found: [Barrier] = []
      var others: [Line] = []
      var first = 0
      while first < slab.lines.count {
        var last = first
        var isBarrier = slab.lines[first].isWall
        while last + 1 < slab.lines.count, isFree[last + 1] != true {
          isBarrier = isBarrier || isFree[last + 1] == false || slab.lines[last + 1].isWall
          last += 1
        }
        if isFree[first] == false || isFree[last + 1] == false {
          others += slab.lines[first...last]
        } else if isBarrier {
          found.append(Barrier(lines: first...last, low: heights[first + 1], high: heights[last + 1]))
        }
        first = last + 1
      }
      return (found, others)
    }

    /// The barrier nearest to the door.
    func nearestBarrier(in slab: Slab) -> Barrier? {
      let center = self.center(at: (slab.from + slab.to) / 2)
      return barriers(in: slab).passable.min { $0.distance(to: center) < $1.distance(to: center) }
    }

    /// Looks across a slab.
    func passage(in slab: Slab) -> Passage {
      let middle = (slab.from + slab.to) / 2
      let center = self.center(at: middle)
      let (barriers, others) = barriers(in: slab)
      func closed(_ lines: [Line]) -> Passage {
        let near = lines.filter { $0.isWall && ($0.y(at: middle) - center).magnitude <= Doorways.tolerance }
        return near.isEmpty ? .none : .closed(faces: near.map { face($0, slab) })
      }
      let order = barriers.indices.min {
        barriers[$0].distance(to: center) < barriers[$1].distance(to: center)
      }
      guard let nearest = order, barriers[nearest].distance(to: center) <= Doorways.tolerance else {
        return closed(others)
      }
      func isThin(_ low: Int, _ high: Int) -> Bool {
        barriers[high].high - barriers[low].low <= Doorways.tolerance
      }
      func isAtDoor(_ barrier: Barrier) -> Bool {
        max((barrier.low - center).magnitude, (barrier.high - center).magnitude) <= Doorways.tolerance
      }
      guard isThin(nearest, nearest) || isAtDoor(barriers[nearest]) else {
        return closed(others + slab.lines[barriers[nearest].lines])
      }
      var (low, high) = (nearest, nearest)
      while high + 1 < barriers.count, isThin(low, high + 1) || isAtDoor(barriers[high + 1]) { high += 1 }
      while low > 0, isThin(low - 1, high) || isAtDoor(barriers[low - 1]) { low -= 1 }
      let opened = barriers[low...high]
      return .open(
        Passage.Open(
          sides: Passage.Sides(
            below: areas(beside: barriers[low].low, -1, middle),
            above: areas(beside: barriers[high].high, 1, middle)
          ),
          width: slab.to - slab.from,
          thresholds: opened.compactMap { threshold($0, slab) },
          faces: opened.flatMap { slab.lines[$0.lines].filter(\.isWall).map { face($0, slab) } }
        )
      )
    }

    /// The areas that lie just below or above a height; on a floor without areas, all of it is one.
    private func areas(beside height: Double, _ side: Double, _ x: Double) -> Set<Int> {
      if doorways.areas.isOutsideWalkable { return [-1] }
      // Other outlines may lie within a hair of this one.
      for step in [1e-3, 1e-4, 1e-5] {
        let found = doorways.areas.walkable(at: point(x, height + side * step))
        if !found.isEmpty { return Set(found) }
      }
      return []
    }

    private func face(_ line: Line, _ slab: Slab) -> Segment {
      Segment(
        from: point(slab.from, line.y(at: slab.from)),
        to: point(slab.to, line.y(at: slab.to))
      )
    }

    /// The floor in a barrier; nil for one without thickness.
    private func threshold(_ barrier: Barrier, _ slab: Slab) -> Area? {
      guard barrier.high - barrier.low > Doorways.nearness else { return nil }
      let (low, high) = (
        face(slab.lines[barrier.lines.lowerBound], slab), face(slab.lines[barrier.lines.upperBound], slab)
      )
      return Area(outline: Polygon([low.start, low.end, high.end, high.start]))
    }
  }
}
