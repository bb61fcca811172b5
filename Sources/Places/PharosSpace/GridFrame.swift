package import PharosModel

/// Square cells over a rectangle: which cell a place or a line lies in.
package struct GridFrame: Hashable, Sendable {
  /// The south-western corner.
  let corner: Point
  /// The side of a cell in metres.
  package let cell: Double
  package let columns: Int
  package let rows: Int

  /// The distance from a cell within which a line counts as lying in it.
  ///
  /// - Units: metres. Rounding moves a crossing by nanometres on a floor; a micrometre holds them all.
  package static let margin = 1e-6
  /// The most cells: 4 bytes each for three indexes.
  static let maximumCells = 1 << 20
  /// The most entries of cells' lists, so that areas on top of each other cannot fill the memory.
  ///
  /// A mall has 100,000.
  static let maximumEntries = 4e6

  /// Lays cells over all places given.
  ///
  /// - Parameters:
  ///   - points: the places that must lie within.
  ///   - cell: the side of a cell in metres; doubled until there are few enough.
  ///   - areas: the areas that will be listed in each cell of a rectangle around them.
  ///   - lines: the lines that will be listed in each cell that they touch.
  package init(over points: some Sequence<Point>, cell: Double, areas: [Area] = [], lines: [Segment] = []) {
    guard let extent = Extent(around: points), extent.width + extent.height < 1e9 else {
      self.init(corner: .origin, cell: cell, columns: 0, rows: 0)
      return
    }
    // About half a cell of air on each side: no place lies on the frame itself, and no middle of a cell on the round
    // numbers that people draw on, where a step may pass a wall by its very end.
    var side = cell
    func count(_ length: Double) -> Int { Int(length / side) + 2 }
    func entries() -> Double {
      areas.reduce(0) { $0 + $1.size(inCellsOf: side) }
        + lines.reduce(0) { $0 + (($1.end - $1.start).length / side) * 2 }
    }
    while count(extent.width) * count(extent.height) > GridFrame.maximumCells
      || entries() > GridFrame.maximumEntries && side < extent.width + extent.height
    {
      side *= 2
    }
    self.init(
      corner: extent.southWest - Point(x: side * 0.4871, y: side * 0.4871),
      cell: side,
      columns: count(extent.width),
      rows: count(extent.height)
    )
  }

  private init(corner: Point, cell: Double, columns: Int, rows: Int) {
    self.corner = corner
    self.cell = cell
    self.columns = columns
    self.rows = rows
  }

  /// The number of cells.
  package var count: Int { columns * rows }

  /// The cell of a place, or nil outside of the frame.
  package func index(of point: Point) -> Int? {
    let x = (point.x - corner.x) / cell
    let y = (point.y - corner.y) / cell
    guard x >= 0, y >= 0, x < Double(columns), y < Double(rows) else { return nil }
    return Int(y) * columns + Int(x)
  }

  /// The middle of a cell.
  func center(of index: Int) -> Point {
    corner
      + Point(x: (Double(index % columns) + 0.5) * cell, y: (Double(index / columns) + 0.5) * cell)
  }

  /// The place of the frame nearest to another place.
  package func clamped(_ point: Point) -> Point {
    let inside = 1 - 1e-12
    return Point(
      x: min(max(point.x, corner.x), corner.x + cell * Double(columns) * inside),
      y: min(max(point.y, corner.y), corner.y + cell * Double(rows) * inside)
    )
  }

  /// The columns, or the rows, that an interval touches; nil if it lies beside all of them.
  func range(_ low: Double, _ high: Double, from edge: Double, of count: Int) -> ClosedRange<Int>? {
    let first = ((low - edge) / cell).rounded(.down)
    let last = ((high - edge) / cell).rounded(.down)
    guard count > 0, last >= 0, first < Double(count), first <= last else { return nil }
    return Int(max(0, first))...Int(min(Double(count - 1), last))
  }

  /// Goes through the cells that a rectangle touches, made larger by `margin` metres on each side.
  package func forEachCell(in extent: Extent, margin: Double, _ body: (Int) -> Void) {
    let (low, high) = (extent.southWest, extent.northEast)
    guard let rows = range(low.y - margin, high.y + margin, from: corner.y, of: rows),
      let columns = range(low.x - margin, high.x + margin, from: corner.x, of: columns)
    else { return }
    for row in rows { for column in columns { body(row * self.columns + column) } }
  }

  /// Goes through the cells that a line touches, until `body` has had enough.
  ///
  /// - Parameters:
  ///   - line: the line.
  ///   - body: takes a cell, and says whether to go on.
  func forEachCell(along line: Segment, _ body: (Int) -> Bool) {
    let (start, end) = (line.start, line.end)
    let reach = max(start.x.magnitude, start.y.magnitude, end.x.magnitude, end.y.magnitude)
    guard reach < 1e12 else { return }
    let margin = GridFrame.margin + reach * 1e-12
    let lowest = min(start.y, end.y)
    let highest = max(start.y, end.y)
    guard let touched = range(lowest - margin, highest + margin, from: corner.y, of: rows) else { return }
    for row in touched {
      let bottom = corner.y + Double(row) * cell - margin
      let top = bottom + cell + 2 * margin
      var (left, right) = (min(start.x, end.x), max(start.x, end.x))
      if highest - lowest > margin {
        let slope = (end.x - start.x) / (end.y - start.y)
        let low = start.x + (min(max(bottom, lowest), highest) - start.y) * slope
        let high = start.x + (min(max(top, lowest), highest) - start.y) * slope
        (left, right) = (min(low, high), max(low, high))
      }
      guard let across = range(left - margin, right + margin, from: corner.x, of: columns) else { continue }
      for column in across where !body(row * columns + column) { return }
    }
  }
}

extension Area {
  /// Returns the number of cells of a size that the rectangle around the outline takes, without the rounding up.
  fileprivate func size(inCellsOf side: Double) -> Double {
    guard let extent = outline.extent else { return 0 }
    return extent.width / side * (extent.height / side)
  }
}

/// The contents of each cell of a grid: numbers of things, cell by cell in one array.
package struct CellLists: Hashable, Sendable {
  private let starts: [Int32]
  private let numbers: [Int32]

  /// Gathers things by cell.
  ///
  /// - Parameters:
  ///   - cells: the number of cells.
  ///   - count: the number of things.
  ///   - visit: for a thing, calls the closure with each of its cells; called twice, to count and to fill.
  package init(cells: Int, count: Int, visit: (Int, (Int) -> Void) -> Void) {
    var starts = [Int32](repeating: 0, count: cells + 1)
    for thing in 0..<count { visit(thing) { starts[$0 + 1] += 1 } }
    for cell in 0..<cells { starts[cell + 1] += starts[cell] }
    var next = starts
    var numbers = [Int32](repeating: 0, count: Int(starts[cells]))
    for thing in 0..<count {
      visit(thing) { cell in
        numbers[Int(next[cell])] = Int32(thing)
        next[cell] += 1
      }
    }
    self.starts = starts
    self.numbers = numbers
  }

  /// The places of a cell's things in ``number(at:)``.
  package func places(in cell: Int) -> Range<Int> { Int(starts[cell])..<Int(starts[cell + 1]) }

  /// The number of a thing.
  package func number(at place: Int) -> Int { Int(numbers[place]) }

  /// Returns whether a cell is empty.
  func isEmpty(_ cell: Int) -> Bool { starts[cell] == starts[cell + 1] }
}

/// Segments by the cells that they touch, so that what a line crosses and what lies near a place is found without
/// looking at all of them.
package struct SegmentGrid: Hashable, Sendable {
  let segments: [Segment]
  let frame: GridFrame
  private let lists: CellLists

  package init(_ segments: [Segment], frame: GridFrame) {
    self.segments = segments
    self.frame = frame
    lists = CellLists(cells: frame.count, count: segments.count) { index, note in
      frame.forEachCell(along: segments[index]) { cell in
        note(cell)
        return true
      }
    }
  }

  /// Returns whether no segment touches a cell.
  func isEmpty(_ cell: Int) -> Bool { lists.isEmpty(cell) }

  /// Returns whether a line crosses any segment.
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
  package func forEachNeighbour(of line: Segment, _ body: (Int) -> Void) {
    frame.forEachCell(along: line) { cell in
      for place in lists.places(in: cell) { body(lists.number(at: place)) }
      return true
    }
  }

  /// Goes through the segments in the cells of a rectangle, made larger by `margin` metres on each side; one may come more
  /// than once.
  func forEachSegment(in extent: Extent, margin: Double, _ body: (Int) -> Void) {
    frame.forEachCell(in: extent, margin: margin) { cell in
      for place in lists.places(in: cell) { body(lists.number(at: place)) }
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
