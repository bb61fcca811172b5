import Logging
package import Pharos
package import PharosDelivery
package import PharosJournal
package import PharosModel
package import PharosVenues

/// The parts of a running server that the HTTP interface serves.
package struct HTTPBackend: Sendable {
  /// The engine and its sockets.
  package var server: PharosServer
  /// The registrations over HTTP, added to the site file.
  package var registrar: Registrar
  /// The journal of committed events.
  package var journal: Journal
  /// The commit publisher, which commits and publishes events.
  package var commitPublisher: CommitPublisher
  /// The service that opens live streams.
  package var feeds: FeedService
  /// The tokens of clients.
  package var tokens: Tokens
  /// The authorisations of applications to locate subjects.
  package var authorisations: Authorisations
  /// The webhooks, which send events to clients.
  package var webhooks: Webhooks
  /// The rules that make texts of events.
  package var notifications: Notifications
  /// The facts about the server process.
  package var facts: ServiceFacts
  /// The metrics in Prometheus's text format.
  package var metrics: @Sendable () async -> String
  /// Describes an event in words.
  package var narrate: @Sendable (Event) -> String
  /// Checks whether the server can do its work.
  package var readiness: @Sendable () async -> Readiness
  /// The wall clock.
  package var clock: @Sendable () -> Timestamp
  /// The venues that subjects are located in, as they are now.
  package var venues: @Sendable () -> [ServedVenue]
  /// The counters of the interface, and the limits that were reached.
  package var tally: HTTPTally

  /// Puts the parts together.
  package init(
    server: PharosServer,
    registrar: Registrar,
    journal: Journal,
    commitPublisher: CommitPublisher,
    feeds: FeedService,
    tokens: Tokens,
    authorisations: Authorisations,
    webhooks: Webhooks,
    notifications: Notifications,
    facts: ServiceFacts,
    metrics: @escaping @Sendable () async -> String,
    narrate: @escaping @Sendable (Event) -> String,
    readiness: @escaping @Sendable () async -> Readiness,
    clock: @escaping @Sendable () -> Timestamp,
    venues: @escaping @Sendable () -> [ServedVenue] = { [] },
    tally: HTTPTally = HTTPTally(logger: Logger(label: "pharos.http"))
  ) {
    self.server = server
    self.registrar = registrar
    self.journal = journal
    self.commitPublisher = commitPublisher
    self.feeds = feeds
    self.tokens = tokens
    self.authorisations = authorisations
    self.webhooks = webhooks
    self.notifications = notifications
    self.facts = facts
    self.metrics = metrics
    self.narrate = narrate
    self.readiness = readiness
    self.clock = clock
    self.venues = venues
    self.tally = tally
  }
}

/// The facts about the server process that the interface reports.
package struct ServiceFacts: Hashable, Sendable {
  /// The version of Pharos.
  package var version: String
  /// The time at which the process began to serve.
  package var startedAt: Timestamp
  /// The folder of the journal, or nil where it is in memory and nothing survives.
  package var dataFolder: String?
  /// Indicates whether the demo's scene is being played.
  package var isDemo: Bool

  /// States the facts.
  package init(
    version: String,
    startedAt: Timestamp,
    dataFolder: String? = nil,
    isDemo: Bool = false
  ) {
    self.version = version
    self.startedAt = startedAt
    self.dataFolder = dataFolder
    self.isDemo = isDemo
  }
}

/// The readiness of a server to do its work, with the problems if it is not ready.
package struct Readiness: Hashable, Sendable {
  /// One condition of readiness.
  package struct Check: Hashable, Sendable {
    /// The name of the checked part, in one word, such as `journal`.
    package var name: String
    /// The problem; nil if there is none.
    package var problem: String?

    /// Makes a check.
    package init(_ name: String, problem: String? = nil) {
      self.name = name
      self.problem = problem
    }
  }

  /// The checks.
  package var checks: [Check]
  /// Indicates whether all checks succeeded.
  package var isReady: Bool { checks.allSatisfy { $0.problem == nil } }

  /// Makes a readiness from checks.
  package init(_ checks: [Check]) { self.checks = checks }
}

/// A venue that the interface serves, with the reader of its floor plans' images.
package struct ServedVenue: Sendable {
  /// Reads a file of the venue's folder whole; throws if it cannot be read.
  ///
  /// Takes the image's name as the floor plan has it. It may block.
  package typealias ReadImage = @Sendable (_ name: String) throws -> [UInt8]

  /// The venue.
  package var venue: Venue
  /// Reads the image of a floor plan.
  package var image: ReadImage

  /// Makes a venue that is served.
  package init(_ venue: Venue, image: @escaping ReadImage) {
    self.venue = venue
    self.image = image
  }
}
