package import Pharos
package import PharosDelivery
package import PharosJournal
package import PharosModel
package import PharosSite
package import PharosVenues

/// The server as the HTTP interface sees it.
package protocol HTTPBackend: Sendable {
  /// The engine and its sockets.
  var server: PharosServer { get }
  /// The registrations over HTTP, added to the site file.
  var registrar: Registrar { get }
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
  /// The folder of the journal, or nil where it is in memory and nothing survives.
  var dataFolder: String? { get }
  /// Indicates whether the demo's scene is being played.
  var isDemo: Bool { get }
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

  /// The gate through which a client reads what holds now.
  func presentGate(for principal: Principal) -> Gate {
    commitPublisher.presentGate(to: principal.application)
  }

  /// The gate through which a client reads what has been: pages of the journal.
  func gate(for principal: Principal) -> Gate { commitPublisher.gate(to: principal.application) }
}

/// A venue that the interface serves, with the reader of its floor plans' images.
package struct ServedVenue: Sendable {
  /// Reads a file of the venue's folder whole; throws if it cannot be read.
  ///
  /// Takes the image's name as the floor plan has it. It may block.
  package typealias ReadImage = @Sendable (_ name: String) throws -> [UInt8]

  /// The venue.
  package var venue: Venue
  /// Its router, which the engine uses too.
  package var router: VenueRouter
  /// Reads the image of a floor plan.
  package var image: ReadImage

  /// Makes a venue that is served.
  ///
  /// - Parameters:
  ///   - venue: the venue.
  ///   - router: its router; nil for one of its own.
  ///   - image: reads the image of a floor plan.
  package init(_ venue: Venue, router: VenueRouter? = nil, image: @escaping ReadImage) {
    self.venue = venue
    self.router = router ?? VenueRouter(venue)
    self.image = image
  }
}
