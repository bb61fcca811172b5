package import Logging
import Pharos
package import PharosIngest
package import PharosModel
package import PharosService
import PharosSite

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
          "\(path) is there already, and is left as it is. Name another folder, or move it away."
        )
      }
      // Before listening, so that what is heard is not lost because the folder cannot be made.
      if !folder.isEmpty { try FileOutput.makeFolder(folder) }
      let heard = try await self.heard(console: console, logger: logger)
      try FileOutput.write((StarterSite.text + StarterSite.appendix(heard)).utf8, to: path)
      try console.print("Wrote \(path). Read it, change it, then: pharos check \(path)")
      return .success
    }
  }

  private func heard(console: Console, logger: Logger) async throws -> Heard? {
    guard let listening else { return nil }
    let server = PharosServer(
      site: Site(),
      configuration: IngestConfiguration(
        listeners: (udp.isEmpty ? SiteConfiguration.defaultListen : udp).map(ListenAddress.init)
      ),
      logger: logger
    )
    return try await Listening.run(server, for: nil, console: console) { server in
      let addresses = try await server.addresses().map { "\($0)" }.joined(separator: ", ")
      console.say("Listening on udp \(addresses) for \(listening.written) …")
      try? await Task.sleep(for: .nanoseconds(listening.nanoseconds))
      return try await server.snapshot().heard
    }
  }
}

/// The observers and beacons that were heard, in the shape of a site file.
extension StarterSite {
  /// The most observers and beacons that are listed: who hears more picks his own.
  private static let mostListed = 50

  /// Returns the observers and beacons that were heard, as comments in the shape of the file, ready to be uncommented.
  package static func appendix(_ heard: Heard?) -> String {
    guard let heard else { return "" }
    guard !heard.observers.isEmpty else {
      return "\n# Nothing was heard when this file was written.\n"
    }
    var lines = [
      "", "# Heard when this file was written; move what you want up and uncomment it:", "# observers:",
    ]
    for observer in heard.observers.prefix(mostListed) {
      lines.append("#   - { id: \(quoted(observer.id.description)) }    # \(observer.format)")
    }
    lines.append("# beacons:")
    var seen: Set<BeaconID> = []
    for beacon in heard.beacons {
      guard let identity = beacon.identities.first, seen.count < mostListed else { continue }
      guard seen.insert(identity).inserted else { continue }
      lines.append("#   - { \(keys(of: identity)) }")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func keys(of beacon: BeaconID) -> String {
    if let uuid = beacon.uuid, let major = beacon.major, let minor = beacon.minor {
      return "uuid: \(uuid), major: \(major), minor: \(minor)"
    }
    if let namespace = beacon.namespace, let instance = beacon.instance {
      return "namespace: \"\(namespace)\", instance: \"\(Hex.text(instance, bytes: 6))\""
    }
    return "mac: \(quoted(beacon.address?.description ?? ""))"
  }

  /// A text from the radio in the quotes of YAML; what could end them is left out.
  private static func quoted(_ text: String) -> String {
    let safe = PlainText.clean(text).filter { $0 != "\"" && $0 != "\\" }
    return "\"\(safe)\""
  }
}
