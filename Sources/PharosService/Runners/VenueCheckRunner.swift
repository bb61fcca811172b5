import PharosPlaces
import PharosPositioning
package import PharosSite

/// `pharos check` of a venue's folder: every mistake at once, then what the venue holds and what looks wrong in it.
package struct VenueCheckRunner: Sendable {
  private let folder: String
  private let files: @Sendable (String) -> VenueFiles

  /// Checks a folder on the disk, or files that come from elsewhere.
  ///
  /// - Parameters:
  ///   - folder: the folder, as messages call it.
  ///   - files: opens a folder; nil for the disk.
  package init(folder: String, files: (@Sendable (String) -> VenueFiles)? = nil) {
    self.folder = folder
    self.files = files ?? { VenueFiles.disk($0) }
  }

  /// Prints problems on the output, or what the venue holds if there are no mistakes.
  ///
  /// - Returns: 0, or 78 if the folder cannot be used.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      do {
        let (venue, warnings) = try VenueFolder.read(folder, files: files(folder))
        let radio = try VenueContents.radioMap(of: venue, in: folder, files(folder))
        for line in VenueReport(venue, folder: folder).lines { try console.print(PlainText.clean(line)) }
        if let radio {
          let emitters = CheckRunner.count(radio.emitters.count, "emitter")
          let floors = CheckRunner.count(radio.floors.count, "floor")
          try console.print("  radio map: \(emitters) on \(floors)")
        }
        for warning in warnings { try print(warning, on: console) }
        let findings = VenueCheck(venue).findings
        for finding in findings {
          let line = "\(folder): warning: \(finding)"
          try console.print(console.outputStyle.paint(PlainText.clean(line), .yellow))
        }
        let count = warnings.count + findings.count
        let warned = count > 0 ? ", \(CheckRunner.count(count, "warning"))" : ""
        try console.print("\(folder): No mistakes\(warned).")
        return .success
      } catch let error as VenueFolderError {
        for problem in error.problems { try print(problem, on: console) }
        let count = error.problems.count { $0.severity == .mistake }
        console.say("\(folder): \(CheckRunner.count(count, "mistake")).")
        return .configuration
      }
    }
  }

  private func print(_ problem: VenueProblem, on console: Console) throws(OutputError) {
    let color = problem.severity == .mistake ? TerminalStyle.Color.red : .yellow
    try console.print(console.outputStyle.paint(problem.text(in: folder), color))
  }
}
