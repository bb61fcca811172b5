public import PharosDocuments

/// The identity that an observer gives itself inside its datagrams.
///
/// The source address of a datagram is never the identity: it changes behind NAT.
public enum ObserverID: Hashable, Sendable {
  /// A 48-bit extended unique identifier, usually the gateway's MAC.
  case eui48(UInt64)
  /// A 64-bit extended unique identifier, as reelyActive's receivers have.
  case eui64(UInt64)
  /// A UUID, as handsets have.
  case uuid(UUID128)
  /// A name of 1 to 64 bytes of UTF-8 without control characters.
  case name(String)

  /// The longest name in bytes of UTF-8.
  public static let maximumName = 64

  /// Reads an identity as people and formats write it, or nil if it is empty, longer than a name may be or has
  /// control characters.
  ///
  /// Six or eight octets (with colons, dashes or nothing between them) are an EUI-48 or EUI-64, 32 digits with
  /// or without dashes are a UUID; all else is a name. One identity has one value, however it was written.
  public init?(_ text: some StringProtocol) {
    if let bits = OctetText.parse(text, octets: 6) {
      self = .eui48(bits)
    } else if let bits = OctetText.parse(text, octets: 8) {
      self = .eui64(bits)
    } else if let uuid = UUID128(text) {
      self = .uuid(uuid)
    } else {
      guard let name = ObserverID.name(checked: text) else { return nil }
      self = name
    }
  }

  /// Reads a name; nil if it is empty, longer than a name may be or has control characters.
  package static func name(checked text: some StringProtocol) -> ObserverID? {
    guard 1...maximumName ~= text.utf8.count, !PlainText.hasControls(text) else { return nil }
    return .name(String(text))
  }

  /// Indicates whether it is a hardware address, which handsets do not know of themselves.
  package var isHardware: Bool {
    switch self {
    case .eui48, .eui64: true
    case .uuid, .name: false
    }
  }

  /// A number that is the same in every process: what spreads observers over shards.
  ///
  /// Not secret and not for tables that unknown senders can fill; those have a keyed hash.
  ///
  /// - Source: FNV-1a over the words, then the finaliser of MurmurHash3 (Appleby).
  public var stableHash: UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    switch self {
    case .eui48(let bits), .eui64(let bits): hash = (hash ^ bits) &* 0x100_0000_01B3
    case .uuid(let uuid):
      hash = (hash ^ uuid.high) &* 0x100_0000_01B3
      hash = (hash ^ uuid.low) &* 0x100_0000_01B3
    case .name(let name):
      for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ hash >> 33
  }

  /// The number of cells that observers are spread over, whatever the number of shards.
  public static let cells = 1 << cellBits
  /// The bits of a cell's number.
  public static let cellBits = 6
  /// The factors that the words of an identity are multiplied by to compute its cell: the first for each further word,
  /// the others at the end.
  ///
  /// They have 32 bits, so that a packet filter of the kernel can give an observer's datagrams to the loop that decides
  /// about it.
  ///
  /// - Source: the first prime of xxHash (Collet); the factors of MurmurHash3's finaliser (Appleby).
  public static let cellFactors: [UInt32] = [0x9E37_79B1, 0x85EB_CA6B, 0xC2B2_AE35]

  /// The cell of the observer: what is bounded for many observers together is bounded for each cell by itself.
  ///
  /// All observers of a cell are in one shard, so that such a bound bites alike at any number of shards.
  public var cell: Int {
    switch self {
    case .eui48(let bits), .eui64(let bits): ObserverID.cell(of: ObserverID.joined(0, bits))
    case .uuid(let uuid): ObserverID.cell(of: ObserverID.joined(ObserverID.joined(0, uuid.high), uuid.low))
    case .name: Int(stableHash % UInt64(ObserverID.cells))
    }
  }

  /// Two further words of 32 bits of an identity.
  private static func joined(_ hash: UInt32, _ words: UInt64) -> UInt32 {
    let first = hash &* cellFactors[0] ^ UInt32(truncatingIfNeeded: words >> 32)
    return first &* cellFactors[0] ^ UInt32(truncatingIfNeeded: words)
  }

  private static func cell(of hash: UInt32) -> Int {
    let mixed = hash &* cellFactors[1]
    let last = (mixed ^ mixed >> 15) &* cellFactors[2]
    return Int(last >> (32 - UInt32(cellBits)))
  }

  /// The shard, of so many, that the observer's reports reach; of more shards than cells the rest stay idle.
  public func shard(of count: Int) -> Int { count > 1 ? cell % count : 0 }
}

extension ObserverID: CustomStringConvertible {
  /// The canonical text; ``init(_:)`` reads it back to the same value.
  public var description: String {
    switch self {
    case .eui48(let bits): Hex.octets(bits, bytes: 6)
    case .eui64(let bits): Hex.octets(bits, bytes: 8)
    case .uuid(let uuid): uuid.description
    case .name(let name): name
    }
  }
}

extension ObserverID: Comparable {
  /// Orders identities by sort, then by value.
  public static func < (left: ObserverID, right: ObserverID) -> Bool {
    switch (left, right) {
    case (.eui48(let left), .eui48(let right)), (.eui64(let left), .eui64(let right)): left < right
    case (.uuid(let left), .uuid(let right)): left < right
    case (.name(let left), .name(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
    default: left.rank < right.rank
    }
  }

  private var rank: Int {
    switch self {
    case .eui48: 0
    case .eui64: 1
    case .uuid: 2
    case .name: 3
    }
  }
}

extension ObserverID: FieldUnion {
  /// The name of the field.
  public static var fieldName: String { "an observer's kind" }

  /// Hands each case to a coder.
  @inlinable
  public static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.eui48) { if case .eui48(let bits) = $0 { bits } else { nil } }
    try coder.code(&union, 1, Self.eui64) { if case .eui64(let bits) = $0 { bits } else { nil } }
    try coder.code(&union, 2, Self.uuid) { if case .uuid(let uuid) = $0 { uuid } else { nil } }
    try coder.code(&union, 3, { Self.name($0.form) }) {
      if case .name(let name) = $0 { ObserverName(known: name) } else { nil }
    }
  }
}

/// The name of an observer, which has a length of at least one byte.
@usableFromInline
struct ObserverName: FieldForm {
  @usableFromInline let form: String

  @inlinable
  init(known name: String) { form = name }

  @usableFromInline
  init?(form: String) {
    guard (1...ObserverID.maximumName).contains(form.utf8.count) else { return nil }
    self.form = form
  }
}

extension ObserverID {
  /// A text that is the same for all spellings of an identity that people and gateways confuse: names in another case, addresses
  /// from the last octet to the first; nil for a UUID, which has one spelling.
  package var commonSpelling: String? {
    switch self {
    case .name(let name): name.lowercased()
    case .eui48(let bits): Hex.octets(min(bits, bits.byteSwapped >> 16), bytes: 6)
    case .eui64(let bits): Hex.octets(min(bits, bits.byteSwapped), bytes: 8)
    case .uuid: nil
    }
  }

  /// The difference between this identity and another one with the same ``commonSpelling``.
  package var differenceOfSpelling: String {
    isHardware ? "with its octets in the reverse order" : "in another case"
  }
}
