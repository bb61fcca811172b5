package import PharosModel

/// Events and checkpoints that wait to be committed, in the order in which they came; a value without a clock.
package struct Backlog {
  /// A group of events that are committed together.
  package struct Group {
    /// The events, in order.
    package var events: [Event]
    /// The number of events that the engine has delivered up to the end of the group's last part.
    package var ordinal: UInt64
    /// The checkpoint that is due behind the group.
    package var checkpoint: CommitPublisherCheckpoint?
  }

  private struct Part {
    var events: ArraySlice<Event>
    /// The number of events that the engine has delivered up to the end of the part.
    let ordinal: UInt64
    var checkpoint: CommitPublisherCheckpoint?
  }

  private var parts: [Part] = []
  private var head = 0
  /// The first part that ``strip(where:)`` has not seen.
  private var stripped = 0

  /// The number of waiting events.
  package private(set) var count = 0
  /// The number of events that the engine has delivered.
  package private(set) var delivered: UInt64 = 0

  /// Starts without events.
  package init() {}

  /// Indicates whether neither an event nor a checkpoint waits.
  var isEmpty: Bool { head == parts.count }

  /// Appends events of the engine or of another source.
  package mutating func append(_ events: [Event], isDelivered: Bool) {
    if isDelivered { delivered += UInt64(events.count) }
    parts.append(Part(events: events[...], ordinal: delivered))
    count += events.count
  }

  /// Appends a checkpoint behind all events so far, in place of one that still waits: each holds a copy of the engine, and
  /// each ends a group.
  package mutating func append(_ checkpoint: CommitPublisherCheckpoint) {
    for index in head..<parts.count { parts[index].checkpoint = nil }
    if let last = parts.last, parts.count > head, last.events.isEmpty { parts.removeLast() }
    stripped = min(stripped, parts.count)
    parts.append(Part(events: [], ordinal: delivered, checkpoint: checkpoint))
  }

  /// Removes and returns the oldest events, up to a number and up to the first checkpoint.
  package mutating func removeFirst(upTo maximum: Int) -> Group? {
    guard !isEmpty else { return nil }
    var group = Group(events: [], ordinal: parts[head].ordinal, checkpoint: nil)
    while head < parts.count, group.checkpoint == nil, group.events.count < maximum {
      group.ordinal = parts[head].ordinal
      let slice = parts[head].events.prefix(maximum - group.events.count)
      group.events += slice
      count -= slice.count
      parts[head].events.removeFirst(slice.count)
      guard parts[head].events.isEmpty else { break }
      group.checkpoint = parts[head].checkpoint
      advance()
    }
    compact()
    return group
  }

  /// Removes and returns the events that match a condition, among those appended since the last call.
  package mutating func strip(where isRemoved: (Event) -> Bool) -> [Event] {
    var removed: [Event] = []
    for index in max(head, stripped)..<parts.count {
      guard parts[index].events.contains(where: isRemoved) else { continue }
      removed += parts[index].events.filter(isRemoved)
      let before = parts[index].events.count
      parts[index].events = parts[index].events.filter { !isRemoved($0) }[...]
      count -= before - parts[index].events.count
    }
    stripped = parts.count
    return removed
  }

  private mutating func advance() {
    parts[head].events = []
    parts[head].checkpoint = nil
    head += 1
  }

  /// Releases the memory of taken parts once they are the larger half, so that taking stays cheap on average.
  private mutating func compact() {
    guard head == parts.count || head > 32 && head * 2 > parts.count else { return }
    parts.removeFirst(head)
    stripped = max(0, stripped - head)
    head = 0
  }
}

/// The state of the engine at one instant, not encoded yet.
package struct CommitPublisherCheckpoint: Sendable {
  /// The instant of the state.
  package let instant: Timestamp
  /// The number of events that the engine had delivered before it since the start.
  package let eventsBefore: UInt64
  /// Encodes the state; called once, on a thread of the commit publisher.
  package let encode: @Sendable () -> [UInt8]

  /// Makes a checkpoint.
  package init(instant: Timestamp, eventsBefore: UInt64, encode: @escaping @Sendable () -> [UInt8]) {
    self.instant = instant
    self.eventsBefore = eventsBefore
    self.encode = encode
  }
}
