import Crypto
import CryptoExtras
public import PharosReports

/// The random address hash function `ah`: what ties an address that changes to the key it was made with.
///
/// The 24 random bits in the upper half of a resolvable address, encrypted with the key, give the lower half. Made once for a
/// key, so that its octets are laid out once.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 3, Part H, 2.2.2.
struct AddressFunction: Sendable {
  private let key: SymmetricKey

  init(_ words: IdentityKey.Words) {
    key = SymmetricKey(data: AddressFunction.octets(words.high) + AddressFunction.octets(words.low))
  }

  /// The hash of 24 bits.
  ///
  /// - Parameters:
  ///   - prand: the random part: the low 24 bits count.
  ///   - block: sixteen octets to work in, whatever they hold.
  /// - Returns: 24 bits.
  func callAsFunction(_ prand: UInt32, in block: inout [UInt8]) -> UInt32 {
    for index in 0..<13 { block[index] = 0 }
    block[13] = UInt8(truncatingIfNeeded: prand >> 16)
    block[14] = UInt8(truncatingIfNeeded: prand >> 8)
    block[15] = UInt8(truncatingIfNeeded: prand)
    encrypt(&block)
    return UInt32(block[13]) << 16 | UInt32(block[14]) << 8 | UInt32(block[15])
  }

  /// The security function `e`: one block of AES-128.
  func encrypt(_ block: inout [UInt8]) {
    do {
      try AES.permute(&block, key: key)
    } catch {
      preconditionFailure("16 octets of key and 16 of block are what AES-128 takes: \(error)")
    }
  }

  private static func octets(_ word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
  }
}

extension IdentityKey {
  /// What the fingerprint of a key is made from: a block that no address gives, since those begin with thirteen zeros.
  private static let fingerprintBlock: [UInt8] = Array("pharos irk print".utf8)

  /// Reads a key as sites write it: 32 hexadecimal digits, the most significant octet first, as the specification prints it.
  public init?(_ text: some StringProtocol) {
    guard let octets = Hex.bytes(text) else { return nil }
    self.init(octets: octets)
  }

  /// Makes a key of 16 octets, the most significant first; nil of any other number.
  public init?(octets: [UInt8]) {
    guard octets.count == 16 else { return nil }
    let words = Words(
      high: octets[0..<8].reduce(0) { $0 << 8 | UInt64($1) },
      low: octets[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    )
    var block = IdentityKey.fingerprintBlock
    AddressFunction(words).encrypt(&block)
    self.init(words: words, fingerprint: block[0..<4].reduce(0) { $0 << 8 | UInt32($1) })
  }

  /// The address that the key makes of 24 bits, of which the two highest are replaced by the mark of a resolvable address: what
  /// a device, or a simulated one, sends.
  ///
  /// - Returns: the address, or nil if the key is withheld.
  public func resolvableAddress(prand: UInt32) -> DeviceAddress? {
    guard let words else { return nil }
    let prand = prand & 0x3F_FFFF | 0x40_0000
    var block = [UInt8](repeating: 0, count: 16)
    let hash = AddressFunction(words)(prand, in: &block)
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
