package import Logging
import Pharos
import PharosIngest
package import PharosModel
import PharosService
import PharosSite
package import PharosTerminal

/// `pharos init`: writes a site file to start from, if asked to with what is heard.
package struct InitRunner: Sendable {
  private let folder: String
  private let listening: TimeSpan?
  private let udp: [HostPort]

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - folder: the folder for `site.yaml`; made if it is not there.
  ///   - listening: the time to listen first; nil not to listen.
  ///   - udp: the addresses to listen at; empty for the default.
  package init(folder: String, listening: TimeSpan? = nil, udp: [HostPort] = []) {
    self.folder = folder
    self.listening = listening
    self.udp = udp
  }

  /// Writes the file.
  ///
  /// - Returns: 0; 1 if there is one already or it cannot be written.
  package func run(on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      let path = folder.hasSuffix("/") ? "\(folder)site.yaml" : "\(folder)/site.yaml"
      guard !FileOutput.exists(path) else {
        throw CommandFailure(
          "\(path) exists already and is not changed. Name another folder, or move it away."
        )
      }
      // Before listening, so that what is heard is not lost because the folder cannot be made.
      if !folder.isEmpty { try FileOutput.makeFolder(folder) }
      let heard = try await self.heard(console: console, logger: logger).map(HeardSite.init)
      let text = StarterSite.file(udp: addresses, site: try heard?.yaml)
      try FileOutput.write(text.utf8, to: path)
      for finding in heard?.findings ?? [] { try console.print(finding) }
      try console.print("Wrote \(path). Read it, change it, then: pharos check \(path)")
      return .success
    }
  }

  private var addresses: [HostPort] { udp.isEmpty ? SiteConfiguration.defaultListen : udp }

  private func heard(console: Console, logger: Logger) async throws -> Heard? {
    guard let listening else { return nil }
    var ingest = IngestConfiguration(listeners: addresses.map(ListenAddress.init))
    // The names that beacons give themselves are worth having; of devices that are no beacons nothing is kept.
    ingest.showsUnregistered = true
    let server = PharosServer(site: Site(), configuration: ingest, logger: logger)
    return try await Listening.run(server, for: nil, console: console) { server in
      let addresses = try await server.addresses().map { "\($0)" }.joined(separator: ", ")
      console.say("Listening on udp \(addresses) for \(listening.written) …")
      try? await Task.sleep(for: .nanoseconds(listening.nanoseconds))
      return try await server.snapshot().heard
    }
  }
}
