import PharosCrypto
public import PharosReports

/// The random address hash function `ah`: ties a resolvable private address to the key that it was made with.
///
/// The 24 random bits in the upper half of a resolvable address, encrypted with the key, give the lower half. The key is
/// expanded once.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 3, Part H, 2.2.2.
struct AddressFunction: Sendable {
  private let cipher: AES128

  init(_ words: IdentityKey.Words) { cipher = AES128(key: (words.high, words.low)) }

  /// Returns the 24-bit hash of 24 random bits.
  func callAsFunction(_ prand: UInt32) -> UInt32 {
    UInt32(truncatingIfNeeded: encrypt((0, UInt64(prand & 0xFF_FFFF))).low) & 0xFF_FFFF
  }

  /// The security function `e`: one block of AES-128.
  func encrypt(_ block: AES128.Block) -> AES128.Block { cipher.encrypt(block) }
}

extension IdentityKey {
  /// What the fingerprint of a key is made from: a block that no address gives, since those begin with thirteen zeros.
  private static let fingerprintBlock: AES128.Block = words(Array("pharos irk print".utf8))

  /// Reads a key as sites write it: 32 hexadecimal digits, the most significant octet first, as the specification prints it.
  public init?(_ text: some StringProtocol) {
    guard let octets = Hex.bytes(text) else { return nil }
    self.init(octets: octets)
  }

  /// Makes a key of 16 octets, the most significant first; nil of any other number.
  public init?(octets: [UInt8]) {
    guard octets.count == 16 else { return nil }
    let (high, low) = IdentityKey.words(octets)
    let words = Words(high: high, low: low)
    let block = AddressFunction(words).encrypt(IdentityKey.fingerprintBlock)
    self.init(words: words, fingerprint: UInt32(truncatingIfNeeded: block.high >> 32))
  }

  /// Sixteen octets as two numbers.
  private static func words(_ octets: [UInt8]) -> AES128.Block {
    (
      high: octets[0..<8].reduce(0) { $0 << 8 | UInt64($1) },
      low: octets[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    )
  }

  /// The address that the key makes of 24 bits, of which the two highest are replaced by the mark of a resolvable address: what
  /// a device, or a simulated one, sends.
  ///
  /// - Returns: the address, or nil if the key is withheld.
  public func resolvableAddress(prand: UInt32) -> DeviceAddress? {
    guard let words else { return nil }
    let prand = prand & 0x3F_FFFF | 0x40_0000
    let hash = AddressFunction(words)(prand)
    return DeviceAddress(bits: UInt64(prand) << 24 | UInt64(hash), kind: .random)
  }
}

extension DeviceAddress {
  /// Whether a key may resolve it: random, or not told to be public, and with the highest bits 01.
  ///
  /// Many gateways do not tell the sort of an address. Of those that are public no more than one in 16 million fits a key by
  /// chance.
  ///
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 1.3.2.2.
  @inlinable public var isPerhapsResolvable: Bool { bits >> 46 == 0b01 && kind != .public }
}
