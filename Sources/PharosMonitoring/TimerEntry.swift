package import PharosReports

/// One timer: when it is due, and which observer's what.
///
/// Two words, since an engine keeps one or more for every page of tracks.
package struct TimerEntry: Hashable, Sendable {
  /// When it is due by the receive clock.
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

  /// What of the observer it wakes.
  package var target: TimerTarget {
    let place = Int32(truncatingIfNeeded: word & 0x7FFF_FFFF)
    switch word >> 31 & 3 {
    case 0: return .page(place)
    case 1: return .row(place)
    case 2: return .outage
    default: return .second
    }
  }

  /// Whether it fires before another one.
  static func isBefore(_ left: TimerEntry, _ right: TimerEntry) -> Bool {
    left.due == right.due ? left.word < right.word : left.due < right.due
  }
}

/// What a timer wakes, in the order in which timers of one instant fire.
package enum TimerTarget: Hashable, Sendable {
  /// The next deadline of a page of tracks.
  case page(Int32)
  /// A row's first decision.
  case row(Int32)
  /// The end of what an observer's learned gaps allow.
  case outage
  /// The end of a second of ranging and summaries.
  case second

  fileprivate var word: UInt64 {
    switch self {
    case .page(let place): UInt64(UInt32(bitPattern: place))
    case .row(let place): 1 << 31 | UInt64(UInt32(bitPattern: place))
    case .outage: 2 << 31
    case .second: 3 << 31
    }
  }
}
