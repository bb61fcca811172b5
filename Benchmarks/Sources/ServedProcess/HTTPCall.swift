import NIOCore
import NIOHTTP1
package import NIOPosix

/// One request of its own connection, and its answer.
package struct HTTPCall: Sendable {
  /// What came back.
  package struct Answer: Sendable {
    /// The status code.
    package var status: Int
    /// The body.
    package var body: String
  }

  private let group: MultiThreadedEventLoopGroup
  private let port: UInt16
  private let token: String?

  /// How long an answer may take before the server counts as unable to answer.
  private static let patience = TimeAmount.seconds(20)

  /// Prepares calls of a server at 127.0.0.1.
  package init(port: UInt16, token: String? = nil, group: MultiThreadedEventLoopGroup) {
    self.port = port
    self.token = token
    self.group = group
  }

  /// Asks for a path; throws if there is no whole answer in time.
  package func get(_ path: String) async throws -> Answer { try await send(.GET, path, body: nil) }

  /// Sends a JSON body.
  package func post(_ path: String, json: String) async throws -> Answer {
    try await send(.POST, path, body: json)
  }

  private func send(_ method: HTTPMethod, _ path: String, body: String?) async throws -> Answer {
    let answer = group.next().makePromise(of: Answer.self)
    let (port, token) = (port, token)
    let channel: any Channel
    do {
      channel = try await ClientBootstrap(group: group)
        .connectTimeout(HTTPCall.patience)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            try channel.pipeline.syncOperations.addHandler(AnswerCollector(answer))
          }
        }
        .connect(host: "127.0.0.1", port: Int(port)).get()
    } catch {
      answer.fail(error)
      throw error
    }
    let timer = channel.eventLoop.scheduleTask(in: HTTPCall.patience) { channel.close(promise: nil) }
    defer { timer.cancel() }
    var fields = HTTPHeaders([("Host", "localhost:\(port)"), ("Connection", "close")])
    if let token { fields.add(name: "Authorization", value: "Bearer \(token)") }
    if let body {
      fields.add(name: "Content-Type", value: "application/json")
      fields.add(name: "Content-Length", value: "\(body.utf8.count)")
    }
    let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: fields)
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    if let body {
      channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil)
    }
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    return try await answer.futureResult.get()
  }
}

/// Gathers an answer until its end.
private final class AnswerCollector: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let promise: EventLoopPromise<HTTPCall.Answer>
  private var answer = HTTPCall.Answer(status: 0, body: "")

  init(_ promise: EventLoopPromise<HTTPCall.Answer>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): answer.status = Int(head.status.code)
    case .body(let bytes): answer.body += String(buffer: bytes)
    case .end:
      promise.succeed(answer)
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelInactive(context: ChannelHandlerContext) {
    promise.fail(ServedProcessError("the connection was closed before the answer was whole"))
  }
}
