import PharosDocuments
public import PharosModel

/// A replacement for the address of an unregistered device: a number without a meaning beyond one run of one process.
public struct Pseudonym: Hashable, Comparable, Sendable {
  /// 48 bits of a keyed hash.
  public let bits: UInt64

  /// Makes one from the low 48 bits of a number.
  public init(bits: UInt64) { self.bits = bits & 0xFFFF_FFFF_FFFF }

  /// Orders pseudonyms by their bits.
  public static func < (left: Pseudonym, right: Pseudonym) -> Bool { left.bits < right.bits }
}

extension Pseudonym: CustomStringConvertible {
  /// A tilde and twelve hexadecimal digits; the tilde distinguishes it from an address.
  public var description: String { "~" + Hex.text(bits, bytes: 6) }

  /// Reads the text back, or nil if it is none.
  public init?(_ text: some StringProtocol) {
    guard text.hasPrefix("~"), let bytes = Hex.bytes(text.dropFirst()), bytes.count == 6 else { return nil }
    self.init(bits: bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }
}

/// A key that turns addresses into pseudonyms; its owner draws it at random and keeps it secret.
///
/// There are only 2⁴⁸ addresses, so a hash without a key hides none of them. An outsider without the key cannot tell
/// which device a pseudonym stands for, nor whether two runs heard the same device; within one run a device stays one
/// line in a table.
///
/// - Source: SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
public struct PseudonymKey: Sendable {
  private let low: UInt64
  private let high: UInt64

  /// Makes a key of two words.
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Returns the pseudonym of an address; its kind is ignored, because formats report it differently.
  public func callAsFunction(_ address: DeviceAddress) -> Pseudonym { Pseudonym(bits: hash(address.bits)) }

  /// SipHash-2-4 of the eight octets of a word, the lowest first.
  package func hash(_ word: UInt64) -> UInt64 {
    var state = SipState(low: low, high: high)
    state.absorb(word)
    state.absorb(8 << 56)
    return state.finish()
  }
}

/// The state of SipHash.
package struct SipState {
  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64

  package init(low: UInt64, high: UInt64) {
    v0 = low ^ 0x736F_6D65_7073_6575
    v1 = high ^ 0x646F_7261_6E64_6F6D
    v2 = low ^ 0x6C79_6765_6E65_7261
    v3 = high ^ 0x7465_6462_7974_6573
  }

  /// Takes eight octets, the lowest first: two rounds.
  package mutating func absorb(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  /// Ends with four rounds.
  package mutating func finish() -> UInt64 {
    v2 ^= 0xFF
    for _ in 0..<4 { round() }
    return v0 ^ v1 ^ v2 ^ v3
  }

  private mutating func round() {
    v0 &+= v1
    v1 = SipState.turn(v1, 13) ^ v0
    v0 = SipState.turn(v0, 32)
    v2 &+= v3
    v3 = SipState.turn(v3, 16) ^ v2
    v0 &+= v3
    v3 = SipState.turn(v3, 21) ^ v0
    v2 &+= v1
    v1 = SipState.turn(v1, 17) ^ v2
    v2 = SipState.turn(v2, 32)
  }

  private static func turn(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
}
