import Logging
package import Pharos
package import PharosAccess
package import PharosDelivery
package import PharosEvents
package import PharosJournal
package import PharosPlaces
package import PharosReports
package import PharosWebhooks

/// What the HTTP interface serves: the parts of a running server.
package struct HTTPBackend: Sendable {
  /// The engine and its sockets.
  package var server: PharosServer
  /// What was registered over HTTP, added to the site file.
  package var registrar: Registrar
  /// The journal of committed events.
  package var journal: Journal
  /// Who tells.
  package var teller: Teller
  /// Where live streams are opened.
  package var feeds: FeedDesk
  /// Who may ask.
  package var tokens: Tokens
  /// Who may learn what about whom.
  package var authorisations: Authorisations
  /// Who is sent events.
  package var webhooks: Webhooks
  /// Which texts are made of them.
  package var notifications: Notifications
  /// The facts about the server process.
  package var facts: ServiceFacts
  /// The metrics in Prometheus's text format.
  package var metrics: @Sendable () async -> String
  /// An event in words.
  package var narrate: @Sendable (Event) -> String
  /// Whether the server can do its work.
  package var readiness: @Sendable () async -> Readiness
  /// The wall clock.
  package var clock: @Sendable () -> Timestamp
  /// The venues that subjects are located in, as they are now.
  package var venues: @Sendable () -> [ServedVenue]
  /// What the interface itself has done, and which of its limits were reached.
  package var tally: HTTPTally

  /// Puts the parts together.
  package init(
    server: PharosServer,
    registrar: Registrar,
    journal: Journal,
    teller: Teller,
    feeds: FeedDesk,
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
    self.teller = teller
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
  /// When the process began to serve.
  package var startedAt: Timestamp
  /// The folder of the journal, or nil where it is in memory and nothing survives.
  package var dataFolder: String?
  /// Whether the demo's scene is being played.
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

/// Whether a server can do its work, and if not, why.
package struct Readiness: Hashable, Sendable {
  /// One thing that has to be in order.
  package struct Check: Hashable, Sendable {
    /// What it is, in a word, as `journal`.
    package var name: String
    /// What is wrong with it; nil if nothing is.
    package var problem: String?

    /// Makes a check.
    package init(_ name: String, problem: String? = nil) {
      self.name = name
      self.problem = problem
    }
  }

  /// What was looked at.
  package var checks: [Check]
  /// Whether all is in order.
  package var isReady: Bool { checks.allSatisfy { $0.problem == nil } }

  /// Makes a readiness from what was looked at.
  package init(_ checks: [Check]) { self.checks = checks }
}

/// A venue that the interface shows: what is known of it, and where its floor plans' images are read.
package struct ServedVenue: Sendable {
  /// Reads a file of the venue's folder whole; throws where it cannot be had.
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
