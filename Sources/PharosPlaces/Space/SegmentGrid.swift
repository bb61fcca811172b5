/// Segments by the cells that they touch, so that what a line crosses and what lies near a place is found without
/// looking at all of them.
struct SegmentGrid: Hashable, Sendable {
  let segments: [Segment]
  let frame: GridFrame
  private let lists: CellLists

  init(_ segments: [Segment], frame: GridFrame) {
    self.segments = segments
    self.frame = frame
    lists = CellLists(cells: frame.count, count: segments.count) { index, note in
      frame.forEachCell(along: segments[index]) { cell in
        note(cell)
        return true
      }
    }
  }

  /// Whether no segment touches a cell.
  func isEmpty(_ cell: Int) -> Bool { lists.isEmpty(cell) }

  /// Whether a line crosses any segment.
  ///
  /// - Complexity: O(cells that it passes and segments in them), without allocation.
  func isCrossed(by line: Segment) -> Bool {
    var isCrossed = false
    frame.forEachCell(along: line) { cell in
      for place in lists.places(in: cell) where segments[lists.number(at: place)].crosses(line) {
        isCrossed = true
        return false
      }
      return true
    }
    return isCrossed
  }

  /// The segments that a line crosses, each once.
  func crossed(by line: Segment) -> [Int] {
    var found: [Int] = []
    frame.forEachCell(along: line) { cell in
      for place in lists.places(in: cell) {
        let number = lists.number(at: place)
        if segments[number].crosses(line), !found.contains(number) { found.append(number) }
      }
      return true
    }
    return found
  }

  /// Goes through the segments that touch the cells of a line; one may come more than once.
  func forEachNeighbour(of line: Segment, _ body: (Int) -> Void) {
    frame.forEachCell(along: line) { cell in
      for place in lists.places(in: cell) { body(lists.number(at: place)) }
      return true
    }
  }

  /// The segment nearest to a place; nil if there is none.
  ///
  /// Looks at rings of cells around the place until no farther ring can hold anything nearer.
  func nearest(to point: Point) -> (number: Int, distance: Double)? {
    guard point.x.isFinite, point.y.isFinite, frame.count > 0 else { return nil }
    guard let middle = frame.index(of: frame.clamped(point)) else { return nil }
    let (row, column) = (middle / frame.columns, middle % frame.columns)
    var best: (number: Int, distance: Double)?
    for ring in 0..<max(frame.rows, frame.columns) {
      if let best, best.distance <= Double(ring - 1) * frame.cell { break }
      forEachCell(ofRing: ring, row: row, column: column) { cell in
        for place in lists.places(in: cell) {
          let number = lists.number(at: place)
          let distance = segments[number].distance(to: point)
          if best.map({ distance < $0.distance }) ?? true { best = (number, distance) }
        }
      }
    }
    return best
  }

  private func forEachCell(ofRing ring: Int, row: Int, column: Int, _ body: (Int) -> Void) {
    for y in max(0, row - ring)...min(frame.rows - 1, row + ring) {
      let isWhole = y == row - ring || y == row + ring
      for x in stride(from: column - ring, through: column + ring, by: isWhole ? 1 : 2 * ring)
      where x >= 0 && x < frame.columns {
        body(y * frame.columns + x)
      }
    }
  }
}
