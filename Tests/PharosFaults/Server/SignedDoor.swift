import PharosDelivery
import PharosModel
import PharosSecurity
import PharosWire

/// The admission of signed datagrams by one run: the keys, the replay windows, and the lease that the disk holds.
///
/// It does the same as `Gate` and `SigningStore` of PharosIngest, whose module needs NIO: the windows and the records are the real
/// ones.
final class SignedDoor {
  /// The judgement of a datagram.
  enum Admission {
    case accepted(PharosDatagramHead)
    /// A record has to be on the disk first.
    case held
    case refused(DatagramRefusal)
  }

  /// The time from the beginning of a run after which no datagram that is sent can lie within the lease of the run before.
  static let maximumDoubt = TrueTime(SenderLease.length.nanoseconds) + .seconds(1)

  private unowned let world: FaultWorld
  private let life: Int
  private let store: SenderRecords
  private let ring: KeyRing
  private let thread: SerialThread
  private var lease = Timestamp.distantPast
  private var orders: [SenderName: SenderRecord] = [:]
  private var isWriting = false
  /// The datagrams that wait for a write.
  private var held: [() -> Void] = []

  /// Goes on from the records that the run before has left, and writes them with a first lease.
  init(of life: Life, in world: FaultWorld) throws {
    self.world = world
    self.life = life.number
    store = SenderRecords(store: life.journal)
    thread = SerialThread(world.clockwork, owner: life.number)
    let observers = world.plan.stations.compactMap(\.keyed)
    let end = try store.lease()?.end(
      steady: world.machine.steady(world.clockwork.now),
      machineStart: world.machine.name
    )
    ring = KeyRing(
      observers,
      records: try store.records(of: observers),
      endedBy: end ?? .distantPast
    )
    write(world.plant == .forgetsReplayWindows ? [] : ring.senders.compactMap(\.recordAtStart))
  }

  private var now: Timestamp { world.clock.received(world.clockwork.now) }
  private var isOver: Bool { world.life?.number != life }

  /// Judges a datagram.
  func admit(_ bytes: [UInt8]) -> Admission {
    do throws(DatagramRefusal) {
      let head = try PharosDatagramHead.head(of: bytes.span.bytes)
      let sender = try ring.signer(of: bytes.span.bytes, head: head, at: now)
      switch sender.judge(head, received: now, lease: lease) {
      case .accepted: renew()
      case .acceptedToRecord(let record): keep(record)
      case .waits(let record):
        if let record { keep(record) } else { renew() }
        return .held
      case .refused(let reason): return .refused(reason)
      }
      return .accepted(head)
    } catch {
      return .refused(error)
    }
  }

  /// Calls a function once the next write has ended.
  func hold(_ retry: @escaping () -> Void) {
    held.append(retry)
    if !isWriting { order() }
  }

  /// Keeps every window as it is, at an orderly end.
  func finish() { write(ring.senders.compactMap(\.recordAtEnd)) }

  private func renew() { if lease - now < SenderLease.renewal, !isWriting { order() } }

  private func keep(_ record: SenderRecord) {
    orders[record.sender] = record
    if !isWriting { order() }
  }

  private func order() {
    isWriting = true
    thread.submit { [weak self] in
      guard let self, !isOver else { return }
      let records = Array(orders.values)
      orders = [:]
      write(records)
      isWriting = false
      if !orders.isEmpty || !held.isEmpty { order() }
    }
  }

  /// Writes records and a new lease; whatever comes of it, they count from then on.
  private func write(_ records: [SenderRecord]) {
    let written = now
    let records = records.sorted { $0.sender.description < $1.sender.description }
    let lease = SenderLease(
      until: written + SenderLease.length,
      written: written,
      steady: world.machine.steady(world.clockwork.now),
      machineStart: world.machine.name
    )
    do {
      if world.plant != .forgetsReplayWindows { try store.keep(records, lease: lease) }
    } catch {
      if !isOver { world.signatures.recordUnkept() }
    }
    guard !isOver else { return }
    for record in records { ring.sender(record.sender)?.kept(record) }
    self.lease = lease.until
    let waiting = held
    held = []
    for retry in waiting { retry() }
  }
}

/// The machine of the server, as its steady clock tells of it: both begin with each start of the machine.
struct Machine {
  private var starts = 1
  private var startedAt: TrueTime = 0

  /// The identifier of the present start.
  var name: String { "start \(starts)" }

  /// The steady clock.
  func steady(_ now: TrueTime) -> TimeSpan { TimeSpan(nanoseconds: now - startedAt) }

  /// The power is back.
  mutating func restart(at now: TrueTime) {
    starts += 1
    startedAt = now
  }
}
