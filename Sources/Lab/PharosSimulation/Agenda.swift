import HeapModule
package import PharosModel

/// A queue of entries in order of time; of two entries at the same time, the one added first comes first.
package struct Agenda<Entry: Sendable>: Sendable {
  private struct Item: Comparable, Sendable {
    let time: TimeSpan
    let order: UInt64
    let entry: Entry

    static func < (one: Item, other: Item) -> Bool { (one.time, one.order) < (other.time, other.order) }
    static func == (one: Item, other: Item) -> Bool { one.order == other.order }
  }

  private var items = Heap<Item>()
  private var order: UInt64 = 0

  package init() {}

  /// The time of the next entry, or nil if there is none.
  package var nextTime: TimeSpan? { items.min?.time }

  /// Adds an entry.
  ///
  /// - Complexity: O(log count).
  package mutating func add(_ entry: Entry, at time: TimeSpan) {
    items.insert(Item(time: time, order: order, entry: entry))
    order += 1
  }

  /// Removes and returns the next entry, or nil if there is none.
  ///
  /// - Complexity: O(log count).
  package mutating func removeNext() -> (time: TimeSpan, entry: Entry)? {
    items.popMin().map { ($0.time, $0.entry) }
  }
}

/// The future of a simulation: its steps, and the datagrams that are on their way to the server.
package struct Timetable<Step: Sendable>: Sendable {
  /// What comes next.
  package enum Entry: Sendable {
    /// A step that is due.
    case step(Step, at: TimeSpan)
    /// A datagram that reaches the server.
    case arrival(SimulatedDatagram)
  }

  private var steps = Agenda<Step>()
  private var underway = Agenda<SimulatedDatagram>()

  package init() {}

  /// Schedules a step.
  package mutating func add(_ step: Step, at time: TimeSpan) { steps.add(step, at: time) }

  /// Puts a datagram on its way, to arrive at a time.
  package mutating func send(_ datagram: SimulatedDatagram, arriving time: TimeSpan) {
    underway.add(datagram, at: time)
  }

  /// Removes and returns what comes next, or nil at the end of the scene.
  ///
  /// Datagrams that are on their way at the end still arrive.
  ///
  /// - Parameter end: The time from which no step is performed.
  /// - Returns: The step or the arrival.
  package mutating func next(until end: TimeSpan) -> Entry? {
    let upcoming = steps.nextTime.flatMap { $0 < end ? $0 : nil }
    if let arrival = underway.nextTime, arrival <= upcoming ?? .forever {
      return underway.removeNext().map { .arrival($0.entry) }
    }
    guard upcoming != nil else { return nil }
    return steps.removeNext().map { .step($0.entry, at: $0.time) }
  }
}
