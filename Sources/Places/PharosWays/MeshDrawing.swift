import PharosSpace

/// The lines of a floor as constraints of a mesh: rounded to its units, and cut wherever they meet.
struct MeshDrawing {
  /// A line between two points; `tag` says what it is.
  struct Line: Hashable {
    var start: MeshPoint
    var end: MeshPoint
    var tag: UInt16
  }

  /// The tag of a line that people cannot cross.
  static let blocked: UInt16 = 1
  /// The tag of a floor's first door; the others follow.
  static let firstDoor: UInt16 = 2
  /// The tag of the sides of areas that are not meant for everyone, until the mesh knows what lies beside them.
  static let side = UInt16.max
  /// The tag that comes after those of doors; those of gates follow.
  static let endOfDoors = side - UInt16(Access.allCases.count)

  /// The tag of a gate: a line between an area for some people and what lies beside it.
  static func gate(_ access: Access) -> UInt16 { endOfDoors + UInt16(access.rank) }

  /// The people that may pass a gate; nil for the tag of anything else.
  static func access(ofGate tag: UInt16) -> Access? {
    tag >= endOfDoors && tag < side ? Access.allCases[Int(tag - endOfDoors)] : nil
  }

  /// The lines, which meet only at their ends.
  private(set) var lines: [Line]

  /// The number of rounds after which lines that still cross are left as they are.
  ///
  /// Rounding a crossing moves lines by half a millimetre, which may make them cross others; two or three rounds are
  /// usual.
  private static let maximumRounds = 16
  /// The distance from a line up to which a point counts as lying on it.
  ///
  /// - Units: units of ``MeshPoint``.
  private static let nearness = 0.75

  /// Draws the lines of a floor.
  init(_ floor: Floor, boundary: [Segment]) {
    lines = (boundary + floor.walls.all.map(\.segment)).map {
      Line(start: MeshPoint($0.start), end: MeshPoint($0.end), tag: MeshDrawing.blocked)
    }
    let doors = floor.doors.prefix(Int(MeshDrawing.endOfDoors - MeshDrawing.firstDoor))
    for (number, door) in doors.enumerated() {
      let (start, end) = (MeshPoint(door.segment.start), MeshPoint(door.segment.end))
      lines.append(Line(start: start, end: end, tag: MeshDrawing.firstDoor + UInt16(number)))
    }
    for side in floor.walkable.filter({ $0.access != .everyone }).flatMap(\.sides) {
      let (start, end) = (MeshPoint(side.start), MeshPoint(side.end))
      lines.append(Line(start: start, end: end, tag: MeshDrawing.side))
    }
    lines = MeshDrawing.withoutRepeats(lines)
    for _ in 0..<MeshDrawing.maximumRounds where cut() {}
  }

  /// The lines without points and repeats; of two at one place, the one that blocks stays, or the door.
  private static func withoutRepeats(_ lines: [Line]) -> [Line] {
    var places: [Line: Int] = [:]
    var kept: [Line] = []
    for line in lines where line.start != line.end {
      let isForward = (line.start.x, line.start.y) < (line.end.x, line.end.y)
      let (start, end) = isForward ? (line.start, line.end) : (line.end, line.start)
      let key = Line(start: start, end: end, tag: 0)
      if let place = places[key] {
        kept[place].tag = min(kept[place].tag, line.tag)
      } else {
        places[key] = kept.count
        kept.append(Line(start: start, end: end, tag: line.tag))
      }
    }
    return kept
  }

  /// Cuts lines where others cross them, touch them or end on them.
  ///
  /// - Returns: false if there was nothing to cut.
  private mutating func cut() -> Bool {
    let segments = lines.map { Segment(from: $0.start.point, to: $0.end.point) }
    let frame = GridFrame(over: segments.flatMap { [$0.start, $0.end] }, cell: 2, lines: segments)
    let grid = SegmentGrid(segments, frame: frame)
    var seen = [Int](repeating: -1, count: lines.count)
    var pieces: [Line] = []
    pieces.reserveCapacity(lines.count)
    for number in lines.indices {
      let line = lines[number]
      var cuts: [MeshPoint] = []
      grid.forEachNeighbour(of: segments[number]) { other in
        guard other != number, seen[other] != number else { return }
        seen[other] = number
        line.cuts(by: lines[other], isFirst: number < other, nearness: MeshDrawing.nearness, into: &cuts)
      }
      guard !cuts.isEmpty else {
        pieces.append(line)
        continue
      }
      let (dx, dy) = line.end.difference(from: line.start)
      func share(_ point: MeshPoint) -> Int {
        let (x, y) = point.difference(from: line.start)
        return x * dx + y * dy
      }
      let stops = [line.start] + cuts.sorted { share($0) < share($1) } + [line.end]
      for (start, end) in zip(stops, stops.dropFirst()) {
        pieces.append(Line(start: start, end: end, tag: line.tag))
      }
    }
    let isCut = pieces.count > lines.count
    if isCut { lines = MeshDrawing.withoutRepeats(pieces) }
    return isCut
  }
}

extension MeshDrawing.Line {
  /// Adds the points at which another line cuts this one.
  fileprivate func cuts(by other: Self, isFirst: Bool, nearness: Double, into cuts: inout [MeshPoint]) {
    for point in [other.start, other.end] where point != start && point != end {
      if isNear(point, nearness) { cuts.append(point) }
    }
    let sides = (
      MeshPoint.orientation(start, end, other.start).signum()
        * MeshPoint.orientation(start, end, other.end).signum(),
      MeshPoint.orientation(other.start, other.end, start).signum()
        * MeshPoint.orientation(other.start, other.end, end).signum()
    )
    guard sides == (-1, -1) else { return }
    // Both lines must find the same point, so it is always computed from the first of them.
    let point = isFirst ? crossing(with: other) : other.crossing(with: self)
    if point != start, point != end { cuts.append(point) }
  }

  private func crossing(with other: Self) -> MeshPoint {
    let (dx, dy) = end.difference(from: start)
    let from = Double(MeshPoint.orientation(other.start, other.end, start))
    let to = Double(MeshPoint.orientation(other.start, other.end, end))
    let share = from / (from - to)
    return MeshPoint(
      x: start.x + Int32((Double(dx) * share).rounded()),
      y: start.y + Int32((Double(dy) * share).rounded())
    )
  }

  /// Returns whether a point lies on the line between its ends, but for rounding.
  private func isNear(_ point: MeshPoint, _ nearness: Double) -> Bool {
    let (dx, dy) = end.difference(from: start)
    let (x, y) = point.difference(from: start)
    let along = x * dx + y * dy
    let square = dx * dx + dy * dy
    guard along > 0, along < square else { return false }
    let across = Double(x * dy - y * dx)
    return across * across <= nearness * nearness * Double(square)
  }
}
