/// What lies in each cell of a grid: numbers of things, cell by cell in one array.
struct CellLists: Hashable, Sendable {
  private let starts: [Int32]
  private let numbers: [Int32]

  /// Gathers things by cell.
  ///
  /// - Parameters:
  ///   - cells: how many cells there are.
  ///   - count: how many things there are.
  ///   - visit: for a thing, calls the closure with each of its cells; asked twice, to count and to fill.
  init(cells: Int, count: Int, visit: (Int, (Int) -> Void) -> Void) {
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
  func places(in cell: Int) -> Range<Int> { Int(starts[cell])..<Int(starts[cell + 1]) }

  /// The number of a thing.
  func number(at place: Int) -> Int { Int(numbers[place]) }

  /// Whether nothing lies in a cell.
  func isEmpty(_ cell: Int) -> Bool { starts[cell] == starts[cell + 1] }
}
