import Glibc
import PharosDocuments
import PharosModel
import PharosService
import PharosSite
import PharosSpace

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
      try FileOutput.write(picture.svg.utf8, to: SurveyPictures.path("\(trace).svg", in: folder))
    }
    for (id, walked) in floors.sorted(by: { $0.key < $1.key }) {
      guard let floor = venue.floor(id) else { continue }
      let path = SurveyPictures.path("errors-\(SurveyPictures.name(id)).svg", in: folder)
      try FileOutput.write(ErrorPicture(walked, on: floor, id).svg.utf8, to: path)
    }
    let drawn = "\(Wording.count(places.count, "walk")) and \(Wording.count(floors.count, "floor"))"
    console.say("\(folder): pictures of \(drawn).")
    if strays > 0 {
      console.say(
        "\(Wording.count(strays, "trace")) could not be drawn: the venue has no such building or floor."
      )
    }
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
  /// The margin of the floor shown around the walk.
  private static let surroundings = Point(x: 12, y: 12)
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
    let shown = rows.map(\.truth) + rows.compactMap { $0.fix?.point }
    let around = shown.flatMap { [$0 - TrackPicture.surroundings, $0 + TrackPicture.surroundings] }
    drawing = FloorDrawing(floor, showing: Extent(around: around), around: shown)
  }

  /// The picture as SVG text.
  var svg: String {
    var legend: [(mark: SVGDocument.LegendMark, words: String)] = [
      (.line(Stroke(TrackPicture.truthColor, width: 1.4, dashes: [5, 3])), "truth"),
      (.line(Stroke(TrackPicture.fixColor, width: 1.6)), "fixes"),
      (.line(Stroke(Palette.mistake, width: 1.1)), "from truth to fix"),
      (.line(Stroke(Palette.uncertainty)), "accuracy claimed"),
    ]
    if fixes.contains(where: { $0.level != level }) {
      legend.append((.dots(TrackPicture.wrongFloorColor, radius: 2.6), "fixes on another floor"))
    }
    return drawing.svg(title: title, figures: ScoreSummary(rows).figures, legend: legend, draw: drawWalk)
  }

  private func drawWalk(on picture: inout SVGDocument) {
    for fix in rows.compactMap(\.fix) {
      guard let accuracy = fix.accuracy else { continue }
      let stroke = Stroke(Palette.uncertainty, width: 0.8)
      picture.circle(drawing.place(fix.point), radius: accuracy * drawing.scale, stroke)
    }
    let truth = drawing.path(through: rows.map(\.truth))
    picture.path(truth, stroke: Stroke(TrackPicture.truthColor, width: 1.4, dashes: [5, 3]))
    // A change of floors is not drawn as a walk.
    for run in fixes.split(whereSeparator: { $0.level != level }) {
      let line = drawing.path(through: run.map(\.point))
      picture.path(line, stroke: Stroke(TrackPicture.fixColor, width: 1.6))
    }
    let (own, strays) = (fixes.filter { $0.level == level }, fixes.filter { $0.level != level })
    picture.dots(own.map { drawing.place($0.point) }, radius: 1.8, fill: TrackPicture.fixColor)
    picture.dots(strays.map { drawing.place($0.point) }, radius: 2.6, fill: TrackPicture.wrongFloorColor)
    let errors = rows.compactMap { row in row.fix.map { drawing.path(from: row.truth, to: $0.point) } }
    picture.path(errors.joined(), stroke: Stroke(Palette.mistake, width: 1.1))
    picture.dots(rows.map { drawing.place($0.truth) }, radius: 3.5, fill: TrackPicture.truthColor)
    guard let start = rows.first.map({ drawing.place($0.truth) }) else { return }
    picture.text("start", at: SVGPoint(start.x + 6, start.y - 6), TextStyle(11, isBold: true))
  }
}

extension ScoreSummary {
  /// The figures of a picture's head.
  fileprivate var figures: String {
    guard let mean, let median else {
      return "\(Wording.count(waypoints, "waypoint")), none with a fix"
    }
    let known = "\(Wording.count(waypoints, "waypoint")), \(scored) with a fix"
    let errors = "mean error \(Wording.meters(mean)), median \(Wording.meters(median))"
    let within = within.map { ", \(Wording.percent($0)) within the accuracy claimed" } ?? ""
    return "\(known), \(errors)\(within)"
  }
}

/// All waypoints of a floor with the errors of their fixes: where a floor is located well, and where it is not.
struct ErrorPicture {
  /// The classes that errors are coloured by, from the best: below so many metres.
  private static let classes: [(limit: Double, color: String, words: String)] = [
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
    drawing = FloorDrawing(floor, around: rows.map(\.truth))
  }

  /// The picture as SVG text.
  var svg: String {
    let legend = ErrorPicture.classes.map { ($0.color, $0.words) } + [(Palette.frame, "no fix yet")]
    return drawing.svg(
      title: title,
      figures: ScoreSummary(rows).figures,
      legend: legend.map { (.dots($0, radius: 3), $1) },
      draw: drawErrors
    )
  }

  private func drawErrors(on picture: inout SVGDocument) {
    let missed = rows.filter { $0.fix == nil }.map { drawing.place($0.truth) }
    picture.dots(missed, radius: 3, fill: Palette.frame)
    var least = 0.0
    for (limit, color, _) in ErrorPicture.classes {
      let some = rows.filter { row in row.error.map { $0 >= least && $0 < limit } ?? false }
      least = limit
      let errors = some.compactMap { row in row.fix.map { drawing.path(from: row.truth, to: $0.point) } }
      picture.path(errors.joined(), stroke: Stroke(color, width: 1.2))
      picture.dots(some.map { drawing.place($0.truth) }, radius: 3.2, fill: color)
    }
  }
}
