import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PharosIngest
package import PharosModel
import PharosSite
import ServiceLifecycle

/// Serves the HTTP interface until its service group shuts down: requests, live streams, the dashboard.
///
/// At a graceful shutdown it accepts no further connections, ends live streams cleanly, lets requests that are under
/// way end within `grace`, closes the connections that are left, and returns.
package final class HTTPService: Service {
  private let configuration: HTTPConfiguration
  private let backend: any HTTPBackend
  private let logger: Logger
  private let listening = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: HostPort.self)

  /// The longest head of a request that is taken.
  ///
  /// - Units: bytes. The longest target that Pharos's own dashboard makes takes 1 KB; 16 KiB is what nginx takes by
  ///   default for all large fields together, halved.
  static let largestHead = 16 << 10
  /// The maximum number of header fields of a request; browsers send about twenty.
  static let maximumFields = 100

  /// The time that accepted requests have at a graceful shutdown, to be sent, answered and read.
  ///
  /// Two seconds: a client that sends or takes nothing in that time must not hold up the shutdown.
  static let grace = TimeAmount.seconds(2)

  /// Makes a service that does nothing yet.
  ///
  /// - Parameters:
  ///   - configuration: the settings.
  ///   - backend: the server that it serves.
  ///   - logger: the logger for problems; a working service is silent.
  package init(_ configuration: HTTPConfiguration, backend: any HTTPBackend, logger: Logger) {
    self.configuration = configuration
    self.backend = backend
    self.logger = logger
  }

  deinit { listening.fail(HTTPServiceError.stopped) }

  /// Returns the address on which it listens, once it does.
  ///
  /// - Throws: the reason why it does not.
  package func address() async throws -> HostPort { try await listening.futureResult.get() }

  /// Serves until the task is cancelled or its service group shuts down gracefully.
  ///
  /// - Throws: the reason why it cannot listen.
  package func run() async throws {
    do {
      try await serve()
      listening.fail(HTTPServiceError.stopped)
    } catch {
      let error = HTTPServiceError(error, listeningAt: configuration.address) ?? error
      listening.fail(error)
      throw error
    }
  }

  private func serve() async throws {
    let host = ListenAddress.boundHost(of: configuration.address.host)
    // Hummingbird logs its address at `info`; the command logs the address itself.
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    let rules = ConnectionGuard.Rules(configuration, tally: backend.tally, logger: logger)
    let application = Application(
      responder: API(backend: backend, configuration: configuration, logger: logger),
      server: try connections(rules),
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: Int(configuration.address.port)),
        serverName: nil,
        backlog: 1_024
      ),
      onServerRunning: { [listening] channel in
        listening.succeed(HostPort(host: host, port: UInt16(clamping: channel.localAddress?.port ?? 0)))
      },
      logger: quiet
    )
    try await withGracefulShutdownHandler {
      try await application.run()
    } onGracefulShutdown: {
      MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: HTTPService.grace) {
        rules.table.closeAll()
      }
    }
  }

  /// Returns the handlers of a connection.
  ///
  /// - Throws: ``HTTPServiceError/badCertificate(_:reason:)``.
  private func connections(_ rules: ConnectionGuard.Rules) throws(HTTPServiceError) -> HTTPServerBuilder {
    let plain = HTTPServerBuilder.http1(
      configuration: HTTP1Channel.Configuration(
        additionalChannelHandlers: [ConnectionGuard(rules)],
        idleTimeout: .seconds(Int64(configuration.idleSeconds)),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: HTTPService.largestHead,
          maxHeaderListSize: HTTPService.largestHead,
          maxHeaderFieldCount: HTTPService.maximumFields
        )
      )
    )
    guard let files = configuration.tls else { return plain }
    let settings = try files.serverSettings()
    do {
      return try .tls(plain, tlsConfiguration: settings)
    } catch {
      throw .badCertificate(files, reason: "\(error)")
    }
  }
}

extension TLSFiles {
  /// Reads the certificate and the key.
  ///
  /// - Throws: ``HTTPServiceError/badCertificate(_:reason:)``.
  fileprivate func serverSettings() throws(HTTPServiceError) -> TLSConfiguration {
    do {
      let chain = try NIOSSLCertificate.fromPEMFile(certificate)
      var settings = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
      )
      settings.minimumTLSVersion = .tlsv12
      return settings
    } catch {
      throw .badCertificate(self, reason: "\(error)")
    }
  }

  /// Tries the certificate and the key as a server that begins to listen does.
  ///
  /// - Throws: ``HTTPServiceError/badCertificate(_:reason:)``.
  package func check() throws(HTTPServiceError) {
    let settings = try serverSettings()
    do {
      _ = try NIOSSLContext(configuration: settings)
    } catch {
      throw .badCertificate(self, reason: "\(error)")
    }
  }

  /// Returns whether a file holds certificates in PEM, as those of trusted authorities.
  package static func holdsCertificates(_ path: String) -> Bool {
    (try? NIOSSLCertificate.fromPEMFile(path))?.isEmpty == false
  }
}

extension HTTPServiceError {
  /// Says in words why an address cannot be listened at; nil for any other error.
  fileprivate init?(_ error: any Error, listeningAt address: HostPort) {
    switch error {
    case let error as IOError:
      let reason =
        switch error.errnoCode {
        case EADDRINUSE: "the address is in use"
        case EADDRNOTAVAIL: "no interface of this machine has the address"
        case EACCES: "the port is for the privileged"
        default: "\(error)"
        }
      self = .cannotListen(address, reason: reason)
    case let error as SocketAddressError: self = .cannotListen(address, reason: "\(error)")
    default: return nil
    }
  }
}
