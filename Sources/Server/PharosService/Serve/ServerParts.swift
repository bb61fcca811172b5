import CPharos
import Foundation
import Logging
import Pharos
import PharosCluster
import PharosDelivery
import PharosDocuments
import PharosHTTP
package import PharosIngest
import PharosJournal
import PharosLab
import PharosMQTT
package import PharosModel
import PharosNarration
import PharosPipeline
import PharosPresence
import PharosSecurity
import PharosSite
import PharosSpace
import PharosTerminal
import PharosWays
import Synchronization

/// The parts of a server, put together and not yet running: journal, engine, commit publisher, streams, webhooks, interface.
struct ServerParts: HTTPBackend {
  let journal: Journal
  let owner: SiteOwner
  let signingKeys: SigningKeys
  let assignments: Assignments
  let authorisations: Authorisations
  let tokens: Tokens
  let server: PharosServer
  let commitPublisher: CommitPublisher
  let states: LiveStateCache
  let feeds: FeedService
  let webhooks: Webhooks
  let notifications: Notifications
  let mqtt: MQTTPublisher?
  let mqttFeed: MQTTFeed?
  /// The node of the cluster; nil for a single server.
  let cluster: ClusterNode?
  /// The documents that all nodes of the cluster have; nil for a single server.
  let documents: ReplicatedDocuments?
  /// Whether the server does what one node of a cluster does alone; a single server always does.
  let duty: Duty
  private let settings: ServeSettings
  private let fileSettings: FileSettings
  let startedAt: Timestamp
  private let startedSinceBoot = TimeSpan(nanoseconds: pharos_clock_since_boot())
  var uptime: TimeSpan { TimeSpan(nanoseconds: pharos_clock_since_boot()) - startedSinceBoot }
  let venues: LoadedVenues
  let tally: HTTPTally
  let dataFolder: String?
  let recordings: Recordings
  let isDemo: Bool

  /// The configuration and settings of the parts.
  struct Plan: Sendable {
    var configuration: SiteConfiguration
    /// The venues that it names.
    var venues = LoadedVenues.none
    var settings: ServeSettings
    var ingest: IngestConfiguration
    /// The connections to MQTT brokers.
    var links = MQTTLinks()
    /// The TCP ports of this server, which no webhook may post to.
    var ownPorts: Set<Int> = []
    /// Indicates whether the demo's scene is being played.
    var isDemo = false
    /// Indicates whether the server decides for itself alone, to be compared with the nodes of a cluster.
    var isShadow = false
    /// The version by which it decides, as it tells the other nodes.
    var version = PharosVersion.text
    /// The broker of the cluster that the server is a node of; nil for a single server.
    var bus: (any ClusterBus)?
  }

  /// The interval between checkpoints.
  ///
  /// A crash loses at most half a minute of what was learned of beacons and observers. It loses no states, because
  /// events hold them.
  static let checkpointInterval = TimeSpan.seconds(30)

  /// Opens the journal and puts the parts together; nothing listens yet.
  ///
  /// - Parameters:
  ///   - plan: the configuration and settings of the parts.
  ///   - logger: the logger for problems.
  /// - Throws: `CommandFailure` that says why the journal cannot be used.
  init(_ plan: Plan, logger: Logger) throws(CommandFailure) {
    do {
      let site = plan.configuration.site
      venues = plan.venues
      tally = HTTPTally(logger: logger)
      dataFolder = plan.settings.data
      recordings = Recordings(dataFolder: dataFolder)
      isDemo = plan.isDemo
      journal = try ServerParts.journal(plan, stream: site.stream)
      if journal.statistics().hadNoHashes {
        logger.warning(
          "The hashes of the journal's pages were missing or unusable and were made again. Damage from before is not found; a copy by `sqlite3` has none, and needs none.",
          metadata: [LogKey.path: "\(dataFolder ?? "")/journal.sqlite-sums"]
        )
      }
      // Behind the journal's lock: no other process uses the folder.
      TemporaryFiles.removeLeftovers(dataFolder: dataFolder)
      let start = try ClusterStart.start(of: plan, journal, logger: logger)
      duty = start?.duty ?? .always
      documents = start?.documents
      if let start, !start.isSingle {
        owner = SiteOwner(
          start.sources(stream: site.stream),
          changedTo: start.place?.site,
          store: journal,
          logger: logger
        )
      } else {
        owner = try SiteOwner(declared: site, store: journal, logger: logger)
      }
      authorisations = try Authorisations(store: journal)
      authorisations.declare(plan.configuration.access)
      tokens = try Tokens(store: journal)
      startedAt = .wallClock
      settings = plan.settings
      fileSettings = FileSettings(plan.configuration)
      var ingest = plan.ingest
      let observerKeys = try ObserverKeys(store: journal)
      ingest.signing = try ServerParts.signing(observerKeys, journal, clock: ingest.clock)
      let keys = ingest.signing.observers.count
      ServerParts.warn(of: ingest.listeners, keys: keys, logger)
      let checkpointService = CheckpointService()
      ingest.checkpointInterval = ServerParts.checkpointInterval
      let restoration: Restoration?
      if let start {
        restoration =
          start.resumes
          ? try ServerParts.restoration(from: journal, logger: logger)
          : start.checkpoint.map { Restoration(checkpoint: $0) }
        ingest.log = start.ingest
        ingest.continuesExactly = true
      } else {
        if let stored = try journal.latestCheckpoint(), LoggedCheckpoint.isOne(stored.bytes) {
          throw CommandFailure(
            "This data folder belongs to a node of a cluster. Start it with --cluster, or name an empty folder."
          )
        }
        restoration = try ServerParts.restoration(from: journal, logger: logger)
      }
      ingest.journalHead = journal.head
      ingest.checkpoint = { checkpointService.enqueue($0) }
      server = PharosServer(
        owner: owner,
        venues: plan.venues.locatable,
        configuration: ingest,
        restoring: restoration,
        logger: logger
      )
      owner.attach(to: server)
      signingKeys = SigningKeys(observerKeys, owner: owner, server: server)
      assignments = Assignments(journal: journal, server: server, authorisations: authorisations)
      commitPublisher = CommitPublisher(
        hub: server.hub,
        store: journal,
        authorisations: authorisations,
        stream: site.stream,
        names: { [owner] in owner.names },
        zones: try journal.publishedState().zones,
        known: start?.known ?? [:],
        logger: logger
      )
      checkpointService.attach(commitPublisher)
      states = LiveStateCache(
        journal: journal,
        commitPublisher: commitPublisher,
        authorisations: authorisations
      )
      var streams = FeedSettings()
      if let maximum = plan.settings.streams { streams.feeds = maximum }
      streams.sharesNumbers = start != nil
      feeds = FeedService(
        commitPublisher: commitPublisher,
        history: journal,
        settings: streams,
        ended: { [tokens] in tokens.ended(among: $0, at: .wallClock) },
        logger: logger
      )
      webhooks = try Webhooks(
        journal: journal,
        committed: commitPublisher.committed,
        stream: site.stream,
        names: { [owner] in owner.names },
        ownPorts: plan.ownPorts,
        relay: plan.configuration.mail,
        gate: { [commitPublisher] in commitPublisher.gate(to: $0) },
        duty: duty,
        logger: logger
      )
      notifications = try Notifications(
        journal: journal,
        committed: commitPublisher.committed,
        stream: site.stream,
        publish: { [server, commitPublisher] in
          server.announce($0) { commitPublisher.publish($0) }
        },
        site: { [owner] in NotificationSite(owner.site, names: owner.names) },
        timeZone: { [venues] in venues.timeZone ?? TimeZone.current.identifier },
        walk: { [venues] in venues.walk(from: $0, to: $1) },
        duty: duty,
        logger: logger
      )
      mqtt = try ServerParts.publisher(plan, journal, owner, commitPublisher, server, duty, logger)
      if let input = plan.configuration.mqttInput, let link = plan.links.input {
        mqttFeed = MQTTFeed(
          link: link,
          topics: input.topics,
          policy: ListenPolicy(input.policy ?? plan.configuration.policy),
          logger: logger
        ) { [server] in try await server.receive($0, from: $1, under: $2) }
      } else {
        mqttFeed = nil
      }
      cluster = start?.node(of: plan, journal, logger: logger)
      if start?.isSingle ?? true { try owner.endRemoved(endingAccess) }
      try owner.recordNames(by: ingest.clock.wall, logger: logger)
      if let start { join(start.documents, observerKeys) }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  /// Has what is kept in memory follow the documents that all nodes of a cluster have, and these the log.
  private func join(_ documents: ReplicatedDocuments, _ keys: ObserverKeys) {
    documents.follow("access.token") { [tokens] in try tokens.reload() }
    documents.follow(
      "access.authorisation",
      "access.purpose",
      "access.accuracy",
      "access.person",
      "access.share"
    ) { [authorisations] in try authorisations.reload() }
    documents.follow("access.observerKeys") { [server] in
      try keys.reload()
      let list = keys.list()
      Task { try? await server.adopt(keys: list) }
    }
    documents.follow("webhook") { [webhooks] in try webhooks.reload() }
    documents.follow("notification rule") { [notifications] in try notifications.reload() }
    let stores = SubjectStores(of: self, cache: states)
    documents.erase { try await stores.eraseHere($0) }
    documents.follow(ClusterVersion.kind) { [cluster, journal] in
      guard let version = try journal.document(kind: ClusterVersion.kind, key: "") else { return }
      cluster?.decide(by: String(decoding: version, as: UTF8.self))
    }
    documents.begin(through: server)
  }

  /// Takes an edited site file: the engine first, which may refuse it, then names and authorisations.
  func adopt(_ configuration: SiteConfiguration) async throws {
    try await owner.reload(configuration.site, ending: endingAccess)
    authorisations.declare(configuration.access)
    fileSettings.adopt(configuration)
  }

  /// Returns the publisher to an MQTT broker; without one, the journal stops keeping events for it.
  private static func publisher(
    _ plan: Plan,
    _ journal: Journal,
    _ owner: SiteOwner,
    _ commitPublisher: CommitPublisher,
    _ server: PharosServer,
    _ duty: Duty,
    _ logger: Logger
  ) throws(JournalError) -> MQTTPublisher? {
    guard let output = plan.configuration.mqttOutput, let link = plan.links.output else {
      if try journal.deliveries(to: MQTTPublisher.receiver) != nil {
        try journal.forgetDeliveries(to: MQTTPublisher.receiver)
      }
      return nil
    }
    let parts = MQTTPublisherParts(
      journal: journal,
      names: output.names(stream: plan.configuration.site.stream),
      version: PharosVersion.text,
      site: { [owner] in owner.site },
      gate: { [commitPublisher] in commitPublisher.gate(to: nil) },
      nearest: { [server] beacons in
        let tracks = try? await LoudestTracks.read(of: beacons) { try await server.tracks($0) }
        return (tracks ?? [:]).compactMapValues { track in
          track.level.map { NearestObserver(observer: track.observer, rssi: $0, lastHeard: track.lastHeard) }
        }
      },
      settings: MQTTOutboxSettings(
        hasTrackerStates: output.hasTrackerStates,
        dashboard: output.dashboard(of: plan.settings)
      ),
      duty: duty,
      logger: logger
    )
    let publisher = MQTTPublisher(link: link, parts: parts, hub: commitPublisher.committed)
    commitPublisher.authorisations.tap { [weak publisher] in publisher?.authorisationsChanged() }
    return publisher
  }

  private static func journal(_ plan: Plan, stream: String) throws(JournalError) -> Journal {
    guard let folder = plan.settings.data else { return try Journal.open(.memory, stream: stream) }
    var settings = JournalSettings()
    if let age = plan.settings.retention.age { settings.maximumAge = age }
    if let size = plan.settings.retention.size { settings.maximumBytes = size }
    return try Journal.open(.folder(folder), stream: stream, settings: settings)
  }

  /// Returns the state from which the engine resumes: the newest checkpoint, and the journal's rows written after it.
  ///
  /// Where the journal holds neither, the run before may have decided events and committed none: ids begin behind them.
  private static func restoration(
    from journal: Journal,
    logger: Logger
  ) throws -> Restoration {
    var checkpoint: Checkpoint?
    var through: Int64 = 0
    if let stored = try journal.latestCheckpoint() {
      do {
        checkpoint = try Checkpoint(decoding: stored.bytes)
        through = stored.through
      } catch {
        logger.warning(
          "Cannot use the checkpoint. States resume from the last published events, and all else is learned again.",
          metadata: [LogKey.reason: "\(error)"]
        )
      }
    }
    let committed = try journal.publishedState(after: through)
    return Restoration(checkpoint: checkpoint, publishedState: committed)
  }
}

/// Hands checkpoints to a commit publisher that is made after the server which takes them.
private final class CheckpointService: Sendable {
  private let commitPublisher = Mutex<CommitPublisher?>(nil)

  func attach(_ commitPublisher: CommitPublisher) { self.commitPublisher.withLock { $0 = commitPublisher } }

  func enqueue(_ pending: PendingCheckpoint) {
    let commitPublisher = commitPublisher.withLock { $0 }
    commitPublisher?.offer(
      CommitPublisherCheckpoint(instant: pending.instant, eventsBefore: pending.eventsBefore) {
        pending.encoded()
      }
    )
  }
}

/// The settings of the server in the site file as it was read last; the site itself has an owner.
private final class FileSettings: Sendable {
  private let configuration: Mutex<SiteConfiguration>

  init(_ configuration: SiteConfiguration) { self.configuration = Mutex(configuration.with(Site())) }

  /// Takes an edited site file.
  func adopt(_ next: SiteConfiguration) {
    let next = next.with(Site())
    configuration.withLock { $0 = next }
  }

  /// The origins whose pages may use the HTTP interface.
  var allowedOrigins: [String] { configuration.withLock { $0.allowedOrigins } }

  /// The settings, with the site that the file declares.
  func configuration(of declared: Site) -> SiteConfiguration {
    configuration.withLock { $0 }.with(declared)
  }
}

extension SiteConfiguration {
  /// The same settings for another site.
  fileprivate func with(_ site: Site) -> SiteConfiguration {
    var configuration = self
    configuration.site = site
    return configuration
  }
}

extension LoadedVenues {
  /// The time zone of all venues; nil if they differ, or if none states one.
  fileprivate var timeZone: String? {
    let zones = Set(entries.map(\.contents.venue.localTime.zone))
    return zones.count == 1 ? zones.first ?? nil : nil
  }
}

extension Authorisations {
  /// Takes what the site file says about people.
  fileprivate func declare(_ access: SiteAccess) {
    declare(
      persons: Persons(observers: access.personObservers, beacons: access.personBeacons),
      purposes: access.purposes,
      accuracies: access.accuracies
    )
  }
}

extension ServerParts {
  var version: String { PharosVersion.text }
  var servedVenues: [ServedVenue] { venues.served }

  func clock() -> Timestamp { .wallClock }

  /// The nodes of the cluster as this one has seen them last.
  var clusterStanding: ClusterStanding? {
    guard let (nodes, holder, own) = cluster?.nodes else { return nil }
    let last = nodes.map(\.position).max() ?? 0
    let standings = nodes.map { node -> ClusterStanding.Node in
      let role: ClusterStanding.Role =
        node.isGone(at: .wallClock)
        ? .gone
        : node.isShadow ? .shadow : !node.isCaughtUp ? .catchesUp : node.node == holder ? .delivers : .decides
      var standing = ClusterStanding.Node(name: node.node, version: node.version, role: role)
      (standing.http, standing.events, standing.seen) = (node.http, node.head, node.time)
      (standing.behind, standing.waiting) = (last - node.position, node.waiting)
      standing.checkpoint = node.checkpoint
      return standing
    }
    return ClusterStanding(nodes: standings, own: own)
  }

  /// The site file as it was read last.
  var siteFile: SiteConfiguration { fileSettings.configuration(of: owner.sources.declared) }

  /// The origins whose pages may use the HTTP interface, by the site file as it was read last.
  var allowedOrigins: [String] { fileSettings.allowedOrigins }

  /// The site file's configuration with the settings that took precedence when the server started, and with paths that hold
  /// anywhere on this machine.
  var configuration: SiteConfiguration {
    var value = siteFile
    // Addresses of the command line have the site's own policy, which no file can say where listeners have policies.
    if !settings.udp.isEmpty, value.listenerPolicies.isEmpty { value.listen = settings.udp }
    // Port 0 was any free one; the next start is to take the usual one.
    if value.listenerPolicies.isEmpty, value.listen.contains(where: { $0.port == 0 }) {
      value.listen = SiteConfiguration.defaultListen
    }
    value.http = settings.http.flatMap { $0.port == 0 ? nil : $0 }
    value.tls = settings.tls
    value.data = settings.data
    value.retention = settings.retention
    return value.resolved(against: FileManager.default.currentDirectoryPath + "/")
  }

  /// Compares rules on a capture that was sent to the server, or on a recording.
  var comparing: CaptureComparison.Maker? {
    { path, name, timeout, edited, check in
      do {
        let site = try edited.map { try SiteFile.parse($0, path: "the edited site").site }
        return try ComparisonPage.make(path: path, name: name, timeout: timeout, edited: site, check: check)
      } catch let error as DocumentError {
        throw CaptureComparison.Refused("\(error)")
      } catch let failure as CommandFailure {
        throw CaptureComparison.Refused(failure.message)
      }
    }
  }

  func narrate(_ event: Event) -> String { Narrator(owner.names.asOf(event.time)).narrate(event) }

  /// All metrics in Prometheus' text format.
  func metrics() async -> String {
    var sources = MetricSources()
    sources.process = (.current(), Double(startedAt.nanoseconds) / 1e9, version)
    if let snapshot = try? await server.snapshot() {
      sources.snapshot = snapshot
      let gate = commitPublisher.presentGate(to: nil)
      sources.observers = ListedObserver.all(of: owner.site, snapshot.observers) {
        gate.shows(.observer($0))
      }
    }
    sources.journal = journal.statistics()
    sources.committed = commitPublisher.statistics
    sources.feeds = feeds.statistics
    sources.webhooks = webhooks.list()
    sources.mqttInput = mqttFeed?.statistics
    sources.mqttOutput = mqtt?.standing
    sources.cluster = cluster.map { ($0.log, duty.isOn) }
    sources.http = tally.statistics
    return PrometheusText.text(of: sources)
  }

  /// Checks that the server listens and decides, and that the journal keeps its events.
  func readiness() async -> [(part: String, problem: String?)] {
    var ingest: String?
    do { _ = try await server.snapshot() } catch { ingest = "\(error)" }
    let committed = commitPublisher.statistics
    let refusal = committed.isFailing ? committed.lastFailure ?? "cannot write to the journal" : nil
    var parts = [("ingest", ingest), ("journal", refusal ?? journal.statistics().damage?.description)]
    if let problems = cluster?.problems {
      parts.append(("cluster", problems.isEmpty ? nil : problems.joined(separator: "; ")))
    }
    return parts
  }
}

extension ServerParts {
  /// The keys that datagrams are signed with, what the run before has left of their replay windows, and where these are kept.
  ///
  /// Called once the journal is open: its lock says that the run before is over, so that what the steady clock tells now lies behind
  /// all that was taken.
  static func signing(
    _ keys: ObserverKeys,
    _ journal: Journal,
    clock: IngestClock
  ) throws(AccessError) -> SignedIngest {
    let store = SenderRecords(store: journal)
    let observers = keys.list()
    let machineStart = ServerParts.machineStart
    return SignedIngest(
      observers: observers,
      records: try store.records(of: observers),
      endedBy: try store.lease()?.end(steady: clock.steady(), machineStart: machineStart) ?? .distantPast,
      machineStart: machineStart,
      keep: { try store.keep($0.records, lease: $0.lease) }
    )
  }

  /// Warns the operator of a signed listener while no observer has a key, and of open listeners while observers have
  /// keys.
  static func warn(of listeners: [ListenAddress], keys: Int, _ logger: Logger) {
    let signed = listeners.filter { $0.policy == .signed }
    if let first = signed.first, keys == 0 {
      logger.warning(
        """
        a listener asks for signatures, and no observer has a key: everything that is sent there is refused until \
        pharos observer add makes one
        """,
        metadata: ["listener": "\(first)"]
      )
    }
    for listener in listeners where listener.policy == .open && keys > 0 && !listener.isLoopback {
      logger.warning(
        "A listener accepts datagrams of any sender, also under the names of observers that have keys.",
        metadata: ["listener": "\(listener)"]
      )
    }
  }

  /// The boot ID of this machine; empty where the system does not report one.
  private static var machineStart: String {
    let path = "/proc/sys/kernel/random/boot_id"
    guard let bytes = try? WholeFile.read(path, limit: 128) else { return "" }
    return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
  }
}

extension ListenAddress {
  /// The address of a command line or site file.
  package init(_ address: HostPort) { self.init(address, policy: .open) }

  /// The address of a command line or site file, with whose datagrams are taken there.
  init(_ address: HostPort, policy: ListenPolicy) {
    self.init(host: address.host, port: Int(address.port), policy: policy)
  }

  /// The same place with another policy.
  func under(_ policy: ListenPolicy) -> ListenAddress {
    var address = self
    address.policy = policy
    return address
  }

  /// Indicates whether only this machine can send to the address.
  fileprivate var isLoopback: Bool {
    guard case .bind(let host, _) = socket else { return false }
    return HostPort.isLoopback(host: host)
  }
}
