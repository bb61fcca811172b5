import Glibc
package import PharosDocuments
import PharosFiles
package import PharosFixes
import PharosModel
package import PharosSpace
package import PharosTerminal
package import PharosWays

/// The contents of a venue's folder: the venue, and the radio map that was learned in it, if there is one.
package struct VenueContents: Equatable, Sendable {
  /// The venue.
  package var venue: Venue
  /// The radio map that was learned by walking through the venue.
  package var radio: RadioMap?

  /// Reads a folder on the disk.
  ///
  /// - Parameters:
  ///   - folder: the path of the folder.
  ///   - console: the console that receives every mistake and warning, with its file and line.
  /// - Returns: the contents of the files.
  /// - Throws: `CommandFailure` with exit status 78 and the number of mistakes.
  package static func read(_ folder: String, console: Console) throws(CommandFailure) -> VenueContents {
    let files = VenueFiles.disk(folder)
    return try reportingProblems(folder, console) { () throws(DocumentError) in
      let venue = try venue(in: folder, files, console)
      return VenueContents(venue: venue, radio: try radioMap(of: venue, in: folder, files))
    }
  }

  /// Reads the venue of a folder alone, whatever its radio map is.
  ///
  /// - Throws: as ``read(_:console:)`` does.
  package static func venue(in folder: String, console: Console) throws(CommandFailure) -> Venue {
    try reportingProblems(folder, console) { () throws(DocumentError) in
      try venue(in: folder, .disk(folder), console)
    }
  }

  private static func venue(
    in folder: String,
    _ files: VenueFiles,
    _ console: Console
  ) throws(DocumentError) -> Venue {
    let (venue, warnings) = try VenueFolder.read(folder, files: files)
    for warning in warnings { console.say(warning.text(in: folder), .warning) }
    return venue
  }

  /// Runs a read and returns its result; prints every mistake on the console and throws their number.
  private static func reportingProblems<Read>(
    _ folder: String,
    _ console: Console,
    _ read: () throws(DocumentError) -> Read
  ) throws(CommandFailure) -> Read {
    do throws(DocumentError) {
      return try read()
    } catch {
      for problem in error.problems { console.say(problem.text(in: folder), .error) }
      let count = error.problems.count { $0.severity == .mistake }
      throw CommandFailure(
        "\(folder): \(Wording.count(count, "mistake")). `pharos check \(folder)` lists them, too.",
        status: .configuration
      )
    }
  }

  /// The radio map of a venue's folder; nil if there is none.
  ///
  /// - Throws: `DocumentError` if the map cannot be read, is damaged, or is another venue's.
  package static func radioMap(
    of venue: Venue,
    in folder: String,
    _ files: VenueFiles
  ) throws(DocumentError) -> RadioMap? {
    let name = VenueFolder.radioMapFile
    func mistake(_ message: String) -> DocumentError {
      let problem = DocumentProblem(
        file: name,
        message: message,
        expected: "a radio map of this venue, or no such file. Create it again with `pharos survey learn`"
      )
      return DocumentError(path: folder, problems: [problem])
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
      throw mistake("it describes floor \(stray), which the venue does not have")
    }
    return map
  }

  /// The venue made ready for locating.
  package var ground: LocatableVenue { LocatableVenue(venue: venue, radio: radio) }

  /// The venue made ready for locating and for guidance by a router.
  fileprivate func ground(_ router: VenueRouter) -> LocatableVenue {
    LocatableVenue(venue: venue, radio: radio) { router.router }
  }

  /// The warning about a venue without a learned radio map; nil if the venue has one.
  package var remark: String? {
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

/// The venues of a site as they were read from their folders, ready for locating.
package struct LoadedVenues: Sendable {
  /// One venue.
  package struct Entry: Sendable {
    /// Its folder.
    package let folder: String
    /// The contents of its files.
    package let contents: VenueContents
    /// The router of the venue.
    package let router: VenueRouter
    /// The places of the venue, for searches.
    package let directory: SharedDirectory
    /// The venue made ready.
    package let ground: LocatableVenue
    /// Its page for visitors; nil if it has none.
    package let visitors: VisitorPage?

    fileprivate init(folder: String, contents: VenueContents, visitors: VisitorPage?) {
      self.visitors = visitors
      self.folder = folder
      self.contents = contents
      router = VenueRouter(contents.venue)
      directory = SharedDirectory(contents.venue)
      ground = contents.ground(router)
    }
  }

  /// The venues, in the site's order.
  package let entries: [Entry]

  /// No venue at all.
  package static let none = LoadedVenues(entries: [])

  private init(entries: [Entry]) { self.entries = entries }

  /// Takes venues that were not read from folders, as those of the demo; they have pages for visitors.
  package init(built venues: [Venue]) {
    entries = venues.map { venue in
      Entry(folder: "", contents: VenueContents(venue: venue, radio: nil), visitors: VisitorPage())
    }
  }

  /// Reads the folders of venues from the disk.
  ///
  /// Prints mistakes and warnings on the console, among them a warning for each venue without a learned radio map.
  ///
  /// - Parameters:
  ///   - folders: the paths of the folders, absolute or relative to the working directory.
  ///   - visitors: the pages for visitors, by the index of the folder.
  ///   - console: the console that receives mistakes and warnings.
  /// - Throws: `CommandFailure` with exit status 78 at the first folder that has mistakes or repeats a venue's id.
  package init(
    _ folders: [String],
    visitors: [Int: VisitorPage] = [:],
    console: Console
  ) throws(CommandFailure) {
    var entries: [Entry] = []
    for (index, folder) in folders.enumerated() {
      let contents = try VenueContents.read(folder, console: console)
      let identifier = contents.venue.identifier
      if let other = entries.first(where: { $0.contents.venue.identifier == identifier }) {
        throw CommandFailure(
          "\(folder): its venue is called \"\(identifier)\", as that of \(other.folder) is. Give one of them another id.",
          status: .configuration
        )
      }
      if let remark = contents.remark { console.say("\(folder): warning: \(remark)", .warning) }
      for turn in contents.radio?.turns ?? [] { console.say("\(folder): warning: \(turn)", .warning) }
      entries.append(Entry(folder: folder, contents: contents, visitors: visitors[index]))
    }
    self.entries = entries
  }

  /// The venues as a pipeline uses them for locating.
  package var locatable: [LocatableVenue] { entries.map(\.ground) }

  /// Returns the folders whose files have changed or can no longer be read.
  package func changedFolders() -> [String] {
    entries.filter { entry in
      let now = try? VenueContents.read(entry.folder, console: .discarding)
      return now != entry.contents
    }
    .map(\.folder)
  }
}

extension VenueFiles {
  /// The files of a folder on the disk; a zip archive counts as a folder.
  package static func disk(_ folder: String) -> VenueFiles {
    let prefix = folder.hasSuffix("/") ? folder : folder + "/"
    let archives = OpenedArchives()
    return VenueFiles { name, limit throws(Failure) in
      let path = prefix + name
      do throws(FileError) {
        return try bytes(of: path, limit)
      } catch {
        switch error.problem {
        case .system(_, code: ENOENT): throw .missing
        case .system(_, code: ENOTDIR): return try archives.bytes(of: path, limit)
        default: throw .unreadable("\(error)")
        }
      }
    }
  }

  /// Returns whether a path leads to a zip archive.
  package static func isArchive(_ path: String) -> Bool {
    (try? bytes(of: path, ZipArchive.signature.count)) == ZipArchive.signature
  }

  fileprivate static func bytes(of path: String, _ limit: Int) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunks = try FileChunks(path: path)
    while bytes.count < limit, let chunk = try chunks.next() { bytes.append(contentsOf: chunk) }
    return Array(bytes.prefix(limit))
  }
}

/// The zip archives among the folders of a path, read once.
private final class OpenedArchives {
  /// The archives by their paths, each with the folder in it that holds the venue.
  private var opened: [String: (archive: ZipArchive, folder: String)] = [:]

  /// Returns the first bytes of a file in an archive that is a part of its path.
  func bytes(of path: String, _ limit: Int) throws(VenueFiles.Failure) -> [UInt8] {
    for (index, character) in zip(path.indices, path) where character == "/" && index > path.startIndex {
      let archive = String(path[..<index])
      if FileOutput.isFolder(archive) { continue }
      let (zip, folder) = try open(archive)
      do throws(ZipArchive.Failure) {
        return try zip.contents(
          of: folder + path[path.index(after: index)...].drop { $0 == "/" },
          limit: limit
        )
      } catch {
        switch error {
        case .missing: throw .missing
        case .unsupported:
          throw .unreadable("\(archive): encrypted or not packed by Deflate: unpack it into a folder")
        case .notZip, .damaged: throw .unreadable("\(archive): damaged: check the copy with `unzip -t`")
        }
      }
    }
    throw .missing
  }

  private func open(_ path: String) throws(VenueFiles.Failure) -> (archive: ZipArchive, folder: String) {
    if let known = opened[path] { return known }
    do {
      let bytes = try VenueFiles.bytes(of: path, VenueFiles.largest + 1)
      guard bytes.count <= VenueFiles.largest else {
        throw VenueFiles.Failure.unreadable("\(path): a large archive: unpack it into a folder")
      }
      let archive = try ZipArchive(bytes)
      let read = (archive, OpenedArchives.folder(of: archive))
      opened[path] = read
      return read
    } catch let failure as VenueFiles.Failure {
      throw failure
    } catch {
      throw .unreadable("\(path): no folder and no zip archive")
    }
  }

  /// The folder of an archive that holds the venue, with a slash at its end; empty for the archive itself.
  private static func folder(of archive: ZipArchive) -> String {
    let folders = archive.names.compactMap { name -> String? in
      let parts = name.split(separator: "/")
      guard let last = parts.last, !name.hasPrefix("__MACOSX/"),
        last == VenueFolder.mainFile || last == VenueFolder.imdfFile
      else { return nil }
      return String(name.dropLast(last.count))
    }
    return folders.min { ($0.count, $0) < ($1.count, $1) } ?? ""
  }
}
