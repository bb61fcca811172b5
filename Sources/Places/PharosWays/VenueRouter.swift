package import PharosSpace
import Synchronization

/// The router of a venue, made at its first use and then shared by the interface and the engine.
///
/// Making it takes some milliseconds for a house and over a second for an airport. So the interface asks for it, on a thread
/// that may wait, before the engine needs it.
package final class VenueRouter: Sendable {
  private let venue: Venue
  private let made = Mutex<Router?>(nil)

  /// Takes a venue; no router is made yet.
  package init(_ venue: Venue) { self.venue = venue }

  /// The router; the first call makes it, and others wait for it.
  package var router: Router {
    made.withLock { made in
      if let router = made { return router }
      let router = Router(WalkableGraph(venue))
      made = router
      return router
    }
  }
}
