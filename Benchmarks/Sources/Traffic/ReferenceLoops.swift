/// How quick this machine is just now: what figures of other machines, or of other hours, are compared by.
///
/// Two loops of which neither can be made shorter: a chain of multiplications and shifts that fits into registers, and a
/// chain of addresses through memory, each known only when the last was read.
package struct ReferenceLoops {
  /// How many words a cache line holds.
  private static let line = 8
  /// Half a million places, a cache line each: more than a core's own caches hold.
  private static let places = 1 << 19

  private var word: UInt64 = 0x2545_F491_4F6C_DD1D
  private var next: [UInt64]
  private var place = 0

  /// Makes the ring through memory, in random order.
  package init() {
    var order = Array(0..<ReferenceLoops.places)
    var random: UInt64 = 0x9E37_79B9_7F4A_7C15
    // Sattolo's shuffle: one ring, whatever the dice.
    for last in stride(from: ReferenceLoops.places - 1, to: 0, by: -1) {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      order.swapAt(last, Int(random >> 33) % last)
    }
    next = Array(repeating: 0, count: ReferenceLoops.places * ReferenceLoops.line)
    for place in order.indices {
      next[place * ReferenceLoops.line] = UInt64(order[place] * ReferenceLoops.line)
    }
  }

  /// Computes so many steps and gives a number that depends on each of them.
  package mutating func compute(_ steps: Int) -> UInt64 {
    for _ in 0..<steps {
      word ^= word >> 12
      word ^= word << 25
      word = (word ^ word >> 27) &* 0x2545_F491_4F6C_DD1D
    }
    return word
  }

  /// Reads so many places one after the other and gives the last.
  package mutating func read(_ steps: Int) -> Int {
    for _ in 0..<steps { place = Int(next[place]) }
    return place
  }
}
