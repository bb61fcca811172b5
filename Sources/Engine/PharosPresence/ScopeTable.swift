package import PharosModel

/// The part of an identity that every constraint on it names: a proximity UUID, an Eddystone namespace, or that it is a
/// device address.
package struct BeaconScope: Hashable, Sendable {
  let kind: BeaconID.Kind
  let high: UInt64
  let low: UInt64

  /// The scope of all device addresses.
  static let addresses = BeaconScope(kind: .address, high: 0, low: 0)

  init(kind: BeaconID.Kind, high: UInt64, low: UInt64) {
    self.kind = kind
    self.high = high
    self.low = low
  }

  @inline(__always)
  package init(_ beacon: BeaconID) {
    let words = beacon.words
    switch beacon.kind {
    case .proximity: self.init(kind: .proximity, high: words.high, low: words.low)
    case .eddystone: self.init(kind: .eddystone, high: words.high, low: words.low >> 48)
    case .address: self = .addresses
    }
  }

  init(_ constraint: BeaconConstraint) {
    switch constraint {
    case .proximity(let uuid, major: _, minor: _):
      self.init(kind: .proximity, high: uuid.high, low: uuid.low)
    case .eddystone(let namespace, instance: _):
      self.init(kind: .eddystone, high: namespace.high, low: UInt64(namespace.low))
    case .address: self = .addresses
    }
  }
}

/// The scopes that regions, requests and zones ask about, numbered from 1, so that an identity is a number and 8 bytes.
///
/// A scope keeps its number for good. Number 0 stands for every scope that nothing asks about.
package struct ScopeTable: Sendable {
  /// The scopes by their numbers; the first entry is unused.
  private var scopes: [BeaconScope] = [.addresses]
  /// Open addressing with a power of two of slots, at most half full; 0 is free.
  private var slots: [UInt32] = Array(repeating: 0, count: 16)

  /// Stands for a scope that nothing asks about.
  static let none: UInt32 = 0
  /// The number of device addresses.
  static let addresses: UInt32 = 1

  package init() { _ = insert(.addresses) }

  /// The number of a scope, or 0.
  @inline(__always)
  package func number(of scope: BeaconScope) -> UInt32 {
    let mask = slots.count &- 1
    var slot = ScopeTable.home(of: scope) & mask
    while true {
      let number = slots[slot]
      if number == 0 || scopes[Int(number)] == scope { return number }
      slot = (slot &+ 1) & mask
    }
  }

  /// Gives a scope a number, unless it has one.
  package mutating func insert(_ scope: BeaconScope) -> UInt32 {
    let known = number(of: scope)
    guard known == 0 else { return known }
    scopes.append(scope)
    if scopes.count * 2 > slots.count {
      slots = Array(repeating: 0, count: slots.count * 2)
      for number in 1..<scopes.count { place(UInt32(number)) }
    } else {
      place(UInt32(scopes.count - 1))
    }
    return UInt32(scopes.count - 1)
  }

  /// The scope with a number.
  subscript(number: UInt32) -> BeaconScope { scopes[Int(number)] }

  /// The identity within its scope: major and minor, an instance, or an address.
  ///
  /// - Shape: 32 bits of a proximity identity, 48 bits of the others.
  @inline(__always)
  package static func key(of beacon: BeaconID) -> UInt64 {
    let words = beacon.words
    switch beacon.kind {
    case .proximity: return words.tail & 0xFFFF_FFFF
    case .eddystone: return words.low & 0xFFFF_FFFF_FFFF
    case .address: return words.address & 0xFFFF_FFFF_FFFF
    }
  }

  /// The identity of a scope's number and a key; `address` is a part of it unless it is nil.
  package func beacon(_ number: UInt32, key: UInt64, address: UInt64?) -> BeaconID {
    let scope = scopes[Int(number)]
    let word = address.map { $0 & 0xFFFF_FFFF_FFFF | 1 << 63 } ?? 0
    switch scope.kind {
    case .proximity:
      return BeaconID(
        kind: .proximity,
        high: scope.high,
        low: scope.low,
        tail: UInt32(truncatingIfNeeded: key),
        addressWord: word
      )
    case .eddystone:
      return BeaconID(
        kind: .eddystone,
        high: scope.high,
        low: scope.low << 48 | key,
        tail: 0,
        addressWord: word
      )
    case .address:
      return BeaconID(kind: .address, high: 0, low: 0, tail: 0, addressWord: key | 1 << 63)
    }
  }

  private mutating func place(_ number: UInt32) {
    let mask = slots.count - 1
    var slot = ScopeTable.home(of: scopes[Int(number)]) & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = number
  }

  /// Only the operator's configuration puts scopes in, so the hash needs no secret.
  @inline(__always)
  private static func home(of scope: BeaconScope) -> Int {
    let product = (scope.high ^ 0x9E37_79B9_7F4A_7C15)
      .multipliedFullWidth(by: scope.low ^ 0xD6E8_FEB8_6659_FD93 ^ UInt64(scope.kind.rawValue))
    return Int(truncatingIfNeeded: product.high ^ product.low)
  }
}

/// Some scopes.
struct ScopeSet: Sendable {
  /// A bit for each scope, which those share whose numbers differ by a multiple of 64.
  private(set) var bits: UInt64 = 0
  private var numbers: Set<UInt32> = []

  /// Returns true if the set contains a scope.
  func contains(_ scope: UInt32) -> Bool { bits >> UInt64(scope & 63) & 1 != 0 && numbers.contains(scope) }

  mutating func insert(_ scope: UInt32) {
    bits |= 1 << UInt64(scope & 63)
    numbers.insert(scope)
  }

  mutating func removeAll() { self = ScopeSet() }
}
