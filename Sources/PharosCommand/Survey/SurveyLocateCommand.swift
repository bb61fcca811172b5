import ArgumentParser
import PharosService

/// `pharos survey locate`.
struct SurveyLocateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "locate",
    abstract: "Stream traces through the pipeline and write where their phones were.",
    discussion: """
      pharos survey locate --venue venue/ test/ -o fixes.csv
          writes trace_id,time_ms,x_m,y_m,floor,accuracy_m.
      pharos survey locate --venue venue/ test/ -o thin.csv --wifi-every 30s
          the same with a Wi-Fi scan only every 30 s, as phones in pockets give.

      Each trace by itself, in the order of its file: a fix uses nothing that was sensed after \
      its time, no waypoint and no header.
      """
  )

  @Argument(help: ArgumentHelp("Traces, or folders of them.", valueName: "trace"))
  var traces: [String]

  @Option(help: ArgumentHelp("The venue's folder.", valueName: "venue/"))
  var venue: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The table to write; - is standard output.", valueName: "fixes.csv")
  )
  var output: String

  @Option(help: ArgumentHelp("How far apart fixes are at least.", valueName: "time"))
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
    let options = SurveyLocateRunner.Options(
      traces: traces,
      venue: venue,
      output: output,
      interval: interval,
      particles: particles,
      thinning: thinning,
      jobs: jobs
    )
    try await SurveyLocateRunner(options).run(on: .standard()).leave()
  }
}
