package import PharosReports

/// Hashes identities with secrets that differ in every process, so that no stranger can fill one slot with many.
///
/// Nothing visible depends on them: tables are only ever asked for one identity, never walked.
///
/// - Source: the folded multiplication of wyhash (Wang Yi); every word meets a secret before it is multiplied.
package struct KeyedHash: Sendable {
  private let secrets: (UInt64, UInt64, UInt64)

  /// Takes the secrets from the standard library's per-process seed.
  package init() {
    secrets = (KeyedHash.secret(1), KeyedHash.secret(2), KeyedHash.secret(3))
  }

  /// The hash of a beacon.
  package func callAsFunction(_ beacon: BeaconID) -> UInt64 {
    let (high, low, address, tail) = beacon.words
    let first = KeyedHash.fold(high ^ secrets.0, low ^ secrets.1)
    let second = KeyedHash.fold(first ^ tail, secrets.2)
    return address == 0 ? second : KeyedHash.fold(second ^ address, secrets.0)
  }

  /// The hash of an observer.
  func callAsFunction(_ observer: ObserverID) -> UInt64 {
    switch observer {
    case .eui48(let bits): return self(eui48: bits)
    case .eui64(let bits): return mixed(bits, 2)
    case .uuid(let uuid): return mixed(uuid.high, uuid.low)
    case .name(let name):
      var hasher = Hasher()
      hasher.combine(name)
      return UInt64(bitPattern: Int64(hasher.finalize()))
    }
  }

  /// The hash of an observer with an EUI-48.
  @inline(__always)
  func callAsFunction(eui48 bits: UInt64) -> UInt64 { mixed(bits, 1) }

  /// The hash of an identity within its scope, with the address that is a part of it, if any.
  @inline(__always)
  func callAsFunction(scope: UInt32, key: UInt64, address: UInt64? = nil) -> UInt64 {
    let first = KeyedHash.fold(UInt64(scope) &* 0x9E37_79B9_7F4A_7C15 ^ key ^ secrets.0, secrets.2)
    guard let address else { return first }
    return KeyedHash.fold(first ^ address ^ 1 << 63, secrets.1)
  }

  /// A number that stands for a beacon in every process alike, for comparison only.
  static func fold(_ beacon: BeaconID) -> UInt64 {
    let (high, low, address, tail) = beacon.words
    let far = address &* 0xD6E8_FEB8_6659_FD93
    switch beacon.kind {
    case .proximity: return (high ^ tail << 20) &* 0x9E37_79B9_7F4A_7C15 ^ (low &+ tail ^ far)
    case .eddystone: return (high ^ 0xFEAA) &* 0x9E37_79B9_7F4A_7C15 ^ low ^ far
    case .address: return address &* 0x9E37_79B9_7F4A_7C15 ^ 0xADD2
    }
  }

  private func mixed(_ first: UInt64, _ second: UInt64) -> UInt64 {
    KeyedHash.fold(KeyedHash.fold(first ^ secrets.0, second ^ secrets.1), secrets.2)
  }

  /// Odd, so that no multiplication by it loses anything below.
  private static func secret(_ number: Int) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(number)
    return UInt64(bitPattern: Int64(hasher.finalize())) | 1
  }

  @inline(__always)
  private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}
