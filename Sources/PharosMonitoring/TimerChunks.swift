/// Timers in chunks of sixteen, strung together to lists.
///
/// Chunks wander between lists, so that none keeps the room that it once needed, and none has to ask for it anew.
struct TimerChunks: Sendable {
  /// Stands for no chunk: the end of a list.
  static let none: Int32 = -1
  /// Timers in a chunk of 256 bytes; all are of one size, so that whichever is taken is never too small.
  private static let capacity = 16
  /// The most chunks that are kept for later: 1 MiB, what a second of a busy engine needs.
  private static let mostSpare = 4_096

  private struct Chunk {
    var entries: [TimerEntry] = []
    /// The chunk behind it.
    var next = TimerChunks.none
  }

  private var chunks: [Chunk] = []
  /// The chunks that are in no list and have room at hand, as a list of their own.
  private var spare = TimerChunks.none
  private var spareCount = 0
  /// Those whose room was given back.
  private var bare = TimerChunks.none

  /// Adds a timer to a list, which goes on with another chunk where its first one is full.
  mutating func append(_ entry: TimerEntry, to list: inout Int32) {
    if list == TimerChunks.none || chunks[Int(list)].entries.count == TimerChunks.capacity {
      let place = take()
      chunks[Int(place)].next = list
      list = place
    }
    chunks[Int(list)].entries.append(entry)
  }

  /// Takes the timers of a list's first chunk out; nil at the list's end.
  ///
  /// The chunk stays the list's first until it is given back.
  mutating func takeFirst(of list: Int32) -> [TimerEntry]? {
    guard list != TimerChunks.none else { return nil }
    var entries: [TimerEntry] = []
    swap(&entries, &chunks[Int(list)].entries)
    return entries
  }

  /// Takes back the first chunk of a list with the room of what was in it; the list goes on behind it.
  mutating func giveBack(_ entries: consuming [TimerEntry], firstOf list: inout Int32) {
    let place = Int(list)
    list = chunks[place].next
    guard spareCount < TimerChunks.mostSpare else {
      chunks[place].next = bare
      bare = Int32(place)
      return
    }
    entries.removeAll(keepingCapacity: true)
    chunks[place] = Chunk(entries: entries, next: spare)
    spare = Int32(place)
    spareCount += 1
  }

  /// A chunk that is in no list.
  private mutating func take() -> Int32 {
    let place: Int32
    if spare != TimerChunks.none {
      place = spare
      spare = chunks[Int(place)].next
      spareCount -= 1
      return place
    }
    if bare != TimerChunks.none {
      place = bare
      bare = chunks[Int(place)].next
    } else {
      place = Int32(chunks.count)
      chunks.append(Chunk())
    }
    chunks[Int(place)].entries.reserveCapacity(TimerChunks.capacity)
    return place
  }
}
