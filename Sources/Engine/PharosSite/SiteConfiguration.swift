package import PharosDocuments
package import PharosModel

/// The content of a site file: the site itself, and the settings of its server.
package struct SiteConfiguration: Hashable, Sendable {
  /// The site, which configures the engine.
  package var site = Site()
  /// The addresses at which datagrams are received.
  package var listen = SiteConfiguration.defaultListen
  /// The address of the HTTP interface, or nil if the file gives none.
  package var http: HostPort?
  /// The origins whose pages may use the HTTP interface from a browser; CORS is off while there are none.
  package var allowedOrigins: [String] = []
  /// The host names under which clients may reach the HTTP interface besides those of this machine, while no token is
  /// needed.
  package var allowedHosts: [String] = []
  /// How posts of Cisco Meraki prove themselves, or nil if none are expected.
  package var meraki: MerakiPosts?
  /// The broker whose messages are read as reports, or nil for none.
  package var mqttInput: MQTTInput?
  /// The broker to which states are published, or nil for none.
  package var mqttOutput: MQTTOutput?
  /// The relay that takes mail, or nil for none.
  package var mail: MailRelay?
  /// The files that make the HTTP interface speak TLS, or nil for plain HTTP.
  package var tls: TLSFiles?
  /// The folder of the journal, or nil to keep it in memory.
  package var data: String?
  /// The limits of the journal.
  package var retention = Retention()
  /// The ingest policy of listeners without one of their own.
  package var policy = IngestPolicy.open
  /// The ingest policies of listeners that have their own.
  package var listenerPolicies: [HostPort: IngestPolicy] = [:]
  /// The persons, and the purposes of the applications.
  package var access = SiteAccess()
  /// The folders of the venues, which the site names so that a recording contains them.
  package var venues: [String] {
    get { site.venues }
    set { site.venues = newValue }
  }
  /// The pages for visitors, by the index of the venue.
  package var visitors: [Int: VisitorPage] = [:]
  /// The lines of settings that only the machine can judge: paths, and addresses that others reach.
  package var lines: [String: Int] = [:]
  /// The warnings about the file.
  package var warnings: [DocumentProblem] = []

  /// The default address for datagrams: raddec's port, on this machine alone.
  package static let defaultListen = [HostPort(host: "127.0.0.1", port: 50_001)]

  /// Makes the configuration of an empty site file.
  package init() {}

  /// Returns the ingest policy of a listener.
  package func policy(of address: HostPort) -> IngestPolicy { listenerPolicies[address] ?? policy }

  /// Returns the configuration with the paths of the file, which are relative to its folder, as paths of this process.
  ///
  /// - Parameter sitePath: the path of the site file.
  /// - Returns: the configuration with paths that can be opened.
  package func resolved(against sitePath: String) -> SiteConfiguration {
    guard let slash = sitePath.lastIndex(of: "/") else { return self }
    let folder = sitePath[...slash]
    var resolved = self
    resolved.visitPaths { setting in
      if !setting.path.hasPrefix("/") { setting.path = folder + setting.path }
    }
    return resolved
  }

  /// The files and folders that the site names, which `check` tries as `serve` does.
  ///
  /// The files of areas are not among them: reading the site file reads them.
  package var paths: [PathSetting] {
    var copy = self
    var paths: [PathSetting] = []
    copy.visitPaths { paths.append($0) }
    return paths
  }

  /// Calls a closure with each setting that is a path, which it may change.
  private mutating func visitPaths(_ visit: (inout PathSetting) -> Void) {
    func update(_ path: inout String, _ key: String, _ use: PathSetting.Use) {
      var setting = PathSetting(key: key, use: use, path: path)
      visit(&setting)
      path = setting.path
    }
    func update(_ path: inout String?, _ key: String, _ use: PathSetting.Use) {
      guard var given = path else { return }
      update(&given, key, use)
      path = given
    }
    func update(_ broker: inout MQTTBroker, _ key: String) {
      update(&broker.authorities, "\(key).ca", .authorities)
      update(&broker.passwordFile, "\(key).passwordFile", .secret("the password for \(broker.address)"))
    }
    update(&data, "data", .data)
    for index in venues.indices { update(&venues[index], "venues[\(index)]", .venue) }
    if var posts = meraki {
      update(&posts.secretFile, "listen.meraki.secretFile", .secret(MerakiPosts.secretName))
      meraki = posts
    }
    if var input = mqttInput {
      update(&input.broker, "listen.mqtt")
      mqttInput = input
    }
    if var output = mqttOutput {
      update(&output.broker, "publish.mqtt")
      mqttOutput = output
    }
    if var files = tls {
      update(&files.certificate, "tls.certificate", .certificate)
      update(&files.key, "tls.key", .privateKey)
      tls = files
    }
  }
}

/// A setting of a site file that is the path of a file or folder.
package struct PathSetting: Hashable, Sendable {
  /// The use of a file or folder.
  package enum Use: Hashable, Sendable {
    /// The folder of the journal, which the server creates.
    case data
    /// The folder of a venue, or its archive.
    case venue
    /// A file whose first line is a secret, which messages call by this name.
    case secret(String)
    /// The certificates of trusted authorities.
    case authorities
    /// The certificate of the HTTP interface.
    case certificate
    /// The private key of the HTTP interface.
    case privateKey
  }

  /// The key in the site file, as in `tls.certificate`.
  package let key: String
  /// The use of the file.
  package let use: Use
  /// The path.
  package var path: String
}

/// The policy of which datagrams are accepted.
package enum IngestPolicy: String, CaseIterable, Hashable, Sendable {
  /// Those of all observers; signatures are not verified.
  case open
  /// Those of listed and accepted observers; others are shown and change nothing. An observer with a key must sign.
  case allowlist
  /// Those that are signed with a key of their observer.
  case signed
}

/// The two files of a TLS server, both in PEM.
package struct TLSFiles: Hashable, Sendable {
  /// The path of the certificate and its intermediate certificates.
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
  /// The maximum age of an event.
  package var age: TimeSpan?
  /// The maximum size of the journal.
  ///
  /// - Units: bytes.
  package var size: Int64?

  /// Makes a retention.
  package init(age: TimeSpan? = nil, size: Int64? = nil) {
    self.age = age
    self.size = size
  }
}

/// The persons, and the purposes and accuracies of the applications.
package struct SiteAccess: Hashable, Sendable {
  /// The purpose of each application, by its identifier; people who are asked see this text.
  package var purposes: [String: String] = [:]
  /// The accuracy of each application that says something of it, by its identifier.
  package var accuracies: [String: AccuracyPolicy] = [:]
  /// The observers that people carry.
  package var personObservers: Set<ObserverID> = []
  /// The beacons that people carry.
  package var personBeacons: Set<BeaconConstraint> = []

  /// Indicates whether any observer or beacon is marked as a person.
  package var hasPersons: Bool { !personObservers.isEmpty || !personBeacons.isEmpty }
}
