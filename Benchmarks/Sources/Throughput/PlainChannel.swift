import CSocketMeter
import NIOCore
import NIOPosix
import SocketTraffic

/// NIO's datagram channel with a handler that only counts: what one writes first.
final class PlainChannel: Receiver {
  let name: String
  let socket: MeterSocket
  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let counter: NIOLoopBound<CountingHandler>
  private var startThread: Int64 = 0
  private var startWall: Int64 = 0

  /// The bytes of a slot, as in the other receivers.
  private static let slot = 2_048

  /// Opens the channel.
  ///
  /// - Parameters:
  ///   - vector: how many datagrams it reads a call; 1 is NIO's default.
  ///   - core: the core that its loop is kept on, or nil for any.
  /// - Throws: why there is no channel.
  init(vector: Int, core: Int32?) async throws {
    name = vector == 1 ? "NIO datagram channel" : "NIO channel, vectors of \(vector)"
    let socket = try MeterSocket()
    self.socket = socket
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    var bootstrap = DatagramBootstrap(group: loop).channelOption(.autoRead, value: false)
    if vector > 1 {
      bootstrap =
        bootstrap
        .channelOption(.datagramVectorReadMessageCount, value: vector)
        .channelOption(
          .recvAllocator,
          value: FixedSizeRecvByteBufferAllocator(capacity: vector * PlainChannel.slot)
        )
    }
    let channel = try await bootstrap.withBoundSocket(socket.descriptor).get()
    self.channel = channel
    counter = try await loop.submit {
      if let core { meter_pin(core) }
      let handler = CountingHandler()
      try channel.pipeline.syncOperations.addHandler(handler)
      return NIOLoopBound(handler, eventLoop: loop)
    }.get()
  }

  func close() async throws {
    try await channel.close()
    try await group.shutdownGracefully()
  }

  func drain(_ datagrams: Int, isNewSecond: Bool) async throws -> Spent {
    let (channel, counter) = (channel, counter)
    return try await channel.eventLoop.flatSubmit {
      let promise = channel.eventLoop.makePromise(of: Spent.self)
      counter.value.expect(datagrams, promise)
      // With this the channel begins to read, in this very call.
      try? channel.syncOptions?.setOption(.autoRead, value: true)
      return promise.futureResult
    }.get()
  }

  func begin() async throws {
    let (channel, counter) = (channel, counter)
    startWall = meter_now()
    startThread = try await channel.eventLoop.submit {
      counter.value.count = 0
      try channel.syncOptions?.setOption(.autoRead, value: true)
      return meter_thread_nanoseconds()
    }.get()
  }

  func end() async throws -> Spent {
    try await socket.untilEmpty()
    let (channel, counter, startThread, startWall) = (channel, counter, startThread, startWall)
    return try await channel.eventLoop.submit {
      try channel.syncOptions?.setOption(.autoRead, value: false)
      return Spent(
        datagrams: counter.value.count,
        thread: meter_thread_nanoseconds() - startThread,
        wall: meter_now() - startWall
      )
    }.get()
  }
}

/// Counts datagrams, and says what so many of them have cost.
final class CountingHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  var count = 0
  private var expected = Int.max
  private var promise: EventLoopPromise<Spent>?
  private var startThread: Int64 = 0
  private var startWall: Int64 = 0

  func expect(_ datagrams: Int, _ promise: EventLoopPromise<Spent>) {
    count = 0
    expected = datagrams
    self.promise = promise
    startWall = meter_now()
    startThread = meter_thread_nanoseconds()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { count += 1 }

  func channelReadComplete(context: ChannelHandlerContext) {
    guard count >= expected, let promise else { return }
    self.promise = nil
    let spent = Spent(
      datagrams: count,
      thread: meter_thread_nanoseconds() - startThread,
      wall: meter_now() - startWall
    )
    try? context.channel.syncOptions?.setOption(.autoRead, value: false)
    promise.succeed(spent)
  }
}
