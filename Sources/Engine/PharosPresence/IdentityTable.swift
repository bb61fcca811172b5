package import PharosModel

/// From a hash to a place in an array, by open addressing: one cache line in the usual case.
///
/// A slot holds 32 bits of the hash and the place plus one; the identity itself lies where the place points to and is
/// compared there. Removal shifts what follows back, so that no tombstones slow a table down that lives for months.
///
/// It grows without a pause: a small table is one segment, which grows by a quarter; a large one is many segments of which
/// one is split in two with every few hundred insertions, in turn. So it is always more than half full, and no insertion
/// moves more than about a thousand slots, however many millions there are.
///
/// - Source: linear hashing (W. Litwin, "Linear hashing: a new tool for file and table addressing", VLDB 1980), with
///   segments in place of buckets.
package struct IdentityTable: @unchecked Sendable {
  /// The average number of identities of a segment at which the next one is split.
  ///
  /// A split of a thousand slots takes about 10 µs.
  package static let load = 768

  /// The owner of the slots, which frees them.
  ///
  /// `@unchecked`: the memory is reached through one table alone, which copies it before a change if another table
  /// shares it.
  private final class Owner {
    let segments: UnsafeMutablePointer<Segments>

    init(_ contents: Segments) {
      segments = .allocate(capacity: 1)
      segments.initialize(to: contents)
    }

    deinit {
      segments.pointee.free()
      segments.deallocate()
    }
  }

  private var owner = Owner(Segments())
  /// The owner's first segment and directory again, a step nearer.
  private var first = TableSegment()
  private var directory: UnsafeMutablePointer<TableSegment>?
  private var segmentCount = 1
  package private(set) var count = 0

  package init() {}

  /// The place whose identity is the wanted one, or nil.
  @inline(__always)
  package func find(_ hash: UInt64, where isWanted: (Int) -> Bool) -> Int? {
    let tag = hash >> 32
    let segment = segment(of: tag)
    var slot = segment.home(of: tag)
    while true {
      let word = segment.slots[slot]
      if word == 0 { return nil }
      if word >> 32 == tag {
        let place = Int(word & 0xFFFF_FFFF) - 1
        if isWanted(place) { return place }
      }
      slot = segment.next(slot)
    }
  }

  /// The first place whose identity may be the wanted one by its hash, or −1.
  @inline(__always)
  package func candidate(_ hash: UInt64) -> Int32 {
    let tag = hash >> 32
    let segment = segment(of: tag)
    // Which of the first slots it is cannot be predicted: no branch decides it.
    var slot = segment.home(of: tag)
    let first = segment.slots[slot]
    slot = segment.next(slot)
    let second = segment.slots[slot]
    slot = segment.next(slot)
    let third = segment.slots[slot]
    var word = third >> 32 == tag ? third : 0
    word = second >> 32 == tag ? second : word
    word = first >> 32 == tag ? first : word
    while word == 0 {
      if first == 0 || second == 0 || segment.slots[slot] == 0 { return -1 }
      slot = segment.next(slot)
      if segment.slots[slot] >> 32 == tag { word = segment.slots[slot] }
    }
    return Int32(truncatingIfNeeded: word & 0xFFFF_FFFF) &- 1
  }

  /// Adds a place that is not in the table yet.
  package mutating func insert(_ hash: UInt64, place: Int) {
    makeUnique()
    count += 1
    owner.segments.pointee.insert((hash & ~0xFFFF_FFFF) | UInt64(place + 1))
    refresh()
  }

  /// Removes a place.
  package mutating func remove(_ hash: UInt64, place: Int) {
    makeUnique()
    if owner.segments.pointee.remove((hash & ~0xFFFF_FFFF) | UInt64(place + 1)) { count -= 1 }
    refresh()
  }

  /// The number of slots, full and empty.
  package var capacity: Int { owner.segments.pointee.capacity }

  @inline(__always)
  private func segment(of tag: UInt64) -> TableSegment {
    guard segmentCount > 1, let directory else { return first }
    return directory[Segments.number(of: tag, among: segmentCount)]
  }

  private mutating func refresh() {
    directory = owner.segments.pointee.directory
    segmentCount = owner.segments.pointee.count
    if let directory { first = directory[0] }
  }

  @inline(__always)
  private mutating func makeUnique() {
    guard directory == nil || !isKnownUniquelyReferenced(&owner) else { return }
    owner = Owner(Segments(copying: owner.segments.pointee))
    refresh()
  }
}

/// A part of a table: slots that are probed one after the other, from the one that the hash's upper bits say.
private struct TableSegment {
  /// An empty table's only slot: it is never written to.
  nonisolated(unsafe) private static let nothing: UnsafeMutablePointer<UInt64> = {
    let slot = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    slot.initialize(to: 0)
    return slot
  }()

  private(set) var slots: UnsafeMutablePointer<UInt64>
  private(set) var capacity: UInt32
  var count: UInt32 = 0

  /// The segment of an empty table.
  init() {
    slots = TableSegment.nothing
    capacity = 1
  }

  init(capacity: Int) {
    slots = .allocate(capacity: capacity)
    slots.initialize(repeating: 0, count: capacity)
    self.capacity = UInt32(capacity)
  }

  /// The bits that tell segments apart are the lower ones of the 32; these are the upper ones.
  @inline(__always)
  func home(of tag: UInt64) -> Int { Int(truncatingIfNeeded: (tag &* UInt64(capacity)) >> 32) }

  @inline(__always)
  func next(_ slot: Int) -> Int { slot + 1 == Int(capacity) ? 0 : slot + 1 }

  /// Room for so many identities when three slots of five are full: a quarter more than a full segment had.
  static func room(for count: Int) -> Int { max(8, count + count * 2 / 3) }

  /// Puts a word into a free slot; there is one.
  mutating func put(_ word: UInt64) {
    var slot = home(of: word >> 32)
    while slots[slot] != 0 { slot = next(slot) }
    slots[slot] = word
    count += 1
  }

  /// Takes a word out; false if it was not in it.
  mutating func remove(_ word: UInt64) -> Bool {
    var hole = home(of: word >> 32)
    while slots[hole] != word {
      guard slots[hole] != 0 else { return false }
      hole = next(hole)
    }
    count -= 1
    var follower = next(hole)
    while slots[follower] != 0 {
      let home = home(of: slots[follower] >> 32)
      if distance(home, follower) >= distance(hole, follower) {
        slots[hole] = slots[follower]
        hole = follower
      }
      follower = next(follower)
    }
    slots[hole] = 0
    return true
  }

  private func distance(_ from: Int, _ to: Int) -> Int { to >= from ? to - from : to - from + Int(capacity) }

  func copy() -> TableSegment {
    var copy = TableSegment(capacity: Int(capacity))
    copy.slots.update(from: slots, count: Int(capacity))
    copy.count = count
    return copy
  }

  func free() { slots.deallocate() }
}

/// The segments of a table, and what becomes of them as it grows.
private struct Segments {
  private(set) var directory: UnsafeMutablePointer<TableSegment>?
  private(set) var count = 1
  private var room = 0
  private var total = 0

  init() {}

  init(copying other: Segments) {
    guard let others = other.directory else {
      add(TableSegment(capacity: TableSegment.room(for: 1)), at: 0)
      return
    }
    for number in 0..<other.count { add(others[number].copy(), at: number) }
    (count, total) = (other.count, other.total)
  }

  /// The segment of a hash: by as many bits as there are segments for, one bit less for those not split yet.
  @inline(__always)
  static func number(of tag: UInt64, among count: Int) -> Int {
    let bits = UInt64(truncatingIfNeeded: Int.bitWidth - (count - 1).leadingZeroBitCount)
    let number = Int(truncatingIfNeeded: tag & (1 << bits &- 1))
    return number < count ? number : number & ~(1 << Int(truncatingIfNeeded: bits &- 1))
  }

  var capacity: Int { directory.map { list in (0..<count).reduce(0) { $0 + Int(list[$1].capacity) } } ?? 0 }

  mutating func insert(_ word: UInt64) {
    guard let directory else { return }
    let number = Segments.number(of: word >> 32, among: count)
    // At most three slots of four are full, or probing takes long.
    if (Int(directory[number].count) + 1) * 4 > Int(directory[number].capacity) * 3 {
      rebuild(number, in: directory)
    }
    directory[number].put(word)
    total += 1
    if total > count * IdentityTable.load { split() }
  }

  mutating func remove(_ word: UInt64) -> Bool {
    guard let directory else { return false }
    let isGone = directory[Segments.number(of: word >> 32, among: count)].remove(word)
    if isGone { total -= 1 }
    return isGone
  }

  private func rebuild(_ number: Int, in directory: UnsafeMutablePointer<TableSegment>) {
    let old = directory[number]
    var grown = TableSegment(capacity: TableSegment.room(for: Int(old.count) + 2))
    for slot in 0..<Int(old.capacity) where old.slots[slot] != 0 { grown.put(old.slots[slot]) }
    old.free()
    directory[number] = grown
  }

  /// Splits the segment whose turn it is in two.
  private mutating func split() {
    let bits = Int.bitWidth - count.leadingZeroBitCount - 1
    let number = count - 1 << bits
    guard let old = directory?[number] else { return }
    var moved = 0
    for slot in 0..<Int(old.capacity) where isMoving(old.slots[slot], bits) { moved += 1 }
    var stays = TableSegment(capacity: TableSegment.room(for: Int(old.count) - moved))
    var moves = TableSegment(capacity: TableSegment.room(for: moved))
    for slot in 0..<Int(old.capacity) where old.slots[slot] != 0 {
      if isMoving(old.slots[slot], bits) { moves.put(old.slots[slot]) } else { stays.put(old.slots[slot]) }
    }
    old.free()
    directory?[number] = stays
    add(moves, at: count)
    count += 1
  }

  private func isMoving(_ word: UInt64, _ bits: Int) -> Bool { word >> UInt64(32 + bits) & 1 != 0 }

  private mutating func add(_ segment: TableSegment, at number: Int) {
    if number == room {
      let grown = UnsafeMutablePointer<TableSegment>.allocate(capacity: max(1, room * 2))
      if let directory {
        grown.moveInitialize(from: directory, count: room)
        directory.deallocate()
      }
      directory = grown
      room = max(1, room * 2)
    }
    directory.map { ($0 + number).initialize(to: segment) }
  }

  func free() {
    guard let directory else { return }
    for number in 0..<count { directory[number].free() }
    directory.deallocate()
  }
}

/// Hashes identities with secrets that differ in every process, so that no sender can fill one slot with many.
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

/// An identity as tracks keep it.
struct TrackIdentity {
  var beacon: BeaconID
  var scope: UInt32
  var key: UInt64
  /// The address, where it is a part of the identity beside others.
  var address: UInt64?
  var hash: UInt64

  /// The identity of a beacon whose scope has a number.
  init(_ beacon: BeaconID, scope: UInt32, _ hash: KeyedHash) {
    self.beacon = beacon
    self.scope = scope
    key = ScopeTable.key(of: beacon)
    address = beacon.kind == .address ? nil : beacon.address?.bits
    self.hash = hash(scope: scope, key: key, address: address)
  }
}

// MARK: Addresses

/// Whose address it is: a track's place, and what tells its beacon from another one that came there later.
struct AddressOwner: Hashable, Sendable {
  var place: Int32
  var mark: UInt32

  init(place: Int, beacon: BeaconID) {
    self.place = Int32(place)
    mark = UInt32(truncatingIfNeeded: KeyedHash.fold(beacon))
  }
}
