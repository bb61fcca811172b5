package import PharosReports

/// A hierarchical timing wheel: six levels of 256 slots over ticks of 4.2 ms, and an exactly ordered heap for the tick
/// that is at hand.
///
/// Setting a timer is one append. Timers are never taken out: whoever is woken looks whether it is still due (lazy
/// re-arming), so that an advert that moves a deadline costs nothing here. They fire in order of (due, observer,
/// target) whatever the order they were set in.
///
/// Ticks are short so that the heap stays small, and a slot of the second level is one second long, so that what moves
/// down at once is a small part of all there is.
package struct TimerWheel: Sendable {
  /// The length of a tick as a power of two in nanoseconds: 2²² ns = 4.2 ms.
  private static let shift: UInt64 = 22
  private static let levels = 6
  private static let fanout = 256

  /// The list of each slot's timers.
  private var slots: [Int32] = Array(repeating: TimerChunks.none, count: levels * fanout)
  private var chunks = TimerChunks()
  private var occupied: [UInt64] = Array(repeating: 0, count: levels * fanout / 64)
  /// The timers of the tick that is at hand, as a heap.
  private(set) var near: [TimerEntry] = []
  /// Whether timers have come near since somebody asked.
  private var hasNews = false
  private var tick: UInt64 = 0
  /// Nothing is due before this time.
  private(set) var soonest = Timestamp.distantFuture

  package init() {}

  /// Whether anything may be due before a time.
  func mayBeDue(before time: Timestamp) -> Bool { soonest < time }

  /// Whether timers have come near since it was asked last: so many that it pays to look ahead.
  mutating func takeNews() -> Bool {
    defer { hasNews = false }
    return hasNews && near.count >= 8
  }

  /// Sets a timer.
  package mutating func set(_ entry: TimerEntry) {
    soonest = min(soonest, entry.due)
    put(entry)
  }

  /// The next timer that is due at or before a time; one comparison when there is none.
  package mutating func next(through limit: Timestamp) -> TimerEntry? {
    guard limit >= soonest else { return nil }
    while true {
      if !near.isEmpty {
        if near[0].due <= limit { return pop() }
        soonest = near[0].due
        return nil
      }
      guard let (slot, start) = nextOccupied() else {
        soonest = .distantFuture
        return nil
      }
      guard start <= TimerWheel.tick(of: limit) else {
        soonest = Timestamp(nanoseconds: Int64(bitPattern: start << TimerWheel.shift ^ 1 << 63))
        return nil
      }
      tick = start
      occupied[slot / 64] &= ~(1 << UInt64(slot % 64))
      empty(slot)
      hasNews = true
    }
  }

  private mutating func put(_ entry: TimerEntry) {
    let wanted = TimerWheel.tick(of: entry.due)
    guard wanted > tick else {
      push(entry)
      return
    }
    let level = (63 - (wanted ^ tick).leadingZeroBitCount) / 8
    let slot = level * TimerWheel.fanout + Int(wanted >> UInt64(level * 8) & 255)
    chunks.append(entry, to: &slots[slot])
    occupied[slot / 64] |= 1 << UInt64(slot % 64)
  }

  /// Moves what a slot holds to where it belongs now that its time has begun, chunk by chunk, so that one that is emptied
  /// is at hand for the next.
  private mutating func empty(_ slot: Int) {
    var list = TimerChunks.none
    swap(&list, &slots[slot])
    while let entries = chunks.takeFirst(of: list) {
      putAll(entries)
      chunks.giveBack(entries, firstOf: &list)
    }
  }

  /// By index, as an iterator of an unoptimised build would allocate.
  private mutating func putAll(_ entries: [TimerEntry]) {
    var index = 0
    while index < entries.count {
      put(entries[index])
      index += 1
    }
  }

  /// Ticks of the whole range of time, counted from the most distant past.
  private static func tick(of time: Timestamp) -> UInt64 {
    (UInt64(bitPattern: time.nanoseconds) ^ 1 << 63) >> shift
  }

  private func nextOccupied() -> (slot: Int, start: UInt64)? {
    for level in 0..<TimerWheel.levels {
      let bits = UInt64(level * 8)
      let position = Int(tick >> bits & 255)
      guard let index = firstOccupied(level: level, after: position) else { continue }
      let above = bits + 8
      return (level * TimerWheel.fanout + index, (tick >> above) << above | UInt64(index) << bits)
    }
    return nil
  }

  private func firstOccupied(level: Int, after position: Int) -> Int? {
    var index = position + 1
    while index < TimerWheel.fanout {
      let word = occupied[level * 4 + index / 64] >> UInt64(index % 64)
      if word != 0 { return index + word.trailingZeroBitCount }
      index = (index / 64 + 1) * 64
    }
    return nil
  }

  private mutating func push(_ entry: TimerEntry) {
    near.append(entry)
    var child = near.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard TimerEntry.isBefore(near[child], near[parent]) else { return }
      near.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func pop() -> TimerEntry {
    near.swapAt(0, near.count - 1)
    let first = near.removeLast()
    var parent = 0
    while 2 * parent + 1 < near.count {
      var child = 2 * parent + 1
      if child + 1 < near.count, TimerEntry.isBefore(near[child + 1], near[child]) { child += 1 }
      guard TimerEntry.isBefore(near[child], near[parent]) else { return first }
      near.swapAt(child, parent)
      parent = child
    }
    return first
  }
}
