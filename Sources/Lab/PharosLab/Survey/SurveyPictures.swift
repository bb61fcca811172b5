import PharosDocuments
import PharosModel
import PharosSpace
import PharosTerminal

/// The pictures of a score on one page: the errors on each floor, and each walk.
struct SurveyPictures {
  let folder: String
  let venue: Venue
  /// The floor of each trace.
  let places: [String: FloorID]

  /// Draws everything.
  func draw(_ rows: [ScoredWaypoint], fixes: FixTable, console: Console) throws {
    var strays = 0
    var floors: [FloorID: [ScoredWaypoint]] = [:]
    var walks: [FloorPicture] = []
    for (trace, walked) in Dictionary(grouping: rows, by: \.trace).sorted(by: { $0.key < $1.key }) {
      guard let id = places[trace], venue.floor(id) != nil else {
        strays += 1
        continue
      }
      floors[id, default: []] += walked
      walks.append(SurveyPictures.walk(walked, fixes: fixes.traces[trace] ?? [], on: id))
    }
    let errors = floors.sorted { $0.key < $1.key }.map { SurveyPictures.errors($1, on: $0) }
    let page = FloorPage(title: "Fixes and the truth", venue: venue, pictures: errors + walks)
    try FileOutput.makeFolder(folder)
    let path = SurveyPictures.path("index.html", in: folder)
    try FileOutput.write(page.html.utf8, to: path)
    let drawn = "\(Wording.count(walks.count, "walk")) and \(Wording.count(floors.count, "floor"))"
    console.say("\(path): pictures of \(drawn).")
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

  /// One walk over the floor plan: where the surveyor was, and where the fixes said so.
  ///
  /// - Parameters:
  ///   - rows: the waypoints of one trace in order of time.
  ///   - fixes: its fixes.
  ///   - id: the floor of the truth.
  /// - Returns: the picture.
  private static func walk(
    _ rows: [ScoredWaypoint],
    fixes: [FixTable.Row],
    on id: FloorID
  ) -> FloorPicture {
    // What comes behind the last waypoint has no truth beside it.
    let fixes = fixes.filter { $0.time <= rows.last?.time ?? .distantFuture }
    let own = fixes.filter { $0.level == id.level }
    let elsewhere = fixes.filter { $0.level != id.level }
    // A change of floors is not drawn as a walk.
    let runs = fixes.split { $0.level != id.level }.map { $0.map(\.point).coordinates }
    let claims = rows.compactMap { row in
      row.fix.flatMap { fix in fix.accuracy.map { [fix.point.x, fix.point.y, $0] } }
    }
    let truth = rows.map(\.truth)
    // The first fixes may lie anywhere: what is seen is the truth, and the fixes that it is compared with.
    let margin = Point(x: 12, y: 12)
    let around = (truth + rows.compactMap { $0.fix?.point }).flatMap { [$0 - margin, $0 + margin] }
    var picture = FloorPicture(
      floor: id,
      title: "\(rows.first?.trace ?? "") on floor \(id)",
      figures: ScoreSummary(rows).figures,
      extent: Extent(around: around)
    )
    picture.layers = [
      .init("accuracy claimed", .circles, Palette.uncertainty, width: 0.8, claims),
      .init("truth", .lines, "currentColor", width: 1.4, isDashed: true, [truth.coordinates]),
      .init("fixes", .lines, Palette.inside, runs),
      .init("", .dots, Palette.inside, width: 3.6, own.map { [$0.x, $0.y] }),
      .init("from truth to fix", .lines, Palette.mistake, width: 1.1, errors(of: rows)),
      .init("", .dots, "currentColor", width: 7, truth.map { [$0.x, $0.y] }),
    ]
    if !elsewhere.isEmpty {
      let places = elsewhere.map { [$0.x, $0.y] }
      picture.layers.append(.init("fixes on another floor", .dots, Palette.allowance, width: 5.2, places))
    }
    if let start = truth.first { picture.labels = [("start", start + Point(x: 0, y: 1))] }
    return picture
  }

  /// The classes that errors are coloured by, from the best: below so many metres.
  private static let classes: [(limit: Double, color: String, words: String)] = [
    (3, "#009e73", "below 3 m"), (6, "#0072b2", "3 to 6 m"), (12, "#e69f00", "6 to 12 m"),
    (.infinity, "#a3004c", "12 m and more"),
  ]

  /// All waypoints of a floor with the errors of their fixes: where a floor is located well, and where it is not.
  private static func errors(_ rows: [ScoredWaypoint], on id: FloorID) -> FloorPicture {
    var picture = FloorPicture(floor: id, title: "Errors on floor \(id)", figures: ScoreSummary(rows).figures)
    let missed = rows.filter { $0.fix == nil }.map { [$0.truth.x, $0.truth.y] }
    picture.layers = [.init("no fix yet", .dots, Palette.frame, width: 6, missed)]
    var lowest = 0.0
    for (limit, color, words) in classes {
      let some = rows.filter { row in row.error.map { $0 >= lowest && $0 < limit } ?? false }
      lowest = limit
      picture.layers += [
        .init("", .lines, color, width: 1.2, errors(of: some)),
        .init(words, .dots, color, width: 6.4, some.map { [$0.truth.x, $0.truth.y] }),
      ]
    }
    return picture
  }

  /// Lines from the truths to their fixes.
  private static func errors(of rows: [ScoredWaypoint]) -> [[Double]] {
    rows.compactMap { row in row.fix.map { [row.truth, $0.point].coordinates } }
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
