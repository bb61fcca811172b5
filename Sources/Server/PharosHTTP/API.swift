import Foundation
import HTTPTypes
package import Hummingbird
package import Logging
import NIOCore
import PharosDelivery
import PharosDocuments
import PharosFiles
import PharosJournal
import PharosModel
import ServiceLifecycle
import Synchronization

/// The interface without the connections around it: Hummingbird's router with our routes.
///
/// Never throws, since every failure is an answer.
package struct API: HTTPResponder {
  private let router: RouterResponder<APIRequest>

  /// Makes the interface of a server.
  package init(backend: any HTTPBackend, configuration: HTTPConfiguration, logger: Logger) {
    let gate = RequestGuard(
      configuration: configuration,
      verify: { backend.tokens.verify($0, at: backend.clock()) },
      redeem: { backend.tokens.redeem($0, at: backend.uptime, backend.clock()) }
    )
    let uploads = Uploads()
    let scheduler = RequestScheduler(tally: backend.tally)
    let router = Router(context: APIRequest.self)
    router.add(middleware: AnswerMiddleware(gate: gate, tally: backend.tally, logger: logger))
    router.add(middleware: gate)
    for (path, routes) in Dictionary(
      grouping: Endpoints(
        backend: backend,
        cache: backend.states,
        scheme: configuration.scheme,
        validator: configuration.validator
      ).routes,
      by: \.path
    ) {
      let endpoint = PathEndpoint(
        routes: routes,
        gate: gate,
        limit: configuration.largestBody,
        uploads: uploads,
        scheduler: scheduler,
        tally: backend.tally
      )
      router.on(RouterPath(path), method: .get) { request, context in
        try await endpoint.respond(to: request, context)
      }
    }
    self.router = router.buildResponder()
  }

  /// Answers a request.
  package func respond(to request: Request, context: APIRequest) async throws -> Response {
    var context = context
    context.head = request.head
    // Hummingbird answers 404 where a path is known for other methods alone: here a path has one endpoint, which knows
    // its methods. The guard refuses a path that cannot be decoded, whatever it leads to.
    let head = HTTPRequest(
      method: .get,
      scheme: nil,
      authority: nil,
      path: (try? context.routedPath()) ?? "/",
      headerFields: request.headers
    )
    return try await router.respond(to: Request(head: head, body: request.body), context: context)
  }
}

extension API {
  /// Answers a request of this process itself, which has neither a connection nor a token.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - path: the path, with the query.
  ///   - json: the body, or nil if there is none.
  ///   - logger: the logger of the request.
  /// - Returns: the status and the body of the answer.
  /// - Throws: an error if the answer cannot be made.
  package func answer(
    _ method: String,
    _ path: String,
    json: String?,
    logger: Logger
  ) async throws -> (status: Int, body: [UInt8]) {
    guard let method = HTTPRequest.Method(method) else {
      throw Problem.badRequest("There is no such method.")
    }
    let head = HTTPRequest(method: method, scheme: nil, authority: "localhost", path: path)
    let body = RequestBody(buffer: ByteBuffer(string: json ?? ""))
    let response = try await respond(
      to: Request(head: head, body: body),
      context: APIRequest(logger: logger)
    )
    let written = WrittenBody()
    try await response.body.write(written)
    return (response.status.code, written.bytes)
  }
}

/// A body of an answer that is kept.
private final class WrittenBody: ResponseBodyWriter, Sendable {
  private let written = Mutex<[UInt8]>([])

  /// What was written.
  var bytes: [UInt8] { written.withLock { $0 } }

  func write(_ buffer: ByteBuffer) { written.withLock { $0 += Array(buffer: buffer) } }

  func finish(_: HTTPFields?) {}
}

/// The routes of one path.
private struct PathEndpoint: Sendable {
  let routes: [Route]
  let gate: RequestGuard
  /// The longest body that is taken, in bytes.
  let limit: Int
  let uploads: Uploads
  let scheduler: RequestScheduler
  let tally: HTTPTally

  /// The methods of the path, for `Allow`; HEAD does what GET does, and leaves out the body.
  private var methods: [String] {
    let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete]
    return known.filter { route($0) != nil }.map(\.rawValue)
  }

  private func route(_ method: HTTPRequest.Method) -> Route? {
    routes.first { $0.method == (method == .head ? .get : method) }
  }

  func respond(to request: Request, _ context: APIRequest) async throws -> Response {
    guard context.method != .options else {
      let headers = gate.preflightFields(context, methods: methods)
      return Response(status: .noContent, headers: headers)
    }
    guard let route = route(context.method) else {
      throw Problem.methodNotAllowed(context.method.rawValue.shortened, allowed: methods)
    }
    do {
      return try await respond(to: request, context, by: route)
    } catch let problem as Problem where problem.isOfQuery {
      throw route.queryErrorCode.map(problem.coded) ?? problem
    }
  }

  private func respond(to request: Request, _ context: APIRequest, by route: Route) async throws -> Response {
    var context = context
    var isProven = true
    if route.access != .anyone {
      let principal = try gate.principal(of: context, by: route)
      isProven = principal != nil
      context.principal = principal ?? .local
      if isProven { try check(context, may: route) }
    }
    context.query = try QueryReading(target: context.head.path ?? "/", known: route.query)
    let answer: APIAnswer
    switch route.body {
    case .none: answer = try await handle(context, by: route)
    case .json(let schema, _):
      try checkType(context)
      context.body = document(try await body(of: request), schema, by: route)
      answer = try await handle(context, by: route)
    case .datagram:
      context.body = try await body(of: request)
      if !isProven { context.principal = try gate.principal(inBody: context.body) }
      answer = try await handle(context, by: route)
    case .capture:
      answer = try await uploads.receive(request.body) { [context] path in
        var context = context
        context.upload = path
        return try await handle(context, by: route)
      }
    }
    return answer.response(to: request, context)
  }

  /// Has a route handle a request in its turn; one that only reads is dropped if its client leaves before, and long work ends.
  private func handle(_ request: APIRequest, by route: Route) async throws -> APIAnswer {
    let handle: @Sendable () async throws -> APIAnswer = {
      let answer = route.operation.generalising(try await route.handler(request), for: request)
      return route.isConditional ? answer.conditional(for: request) : answer
    }
    guard !route.isImmediate else { return try await handle() }
    // A change waits until it is committed, which a full disk may hold up: reads find a place meanwhile.
    let isRead = route.method == .get
    let work = RequestScheduler.Work(client: request.client, isLong: route.isLong || !isRead)
    guard isRead || route.isLong, let channel = request.channel else {
      return try await scheduler.run(work, handle)
    }
    guard route.isLong else {
      return try await scheduler.run(work, watching: { ConnectionGuard.onClientGone(channel, $0) }, handle)
    }
    let (gone, source) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    ConnectionGuard.onClientGone(channel) { source.finish() }
    return try await withThrowingTaskGroup(of: APIAnswer?.self) { tasks in
      tasks.addTask {
        for await _ in gone {}
        return nil
      }
      tasks.addTask { try await scheduler.run(work, handle) }
      defer { tasks.cancelAll() }
      guard let answer = try await tasks.next() ?? nil else { throw Problem.clientLeft }
      return answer
    }
  }

  /// Throws unless the client may use a route.
  private func check(_ request: APIRequest, may route: Route) throws(Problem) {
    switch (request.principal, route.access) {
    case (.local, _), (.operator, _), (_, .anyone), (.gateway, .posting), (.application, .anyToken): return
    case (.gateway, _):
      throw .forbidden("This token is a gateway's: it may post adverts to /v1/adverts, and nothing else.")
    case (.application(_, let own), .application):
      guard !request.principal.mayUse(application: request.parameter("app")) else { return }
      throw .forbidden("This token is bound to application \"\(own)\" and sees no other.")
    case (.application(_, let own), .operation), (.application(_, let own), .posting):
      throw .forbidden("Only the operator may do this; this token is bound to application \"\(own)\".")
    }
  }

  /// Returns the document in a body: an empty body is one without members, and what GET answers PUT takes.
  private func document(_ body: [UInt8], _ schema: Schema, by route: Route) -> [UInt8] {
    guard !body.allSatisfy(JSONReader.isSpace) else { return Array("{}".utf8) }
    guard route.method == .put, let read = self.route(.get)?.operation else { return body }
    let described = DescribedMembers(
      answered: read.answers.first?.content.first?.schema,
      accepted: schema,
      statement: route.operation.statement
    )
    return described.removed(from: body)
  }

  private func checkType(_ request: APIRequest) throws(Problem) {
    guard let field = request[.contentType] else { return }
    let type = field.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    guard type != "application/json", !type.hasSuffix("+json") else { return }
    throw Problem.unsupportedType(
      "The request has Content-Type \(type.shortened); send JSON with Content-Type: application/json."
    )
  }

  /// Returns the body as it was before it was packed: gateways pack theirs with gzip, some without saying so.
  ///
  /// - Throws: a problem for a body that is too long, packed or not, or packed in another way.
  private func body(of request: Request) async throws -> [UInt8] {
    let codings = (request.headers[.contentEncoding] ?? "").lowercased().split(separator: ",")
      .map { $0.filter { $0 != " " && $0 != "\t" } }
    guard codings.allSatisfy({ ["gzip", "x-gzip", "identity", ""].contains($0) }) else {
      throw Problem.unknownCoding(request.headers[.contentEncoding] ?? "")
    }
    let body = try await sentBody(of: request)
    guard body.starts(with: Gzip.signature) else {
      guard body.isEmpty || !codings.contains(where: { $0.hasSuffix("gzip") }) else {
        throw Problem.damagedGzip
      }
      return body
    }
    guard let unpacked = Gzip.unpacked(body, limit: limit) else { throw Problem.damagedGzip }
    guard unpacked.count <= limit else { throw tooLarge() }
    return unpacked
  }

  private func tooLarge() -> Problem {
    tally.reached(.bodySize, "\(limit) B")
    return Problem.tooLarge(limit: limit)
  }

  private func sentBody(of request: Request) async throws -> [UInt8] {
    do {
      let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
      guard length <= limit else { throw NIOTooManyBytesError(maxBytes: limit) }
      return Array(buffer: try await request.body.collect(upTo: limit))
    } catch is NIOTooManyBytesError {
      throw tooLarge()
    } catch {
      // The client or the server closed the connection within the body: no client reads the answer, and it is not a
      // failure of the server.
      throw Problem.badRequest("The connection ended before the body did.")
    }
  }
}

/// Makes an answer of every failure, counts the answers, and adds the fields that all of them have.
private struct AnswerMiddleware: RouterMiddleware {
  let gate: RequestGuard
  let tally: HTTPTally
  let logger: Logger

  func handle(
    _ request: Request,
    context: APIRequest,
    next: @concurrent (Request, APIRequest) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      response = try await next(request, context)
    } catch {
      response = problem(error, context).answer.response(to: request, context)
    }
    response.headers.append(contentsOf: gate.crossOriginFields(context))
    for (name, value) in AnswerMiddleware.securityFields where response.headers[named: name] == nil {
      response.headers[named: name] = value
    }
    tally.answered(response.status.code)
    return context.method == .head ? response.createHeadResponse() : response
  }

  private func problem(_ error: any Error, _ request: APIRequest) -> Problem {
    if let problem = Problem(error) { return problem }
    if let error = error as? HTTPError, error.status == .notFound {
      return .notFound("There is nothing at \(request.path). /openapi.json lists what there is.")
    }
    logger.error(
      "A request failed with an unexpected error.",
      metadata: [
        LogKey.method: "\(request.method.rawValue)",
        LogKey.path: "\(AnswerMiddleware.place(request.path))",
        LogKey.reason: "\(error)",
      ]
    )
    return .unexpected
  }

  /// The part of a path that names no subject: its first two words.
  private static func place(_ path: Substring) -> String {
    let words = path.split(separator: "/")
    let place = words.prefix(2).map { "/" + String($0).shortened }.joined()
    return words.count > 2 ? place + "/…" : place
  }

  /// The header fields that tell browsers to trust the declared type, and to neither frame nor run any answer.
  ///
  /// The dashboard's files come with a policy of their own, which lets them use each other.
  private static let securityFields: [(name: String, value: String)] = [
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-cache"),
  ]
}

extension APIAnswer {
  /// Turns the answer into Hummingbird's response.
  fileprivate func response(to request: Request, _ context: APIRequest) -> Response {
    switch body {
    case .bytes(let bytes) where bytes.count > StreamWriter.largestChunk:
      // In parts, as the client takes them: a document that many clients are sent is in memory once.
      let content = ResponseBody(contentLength: bytes.count) { writer in
        let writer = StreamWriter(writer)
        try await writer.write(bytes)
        try await writer.finish()
      }
      return Response(status: status, headers: headers, body: content)
    case .bytes(let bytes):
      let content = bytes.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
      return Response(status: status, headers: headers, body: content)
    case .stream(let produce):
      let content = ResponseBody { writer in
        let writer = StreamWriter(writer)
        await APIAnswer.stream(request.body) { try await produce(writer.write) }
        try await writer.finish()
      }
      return Response(status: status, headers: headers, body: content)
    case .file(let path, let part):
      return Response(status: status, headers: headers, body: APIAnswer.body(of: path, part))
    }
  }

  /// Makes a body of a part of a file; the file stays readable even if it is removed meanwhile.
  private static func body(of path: String, _ part: Range<Int>) -> ResponseBody {
    guard let handle = try? FileHandle(forReadingFrom: URL(filePath: path)) else { return ResponseBody() }
    return ResponseBody(contentLength: part.count) { writer in
      defer { try? handle.close() }
      var offset = part.lowerBound
      while offset < part.upperBound {
        let (start, count) = (offset, min(largestChunk, part.upperBound - offset))
        let bytes = try await BackgroundExecutor.requests.run {
          try handle.seek(toOffset: UInt64(start))
          return Array(try handle.read(upToCount: count) ?? Data())
        }
        guard !bytes.isEmpty else { break }
        try await writer.write(ByteBuffer(bytes: bytes))
        offset += bytes.count
      }
      try await writer.finish(nil)
    }
  }

  /// The bytes of a file that are in memory at a time.
  private static let largestChunk = 256 << 10

  /// Runs a stream until it ends, its client goes away or the service shuts down.
  private static func stream(
    _ body: RequestBody,
    _ produce: @escaping @Sendable () async throws -> Void
  ) async {
    // Whatever ends it, the client or we, is no failure of the request: its status was sent long ago.
    try? await body.consumeWithCancellationOnInboundClose { _ in
      try await cancelWhenGracefulShutdown { try await produce() }
    }
  }
}

/// Writes a stream's parts; Hummingbird's writer is not made to be captured by closures that may be sent.
private final class StreamWriter: @unchecked Sendable {
  // Used by one task at a time: the stream's, and after its end the one that finishes the response.
  private var writer: any ResponseBodyWriter

  init(_ writer: any ResponseBodyWriter) { self.writer = writer }

  /// The bytes that wait in the connection for a client that does not read, besides those of the system.
  static let largestChunk = 64 << 10

  func write(_ bytes: [UInt8]) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      try await writer.write(ByteBuffer(bytes: rest.prefix(StreamWriter.largestChunk)))
      rest = rest.dropFirst(StreamWriter.largestChunk)
    }
  }

  func finish() async throws { try await writer.finish(nil) }
}
