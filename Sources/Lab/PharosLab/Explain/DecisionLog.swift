import PharosModel
import PharosNarration

/// Gathers decisions from events: a change of state and the enter or exit that reports it are one.
struct DecisionLog {
  /// The maximum number of decisions that are kept.
  ///
  /// A hundred thousand decisions take some 50 MB and are more than a user reads. Further decisions are counted.
  static let capacity = 100_000

  /// The number of preceding decisions among which an equal one is looked for: the regions of one application.
  private static let mergeReach = 32

  /// The decisions in their order.
  private(set) var decisions: [Decision] = []
  /// The number of decisions that were not kept.
  private(set) var omitted = 0
  /// The history of each subject and region.
  private(set) var rows: [RowKey: RowStory] = [:]

  /// Takes events in their order.
  mutating func record(_ events: [Event]) {
    for event in events { record(event) }
  }

  /// An advert was heard that a row asks about.
  mutating func receive(_ row: RowKey, rules: PresencePolicy, at time: Timestamp) {
    rows[row, default: RowStory()].rules = rules
    rows[row, default: RowStory()].receive(at: time)
  }

  /// Time ends; decisions that say the same become one.
  mutating func finish(at time: Timestamp) {
    for row in rows.keys { rows[row]?.finish(at: time) }
    var merged: [Decision] = []
    for decision in decisions {
      let recent = merged.indices.suffix(DecisionLog.mergeReach)
      if let same = recent.last(where: { merged[$0].says(theSameAs: decision) }) {
        merged[same].regions += decision.regions
      } else {
        merged.append(decision)
      }
    }
    decisions = merged
  }

  private mutating func record(_ event: Event) {
    switch event.detail {
    case .region(let transition): record(event, transition)
    case .zone where isPublishedAlready(event), .ranging, .battery, .authorisation, .notification, .fix: break
    default: append(event)
    }
  }

  /// A beacon leaves one zone and comes into the next: two events with one reason.
  private func isPublishedAlready(_ event: Event) -> Bool {
    guard let last = decisions.last else { return false }
    return last.kind.isZone && last.subject == event.subject && last.decidedAt == event.decidedAt
      && last.detail == event.detail
  }

  private mutating func record(_ event: Event, _ transition: RegionTransition) {
    guard !transition.isAnswer else { return }
    switch event.kind {
    case .regionState: turn(event, transition)
    case .regionEnter, .regionExit, .regionUnmonitored: announce(event)
    case .regionHoldExceeded: append(event)
    default: break
    }
  }

  /// A change of state: whether it is an enter or an exit follows from the last state that was known.
  private mutating func turn(_ event: Event, _ transition: RegionTransition) {
    let row = RowKey(
      region: RegionKey(application: event.application, region: event.region),
      subject: event.subject
    )
    let change = rows[row, default: RowStory()].follow(transition, at: event.time)
    append(event, as: change.announcement ?? .regionState, rules: rows[row]?.rules)
  }

  /// The event that reports a change of state; it follows the change immediately.
  private mutating func announce(_ event: Event) {
    guard
      let index = decisions.lastIndex(where: {
        $0.time == event.time && $0.subject == event.subject && $0.application == event.application
          && $0.regions == [event.region]
      })
    else { return }
    decisions[index].kind = event.kind
    decisions[index].isAnnounced = true
  }

  private mutating func append(_ event: Event, as kind: EventKind? = nil, rules: PresencePolicy? = nil) {
    guard decisions.count < DecisionLog.capacity else {
      omitted += 1
      return
    }
    var decision = Decision(event)
    if let kind { decision.kind = kind }
    decision.isAnnounced = event.kind != .regionState
    decision.rules = rules
    decisions.append(decision)
  }
}
