import Synchronization

/// The router of a venue, made at its first use and then shared by all who have a reference.
///
/// Making it takes some milliseconds for a house and seconds for an airport. So an interface asks for it before the engine
/// needs it.
public final class VenueRouter: Sendable {
  private let venue: Venue
  private let made = Mutex<Router?>(nil)

  /// Takes a venue; no router is made yet.
  public init(_ venue: Venue) { self.venue = venue }

  /// The router; the first call makes it, and others wait for it.
  public var router: Router {
    made.withLock { made in
      if let router = made { return router }
      let router = Router(WalkableGraph(venue))
      made = router
      return router
    }
  }
}
