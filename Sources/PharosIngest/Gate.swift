import PharosCaptures
import PharosReports
import PharosSigning
import PharosWire

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
