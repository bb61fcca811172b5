public import Logging
import PharosHTTP
import PharosJournal
public import PharosReports

/// `pharos observer accept`: lets an observer out of quarantine, now and after every restart.
public struct ObserverRunner: Sendable {
  private let access: ServerAccess

  /// Makes a runner for a server.
  public init(_ access: ServerAccess) { self.access = access }

  /// Accepts an observer.
  ///
  /// - Parameters:
  ///   - observer: which.
  ///   - console: where the outcome is said.
  ///   - logger: is told of registrations that cannot be read.
  /// - Returns: 0, or 1 if it could not be accepted.
  public func accept(_ observer: ObserverID, on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      switch access {
      case .folder(let folder, let stream):
        let registrar = try Registrar(
          declared: Site(),
          store: DataFolder.open(folder, stream: stream),
          logger: logger
        )
        try await registrar.accept(observer)
      case .http(let url, let token):
        let path = "/v1/observers/\(ServerClient.encoded(observer.description))/accept"
        _ = try await ServerClient(url: url, token: token).ask("POST", path)
      }
      try console.print("Observer \(observer) is accepted: what it reports counts from now on.")
      return .success
    }
  }
}
