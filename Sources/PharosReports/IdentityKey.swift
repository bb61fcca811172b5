/// The key with which a device makes the addresses that it changes every few minutes: its identity resolving key.
///
/// Any holder of the key can follow the device for ever, so nothing of it but the ``fingerprint`` is ever shown,
/// logged, returned or written: descriptions and mirrors leave it out, and a recording names the fingerprint alone.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 3, Part H, 2.4.2.1.
public struct IdentityKey: Hashable, Sendable {
  /// Tells one key from another and says nothing about it: 32 bits that are made with it.
  public let fingerprint: UInt32
  /// The 128 bits, the first octet most significant; nil for a key of which only the fingerprint is known.
  package let words: Words?

  /// The 128 bits of a key.
  package struct Words: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
      self.high = high
      self.low = low
    }
  }

  /// A key with a fingerprint that was made with it.
  package init(words: Words, fingerprint: UInt32) {
    self.words = words
    self.fingerprint = fingerprint
  }

  /// A key that is somewhere else.
  public init(withheld fingerprint: UInt32) {
    words = nil
    self.fingerprint = fingerprint
  }

  /// Whether the key itself is missing, as in a site that was read from a recording.
  public var isWithheld: Bool { words == nil }
}

extension IdentityKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The fingerprint.
  public var description: String { "key \(Hex.text(UInt64(fingerprint), bytes: 4))" }
  /// The fingerprint.
  public var debugDescription: String { description }
  /// Nothing: what dumps a value must not dump a key.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Site {
  /// The same with the keys that another site holds, wherever this one names their fingerprints alone.
  ///
  /// What makes a recording's site whole again: the recording says which keys were used, the site file has them.
  public func withKeys(of other: Site) -> Site {
    var known: [UInt32: IdentityKey] = [:]
    for key in other.beacons.compactMap(\.identityKey) where !key.isWithheld { known[key.fingerprint] = key }
    var site = self
    for index in site.beacons.indices {
      guard let key = site.beacons[index].identityKey, key.isWithheld else { continue }
      site.beacons[index].identityKey = known[key.fingerprint] ?? key
    }
    return site
  }

  /// How many beacons have a key that is missing here.
  public var withheldKeys: Int { beacons.count { $0.identityKey?.isWithheld ?? false } }
}
