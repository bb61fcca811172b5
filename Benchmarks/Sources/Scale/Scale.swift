import ArgumentParser
import Foundation

/// `scale`: what the engine costs as a site grows.
@main
struct Scale: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scale",
    abstract: "Measures the engine from a thousand to a million tracks, beside a naive reference.",
    discussion: """
      CPU time of the thread for each advert, resident bytes for each track, allocations for each advert, and what \
      a change of the regions costs. 100 applications with 20 regions each; one advert in ten is lost.
      """
  )

  @Flag(help: "Fewer rounds and no million: a smoke test of half a minute.")
  var quick = false

  @Flag(help: "Leave the naive reference out.")
  var withoutNaive = false

  @Option(help: ArgumentHelp("Only this size.", valueName: "OBSERVERSxBEACONS"))
  var size: String?

  @Flag(help: "One application in ten asks for ranging as well.")
  var ranging = false

  @Option(help: ArgumentHelp("Write the rows as JSON.", valueName: "FILE"))
  var json: String?

  func validate() throws {
    guard let size, Scale.parse(size) == nil else { return }
    throw ValidationError("--size \(size): expected two numbers as in 1000x100.")
  }

  func run() throws {
    var report = ScaleReport()
    print(ScaleReport.heading)
    for shape in shapes {
      let workload = Workload(
        observers: shape.observers,
        beacons: shape.beacons,
        hasRanging: shape.hasRanging
      )
      var measurement = Measurement(workload, plan(for: workload))
      let row = measurement.run()
      report.rows.append(row)
      print(ScaleReport.line(row))
    }
    if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
  }

  private var shapes: [(observers: Int, beacons: Int, hasRanging: Bool)] {
    if let shape = size.flatMap(Scale.parse) { return [(shape.observers, shape.beacons, ranging)] }
    let sizes = [(1, 1_000), (10, 100), (100, 100), (1_000, 100), (10_000, 100), (20, 50_000)]
    let chosen = quick ? sizes.filter { $0.0 * $0.1 <= 100_000 } : sizes
    let plain = chosen.map { ($0.0, $0.1, ranging) }
    return ranging ? plain : plain + [(100, 100, true)]
  }

  private func plan(for workload: Workload) -> Measurement.Plan {
    let adverts = quick ? 400_000 : 4_000_000
    return Measurement.Plan(
      warmUp: workload.tracks > 100_000 ? 80 : 160,
      rounds: 5,
      secondsPerRound: max(4, min(adverts / 5 / workload.tracks, 400)),
      withNaive: !withoutNaive
    )
  }

  private static func parse(_ size: String) -> (observers: Int, beacons: Int)? {
    let parts = size.split(separator: "x").map { Int($0) }
    guard parts.count == 2, let observers = parts[0], let beacons = parts[1] else { return nil }
    return observers > 0 && beacons > 0 ? (observers, beacons) : nil
  }
}
