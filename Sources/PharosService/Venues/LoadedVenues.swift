package import PharosHTTP
import PharosPlaces
package import PharosPositioning
import PharosSite

/// The venues of a site as they were read from their folders, ready for locating.
package struct LoadedVenues: Sendable {
  /// One venue.
  package struct Entry: Sendable {
    /// Its folder.
    let folder: String
    /// What its files said.
    package let contents: VenueContents
    /// The venue made ready.
    let ground: Ground
  }

  /// The venues, in the site's order.
  package let entries: [Entry]

  /// No venue at all.
  static let none = LoadedVenues(entries: [])

  private init(entries: [Entry]) { self.entries = entries }

  /// Reads the folders of venues from the disk.
  ///
  /// Prints mistakes and warnings on the console, among them a warning for each venue without a learned radio map.
  ///
  /// - Parameters:
  ///   - folders: the paths of the folders, absolute or relative to the working directory.
  ///   - console: the console that receives mistakes and warnings.
  /// - Throws: ``CommandFailure`` with exit status 78 at the first folder that has mistakes or repeats a venue's id.
  package init(_ folders: [String], console: Console) throws(CommandFailure) {
    var entries: [Entry] = []
    for folder in folders {
      let contents = try VenueContents.read(folder, console: console)
      let identifier = contents.venue.identifier
      if let other = entries.first(where: { $0.contents.venue.identifier == identifier }) {
        throw CommandFailure(
          "\(folder): its venue is called \"\(identifier)\", as that of \(other.folder) is. Give one of them another id.",
          status: .configuration
        )
      }
      if let remark = contents.remark { console.say("\(folder): warning: \(remark)") }
      entries.append(Entry(folder: folder, contents: contents, ground: contents.ground))
    }
    self.entries = entries
  }

  /// What a pipeline locates on.
  package var grounds: [Ground] { entries.map(\.ground) }

  /// What the HTTP interface shows.
  package var served: [ServedVenue] {
    entries.map { entry in
      ServedVenue(entry.contents.venue) { name in try VenueFiles.disk(entry.folder).whole(name) }
    }
  }

  /// The folders whose files say something else by now, or cannot be read any more.
  package func changedFolders() -> [String] {
    let quiet = Console(output: MemorySink(), errors: MemorySink())
    return entries.filter { entry in
      let now = try? VenueContents.read(entry.folder, console: quiet)
      return now != entry.contents
    }
    .map(\.folder)
  }
}
