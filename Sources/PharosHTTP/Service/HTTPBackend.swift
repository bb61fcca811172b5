public import Logging
public import Pharos
public import PharosAccess
public import PharosDelivery
public import PharosEvents
public import PharosJournal
public import PharosReports
public import PharosWebhooks

/// What the HTTP interface serves: the parts of a running server.
public struct HTTPBackend: Sendable {
  /// The engine and its sockets.
  public var server: PharosServer
  /// What was registered over HTTP, added to the site file.
  public var registrar: Registrar
  /// The journal of committed events.
  public var journal: Journal
  /// Who tells.
  public var teller: Teller
  /// Where live streams are opened.
  public var feeds: FeedDesk
  /// Who may ask.
  public var tokens: Tokens
  /// Who may learn what about whom.
  public var authorisations: Authorisations
  /// Who is sent events.
  public var webhooks: Webhooks
  /// Which texts are made of them.
  public var notifications: Notifications
  /// The facts about the server process.
  public var facts: ServiceFacts
  /// The metrics in Prometheus's text format.
  public var metrics: @Sendable () async -> String
  /// An event in words.
  public var narrate: @Sendable (Event) -> String
  /// Whether the server can do its work.
  public var readiness: @Sendable () async -> Readiness
  /// The wall clock.
  public var clock: @Sendable () -> Timestamp
  /// The venues that subjects are located in, as they are now.
  public var venues: @Sendable () -> [ServedVenue]
  /// What the interface itself has done, and which of its limits were reached.
  public var tally: HTTPTally

  /// Puts the parts together.
  public init(
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
public struct ServiceFacts: Hashable, Sendable {
  /// The version of Pharos.
  public var version: String
  /// When the process began to serve.
  public var startedAt: Timestamp
  /// The folder of the journal, or nil where it is in memory and nothing survives.
  public var dataFolder: String?
  /// Whether the demo's scene is being played.
  public var isDemo: Bool

  /// States the facts.
  public init(
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
public struct Readiness: Hashable, Sendable {
  /// One thing that has to be in order.
  public struct Check: Hashable, Sendable {
    /// What it is, in a word, as `journal`.
    public var name: String
    /// What is wrong with it; nil if nothing is.
    public var problem: String?

    /// Makes a check.
    public init(_ name: String, problem: String? = nil) {
      self.name = name
      self.problem = problem
    }
  }

  /// What was looked at.
  public var checks: [Check]
  /// Whether all is in order.
  public var isReady: Bool { checks.allSatisfy { $0.problem == nil } }

  /// Makes a readiness from what was looked at.
  public init(_ checks: [Check]) { self.checks = checks }
}
