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
  ///   - yaml: parses its `venue.yaml`.
  /// - Returns: the venue and the warnings.
  /// - Throws: all mistakes together with the warnings.
  package static func read(
    _ folder: String,
    files: VenueFiles,
    yaml: YAMLParser
  ) throws(DocumentError) -> (venue: Venue, warnings: [DocumentProblem]) {
    let problems = DocumentProblems(file: mainFile)
    let venue = venue(files, yaml, problems)
    let warnings = try problems.conclude(path: folder)
    guard let venue else { throw DocumentError(path: folder, problems: warnings) }
    return (venue, warnings)
  }

  private static func venue(_ files: VenueFiles, _ yaml: YAMLParser, _ problems: DocumentProblems) -> Venue? {
    guard files.has(mainFile) else {
      guard files.has(imdfFile) else {
        problems.mistake(
          mainFile,
          "there is no such file, and no \(imdfFile) either",
          expected: "\(mainFile), or the unpacked files of an IMDF archive"
        )
        return nil
      }
      var reading = IMDFReading(folder: "", origin: nil, files: files, problems: problems)
      return reading.venue()
    }
    guard let bytes = files.bytes(mainFile, problems: problems) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let expected = DocumentProblem.textInUTF8("a text file", instead: bytes)
      problems.mistake(mainFile, "not UTF-8", expected: expected)
      return nil
    }
    do throws(DocumentProblem) {
      guard let root = try yaml(text) else {
        problems.mistake(mainFile, "empty", expected: "an id and buildings")
        return nil
      }
      var reading = VenueReading(files: files, problems: problems)
      return reading.venue(of: root)
    } catch {
      problems.mistake(error.message, line: error.line ?? 1, field: error.field, expected: error.expected)
      return nil
    }
  }
}

/// The files of a venue's folder, read by a function that the caller supplies.
package struct VenueFiles {
  /// The reason for which a file cannot be read.
  package enum Failure: Error, Hashable, Sendable {
    /// There is no such file.
    case missing
    /// The file exists but cannot be read for this reason.
    case unreadable(String)
  }

  /// Reads the beginning of a file.
  ///
  /// It takes the name, relative to the folder, and the maximum number of bytes.
  package typealias Read = (_ name: String, _ limit: Int) throws(Failure) -> [UInt8]

  private let read: Read

  /// Makes the files of a folder.
  package init(_ read: @escaping Read) { self.read = read }

  /// The maximum size of a file that is read whole.
  ///
  /// - Units: bytes. The floor plan of the largest mall takes 0.6 MB as GeoJSON, that of an airport 30.
  package static let largest = 64 << 20

  /// Returns a whole file.
  ///
  /// - Throws: ``Failure/missing``, or the reason why it cannot be read, such as a size above ``largest``.
  package func whole(_ name: String) throws(Failure) -> [UInt8] {
    let bytes = try read(name, VenueFiles.largest + 1)
    guard bytes.count <= VenueFiles.largest else { throw .unreadable(VenueFiles.tooLong) }
    return bytes
  }

  private static let tooLong = "longer than \(VenueFiles.largest >> 20) MiB, which no file of its sort is"

  /// Returns the first bytes of a file.
  func head(_ name: String, _ count: Int) throws(Failure) -> [UInt8] { try read(name, count) }

  /// Returns a whole file; nil, with a mistake noted, if it cannot be read.
  func bytes(_ name: String, problems: DocumentProblems) -> [UInt8]? {
    do throws(Failure) {
      return try whole(name)
    } catch .unreadable(VenueFiles.tooLong) {
      problems.mistake(name, VenueFiles.tooLong)
      return nil
    } catch {
      problems.mistake(name, VenueFiles.prose(error), expected: "a file in the venue's folder")
      return nil
    }
  }

  /// Returns whether there is such a file, whether it can be read or not.
  func has(_ name: String) -> Bool {
    do throws(Failure) {
      _ = try read(name, 1)
      return true
    } catch {
      return error != .missing
    }
  }

  /// Describes a failure.
  package static func prose(_ failure: Failure) -> String {
    switch failure {
    case .missing: "there is no such file"
    case .unreadable(let reason): reason
    }
  }
}
