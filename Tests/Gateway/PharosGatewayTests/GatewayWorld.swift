import PharosCaptures
import PharosGateway
import PharosModel
import PharosWire

/// A gateway on virtual time: a network that refuses, loses itself and comes back, and a server that remembers numbers.
struct GatewayWorld {
  /// What the network does with a datagram.
  enum Network: Hashable {
    case up
    /// The datagram is answered by a refusal after this time.
    case refusing(after: TimeSpan)
    /// The system finds out after this time that the host is unreachable; nothing arrives.
    case unreachable(after: TimeSpan)
    /// No socket can be opened.
    case nameless
    /// The socket's buffer is full.
    case full
  }

  var gateway: Gateway
  var now = Timestamp.at(0)
  /// What the network does from a time on.
  var network: [(from: Timestamp, state: Network)] = [(.at(0), .up)]
  /// What arrived, repeats by number left out.
  var arrived: [DecodedDatagram] = []
  /// Datagrams that arrived with a number that had arrived before.
  var repeats = 0
  /// Everything that was handed to the network, and when.
  var sent: [Timestamp] = []
  /// Adverts that the gateway took back after a failure, whether they had arrived or not.
  var requeued: UInt64 = 0
  var isOver = false
  var notices: [GatewayNotice] = []
  private var numbers: Set<UInt32> = []
  private var failures: [(at: Timestamp, trouble: LinkTrouble)] = []
  private var isOpen = false
  private var reader = CaptureReader()

  init(limits: GatewayLimits = GatewayLimits(), key: UInt32? = nil) {
    gateway = Gateway(
      GatewayIdentity(observer: .name("gate"), bootID: 7, signingKeyID: key),
      limits: limits,
      at: now
    )
    reader.append(BtsnoopBytes.header)
  }

  private var state: Network { network.last { $0.from <= now }?.state ?? .up }

  /// Hears an advert now, that was in the pipe for a while.
  mutating func receive(_ number: UInt64, data: [UInt8] = [2, 1, 6], waited: TimeSpan = .zero) throws {
    try receive(BtsnoopBytes.advert(number, data: data, at: now), waited: waited)
  }

  /// Takes the bytes of records.
  mutating func receive(_ bytes: [UInt8], waited: TimeSpan = .zero) throws {
    reader.append(bytes)
    while let packet = try reader.nextPacket() { gateway.receive(packet, heard: now - waited) }
    try processDue()
  }

  /// Lets time pass, doing at each moment what is due.
  mutating func pass(to time: Timestamp) throws {
    var steps = 0
    while !isOver {
      try processDue()
      let next = min(gateway.deadline(after: now), failures.map(\.at).min() ?? .distantFuture, nextChange)
      guard next <= time else { break }
      now = max(next, now + .oneNanosecond)
      steps += 1
      precondition(steps < 1_000_000, "the gateway asks to be called without end")
    }
    now = max(now, time)
    try processDue()
  }

  private var nextChange: Timestamp { network.first { $0.from > now }?.from ?? .distantFuture }

  /// Does what is to be done now.
  mutating func processDue() throws {
    if let failure = failures.filter({ $0.at <= now }).min(by: { $0.at < $1.at }) {
      failures = []
      if isOpen { fail(failure.trouble) }
    }
    if state != .full { gateway.writable() }
    while !isOver {
      let action = gateway.next(at: now)
      notices += gateway.drainNotices()
      switch action {
      case nil: return
      case .end: isOver = true
      case .open: open()
      case .send(let bytes): try send(bytes)
      }
    }
  }

  private mutating func open() {
    if state == .nameless { return fail(.unknownHost(reason: "not known")) }
    isOpen = true
    gateway.opened(at: now)
  }

  private mutating func fail(_ trouble: LinkTrouble) {
    isOpen = false
    failures = []
    let before = gateway.counters.sent
    gateway.failed(trouble, at: now)
    requeued += before - gateway.counters.sent
  }

  private mutating func send(_ bytes: [UInt8]) throws {
    switch state {
    case .full: return gateway.blocked()
    case .nameless: return fail(.system(reason: "gone"))
    case .up:
      let datagram = try DecodedDatagram(bytes, sent: now)
      if numbers.insert(datagram.head.sequence).inserted { arrived.append(datagram) } else { repeats += 1 }
    case .refusing(let delay): failures.append((now + delay, .refused))
    case .unreachable(let delay): failures.append((now + delay, .unreachable(reason: "no route")))
    }
    sent.append(now)
    gateway.sent(at: now)
  }
}
