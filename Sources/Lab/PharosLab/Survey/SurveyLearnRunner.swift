import PharosCaptures
import PharosDocuments
import PharosFixes
import PharosModel
package import PharosService
import PharosSpace
import PharosSurvey

/// `pharos survey learn`: makes a venue's radio map from walks with waypoints.
package struct SurveyLearnRunner: Sendable {
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
      let folder = SurveyPictures.path("coverage", in: self.venue)
      try FileOutput.makeFolder(folder)
      for coverage in report.floors {
        guard let floor = venue.floor(coverage.floor) else { continue }
        let picture = CoveragePicture(coverage, on: floor)
        try write(Array(picture.svg.utf8), to: "coverage/\(SurveyPictures.name(coverage.floor)).svg")
      }
      let table = SurveyLearnReport(report, map: map, damagedLines: damaged)
      for line in table.lines { try console.print(line) }
      try console.output.flush()
      console.say(
        "Wrote \(SurveyPictures.path(VenueFolder.radioMapFile, in: self.venue)) and pictures in \(folder)."
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
    .init("FLOOR", width: 18), .init("WALKS", width: 5, alignment: .right),
    .init("METRES", width: 7, alignment: .right), .init("COVERED", width: 7, alignment: .right),
    .init("WI-FI", width: 8, alignment: .right), .init("BEACONS", width: 8, alignment: .right),
    .init("EMITTERS", width: 8, alignment: .right),
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

/// The coverage of a floor by a survey, drawn over its plan: the walks and their number, and elsewhere how far the map
/// can be trusted.
struct CoveragePicture {
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
    let size = Point(x: Double(grid.cell) * Double(grid.columns), y: Double(grid.cell) * Double(grid.rows))
    drawing = FloorDrawing(floor, around: [grid.corner, grid.corner + size])
  }

  /// The picture as SVG text.
  var svg: String {
    let share = coverage.surveyedShare.map { ", \(Wording.percent($0)) of what is walkable" } ?? ""
    let walked = "\(Wording.count(coverage.walks, "walk")), \(Wording.decimal(coverage.meters, places: 0)) m"
    let classes = CoveragePicture.passes + CoveragePicture.doubts
    return drawing.svg(
      title: title,
      figures: "\(walked)\(share), \(Wording.count(coverage.emitters, "emitter")) heard",
      legend: classes.map { (.area($0.color), $0.label) },
      drawGround: drawCells
    )
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
        let corner = drawing.place(grid.corner + Point(x: Double(start) * side, y: Double(row + 1) * side))
        let width = SVGDocument.number(Double(column - start) * side * drawing.scale)
        let height = SVGDocument.number(side * drawing.scale)
        shapes[color, default: ""] += "M\(SVGDocument.place(corner))h\(width)v\(height)h-\(width)Z"
      }
    }
    for (color, shape) in shapes.sorted(by: { $0.key < $1.key }) {
      picture.path(shape, fill: color)
    }
  }
}
