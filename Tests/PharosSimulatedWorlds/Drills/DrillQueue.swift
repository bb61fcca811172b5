import HeapModule

/// The times of the next adverts of a drill, each with the number of the subject that it belongs to.
///
/// An entry takes one word, so that a drill of dozens of subjects spends a few nanoseconds on keeping their order.
struct DrillQueue: Sendable {
  /// The number of low bits of an entry that hold the subject's number: as many as ``Drill/maximumSubjects`` needs.
  private static let numberBits: UInt64 = 12
  private var entries = Heap<UInt64>()

  /// The earliest time and its subject's number, or nil if there is none.
  var first: (time: Int64, number: Int)? {
    entries.min.map { (Int64($0 >> DrillQueue.numberBits), Int($0 & (1 << DrillQueue.numberBits - 1))) }
  }

  /// Adds a time, in nanoseconds since the drill began.
  mutating func insert(time: Int64, number: Int) { entries.insert(DrillQueue.entry(time, number)) }

  /// Puts a time in the place of the earliest one.
  mutating func replaceFirst(time: Int64, number: Int) {
    entries.replaceMin(with: DrillQueue.entry(time, number))
  }

  private static func entry(_ time: Int64, _ number: Int) -> UInt64 {
    UInt64(max(0, time)) << numberBits | UInt64(number)
  }
}
