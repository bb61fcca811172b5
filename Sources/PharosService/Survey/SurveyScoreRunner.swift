import PharosCaptures
import PharosPlaces
import PharosSite

/// `pharos survey score`: how far fixes are from the truth that traces hold.
package struct SurveyScoreRunner: Sendable {
  /// How the figures are written.
  package enum Format: String, CaseIterable, Sendable {
    /// A table, for people.
    case table
    /// One JSON object, for machines.
    case json
  }

  /// What is scored, and what is shown of it.
  package struct Options: Sendable {
    /// The table of fixes.
    package var fixes: String
    /// Files and folders of traces, all of which are scored.
    package var traces: [String]
    /// Files and folders of the survey, to judge apart where it never was; empty not to.
    package var coverage: [String]
    /// The venue's folder, for drawing; nil without pictures.
    package var venue: String?
    /// Where to draw tracks; nil not to.
    package var tracks: String?
    /// True to score each site and each floor separately as well.
    package var byFloor: Bool
    /// How the figures are written.
    package var format: Format

    /// Makes options with the defaults of the command.
    package init(
      fixes: String,
      traces: [String],
      coverage: [String] = [],
      venue: String? = nil,
      tracks: String? = nil,
      byFloor: Bool = false,
      format: Format = .table
    ) {
      self.fixes = fixes
      self.traces = traces
      self.coverage = coverage
      self.venue = venue
      self.tracks = tracks
      self.byFloor = byFloor
      self.format = format
    }
  }

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Scores the fixes, prints the figures and draws what was asked for.
  ///
  /// - Returns: 0; 1 if a file cannot be read or written; 64 if the options lack something; 78 if the venue is wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      guard options.tracks == nil || options.venue != nil else {
        throw CommandFailure(
          "tracks are drawn over floor plans: name the venue's folder with --venue.",
          status: .usage
        )
      }
      let venue = try options.venue.map { try VenueContents.venue(in: $0, console: console) }
      let fixes = try FixTable(path: options.fixes)
      let files = try TraceFile.find(options.traces)
      var score = SurveyScore()
      var places: [String: FloorID] = [:]
      var bar = ProgressBar("traces", on: console)
      for (index, file) in files.enumerated() {
        let trace = try file.truth()
        score.rows += try TraceScore.waypoints(of: file, trace, fixes: fixes.traces[file.identifier] ?? [])
        if let venue, case .success(let floor) = VenuePlaces(venue).floor(of: file, trace.header) {
          places[file.identifier] = floor
        }
        bar.show(index + 1, of: files.count)
      }
      bar.clear()
      guard !score.rows.isEmpty else {
        throw CommandFailure("no trace of \(options.traces.joined(separator: ", ")) has a waypoint.")
      }
      score.traces = files.count
      let known = Set(files.map(\.identifier))
      score.strangers = fixes.traces.keys.count { !known.contains($0) }
      try cover(&score)
      try print(score, on: console)
      if let folder = options.tracks, let venue {
        try SurveyPictures(folder: folder, venue: venue, places: places)
          .draw(score.rows, fixes: fixes, console: console)
      }
      return .success
    }
  }

  private func cover(_ score: inout SurveyScore) throws(CommandFailure) {
    guard !options.coverage.isEmpty else { return }
    var coverage = SurveyCoverage()
    for file in try TraceFile.find(options.coverage) { coverage.add(try file.truth()) }
    for index in score.rows.indices { score.rows[index].isCovered = coverage.covers(score.rows[index]) }
  }

  private func print(_ score: SurveyScore, on console: Console) throws {
    switch options.format {
    case .table: for line in score.lines(byFloor: options.byFloor) { try console.print(line) }
    case .json: try console.print(score.json(byFloor: options.byFloor))
    }
    try console.output.flush()
    if score.strangers > 0 {
      let many = Wording.count(score.strangers, "trace")
      console.say("\(options.fixes): fixes of \(many) that are not among those scored were passed over.")
    }
  }
}
