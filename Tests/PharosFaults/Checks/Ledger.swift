import PharosModel

/// What the engine decided, by the world's own time, against which all published events are checked.
struct Ledger {
  /// A decision.
  struct Entry {
    var event: Event
    /// When it happened, by the world's time.
    var time: TrueTime
    /// Which run of the server decided it.
    var life: Int
  }

  private(set) var entries: [EventID: Entry] = [:]
  private(set) var violations: [Violation] = []
  /// How many events were decided.
  private(set) var count = 0
  private var last: (event: Event, life: Int)?
  /// Whether an event never published over the network may share its id with something that was decided later.
  ///
  /// Where the wall clock was set back and a run was killed before anything of it was on the disk, the next one begins at the same
  /// R. What the journal holds has ids of its own all the same, which is looked at elsewhere.
  var allowsRepeats = false

  /// Notes what a run of the server decided.
  ///
  /// - Parameters:
  ///   - events: in order.
  ///   - life: which run.
  ///   - now: the world's time.
  ///   - toTrueTime: from the times of events to the world's.
  mutating func record(_ events: [Event], life: Int, now: TrueTime, toTrueTime: (Event) -> TrueTime) {
    for event in events {
      count += 1
      if let before = entries[event.id], !allowsRepeats {
        let text =
          "\(event.kind) of \(event.subject) has the id of another one, decided in run \(before.life)"
        violations.append(Violation(rule: .ids, time: Double(now) / 1e9, text: text))
      }
      if let last, last.life == life, event.decidedAt < last.event.decidedAt {
        let text = "\(event.kind) of \(event.subject) is published after one that was decided later"
        violations.append(Violation(rule: .order, time: Double(now) / 1e9, text: text))
      }
      // Behind a step of the wall clock times may go back.
      last = event.kind == .clockStepped ? nil : (event, life)
      entries[event.id] = Entry(event: event, time: toTrueTime(event), life: life)
    }
  }

  /// Notes an event that the operator has caused.
  mutating func add(_ event: Event, life: Int, at now: TrueTime) {
    count += 1
    entries[event.id] = Entry(event: event, time: now, life: life)
  }

  /// When an event happened, by the world's time.
  func time(of event: Event) -> TrueTime? { entries[event.id]?.time }
}

extension Event {
  /// Returns whether it is published in the same bytes as another one; numbers in memory have more digits than
  /// published ones.
  func isPublished(like other: Event) -> Bool {
    cloudEvent(stream: "faults") == other.cloudEvent(stream: "faults")
  }
}
