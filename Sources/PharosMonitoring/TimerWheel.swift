import PharosReports

/// One timer: when it is due, and which observer's what.
struct TimerEntry: Hashable, Sendable {
  /// When it is due by the receive clock.
  var due: Timestamp
  /// The observer's place in the engine.
  var observer: Int32
  /// What of the observer it wakes.
  var target: TimerTarget
}

/// What a timer wakes, in the order in which timers of one instant fire.
enum TimerTarget: Hashable, Sendable {
  /// A track's next deadline.
  case track(Int32)
  /// A row's first decision.
  case row(Int32)
  /// The end of what an observer's learned gaps allow.
  case outage
  /// The end of a second of ranging and summaries.
  case second

  fileprivate var order: (Int, Int32) {
    switch self {
    case .track(let index): (0, index)
    case .row(let index): (1, index)
    case .outage: (2, 0)
    case .second: (3, 0)
    }
  }
}

/// A hierarchical timing wheel: five levels of 256 slots over ticks of 16.8 ms, and an exactly ordered heap for the tick
/// that is at hand.
///
/// Setting a timer is one append. Timers are never taken out: whoever is woken looks whether it is still due (lazy
/// re-arming), so that an advert that moves a deadline costs nothing here. They fire in order of (due, observer,
/// target) whatever the order they were set in.
struct TimerWheel: Sendable {
  /// The length of a tick as a power of two in nanoseconds: 2²⁴ ns = 16.8 ms.
  private static let shift: UInt64 = 24
  private static let levels = 5
  private static let fanout = 256

  private var slots: [[TimerEntry]] = Array(repeating: [], count: levels * fanout)
  private var occupied: [UInt64] = Array(repeating: 0, count: levels * fanout / 64)
  private var near: [TimerEntry] = []
  private var tick: UInt64 = 0
  /// Nothing is due before this time.
  private var soonest = Timestamp.distantFuture

  /// Sets a timer.
  mutating func set(_ entry: TimerEntry) {
    soonest = min(soonest, entry.due)
    put(entry)
  }

  private mutating func put(_ entry: TimerEntry) {
    let wanted = TimerWheel.tick(of: entry.due)
    guard wanted > tick else {
      push(entry)
      return
    }
    let level = (63 - (wanted ^ tick).leadingZeroBitCount) / 8
    let slot = level * TimerWheel.fanout + Int(wanted >> UInt64(level * 8) & 255)
    slots[slot].append(entry)
    occupied[slot / 64] |= 1 << UInt64(slot % 64)
  }

  /// The next timer that is due at or before a time; one comparison when there is none.
  mutating func next(through limit: Timestamp) -> TimerEntry? {
    guard limit >= soonest else { return nil }
    while true {
      if let first = near.first {
        if first.due <= limit { return pop() }
        soonest = first.due
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
      var entries: [TimerEntry] = []
      swap(&entries, &slots[slot])
      for entry in entries { put(entry) }
      entries.removeAll(keepingCapacity: true)
      if slots[slot].isEmpty { swap(&entries, &slots[slot]) }
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

  private static func isBefore(_ left: TimerEntry, _ right: TimerEntry) -> Bool {
    if left.due != right.due { return left.due < right.due }
    if left.observer != right.observer { return left.observer < right.observer }
    return left.target.order < right.target.order
  }

  private mutating func push(_ entry: TimerEntry) {
    near.append(entry)
    var child = near.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard TimerWheel.isBefore(near[child], near[parent]) else { return }
      near.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func pop() -> TimerEntry {
    near.swapAt(0, near.count - 1)
    let first = near.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in (2 * parent + 1)...(2 * parent + 2) where child < near.count {
        if TimerWheel.isBefore(near[child], near[least]) { least = child }
      }
      guard least != parent else { return first }
      near.swapAt(least, parent)
      parent = least
    }
  }
}
