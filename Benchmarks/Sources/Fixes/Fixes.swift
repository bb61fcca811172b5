import ArgumentParser
import Foundation

/// `fixes`: what it costs to find out where people are.
@main
struct Fixes: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fixes",
    abstract: "Measures what it costs to locate handsets once a second.",
    discussion: """
      CPU time of the thread for each fix, by the locator alone and through the whole pipeline, and resident bytes for \
      each subject. Handsets walk about a simulated mall of three floors with a hundred access point addresses in \
      each scan: raw motion at 50 Hz, a scan every two seconds, every advert of some ten beacons.
      """
  )

  @Flag(help: "Few subjects: a smoke test of some seconds that judges no time.")
  var quick = false

  @Option(help: ArgumentHelp("How many subjects.", valueName: "N"))
  var subjects: Int?

  @Option(help: ArgumentHelp("How many particles, instead of the default.", valueName: "N"))
  var particles: Int?

  @Option(help: ArgumentHelp("Write the figures as JSON.", valueName: "FILE"))
  var json: String?

  func validate() throws {
    if let subjects, !(1...8_192).contains(subjects) {
      throw ValidationError("--subjects \(subjects): expected 1 to 8192, as many as are located at a time.")
    }
    if let particles, !(50...2_000).contains(particles) {
      throw ValidationError("--particles \(particles): expected 50 to 2000.")
    }
  }

  func run() throws {
    let traffic = try FixTraffic(seconds: FixMeasurement.seconds)
    print("a handset tells each second: \(traffic.summary)")
    let measurement = try FixMeasurement(
      traffic,
      subjects: subjects ?? (quick ? 100 : 5_000),
      particles: particles
    )
    let report = FixReport(locator: measurement.locatorAlone(), pipeline: try measurement.pipeline())
    print(report.table)
    try report.check()
    if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
  }
}
