import PharosDocuments
import PharosService
import PharosSpace

/// A picture of a floor: a heading, a legend, and the plan with something drawn on it.
///
/// Areas and walls are drawn from their shapes, so that a picture needs no other file and stays sharp at any size.
struct FloorDrawing: Sendable {
  /// Pixels for a metre.
  let scale: Double

  private let floor: Floor
  private let extent: Extent
  private let plan: SVGRect

  private static let margin = 24.0
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

  /// The upper edge of the plan on the picture.
  var top: Double { plan.y }
  /// The lower edge of the plan on the picture, with the scale below it.
  var bottom: Double { plan.bottom + 40 }
  /// The width of the picture.
  var width: Double { max(760, plan.right + FloorDrawing.margin) }

  /// Prepares the picture of a part of a floor: the given one, else the floor's own, else where something is.
  ///
  /// - Parameters:
  ///   - floor: the floor.
  ///   - part: the part that is shown.
  ///   - places: what is shown of a floor on which nothing is drawn.
  ///   - top: the upper edge of the plan on the picture, in pixels.
  ///   - share: the share of the usual size at which the plan is drawn.
  init(
    _ floor: Floor,
    showing part: Extent? = nil,
    around places: [Point],
    top: Double = 84,
    share: Double = 1
  ) {
    self.floor = floor
    let nowhere = Extent(around: [.origin, Point(x: 1, y: 1)])
    guard let extent = part ?? floor.extent ?? Extent(around: places) ?? nowhere else {
      preconditionFailure("two places have a rectangle around them")
    }
    self.extent = extent
    let (width, height) = (max(extent.width, 1), max(extent.height, 1))
    let fitting = min(FloorDrawing.widest / width, FloorDrawing.highest / height) * share
    scale = min(FloorDrawing.largestScale, fitting)
    plan = SVGRect(x: FloorDrawing.margin, y: top, width: width * scale, height: height * scale)
  }

  /// The picture as SVG text.
  ///
  /// - Parameters:
  ///   - title: what the picture shows.
  ///   - figures: its figures in a line.
  ///   - legend: what its colours mean.
  ///   - drawGround: draws what lies below obstacles and walls.
  ///   - draw: draws what lies above them.
  /// - Returns: the text.
  func svg(
    title: String,
    figures: String,
    legend: [(mark: SVGDocument.LegendMark, words: String)],
    drawGround: (inout SVGDocument) -> Void = { _ in },
    draw: (inout SVGDocument) -> Void = { _ in }
  ) -> String {
    var picture = SVGDocument(
      width: width,
      height: bottom,
      title: title,
      summary: "\(title): \(figures)."
    )
    picture.heading(title, figures, at: SVGPoint(FloorDrawing.margin, 28))
    picture.legend(legend, at: SVGPoint(FloorDrawing.margin, 66), right: width - FloorDrawing.margin)
    drawPlan(on: &picture, ground: drawGround, draw: draw)
    return picture.text
  }

  /// Draws the plan on a picture.
  ///
  /// - Parameters:
  ///   - picture: the picture.
  ///   - drawGround: draws what lies below obstacles and walls.
  ///   - draw: draws what lies above them.
  func drawPlan(
    on picture: inout SVGDocument,
    ground drawGround: (inout SVGDocument) -> Void = { _ in },
    draw: (inout SVGDocument) -> Void
  ) {
    let isDrawn = !(floor.walkable.isEmpty && floor.obstacles.isEmpty)
    picture.rect(
      plan,
      fill: isDrawn ? Palette.outside : Palette.paper,
      stroke: Stroke(Palette.frame, width: 0.5)
    )
    picture.clipped(to: plan) { picture in
      fill(floor.walkable, Palette.paper, stroke: nil, on: &picture)
      drawGround(&picture)
      fill(floor.obstacles, "#e4e0d8", stroke: Stroke("#b9b2a4", width: 0.6), on: &picture)
      let walls = floor.walls.all.map { path(from: $0.segment.start, to: $0.segment.end) }
      picture.path(walls.joined(), stroke: Stroke("#8d8778", width: 0.7))
      draw(&picture)
    }
    drawScale(on: &picture)
  }

  /// Draws a bar as long as a round number of metres, below the plan on the right.
  private func drawScale(on picture: inout SVGDocument) {
    let meters = [1.0, 2, 5, 10, 20, 50, 100, 200].last { $0 * scale <= 160 } ?? 1
    let bar = SVGRect(x: plan.right - meters * scale, y: plan.bottom + 13, width: meters * scale, height: 3)
    picture.rect(bar, fill: Palette.ink)
    picture.caption(Wording.meters(meters), left: bar.x, middle: bar.y)
  }

  /// Returns the position of a place of the floor on the picture, to the tenth of a pixel.
  func place(_ point: Point) -> SVGPoint {
    let x = plan.x + (point.x - extent.southWest.x) * scale
    let y = plan.y + (extent.northEast.y - point.y) * scale
    return SVGPoint((x * 10).rounded() / 10, (y * 10).rounded() / 10)
  }

  /// The commands of a straight line between two places.
  func path(from start: Point, to end: Point) -> String {
    "M\(SVGDocument.place(place(start)))L\(SVGDocument.place(place(end)))"
  }

  /// The commands of a line through places, whichever way it turns; corners that look like one are one.
  func path(through points: [Point]) -> String {
    var kept: [SVGPoint] = []
    for (index, point) in points.map(place).enumerated() {
      let isNear = kept.last.map {
        abs(point.x - $0.x) < FloorDrawing.resolution && abs(point.y - $0.y) < FloorDrawing.resolution
      }
      if isNear != true || index == points.count - 1 { kept.append(point) }
    }
    return kept.isEmpty ? "" : "M" + kept.map(SVGDocument.place).joined(separator: "L")
  }

  private func fill(_ areas: [Area], _ color: String, stroke: Stroke?, on picture: inout SVGDocument) {
    // Each area by itself: where two overlap, even-odd filling of both together would leave a hole.
    for area in areas {
      let rings = ([area.outline] + area.holes).map { path(through: $0.corners) + "Z" }
      picture.path(rings.joined(), fill: color, stroke: stroke)
    }
  }
}
