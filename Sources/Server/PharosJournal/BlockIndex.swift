package import PharosModel

/// A dimension by which events can be found.
enum Dimension: Int64 {
  case kind, application, region, subject, mention

  /// Returns the key of a name, or of a kind, in this dimension; name 0 stands for "none".
  func key(_ name: Int64) -> Int64 { name << 3 | rawValue }
}

/// The division of the events into blocks, for which the journal indexes what events mention.
package struct Blocks {
  /// The number of low bits of a sequence that distinguish the events of a block: at most 16.
  let bits: Int64

  package init(bits: Int64) {
    self.bits = bits
  }

  /// Blocks of 65,536 events, which every journal outside of tests has.
  package static let usual = Blocks(bits: 16)

  package func containing(_ sequence: Int64) -> Int64 { sequence >> bits }
  package func first(of block: Int64) -> Int64 { block << bits }
  package func last(of block: Int64) -> Int64 { (block &+ 1) << bits &- 1 }
  package func place(of sequence: Int64) -> Int { Int(sequence & (1 << bits - 1)) }
  package func isLast(_ sequence: Int64) -> Bool { place(of: sequence) == 1 << bits - 1 }
}

/// A set of the events of a block: one bit each.
package struct BlockBits: Equatable {
  /// The number of places below which a set is stored as a list of 16-bit numbers, and otherwise as its bits.
  ///
  /// At 4,096 places, the list would be as long as the bits: 8 KiB.
  static let minimumBitmapCount = 4_096

  private(set) var words: [UInt64]

  /// Creates an empty set, or the set of all places.
  package init(all: Bool = false) { words = Array(repeating: all ? .max : 0, count: 1_024) }

  mutating func insert(_ place: Int) { words[place >> 6] |= 1 << UInt64(place & 63) }

  func contains(_ place: Int) -> Bool { words[place >> 6] >> UInt64(place & 63) & 1 == 1 }

  mutating func formIntersection(_ other: BlockBits) {
    for index in words.indices { words[index] &= other.words[index] }
  }

  package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  /// Adds the places that ``encode(_:)`` wrote.
  package mutating func formUnion(encoded bytes: [UInt8]) throws {
    if bytes.count == BlockBits.minimumBitmapCount * 2 {
      for index in 0..<1_024 {
        var word: UInt64 = 0
        for byte in bytes[(index * 8)..<(index * 8 + 8)].reversed() { word = word << 8 | UInt64(byte) }
        words[index] |= word
      }
      return
    }
    guard bytes.count < BlockBits.minimumBitmapCount * 2, bytes.count % 2 == 0 else {
      throw DamagedRecord(what: "a list of \(bytes.count) bytes where events are found by")
    }
    for index in stride(from: 0, to: bytes.count, by: 2) {
      insert(Int(bytes[index]) | Int(bytes[index + 1]) << 8)
    }
  }

  /// Encodes places that are in ascending order, without repeats.
  package static func encode(_ places: ArraySlice<UInt64>) -> [UInt8] {
    guard places.count >= minimumBitmapCount else {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(places.count * 2)
      for place in places {
        bytes.append(UInt8(truncatingIfNeeded: place))
        bytes.append(UInt8(truncatingIfNeeded: place >> 8))
      }
      return bytes
    }
    var bytes = [UInt8](repeating: 0, count: minimumBitmapCount * 2)
    for place in places {
      let bit = Int(place & 0xFFFF)
      bytes[bit >> 3] |= 1 << UInt8(bit & 7)
    }
    return bytes
  }

  /// Returns the places from one on, in order.
  package func places(from first: Int) -> [Int] {
    var places: [Int] = []
    for index in (first >> 6)..<1_024 where words[index] != 0 {
      var word = words[index]
      if index == first >> 6 { word &= .max << UInt64(first & 63) }
      while word != 0 {
        places.append(index << 6 | word.trailingZeroBitCount)
        word &= word - 1
      }
    }
    return places
  }
}

/// The index of the unfinished block: held in memory, and written to the database when the block is full.
///
/// A mention takes 8 bytes and an event has about 5 mentions, so the index takes at most about 3 MB.
package struct TailIndex {
  /// The block.
  private(set) var block: Int64
  /// Key and place of each mention, the place in the low 16 bits.
  private(set) var mentions: [UInt64] = []
  /// The earliest time of an event in the block.
  package private(set) var earliest = Timestamp.distantFuture
  /// The latest time of an event in the block.
  package private(set) var latest = Timestamp.distantPast

  package init(block: Int64) { self.block = block }

  package mutating func add(_ keys: [Int64], place: Int, time: Timestamp) {
    for key in keys { mentions.append(UInt64(bitPattern: key) << 16 | UInt64(place)) }
    earliest = min(earliest, time)
    latest = max(latest, time)
  }

  /// Adds the mentions of other events of the same block.
  mutating func add(_ other: TailIndex) {
    mentions.append(contentsOf: other.mentions)
    earliest = min(earliest, other.earliest)
    latest = max(latest, other.latest)
  }

  /// Removes the mentions of erased names.
  mutating func forget(names: Set<Int64>) {
    guard !names.isEmpty else { return }
    let gone = Set(names.flatMap { [Dimension.subject.key($0), Dimension.mention.key($0)] })
    mentions.removeAll { gone.contains(Int64($0 >> 16)) }
  }

  /// Returns the places, from one on, of the events that mention one of the keys.
  ///
  /// Mentions are in the order of their places, so a reader near the head scans only the last few.
  package func places(of keys: Set<Int64>, from first: Int = 0) -> BlockBits {
    var bits = BlockBits()
    let wanted = keys.map { UInt64(bitPattern: $0) }
    let start = mentions.firstPlace(from: first)
    mentions.withUnsafeBufferPointer { mentions in
      // One key after the other while they are few: comparing costs a tenth of hashing.
      if wanted.count <= 8 {
        for key in wanted {
          for mention in mentions[start...] where mention >> 16 == key { bits.insert(Int(mention & 0xFFFF)) }
        }
      } else {
        for mention in mentions[start...] where keys.contains(Int64(mention >> 16)) {
          bits.insert(Int(mention & 0xFFFF))
        }
      }
    }
    return bits
  }

  /// Returns the encoded places of each key, in order of the keys.
  package func postings() -> [(key: Int64, places: [UInt8])] {
    let sorted = mentions.sorted()
    var postings: [(key: Int64, places: [UInt8])] = []
    var distinct: [UInt64] = []
    var key: UInt64?
    for mention in sorted {
      if mention >> 16 != key {
        if let key { postings.append((Int64(key), BlockBits.encode(distinct[...]))) }
        key = mention >> 16
        distinct.removeAll(keepingCapacity: true)
      }
      if distinct.last != mention & 0xFFFF { distinct.append(mention & 0xFFFF) }
    }
    if let key { postings.append((Int64(key), BlockBits.encode(distinct[...]))) }
    return postings
  }
}

extension [UInt64] {
  /// Returns the index of the first mention at a place or after it.
  fileprivate func firstPlace(from place: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if Int(self[middle] & 0xFFFF) < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
