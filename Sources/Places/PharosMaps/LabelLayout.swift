import PharosSpace

/// The symbols and names of a floor at one zoom, placed so that none covers another.
///
/// All tiles of a zoom share one layout, so that a name that a tile's edge cuts goes on in the next tile.
struct LabelLayout: Sendable {
  /// A symbol.
  struct Symbol: Sendable {
    let mark: MappedFloor.Mark
    let place: Point
  }

  /// A name.
  struct Name: Sendable {
    let text: String
    /// Where its base line begins.
    let start: Point
    let isMuted: Bool
    let box: Extent
  }

  /// The symbols to draw.
  private(set) var symbols: [Symbol] = []
  /// The names to draw.
  private(set) var names: [Name] = []
  private var occupied: [Cell: [Extent]] = [:]

  private struct Cell: Hashable {
    let x, y: Int
  }

  /// How far a symbol reaches from its middle, in pixels of a tile of 256.
  static let symbolReach = 9.0
  /// The size of names in pixels of a tile of 256.
  static let textSize = 12.0
  /// Half the height that a name takes.
  private static let halfLine = 7.5
  /// The distance of a name from the middle of its symbol.
  private static let beside = 12.0
  private static let cell = 64.0

  /// Places the symbols and the names of a floor.
  ///
  /// - Parameters:
  ///   - floor: The floor.
  ///   - scale: Pixels a map point.
  ///   - density: Pixels of a picture for each pixel that sizes are given in: 2 for tiles of 512 pixels.
  ///   - withAreas: Indicates whether areas get names: where a plan's image is shown, it has them.
  ///   - canvas: Measures texts.
  init(
    _ floor: MappedFloor,
    scale: Double,
    density: Double,
    withAreas: Bool,
    measuring canvas: borrowing Canvas
  ) {
    canvas.font(size: LabelLayout.textSize * density)
    let reach = LabelLayout.symbolReach * density
    for mark in floor.marks {
      let place = mark.point * scale
      let box = LabelLayout.box(around: place, width: 2 * reach, height: 2 * reach)
      guard reserve(box) else { continue }
      symbols.append(Symbol(mark: mark, place: place))
    }
    for symbol in symbols where !symbol.mark.name.isEmpty {
      name(symbol, density, canvas)
    }
    if withAreas { nameAreas(of: floor, scale, density, canvas) }
  }

  private mutating func name(_ symbol: Symbol, _ density: Double, _ canvas: borrowing Canvas) {
    let text = LabelLayout.fit(symbol.mark.name, within: 150 * density, canvas)
    let width = canvas.width(of: text)
    let height = 2 * LabelLayout.halfLine * density
    let aside = LabelLayout.beside * density + width / 2
    let above = 17 * density
    for way in [Point(x: aside, y: 0), Point(x: -aside, y: 0), Point(x: 0, y: -above), Point(x: 0, y: above)]
    {
      let middle = symbol.place + way
      let box = LabelLayout.box(around: middle, width: width, height: height)
      guard reserve(box) else { continue }
      names.append(LabelLayout.name(text, middle, width, density, box, isMuted: false))
      return
    }
  }

  private mutating func nameAreas(
    of floor: MappedFloor,
    _ scale: Double,
    _ density: Double,
    _ canvas: borrowing Canvas
  ) {
    for shape in floor.shapes where shape.kind != .place && !shape.name.isEmpty {
      let room = shape.extent.width * scale - 8 * density
      guard room >= 40 * density, shape.extent.height * scale >= 18 * density else { continue }
      let text = LabelLayout.fit(shape.name, within: room, canvas)
      guard text == shape.name || text.count > 3 else { continue }
      let width = canvas.width(of: text)
      let middle = shape.extent.middle * scale
      let box = LabelLayout.box(around: middle, width: width, height: 2 * LabelLayout.halfLine * density)
      guard reserve(box) else { continue }
      names.append(LabelLayout.name(text, middle, width, density, box, isMuted: true))
    }
  }

  private static func name(
    _ text: String,
    _ middle: Point,
    _ width: Double,
    _ density: Double,
    _ box: Extent,
    isMuted: Bool
  ) -> Name {
    // The middle of small letters lies above the base line by about a third of the size.
    let start = Point(x: middle.x - width / 2, y: middle.y + 0.36 * textSize * density)
    return Name(text: text, start: start, isMuted: isMuted, box: box)
  }

  /// Returns the text, or as much of it as there is room for, with an ellipsis.
  private static func fit(_ text: String, within room: Double, _ canvas: borrowing Canvas) -> String {
    guard canvas.width(of: text) > room else { return text }
    var (low, high) = (0, text.count)
    while low + 1 < high {
      let middle = (low + high) / 2
      if canvas.width(of: text.prefix(middle) + "…") <= room { low = middle } else { high = middle }
    }
    return text.prefix(low) + "…"
  }

  private static func box(around middle: Point, width: Double, height: Double) -> Extent {
    let half = Point(x: width / 2, y: height / 2)
    guard let box = Extent(around: [middle - half, middle + half]) else {
      preconditionFailure("two places have a box")
    }
    return box
  }

  /// Takes a rectangle unless another one is there already.
  private mutating func reserve(_ box: Extent) -> Bool {
    let cells = LabelLayout.cells(of: box)
    for cell in cells {
      for other in occupied[cell, default: []] where other.overlaps(box) { return false }
    }
    for cell in cells { occupied[cell, default: []].append(box) }
    return true
  }

  private static func cells(of box: Extent) -> [Cell] {
    func number(_ length: Double) -> Int { Int((length / cell).rounded(.down)) }
    return (number(box.southWest.x)...number(box.northEast.x)).flatMap { x in
      (number(box.southWest.y)...number(box.northEast.y)).map { Cell(x: x, y: $0) }
    }
  }
}

extension Extent {
  /// Returns whether two rectangles share more than an edge.
  func overlaps(_ other: Extent) -> Bool {
    southWest.x < other.northEast.x && other.southWest.x < northEast.x && southWest.y < other.northEast.y
      && other.southWest.y < northEast.y
  }
}
