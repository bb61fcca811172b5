import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import PharosModel
import PharosSite
import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The server around the interface: hummingbird's connections, our answers.
struct HTTPServer: Sendable {
  private let configuration: HTTPConfiguration
  private let api: API
  private let tally: HTTPTally
  private let listening: Listening
  private let logger: Logger
  private let builder: HTTPServerBuilder

  /// The longest head of a request that is taken.
  ///
  /// - Units: bytes. The longest target that Pharos's own dashboard makes takes 1 KB; 16 KiB is what nginx takes by
  ///   default for all large fields together, halved.
  static let largestHead = 16 << 10
  /// The maximum number of header fields of a request; browsers send about twenty.
  static let mostFields = 100

  /// Prepares a server.
  ///
  /// - Throws: ``HTTPServiceError/badCertificate(_:reason:)``.
  init(
    configuration: HTTPConfiguration,
    api: API,
    tally: HTTPTally,
    listening: Listening,
    logger: Logger
  ) throws(HTTPServiceError) {
    self.configuration = configuration
    self.api = api
    self.tally = tally
    self.listening = listening
    self.logger = logger
    let rules = ConnectionGuard.Rules(configuration, tally: tally, logger: logger)
    let plain = HTTPServerBuilder.http1(
      configuration: HTTP1Channel.Configuration(
        additionalChannelHandlers: [ConnectionGuard(rules)],
        idleTimeout: .seconds(Int64(configuration.idleSeconds)),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: HTTPServer.largestHead,
          maxHeaderListSize: HTTPServer.largestHead,
          maxHeaderFieldCount: HTTPServer.mostFields
        )
      )
    )
    guard let files = configuration.tls else {
      builder = plain
      return
    }
    do {
      builder = try .tls(plain, tlsConfiguration: try HTTPServer.tls(files))
    } catch {
      throw .badCertificate(files, reason: "\(error)")
    }
  }

  /// Serves until the task is cancelled or its service group shuts down gracefully.
  ///
  /// - Throws: ``HTTPServiceError/cannotListen(_:reason:)``.
  func run() async throws {
    let host = configuration.address.host
    let application = Application(
      responder: CallbackResponder<ConnectionContext> { request, context in
        await respond(to: request, on: context.channel)
      },
      server: builder,
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: Int(configuration.address.port)),
        serverName: nil,
        backlog: 1_024
      ),
      onServerRunning: { [listening] channel in
        let port = UInt16(clamping: channel.localAddress?.port ?? 0)
        listening.begin(at: HostPort(host: host, port: port))
      },
      logger: quiet
    )
    do {
      try await application.run()
    } catch let error as IOError {
      throw HTTPServiceError.cannotListen(configuration.address, reason: HTTPServer.reason(error))
    } catch let error as SocketAddressError {
      throw HTTPServiceError.cannotListen(configuration.address, reason: "\(error)")
    }
  }

  private static func reason(_ error: IOError) -> String {
    switch error.errnoCode {
    case EADDRINUSE: "the address is in use"
    case EADDRNOTAVAIL: "no interface of this machine has the address"
    case EACCES: "the port is for the privileged"
    default: "\(error)"
    }
  }

  /// The logger for hummingbird, which logs its address at `info`; the command logs the address itself.
  private var quiet: Logger {
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    return quiet
  }

  private static func tls(_ files: TLSFiles) throws -> TLSConfiguration {
    let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
    let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) },
      privateKey: .privateKey(key)
    )
    configuration.minimumTLSVersion = .tlsv12
    return configuration
  }

  private func respond(to request: Request, on channel: any Channel) async -> Response {
    let head = request.head
    let method = APIRequest.Method(rawValue: head.method.rawValue)
    let plain = APIRequest(
      method: method ?? .get,
      target: head.path ?? "/",
      headers: HTTPServer.fields(of: head),
      peer: channel.remoteAddress
    )
    let limit = configuration.largestBody
    let answer = await api.answer(plain, method: head.method.rawValue) {
      do {
        return try await HTTPServer.body(of: request, limit: limit)
      } catch let problem as Problem {
        tally.reached(.bodySize, "\(limit) B")
        throw problem
      } catch {
        // The client or the server closed the connection within the body: no client reads the answer, and it is not a
        // failure of the server.
        throw Problem.badRequest("The connection ended before the body did.")
      }
    }
    tally.answered(answer.status)
    return response(answer, to: request, isHead: method == .head, on: channel)
  }

  private static func fields(of head: HTTPRequest) -> [String: String] {
    var fields: [String: String] = [:]
    for field in head.headerFields {
      fields[field.name.canonicalName, default: ""] +=
        fields[field.name.canonicalName] == nil ? "" : ", "
      fields[field.name.canonicalName, default: ""] += field.value
    }
    if let authority = head.authority, fields["host"] == nil { fields["host"] = authority }
    return fields
  }

  private static func body(of request: Request, limit: Int) async throws -> [UInt8] {
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
      throw Problem.tooLarge(limit: limit)
    }
    var body: [UInt8] = []
    for try await part in request.body {
      guard body.count + part.readableBytes <= limit else { throw Problem.tooLarge(limit: limit) }
      body.append(contentsOf: part.readableBytesView)
    }
    return body
  }
}

/// The connection that a request came by.
private struct ConnectionContext: InitializableFromSource {
  let channel: any Channel

  init(source: ApplicationRequestContextSource) { channel = source.channel }
}

extension HTTPServer {
  /// The time that a stream has at a shutdown to send pending data and its end, before its connection is closed.
  ///
  /// Two seconds: a reader that takes nothing in that time takes nothing at all, and must not hold up the shutdown.
  private static let pendingExit = TimeAmount.seconds(2)

  /// Turns an answer into hummingbird's response.
  func response(
    _ answer: APIAnswer,
    to request: Request,
    isHead: Bool,
    on channel: any Channel
  ) -> Response {
    var fields = HTTPFields()
    for (name, value) in answer.headers {
      guard let name = HTTPField.Name(name) else { continue }
      fields.append(HTTPField(name: name, value: value))
    }
    let status = HTTPResponse.Status(code: answer.status)
    switch answer.body {
    case .none:
      return Response(status: status, headers: fields)
    case .bytes(let bytes):
      guard !isHead else {
        fields[.contentLength] = String(bytes.count)
        return Response(status: status, headers: fields)
      }
      return Response(
        status: status,
        headers: fields,
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
      )
    case .stream(let produce):
      guard !isHead else { return Response(status: status, headers: fields) }
      let body = ResponseBody { writer in
        let writer = StreamWriter(writer)
        await HTTPServer.stream(request.body, on: channel) {
          try await produce { bytes in try await writer.write(bytes) }
        }
        try await writer.finish()
      }
      return Response(status: status, headers: fields, body: body)
    }
  }

  /// Runs a stream until it ends, its client goes away or the service shuts down.
  private static func stream(
    _ body: RequestBody,
    on channel: any Channel,
    _ produce: @escaping @Sendable () async throws -> Void
  ) async {
    // Whatever ends it, the client or we, is no failure of the request: its status was sent long ago.
    try? await body.consumeWithCancellationOnInboundClose { _ in
      try await withGracefulShutdownHandler {
        try await cancelWhenGracefulShutdown { try await produce() }
      } onGracefulShutdown: {
        channel.eventLoop.scheduleTask(in: pendingExit) { channel.close(promise: nil) }
      }
    }
  }
}

/// Writes a stream's parts; hummingbird's writer is not made to be captured by closures that may be sent.
private final class StreamWriter: @unchecked Sendable {
  // Used by one task at a time: the stream's, and after its end the one that finishes the response.
  private var writer: any ResponseBodyWriter

  init(_ writer: any ResponseBodyWriter) { self.writer = writer }

  func write(_ bytes: [UInt8]) async throws { try await writer.write(ByteBuffer(bytes: bytes)) }

  func finish() async throws { try await writer.finish(nil) }
}
