import CTrackTable
package import PharosModel

/// The hash table of one observer's tracks: from the hash of an identity to the place of its track.
///
/// A bucket is one cache line of 15 entries of 4 bytes and a count of the entries that found it full and lie further on.
/// An entry holds 12 bits of the hash, its tag, and the place plus one. One instruction compares 4 tags; the identity itself is
/// compared in the track. The table grows by a half and then puts all tracks in again.
///
/// - Source: buckets of tags as in F14 (N. Bronson, X. Shi, "Open-sourcing F14", Meta Engineering 2019).
package struct TrackTable: @unchecked Sendable {
  /// The most places that an entry can tell apart.
  static let maximumPlace = 1 << 20 - 2
  private static let entries = 15
  /// The average number of entries of a bucket at which the table grows.
  private static let load = 11

  /// The buckets; `@unchecked`: a table copies them before a change if another table shares them.
  private final class Owner {
    let buckets: UnsafeMutablePointer<UInt32>
    let count: Int
    private let block: AlignedBlock

    init(count: Int) {
      let start: UnsafeMutableRawPointer
      (start, block) = AlignedBlock.allocate(byteCount: count * 64, alignment: 64)
      buckets = start.bindMemory(to: UInt32.self, capacity: count * 16)
      buckets.initialize(repeating: 0, count: count * 16)
      self.count = count
    }

    deinit { block.free() }
  }

  private var owner: Owner
  private var buckets: UnsafeMutablePointer<UInt32>
  private var bucketCount: UInt64
  /// The number of tracks in it.
  package private(set) var count = 0

  package init() { self.init(buckets: 1) }

  private init(buckets number: Int) {
    owner = Owner(count: number)
    buckets = owner.buckets
    bucketCount = UInt64(number)
  }

  /// Indicates whether another entry makes it too full.
  package var isFull: Bool { count >= Int(bucketCount) * TrackTable.load }

  /// An empty table with room for half as many entries again.
  package func grown() -> TrackTable { TrackTable(buckets: Int(bucketCount) + max(1, Int(bucketCount) / 2)) }

  /// The buckets, by address alone; good as long as the table is not changed.
  @inline(__always)
  var borrowed: TrackBuckets { TrackBuckets(first: buckets, count: bucketCount) }

  /// The first place in a bucket that may be the one of a hash, −1 if there is none, or −2 if there may be one further on.
  @inline(__always)
  static func candidate(_ hash: UInt32, in bucket: UnsafePointer<UInt32>) -> Int32 {
    let hits = pharos_match(bucket, tag(of: hash)) & 0x7FFF
    if hits != 0 { return place(bucket[hits.trailingZeroBitCount]) }
    return bucket[entries] == 0 ? -1 : -2
  }

  /// The first place that may be the one of a hash, or −1.
  @inline(__always)
  package func candidate(_ hash: UInt32) -> Int32 {
    let place = TrackTable.candidate(hash, in: borrowed.home(hash))
    return place == -2 ? find(hash) { _ in true } : place
  }

  /// The place of a hash that fulfils a condition, or −1.
  package func find(_ hash: UInt32, where isWanted: (Int32) -> Bool) -> Int32 {
    var number = home(of: hash)
    // Entries may lie beyond any bucket, so it is the number of buckets that ends a search in vain.
    for _ in 0..<bucketCount {
      let start = bucket(number)
      var hits = pharos_match(start, TrackTable.tag(of: hash)) & 0x7FFF
      while hits != 0 {
        let place = TrackTable.place(start[hits.trailingZeroBitCount])
        if isWanted(place) { return place }
        hits &= hits &- 1
      }
      guard start[TrackTable.entries] != 0 else { return -1 }
      number = next(number)
    }
    return -1
  }

  /// Adds a place that is not in the table; there must be room: see ``isFull``.
  package mutating func insert(_ hash: UInt32, place: Int) {
    makeUnique()
    count += 1
    let entry = UInt32(place + 1) << 12 | TrackTable.tag(of: hash)
    var number = home(of: hash)
    while true {
      let start = bucket(number)
      for index in 0..<TrackTable.entries where start[index] == 0 {
        start[index] = entry
        return
      }
      start[TrackTable.entries] += 1
      number = next(number)
    }
  }

  /// Removes a place that is in the table.
  package mutating func remove(_ hash: UInt32, place: Int) {
    makeUnique()
    let entry = UInt32(place + 1) << 12 | TrackTable.tag(of: hash)
    var number = home(of: hash)
    for _ in 0..<bucketCount {
      let start = bucket(number)
      for index in 0..<TrackTable.entries where start[index] == entry {
        start[index] = 0
        count -= 1
        var passed = home(of: hash)
        while passed != number {
          bucket(passed)[TrackTable.entries] -= 1
          passed = next(passed)
        }
        return
      }
      number = next(number)
    }
    preconditionFailure("a track that is not in its table")
  }

  @inline(__always)
  private func bucket(_ number: Int) -> UnsafeMutablePointer<UInt32> { buckets + number &* 16 }

  @inline(__always)
  private func home(of hash: UInt32) -> Int { borrowed.number(hash) }

  private func next(_ number: Int) -> Int { number + 1 == Int(bucketCount) ? 0 : number + 1 }

  /// Never zero, so that no free entry has it.
  @inline(__always)
  private static func tag(of hash: UInt32) -> UInt32 { hash & 0xFFF | 1 }

  @inline(__always)
  private static func place(_ entry: UInt32) -> Int32 { Int32(truncatingIfNeeded: entry >> 12) &- 1 }

  private mutating func makeUnique() {
    guard !isKnownUniquelyReferenced(&owner) else { return }
    let copy = Owner(count: owner.count)
    copy.buckets.update(from: owner.buckets, count: owner.count * 16)
    owner = copy
    buckets = copy.buckets
  }
}

/// The buckets of a table while a window of adverts is prepared.
struct TrackBuckets {
  let first: UnsafeMutablePointer<UInt32>
  let count: UInt64

  /// The number of the bucket in which the search for a hash begins.
  @inline(__always)
  func number(_ hash: UInt32) -> Int { Int(truncatingIfNeeded: (UInt64(hash >> 12) &* count) >> 20) }

  /// That bucket.
  @inline(__always)
  func home(_ hash: UInt32) -> UnsafePointer<UInt32> { UnsafePointer(first + number(hash) &* 16) }
}

/// The few of many tracks that may go first, found in one pass: a heap of those found so far, the freshest on top.
package struct OldestTracks {
  private struct Entry {
    let isHere: Bool
    let lastHeard: Timestamp
    let beacon: BeaconID
    let place: Int32

    /// Returns true if it goes before another one; the order depends on no hash and not on the number of engines.
    func goes(before other: Entry) -> Bool {
      if isHere != other.isHere { return other.isHere }
      return lastHeard == other.lastHeard ? beacon < other.beacon : lastHeard < other.lastHeard
    }
  }

  private let room: Int
  private var heap: [Entry] = []

  /// Room for so many.
  package init(room: Int) {
    self.room = room
    heap.reserveCapacity(room)
  }

  /// Their places, the first that may go first.
  package var places: [Int32] { heap.sorted { $0.goes(before: $1) }.map(\.place) }

  /// Returns true if a track may be one of them, by the two values that rule out nearly all.
  private func mayContain(isHere: Bool, lastHeard: Timestamp) -> Bool {
    guard heap.count == room, let top = heap.first else { return true }
    return isHere == top.isHere ? lastHeard <= top.lastHeard : top.isHere
  }

  /// Looks at one track.
  ///
  /// By parts of it: to hand each track over copies it, which took a third of the time of a flood's evictions.
  package mutating func offer(
    isHere: Bool,
    lastHeard: Timestamp,
    beacon: @autoclosure () -> BeaconID,
    at place: Int32
  ) {
    guard mayContain(isHere: isHere, lastHeard: lastHeard) else { return }
    let entry = Entry(isHere: isHere, lastHeard: lastHeard, beacon: beacon(), place: place)
    guard heap.count == room else {
      heap.append(entry)
      rise()
      return
    }
    guard room > 0, entry.goes(before: heap[0]) else { return }
    heap[0] = entry
    sink()
  }

  private mutating func rise() {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[parent].goes(before: heap[child]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func sink() {
    var parent = 0
    while 2 * parent + 1 < heap.count {
      var child = 2 * parent + 1
      if child + 1 < heap.count, heap[child].goes(before: heap[child + 1]) { child += 1 }
      guard heap[parent].goes(before: heap[child]) else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }
}
