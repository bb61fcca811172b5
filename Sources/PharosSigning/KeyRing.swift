public import PharosReports
public import PharosWire

/// All keys at one moment: who may sign with what, ready to verify with.
///
/// An immutable value. A change of keys makes a new ring out of the old one, which the loops take over one after the other;
/// what each key has already taken stays with the key, so that no repeat slips in between.
public struct KeyRing: Sendable {
  /// The most observers with keys.
  ///
  /// 100,000: ten times the largest sites, at some 500 bytes each.
  public static let mostObservers = 100_000

  /// One key, ready to verify with.
  struct Lock: Sendable {
    let key: ObserverKey
    let expiresAt: Timestamp?
    let authenticator: MessageAuthenticator
    let sender: SignedSender
  }

  /// What is known of one observer.
  struct Member: Sendable {
    let observer: KeyedObserver
    let locks: [Lock]
  }

  private let members: [ObserverID: Member]

  /// Without any key.
  public init() { members = [:] }

  /// Prepares for the keys of some observers.
  ///
  /// - Parameters:
  ///   - observers: who has which keys; of two entries of one observer the later one counts.
  ///   - older: the ring whose place this one takes; keys that are in both go on where they were.
  ///   - records: what was kept of keys by the run before; those that are in the older ring are not looked at.
  ///   - restart: up to when the run before can have taken anything, by its R.
  public init(
    _ observers: [KeyedObserver],
    following older: KeyRing = KeyRing(),
    records: [SenderRecord] = [],
    endedBy restart: Timestamp = .distantPast
  ) {
    let kept = Dictionary(records.map { ($0.sender, $0) }, uniquingKeysWith: { $1 })
    var members: [ObserverID: Member] = [:]
    for observer in observers {
      let known = older.members[observer.id]?.locks ?? []
      let locks = observer.keys.map { entry in
        let name = SenderName(observer: observer.id, keyID: entry.key.id)
        let same = known.first { $0.sender.name == name && $0.key == entry.key }
        return Lock(
          key: entry.key,
          expiresAt: entry.expiresAt,
          authenticator: same?.authenticator ?? MessageAuthenticator(secret: entry.key.secret),
          sender: same?.sender ?? SignedSender(name, window: SenderWindow(kept[name], endedBy: restart))
        )
      }
      members[observer.id] = Member(observer: observer, locks: locks)
    }
    self.members = members
  }

  /// A Boolean value that is true if the ring holds no observer.
  public var isEmpty: Bool { members.isEmpty }

  /// How many observers have keys.
  public var count: Int { members.count }

  /// Whether an observer has, or had, keys, so that it must sign.
  public func mustSign(_ observer: ObserverID) -> Bool { members[observer] != nil }

  /// Whether a sender may send records of another observer: itself and its own radios, and never one that has keys of its
  /// own.
  public func mayVouch(_ sender: ObserverID, for observer: ObserverID) -> Bool {
    if sender == observer { return true }
    guard let member = members[sender], member.observer.radios.contains(observer) else { return false }
    return members[observer] == nil
  }

  /// Who signed a datagram.
  ///
  /// Whether it comes for the first time is judged by the sender's window, in ``SignedSender/judge(_:received:lease:)``.
  ///
  /// - Parameters:
  ///   - datagram: the whole of it.
  ///   - head: its head.
  ///   - time: R.
  /// - Returns: the sender whose key made the tag.
  /// - Throws: `notSigned`, `unknownKey`, `expiredKey` or `badSignature`.
  /// - Complexity: a table look-up and a hash over the datagram; no allocation but two small ones of the hash.
  public func signer(
    of datagram: RawSpan,
    head: PharosDatagramHead,
    at time: Timestamp
  ) throws(DatagramRefusal) -> SignedSender {
    guard let place = head.tag else { throw .notSigned }
    guard let member = members[head.observer] else { throw .unknownKey }
    for lock in member.locks where lock.key.id == head.keyID {
      // The tag is looked at first: a stranger learns nothing of how long a key is good.
      let tag = datagram.extracting(place)
      guard lock.authenticator.isValid(tag: tag, of: datagram.extracting(0..<place.lowerBound)) else {
        throw .badSignature
      }
      if let end = lock.expiresAt, time >= end { throw .expiredKey }
      return lock.sender
    }
    throw .unknownKey
  }

  /// The sender with a name, or nil.
  public func sender(_ name: SenderName) -> SignedSender? {
    members[name.observer]?.locks.first { $0.key.id == name.keyID }?.sender
  }

  /// All senders, in no order: one for each key.
  public var senders: [SignedSender] { members.values.flatMap { $0.locks.map(\.sender) } }
}

/// An observer with the keys it may sign with, and whom else it may speak for.
public struct KeyedObserver: Hashable, Sendable {
  /// One key and how long it is good.
  public struct Entry: Hashable, Sendable {
    /// The key.
    public var key: ObserverKey
    /// When it was made.
    public var createdAt: Timestamp
    /// From when on nothing signed with it is taken, or nil until it is revoked.
    public var expiresAt: Timestamp?

    /// Makes an entry.
    public init(key: ObserverKey, createdAt: Timestamp, expiresAt: Timestamp? = nil) {
      self.key = key
      self.createdAt = createdAt
      self.expiresAt = expiresAt
    }

    /// Whether nothing signed with it is taken any more.
    public func hasExpired(at time: Timestamp) -> Bool { expiresAt.map { time >= $0 } ?? false }
  }

  /// The most keys of one observer.
  ///
  /// 4: the one in use, the one that takes its place, and two for an operator who rotates again within an overlap.
  public static let mostKeys = 4
  /// The most radios of one sender.
  ///
  /// 16: more than gateways have. A datagram names them one after the other, and each is looked for in the list.
  public static let mostRadios = 16

  /// Who it is.
  public let id: ObserverID
  /// Its keys, the oldest first.
  ///
  /// Without any nothing is taken from it where signatures are asked for: so a key that was revoked does not open the door to
  /// who signs nothing.
  public var keys: [Entry]
  /// The further observers whose records it may send: its own radios, and none that has keys.
  public var radios: [ObserverID]

  /// Makes an observer.
  public init(id: ObserverID, keys: [Entry] = [], radios: [ObserverID] = []) {
    self.id = id
    self.keys = keys
    self.radios = radios
  }
}

extension KeyedObserver: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    id.write(to: &writer)
    writer.write(UInt32(keys.count))
    for entry in keys {
      writer.write(entry.key.id)
      for byte in entry.key.secret { writer.write(byte) }
      entry.createdAt.write(to: &writer)
      writer.write(entry.expiresAt)
    }
    writer.write(radios)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    id = try ObserverID(from: &reader)
    keys = []
    for _ in 0..<(try reader.count(ofAtLeast: ObserverKey.secretLength)) {
      let keyID = try reader.number(UInt32.self)
      let secret = try reader.raw(ObserverKey.secretLength)
      guard let key = try? ObserverKey(id: keyID, secret: secret) else { throw reader.failure(.badText) }
      let createdAt = try Timestamp(from: &reader)
      keys.append(Entry(key: key, createdAt: createdAt, expiresAt: try reader.optional(Timestamp.self)))
    }
    radios = try reader.list(ObserverID.self)
  }
}
