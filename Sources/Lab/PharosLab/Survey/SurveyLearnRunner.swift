import PharosCaptures
import PharosDocuments
import PharosFixes
import PharosModel
import PharosSite
import PharosSpace
import PharosSurvey
package import PharosTerminal

/// `pharos survey learn`: makes a venue's radio map from walks with waypoints.
package struct SurveyLearnRunner: Sendable {
  /// The page of pictures in the venue's folder.
  private static let coverageFile = "coverage.html"

  private let traces: [String]
  private let venue: String

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - traces: files and folders of traces.
  ///   - venue: the venue's folder, which gets the map and pictures of what was covered.
  package init(traces: [String], venue: String) {
    self.traces = traces
    self.venue = venue
  }

  /// Learns, writes the map and the pictures, and prints what was covered.
  ///
  /// - Returns: 0; 1 if something cannot be read or written, or no walk fits the venue; 78 if the venue is wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      let venue = try VenueContents.venue(in: self.venue, console: console)
      let files = try TraceFile.find(traces)
      let places = VenuePlaces(venue)
      var learner = SurveyLearner(venue: venue)
      var heldBack = HeldBackWalks(venue)
      var unmatched: [String: [TraceFile]] = [:]
      var damaged = 0
      var bar = ProgressBar("walks", on: console)
      for (index, file) in files.enumerated() {
        let trace = try file.trace()
        damaged += trace.counters.damaged
        switch places.floor(of: file, trace.header) {
        case .success(let floor):
          let walk = SurveyWalk(trace, name: file.identifier, floor: floor)
          learner.add(walk)
          heldBack.add(walk, from: file)
        case .failure(let mismatch): unmatched["\(mismatch)", default: []].append(file)
        }
        bar.show(index + 1, of: files.count)
      }
      bar.clear()
      say(unmatched, on: console)
      console.say("Fitting the radio map …")
      var (map, report) = learner.learned()
      console.say("Locating walks that were held back from a second map …")
      map.radiusScales = try heldBack.scales()
      guard report.walks > 0 else {
        throw CommandFailure("\(self.venue): no walk fits the venue, and no map was written.")
      }
      try write(try encoded(map), to: VenueFolder.radioMapFile)
      let pictures = report.floors.filter { venue.floor($0.floor) != nil }.map(\.picture)
      let page = FloorPage(title: "What the survey covered", venue: venue, pictures: pictures)
      try write(Array(page.html.utf8), to: SurveyLearnRunner.coverageFile)
      let table = SurveyLearnReport(report, map: map, damagedLines: damaged)
      for line in table.lines { try console.print(line) }
      try console.output.flush()
      console.say(
        "Wrote \(SurveyPictures.path(VenueFolder.radioMapFile, in: self.venue)) and pictures in "
          + "\(SurveyPictures.path(SurveyLearnRunner.coverageFile, in: self.venue))."
      )
      return .success
    }
  }

  /// The bytes of a map that every command will read again.
  private func encoded(_ map: RadioMap) throws(CommandFailure) -> [UInt8] {
    let bytes = map.encoded()
    if let reason = SurveyLearnRunner.refusal(ofMapWith: bytes.count) {
      throw CommandFailure("\(venue): \(reason)")
    }
    return bytes
  }

  /// Returns the reason why a map of so many bytes is not written; nil if it is written.
  package static func refusal(ofMapWith count: Int) -> String? {
    guard count > VenueFiles.largest else { return nil }
    let limit = VenueFiles.largest >> 20
    return "the radio map would have \((count >> 20) + 1) MiB, and no command reads more than \(limit) MiB. "
      + "Make a venue of each building, or of fewer floors, and learn each by itself; no map was written."
  }

  private func say(_ unmatched: [String: [TraceFile]], on console: Console) {
    for (reason, files) in unmatched.sorted(by: { $0.key < $1.key }) {
      let many = Wording.count(files.count, "trace")
      console.say("\(many) left out, such as \(files[0].path): \(Wording.clause(reason)).")
    }
  }

  private func write(_ bytes: [UInt8], to name: String) throws {
    try FileOutput.write(bytes, to: SurveyPictures.path(name, in: venue))
  }
}

/// A summary of what a survey covered, in lines of text for the surveyor.
struct SurveyLearnReport {
  private let report: SurveyReport
  private let map: RadioMap
  private let damagedLines: Int

  private static let table = TextTable([
    .text("FLOOR", 18), .number("WALKS", 5), .number("METRES", 7), .number("COVERED", 7), .number("WI-FI", 8),
    .number("BEACONS", 8), .number("EMITTERS", 8),
  ])

  init(_ report: SurveyReport, map: RadioMap, damagedLines: Int) {
    self.report = report
    self.map = map
    self.damagedLines = damagedLines
  }

  /// Everything, line by line.
  var lines: [String] {
    var lines = [SurveyLearnReport.table.header]
    for floor in report.floors {
      lines.append(
        SurveyLearnReport.table.line([
          "\(floor.floor)", "\(floor.walks)", Wording.decimal(floor.meters, places: 0),
          floor.surveyedShare.map(Wording.percent) ?? "", "\(floor.accessPointReadings)",
          "\(floor.beaconReadings)", "\(floor.emitters)",
        ])
      )
    }
    lines += [
      "", "COVERED: the share of what is walkable within 3 m of a walk. WI-FI, BEACONS: readings that count.",
    ]
    let walked = "\(Wording.count(report.walks, "walk")), \(Wording.decimal(report.meters, places: 0)) m"
    let known = "\(report.accessPoints) access points and \(report.beacons) beacons"
    lines.append("\(walked): the map knows \(known); of \(report.anchored) it knows the place.")
    let reasons = SurveyReport.Reason.allCases.compactMap { reason in
      report.leftOut[reason].flatMap { $0 > 0 ? "\($0) \(SurveyLearnReport.words(reason))" : nil }
    }
    if !map.radiusScales.isEmpty {
      lines.append("Accuracy: \(Wording.list(map.radiusScales.map(\.description))).")
    }
    if !reasons.isEmpty { lines.append("Left out: \(Wording.list(reasons)).") }
    lines += notes
    return lines
  }

  private var notes: [String] {
    var notes: [String] = []
    if report.repeatedReadings > 0 {
      notes.append("\(report.repeatedReadings) entries of scans repeated earlier ones, and count once.")
    }
    if report.evenStretches > 0 {
      let all = report.pacedStretches + report.evenStretches
      notes.append(
        "\(report.evenStretches) of \(all) stretches between waypoints had no steps, and count as an even pace."
      )
    }
    if report.placelessReadings > 0 {
      notes.append("\(report.placelessReadings) readings lie before the first or after the last waypoint.")
    }
    if !report.placelessWalks.isEmpty {
      let some = report.placelessWalks.prefix(3).joined(separator: ", ")
      notes.append("\(Wording.count(report.placelessWalks.count, "walk")) had under two waypoints: \(some).")
    }
    notes += report.turns.map { "Warning: \($0)." }
    if damagedLines > 0 { notes.append("\(Wording.count(damagedLines, "line")) could not be read.") }
    return notes
  }

  private static func words(_ reason: SurveyReport.Reason) -> String {
    switch reason {
    case .tooFew: "heard too seldom"
    case .fleeting: "heard in passing"
    case .moving: "that move or share an identity"
    case .tooMany: "beyond what a map holds"
    }
  }
}

extension SurveyReport.FloorCoverage {
  /// The coverage over the floor's plan: the walks and their number, and elsewhere how far the map can be trusted.
  fileprivate var picture: FloorPicture {
    let share = surveyedShare.map { ", \(Wording.percent($0)) of what is walkable" } ?? ""
    let walked = "\(Wording.count(walks, "walk")), \(Wording.decimal(meters, places: 0)) m"
    let size = Point(x: Double(grid.cell) * Double(grid.columns), y: Double(grid.cell) * Double(grid.rows))
    var picture = FloorPicture(
      floor: floor,
      title: "Floor \(floor)",
      figures: "\(walked)\(share), \(Wording.count(emitters, "emitter")) heard",
      extent: Extent(around: [grid.corner, grid.corner + size])
    )
    let cells = cells
    picture.layers = Self.classes.enumerated().map { .init($1.label, .cells, $1.color, cells[$0]) }
    return picture
  }

  /// The colours of cells: those that were walked up to so many times, then those where the levels are known to a mean
  /// deviation of so many tenths of a decibel.
  ///
  /// Readings scatter by 5 to 7 dB: below that the map is as good as a reading, above twice that it says little.
  private static let classes: [(limit: UInt8, color: String, label: String)] = [
    (1, "#9ecae1", "walked once"), (3, "#4292c6", "2 or 3 times"), (255, "#08519c", "more often"),
    (60, "#fee8c8", "not walked, levels known to 6 dB"), (90, "#fdbb84", "to 9 dB"),
    (255, "#e34a33", "or less well"),
  ]

  /// The class of a cell; nil where it stays as the ground is.
  private func kind(of cell: Int) -> Int? {
    let passes = passes[cell]
    if passes > 0 { return Self.classes.firstIndex { passes <= $0.limit } }
    guard isWalkable.indices.contains(cell), isWalkable[cell], doubt.indices.contains(cell) else {
      return nil
    }
    return Self.classes[3...].firstIndex { doubt[cell] <= $0.limit }
  }

  /// The rectangles of each class: neighbours in a row become one.
  private var cells: [[[Double]]] {
    let side = Double(grid.cell)
    var cells: [[[Double]]] = Array(repeating: [], count: Self.classes.count)
    for row in 0..<grid.rows {
      var column = 0
      while column < grid.columns {
        let start = column
        let kind = kind(of: row * grid.columns + column)
        while column < grid.columns, self.kind(of: row * grid.columns + column) == kind { column += 1 }
        let corner = grid.corner + Point(x: Double(start) * side, y: Double(row) * side)
        if let kind { cells[kind].append([corner.x, corner.y, Double(column - start) * side, side]) }
      }
    }
    return cells
  }
}
