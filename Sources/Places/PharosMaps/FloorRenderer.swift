import PharosSpace
import Synchronization

/// Draws the tiles of one floor in the look of the dashboard: the plan's image if there is one, or the areas; walls,
/// entrances, connectors, points of interest and names.
///
/// What lies beside the floor is transparent. Tasks may share a renderer; it draws one tile at a time.
public final class FloorRenderer: Sendable {
  /// The sizes of tiles in pixels on a side: those of 512 show the same at twice the density.
  public static let sizes = [256, 512]

  /// The floor.
  public let floor: MappedFloor
  /// The size of the images that it holds, in bytes.
  public let bytes: Int

  private let state: Mutex<State>

  private struct State: Sendable {
    /// The image of the plan at its full size, half of it, a quarter, and so on.
    var images: [Bitmap]
    var layouts: [LayoutKey: LabelLayout] = [:]
    var sheets: [Int: Bitmap] = [:]
  }

  private struct LayoutKey: Hashable, Sendable {
    let zoom, size: Int
  }

  /// Makes the renderer of a floor.
  ///
  /// - Parameters:
  ///   - floor: The floor.
  ///   - image: The PNG of its floor plan; nil draws the areas instead.
  /// - Throws: the reason why the image cannot be used.
  public init(_ floor: MappedFloor, image: [UInt8]?) throws(MapFailure) {
    self.floor = floor
    var images: [Bitmap] = []
    if let image, let plan = floor.picture?.plan {
      var bitmap = try Bitmap(png: image, name: plan.image)
      guard bitmap.width == plan.width, bitmap.height == plan.height else {
        throw MapFailure(
          "\(plan.image) has \(bitmap.width) × \(bitmap.height) pixels, expected \(plan.width) × \(plan.height): "
            + "read the venue again"
        )
      }
      images.append(bitmap)
      while bitmap.width > 64, bitmap.height > 64 {
        bitmap = try bitmap.halved()
        images.append(bitmap)
      }
    }
    bytes = images.reduce(0) { $0 + $1.width * $1.height * 4 }
    state = Mutex(State(images: images))
  }

  /// Draws a tile as PNG.
  ///
  /// - Parameters:
  ///   - tile: The tile.
  ///   - size: One of ``sizes``.
  /// - Returns: the file; nil where nothing of the floor is on the tile.
  /// - Throws: if the size is another one, or memory is short.
  public func png(_ tile: MapTile, size: Int = 256) throws(MapFailure) -> [UInt8]? {
    try state.withLock { (state) throws(MapFailure) -> [UInt8]? in
      guard let bitmap = try Self.draw(floor, tile, size: size, &state) else { return nil }
      return try bitmap.png()
    }
  }

  private static func draw(
    _ floor: MappedFloor,
    _ tile: MapTile,
    size: Int,
    _ state: inout State
  ) throws(MapFailure) -> Bitmap? {
    guard sizes.contains(size) else {
      throw MapFailure("tiles have 256 or 512 pixels on a side, not \(size)")
    }
    let sheet: Bitmap
    if let known = state.sheets[size] { sheet = known } else { sheet = try Bitmap(width: size, height: size) }
    state.sheets[size] = sheet
    let canvas = Canvas(sheet)
    let scale = Double(size) / tile.side
    let density = Double(size) / 256
    let key = LayoutKey(zoom: tile.zoom, size: size)
    let layout =
      state.layouts[key]
      ?? LabelLayout(
        floor,
        scale: scale,
        density: density,
        withAreas: state.images.isEmpty,
        measuring: canvas
      )
    state.layouts[key] = layout
    let latitude = tile.origin.coordinate.latitude
    let drawing = TileDrawing(
      floor: floor,
      images: state.images,
      layout: layout,
      size: Double(size),
      scale: scale,
      density: density,
      pixelsPerMeter: scale / MapPoint.metersPerPoint(atLatitude: latitude),
      corner: floor.corner(of: tile) * scale
    )
    guard drawing.showsAnything else { return nil }
    canvas.clear()
    drawing.draw(on: canvas)
    return sheet
  }
}

/// The colours of the dashboard's light theme.
private enum TileColors {
  static let surface = Color(0xFFFFFF)
  static let sunk = Color(0xECEEEA)
  static let paper = Color(0xF5F5F1)
  static let line = Color(0xD9DCD8)
  static let strong = Color(0x848D93)
  static let soft = Color(0x53606A)
  static let ink = Color(0x1B2328)
  static let accent = Color(0x0D5C75)
  static let accentWash = Color(0xE0EEF2)
  static let good = Color(0x1F6A45)
  static let halo = Color(0xFFFFFF, alpha: 0.85)
}

/// One tile as it is drawn.
private struct TileDrawing {
  let floor: MappedFloor
  let images: [Bitmap]
  let layout: LabelLayout
  /// The side in pixels.
  let size: Double
  /// Pixels a map point.
  let scale: Double
  let density: Double
  let pixelsPerMeter: Double
  /// The tile's corner in pixels of its zoom, from the floor's origin.
  let corner: Point

  /// The opacity of a plan's image, as on the dashboard.
  private static let imageAlpha = 0.8
  /// How far strokes reach over a shape, in pixels of a tile of 256.
  private static let strokeReach = 4.0

  private func pixel(_ place: Point) -> Point { place * scale - corner }

  private func touches(_ extent: Extent) -> Bool {
    let reach = TileDrawing.strokeReach * density
    let (low, high) = (pixel(extent.southWest), pixel(extent.northEast))
    return low.x <= size + reach && low.y <= size + reach && high.x >= -reach && high.y >= -reach
  }

  private func isNear(_ place: Point, reach: Double) -> Bool {
    place.x >= -reach && place.y >= -reach && place.x <= size + reach && place.y <= size + reach
  }

  private var names: [LabelLayout.Name] {
    let reach = 3 * density
    let low = corner - Point(x: reach, y: reach)
    let high = corner + Point(x: size + reach, y: size + reach)
    return layout.names.filter {
      $0.box.southWest.x < high.x && $0.box.southWest.y < high.y && $0.box.northEast.x > low.x
        && $0.box.northEast.y > low.y
    }
  }

  private var symbols: [LabelLayout.Symbol] {
    let reach = (LabelLayout.symbolReach + 2) * density
    return layout.symbols.filter { isNear($0.place - corner, reach: reach) }
  }

  private var picture: (corners: [Point], extent: Extent)? {
    guard let picture = floor.picture, let first = images.first else { return nil }
    let (across, down) = (picture.right * Double(first.width), picture.down * Double(first.height))
    let corners = [
      picture.start, picture.start + across, picture.start + across + down, picture.start + down,
    ]
    return Extent(around: corners).map { (corners, $0) }
  }

  var showsAnything: Bool {
    if let picture, touches(picture.extent) { return true }
    return floor.shapes.contains { touches($0.extent) }
      || floor.walls.contains { wall in touches(wall.segment) } || !symbols.isEmpty || !names.isEmpty
  }

  private func touches(_ segment: Segment) -> Bool {
    Extent(around: [segment.start, segment.end]).map(touches) ?? false
  }

  func draw(on canvas: borrowing Canvas) {
    let shapes = floor.shapes.filter { touches($0.extent) }
    let (walkable, obstacles) = (
      shapes.filter { $0.kind == .walkable }, shapes.filter { $0.kind == .obstacle }
    )
    add(walkable, to: canvas)
    canvas.fill(TileColors.surface)
    if images.isEmpty {
      add(obstacles, to: canvas)
      canvas.fill(TileColors.sunk)
      add(shapes.filter { $0.kind == .place }, to: canvas)
      canvas.fill(TileColors.accentWash)
      canvas.stroke(TileColors.line, width: density)
    } else {
      drawImage(on: canvas)
    }
    add(obstacles, to: canvas)
    canvas.stroke(TileColors.line, width: density)
    add(walkable, to: canvas)
    canvas.stroke(TileColors.strong, width: (floor.walls.isEmpty ? 1.5 : 1) * density)
    canvas.begin()
    for wall in floor.walls where touches(wall.segment) {
      canvas.line([pixel(wall.segment.start), pixel(wall.segment.end)], isClosed: false)
    }
    canvas.stroke(TileColors.soft, width: min(0.25 * pixelsPerMeter, 2 * density))
    canvas.begin()
    for door in floor.doors where touches(door.segment) {
      canvas.line([pixel(door.segment.start), pixel(door.segment.end)], isClosed: false)
    }
    canvas.stroke(TileColors.line, width: min(0.25 * pixelsPerMeter, 2 * density))
    for symbol in symbols { draw(symbol.mark, at: symbol.place - corner, on: canvas) }
    canvas.font(size: LabelLayout.textSize * density)
    for name in names {
      canvas.write(
        name.text,
        at: name.start - corner,
        name.isMuted ? TileColors.soft : TileColors.ink,
        halo: TileColors.halo,
        width: name.isMuted ? 0 : 3 * density
      )
    }
  }

  private func add(_ shapes: [MappedFloor.Shape], to canvas: borrowing Canvas) {
    canvas.begin()
    for ring in shapes.lazy.flatMap(\.rings) { canvas.line(ring.lazy.map(pixel), isClosed: true) }
  }

  private func drawImage(on canvas: borrowing Canvas) {
    guard let picture = floor.picture, let extent = self.picture?.extent, touches(extent) else { return }
    let pixelsPerPixel = (picture.right * scale).length
    var (level, factor) = (0, 1.0)
    // An image drawn at less than half its size would be sampled with gaps.
    while level + 1 < images.count, pixelsPerPixel * factor * 2 <= 1 {
      (level, factor) = (level + 1, factor * 2)
    }
    canvas.paint(
      images[level],
      start: pixel(picture.start),
      right: picture.right * (scale * factor),
      down: picture.down * (scale * factor),
      alpha: TileDrawing.imageAlpha
    )
  }

  private func draw(_ mark: MappedFloor.Mark, at place: Point, on canvas: borrowing Canvas) {
    canvas.begin()
    switch mark.kind {
    case .entrance:
      canvas.circle(place, radius: 5 * density)
      canvas.fill(TileColors.surface)
      canvas.stroke(TileColors.good, width: 2 * density)
    case .place:
      canvas.circle(place, radius: 4 * density)
      canvas.stroke(TileColors.surface, width: 3 * density)
      canvas.fill(TileColors.accent)
    case .connector(let kind):
      canvas.box(place, reach: 8 * density, corner: 4 * density)
      canvas.fill(TileColors.paper)
      canvas.stroke(TileColors.strong, width: density)
      canvas.begin()
      for line in TileDrawing.lines(of: kind) {
        canvas.line(line.map { place + $0 * density }, isClosed: false)
      }
      canvas.stroke(TileColors.ink, width: 1.5 * density)
    }
  }

  /// The lines of a connector's symbol, in pixels of a tile of 256 from its middle.
  private static func lines(of kind: Connector.Kind) -> [[Point]] {
    func line(_ numbers: Double...) -> [Point] {
      stride(from: 0, to: numbers.count, by: 2).map { Point(x: numbers[$0], y: numbers[$0 + 1]) }
    }
    switch kind {
    case .stairs: return [line(-5, 4.5, -2, 4.5, -2, 1.5, 1, 1.5, 1, -1.5, 4, -1.5, 4, -4.5)]
    case .lift:
      return [
        line(-2.5, 4, -2.5, -4), line(-5, -1.5, -2.5, -4, 0, -1.5), line(2.5, -4, 2.5, 4),
        line(0, 1.5, 2.5, 4, 5, 1.5),
      ]
    case .escalator: return [line(-4.5, 4, -1.5, 4, 4, -4), line(0.5, -4, 4, -4, 4, -0.5)]
    case .ramp: return [line(-5, 4, 5, -3, 5, 4, -5, 4)]
    }
  }
}
