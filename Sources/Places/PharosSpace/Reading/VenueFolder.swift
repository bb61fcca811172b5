package import PharosDocuments
import PharosModel

/// The reader of a venue's folder, which holds `venue.yaml` and the files that it names, or an IMDF archive.
///
/// It returns a checked venue. It is as strict as the reader of the site file: it refuses the whole folder for an
/// unknown key, an invalid shape or a missing file, and reports all mistakes together.
package enum VenueFolder {
  /// The file that describes the others.
  package static let mainFile = "venue.yaml"
  /// The file that makes a folder an IMDF archive.
  package static let imdfFile = IMDFReading.levelFile
  /// The optional file with the measurements of a walk through the venue.
  package static let radioMapFile = "radio-map.pharos"
  /// The maximum number of floors of a venue.
  package static let maximumFloors = 1_000
  /// The maximum number of beacons, observers, access points, entrances and places of a venue.
  package static let maximumPlaced = 100_000
  /// The maximum number of connectors of a venue.
  package static let maximumConnectors = 10_000

  /// The parser of a YAML text, which the caller supplies; it returns nil for an empty one.
  package typealias YAMLParser = (_ text: String) throws(DocumentProblem) -> DocumentNode?

  /// Reads a folder.
  ///
  /// - Parameters:
  ///   - folder: the name of the folder in messages.
  ///   - files: reads its files.
  ///   - timeZones: the time zones that it may name or lie in.
  ///   - yaml: parses its `venue.yaml`.
  /// - Returns: the venue and the warnings.
  /// - Throws: all mistakes together with the warnings.
  package static func read(
    _ folder: String,
    files: VenueFiles,
    timeZones: KnownTimeZones = .none,
    yaml: YAMLParser
  ) throws(DocumentError) -> (venue: Venue, warnings: [DocumentProblem]) {
    let problems = DocumentProblems(file: mainFile)
    let (read, origin) = venue(files, timeZones, yaml, problems)
    var venue = read
    if let read, read.hasOpeningHours, read.localTime.source == .none {
      if var local = origin.flatMap(timeZones.around) {
        local.source = .place
        venue?.localTime = local
      } else {
        problems.add(
          DocumentProblem(
            file: files.has(mainFile) ? mainFile : "venue.geojson",
            field: "timeZone",
            severity: .warning,
            message:
              "opening hours are read as UTC: the time zone is not stated, and the place of the venue does not tell it",
            expected: "timeZone: Europe/Berlin, or another name of a time zone"
          )
        )
      }
    }
    let warnings = try problems.conclude(path: folder)
    guard let venue else { throw DocumentError(path: folder, problems: warnings) }
    return (venue, warnings)
  }

  /// Reads the venue, and the place of its origin.
  private static func venue(
    _ files: VenueFiles,
    _ timeZones: KnownTimeZones,
    _ yaml: YAMLParser,
    _ problems: DocumentProblems
  ) -> (venue: Venue?, origin: Coordinate?) {
    guard files.has(mainFile) else {
      guard files.has(imdfFile) else {
        problems.mistake(
          mainFile,
          "there is no such file, and no \(imdfFile) either",
          expected: "\(mainFile), or the unpacked files of an IMDF archive"
        )
        return (nil, nil)
      }
      var reading = IMDFReading(
        folder: "",
        origin: nil,
        timeZones: timeZones,
        files: files,
        problems: problems
      )
      return (reading.venue(), reading.origin)
    }
    guard let bytes = files.bytes(mainFile, problems: problems) else { return (nil, nil) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let expected = DocumentProblem.textInUTF8("a text file", instead: bytes)
      problems.mistake(mainFile, "not UTF-8", expected: expected)
      return (nil, nil)
    }
    do throws(DocumentProblem) {
      guard let root = try yaml(text) else {
        problems.mistake(mainFile, "empty", expected: "an id and buildings")
        return (nil, nil)
      }
      var reading = VenueReading(files: files, timeZones: timeZones, problems: problems)
      return (reading.venue(of: root), reading.origin)
    } catch {
      problems.mistake(error.message, line: error.line ?? 1, field: error.field, expected: error.expected)
      return (nil, nil)
    }
  }
}
