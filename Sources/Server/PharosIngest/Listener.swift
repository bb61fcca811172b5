package import CPharos
import NIOCore
import PharosCaptures
package import PharosModel

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

/// The slots that one loop receives datagrams into, made once and filled again and again.
package struct DatagramDrain: ~Copyable {
  /// The maximum number of datagrams that one call takes.
  static let slots = 64

  private let handle: OpaquePointer

  /// Makes the slots.
  ///
  /// - Parameter capacity: the longest datagram, in bytes, that a slot takes whole.
  /// - Throws: ``IngestError/outOfMemory``.
  package init(capacity: Int) throws(IngestError) {
    guard let handle = pharos_drain_create(UInt32(DatagramDrain.slots), UInt32(capacity)) else {
      throw .outOfMemory
    }
    self.handle = handle
  }

  deinit { pharos_drain_destroy(handle) }

  /// Takes what a socket holds, up to all slots, without waiting; an error is taken for an empty socket, since NIO
  /// learns of a broken one by itself and closes it.
  ///
  /// - Parameters:
  ///   - descriptor: the socket's.
  ///   - named: indicates whether the kernel is to give the sender of each, which costs it a twelfth of all that it
  ///     does for one.
  /// - Returns: the number of datagrams that it took.
  package mutating func receive(from descriptor: Int32, named: Bool = true) -> Int {
    max(0, Int(pharos_drain_receive(handle, descriptor, named ? 1 : 0)))
  }

  /// Returns the bytes in a slot, valid until the next call of ``receive(from:named:)``, and whether the datagram was
  /// longer.
  package func datagram(_ slot: Int) -> (bytes: UnsafeRawBufferPointer, isTruncated: Bool) {
    let datagram = pharos_drain_datagrams(handle)[slot]
    return (
      UnsafeRawBufferPointer(start: datagram.bytes, count: Int(datagram.length)), datagram.truncated != 0
    )
  }

  /// Returns the sender of the datagram in a slot, or `Endpoint.none` if the kernel was not asked.
  package func source(_ slot: Int) -> Endpoint { Endpoint(pharos_drain_source(handle, UInt32(slot))) }
}

extension Endpoint {
  /// The placeholder for the address of a socket that has none, such as a UNIX socket that was passed to the process.
  package static let none = Endpoint(IPAddress(v4: 0), port: 0)

  /// The endpoint that the C shim read; an IPv4 address mapped into IPv6 is one of version 4.
  package init(_ address: pharos_address) {
    switch address.version {
    case 4: self.init(IPAddress(v4: UInt32(truncatingIfNeeded: address.low)), port: address.port)
    case 6: self.init(IPAddress(v6: address.high, address.low), port: address.port)
    default: self = .none
    }
  }

  /// The endpoint as the C shim takes it.
  var system: pharos_address {
    pharos_address(
      high: address.high,
      low: address.low,
      scope: 0,
      port: port,
      version: address.version.rawValue
    )
  }
}
