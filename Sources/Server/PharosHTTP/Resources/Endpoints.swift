import PharosDelivery
import PharosIngest
import PharosModel
import PharosSite

/// All operations of the interface: the list of its resources.
package struct Endpoints: Sendable {
  private let resources: [any Resource]

  /// Makes the resources of a server.
  ///
  /// - Parameters:
  ///   - backend: the server.
  ///   - cache: the states that it serves.
  ///   - scheme: the scheme of its own address.
  ///   - validator: the text by which Cisco Meraki recognises its receiver, or nil.
  package init(
    backend: any HTTPBackend,
    cache: LiveStateCache,
    scheme: String = "http",
    validator: String? = nil
  ) {
    let catalog = VenueCatalog { backend.servedVenues }
    let clock: @Sendable () -> Timestamp = { backend.clock() }
    let resources: [any Resource] = [
      TokenResource(tokens: backend.tokens, clock: clock),
      TicketResource(tickets: backend.tokens.tickets, clock: clock, uptime: { backend.uptime }),
      AuthorisationResource(
        authorisations: backend.authorisations,
        owner: backend.owner,
        announce: { backend.announce($0) },
        clock: clock
      ),
      AccuracyResource(
        owner: backend.owner,
        authorisations: backend.authorisations,
        commitPublisher: backend.commitPublisher,
        clock: clock
      ),
      ApplicationResource(
        owner: backend.owner,
        authorisations: backend.authorisations,
        endingAccess: { backend.endingAccess(of: $0) }
      ),
      DiagnosticResource(
        server: backend.server,
        owner: backend.owner,
        commitPublisher: backend.commitPublisher,
        authorisations: backend.authorisations,
        cache: cache,
        clock: clock
      ),
      RegionResource(owner: backend.owner, commitPublisher: backend.commitPublisher, cache: cache),
      RangingResource(owner: backend.owner),
      ComparisonResource(
        journal: backend.journal,
        commitPublisher: backend.commitPublisher,
        recordings: backend.recordings,
        comparing: backend.comparing,
        clock: clock
      ),
      RecordingResource(recordings: backend.recordings, server: backend.server, clock: clock),
      BeaconResource(
        server: backend.server,
        owner: backend.owner,
        commitPublisher: backend.commitPublisher,
        cache: cache
      ),
      ErasureResource(
        stores: SubjectStores(of: backend, cache: cache),
        commitPublisher: backend.commitPublisher
      ),
      EventResource(
        journal: backend.journal,
        commitPublisher: backend.commitPublisher,
        feeds: backend.feeds,
        tally: backend.tally,
        names: { [owner = backend.owner] in owner.names },
        narrate: { backend.narrate($0) }
      ),
      GuidanceResource(
        owner: backend.owner,
        assignments: backend.assignments,
        journal: backend.journal,
        commitPublisher: backend.commitPublisher,
        cache: cache,
        catalog: catalog
      ),
      HearingResource(
        server: backend.server,
        owner: backend.owner,
        commitPublisher: backend.commitPublisher,
        cache: cache
      ),
      HistoryResource(
        journal: backend.journal,
        owner: backend.owner,
        commitPublisher: backend.commitPublisher,
        clock: clock
      ),
      ItineraryResource(assignments: backend.assignments),
      MapResource(catalog: catalog, bundles: VenueBundles(dataFolder: backend.dataFolder), scheme: scheme),
      ObserverResource(
        server: backend.server,
        owner: backend.owner,
        commitPublisher: backend.commitPublisher
      ),
      KeyResource(keys: backend.signingKeys, owner: backend.owner, clock: clock),
      AdvertResource(
        server: backend.server,
        policy: { ListenPolicy(backend.configuration.policy) },
        validator: validator
      ),
      FixResource(owner: backend.owner, commitPublisher: backend.commitPublisher, cache: cache),
      SharingResource(
        authorisations: backend.authorisations,
        feeds: backend.feeds,
        cache: cache,
        tally: backend.tally,
        names: { [owner = backend.owner] in owner.names },
        clock: clock
      ),
      ZoneResource(
        server: backend.server,
        owner: backend.owner,
        commitPublisher: backend.commitPublisher,
        cache: cache
      ),
      StateResource(
        server: backend.server,
        owner: backend.owner,
        commitPublisher: backend.commitPublisher,
        journal: backend.journal,
        cache: cache
      ),
      StatusResource(backend: backend),
      OSRMResource(catalog: catalog),
      PageResource(backend: backend),
      UpdateResource(
        feeds: backend.feeds,
        commitPublisher: backend.commitPublisher,
        cache: cache,
        tally: backend.tally
      ),
      VenueResource(catalog: catalog),
      VisitorResource(catalog: catalog),
      VisitResource(
        server: backend.server,
        owner: backend.owner,
        journal: backend.journal,
        commitPublisher: backend.commitPublisher,
        cache: cache,
        clock: clock
      ),
      WayResource(
        catalog: catalog,
        commitPublisher: backend.commitPublisher,
        cache: cache,
        zones: { [owner = backend.owner] in owner.site.zones }
      ),
      WebhookResource(webhooks: backend.webhooks, owner: backend.owner),
      NotificationResource(notifications: backend.notifications, owner: backend.owner),
    ]
    self.resources = resources + [DescriptionResource(of: resources)]
  }

  /// All operations.
  package var routes: [Route] { resources.flatMap(\.routes) }
}
