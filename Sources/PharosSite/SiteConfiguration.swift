package import PharosReports

/// All that a site file says: the site itself, and how it is served.
package struct SiteConfiguration: Hashable, Sendable {
  /// The site, which configures the engine.
  package var site: Site
  /// Where datagrams are received.
  package var listen: [HostPort]
  /// Where the HTTP interface is to listen, or nil where the file says nothing.
  package var http: HostPort?
  /// The origins whose pages may use the HTTP interface from a browser; CORS is off while there are none.
  package var allowedOrigins: [String]
  /// The names by which the HTTP interface may be asked besides those of this machine, while no token is needed.
  package var allowedHosts: [String]
  /// The files that make the HTTP interface speak TLS, or nil for plain HTTP.
  package var tls: TLSFiles?
  /// The folder of the journal, or nil to keep it in memory.
  package var data: String?
  /// What the journal keeps.
  package var retention: Retention
  /// Whose datagrams are taken where a listener does not say so itself.
  package var policy: IngestPolicy
  /// Whose datagrams are taken by listeners that say so themselves.
  package var listenerPolicies: [HostPort: IngestPolicy]
  /// Who is a person, and what each application wants to know for.
  package var access: SiteAccess
  /// The folders of the venues, which the site names, so that a recording says where they were.
  package var venues: [String] {
    get { site.venues }
    set { site.venues = newValue }
  }
  /// What the file says that is no mistake and yet deserves a look.
  package var warnings: [SiteProblem]

  /// Where datagrams are received unless a site says otherwise: raddec's port, on this machine alone.
  package static let defaultListen = [HostPort(host: "127.0.0.1", port: 50_001)]

  /// Makes a configuration; all defaults together are an empty site file.
  package init(
    site: Site = Site(),
    listen: [HostPort] = SiteConfiguration.defaultListen,
    http: HostPort? = nil,
    allowedOrigins: [String] = [],
    allowedHosts: [String] = [],
    tls: TLSFiles? = nil,
    data: String? = nil,
    retention: Retention = Retention(),
    policy: IngestPolicy = .open,
    listenerPolicies: [HostPort: IngestPolicy] = [:],
    access: SiteAccess = SiteAccess(),
    warnings: [SiteProblem] = []
  ) {
    self.site = site
    self.listen = listen
    self.http = http
    self.allowedOrigins = allowedOrigins
    self.allowedHosts = allowedHosts
    self.tls = tls
    self.data = data
    self.retention = retention
    self.policy = policy
    self.listenerPolicies = listenerPolicies
    self.access = access
    self.warnings = warnings
  }

  /// Whose datagrams a listener takes.
  package func policy(of address: HostPort) -> IngestPolicy { listenerPolicies[address] ?? policy }

  /// The same with the paths of the file, which count from its own folder, as paths of this process.
  ///
  /// - Parameter sitePath: where the site file is.
  /// - Returns: the configuration with paths that can be opened.
  package func resolved(against sitePath: String) -> SiteConfiguration {
    guard let slash = sitePath.lastIndex(of: "/") else { return self }
    let folder = sitePath[...slash]
    func place(_ path: String) -> String { path.hasPrefix("/") ? path : folder + path }
    var resolved = self
    resolved.data = data.map(place)
    resolved.venues = venues.map(place)
    resolved.tls = tls.map { TLSFiles(certificate: place($0.certificate), key: place($0.key)) }
    return resolved
  }
}

/// Whose datagrams are taken.
package enum IngestPolicy: String, CaseIterable, Hashable, Sendable {
  /// Anybody's; signatures are not looked at.
  case open
  /// Those of listed observers and of observers that were accepted; others are shown and change nothing. Who has a key must sign.
  case allowlist
  /// Those that are signed with a key of their observer.
  case signed
}

/// The two files of a TLS server, both in PEM.
package struct TLSFiles: Hashable, Sendable {
  /// The path of the certificate and of those that vouch for it.
  package var certificate: String
  /// The path of the private key.
  package var key: String

  /// Names the files.
  package init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}

/// The limits on the age and the size of what the journal keeps; nil means the journal's own default.
package struct Retention: Hashable, Sendable {
  /// How old an event may become.
  package var age: TimeSpan?
  /// How large the journal may become.
  ///
  /// - Units: bytes.
  package var size: Int64?

  /// Makes a retention.
  package init(age: TimeSpan? = nil, size: Int64? = nil) {
    self.age = age
    self.size = size
  }
}

/// Who is a person, and what each application wants to know for.
package struct SiteAccess: Hashable, Sendable {
  /// Why an application wants to know, by its identifier; people are asked with these words.
  package var purposes: [String: String]
  /// The observers that people carry.
  package var personObservers: Set<ObserverID>
  /// The beacons that people carry.
  package var personBeacons: Set<BeaconConstraint>

  /// Makes the settings; by default no observer and no beacon is a person.
  package init(
    purposes: [String: String] = [:],
    personObservers: Set<ObserverID> = [],
    personBeacons: Set<BeaconConstraint> = []
  ) {
    self.purposes = purposes
    self.personObservers = personObservers
    self.personBeacons = personBeacons
  }

  /// Whether anybody is marked as a person.
  package var hasPersons: Bool { !personObservers.isEmpty || !personBeacons.isEmpty }
}
