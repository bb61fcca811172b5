public import PharosReports

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
