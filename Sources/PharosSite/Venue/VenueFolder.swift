package import PharosPlaces
import Yams

/// The reader of a venue's folder, which holds `venue.yaml` and the files that it names, or an IMDF archive.
///
/// It returns a checked venue. It is as strict as the reader of the site file: it refuses the whole folder for an
/// unknown key, an invalid shape or a missing file, and reports all mistakes together.
package enum VenueFolder {
  /// The file that says what the others are.
  package static let mainFile = "venue.yaml"
  /// The file with what was learned by walking through the venue, if anybody did.
  package static let radioMapFile = "radio-map.pharos"
  /// The most floors of a venue.
  package static let mostFloors = 1_000
  /// The most beacons, observers, access points and entrances of a venue.
  package static let mostPlaced = 100_000
  /// The most connectors of a venue.
  package static let mostConnectors = 10_000

  /// Reads a folder.
  ///
  /// - Parameters:
  ///   - folder: how messages call it.
  ///   - files: reads its files.
  /// - Returns: the venue, and what is no mistake and deserves a look.
  /// - Throws: all mistakes together, and the warnings beside them.
  package static func read(
    _ folder: String,
    files: VenueFiles
  ) throws(VenueFolderError) -> (venue: Venue, warnings: [VenueProblem]) {
    let problems = VenueProblems()
    let venue = venue(files, problems)
    guard !problems.hasMistakes, let venue else {
      throw VenueFolderError(folder: folder, problems: problems.all)
    }
    return (venue, problems.all)
  }

  private static func venue(_ files: VenueFiles, _ problems: VenueProblems) -> Venue? {
    guard files.has(mainFile) else {
      guard files.has(IMDFReading.levelFile) else {
        problems.mistake(
          mainFile,
          "there is no such file, and no \(IMDFReading.levelFile) either",
          expected: "\(mainFile), or the unpacked files of an IMDF archive"
        )
        return nil
      }
      var reading = IMDFReading(folder: "", origin: nil, files: files, problems: problems)
      return reading.venue()
    }
    guard let bytes = files.bytes(mainFile, problems: problems) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      problems.mistake(mainFile, "not UTF-8", expected: "a text file in UTF-8")
      return nil
    }
    let noted = SiteProblems()
    let root: Node
    switch SiteFile.root(of: text) {
    case .failure(let problem):
      problems.add([problem], file: mainFile)
      return nil
    case .success(nil):
      problems.mistake(mainFile, "empty", expected: "an id and buildings")
      return nil
    case .success(let node?): root = node
    }
    var reading = VenueReading(files: files, noted: noted, problems: problems)
    let venue = reading.venue(of: root)
    let shapes = problems.all
    problems.replace(with: noted.sorted, file: mainFile, then: shapes)
    return venue
  }
}

extension VenueProblems {
  /// Puts what was found in the main file before what was found in others.
  fileprivate func replace(with noted: [SiteProblem], file: String, then others: [VenueProblem]) {
    removeAll()
    add(noted, file: file)
    for problem in others { add(problem) }
  }
}
