import PharosCaptures
import PharosPlaces
import PharosPositioning
import PharosSite

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
      var strangers: [String: [TraceFile]] = [:]
      var damaged = 0
      var bar = ProgressBar("walks", on: console)
      for (index, file) in files.enumerated() {
        let trace = try file.trace()
        damaged += trace.counters.damaged
        switch places.floor(of: file, trace.header) {
        case .success(let floor): learner.add(SurveyWalk(trace, name: file.identifier, floor: floor))
        case .failure(let mismatch): strangers["\(mismatch)", default: []].append(file)
        }
        bar.show(index + 1, of: files.count)
      }
      bar.clear()
      say(strangers, on: console)
      console.say("Fitting the radio map …")
      let (map, report) = learner.learned()
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

  /// Why a map of so many bytes is not written; nil where it is.
  package static func refusal(ofMapWith count: Int) -> String? {
    guard count > VenueFiles.largest else { return nil }
    let limit = VenueFiles.largest >> 20
    return "the radio map would have \((count >> 20) + 1) MiB, and no command reads more than \(limit) MiB. "
      + "Make a venue of each building, or of fewer floors, and learn each by itself; no map was written."
  }

  private func say(_ strangers: [String: [TraceFile]], on console: Console) {
    for (reason, files) in strangers.sorted(by: { $0.key < $1.key }) {
      let many = Wording.count(files.count, "trace")
      console.say("\(many) left out, such as \(files[0].path): \(reason).")
    }
  }

  private func write(_ bytes: [UInt8], to name: String) throws {
    let file = try FileOutput(path: SurveyPictures.path(name, in: venue))
    try file.write(bytes)
    try file.close()
  }
}
