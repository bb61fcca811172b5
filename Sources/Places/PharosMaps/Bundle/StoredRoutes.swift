import PharosDocuments
import PharosModel
import PharosSpace
import PharosWays

/// The routes of a bundle, for clients that have no router: those between its places, and those asked for.
///
/// Venues with many places store the routes from their entrances alone; a client with a router finds all others.
struct StoredRoutes {
  /// A stored route.
  struct StoredRoute {
    /// The identifier of the place or entrance where it begins.
    let origin: String
    /// The identifier of the place or entrance to which it leads.
    let destination: String
    /// Its length in metres.
    let distance: Double
    /// The time that it takes in seconds.
    let duration: Double
    /// The route as JSON.
    let document: String
  }

  private struct Pair: Hashable {
    let from, to: String
  }

  /// The routes by their ends.
  private(set) var all: [StoredRoute] = []

  /// The places up to which every pair has a route.
  static let maximumPlaces = 24
  /// The routes from entrances to places that are stored.
  static let maximumFromEntrances = 2_000

  /// Finds the routes of a venue.
  ///
  /// - Parameters:
  ///   - venue: The venue.
  ///   - router: Finds them.
  ///   - asked: The ends of further routes.
  ///   - isCancelled: Indicates whether to end without an answer.
  /// - Throws: the reason why a route that was asked for does not exist, or ``MapFailure/cancelled``.
  init(
    of venue: Venue,
    _ router: Router,
    asked: [(from: String, to: String)],
    isCancelled: () -> Bool
  ) throws(MapFailure) {
    let floors = venue.floors.map(\.floor)
    let places = floors.flatMap(\.pointsOfInterest).map(\.identifier)
    let entrances = floors.flatMap(\.entrances).map(\.identifier)
    var done: Set<Pair> = []
    for (from, to) in asked {
      guard done.insert(Pair(from: from, to: to)).inserted else { continue }
      do throws(RoutingError) {
        try add(from, to, router)
      } catch {
        throw MapFailure("route \(from):\(to): \(error)")
      }
    }
    let usual =
      places.count <= StoredRoutes.maximumPlaces
      ? (places + entrances).flatMap { from in places.filter { $0 != from }.map { Pair(from: from, to: $0) } }
      : entrances.flatMap { from in places.map { Pair(from: from, to: $0) } }
    for pair in usual.prefix(StoredRoutes.maximumFromEntrances) where done.insert(pair).inserted {
      guard !isCancelled() else { throw MapFailure.cancelled }
      // A place that cannot be walked to has no routes; `pharos check` names it.
      try? add(pair.from, pair.to, router)
    }
    all.sort { ($0.origin, $0.destination) < ($1.origin, $1.destination) }
  }

  private mutating func add(_ from: String, _ to: String, _ router: Router) throws(RoutingError) {
    guard let route = try router.routes(from: .place(from), to: .place(to)).first else { return }
    all.append(
      StoredRoute(
        origin: from,
        destination: to,
        distance: route.distance,
        duration: route.duration,
        document: JSONText.object { route.write(to: &$0, languages: RouteLanguage.allCases) }
      )
    )
  }
}
