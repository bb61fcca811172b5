import NIOCore
import NIOPosix
import ServedProcess
import Synchronization

/// A TCP connection that sends what it likes and counts what comes back.
final class RawClient: Sendable {
  private let channel: any Channel
  private let heard: Heard

  /// What came back so far.
  private final class Heard: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    let text = Mutex("")

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      // The beginning says all: the status, and whether it is a file that it should not be.
      text.withLock { text in
        if text.utf8.count < 4_096 { text += String(buffer: bytes) }
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  /// Connects; throws if the server accepts no further connections.
  init(port: UInt16, group: MultiThreadedEventLoopGroup, reads: Bool = true) async throws {
    let heard = Heard()
    channel = try await ClientBootstrap(group: group)
      .channelOption(.autoRead, value: reads)
      .connectTimeout(.seconds(20))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(heard) }
      }
      .connect(host: "127.0.0.1", port: Int(port)).get()
    self.heard = heard
  }

  /// Sends text as it is; says whether it could.
  @discardableResult
  func send(_ text: String) async -> Bool {
    (try? await channel.writeAndFlush(ByteBuffer(string: text)).get()) != nil
  }

  /// Sends text and then bytes.
  @discardableResult
  func send(_ text: String, _ bytes: [UInt8]) async -> Bool {
    (try? await channel.writeAndFlush(ByteBuffer(bytes: Array(text.utf8) + bytes)).get()) != nil
  }

  /// The beginning of what came back.
  var text: String { heard.text.withLock { $0 } }
  /// The status of the answer; nil if there is none.
  var status: Int? {
    let text = text
    guard text.hasPrefix("HTTP/1.1 ") else { return nil }
    return Int(text.dropFirst(9).prefix(3))
  }
  /// Whether the connection is open.
  var isOpen: Bool { channel.isActive }

  /// Closes it.
  func close() { channel.close(promise: nil) }

  /// Waits until it is closed by the server or there is an answer, or for so long; says whether it is.
  func isTurnedAway(within seconds: Int, closed: Bool = false) async -> Bool {
    for _ in 0..<seconds * 10 {
      if !isOpen { return true }
      if !closed, let status { return (400...599).contains(status) }
      try? await Task.sleep(for: .milliseconds(100))
    }
    return false
  }
}
