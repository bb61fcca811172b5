package import PharosModel

/// The timers of an engine: a timing wheel of 4,096 slots of 4.2 ms, and the timers of the slot at hand in order.
///
/// Setting a timer writes one place of a list. A timer is never taken out: what is woken looks whether it is still due, so that an advert
/// that moves a deadline costs nothing here. Timers fire in order of (due, observer, target) whatever the order they were set in.
/// Nothing should be set further ahead than `reach`; what is stays in its slot for another turn of the wheel.
///
/// - Source: G. Varghese, T. Lauck, "Hashed and hierarchical timing wheels", SOSP 1987: scheme 6.
package struct TimerQueue: Sendable {
  /// The furthest time ahead for which a timer waits for at most one turn of the wheel.
  static let reach = TimeSpan.seconds(16)
  /// The length of a tick as a power of two in nanoseconds: 2²² ns = 4.2 ms.
  private static let shift: UInt64 = 22
  private static let slots = 4_096
  private static let mask = UInt64(slots - 1)
  /// The end of a list of places.
  private static let none: Int32 = -1

  /// A place for a timer of the wheel, and the place of the next one in the same list.
  private struct Place {
    var entry: TimerEntry
    var next: Int32
  }

  /// The first place of each slot's list.
  ///
  /// All slots share their places, so that nothing is allocated once there are as many as timers are ever set together.
  private var wheel: [Int32] = Array(repeating: none, count: slots)
  private var places: [Place] = []
  /// The first place that is free.
  private var free = none
  private var occupied: [UInt64] = Array(repeating: 0, count: slots / 64)
  /// The number of timers in the wheel.
  private var count = 0
  /// The timers of the present tick and those before it, the first one last.
  private(set) var near: [TimerEntry] = []
  /// Indicates whether timers came near since ``drainNews()``.
  private var hasNews = false
  private var tick: UInt64 = 0
  /// Nothing is due before this time.
  private(set) var soonest = Timestamp.distantFuture

  package init() {}

  /// Sets a timer.
  @inline(__always)
  package mutating func set(_ entry: TimerEntry) {
    soonest = min(soonest, entry.due)
    let wanted = TimerQueue.tick(of: entry.due)
    guard wanted > tick else { return insertNear(entry) }
    put(entry, at: wanted)
  }

  /// The next timer that is due at or before a time; one comparison when there is none.
  package mutating func next(through limit: Timestamp) -> TimerEntry? {
    guard limit >= soonest else { return nil }
    var turns = 0
    while true {
      if let first = near.last {
        guard first.due <= limit else {
          soonest = first.due
          return nil
        }
        return near.removeLast()
      }
      guard count > 0 else {
        tick = max(tick, TimerQueue.tick(of: limit))
        soonest = .distantFuture
        return nil
      }
      // After a turn in which nothing came near, all that is left is far away.
      let next = turns <= TimerQueue.slots ? nextOccupied() : first()
      guard next <= TimerQueue.tick(of: limit) else {
        soonest = TimerQueue.start(of: next)
        return nil
      }
      turns += Int(min(next - tick, UInt64(TimerQueue.slots)))
      tick = next
      open(Int(next & TimerQueue.mask))
    }
  }

  /// Returns true if timers came near since the last call, so many that it pays to prefetch what they look at.
  mutating func drainNews() -> Bool {
    defer { hasNews = false }
    return hasNews && near.count >= 8
  }

  private mutating func put(_ entry: TimerEntry, at wanted: UInt64) {
    let slot = Int(wanted & TimerQueue.mask)
    let place = Place(entry: entry, next: wheel[slot])
    if free == TimerQueue.none {
      wheel[slot] = Int32(places.count)
      places.append(place)
    } else {
      wheel[slot] = free
      free = places[Int(free)].next
      places[Int(wheel[slot])] = place
    }
    occupied[slot >> 6] |= 1 << UInt64(slot & 63)
    count += 1
  }

  private mutating func insertNear(_ entry: TimerEntry) {
    var (low, high) = (0, near.count)
    while low < high {
      let middle = (low + high) / 2
      if TimerEntry.isBefore(entry, near[middle]) { low = middle + 1 } else { high = middle }
    }
    near.insert(entry, at: low)
  }

  /// Moves the timers of the present tick near.
  private mutating func open(_ slot: Int) {
    var place = wheel[slot]
    wheel[slot] = TimerQueue.none
    while place != TimerQueue.none {
      let (entry, next) = (places[Int(place)].entry, places[Int(place)].next)
      if TimerQueue.tick(of: entry.due) <= tick {
        near.append(entry)
        places[Int(place)].next = free
        free = place
        count -= 1
      } else {
        places[Int(place)].next = wheel[slot]
        wheel[slot] = place
      }
      place = next
    }
    if wheel[slot] == TimerQueue.none { occupied[slot >> 6] &= ~(1 << UInt64(slot & 63)) }
    guard near.count > 1 else { return }
    hasNews = true
    near.sort { TimerEntry.isBefore($1, $0) }
  }

  /// The next tick whose slot holds timers, which may be those of a later turn; there is one.
  private func nextOccupied() -> UInt64 {
    var ahead = tick + 1
    while true {
      let slot = Int(ahead & TimerQueue.mask)
      let word = occupied[slot >> 6] >> UInt64(slot & 63)
      if word != 0 { return ahead + UInt64(word.trailingZeroBitCount) }
      ahead += UInt64(64 - slot & 63)
    }
  }

  /// The tick of the first timer in the wheel.
  private func first() -> UInt64 {
    var first = UInt64.max
    for var place in wheel {
      while place != TimerQueue.none {
        first = min(first, TimerQueue.tick(of: places[Int(place)].entry.due))
        place = places[Int(place)].next
      }
    }
    return first
  }

  /// Ticks of the whole range of time, counted from the most distant past.
  @inline(__always)
  private static func tick(of time: Timestamp) -> UInt64 {
    (UInt64(bitPattern: time.nanoseconds) ^ 1 << 63) >> shift
  }

  private static func start(of tick: UInt64) -> Timestamp {
    Timestamp(nanoseconds: Int64(bitPattern: tick << shift ^ 1 << 63))
  }
}

/// One timer: its due time, its observer and its target.
///
/// Two words, since an engine keeps one or more for every page of tracks.
package struct TimerEntry: Hashable, Sendable {
  /// The due time, by the receive clock.
  package let due: Timestamp
  /// The observer's place above the target's sort and place, so that timers of one instant fire in this number's order.
  ///
  /// - Shape: observer 31 bits, sort 2 bits, place 31 bits.
  private let word: UInt64

  package init(due: Timestamp, observer: Int32, target: TimerTarget) {
    self.due = due
    word = UInt64(UInt32(bitPattern: observer)) << 33 | target.word
  }

  /// The observer's place in the engine.
  package var observer: Int32 { Int32(truncatingIfNeeded: word >> 33) }

  /// The part of the observer that it wakes.
  package var target: TimerTarget {
    let place = Int32(truncatingIfNeeded: word & 0x7FFF_FFFF)
    switch word >> 31 & 3 {
    case 0: return .page(place)
    case 1: return .row(place)
    case 2: return .outage
    default: return place == 0 ? .second : .upload
    }
  }

  /// Returns true if the left timer fires before the right one.
  static func isBefore(_ left: TimerEntry, _ right: TimerEntry) -> Bool {
    left.due == right.due ? left.word < right.word : left.due < right.due
  }
}

/// The part of an observer that a timer wakes, in the order in which an observer's timers of one instant fire.
package enum TimerTarget: Hashable, Sendable {
  /// The next deadline of a page of tracks.
  case page(Int32)
  /// A row's first decision.
  case row(Int32)
  /// The end of what an observer's learned gaps allow.
  case outage
  /// The end of a second of ranging and summaries.
  case second
  /// The end of an upload.
  case upload

  fileprivate var word: UInt64 {
    switch self {
    case .page(let place): UInt64(UInt32(bitPattern: place))
    case .row(let place): 1 << 31 | UInt64(UInt32(bitPattern: place))
    case .outage: 2 << 31
    case .second: 3 << 31
    case .upload: 3 << 31 | 1
    }
  }
}
