import PharosModel

/// Reads a stream of events as a subscriber would and complains about whatever contradicts what was said before.
///
/// A slow and obvious model: it knows nothing of tracks, observers and time but what the events say.
struct StreamCheck {
  struct Key: Hashable {
    var application: String
    var region: String
    var subject: SubjectID
  }

  struct Row {
    /// Where the subject stands.
    var state: RegionState
    /// The last known state before it was unmonitored.
    var known: RegionState
    var enteredAt: Timestamp?
  }

  /// What was found wrong, in the order of the stream.
  private(set) var complaints: [String] = []
  /// The state of each key.
  private(set) var rows: [Key: Row] = [:]
  private var regions: RegionBook
  private var seen: Set<EventID> = []
  private var last: Event?
  /// The event that has to follow at once: a change of state inside or outside is published as an enter or an exit.
  private var owed: (kind: EventKind, key: Key, after: Event)?

  init(_ regions: RegionBook) { self.regions = regions }

  /// Follows a change; what was known about regions that went is void.
  mutating func follow(_ change: RegionChange) {
    checkDebt()
    let gone = regions.follow(change)
    rows = rows.filter { !gone.contains(RegionBook.Name($0.key.application, $0.key.region)) }
  }

  /// Takes the next event.
  mutating func receive(_ event: Event) {
    if !seen.insert(event.id).inserted { complain("carries an id that was used before", event) }
    if event.time > event.decidedAt { complain("was decided before it happened", event) }
    if let last, !Event.isOrderedBefore(last, event) {
      complain("comes after an event that it precedes", event)
    }
    last = event
    let key = Key(application: event.application, region: event.region, subject: event.subject)
    if let owed, owed.kind != event.kind || owed.key != key || owed.after.time != event.time { checkDebt() }
    guard case .region(let transition) = event.detail else { return }
    switch event.kind {
    case .regionState where transition.isAnswer: check(answer: transition, event, key)
    case .regionState: change(transition, event, key)
    case .regionEnter, .regionExit:
      if owed?.kind != event.kind { complain("is published although no state changed so", event) }
      owed = nil
    case .regionUnmonitored:
      if transition.to != .unmonitored { complain("reports a state that is none", event) }
    default: break
    }
  }

  /// Nothing more comes.
  mutating func finish() { checkDebt() }

  private mutating func check(answer: RegionTransition, _ event: Event, _ key: Key) {
    if answer.from != answer.to { complain("is an answer that changes something", event) }
    if let row = rows[key], row.state != answer.to {
      complain("answers \(answer.to), not \(row.state)", event)
    }
  }

  private mutating func change(_ transition: RegionTransition, _ event: Event, _ key: Key) {
    guard let region = regions.region(event.application, event.region) else {
      complain("is about an unmonitored region", event)
      return
    }
    if transition.from == transition.to { complain("changes nothing", event) }
    let assumed = regions.assumed(event.application, event.region)
    let old = rows[key] ?? Row(state: transition.from, known: assumed, enteredAt: nil)
    if old.state != transition.from { complain("changes from what was not so: \(old.state)", event) }
    let basis = old.state == .unmonitored ? old.known : old.state
    var row = old
    row.state = transition.to
    row.known = transition.to == .unmonitored ? old.state : transition.to
    let isEnter = transition.to == .inside && basis != .inside
    let isExit = transition.to == .outside && basis == .inside
    if isEnter { row.enteredAt = event.time }
    if isExit {
      if let entered = row.enteredAt, transition.enteredAt != entered {
        complain("ends a visit that began at \(transition.enteredAt as Any), not \(entered)", event)
      }
      if let entered = row.enteredAt, event.time < entered { complain("ends before it began", event) }
      row.enteredAt = nil
    }
    rows[key] = row
    if isEnter, region.notifyOnEntry { owed = (.regionEnter, key, event) }
    if isExit, region.notifyOnExit { owed = (.regionExit, key, event) }
  }

  private mutating func checkDebt() {
    if let owed { complain("is not followed by its \(owed.kind)", owed.after) }
    owed = nil
  }

  private mutating func complain(_ what: String, _ event: Event) {
    complaints.append("\(event.kind) \(event.region) of \(event.subject) at \(event.time) \(what)")
  }
}
