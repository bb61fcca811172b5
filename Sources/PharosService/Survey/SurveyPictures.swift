import PharosModel
import PharosSite
import PharosVenues

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes the pictures of a score into a folder: one for each walk, and one of all errors for each floor.
struct SurveyPictures {
  let folder: String
  let venue: Venue
  /// The floor of each trace.
  let places: [String: FloorID]

  /// Draws everything.
  func draw(_ rows: [ScoredWaypoint], fixes: FixTable, console: Console) throws {
    try FileOutput.makeFolder(folder)
    var strays = 0
    var floors: [FloorID: [ScoredWaypoint]] = [:]
    for (trace, walked) in Dictionary(grouping: rows, by: \.trace).sorted(by: { $0.key < $1.key }) {
      guard let id = places[trace], let floor = venue.floor(id) else {
        strays += 1
        continue
      }
      floors[id, default: []] += walked
      let picture = TrackPicture(walked, fixes: fixes.traces[trace] ?? [], on: floor, id)
      try write(picture.svg, to: "\(trace).svg")
    }
    for (id, walked) in floors.sorted(by: { $0.key < $1.key }) {
      guard let floor = venue.floor(id) else { continue }
      try write(ErrorPicture(walked, on: floor, id).svg, to: "errors-\(SurveyPictures.name(id)).svg")
    }
    let drawn = "\(Wording.count(places.count, "walk")) and \(Wording.count(floors.count, "floor"))"
    console.say("\(folder): pictures of \(drawn).")
    if strays > 0 {
      console.say(
        "\(Wording.count(strays, "trace")) could not be drawn: the venue has no such building or floor."
      )
    }
  }

  private func write(_ svg: String, to name: String) throws {
    let file = try FileOutput(path: SurveyPictures.path(name, in: folder))
    try file.write(Array(svg.utf8))
    try file.close()
  }

  /// The path of a file in a folder.
  static func path(_ name: String, in folder: String) -> String {
    folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// A floor in the name of a file.
  static func name(_ id: FloorID) -> String {
    let building = id.building.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" }
    return "\(String(building))-\(FloorWord.name(id.level))"
  }
}

/// One walk over the floor plan: where the surveyor was, and where the fixes said so.
struct TrackPicture {
  private static let margin = 24.0, top = 84.0, bottom = 40.0
  /// The margin of the floor shown around the walk.
  ///
  /// - Units: metres.
  private static let surroundings = 12.0
  private static let truthColor = Palette.ink
  private static let fixColor = Palette.inside
  private static let wrongFloorColor = Palette.allowance

  private let drawing: FloorDrawing
  private let title: String
  private let rows: [ScoredWaypoint]
  private let fixes: [FixTable.Row]
  private let level: Int

  /// Prepares a picture.
  ///
  /// - Parameters:
  ///   - rows: the waypoints of one trace in order of time.
  ///   - fixes: its fixes.
  ///   - floor: the floor of the truth.
  ///   - id: the identifier of the floor.
  init(_ rows: [ScoredWaypoint], fixes: [FixTable.Row], on floor: Floor, _ id: FloorID) {
    self.rows = rows
    level = floor.level
    // What comes behind the last waypoint has no truth beside it.
    let end = rows.last?.time ?? .distantFuture
    self.fixes = fixes.filter { $0.time <= end }
    title = "\(rows.first?.trace ?? "") on floor \(id)"
    // The first fixes may lie anywhere: what is seen is the truth, and the fixes that it is compared with.
    let shown = rows.map(\.truth) + rows.compactMap { row in row.fix.map { Point(x: $0.x, y: $0.y) } }
    let around = Point(x: TrackPicture.surroundings, y: TrackPicture.surroundings)
    let seen =
      Extent(around: shown).flatMap { Extent(around: [$0.southWest - around, $0.northEast + around]) }
      ?? floor.extent ?? Extent(around: [.origin, around])
    drawing = FloorDrawing(
      floor,
      showing: seen ?? TrackPicture.nowhere,
      at: SVGPoint(TrackPicture.margin, TrackPicture.top)
    )
  }

  /// The extent shown of a floor on which nothing lies.
  static var nowhere: Extent {
    guard let extent = Extent(around: [Point.origin, Point(x: 1, y: 1)]) else {
      preconditionFailure("two places have a rectangle around them")
    }
    return extent
  }

  /// The picture as SVG text.
  var svg: String {
    let summary = ScoreSummary(rows)
    let figures = TrackPicture.figures(summary)
    var picture = SVGDocument(
      width: max(640, drawing.width + 2 * TrackPicture.margin),
      height: TrackPicture.top + drawing.height + TrackPicture.bottom,
      title: title,
      summary: "\(title): \(figures)."
    )
    picture.text(title, at: SVGPoint(TrackPicture.margin, 28), TextStyle(15, isBold: true))
    let faint = TextStyle(12, color: Palette.faint)
    picture.text(figures, at: SVGPoint(TrackPicture.margin, 48), faint)
    drawLegend(on: &picture)
    drawing.drawGround(on: &picture)
    drawing.drawShapes(on: &picture)
    drawing.clipped(on: &picture) { picture in drawWalk(on: &picture) }
    drawing.drawScale(on: &picture)
    return picture.text
  }

  /// The figures of a picture's head.
  static func figures(_ summary: ScoreSummary) -> String {
    guard let mean = summary.mean, let median = summary.median else {
      return "\(Wording.count(summary.waypoints, "waypoint")), none with a fix"
    }
    let known = "\(Wording.count(summary.waypoints, "waypoint")), \(summary.scored) with a fix"
    let errors = "mean error \(Wording.meters(mean)), median \(Wording.meters(median))"
    let within = summary.within.map { ", \(Wording.percent($0)) within the accuracy claimed" } ?? ""
    return "\(known), \(errors)\(within)"
  }

  private func drawLegend(on picture: inout SVGDocument) {
    let style = TextStyle(12)
    let y = 68.0
    var x = TrackPicture.margin
    var entries = [
      (TrackPicture.truthColor, "truth"), (TrackPicture.fixColor, "fixes"),
      (Palette.mistake, "from truth to fix"), (Palette.uncertainty, "accuracy claimed"),
    ]
    if fixes.contains(where: { $0.level != level }) {
      entries.append((TrackPicture.wrongFloorColor, "fixes on another floor"))
    }
    for (color, label) in entries {
      picture.rect(x: x, y: y - 7, width: 18, height: 4, fill: color)
      picture.text(label, at: SVGPoint(x + 24, y), style)
      x += 24 + style.width(of: label) + 16
    }
  }

  private func drawWalk(on picture: inout SVGDocument) {
    for row in rows {
      guard let fix = row.fix, let accuracy = fix.accuracy else { continue }
      let middle = Point(x: fix.x, y: fix.y)
      drawing.circle(middle, radius: accuracy, Stroke(Palette.uncertainty, width: 0.8), on: &picture)
    }
    drawing.line(
      rows.map(\.truth),
      Stroke(TrackPicture.truthColor, width: 1.4, dashes: [5, 3]),
      on: &picture
    )
    drawFixes(on: &picture)
    for row in rows {
      guard let fix = row.fix else { continue }
      let ends = [row.truth, Point(x: fix.x, y: fix.y)]
      drawing.line(ends, Stroke(Palette.mistake, width: 1.1), on: &picture)
    }
    picture.dots(rows.map { drawing.place($0.truth) }, radius: 3.5, fill: TrackPicture.truthColor)
    if let first = rows.first {
      let place = drawing.place(first.truth)
      picture.text("start", at: SVGPoint(place.x + 6, place.y - 6), TextStyle(11, isBold: true))
    }
  }

  private func drawFixes(on picture: inout SVGDocument) {
    // A change of floors is no way that anybody walked.
    for run in runs { drawing.line(run, Stroke(TrackPicture.fixColor, width: 1.6), on: &picture) }
    let dots = fixes.filter { $0.level == level }.map { drawing.place(Point(x: $0.x, y: $0.y)) }
    picture.dots(dots, radius: 1.8, fill: TrackPicture.fixColor)
    let strays = fixes.filter { $0.level != level }.map { drawing.place(Point(x: $0.x, y: $0.y)) }
    picture.dots(strays, radius: 2.6, fill: TrackPicture.wrongFloorColor)
  }

  /// The fixes on the walk's floor, cut where they lead through another one.
  private var runs: [[Point]] {
    fixes.split { $0.level != level }.map { run in run.map { Point(x: $0.x, y: $0.y) } }
  }
}

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
