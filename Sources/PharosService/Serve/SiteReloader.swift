package import Logging
import PharosReports
import PharosSite

/// Reads the site file again while the server runs: a right file takes effect, a wrong one changes nothing.
package actor SiteReloader {
  private let path: String?
  private var current: SiteConfiguration
  private let venues: LoadedVenues
  private let adopt: @Sendable (SiteConfiguration) async throws -> Void
  private let logger: Logger

  /// Makes a reloader.
  ///
  /// - Parameters:
  ///   - path: the site file, or nil if the server was started without one.
  ///   - current: the configuration with which the server started.
  ///   - venues: the contents of the venues' folders at that time.
  ///   - logger: the logger for the changes, or for every mistake of a refused file.
  ///   - adopt: a closure that applies a new configuration, whole or not at all.
  package init(
    path: String?,
    current: SiteConfiguration,
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
  /// - Returns: whether it took effect.
  @discardableResult
  package func reload() async -> Bool {
    guard let path else {
      logger.warning("SIGHUP reads the site file again, and this server was started without one (--site)")
      return false
    }
    var next: SiteConfiguration
    do {
      next = try SiteFile.parse(bytes: try WholeFile.read(path, limit: SiteFile.largest), path: path)
        .resolved(against: path)
    } catch {
      refuse(SiteReloader.mistakes(error))
      return false
    }
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
      logger.warning("\(folder): what has changed in the venue's folder takes effect at the next start only")
    }
    for change in restart { logger.warning("\(path): \(change) takes effect at the next start only") }
    let summary = changes.isEmpty ? "nothing has changed" : changes.joined(separator: "; ")
    logger.notice("\(path) was read again: \(LogPrivacy.hidden(summary))")
    current = next
    return true
  }

  private func refuse(_ mistakes: [String]) {
    for mistake in mistakes { logger.error("\(LogPrivacy.hidden(mistake))") }
    logger.error("the site file was not taken: everything goes on as before")
  }

  private static func mistakes(_ error: any Error) -> [String] {
    guard let error = error as? SiteFileError else {
      return [(error as? CommandFailure)?.message ?? "\(error)"]
    }
    return error.problems.map { $0.text(in: error.path) }
  }
}
