import ArgumentParser
import PharosLab
import PharosModel
import PharosTerminal

/// `pharos survey`.
struct SurveyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "survey",
    abstract: "Make radio maps from walks, locate with them, and score the fixes.",
    discussion: """
      From traces with waypoints to a table of errors, in three commands:

      pharos survey learn survey/ -o venue/
      pharos survey locate --venue venue/ test/ -o fixes.csv
      pharos survey score fixes.csv test/ --coverage survey/

      Traces are text as the Indoor Location Competition 2.0 has them, plain or packed \
      with gzip; a folder stands for all traces in it.
      """,
    subcommands: [
      SurveyInitCommand.self, SurveyLearnCommand.self, SurveyLocateCommand.self, SurveyScoreCommand.self,
      SurveyImportCommand.self,
    ]
  )
}

/// `pharos survey init`.
struct SurveyInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make a venue's folder from the floors of a survey.",
    discussion: """
      pharos survey init floors/ -o venue/ --traces survey/
          floors/SITE/FLOOR/ with floor_image.png, floor_info.json and geojson_map.json; a \
      site becomes a building, called as the headers of its traces call it.
      """
  )

  @Argument(help: ArgumentHelp("The folder of sites.", valueName: "floors"))
  var floors: String

  @Option(name: .shortAndLong, help: ArgumentHelp("The venue's folder to make.", valueName: "venue/"))
  var output: String

  @Option(
    help: ArgumentHelp("Traces in folders of the same names, whose headers name sites.", valueName: "traces")
  )
  var traces: [String] = []

  func run() throws {
    let runner = SurveyInitRunner(floors: floors, output: output, traces: traces)
    try runner.run(on: .standard()).leave()
  }
}

/// `pharos survey learn`.
struct SurveyLearnCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "learn",
    abstract: "Make a venue's radio map from walks with waypoints.",
    discussion: """
      pharos survey learn survey/ -o venue/
          writes venue/radio-map.pharos, and a page with a picture of what was covered of each \
      floor, venue/coverage.html.

      Walks are placed by their own steps between waypoints. Emitters that move are left out. \
      A trace belongs to the building that is called as its SiteName, or as a folder above it.
      """
  )

  @Argument(help: .traces)
  var traces: [String]

  @Option(name: .shortAndLong, help: ArgumentHelp("The venue's folder.", valueName: "venue/"))
  var output: String

  func run() throws {
    try SurveyLearnRunner(traces: traces, venue: output).run(on: .standard()).leave()
  }
}

/// `pharos survey locate`.
struct SurveyLocateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "locate",
    abstract: "Stream traces through the pipeline and write the positions of their phones.",
    discussion: """
      pharos survey locate --venue venue/ test/ -o fixes.csv
          writes trace_id,time_ms,x_m,y_m,floor,accuracy_m.
      pharos survey locate --venue venue/ test/ -o thin.csv --wifi-every 30s
          the same with a Wi-Fi scan only every 30 s, as phones in pockets give.

      Each trace by itself, in the order of its file: a fix uses nothing that was sensed after \
      its time, no waypoint and no header.
      """
  )

  @Argument(help: .traces)
  var traces: [String]

  @Option(help: ArgumentHelp("The venue's folder.", valueName: "venue/"))
  var venue: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The table to write; - is standard output.", valueName: "fixes.csv")
  )
  var output: String

  @Option(
    help: ArgumentHelp(
      "How far apart fixes are at least. (default: \(SurveyLocateRunner.Options.defaultInterval.written))",
      valueName: "time"
    ),
    transform: TimeSpan.option
  )
  var interval: TimeSpan = SurveyLocateRunner.Options.defaultInterval

  @Option(help: ArgumentHelp("How many places are weighed at most. (default: the server's)", valueName: "n"))
  var particles: Int?

  @Option(
    help: ArgumentHelp("Leave out Wi-Fi scans nearer than this, or all: never.", valueName: "time|never")
  )
  var wifiEvery: ScanPause?

  @Flag(help: "Leave out all beacons.")
  var noBeacons = false

  @Flag(help: "Leave out all motion.")
  var noMotion = false

  @Option(help: ArgumentHelp("How many traces at once. (default: one a core)", valueName: "n"))
  var jobs: Int?

  func validate() throws {
    let intervals = SurveyLocateRunner.Options.intervals
    guard intervals.contains(interval) else {
      throw ValidationError(
        "--interval is \(interval.written); expected \(intervals.lowerBound.written) to "
          + "\(intervals.upperBound.written)."
      )
    }
    let counts = SurveyLocateRunner.Options.particleCounts
    if let particles, !counts.contains(particles) {
      throw ValidationError(
        "--particles is \(particles); expected \(counts.lowerBound) to \(counts.upperBound)."
      )
    }
    if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs is \(jobs); expected 1 to 256.") }
  }

  func run() async throws {
    let thinning = TraceThinning(
      wifiEvery: wifiEvery?.span,
      hearsBeacons: !noBeacons,
      sensesMotion: !noMotion
    )
    var options = SurveyLocateRunner.Options(traces: traces, venue: venue, output: output)
    options.interval = interval
    options.particles = particles
    options.thinning = thinning
    options.jobs = jobs
    try await SurveyLocateRunner(options).run(on: .standard()).leave()
  }
}

/// The shortest time between Wi-Fi scans, or `never`.
struct ScanPause: ExpressibleByArgument {
  let span: TimeSpan

  init?(argument: String) {
    if argument == "never" {
      span = .forever
    } else {
      guard let span = TimeSpan(written: argument), span >= .zero else { return nil }
      self.span = span
    }
  }
}

/// `pharos survey score`.
struct SurveyScoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "score",
    abstract: "Report how far fixes are from the waypoints of traces, and draw them.",
    discussion: """
      pharos survey score fixes.csv test/ --coverage survey/ --by-floor
          at each waypoint the latest fix that is no later, whatever its age.
      pharos survey score fixes.csv test/ --venue venue/ --tracks tracks/
          draws each walk, and each floor with all errors, over the floor plan, on the page \
      tracks/index.html.
      """
  )

  @Argument(help: ArgumentHelp("The table of fixes.", valueName: "fixes.csv"))
  var fixes: String

  @Argument(help: ArgumentHelp("Traces with the truth, or folders of them.", valueName: "trace"))
  var traces: [String]

  @Option(
    help: ArgumentHelp(
      "Traces of the survey: waypoints that it walked past (within 1.5 m) are scored separately.",
      valueName: "survey/"
    )
  )
  var coverage: [String] = []

  @Flag(help: "Tell sites and floors apart.")
  var byFloor = false

  @Option(help: ArgumentHelp("The venue's folder, for pictures.", valueName: "venue/"))
  var venue: String?

  @Option(help: ArgumentHelp("The folder to draw into.", valueName: "dir"))
  var tracks: String?

  @Option(help: "How the figures are written.")
  var format: SurveyScoreRunner.Format = .table

  func run() throws {
    var options = SurveyScoreRunner.Options(fixes: fixes, traces: traces)
    options.coverage = coverage
    options.venue = venue
    options.tracks = tracks
    options.byFloor = byFloor
    options.format = format
    try SurveyScoreRunner(options).run(on: .standard()).leave()
  }
}

/// `pharos survey import`.
struct SurveyImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Turn traces into a capture of the datagrams that their phones would have sent.",
    discussion: """
      pharos survey import test/ -o phones.pcapng
      pharos replay phones.pcapng --to 127.0.0.1:50001
          sends them to a server; each trace is an observer, in the order of its file.
      """
  )

  @Argument(help: .traces)
  var traces: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The capture to write, pcapng; packed if it ends in .gz.", valueName: "capture")
  )
  var output: String

  func run() throws {
    try SurveyImportRunner(traces: traces).run(output: output, console: .standard()).leave()
  }
}
