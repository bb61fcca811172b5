import CPharos
import NIOCore
import PharosCaptures
import PharosModel

/// One socket of one loop.
final class Listener {
  /// A datagram that NIO has read before the loop could.
  struct Held {
    var bytes: ByteBuffer
    var source: Endpoint
  }

  private let channel: any Channel
  /// The channel's socket.
  ///
  /// Read from the channel once: that costs a dynamic cast, a microsecond and more. Used only on the channel's own
  /// thread and while it is active, so that it never is another's.
  private let descriptor: Int32
  /// The address on which it listens.
  let localAddress: Endpoint
  /// The receive buffer that the kernel granted, in bytes.
  let receiveBuffer: Int
  /// The policy that decides which datagrams it takes.
  let policy: ListenPolicy
  /// The way in which it learns that there is something to read.
  private(set) var mode = ReadingMode.readiness
  /// The datagrams that NIO has read and the loop has not taken yet: one, rarely two.
  private(set) var held: [Held] = []
  /// The number of datagrams that it received since the last tick.
  var sinceTick = 0
  /// The kernel's drop counter at the last look; it wraps at 2^32.
  private var knownDrops: UInt32 = 0

  /// Takes a socket that is bound.
  init(
    channel: any Channel,
    descriptor: Int32,
    localAddress: Endpoint,
    receiveBuffer: Int,
    policy: ListenPolicy
  ) {
    self.policy = policy
    self.channel = channel
    self.descriptor = descriptor
    self.localAddress = localAddress
    self.receiveBuffer = receiveBuffer
  }

  /// Keeps a datagram that NIO has read.
  func hold(_ bytes: ByteBuffer, from source: Endpoint) { held.append(Held(bytes: bytes, source: source)) }

  /// Takes the datagrams that NIO has read.
  func drainHeld() -> [Held] {
    guard !held.isEmpty else { return [] }
    defer { held.removeAll(keepingCapacity: true) }
    return held
  }

  /// Fills the slots from the socket without waiting; 0 if it is empty or closed.
  func receive(into drain: inout DatagramDrain, named: Bool) -> Int {
    withDescriptor { drain.receive(from: $0, named: named) } ?? 0
  }

  /// Returns the number of datagrams that the kernel dropped since the last call.
  func newKernelDrops() -> UInt64 {
    guard let drops = withDescriptor({ pharos_kernel_drops($0) }), drops >= 0 else { return 0 }
    let now = UInt32(truncatingIfNeeded: drops)
    defer { knownDrops = now }
    return UInt64(now &- knownDrops)
  }

  /// Ends a tick.
  func endTick() {
    perform(mode.ticked(datagrams: sinceTick, receiveBuffer: receiveBuffer))
    sinceTick = 0
  }

  /// Stops reading until there is room.
  func block() { perform(mode.blocked()) }

  /// Closes the socket.
  func close() { channel.close(promise: nil) }

  private func perform(_ change: ReadingMode.Change?) {
    switch change {
    case .stopWaiting: setAutoRead(false)
    case .startWaiting: setAutoRead(true)
    case nil: break
    }
  }

  /// A channel that is closing refuses; there is nothing left to wait for then.
  private func setAutoRead(_ value: Bool) { try? channel.syncOptions?.setOption(.autoRead, value: value) }

  private func withDescriptor<Result>(_ body: (Int32) -> Result) -> Result? {
    channel.isActive ? body(descriptor) : nil
  }
}

/// The way in which a listener learns that there is something to read.
///
/// While it is quiet, NIO waits for the socket and calls at once. At a high rate, each of those calls costs more than
/// the datagram; then NIO stops waiting and the loop reads the socket at every tick, until it is quiet again.
package enum ReadingMode: Equatable {
  /// NIO waits for the socket.
  case readiness
  /// The loop reads the socket at every tick; the number of consecutive ticks that brought little.
  case ticking(quiet: Int)

  /// The change that the listener has to make.
  package enum Change: Equatable {
    /// NIO stops waiting.
    case stopWaiting
    /// NIO waits again.
    case startWaiting
  }

  /// The minimum number of datagrams between two ticks for ticking to pay: 4 thousand a second where a loop ticks each
  /// millisecond.
  static let busy = 4
  /// The maximum number of datagrams in a quiet tick.
  static let quiet = 1
  /// The number of consecutive quiet ticks that end the ticking, so that a gap of 20 ms between two trains of datagrams
  /// does not.
  package static let patience = 80
  /// The receive buffer below which a tick is too long to wait: it would overflow in between.
  ///
  /// - Units: bytes; 1 MiB holds some 450 datagrams of 1,200 bytes with what the kernel books for each.
  package static let smallestBuffer = 1 << 20

  /// Indicates whether the loop reads the socket at every tick.
  package var isTicking: Bool { self != .readiness }

  /// Notes a tick and the number of datagrams that it brought; returns the change to make, if any.
  package mutating func ticked(datagrams: Int, receiveBuffer: Int) -> Change? {
    switch self {
    case .readiness:
      guard datagrams >= ReadingMode.busy, receiveBuffer >= ReadingMode.smallestBuffer else { return nil }
      self = .ticking(quiet: 0)
      return .stopWaiting
    case .ticking(let quiet):
      guard datagrams <= ReadingMode.quiet else {
        self = .ticking(quiet: 0)
        return nil
      }
      guard quiet + 1 >= ReadingMode.patience else {
        self = .ticking(quiet: quiet + 1)
        return nil
      }
      self = .readiness
      return .startWaiting
    }
  }

  /// Notes that the rings have no room: the socket waits until a tick finds some.
  package mutating func blocked() -> Change? {
    switch self {
    case .readiness:
      self = .ticking(quiet: 0)
      return .stopWaiting
    case .ticking:
      self = .ticking(quiet: 0)
      return nil
    }
  }
}

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
    // another process sent; the next datagram is not affected.
    loop.recordSocketError(error, at: listener)
  }
}
