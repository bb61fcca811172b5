import PharosPlaces
package import PharosPositioning
import PharosSite

/// What the files of a venue's folder say: the venue, and the radio map that was learned in it if there is one.
package struct VenueContents: Equatable, Sendable {
  /// The venue.
  var venue: Venue
  /// What was learned by walking through it.
  package var radio: RadioMap?

  /// Reads a folder on the disk.
  ///
  /// - Parameters:
  ///   - folder: the path of the folder.
  ///   - console: the console that receives every mistake and warning, with its file and line.
  /// - Returns: the contents of the files.
  /// - Throws: ``CommandFailure`` with exit status 78 and the number of mistakes.
  package static func read(_ folder: String, console: Console) throws(CommandFailure) -> VenueContents {
    let files = VenueFiles.disk(folder)
    return try told(folder, console) { () throws(VenueFolderError) in
      let venue = try venue(in: folder, files, console)
      return VenueContents(venue: venue, radio: try radioMap(of: venue, in: folder, files))
    }
  }

  /// Reads the venue of a folder alone, whatever its radio map is.
  ///
  /// - Throws: as ``read(_:console:)`` does.
  static func venue(in folder: String, console: Console) throws(CommandFailure) -> Venue {
    try told(folder, console) { () throws(VenueFolderError) in
      try venue(in: folder, .disk(folder), console)
    }
  }

  private static func venue(
    in folder: String,
    _ files: VenueFiles,
    _ console: Console
  ) throws(VenueFolderError) -> Venue {
    let (venue, warnings) = try VenueFolder.read(folder, files: files)
    for warning in warnings { console.say(warning.text(in: folder)) }
    return venue
  }

  /// Runs a read and returns its result; prints every mistake on the console and throws their number.
  private static func told<Read>(
    _ folder: String,
    _ console: Console,
    _ read: () throws(VenueFolderError) -> Read
  ) throws(CommandFailure) -> Read {
    do throws(VenueFolderError) {
      return try read()
    } catch {
      for problem in error.problems { console.say(problem.text(in: folder)) }
      let count = error.problems.count { $0.severity == .mistake }
      throw CommandFailure(
        "\(folder): \(CheckRunner.count(count, "mistake")). `pharos check \(folder)` tells them, too.",
        status: .configuration
      )
    }
  }

  /// The radio map of a venue's folder; nil if there is none.
  ///
  /// - Throws: that it cannot be read, is damaged, or is another venue's.
  static func radioMap(
    of venue: Venue,
    in folder: String,
    _ files: VenueFiles
  ) throws(VenueFolderError) -> RadioMap? {
    let name = VenueFolder.radioMapFile
    func mistake(_ message: String) -> VenueFolderError {
      let problem = VenueProblem(
        file: name,
        place: .file,
        severity: .mistake,
        message: message,
        expected: "a radio map of this venue, or no such file. Create it again with `pharos survey learn`"
      )
      return VenueFolderError(folder: folder, problems: [problem])
    }
    let bytes: [UInt8]
    do throws(VenueFiles.Failure) {
      bytes = try files.whole(name)
    } catch {
      guard error != .missing else { return nil }
      throw mistake(VenueFiles.prose(error))
    }
    let map: RadioMap
    do {
      map = try RadioMap(decoding: bytes)
    } catch {
      throw mistake("\(error)")
    }
    if let stray = map.floors.first(where: { venue.floor($0) == nil }) {
      throw mistake("it tells of floor \(stray), which the venue does not have")
    }
    return map
  }

  /// The venue made ready for locating.
  package var ground: Ground { Ground(venue: venue, radio: radio) }

  /// The warning about a venue without a learned radio map; nil if the venue has one.
  var remark: String? {
    guard radio == nil else { return nil }
    let learn = "`pharos survey learn TRACES -o FOLDER` makes a radio map of walks"
    let hasPlaced = venue.floors.contains { _, floor in
      !floor.beacons.isEmpty || !floor.observers.isEmpty || !floor.accessPoints.isEmpty
    }
    return hasPlaced
      ? "there is no \(VenueFolder.radioMapFile): levels are taken from where beacons, observers and access points hang. \(learn)"
      : "there is no \(VenueFolder.radioMapFile), and no beacon, observer or access point is placed: subjects cannot be located by radio. \(learn)"
  }
}
