import Atomics
import Logging
import NIOCore
import NIOPosix
import PharosCaptures
import PharosModel
import PharosSecurity
import PharosWire
import Synchronization

/// The admission check of one loop, which applies the keys, the list of observers, and the policies of the listeners.
///
/// A value with a copy of the keys, so that judging a datagram needs no lock but its sender's own.
struct AdmissionCheck {
  /// The judgement of a datagram that has not been decoded yet.
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
  private let signingStore: SigningStore?
  /// The observers that count, if the engine cannot decide this: when some listeners are open and others are not.
  private var listed: Set<ObserverID>?

  /// A gate without keys.
  init() { signingStore = nil }

  /// A gate with the keys of a signing store.
  ///
  /// - Parameters:
  ///   - signingStore: keeps replay windows.
  ///   - site: lists observers.
  init(_ signingStore: SigningStore, site: Site) {
    self.signingStore = signingStore
    keys = signingStore.keys
    listed = AdmissionCheck.listed(by: site)
  }

  /// Takes over other keys.
  mutating func adopt(_ keys: KeyRing) { self.keys = keys }

  /// Takes over another list of observers.
  mutating func adopt(listed: Set<ObserverID>?) { self.listed = listed }

  /// The list of observers that a site's gates need.
  ///
  /// - Returns: nil if the site admits only listed observers: then the engine enforces this and puts the others in quarantine.
  static func listed(by site: Site) -> Set<ObserverID>? {
    site.admission == .open ? Set(site.observers.map(\.id)) : nil
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
    let lease = signingStore?.lease ?? .distantFuture
    switch sender.judge(head, received: received, lease: lease) {
    case .accepted:
      signingStore?.renew(at: received)
      return .admitted(signer: head.observer)
    case .acceptedToRecord(let record):
      signingStore?.keep(record)
      return .admitted(signer: head.observer)
    case .waits(let record):
      if let record { signingStore?.keep(record) } else { signingStore?.renew(at: received) }
      return .held(by: sender.name)
    case .refused(let reason):
      return .refused(.pharos, reason)
    }
  }

  /// Returns the reason to refuse reports of an observer, or nil to accept them.
  ///
  /// - Parameters:
  ///   - observer: the observer that a datagram names.
  ///   - signer: the observer that signed it, if it is signed.
  ///   - policy: the listener's policy.
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

  /// The maximum number of held datagrams of one sender.
  ///
  /// 512: a sender of a hundred datagrams a second, during the five seconds that the slowest disks take for a write.
  static let maximumOfSender = 512
  /// The maximum size of the held datagrams of one loop.
  ///
  /// - Units: bytes. 8 MiB: the first datagrams of five thousand gateways.
  static let maximumBytes = 8 << 20

  private(set) var entries: [Entry] = []
  private var bytes = 0
  private var counts: [SenderName: Int] = [:]

  /// Indicates whether no datagram is held.
  var isEmpty: Bool { entries.isEmpty }

  /// Holds a datagram; false if there is no room for it.
  mutating func hold(_ entry: Entry) -> Bool {
    let count = counts[entry.sender, default: 0]
    guard count < HeldDatagrams.maximumOfSender, bytes + entry.bytes.count <= HeldDatagrams.maximumBytes
    else {
      return false
    }
    counts[entry.sender] = count + 1
    bytes += entry.bytes.count
    entries.append(entry)
    return true
  }

  /// Removes and returns all of them, in the order of arrival.
  mutating func removeAll() -> [Entry] {
    defer { self = HeldDatagrams() }
    return entries
  }
}

/// The writer of replay windows to the disk, many in one write, before anything is taken on the strength of them.
///
/// Loops request writes and continue; they judge the datagrams that they hold again when the store calls them. One write
/// is in progress at a time, and all requests that arrive meanwhile go into the next one, so that a thousand gateways
/// that start at once cost a handful of writes.
final class SigningStore: Sendable {
  private struct Orders {
    /// The newest record that was asked for, for each sender.
    var records: [SenderName: SenderRecord] = [:]
    /// Indicates whether a write was requested; each write includes a new lease.
    var isAsked = false
    var isWriting = false
    /// The promises to fulfill when no write is in progress.
    var waiters: [EventLoopPromise<Void>] = []
    /// Indicates whether the last write failed.
    var isFailing = false
  }

  /// The keys, which changes replace; loops have copies of their own.
  private let ring: Mutex<KeyRing>
  private let orders = Mutex(Orders())
  /// The end of the lease that the disk holds.
  ///
  /// Relaxed: a thread that reads an old value renews too early or holds a datagram for a moment.
  private let leaseEnd: ManagedAtomic<Int64>
  /// Indicates whether a new lease was requested.
  ///
  /// Relaxed, for the same reason as `leaseEnd`.
  private let isRenewing = ManagedAtomic(false)
  private let callback = Mutex<Callback?>(nil)

  private let signing: SignedIngest
  private let timeline: Timeline
  private let clock: IngestClock
  private let logger: Logger

  /// Reads the state that the previous run has left, and writes it as self-contained records, with a first lease.
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

  /// Sets the function to call after each write, even a failed one; called once, before the first datagram.
  func onKept(_ body: @escaping @Sendable () -> Void) { callback.withLock { $0 = Callback(call: body) } }

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

  /// Stores every window as it is, after the last datagram has been received.
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
      recordSuccess()
    } catch {
      recordFailure(error)
    }
    let ring = keys
    for record in records { ring.sender(record.sender)?.kept(record) }
    leaseEnd.store(lease.until.nanoseconds, ordering: .relaxed)
    isRenewing.store(false, ordering: .relaxed)
    callback.withLock { $0 }?.call()
  }

  private func recordFailure(_ error: any Error) {
    let isFirst = orders.withLock { orders in
      defer { orders.isFailing = true }
      return !orders.isFailing
    }
    guard isFirst else { return }
    logger.error(
      "Cannot store replay windows. Ingest continues, and datagrams accepted meanwhile could be replayed after a crash.",
      metadata: [LogKey.error: "\(error)"]
    )
  }

  private func recordSuccess() {
    let wasFailing = orders.withLock { orders in
      defer { orders.isFailing = false }
      return orders.isFailing
    }
    if wasFailing { logger.notice("Replay windows are stored again.") }
  }
}
