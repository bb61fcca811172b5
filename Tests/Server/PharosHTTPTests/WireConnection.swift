import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// An answer as it came over the wire.
struct WireAnswer: Sendable {
  /// The status code.
  var status: Int
  /// The header fields by lower-case name.
  var headers: [String: String]
  /// The body, chunks joined.
  var body: [UInt8] = []

  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }
}

/// A TCP connection on which a test writes what it likes and reads what comes: the simplest client there is.
final class WireConnection {
  private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  private var buffer: [UInt8] = []

  private init(
    _ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
    _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
    _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>
  ) {
    self.channel = channel
    self.outbound = outbound
    self.inbound = inbound.makeAsyncIterator()
  }

  /// Connects to a port of this machine, lets a test talk and closes.
  static func with<Value>(
    port: Int,
    tls: NIOSSLContext? = nil,
    _ body: (WireConnection) async throws -> Value
  ) async throws -> Value {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      // A busy machine may take long; what hangs for good is ended by the suite's limit.
      .connectTimeout(.hours(1))
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls {
            let handler = try NIOSSLClientHandler(context: tls, serverHostname: "localhost")
            try channel.pipeline.syncOperations.addHandler(handler)
          }
          return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true)
          )
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await body(WireConnection(channel, outbound, inbound))
    }
  }

  /// Writes some text as it is.
  func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

  /// Writes some bytes as they are.
  func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

  /// Closes this half of the connection; answers may still come.
  func endSending() { outbound.finish() }

  /// Reads an answer with its whole body.
  func answer(isHead: Bool = false) async throws -> WireAnswer {
    var answer = try await head()
    guard !isHead, answer.status != 204, answer.status != 304 else { return answer }
    if answer.headers["transfer-encoding"] == "chunked" {
      while let chunk = try await chunk() { answer.body += chunk }
    } else if let length = answer.headers["content-length"].flatMap({ Int($0) }) {
      answer.body = try await read(length)
    }
    return answer
  }

  /// Reads the head of an answer, its body being a stream.
  func head() async throws -> WireAnswer {
    let lines = try await text(upTo: "\r\n\r\n").split(separator: "\r\n")
    let status = try #require(
      lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    )
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let halves = line.split(separator: ":", maxSplits: 1)
      headers[halves[0].lowercased()] =
        halves.count > 1 ? halves[1].drop { $0 == " " }.description : ""
    }
    return WireAnswer(status: status, headers: headers)
  }

  /// Reads the next chunk of a streamed body, or nil at its end.
  func chunk() async throws -> [UInt8]? {
    let size = try #require(Int(try await text(upTo: "\r\n"), radix: 16))
    let chunk = try await read(size)
    _ = try await read(2)
    return size == 0 ? nil : chunk
  }

  /// Whether the other side has closed the connection without another byte.
  func isClosed() async throws -> Bool {
    guard buffer.isEmpty else { return false }
    do {
      return try await inbound.next(isolation: #isolation) == nil
    } catch let error as IOError where error.errnoCode == ECONNRESET {
      // Closed too, while something of ours was on its way.
      return true
    }
  }

  private func text(upTo end: String) async throws -> String {
    let end = Array(end.utf8)
    var scanned = 0
    while true {
      while scanned + end.count <= buffer.count {
        guard buffer[scanned..<scanned + end.count].elementsEqual(end) else {
          scanned += 1
          continue
        }
        let text = String(decoding: buffer[..<scanned], as: UTF8.self)
        buffer.removeFirst(scanned + end.count)
        return text
      }
      try await fill()
    }
  }

  private func read(_ count: Int) async throws -> [UInt8] {
    while buffer.count < count { try await fill() }
    defer { buffer.removeFirst(count) }
    return Array(buffer[..<count])
  }

  private func fill() async throws {
    guard let part = try await inbound.next(isolation: #isolation) else { throw WireClosed() }
    buffer += part.readableBytesView
  }
}

/// The connection was closed in the middle of an answer.
struct WireClosed: Error {}
