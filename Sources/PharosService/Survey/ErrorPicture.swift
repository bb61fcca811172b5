import PharosPlaces

/// All waypoints of a floor with the errors of their fixes: where a floor is located well, and where it is not.
struct ErrorPicture {
  private static let margin = 24.0, top = 84.0, bottom = 40.0
  /// The classes that errors are coloured by, from the best: below so many metres.
  private static let classes: [(limit: Double, color: String, label: String)] = [
    (3, "#009e73", "below 3 m"), (6, "#0072b2", "3 to 6 m"), (12, "#e69f00", "6 to 12 m"),
    (.infinity, "#a3004c", "12 m and more"),
  ]

  private let drawing: FloorDrawing
  private let title: String
  private let rows: [ScoredWaypoint]

  /// Prepares a picture of the waypoints on one floor.
  init(_ rows: [ScoredWaypoint], on floor: Floor, _ id: FloorID) {
    self.rows = rows
    title = "Errors on floor \(id)"
    let extent = floor.extent ?? Extent(around: rows.map(\.truth)) ?? TrackPicture.nowhere
    drawing = FloorDrawing(floor, showing: extent, at: SVGPoint(ErrorPicture.margin, ErrorPicture.top))
  }

  /// The picture as SVG text.
  var svg: String {
    let figures = TrackPicture.figures(ScoreSummary(rows))
    var picture = SVGDocument(
      width: max(640, drawing.width + 2 * ErrorPicture.margin),
      height: ErrorPicture.top + drawing.height + ErrorPicture.bottom,
      title: title,
      summary: "\(title): \(figures)."
    )
    picture.text(title, at: SVGPoint(ErrorPicture.margin, 28), TextStyle(15, isBold: true))
    picture.text(figures, at: SVGPoint(ErrorPicture.margin, 48), TextStyle(12, color: Palette.faint))
    drawLegend(on: &picture)
    drawing.drawGround(on: &picture)
    drawing.drawShapes(on: &picture)
    drawing.clipped(on: &picture) { picture in drawErrors(on: &picture) }
    drawing.drawScale(on: &picture)
    return picture.text
  }

  private func drawLegend(on picture: inout SVGDocument) {
    let style = TextStyle(12)
    var x = ErrorPicture.margin
    let entries = ErrorPicture.classes.map { ($0.color, $0.label) } + [(Palette.frame, "no fix yet")]
    for (color, label) in entries {
      picture.dots([SVGPoint(x + 5, 64)], radius: 4, fill: color)
      picture.text(label, at: SVGPoint(x + 14, 68), style)
      x += 14 + style.width(of: label) + 16
    }
  }

  private func drawErrors(on picture: inout SVGDocument) {
    let missed = rows.filter { $0.fix == nil }.map { drawing.place($0.truth) }
    picture.dots(missed, radius: 3, fill: Palette.frame)
    var least = 0.0
    for (limit, color, _) in ErrorPicture.classes {
      let some = rows.filter { row in row.error.map { $0 >= least && $0 < limit } ?? false }
      least = limit
      let sticks = some.compactMap { row -> String? in
        guard let fix = row.fix else { return nil }
        let (start, end) = (drawing.place(row.truth), drawing.place(Point(x: fix.x, y: fix.y)))
        return "M\(FloorDrawing.text(start))L\(FloorDrawing.text(end))"
      }
      drawing.path(sticks.joined(), fill: nil, stroke: Stroke(color, width: 1.2), on: &picture)
      picture.dots(some.map { drawing.place($0.truth) }, radius: 3.2, fill: color)
    }
  }
}
