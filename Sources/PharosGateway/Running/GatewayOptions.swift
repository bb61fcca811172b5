package import PharosReports
package import PharosSigning

/// What a gateway is run with.
package struct GatewayOptions: Sendable {
  /// The capture, or `-` for standard input.
  package var input: String
  /// Where to send.
  package var destination: HostPort
  /// Who heard the adverts.
  package var observer: ObserverID
  /// What signs the datagrams, or nil for none.
  package var key: ObserverKey?
  /// When packets count as heard.
  package var pace: GatewayPace
  /// The number of this start; see ``BootID``.
  package var bootID: UInt32
  /// The times and sizes it goes by.
  package var limits = GatewayLimits()

  /// Makes options.
  package init(
    input: String,
    destination: HostPort,
    observer: ObserverID,
    key: ObserverKey? = nil,
    pace: GatewayPace,
    bootID: UInt32
  ) {
    self.input = input
    self.destination = destination
    self.observer = observer
    self.key = key
    self.pace = pace
    self.bootID = bootID
  }
}

extension ObserverID {
  /// Returns the default observer of an input that names none: the file's name without folder and extensions, or the
  /// host's name for standard input.
  package static func ofInput(_ path: String, hostName: String?) -> ObserverID? {
    guard path != "-" else { return hostName.flatMap { ObserverID($0) } }
    let file = path.split(separator: "/").last.map(String.init) ?? path
    return file.split(separator: ".", maxSplits: 1).first.flatMap { ObserverID($0) }
  }
}
