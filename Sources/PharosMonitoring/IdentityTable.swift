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

  /// The first place whose identity may be the wanted one by its hash, or −1.
  func candidate(_ hash: UInt64) -> Int32 {
    let tag = hash >> 32
    let slots = slots.span
    var slot = Int(tag) & mask
    while true {
      let word = slots[unchecked: slot]
      if word == 0 { return -1 }
      if word >> 32 == tag { return Int32(truncatingIfNeeded: word & 0xFFFF_FFFF) - 1 }
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
