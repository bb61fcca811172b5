import NIOCore
import PharosDelivery
import PharosModel
import Synchronization

/// The operations of the interface: a method for each, and the list of them all.
///
/// An endpoint takes a request whose path, query names, principal and body type have been checked, and returns an
/// answer or throws a ``Problem``.
package struct Endpoints: Sendable {
  /// The server.
  let backend: any HTTPBackend
  /// The current states, rangings and fixes.
  let cache: LiveStateCache
  /// The tiles of venues.
  let maps = VenueMaps()
  /// The bundles of venues.
  let bundles: VenueBundles
  /// The rate of requests for states, by application.
  let stateRequests = RequestRates()

  package init(backend: any HTTPBackend, cache: LiveStateCache) {
    self.backend = backend
    self.cache = cache
    bundles = VenueBundles(dataFolder: backend.dataFolder)
  }

  /// All operations; `/openapi.json` describes each of them.
  package var routes: [Route] {
    pageRoutes + statusRoutes + applicationRoutes + regionRoutes + rangingRoutes + stateRoutes
      + observerRoutes + keyRoutes + hearingRoutes + zoneRoutes + fixRoutes + venueRoutes + mapRoutes
      + wayRoutes
      + itineraryRoutes + guidanceRoutes + eventRoutes + historyRoutes + visitRoutes + webhookRoutes
      + notificationRoutes + tokenRoutes + authorisationRoutes + advertRoutes + erasingRoutes
      + comparisonRoutes
  }

  /// Returns the application that a path names.
  ///
  /// - Throws: 404 if there is none.
  func application(_ request: APIRequest) throws(Problem) -> RegisteredApplication {
    let name = request.parameter("app")
    guard let application = backend.registrar.application(name) else {
      throw .notFound(
        "There is no application \"\(name.shortened)\". /v1/applications lists those that there are."
      )
    }
    return application
  }

  /// Returns the observer that a path names.
  ///
  /// - Throws: 404 if the text is none.
  func observer(_ request: APIRequest) throws(Problem) -> ObserverID {
    let text = request.parameter("id")
    guard let observer = ObserverID(text) else {
      throw .notFound(
        "\"\(text.shortened)\" is no observer: an EUI-48, an EUI-64, a UUID or a name of at most 64 bytes "
          + "without control characters."
      )
    }
    return observer
  }
}

/// The rates of requests that each cost a decision and an event: a token bucket for each application.
final class RequestRates: Sendable {
  /// The sustained rate, in requests a second.
  static let rate = 10.0
  /// The number of requests that may come at once.
  static let burst = 50.0

  private struct Bucket {
    var tokens: Double
    var filledAt: NIODeadline
  }

  private let buckets = Mutex<[String: Bucket]>([:])

  /// Takes a request into account.
  ///
  /// - Throws: 429 if the application has asked too often.
  func take(_ application: String, at now: NIODeadline = .now()) throws(Problem) {
    let isAllowed = buckets.withLock { buckets in
      // A full bucket says the same as none.
      if buckets[application] == nil {
        buckets = buckets.filter { RequestRates.tokens(of: $0.value, at: now) < RequestRates.burst }
      }
      let tokens = buckets[application].map { RequestRates.tokens(of: $0, at: now) } ?? RequestRates.burst
      let isAllowed = tokens >= 1
      buckets[application] = Bucket(tokens: isAllowed ? tokens - 1 : tokens, filledAt: now)
      return isAllowed
    }
    guard !isAllowed else { return }
    throw .tooManyRequests(
      "Application \"\(application.shortened)\" has asked for more than \(Int(RequestRates.rate)) states a second. A GET of "
        + "its states returns all of them at once."
    )
  }

  private static func tokens(of bucket: Bucket, at now: NIODeadline) -> Double {
    let seconds = Double((now - bucket.filledAt).nanoseconds) / 1e9
    return min(bucket.tokens + max(seconds, 0) * rate, burst)
  }
}

/// The threads of calls that block or take long.
enum Blocking {
  /// Reads of the journal and of files, two at a time: the journal has four readers, of which live streams use two.
  static let reads = WorkPool(threads: 2, limit: 4_096, yields: false)
  /// Searches of ways.
  static let searches = WorkPool(threads: 2, limit: 64, yields: true)
  /// Drawing of tiles.
  static let tiles = WorkPool(threads: 2, limit: 512, yields: true)
  /// Bundles of venues, one at a time: a mall takes seconds of a core.
  static let bundles = WorkPool(threads: 1, limit: 16, yields: true)
  /// Comparisons of captures.
  static let comparisons = WorkPool(threads: 1, limit: 4, yields: true)
  /// Storing of the summaries of minutes.
  static let summaries = WorkPool(threads: 1, limit: 4, yields: true)

  /// Runs a read on another thread and waits for it without blocking.
  ///
  /// - Parameter work: the work.
  /// - Returns: the result of the work.
  /// - Throws: the error of the work.
  static func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await reads.run { _ in try work() }
  }
}
