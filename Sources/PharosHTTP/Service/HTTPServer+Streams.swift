import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle

extension HTTPServer {
  /// How long a stream has at a shutdown to send what is under way and its end, before its connection is closed.
  ///
  /// Two seconds: a reader that takes nothing in that time takes nothing at all, and must not hold up the shutdown.
  private static let farewell = TimeAmount.seconds(2)

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
        channel.eventLoop.scheduleTask(in: farewell) { channel.close(promise: nil) }
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
