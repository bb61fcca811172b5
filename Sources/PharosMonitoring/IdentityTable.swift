import PharosReports

/// From a hash to a place in an array, by open addressing: one cache line in the usual case.
///
/// A slot holds 32 bits of the hash and the place plus one; the identity itself lies where the place points to and is
/// compared there. Removal shifts what follows back, so that no tombstones slow a table down that lives for months.
struct IdentityTable: Sendable {
  private var slots: [UInt64]
  private var mask: Int
  private(set) var count = 0

  init() {
    slots = Array(repeating: 0, count: 16)
    mask = 15
  }

  /// The place whose identity is the wanted one, or nil.
  @inline(__always)
  func find(_ hash: UInt64, where isWanted: (Int) -> Bool) -> Int? {
    let tag = hash >> 32
    var slot = Int(tag) & mask
    while true {
      let word = slots[slot]
      if word == 0 { return nil }
      if word >> 32 == tag {
        let place = Int(word & 0xFFFF_FFFF) - 1
        if isWanted(place) { return place }
      }
      slot = (slot + 1) & mask
    }
  }

  /// Adds a place that is not in the table yet.
  mutating func insert(_ hash: UInt64, place: Int) {
    if (count + 1) * 4 > slots.count * 3 { grow() }
    put((hash & ~0xFFFF_FFFF) | UInt64(place + 1))
    count += 1
  }

  /// Removes a place.
  mutating func remove(_ hash: UInt64, place: Int) {
    let word = (hash & ~0xFFFF_FFFF) | UInt64(place + 1)
    var hole = Int(hash >> 32) & mask
    while slots[hole] != word {
      guard slots[hole] != 0 else { return }
      hole = (hole + 1) & mask
    }
    count -= 1
    var next = (hole + 1) & mask
    while slots[next] != 0 {
      let home = Int(slots[next] >> 32) & mask
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = 0
  }

  private mutating func put(_ word: UInt64) {
    var slot = Int(word >> 32) & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = word
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: 0, count: old.count * 2)
    mask = slots.count - 1
    for word in old where word != 0 { put(word) }
  }
}

/// Hashes identities with a secret that differs in every process, so that no stranger can fill one slot with many.
///
/// Nothing visible depends on it: tables are only ever asked for one identity, never walked.
struct KeyedHash: Sendable {
  private let secret: UInt64

  /// Takes the secret from the standard library's per-process seed.
  init() {
    var hasher = Hasher()
    hasher.combine("identities")
    secret = UInt64(bitPattern: Int64(hasher.finalize())) | 1
  }

  /// The hash of a beacon.
  func callAsFunction(_ beacon: BeaconID) -> UInt64 { mixed(KeyedHash.words(of: beacon)) }

  /// The hash of an observer.
  func callAsFunction(_ observer: ObserverID) -> UInt64 {
    switch observer {
    case .eui48(let bits): return mixed((bits, 1))
    case .eui64(let bits): return mixed((bits, 2))
    case .uuid(let uuid): return mixed((uuid.high, uuid.low))
    case .name(let name):
      var hasher = Hasher()
      hasher.combine(name)
      return UInt64(bitPattern: Int64(hasher.finalize()))
    }
  }

  /// A number that stands for a beacon in every process alike, for comparison only.
  static func fold(_ beacon: BeaconID) -> UInt64 {
    let (high, low) = words(of: beacon)
    return high &* 0x9E37_79B9_7F4A_7C15 ^ low
  }

  private static func words(of beacon: BeaconID) -> (UInt64, UInt64) {
    let address = beacon.address.map { $0.bits | 1 << 63 } ?? 0
    if let uuid = beacon.uuid {
      let tail = UInt64(beacon.major ?? 0) << 16 | UInt64(beacon.minor ?? 0)
      return (uuid.high ^ tail << 20, uuid.low &+ tail ^ address &* 0xD6E8_FEB8_6659_FD93)
    }
    if let namespace = beacon.namespace {
      let instance = beacon.instance ?? 0
      return (
        namespace.high ^ 0xFEAA, UInt64(namespace.low) << 48 ^ instance ^ address &* 0xD6E8_FEB8_6659_FD93
      )
    }
    return (address, 0xADD2)
  }

  /// - Source: the folded multiplication of wyhash (Wang Yi), twice.
  private func mixed(_ words: (UInt64, UInt64)) -> UInt64 {
    let first = (words.0 ^ secret).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    let folded = first.high ^ first.low ^ words.1
    let second = (folded ^ secret >> 7).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
    return second.high ^ second.low
  }
}
