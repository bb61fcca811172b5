import PharosPlaces
import PharosPositioning

/// What a survey covered of a floor, over its plan: where it walked and how often, and elsewhere how far the map can be
/// trusted.
struct CoveragePicture {
  private static let margin = 24.0, top = 84.0, bottom = 40.0
  /// The classes of passes, from the fewest: up to so many.
  private static let passes: [(most: UInt8, color: String, label: String)] = [
    (1, "#9ecae1", "walked once"), (3, "#4292c6", "2 or 3 times"), (255, "#08519c", "more often"),
  ]
  /// The classes of uncertainty where no walk passed, from the lowest: each up to a mean deviation of the levels in
  /// tenths of a decibel.
  ///
  /// Readings scatter by 5 to 7 dB: below that the map is as good as a reading, above twice that it says little.
  private static let doubts: [(most: UInt8, color: String, label: String)] = [
    (60, "#fee8c8", "not walked, levels known to 6 dB"), (90, "#fdbb84", "to 9 dB"),
    (255, "#e34a33", "or less well"),
  ]

  private let coverage: SurveyReport.FloorCoverage
  private let drawing: FloorDrawing
  private let title: String

  /// Prepares a picture.
  init(_ coverage: SurveyReport.FloorCoverage, on floor: Floor) {
    self.coverage = coverage
    title = "What the survey covered of floor \(coverage.floor)"
    let grid = coverage.grid
    let corner = grid.corner
    let size = Point(x: Double(grid.cell) * Double(grid.columns), y: Double(grid.cell) * Double(grid.rows))
    let extent = floor.extent ?? Extent(around: [corner, corner + size]) ?? TrackPicture.nowhere
    drawing = FloorDrawing(
      floor,
      showing: extent,
      at: SVGPoint(CoveragePicture.margin, CoveragePicture.top)
    )
  }

  /// The picture as SVG text.
  var svg: String {
    let share = coverage.surveyedShare.map { ", \(Wording.percent($0)) of what is walkable" } ?? ""
    let walked = "\(Wording.count(coverage.walks, "walk")), \(Wording.decimal(coverage.meters, places: 0)) m"
    let figures = "\(walked)\(share), \(Wording.count(coverage.emitters, "emitter")) heard"
    var picture = SVGDocument(
      width: max(760, drawing.width + 2 * CoveragePicture.margin),
      height: CoveragePicture.top + drawing.height + CoveragePicture.bottom,
      title: title,
      summary: "\(title): \(figures)."
    )
    picture.text(title, at: SVGPoint(CoveragePicture.margin, 28), TextStyle(15, isBold: true))
    picture.text(figures, at: SVGPoint(CoveragePicture.margin, 48), TextStyle(12, color: Palette.faint))
    drawLegend(on: &picture)
    drawing.drawGround(on: &picture)
    drawing.clipped(on: &picture) { picture in drawCells(on: &picture) }
    drawing.drawShapes(on: &picture)
    drawing.drawScale(on: &picture)
    return picture.text
  }

  private func drawLegend(on picture: inout SVGDocument) {
    let style = TextStyle(12)
    var x = CoveragePicture.margin
    let classes = CoveragePicture.passes + CoveragePicture.doubts
    for (_, color, label) in classes {
      picture.rect(x: x, y: 58, width: 14, height: 12, fill: color)
      picture.text(label, at: SVGPoint(x + 19, 68), style)
      x += 19 + style.width(of: label) + 12
    }
  }

  /// The colour of a cell; nil where it stays as the ground is.
  private func color(_ index: Int) -> String? {
    let passes = coverage.passes[index]
    if passes > 0 { return CoveragePicture.passes.first { passes <= $0.most }?.color }
    guard coverage.isWalkable.indices.contains(index), coverage.isWalkable[index],
      coverage.doubt.indices.contains(index)
    else { return nil }
    let doubt = coverage.doubt[index]
    return CoveragePicture.doubts.first { doubt <= $0.most }?.color
  }

  /// One shape for each colour: neighbours in a row become one rectangle.
  private func drawCells(on picture: inout SVGDocument) {
    let grid = coverage.grid
    let side = Double(grid.cell)
    var shapes: [String: String] = [:]
    for row in 0..<grid.rows {
      var column = 0
      while column < grid.columns {
        let start = column
        let color = color(row * grid.columns + column)
        while column < grid.columns, self.color(row * grid.columns + column) == color { column += 1 }
        guard let color else { continue }
        let corner = drawing.place(
          grid.corner + Point(x: Double(start) * side, y: Double(row + 1) * side)
        )
        let width = SVGDocument.number(Double(column - start) * side * drawing.scale)
        let height = SVGDocument.number(side * drawing.scale)
        shapes[color, default: ""] += "M\(FloorDrawing.text(corner))h\(width)v\(height)h-\(width)Z"
      }
    }
    for (color, shape) in shapes.sorted(by: { $0.key < $1.key }) {
      drawing.path(shape, fill: color, stroke: nil, on: &picture)
    }
  }
}
