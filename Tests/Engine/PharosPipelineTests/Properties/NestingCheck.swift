import PharosModel

/// Complains if a subject is inside a child and not inside its parent, once an instant is complete.
struct NestingCheck {
  /// What was found wrong.
  private(set) var complaints: [String] = []
  /// How often a child was inside when it was looked at: a check that never met one proves nothing.
  private(set) var children = 0
  private var book: RegionBook
  private var states: [StreamCheck.Key: RegionState] = [:]
  private var instant = Timestamp.distantPast

  init(_ book: RegionBook) { self.book = book }

  /// Takes the next event.
  mutating func receive(_ event: Event) {
    if event.decidedAt > instant { look() }
    instant = event.decidedAt
    guard event.kind == .regionState, case .region(let transition) = event.detail, !transition.isAnswer else {
      return
    }
    let key = StreamCheck.Key(application: event.application, region: event.region, subject: event.subject)
    states[key] = transition.to
  }

  /// Follows a change; the resulting events are published at the same instant.
  mutating func follow(_ change: RegionChange, at time: Timestamp) {
    look()
    instant = max(instant, time)
    let gone = book.follow(change)
    states = states.filter { !gone.contains(RegionBook.Name($0.key.application, $0.key.region)) }
  }

  /// Nothing more comes.
  mutating func finish() { look() }

  private mutating func look() {
    for (child, parent) in book.nested {
      for (key, state) in states where state == .inside {
        guard key.application == child.application, key.region == child.region else { continue }
        children += 1
        let above = StreamCheck.Key(application: key.application, region: parent.region, subject: key.subject)
        guard states[above] != .inside else { continue }
        complaints.append(
          "\(key.subject) is inside \(child.region) and \(states[above] as Any) towards \(parent.region) at \(instant)"
        )
      }
    }
  }
}
