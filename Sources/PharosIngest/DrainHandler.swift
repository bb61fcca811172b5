import CPharos
import NIOCore
import PharosCaptures

/// Hands what NIO reads to the loop, which then drains the socket itself.
///
/// NIO has its channel's lifecycle, readiness and timers; but at 50 thousand datagrams a second a `SocketAddress` and
/// a buffer for each cost more than all that Pharos does with them. So NIO reads one datagram for a wake-up and the
/// loop takes the rest with `recvmmsg`.
final class DrainHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private let loop: ReadingLoop
  private let listener: Listener

  /// Reads for a loop.
  init(loop: ReadingLoop, listener: Listener) {
    self.loop = loop
    self.listener = listener
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    let source = envelope.remoteAddress.withSockAddr { Endpoint(pharos_address_of($0, $1)) }
    listener.hold(envelope.data, from: source)
  }

  func channelReadComplete(context: ChannelHandlerContext) { loop.readable(listener) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Without a connection a datagram socket's errors are passing ones, such as an ICMP message about an answer that
    // somebody else sent; the next datagram is as good as ever.
    loop.noteSocketError(error, at: listener)
  }
}
