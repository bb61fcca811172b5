import PharosModel
import PharosVenues

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
  static let mostPlaces = 24
  /// The routes from entrances to places that are stored.
  static let mostFromEntrances = 2_000

  /// Finds the routes of a venue.
  ///
  /// - Parameters:
  ///   - venue: The venue.
  ///   - router: Finds them.
  ///   - asked: The ends of further routes.
  /// - Throws: the reason why a route that was asked for does not exist.
  init(of venue: Venue, _ router: Router, asked: [(from: String, to: String)]) throws(MapFailure) {
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
      places.count <= StoredRoutes.mostPlaces
      ? (places + entrances).flatMap { from in places.filter { $0 != from }.map { Pair(from: from, to: $0) } }
      : entrances.flatMap { from in places.map { Pair(from: from, to: $0) } }
    for pair in usual.prefix(StoredRoutes.mostFromEntrances) where done.insert(pair).inserted {
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
        document: JSONText.object { StoredRoutes.write(route, to: &$0) }
      )
    )
  }

  /// Writes a route with its steps and their instructions in all languages.
  private static func write(_ route: WalkingRoute, to json: inout JSONText) {
    json.member("distance", route.distance, decimals: 1)
    json.member("duration", route.duration, decimals: 1)
    json.objects("steps", route.steps) { json, step in
      let maneuver = step.maneuver
      json.openObject("maneuver")
      json.member("type", maneuver.kind.rawValue)
      json.member("modifier", ifPresent: maneuver.modifier?.rawValue)
      json.member("bearing_before", maneuver.bearingBefore)
      json.member("bearing_after", maneuver.bearingAfter)
      json.openArray("location")
      json.element(maneuver.coordinate.longitude, decimals: degreeDecimals)
      json.element(maneuver.coordinate.latitude, decimals: degreeDecimals)
      json.closeArray()
      json.closeObject()
      json.openObject("instruction")
      for language in RouteLanguage.allCases {
        json.member(named: language.rawValue, step.instruction(in: language))
      }
      json.closeObject()
      json.member("building", step.floor.building)
      json.member("level", step.floor.level)
      json.member("distance", step.distance, decimals: 1)
      json.member("duration", step.duration, decimals: 1)
      json.openArray("geometry")
      for coordinate in step.geometry {
        json.openArray()
        json.element(coordinate.longitude, decimals: degreeDecimals)
        json.element(coordinate.latitude, decimals: degreeDecimals)
        json.closeArray()
      }
      json.closeArray()
    }
  }

  /// The decimals of degrees: a ten-millionth of a degree is a centimetre.
  private static let degreeDecimals = 7
}
