import Glibc
import HTTPTypes
import Logging
package import NIOCore
import NIOHTTP1
package import NIOHTTPTypes
import PharosModel
import Synchronization

/// The handler between one connection and the server, which lets no client keep what others need.
///
/// Sits behind the HTTP codec. Each wait for the client has an end, bodies have a longest length, and a connection that
/// waits may be closed for a new one.
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPRequestPart
  package typealias InboundOut = HTTPRequestPart
  package typealias OutboundIn = HTTPResponsePart
  package typealias OutboundOut = HTTPResponsePart

  /// The limits and counters that all connections of a server share.
  package struct Rules: Sendable {
    let table: ConnectionTable
    let tally: HTTPTally
    /// The maximum time that a client may take for each wait.
    let times: [ConnectionState.Wait: TimeAmount]
    /// The maximum time for which it may read nothing of its answer.
    let readTime: TimeAmount
    /// The longest body that is passed on; the interface refuses those that are half as long.
    let maximumBytes: Int

    /// The longest body that is passed on of a request.
    func maximumBytes(isUpload: Bool) -> Int { isUpload ? Uploads.largest * 2 : maximumBytes }

    /// The maximum time that a client may take for a wait.
    func time(_ wait: ConnectionState.Wait, isUpload: Bool) -> TimeAmount? {
      isUpload && wait == .body ? Uploads.time : times[wait]
    }
  }

  /// The time that a refused client has to read the answer, before its connection is closed.
  private static let pendingExit = TimeAmount.seconds(1)

  private let rules: Rules
  private var state = ConnectionState()
  /// Indicates whether the newest request sends a capture.
  private var isUpload = false
  private var isOpen = false
  private var isClosing = false
  private var wait: ConnectionState.Wait?
  private var waitTimer: Scheduled<Void>?
  private var readTimer: Scheduled<Void>?
  private var wasWaiting = true
  private var isClientGone = false
  private var onClientGone: (@Sendable () -> Void)?

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
    clientIsGone()
    context.fireChannelInactive()
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event { clientIsGone() }
    context.fireUserInboundEventTriggered(event)
  }

  private func clientIsGone() {
    isClientGone = true
    onClientGone?()
    onClientGone = nil
  }

  /// Calls a function once the client of a connection has closed it, in place of the one that an earlier request gave.
  static func onClientGone(_ channel: any Channel, _ body: @escaping @Sendable () -> Void) {
    channel.eventLoop.execute {
      let guardian = try? channel.pipeline.syncOperations.handler(type: ConnectionGuard.self)
      guard let guardian, !guardian.isClientGone else { return body() }
      guardian.onClientGone = body
    }
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      isUpload = head.method == .post && (head.path ?? "").prefix { $0 != "?" } == Uploads.path
      state.head()
    case .body(let bytes): state.body(bytes.readableBytes)
    case .end: state.end()
    }
    let maximum = rules.maximumBytes(isUpload: isUpload)
    guard state.bodyBytes <= maximum else { return close(context, .bodySize, "\(maximum / 2) B") }
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
      rules.tally.recordMalformed()
      return context.fireErrorCaught(error)
    }
    rules.tally.reached(.headSize, "\(HTTPService.largestHead) B or \(HTTPService.maximumFields) fields")
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
    case .admitted: follow(context)
    case .admittedInstead(of: let other):
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
    guard let wait, let time = rules.time(wait, isUpload: isUpload) else { return }
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
    waitTimer = schedule(ConnectionGuard.pendingExit, context) { _, context in context.close(promise: nil) }
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

extension ConnectionGuard.Rules {
  /// The rules of a server, as it is configured and as the system lets it.
  init(_ configuration: HTTPConfiguration, tally: HTTPTally, logger: Logger) {
    let allowed = ConnectionGuard.Rules.connections(
      wanted: configuration.maximumConnections,
      descriptors: ConnectionGuard.Rules.descriptorLimit
    )
    if allowed < configuration.maximumConnections {
      logger.warning(
        "The limit of open files is below the maximum number of HTTP connections. Raise it (ulimit -n, LimitNOFILE=).",
        metadata: [
          LogKey.limit: "\(HTTPLimit.connections.rawValue)",
          LogKey.value: "\(allowed) instead of \(configuration.maximumConnections)",
        ]
      )
    }
    self.init(
      table: ConnectionTable(capacity: allowed),
      tally: tally,
      times: [
        .head: .seconds(Int64(configuration.headSeconds)),
        .body: .seconds(Int64(configuration.bodySeconds)),
        .unreadBody: .seconds(Int64(configuration.unreadBodySeconds)),
      ],
      readTime: .seconds(Int64(configuration.readSeconds)),
      maximumBytes: configuration.largestBody * 2
    )
  }

  /// Returns the number of connections for a limit of open descriptors; at least one, even if the limit is very low.
  package static func connections(wanted: Int, descriptors: Int) -> Int {
    let reserved = min(HTTPConfiguration.reservedDescriptors, descriptors / 2)
    return max(1, min(wanted, descriptors - reserved))
  }

  private static var descriptorLimit: Int {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    return getrlimit(kind, &limit) == 0 ? Int(clamping: limit.rlim_cur) : .max
  }
}

/// The state of one connection between a client and the server, and the limit on the time that the client may take.
///
/// A value without effects: its owner reports what happens on the connection, and reads from it which timer has to run.
package struct ConnectionState: Equatable, Sendable {
  /// The action that a connection is waiting for, which the client has to complete in time.
  package enum Wait: Hashable, Sendable, CaseIterable {
    /// For the first request's head.
    case head
    /// For the rest of a body.
    case body
    /// For the rest of a body whose request has been answered.
    case unreadBody

    /// The limit that is reached when it takes too long.
    var limit: HTTPLimit {
      switch self {
      case .head: .headTime
      case .body: .bodyTime
      case .unreadBody: .unreadBody
      }
    }
  }

  /// Requests whose heads came and whose answers have not all been given; a client may send the next before.
  private var unanswered = 0
  /// Indicates whether the newest request's body is still coming.
  private var isReceiving = false
  /// Indicates whether any request has come.
  private var hasBegun = false
  /// Indicates whether a part of the answer that is due has been written.
  private(set) var hasAnswerBegun = false
  /// The bytes of the current body.
  package private(set) var bodyBytes = 0

  package init() {}

  /// The action that the client has to complete in time; nil if it is the server's turn, or between two requests.
  package var wait: Wait? {
    if !hasBegun { return .head }
    guard isReceiving else { return nil }
    switch unanswered {
    case 0: return .unreadBody
    case 1: return .body
    // The server is still answering an earlier request, so no handler reads this body yet.
    default: return nil
    }
  }

  /// Indicates whether the server is doing nothing for the client, so that the connection may be closed for another.
  package var isWaiting: Bool { unanswered == 0 || (unanswered == 1 && isReceiving && !hasAnswerBegun) }

  /// The head of a request came.
  package mutating func head() {
    hasBegun = true
    unanswered += 1
    isReceiving = true
    bodyBytes = 0
  }

  /// A part of its body came.
  package mutating func body(_ bytes: Int) { bodyBytes += bytes }

  /// Its body has ended.
  package mutating func end() { isReceiving = false }

  /// The head of an answer is given.
  package mutating func answerBegins() { hasAnswerBegun = true }

  /// An answer has been given.
  package mutating func answerEnds() {
    unanswered = max(0, unanswered - 1)
    hasAnswerBegun = false
  }
}

/// The open connections up to a limit, and the choice of the one that is closed when a further one comes.
///
/// A client whose connection is closed while the server waits for it only has to connect again. The table therefore
/// closes the connection that has waited longest. A client that opens connections and sends nothing, or one byte at a
/// time, displaces its own connections, and a client that sends a whole request at once is served.
package final class ConnectionTable: Sendable {
  /// The decision about a new connection.
  package enum Admission {
    /// It is taken.
    case admitted
    /// It is taken in place of another one, which this closes.
    case admittedInstead(of: @Sendable () -> Void)
    /// It is refused: all others are being served.
    case refused
  }

  private struct Entry {
    var close: @Sendable () -> Void
    /// The turn since which it has waited for its client, a number that grows; nil while the server works for it.
    var waitingSince: UInt64?
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var turn: UInt64 = 0
  }

  /// The maximum number of connections.
  let capacity: Int
  private let state = Mutex(State())

  package init(capacity: Int) { self.capacity = max(1, capacity) }

  /// The number of connections.
  package var count: Int { state.withLock { $0.entries.count } }

  /// Adds a connection.
  ///
  /// - Parameters:
  ///   - connection: the connection's channel, which identifies it.
  ///   - close: closes it, when another connection needs its place.
  /// - Returns: the decision about it.
  package func open(_ connection: AnyObject, close: @escaping @Sendable () -> Void) -> Admission {
    let name = ObjectIdentifier(connection)
    return state.withLock { state in
      state.turn += 1
      var admission = Admission.admitted
      if state.entries.count >= capacity {
        guard let maximum = ConnectionTable.firstWaiting(in: state.entries) else { return .refused }
        guard let entry = state.entries.removeValue(forKey: maximum) else { return .refused }
        admission = .admittedInstead(of: entry.close)
      }
      state.entries[name] = Entry(close: close, waitingSince: state.turn)
      return admission
    }
  }

  /// Notes whether a connection waits for its client.
  package func update(_ connection: AnyObject, isWaiting: Bool) {
    let name = ObjectIdentifier(connection)
    state.withLock { state in
      state.turn += 1
      state.entries[name]?.waitingSince = isWaiting ? state.turn : nil
    }
  }

  /// Removes a connection that was closed; returns whether it was still known.
  @discardableResult
  package func close(_ connection: AnyObject) -> Bool {
    let name = ObjectIdentifier(connection)
    return state.withLock { $0.entries.removeValue(forKey: name) != nil }
  }

  /// Closes all connections.
  func closeAll() {
    let entries = state.withLock { Array($0.entries.values) }
    for entry in entries { entry.close() }
  }

  /// Returns the connection that has waited longest.
  ///
  /// It examines all, which at the usual limit takes some 20 µs: less than it takes to open a connection.
  private static func firstWaiting(in entries: [ObjectIdentifier: Entry]) -> ObjectIdentifier? {
    var maximum: (key: ObjectIdentifier, since: UInt64)?
    for (key, entry) in entries {
      guard let since = entry.waitingSince else { continue }
      if let maximum, maximum.since <= since { continue }
      maximum = (key, since)
    }
    return maximum?.key
  }
}
