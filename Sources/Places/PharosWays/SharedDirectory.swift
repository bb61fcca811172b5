package import PharosSpace
import Synchronization

/// The directory of a venue, made at its first use and then kept.
package final class SharedDirectory: Sendable {
  private let venue: Venue
  private let made = Mutex<VenueDirectory?>(nil)

  /// Takes a venue; no directory is made yet.
  package init(_ venue: Venue) { self.venue = venue }

  /// The directory; the first call makes it, and others wait for it.
  package var directory: VenueDirectory {
    made.withLock { made in
      if let directory = made { return directory }
      let directory = VenueDirectory(venue)
      made = directory
      return directory
    }
  }
}
