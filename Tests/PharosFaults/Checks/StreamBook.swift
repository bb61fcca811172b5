package import PharosModel

/// Reads published events as a subscriber would, and complains about an event that contradicts an earlier one.
///
/// A slow and obvious model: it knows nothing but what the events say.
package struct StreamBook {
  struct Key: Hashable {
    var application: String
    var region: String
    var subject: SubjectID
  }

  private struct Row {
    /// Where the subject stands.
    var state: RegionState
    /// The last known state before it was unmonitored.
    var known: RegionState
  }

  /// What was found wrong.
  package private(set) var complaints: [(rule: Violation.Rule, text: String)] = []
  private var rows: [Key: Row] = [:]
  private var zones: [SubjectID: String] = [:]
  private var ids: Set<EventID> = []
  /// What has to follow at once.
  private var owed: (kind: EventKind, key: Key)?

  /// The subjects that were erased at some time: the server knows nothing of them from then on.
  private let erased: Set<SubjectID>

  /// The subjects that were hidden at some time: of them events were withheld, so that others do not follow from those that are read.
  private let hidden: Set<SubjectID>

  package init(erased: Set<SubjectID> = [], hidden: Set<SubjectID> = []) {
    self.erased = erased
    self.hidden = hidden
  }

  /// Whether a region may have lost its rows without an event: its subject was erased or hidden, or it was edited while the
  /// server was down and its checkpoint is gone, so that nothing says what it was about.
  private func mayBegin(_ key: Key) -> Bool {
    erased.contains(key.subject) || hidden.contains(key.subject) || key.application == FaultPlan.edited
  }

  /// Where each subject stands, in no order.
  var states: [(key: Key, state: RegionState)] { rows.map { ($0.key, $0.value.state) } }

  /// Where a subject stands.
  func state(_ key: Key) -> RegionState { rows[key]?.state ?? .unknown }

  /// The zone that a beacon is in.
  func zone(of subject: SubjectID) -> String? { zones[subject] }

  /// The keys that are inside.
  var inside: [Key] { rows.filter { $0.value.state == .inside }.map(\.key) }

  /// Takes the next event.
  package mutating func receive(_ event: Event) {
    if !ids.insert(event.id).inserted { complain(.ids, event, "carries an id that was used before") }
    let key = Key(application: event.application, region: event.region, subject: event.subject)
    if let owed, owed.kind != event.kind || owed.key != key { checkOwed() }
    switch (event.kind, event.detail) {
    case (.regionState, .region(let transition)) where !transition.isAnswer: change(transition, event, key)
    case (.regionReset, _):
      rows = rows.filter { $0.key.application != event.application || $0.key.region != event.region }
    case (.regionEnter, _), (.regionExit, _):
      if owed?.kind != event.kind, !mayBegin(key) {
        complain(.order, event, "is published although no state changed so")
      }
      owed = nil
    case (.zoneEnter, _):
      if let zone = zones[event.subject], !erased.contains(event.subject) {
        complain(.order, event, "comes while it is in \(zone)")
      }
      zones[event.subject] = event.region
    case (.zoneExit, _):
      if zones[event.subject] != event.region, !erased.contains(event.subject) {
        complain(.order, event, "comes while it is in \(zones[event.subject] ?? "none")")
      }
      zones[event.subject] = nil
    default: break
    }
  }

  /// Nothing more comes.
  package mutating func finish() { checkOwed() }

  private mutating func change(_ transition: RegionTransition, _ event: Event, _ key: Key) {
    let old = mayBegin(key) && transition.from != rows[key]?.state ? nil : rows[key]
    let isFirst = old == nil
    let mayBegin = mayBegin(key)
    let state = old?.state ?? .unknown
    // Who was up long before it was first asked about begins outside.
    if transition.from != state, !mayBegin, !(isFirst && transition.from == .outside) {
      complain(.order, event, "changes from \(transition.from), it was \(state)")
    }
    if transition.from == transition.to { complain(.order, event, "changes nothing") }
    let known = state == .unmonitored ? old?.known ?? .unknown : state
    if !hidden.contains(event.subject) {
      if transition.to == .inside, known != .inside { owed = (.regionEnter, key) }
      if transition.to == .outside, known == .inside { owed = (.regionExit, key) }
    }
    rows[key] = Row(
      state: transition.to,
      known: transition.to == .unmonitored ? known : transition.to
    )
  }

  private mutating func checkOwed() {
    if let owed {
      complaints.append((.order, "\(owed.kind) of \(owed.key.subject) in \(owed.key.region) is missing"))
    }
    owed = nil
  }

  private mutating func complain(_ rule: Violation.Rule, _ event: Event, _ text: String) {
    complaints.append((rule, "\(event.kind) of \(event.subject) in \(event.region) at \(event.time) \(text)"))
  }
}
