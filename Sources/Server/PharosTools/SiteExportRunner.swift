package import Logging
import PharosHTTP
import PharosJournal
import PharosModel
import PharosSite
package import PharosTerminal

/// `pharos site export`: the site as it is now, with all that was registered over HTTP, as one site file.
package struct SiteExportRunner: Sendable {
  private let site: String?
  private let access: ServerAccess

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - site: the site file of a server that is stopped; nil if it has none. One that runs knows its own.
  ///   - access: the server.
  package init(site: String?, _ access: ServerAccess) {
    self.site = site
    self.access = access
  }

  /// Prints the site file.
  ///
  /// - Parameters:
  ///   - console: the console; its output gets the YAML and nothing else.
  ///   - logger: the logger for registrations that cannot be read.
  /// - Returns: 0, or 1 if no site file can declare the present site.
  package func run(on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      switch access {
      case .folder(let folder, let stream):
        // Paths stay as they are written, since the export is to stand in the place of the file.
        let bytes = try site.map { path throws(CommandFailure) in
          try WholeFile.read(path, limit: SiteFile.largest)
        }
        let configuration = try SiteFile.parse(
          bytes: bytes ?? [],
          path: site ?? "site.yaml",
          files: site.map(SiteLoader.files)
        )
        let store = try DataFolder.open(folder, stream: stream)
        let owner = try SiteOwner(declared: configuration.site, store: store, logger: logger)
        try console.output.write(Array(try SiteFile.text(of: owner.merged(into: configuration)).utf8))
      case .http(let url, let token):
        try console.output.write(try await ServerClient(url: url, token: token).ask("GET", "/v1/site"))
      }
      return .success
    }
  }
}
