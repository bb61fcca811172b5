import HTTPTypes
package import NIOCore
import NIOHTTP1
package import NIOHTTPTypes

/// Stands between one connection and the server: lets no client keep what others need.
///
/// Sits behind the HTTP codec. Each wait for the client has an end, bodies have a longest length, and a connection that
/// waits may give way to a new one.
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPRequestPart
  package typealias InboundOut = HTTPRequestPart
  package typealias OutboundIn = HTTPResponsePart
  package typealias OutboundOut = HTTPResponsePart

  /// What all connections of a server share.
  package struct Rules: Sendable {
    let table: ConnectionTable
    let tally: HTTPTally
    /// How long a client may take for each.
    let times: [ConnectionState.Wait: TimeAmount]
    /// How long it may take nothing of what it is given.
    let readTime: TimeAmount
    /// The longest body that is passed on; the interface refuses those that are half as long.
    let mostBytes: Int
  }

  /// How long a client that is turned away has to read why, before its connection is closed.
  private static let farewell = TimeAmount.seconds(1)

  private let rules: Rules
  private var state = ConnectionState()
  private var isOpen = false
  private var isClosing = false
  private var wait: ConnectionState.Wait?
  private var waitTimer: Scheduled<Void>?
  private var readTimer: Scheduled<Void>?
  private var wasWaiting = true

  init(_ rules: Rules) { self.rules = rules }

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { open(context) }
  }

  package func channelActive(context: ChannelHandlerContext) {
    open(context)
    context.fireChannelActive()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    waitTimer?.cancel()
    readTimer?.cancel()
    if isOpen {
      rules.table.close(context.channel)
      rules.tally.connected(-1)
    }
    isOpen = false
    context.fireChannelInactive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    switch unwrapInboundIn(data) {
    case .head: state.head()
    case .body(let bytes): state.body(bytes.readableBytes)
    case .end: state.end()
    }
    guard state.bodyBytes <= rules.mostBytes else {
      return close(context, .bodySize, "\(rules.mostBytes / 2) B")
    }
    follow(context)
    context.fireChannelRead(data)
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !isClosing else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head: state.answerBegins()
    case .body: break
    case .end: state.answerEnds()
    }
    follow(context)
    context.write(data, promise: promise)
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    readTimer?.cancel()
    readTimer = nil
    if !context.channel.isWritable {
      readTimer = schedule(rules.readTime, context) { guardian, context in
        guardian.close(context, .readTime, "\(guardian.rules.readTime.nanoseconds / 1_000_000_000) s")
      }
    }
    context.fireChannelWritabilityChanged()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
    guard error == .headerOverflow, !state.hasAnswerBegun else {
      rules.tally.noteMalformed()
      return context.fireErrorCaught(error)
    }
    rules.tally.reached(.headSize, "\(HTTPServer.largestHead) B or \(HTTPServer.mostFields) fields")
    turnAway(context, .requestHeaderFieldsTooLarge)
  }

  private func open(_ context: ChannelHandlerContext) {
    guard !isOpen else { return }
    isOpen = true
    rules.tally.connected(1)
    switch rules.table.open(
      context.channel,
      close: { [channel = context.channel] in channel.close(promise: nil) }
    ) {
    case .taken: follow(context)
    case .takenInstead(of: let other):
      rules.tally.reached(.connections, "\(rules.table.capacity)")
      other()
      follow(context)
    case .refused:
      rules.tally.reached(.connections, "\(rules.table.capacity)")
      turnAway(context, .serviceUnavailable)
    }
  }

  /// Lets the timers follow the state.
  private func follow(_ context: ChannelHandlerContext) {
    if wasWaiting != state.isWaiting {
      wasWaiting = state.isWaiting
      rules.table.update(context.channel, isWaiting: wasWaiting)
    }
    guard wait != state.wait else { return }
    wait = state.wait
    waitTimer?.cancel()
    waitTimer = nil
    guard let wait, let time = rules.times[wait] else { return }
    waitTimer = schedule(time, context) { guardian, context in
      guardian.close(context, wait.limit, "\(time.nanoseconds / 1_000_000_000) s")
    }
  }

  /// Closes the connection because a limit was reached.
  private func close(_ context: ChannelHandlerContext, _ limit: HTTPLimit, _ value: String) {
    guard !isClosing else { return }
    isClosing = true
    rules.tally.reached(limit, value)
    context.close(promise: nil)
  }

  /// Answers with a status alone and closes, leaving the client a moment to read it.
  private func turnAway(_ context: ChannelHandlerContext, _ status: HTTPResponse.Status) {
    guard !isClosing else { return }
    isClosing = true
    waitTimer?.cancel()
    rules.tally.answered(status.code)
    let fields: HTTPFields = [.connection: "close", .contentLength: "0"]
    context.write(wrapOutboundOut(.head(HTTPResponse(status: status, headerFields: fields))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.close(mode: .output, promise: nil)
    waitTimer = schedule(ConnectionGuard.farewell, context) { _, context in context.close(promise: nil) }
  }

  private func schedule(
    _ time: TimeAmount,
    _ context: ChannelHandlerContext,
    _ body: @escaping @Sendable (ConnectionGuard, ChannelHandlerContext) -> Void
  ) -> Scheduled<Void> {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    return context.eventLoop.scheduleTask(in: time) { body(bound.value.0, bound.value.1) }
  }
}
