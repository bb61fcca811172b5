/// Areas by the cells that they reach into.
struct AreaIndex: Hashable, Sendable {
  /// What is walkable, and behind it what is not.
  let areas: [Area]
  /// How many of the areas are walkable ones.
  let walkableCount: Int
  private let frame: GridFrame
  private let lists: CellLists

  init(walkable: [Area], obstacles: [Area], frame: GridFrame) {
    let areas = walkable + obstacles
    self.areas = areas
    walkableCount = walkable.count
    self.frame = frame
    lists = CellLists(cells: frame.count, count: areas.count) { index, note in
      guard let extent = areas[index].outline.extent else { return }
      frame.forEachCell(in: extent, margin: GridFrame.margin, note)
    }
  }

  /// Whether one can stand where no area reaches.
  var isOutsideWalkable: Bool { walkableCount == 0 }

  /// Whether a place lies in a walkable area, if there is any, and in no obstacle.
  func isWalkable(_ point: Point) -> Bool {
    var isFound = isOutsideWalkable
    guard let cell = frame.index(of: point) else { return isFound }
    for place in lists.places(in: cell) {
      let number = lists.number(at: place)
      // Obstacles come last, in each cell as well.
      if number < walkableCount {
        isFound = isFound || areas[number].contains(point)
      } else if isFound, areas[number].contains(point) {
        return false
      }
    }
    return isFound
  }

  /// Whether a place lies in any area, walkable or not.
  func isCovered(_ point: Point) -> Bool {
    guard let cell = frame.index(of: point) else { return false }
    return lists.places(in: cell).contains { areas[lists.number(at: $0)].contains(point) }
  }
}
