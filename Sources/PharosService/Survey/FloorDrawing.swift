import PharosVenues

/// A floor on paper: which part of it is seen, how large, and where its places lie on the picture.
///
/// Areas and walls are drawn from their shapes, so that a picture needs no other file and stays sharp at any size.
struct FloorDrawing: Sendable {
  /// The floor.
  let floor: Floor
  /// The part that is seen.
  let extent: Extent
  /// Pixels for a metre.
  let scale: Double
  /// The position of the plan's upper left corner on the picture.
  let corner: SVGPoint

  /// The widest and the highest a plan is drawn.
  ///
  /// - Units: pixels.
  private static let widest = 1_232.0, highest = 900.0
  /// The largest scale: people's steps are not drawn larger than a thumbnail.
  ///
  /// - Units: pixels for a metre.
  private static let largestScale = 24.0
  /// The distance below which two corners are drawn as one.
  ///
  /// - Units: pixels.
  private static let resolution = 0.6

  /// Places a part of a floor on a picture.
  init(_ floor: Floor, showing extent: Extent, at corner: SVGPoint) {
    self.floor = floor
    self.extent = extent
    self.corner = corner
    let (width, height) = (max(extent.width, 1), max(extent.height, 1))
    scale = min(
      FloorDrawing.largestScale,
      min(FloorDrawing.widest / width, FloorDrawing.highest / height)
    )
  }

  /// The width of the plan on the picture.
  var width: Double { max(extent.width, 1) * scale }
  /// The height of the plan on the picture.
  var height: Double { max(extent.height, 1) * scale }

  /// Returns the position of a place of the floor on the picture.
  func place(_ point: Point) -> SVGPoint {
    SVGPoint(
      corner.x + (point.x - extent.southWest.x) * scale,
      corner.y + (extent.northEast.y - point.y) * scale
    )
  }

  /// Draws something that does not leave the plan's rectangle.
  func clipped(on picture: inout SVGDocument, _ draw: (inout SVGDocument) -> Void) {
    picture.clipped(x: corner.x, y: corner.y, width: width, height: height, draw)
  }

  /// Draws the ground: what is not walkable, what is, and what stands there.
  func drawGround(on picture: inout SVGDocument) {
    let isDrawn = !(floor.walkable.isEmpty && floor.obstacles.isEmpty)
    picture.rect(
      x: corner.x,
      y: corner.y,
      width: width,
      height: height,
      fill: isDrawn ? Palette.outside : Palette.paper,
      stroke: Stroke(Palette.frame, width: 0.5)
    )
    clipped(on: &picture) { picture in
      fill(floor.walkable, Palette.paper, stroke: nil, on: &picture)
    }
  }

  /// Draws obstacles and walls, over what is shown of the ground.
  func drawShapes(on picture: inout SVGDocument) {
    clipped(on: &picture) { picture in
      fill(floor.obstacles, "#e4e0d8", stroke: Stroke("#b9b2a4", width: 0.6), on: &picture)
      let walls = floor.walls.all.map { wall in
        let (start, end) = (place(wall.segment.start), place(wall.segment.end))
        return "M\(FloorDrawing.text(start))L\(FloorDrawing.text(end))"
      }
      path(walls.joined(), fill: nil, stroke: Stroke("#8d8778", width: 0.7), on: &picture)
    }
  }

  /// Draws a bar as long as a round number of metres, below the plan on the right.
  func drawScale(on picture: inout SVGDocument) {
    let meters = [1.0, 2, 5, 10, 20, 50, 100, 200].last { $0 * scale <= 160 } ?? 1
    let (right, y) = (corner.x + width, corner.y + height + 16)
    let left = right - meters * scale
    picture.rect(x: left, y: y - 3, width: meters * scale, height: 3, fill: Palette.ink)
    let style = TextStyle(11, color: Palette.faint, anchor: .end)
    picture.text("\(Wording.meters(meters))", at: SVGPoint(left - 6, y), style)
  }

  /// Draws a line through places, whichever way it turns.
  func line(_ points: [Point], _ stroke: Stroke, on picture: inout SVGDocument) {
    path(outline(points, closed: false), fill: nil, stroke: stroke, on: &picture)
  }

  /// Draws one shape made of the commands of a path.
  func path(_ commands: String, fill: String?, stroke: Stroke?, on picture: inout SVGDocument) {
    guard !commands.isEmpty else { return }
    var attributes: [SVGDocument.Attribute] = [
      ("d", commands), ("fill", fill ?? "none"), ("fill-rule", "evenodd"),
    ]
    if let stroke {
      attributes += [
        ("stroke", stroke.color), ("stroke-width", SVGDocument.number(stroke.width)),
        ("stroke-linejoin", "round"), ("stroke-linecap", "round"),
      ]
      if !stroke.dashes.isEmpty {
        let dashes = stroke.dashes.map(SVGDocument.number).joined(separator: " ")
        attributes.append(("stroke-dasharray", dashes))
      }
    }
    picture.element("path", attributes)
  }

  /// Draws a ring around a place.
  func circle(_ middle: Point, radius: Double, _ stroke: Stroke, on picture: inout SVGDocument) {
    let place = place(middle)
    picture.element(
      "circle",
      [
        ("cx", SVGDocument.number(place.x)), ("cy", SVGDocument.number(place.y)),
        ("r", SVGDocument.number(radius * scale)), ("fill", "none"), ("stroke", stroke.color),
        ("stroke-width", SVGDocument.number(stroke.width)),
      ]
    )
  }

  private func fill(_ areas: [Area], _ color: String, stroke: Stroke?, on picture: inout SVGDocument) {
    // Each area by itself: where two overlap, even-odd filling of both together would leave a hole.
    for area in areas {
      let rings = [area.outline] + area.holes
      path(
        rings.map { outline($0.corners, closed: true) }.joined(),
        fill: color,
        stroke: stroke,
        on: &picture
      )
    }
  }

  private func outline(_ points: [Point], closed: Bool) -> String {
    var text = ""
    var last: SVGPoint?
    for (index, point) in points.enumerated() {
      let place = place(point)
      if let last, index < points.count - 1, abs(place.x - last.x) < FloorDrawing.resolution,
        abs(place.y - last.y) < FloorDrawing.resolution
      {
        continue
      }
      text += "\(last == nil ? "M" : "L")\(FloorDrawing.text(place))"
      last = place
    }
    return text.isEmpty || !closed ? text : text + "Z"
  }

  /// A place as paths write it, to the tenth of a pixel.
  static func text(_ point: SVGPoint) -> String {
    "\(SVGDocument.number((point.x * 10).rounded() / 10)) \(SVGDocument.number((point.y * 10).rounded() / 10))"
  }
}
