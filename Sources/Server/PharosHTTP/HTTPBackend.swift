package import Pharos
package import PharosDelivery
package import PharosDocuments
package import PharosJournal
package import PharosModel
import PharosPipeline
package import PharosSite
import PharosSpace

/// The server as the HTTP interface sees it.
package protocol HTTPBackend: Sendable {
  /// The engine and its sockets.
  var server: PharosServer { get }
  /// The owner of the site, with the registrations over HTTP.
  var owner: SiteOwner { get }
  /// The keys that observers sign with.
  var signingKeys: SigningKeys { get }
  /// The configuration of the server as it is now, without the registrations over HTTP.
  var configuration: SiteConfiguration { get }
  /// The itineraries and the guidance of subjects.
  var assignments: Assignments { get }
  /// The journal of committed events.
  var journal: Journal { get }
  /// The commit publisher, which commits and publishes events.
  var commitPublisher: CommitPublisher { get }
  /// The states, rangings and fixes as they were published last.
  var states: LiveStateCache { get }
  /// The service that opens live streams.
  var feeds: FeedService { get }
  /// The tokens of clients.
  var tokens: Tokens { get }
  /// The authorisations of applications to locate subjects.
  var authorisations: Authorisations { get }
  /// The webhooks, which send events to clients.
  var webhooks: Webhooks { get }
  /// The publisher of states to an MQTT broker, or nil if there is none.
  var mqtt: MQTTPublisher? { get }
  /// The rules that make texts of events.
  var notifications: Notifications { get }
  /// The counters of the interface, and the limits that were reached.
  var tally: HTTPTally { get }
  /// The venues that subjects are located in, as they are now.
  var servedVenues: [ServedVenue] { get }
  /// The version of Pharos.
  var version: String { get }
  /// The time at which the process began to serve.
  var startedAt: Timestamp { get }
  /// The time since then, which no step of the wall clock changes.
  var uptime: TimeSpan { get }
  /// The folder of the journal, or nil where it is in memory and nothing survives.
  var dataFolder: String? { get }
  /// The recordings of all inputs in that folder.
  var recordings: Recordings { get }
  /// Indicates whether the demo's scene is being played.
  var isDemo: Bool { get }
  /// The nodes of the cluster; nil for a single server.
  var clusterStanding: ClusterStanding? { get }
  /// The function that compares rules on a capture; nil where there is none.
  var comparing: CaptureComparison.Maker? { get }

  /// Returns the time of the wall clock.
  func clock() -> Timestamp
  /// Returns the metrics in Prometheus's text format.
  func metrics() async -> String
  /// Describes an event in words.
  func narrate(_ event: Event) -> String
  /// Checks each part without which the server cannot do its work; the problem is nil where there is none.
  func readiness() async -> [(part: String, problem: String?)]
}

extension HTTPBackend {
  /// None.
  package var mqtt: MQTTPublisher? { nil }
  /// None.
  package var clusterStanding: ClusterStanding? { nil }

  /// Returns the change that ends what was given to an application that no longer exists, so that a later one of its name
  /// does not inherit it: tokens, and so their streams, webhooks, rules and authorisations.
  package func endingAccess(of application: String) -> PendingChange {
    tokens.revokingAll(of: application)
      .and(webhooks.deletingAll(of: application))
      .and(notifications.deletingAll(of: application))
      .and(authorisations.forgetting(application: application))
  }

  /// Publishes events that the engine did not decide, in their place among all its inputs; returns at once.
  package func announce(_ events: [Event]) {
    server.announce(events) { [commitPublisher] in commitPublisher.publish($0) }
  }
}

extension CommitPublisher {
  /// The gate through which a client reads what holds now.
  func presentGate(for principal: Principal) -> Gate { presentGate(to: principal.application) }

  /// The gate through which a client reads what has been: pages of the journal.
  func gate(for principal: Principal) -> Gate { gate(to: principal.application) }
}

extension PharosServer {
  /// Returns the tags that the reader of a gate may learn of, without the hearings of observers that it may not learn of, and
  /// with reduced accuracy without hearings and, below that of zones, without zones.
  func tags(through gate: Gate) async throws -> [TagStanding] {
    try await tags().compactMap { tag in
      guard let accuracy = gate.access(to: .beacon(tag.beacon)) else { return nil }
      var tag = tag
      tag.hearings.removeAll { accuracy.isReduced || !gate.showsFully(.observer($0.observer)) }
      if accuracy.isReduced { tag.probability = nil }
      if accuracy < .zone { (tag.zone, tag.since, tag.unmonitoredSince) = (nil, nil, nil) }
      return tag
    }
  }
}
