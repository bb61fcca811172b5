import CPharos
import NIOCore
import PharosCaptures

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
  /// Asked of the channel once: the way there costs a dynamic cast, a microsecond and more. Used only on the channel's own
  /// thread and while it is active, so that it never is another's.
  private let descriptor: Int32
  /// Where it listens.
  let localAddress: Endpoint
  /// The receive buffer that the kernel granted, in bytes.
  let receiveBuffer: Int
  /// Whose datagrams it takes.
  let policy: ListenPolicy
  /// How it learns that there is something to read.
  private(set) var mode = ReadingMode.readiness
  /// What NIO has read and the loop has not taken yet: one datagram, rarely two.
  private(set) var held: [Held] = []
  /// How many datagrams it brought since the last tick.
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

  /// Takes what NIO has read.
  func takeHeld() -> [Held] {
    guard !held.isEmpty else { return [] }
    defer { held.removeAll(keepingCapacity: true) }
    return held
  }

  /// Fills the slots from the socket without waiting; 0 if it is empty or closed.
  func receive(into drain: inout DatagramDrain, named: Bool) -> Int {
    withDescriptor { drain.receive(from: $0, named: named) } ?? 0
  }

  /// How many datagrams the kernel dropped since the last look.
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
