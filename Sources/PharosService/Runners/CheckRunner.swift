import PharosReports
package import PharosSite

/// `pharos check`: every mistake of a site file and of its venues at once, with its line.
package struct CheckRunner: Sendable {
  private let path: String
  private let bytes: [UInt8]
  private let files: (@Sendable (String) -> VenueFiles)?

  /// Checks the bytes of a file that messages call by its path.
  ///
  /// - Parameters:
  ///   - path: where the file is; the folders of its venues count from there.
  ///   - bytes: what it holds.
  ///   - files: opens the folder of a venue; nil for the disk.
  package init(path: String, bytes: [UInt8], files: (@Sendable (String) -> VenueFiles)? = nil) {
    self.path = path
    self.bytes = bytes
    self.files = files
  }

  /// Prints problems on the output, or what the file holds if there are no mistakes.
  ///
  /// - Returns: 0, or 78 if the file cannot be used.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      do {
        let configuration = try SiteFile.parse(bytes: bytes, path: path)
        for warning in configuration.warnings { try print(warning, on: console) }
        if let warning = KeyExposure.warning(path, configuration) {
          try console.print(console.outputStyle.paint(warning, .yellow))
        }
        try console.print("\(path): \(summary(of: configuration)). No mistakes.")
        return checkVenues(of: configuration, on: console)
      } catch let error as SiteFileError {
        for problem in error.problems { try print(problem, on: console) }
        let count = error.problems.count { $0.severity == .mistake }
        console.say("\(path): \(CheckRunner.count(count, "mistake")). Nothing was started.")
        return .configuration
      }
    }
  }

  /// Checks each venue that the site names.
  ///
  /// - Returns: 0, or 78 if one of them cannot be used.
  private func checkVenues(of configuration: SiteConfiguration, on console: Console) -> CommandStatus {
    var status = CommandStatus.success
    for folder in configuration.resolved(against: path).venues {
      let outcome = VenueCheckRunner(folder: folder, files: files).run(on: console)
      if outcome != .success { status = outcome }
    }
    return status
  }

  /// Reads a file and checks it, or the folder of a venue.
  ///
  /// - Returns: 0, or 78 if the file or folder cannot be read or used.
  package static func run(path: String, console: Console) -> CommandStatus {
    if VenueFiles.isFolder(path) { return VenueCheckRunner(folder: path).run(on: console) }
    return console.run {
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
