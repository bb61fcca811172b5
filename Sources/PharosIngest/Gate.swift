import Atomics
import Logging
import NIOCore
import NIOPosix
import PharosCaptures
import PharosReports
import PharosSigning
import PharosWire
import Synchronization

/// Who may bring what, at one loop: the keys, the list of observers, and the policy of each listener.
///
/// A value with a copy of the keys, so that judging a datagram needs no lock but its sender's own.
struct Gate {
  /// What becomes of a datagram that has not been decoded yet.
  enum Admission {
    /// It is decoded, and may name only observers that its signer may vouch for; nil if no signature was verified.
    case admitted(signer: ObserverID?)
    /// It waits until something is kept, and is asked about again.
    case held(by: SenderName)
    /// It is refused.
    case refused(WireFormat?, DatagramRefusal)
  }

  /// The keys.
  private(set) var keys = KeyRing()
  private let desk: SigningDesk?
  /// The observers that count, where this is not for the engine to say: with listeners that are open beside others that are not.
  private var listed: Set<ObserverID>?

  /// A gate without keys.
  init() { desk = nil }

  /// A gate with the keys of a desk.
  ///
  /// - Parameters:
  ///   - desk: keeps replay windows.
  ///   - site: lists observers.
  init(_ desk: SigningDesk, site: Site) {
    self.desk = desk
    keys = desk.keys
    adopt(site)
  }

  /// Takes over other keys.
  mutating func adopt(_ keys: KeyRing) { self.keys = keys }

  /// Takes over another list of observers.
  ///
  /// Where the site admits only those that it lists, the engine sees to it, and shows the others in quarantine.
  mutating func adopt(_ site: Site) {
    listed = site.admission == .open ? Set(site.observers.map(\.id)) : nil
  }

  /// Judges a datagram before anything of it but its head is read.
  func admit(_ datagram: RawSpan, at received: Timestamp, under policy: ListenPolicy) -> Admission {
    guard policy != .open else { return .admitted(signer: nil) }
    guard let format = WireFormat(recognising: datagram) else { return .admitted(signer: nil) }
    guard format == .pharos else {
      return policy == .signed ? .refused(format, .notSigned) : .admitted(signer: nil)
    }
    do throws(DatagramRefusal) {
      let head = try PharosDatagramHead.head(of: datagram)
      // On a list, who has no key is believed without one; who has one is believed by it alone.
      if policy == .allowlist, head.tag == nil || !keys.mustSign(head.observer) {
        return .admitted(signer: nil)
      }
      let sender = try keys.signer(of: datagram, head: head, at: received)
      return judge(head, sender, at: received)
    } catch {
      return .refused(format, error)
    }
  }

  private func judge(_ head: PharosDatagramHead, _ sender: SignedSender, at received: Timestamp) -> Admission
  {
    let lease = desk?.lease ?? .distantFuture
    switch sender.judge(head, received: received, lease: lease) {
    case .taken:
      desk?.renew(at: received)
      return .admitted(signer: head.observer)
    case .takenToKeep(let record):
      desk?.keep(record)
      return .admitted(signer: head.observer)
    case .waits(let record):
      if let record { desk?.keep(record) } else { desk?.renew(at: received) }
      return .held(by: sender.name)
    case .refused(let reason):
      return .refused(.pharos, reason)
    }
  }

  /// Why reports of an observer are not taken, or nil if they are.
  ///
  /// - Parameters:
  ///   - observer: whom a datagram names.
  ///   - signer: who signed it, if anybody did.
  ///   - policy: the listener's.
  /// - Returns: the reason.
  func refusal(
    of observer: ObserverID,
    signedBy signer: ObserverID?,
    under policy: ListenPolicy
  ) -> DatagramRefusal? {
    switch policy {
    case .open:
      return nil
    case .signed:
      guard let signer else { return .notSigned }
      return keys.mayVouch(signer, for: observer) ? nil : .notVouched
    case .allowlist:
      if let signer, keys.mayVouch(signer, for: observer) { return nil }
      if keys.mustSign(observer) { return signer == nil ? .notSigned : .notVouched }
      if let listed, !listed.contains(observer) { return .notListed }
      return nil
    }
  }
}

/// Datagrams that are whole and rightly signed and wait for a write to the disk, bounded.
///
/// A write takes some milliseconds, so that these are the first moments of a gateway that has just started.
struct HeldDatagrams {
  /// One datagram.
  struct Entry {
    let bytes: [UInt8]
    let call: Intake.Call
    let source: Endpoint
    let sender: SenderName
  }

  /// How many of one sender wait at most.
  ///
  /// 256: at a hundred datagrams a second more than the five seconds that the slowest disks take.
  static let mostOfSender = 256
  /// How many bytes wait at most, at one loop.
  ///
  /// - Units: bytes. 8 MiB: the first datagrams of five thousand gateways.
  static let mostBytes = 8 << 20

  private(set) var entries: [Entry] = []
  private var bytes = 0
  private var counts: [SenderName: Int] = [:]

  /// Whether nothing waits.
  var isEmpty: Bool { entries.isEmpty }

  /// Holds a datagram; false if there is no room for it.
  mutating func hold(_ entry: Entry) -> Bool {
    let count = counts[entry.sender, default: 0]
    guard count < HeldDatagrams.mostOfSender, bytes + entry.bytes.count <= HeldDatagrams.mostBytes else {
      return false
    }
    counts[entry.sender] = count + 1
    bytes += entry.bytes.count
    entries.append(entry)
    return true
  }

  /// Gives all of them, in the order in which they came, and holds none any more.
  mutating func take() -> [Entry] {
    defer { self = HeldDatagrams() }
    return entries
  }
}

/// Keeps replay windows on the disk before anything is taken on the strength of them, many in one write.
///
/// Loops ask and go on; what they hold until then they take again when the desk tells them. One write is under way at a time, and
/// whatever is asked meanwhile goes into the next one, so that a thousand gateways that start at once cost a handful of writes.
final class SigningDesk: Sendable {
  private struct Orders {
    /// The newest record that was asked for, for each sender.
    var records: [SenderName: SenderRecord] = [:]
    /// Whether there is anything to write; a lease is written with whatever it is.
    var isAsked = false
    var isWriting = false
    /// Who waits until nothing is being written.
    var waiters: [EventLoopPromise<Void>] = []
    /// Whether the last write failed.
    var isFailing = false
  }

  /// The keys, which changes replace; loops have copies of their own.
  private let ring: Mutex<KeyRing>
  private let orders = Mutex(Orders())
  /// The end of the lease that the disk holds.
  ///
  /// Relaxed: who reads an old one renews too early or holds a datagram for a moment.
  private let leaseEnd: ManagedAtomic<Int64>
  /// Whether a new lease was asked for.
  ///
  /// Relaxed, for the same reason.
  private let isRenewing = ManagedAtomic(false)
  private let told = Mutex<Callback?>(nil)

  private let signing: SignedIngest
  private let timeline: Timeline
  private let clock: IngestClock
  private let logger: Logger

  /// Reads what the run before has left, and keeps it in the form in which it stands by itself, with a first lease.
  ///
  /// Called before any socket is open, on a thread that may wait for a disk.
  init(_ signing: SignedIngest, _ timeline: Timeline, clock: IngestClock, logger: Logger) {
    self.signing = signing
    self.timeline = timeline
    self.clock = clock
    self.logger = logger
    let ring = KeyRing(signing.observers, records: signing.records, endedBy: signing.endedBy)
    self.ring = Mutex(ring)
    leaseEnd = ManagedAtomic(.min)
    guard !ring.isEmpty else { return }
    write(ring.senders.compactMap(\.recordAtStart))
  }

  /// The keys as they are now.
  var keys: KeyRing { ring.withLock { $0 } }

  /// The last R at which anything may be taken at present.
  var lease: Timestamp { Timestamp(nanoseconds: leaseEnd.load(ordering: .relaxed)) }

  /// Says what to do whenever something has been kept, once, before the first datagram.
  func onKept(_ body: @escaping @Sendable () -> Void) { told.withLock { $0 = Callback(call: body) } }

  /// Takes over other keys; what each key that stays has taken stays with it.
  func adopt(_ observers: [KeyedObserver]) -> KeyRing {
    ring.withLock { ring in
      ring = KeyRing(observers, following: ring)
      return ring
    }
  }

  /// Has a record kept, and the lease with it.
  func keep(_ record: SenderRecord) {
    orders.withLock { orders in
      orders.records[record.sender] = record
      orders.isAsked = true
    }
    work()
  }

  /// Has the lease renewed if half of it is over.
  func renew(at time: Timestamp) {
    guard lease - time < SenderLease.renewal else { return }
    guard !isRenewing.exchange(true, ordering: .relaxed) else { return }
    orders.withLock { $0.isAsked = true }
    work()
  }

  /// Keeps every window as it is, once nothing is received any more.
  func finish(on eventLoop: any EventLoop) async {
    let idle = eventLoop.makePromise(of: Void.self)
    let isIdle = orders.withLock { orders in
      guard orders.isWriting else { return true }
      orders.waiters.append(idle)
      return false
    }
    if isIdle { idle.succeed() }
    try? await idle.futureResult.get()
    let senders = keys.senders
    guard !senders.isEmpty else { return }
    try? await NIOThreadPool.singleton.runIfActive { self.write(senders.compactMap(\.recordAtEnd)) }
  }

  /// Writes what is asked for until nothing is, on a thread of the pool.
  private func work() {
    let begins = orders.withLock { orders in
      guard !orders.isWriting else { return false }
      orders.isWriting = true
      return true
    }
    guard begins else { return }
    NIOThreadPool.singleton.submit { _ in
      while let records = self.nextOrders() { self.write(records) }
    }
  }

  /// Returns the records to write next, or nil if no write was requested; the writing job then ends.
  private func nextOrders() -> [SenderRecord]? {
    let (records, waiters) = orders.withLock { orders -> ([SenderRecord]?, [EventLoopPromise<Void>]) in
      guard orders.isAsked else {
        orders.isWriting = false
        defer { orders.waiters = [] }
        return (nil, orders.waiters)
      }
      orders.isAsked = false
      defer { orders.records = [:] }
      return (Array(orders.records.values), [])
    }
    for waiter in waiters { waiter.succeed() }
    return records
  }

  /// Writes records and a new lease; whatever comes of it, they count from then on.
  private func write(_ records: [SenderRecord]) {
    let now = timeline.now()
    let lease = SenderLease(
      until: now + SenderLease.length,
      written: now,
      steady: clock.steady(),
      machineStart: signing.machineStart
    )
    do {
      try signing.keep(SignedIngest.Keeping(records: records, lease: lease))
      noteSuccess()
    } catch {
      noteFailure(error)
    }
    let ring = keys
    for record in records { ring.sender(record.sender)?.kept(record) }
    leaseEnd.store(lease.until.nanoseconds, ordering: .relaxed)
    isRenewing.store(false, ordering: .relaxed)
    told.withLock { $0 }?.call()
  }

  private func noteFailure(_ error: any Error) {
    let isFirst = orders.withLock { orders in
      defer { orders.isFailing = true }
      return !orders.isFailing
    }
    guard isFirst else { return }
    logger.error(
      "replay windows cannot be kept; ingest goes on, and what is taken meanwhile could be repeated after a crash",
      metadata: [LogKey.error: "\(error)"]
    )
  }

  private func noteSuccess() {
    let wasFailing = orders.withLock { orders in
      defer { orders.isFailing = false }
      return orders.isFailing
    }
    if wasFailing { logger.notice("replay windows are kept again") }
  }
}
