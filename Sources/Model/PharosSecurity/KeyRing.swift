public import PharosDocuments
public import PharosModel
public import PharosWire

/// A snapshot of all keys of all observers, ready to verify with.
///
/// An immutable value. A change of keys makes a new ring out of the old one, which the loops adopt one after the other.
/// The replay window of a key stays with the key, so that no repeat is accepted in between.
public struct KeyRing: Sendable {
  /// The maximum number of observers with keys.
  ///
  /// 100,000: ten times the largest sites, at some 500 bytes each.
  public static let maximumObservers = 100_000

  /// A key, ready to verify with.
  struct Lock: Sendable {
    let key: ObserverKey
    let expiresAt: Timestamp?
    let authenticator: MessageAuthenticator
    let sender: SignedSender
  }

  /// The keys of one observer.
  struct Member: Sendable {
    let observer: KeyedObserver
    let locks: [Lock]
  }

  private let members: [ObserverID: Member]

  /// Creates a ring without keys.
  public init() { members = [:] }

  /// Creates a ring of the keys of some observers.
  ///
  /// - Parameters:
  ///   - observers: the observers with their keys; of two entries of one observer the later one counts.
  ///   - older: the ring that this one replaces; keys that are in both keep their state.
  ///   - records: the records of keys that the previous run kept; records of keys in the older ring are ignored.
  ///   - restart: the latest R at which the previous run can have taken a datagram.
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

  /// The number of observers with keys.
  public var count: Int { members.count }

  /// Returns whether an observer has, or had, keys, so that it must sign.
  public func mustSign(_ observer: ObserverID) -> Bool { members[observer] != nil }

  /// Returns whether a sender may send records of another observer: of itself and its own radios, but never of one that
  /// has keys of its own.
  public func mayVouch(_ sender: ObserverID, for observer: ObserverID) -> Bool {
    if sender == observer { return true }
    guard let member = members[sender], member.observer.radios.contains(observer) else { return false }
    return members[observer] == nil
  }

  /// Returns the sender that signed a datagram.
  ///
  /// The sender's window detects repeats, in ``SignedSender/judge(_:received:lease:)``.
  ///
  /// - Parameters:
  ///   - datagram: the whole datagram.
  ///   - head: its head.
  ///   - time: the R of the datagram.
  /// - Returns: the sender whose key made the tag.
  /// - Throws: `notSigned`, `unknownKey`, `expiredKey` or `badSignature`.
  /// - Complexity: a table look-up and a hash over the datagram; two small allocations by the hash.
  public func signer(
    of datagram: RawSpan,
    head: PharosDatagramHead,
    at time: Timestamp
  ) throws(DatagramRefusal) -> SignedSender {
    guard let place = head.tag else { throw .notSigned }
    guard let member = members[head.observer] else { throw .unknownKey }
    for lock in member.locks where lock.key.id == head.keyID {
      // The tag is checked first: an unknown sender does not learn how long a key is valid.
      let tag = datagram.extracting(place)
      guard lock.authenticator.isValid(tag: tag, of: datagram.extracting(0..<place.lowerBound)) else {
        throw .badSignature
      }
      if let end = lock.expiresAt, time >= end { throw .expiredKey }
      return lock.sender
    }
    throw .unknownKey
  }

  /// Returns the sender with a name, or nil.
  public func sender(_ name: SenderName) -> SignedSender? {
    members[name.observer]?.locks.first { $0.key.id == name.keyID }?.sender
  }

  /// All senders, in no order: one for each key.
  public var senders: [SignedSender] { members.values.flatMap { $0.locks.map(\.sender) } }
}

/// An observer with its keys and the other observers whose records it may send.
public struct KeyedObserver: Hashable, Sendable {
  /// A key with its period of validity.
  public struct Entry: Hashable, Sendable {
    /// The key.
    public var key: ObserverKey
    /// The time of its creation.
    public var createdAt: Timestamp
    /// The time from which nothing signed with it is taken, or nil until it is revoked.
    public var expiresAt: Timestamp?

    /// Makes an entry.
    public init(key: ObserverKey, createdAt: Timestamp, expiresAt: Timestamp? = nil) {
      self.key = key
      self.createdAt = createdAt
      self.expiresAt = expiresAt
    }

    /// Returns whether the key has expired, so that nothing signed with it is accepted.
    public func hasExpired(at time: Timestamp) -> Bool { expiresAt.map { time >= $0 } ?? false }
  }

  /// The maximum number of keys of one observer.
  ///
  /// 4: the current one, its replacement, and two for an operator who rotates again within an overlap.
  public static let maximumKeys = 4
  /// The maximum number of radios of one sender.
  ///
  /// 16: more than gateways have. A datagram names them one after the other, and each is searched for in the list.
  public static let maximumRadios = 16

  /// The identifier of the observer.
  public let id: ObserverID
  /// Its keys, the oldest first.
  ///
  /// Without any key, nothing is taken from the observer where signatures are required. So revoking a key does not
  /// admit unsigned datagrams.
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

extension KeyedObserver: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    KeyedObserver(
      id: try coder.field(value().id),
      keys: try coder.field(value().keys),
      radios: try coder.field(value().radios)
    )
  }
}

extension KeyedObserver.Entry: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let id = try coder.field(value().key.id)
    var secret = C.isReader ? [] : value().key.secret
    try coder.code(raw: &secret, count: ObserverKey.secretLength)
    try coder.check(id != 0, "a key's id")
    return Self(
      key: ObserverKey(unchecked: id, secret),
      createdAt: try coder.field(value().createdAt),
      expiresAt: try coder.field(value().expiresAt)
    )
  }
}
