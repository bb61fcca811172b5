package import Logging
import PharosDocuments
import PharosModel
package import PharosSite
import PharosTerminal
import ServiceLifecycle
import UnixSignals

/// Reads the site file again while the server runs: a right file takes effect, a wrong one changes nothing.
package struct SiteReloader: Sendable {
  private let path: String?
  private let current: @Sendable () -> SiteConfiguration
  private let venues: LoadedVenues
  private let adopt: @Sendable (SiteConfiguration) async throws -> Void
  private let logger: Logger

  /// Makes a reloader.
  ///
  /// - Parameters:
  ///   - path: the site file, or nil if the server was started without one.
  ///   - current: returns the configuration of the file as it was read last.
  ///   - venues: the contents of the venues' folders at that time.
  ///   - logger: the logger for the changes, or for every mistake of a refused file.
  ///   - adopt: a closure that applies a new configuration, whole or not at all.
  package init(
    path: String?,
    current: @escaping @Sendable () -> SiteConfiguration,
    venues: LoadedVenues = .none,
    logger: Logger,
    adopt: @escaping @Sendable (SiteConfiguration) async throws -> Void
  ) {
    self.path = path
    self.current = current
    self.venues = venues
    self.adopt = adopt
    self.logger = logger
  }

  /// Reads the file and carries it out.
  ///
  /// - Returns: true if the file took effect.
  @discardableResult
  package func reload() async -> Bool {
    guard let path else {
      logger.warning("SIGHUP reloads the site file, and this server was started without one (--site).")
      return false
    }
    var next: SiteConfiguration
    do {
      let bytes = try WholeFile.read(path, limit: SiteFile.largest)
      next = try SiteFile.parse(bytes: bytes, path: path, files: SiteLoader.files(beside: path))
        .resolved(against: path)
    } catch {
      refuse(SiteReloader.mistakes(error))
      return false
    }
    let current = current()
    let restart = SiteDifference.needingRestart(from: current, to: next)
    // The name of the stream is part of every event's id, so a new name takes effect at the next start only.
    next.site.stream = current.site.stream
    let changes = SiteDifference.lines(from: current, to: next)
    do {
      try await adopt(next)
    } catch {
      refuse(["\(error)"])
      return false
    }
    for warning in next.warnings { logger.warning("\(LogPrivacy.hidden(warning.text(in: path)))") }
    for folder in venues.changedFolders() where next.venues.contains(folder) {
      logger.warning("\(folder): changes of the venue's folder take effect at the next start only.")
    }
    for change in restart { logger.warning("\(path): \(change) takes effect at the next start only.") }
    let summary = changes.isEmpty ? "nothing has changed" : changes.joined(separator: "; ")
    logger.notice("\(path) was reloaded: \(LogPrivacy.hidden(summary))")
    return true
  }

  private func refuse(_ mistakes: [String]) {
    for mistake in mistakes { logger.error("\(LogPrivacy.hidden(mistake))") }
    logger.error("The site file was not reloaded. The previous one stays in effect.")
  }

  private static func mistakes(_ error: any Error) -> [String] {
    guard let error = error as? DocumentError else {
      return [(error as? CommandFailure)?.message ?? "\(error)"]
    }
    return error.problems.map { $0.text(in: error.path) }
  }
}

/// Reads the site file again at every SIGHUP.
struct ReloadService: Service {
  let reloader: SiteReloader
  let notifier: SystemdNotifier?

  func run() async throws {
    let signals = await UnixSignalsSequence(trapping: .sighup)
    for await _ in signals.cancelOnGracefulShutdown() {
      notifier?.notify(.reloading)
      let isAccepted = await reloader.reload()
      // systemd waits for this word even where the file was refused: the service serves as before.
      notifier?.notify(.ready, .status(isAccepted ? "serving" : "serving; the edited site file was refused"))
    }
  }
}

/// The changes in an edited site file, in words for the log.
enum SiteDifference {
  /// The maximum number of names that are listed of each sort; the rest is counted.
  private static let maximumNames = 5

  /// Returns the changes that take effect at once, one phrase for each sort.
  static func lines(from old: SiteConfiguration, to new: SiteConfiguration) -> [String] {
    var lines: [String] = []
    func compare<Value: Equatable>(_ what: String, _ entries: (Site) -> [(name: String, value: Value)]) {
      let (before, after) = (entries(old.site), entries(new.site))
      let known = Dictionary(before, uniquingKeysWith: { first, _ in first })
      let kept = Set(after.map(\.name))
      for (names, verb) in [
        (after.filter { known[$0.name] == nil }.map(\.name), "added"),
        (after.filter { known[$0.name] != nil && known[$0.name] != $0.value }.map(\.name), "changed"),
        (before.map(\.name).filter { !kept.contains($0) }, "removed"),
      ] where !names.isEmpty {
        lines.append("\(what) \(verb): \(listed(names))")
      }
    }
    compare("applications", applications)
    compare("regions", regions)
    compare("ranging", ranging)
    compare("observers") { $0.observers.map { ($0.id.description, $0) } }
    compare("beacons") { $0.beacons.map { ($0.constraint.description, $0) } }
    compare("zones") { $0.zones.map { ($0.identifier, $0) } }
    for (what, isChanged) in [
      ("ingest.policy", old.policy != new.policy),
      ("iBeaconCompanies", old.site.iBeaconCompanies != new.site.iBeaconCompanies),
      ("pathLossExponent", old.site.pathLossExponent != new.site.pathLossExponent),
      ("listen.allowedOrigins", old.allowedOrigins != new.allowedOrigins),
      ("positioning", old.site.positioning != new.site.positioning),
      ("who is a person, a purpose or an accuracy", old.access != new.access),
    ] where isChanged {
      lines.append("\(what) changed")
    }
    return lines
  }

  /// Returns the settings whose changes need a restart.
  static func needingRestart(from old: SiteConfiguration, to new: SiteConfiguration) -> [String] {
    [
      ("stream", old.site.stream != new.site.stream), ("listen.udp", old.listen != new.listen),
      ("who must sign", mustSign(old).contains { address, must in mustSign(new)[address] == !must }),
      ("listen.mqtt", old.mqttInput != new.mqttInput), ("publish.mqtt", old.mqttOutput != new.mqttOutput),
      ("publish.mail", old.mail != new.mail),
      ("listen.http", old.http != new.http), ("listen.meraki", old.meraki != new.meraki),
      ("listen.allowedHosts", old.allowedHosts != new.allowedHosts), ("tls", old.tls != new.tls),
      ("data", old.data != new.data), ("venues", old.venues != new.venues || old.visitors != new.visitors),
      ("journal.retention", old.retention != new.retention),
    ]
    .compactMap { $1 ? $0 : nil }
  }

  /// Returns whether each listener requires signatures; one that is added or removed changes `listen.udp`.
  private static func mustSign(_ configuration: SiteConfiguration) -> [HostPort: Bool] {
    let policies = configuration.listen.map { ($0, configuration.policy(of: $0) == .signed) }
    return Dictionary(policies, uniquingKeysWith: { $0 || $1 })
  }

  /// The applications by themselves: their regions and ranging are compared one by one.
  private static func applications(_ site: Site) -> [(name: String, value: Application)] {
    site.applications.map { application in
      var bare = application
      bare.regions = []
      bare.ranging = []
      return (application.identifier, bare)
    }
  }

  private static func regions(_ site: Site) -> [(name: String, value: Region)] {
    site.applications.flatMap { application in
      application.regions.map { ("\(application.identifier)/\($0.identifier)", $0) }
    }
  }

  private static func ranging(_ site: Site) -> [(name: String, value: RangingRequest)] {
    site.applications.flatMap { application in
      application.ranging.map { ("\(application.identifier)/\($0.constraint)", $0) }
    }
  }

  private static func listed(_ names: [String]) -> String {
    let shown = names.prefix(maximumNames).joined(separator: ", ")
    return names.count > maximumNames ? "\(shown) and \(names.count - maximumNames) more" : shown
  }
}
