public import PharosReports

/// All that a site file says: the site itself, and how it is served.
public struct SiteConfiguration: Hashable, Sendable {
  /// What the engine is told.
  public var site: Site
  /// Where datagrams are received.
  public var listen: [HostPort]
  /// Where the HTTP interface is to listen, or nil where the file says nothing.
  public var http: HostPort?
  /// Whose datagrams are taken.
  public var policy: IngestPolicy
  /// What the file says that is no mistake and yet deserves a look.
  public var warnings: [SiteProblem]

  /// Where datagrams are received unless a site says otherwise: raddec's port, on this machine alone.
  public static let defaultListen = [HostPort(host: "127.0.0.1", port: 50_001)]

  /// Makes a configuration; all defaults together are an empty site file.
  public init(
    site: Site = Site(),
    listen: [HostPort] = SiteConfiguration.defaultListen,
    http: HostPort? = nil,
    policy: IngestPolicy = .open,
    warnings: [SiteProblem] = []
  ) {
    self.site = site
    self.listen = listen
    self.http = http
    self.policy = policy
    self.warnings = warnings
  }
}

/// Whose datagrams are taken.
public enum IngestPolicy: String, CaseIterable, Hashable, Sendable {
  /// Anybody's.
  case open
  /// Those of listed observers.
  case allowlist
  /// Those that carry a valid signature.
  case signed
}
