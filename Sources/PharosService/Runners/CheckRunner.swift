import PharosReports
import PharosSite

/// `pharos check`: every mistake of a site file at once, with its line.
public struct CheckRunner: Sendable {
  private let path: String
  private let bytes: [UInt8]

  /// Checks the bytes of a file that messages call by its path.
  public init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  /// Prints problems on the output, or what the file holds if there are no mistakes.
  ///
  /// - Returns: 0, or 78 if the file cannot be used.
  public func run(on console: Console) -> CommandStatus {
    console.run {
      do {
        let configuration = try SiteFile.parse(bytes: bytes, path: path)
        for warning in configuration.warnings { try print(warning, on: console) }
        try console.print("\(path): \(summary(of: configuration)). No mistakes.")
        return .success
      } catch let error as SiteFileError {
        for problem in error.problems { try print(problem, on: console) }
        let count = error.problems.count { $0.severity == .mistake }
        console.say("\(path): \(CheckRunner.count(count, "mistake")). Nothing was started.")
        return .configuration
      }
    }
  }

  /// Reads a file and checks it.
  ///
  /// - Returns: 0, or 78 if the file cannot be read or used.
  public static func run(path: String, console: Console) -> CommandStatus {
    console.run {
      let bytes = try WholeFile.read(path, limit: SiteFile.largest)
      return CheckRunner(path: path, bytes: bytes).run(on: console)
    }
  }

  private func print(_ problem: SiteProblem, on console: Console) throws(OutputError) {
    let color = problem.severity == .mistake ? TerminalStyle.Color.red : .yellow
    try console.print(console.outputStyle.paint(problem.text(in: path), color))
  }

  private func summary(of configuration: SiteConfiguration) -> String {
    let site = configuration.site
    let regions = site.applications.reduce(0) { $0 + $1.regions.count }
    let parts = [
      CheckRunner.count(site.applications.count, "application"),
      CheckRunner.count(regions, "region"),
      CheckRunner.count(site.observers.count, "observer"),
      CheckRunner.count(site.beacons.count, "beacon"),
      CheckRunner.count(site.zones.count, "zone"),
    ]
    return parts.joined(separator: ", ")
  }

  /// A count with its noun: `1 mistake`, `2 mistakes`.
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
