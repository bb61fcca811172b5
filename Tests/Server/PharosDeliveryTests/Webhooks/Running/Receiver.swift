import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A receiver of webhooks on a real socket: records what it gets and answers as instructed.
final class Receiver: Sendable {
  /// One request as it came in.
  struct Request: Sendable {
    var path: String
    var headers: [String: String]
    var body: [UInt8]

    /// A member of the CloudEvent.
    func member(_ key: String) -> String? {
      let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
      return object?[key] as? String
    }
  }

  /// How a request is answered.
  struct Answer: Sendable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders = [:]
  }

  private struct State {
    var accepted: [Request] = []
    var refused: [Request] = []
    /// The ids of what was taken.
    var ids: Set<String> = []
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let channel: any Channel
  /// The port, also after it was closed.
  let port: Int
  private let state: Arc

  private final class Arc: Sendable {
    let value = Mutex(State())
    let answer: @Sendable (Request) -> Answer
    init(_ answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

    func receive(_ request: Request) -> Answer {
      let answer = self.answer(request)
      let isAccepted = (200..<300).contains(answer.status.code)
      let ready = value.withLock { state in
        guard isAccepted else {
          state.refused.append(request)
          return [] as [(count: Int, continuation: CheckedContinuation<Void, Never>)]
        }
        state.accepted.append(request)
        state.ids.insert(request.headers["webhook-id"] ?? "")
        let count = state.ids.count
        let ready = state.waiters.filter { $0.count <= count }
        state.waiters.removeAll { $0.count <= count }
        return ready
      }
      for waiter in ready { waiter.continuation.resume() }
      return answer
    }
  }

  init(answer: @escaping @Sendable (Request) -> Answer) async throws {
    let arc = Arc(answer)
    state = arc
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(ReceiverHandler { arc.receive($0) })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
  }

  var url: String { "http://127.0.0.1:\(port)/hooks" }
  /// What was taken, repetitions too.
  var accepted: [Request] { state.value.withLock { $0.accepted } }
  /// What was refused.
  var refused: [Request] { state.value.withLock { $0.refused } }

  /// Waits until so many different events were taken.
  func wait(forEvents count: Int) async {
    await withCheckedContinuation { continuation in
      let isReady = state.value.withLock { state in
        if state.ids.count >= count { return true }
        state.waiters.append((count, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  func close() async { try? await channel.close() }
}

private final class ReceiverHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let receive: (Receiver.Request) -> Receiver.Answer
  private var request = Receiver.Request(path: "", headers: [:], body: [])

  init(_ receive: @escaping (Receiver.Request) -> Receiver.Answer) { self.receive = receive }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      let headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
      request = Receiver.Request(path: head.uri, headers: headers, body: [])
    case .body(var buffer): request.body += buffer.readBytes(length: buffer.readableBytes) ?? []
    case .end:
      let answer = receive(request)
      var headers = answer.headers
      headers.add(name: "content-length", value: "0")
      let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
