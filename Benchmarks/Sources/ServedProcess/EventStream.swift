import Foundation
package import NIOCore
import NIOHTTP1
package import NIOPosix

/// A client of server-sent events on one connection.
package final class EventStream: Sendable {
  /// One event as it came.
  package struct Event: Sendable {
    /// Its type, such as `pharos.region.enter`.
    package var type: String
    /// Its data: a CloudEvent as JSON.
    package var data: String
    /// When it was read.
    package var time: NIODeadline

    /// What it is about.
    package var subject: String? {
      guard let start = data.range(of: "\"subject\":\"") else { return nil }
      return String(data[start.upperBound...].prefix { $0 != "\"" })
    }
  }

  private let channel: any Channel

  /// Opens a stream.
  ///
  /// - Parameters:
  ///   - port: where the server is.
  ///   - path: what to ask for.
  ///   - token: the token to show, if any.
  ///   - group: the loops.
  ///   - reads: whether it ever reads what comes.
  ///   - receive: is handed every event, on the connection's loop.
  /// - Throws: why there is no connection.
  package init(
    port: UInt16,
    path: String = "/v1/events",
    token: String? = nil,
    group: MultiThreadedEventLoopGroup,
    reads: Bool = true,
    receive: @escaping @Sendable (Event) -> Void = { _ in }
  ) async throws {
    channel = try await ClientBootstrap(group: group)
      .channelOption(.autoRead, value: reads)
      .connectTimeout(.seconds(20))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          try channel.pipeline.syncOperations.addHandler(EventReader(receive))
        }
      }
      .connect(host: "127.0.0.1", port: Int(port)).get()
    var fields = HTTPHeaders([("Host", "localhost:\(port)"), ("Accept", "text/event-stream")])
    if let token { fields.add(name: "Authorization", value: "Bearer \(token)") }
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: fields)
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
  }

  /// Whether the connection is open.
  package var isOpen: Bool { channel.isActive }

  /// Closes it.
  package func close() { channel.close(promise: nil) }

  /// Waits until it is closed, by whomever.
  package func closed() async { try? await channel.closeFuture.get() }
}

/// Cuts the body into events.
private final class EventReader: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let receive: @Sendable (EventStream.Event) -> Void
  private var text: [UInt8] = []

  init(_ receive: @escaping @Sendable (EventStream.Event) -> Void) { self.receive = receive }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head: break
    case .body(let bytes):
      let now = NIODeadline.now()
      for byte in bytes.readableBytesView {
        if byte == 0x0A, text.last == 0x0A { emit(at: now) } else { text.append(byte) }
      }
    case .end: context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func emit(at time: NIODeadline) {
    defer { text.removeAll(keepingCapacity: true) }
    var event = EventStream.Event(type: "", data: "", time: time)
    for line in text.split(separator: 0x0A) {
      let line = String(decoding: line, as: UTF8.self)
      if line.hasPrefix("event: ") { event.type = String(line.dropFirst(7)) }
      if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
    }
    if !event.type.isEmpty { receive(event) }
  }
}
