import PharosEvents
import PharosReports

/// Gathers decisions from events: a change of state and the enter or exit that tells it are one.
struct DecisionLog {
  /// How many decisions are kept.
  ///
  /// A hundred thousand: some 50 MB, and more than anybody reads; what comes beyond is counted.
  static let most = 100_000

  /// How far behind each other decisions may stand that say the same: the regions of one application.
  private static let mergeReach = 32

  /// The decisions in their order.
  private(set) var decisions: [Decision] = []
  /// How many were not kept.
  private(set) var omitted = 0
  /// What happened to each subject and region.
  private(set) var rows: [RowKey: RowStory] = [:]

  /// Takes events in their order.
  mutating func take(_ events: [Event]) {
    for event in events { take(event) }
  }

  /// An advert was heard that a row asks about.
  mutating func hear(_ row: RowKey, rules: PresencePolicy, at time: Timestamp) {
    rows[row, default: RowStory()].rules = rules
    rows[row, default: RowStory()].hear(at: time)
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

  private mutating func take(_ event: Event) {
    switch event.detail {
    case .region(let transition): take(event, transition)
    case .zone(let transition): take(event, transition)
    case .observer(let transition): append(event, DecisionLog.kind(event, transition))
    case .regionLimit: append(event, .refused)
    case .clockStep: append(event, .clock)
    case .ranging, .battery, .authorisation, .notification, .fix: break
    }
  }

  private mutating func take(_ event: Event, _ transition: RegionTransition) {
    guard !transition.isAnswer else { return }
    switch event.kind {
    case .regionState: turn(event, transition)
    case .regionEnter: announce(event, as: .enter)
    case .regionExit: announce(event, as: .exit)
    case .regionUnmonitored: announce(event, as: .unmonitored)
    case .regionHoldExceeded: append(event, .holdExceeded)
    default: break
    }
  }

  /// A change of state: whether it is an enter or an exit follows from the last state that was known.
  private mutating func turn(_ event: Event, _ transition: RegionTransition) {
    let row = RowKey(
      region: RegionKey(application: event.application, region: event.region),
      subject: event.subject
    )
    rows[row, default: RowStory()].turn(to: transition.to, at: event.time)
    var known = transition.from
    if known == .unmonitored, let story = rows[row] { known = story.known(before: story.turns.count - 1) }
    let kind: Decision.Kind
    switch transition.to {
    case .inside: kind = known == .inside ? .state : .enter
    case .outside: kind = known == .inside ? .exit : .state
    case .unmonitored: kind = .unmonitored
    case .unknown: kind = .state
    }
    append(event, kind, rules: rows[row]?.rules)
  }

  /// The event that tells a change of state outright; it comes right behind the change.
  private mutating func announce(_ event: Event, as kind: Decision.Kind) {
    guard
      let index = decisions.lastIndex(where: {
        $0.time == event.time && $0.subject == event.subject && $0.application == event.application
          && $0.regions == [event.region]
      })
    else { return }
    decisions[index].kind = kind
    decisions[index].isAnnounced = true
  }

  /// A beacon leaves one zone and comes into the next: two events with one reason.
  private mutating func take(_ event: Event, _ transition: ZoneTransition) {
    if let last = decisions.last, last.kind == .zone, last.subject == event.subject,
      last.decidedAt == event.decidedAt, last.detail == event.detail
    {
      return
    }
    append(event, .zone)
  }

  private static func kind(_ event: Event, _ transition: ObserverTransition) -> Decision.Kind {
    switch event.kind {
    case .observerOffline: .offline
    case .observerRestarted: .restarted
    case .observerQuarantined: .quarantined
    default: .online
    }
  }

  private mutating func append(_ event: Event, _ kind: Decision.Kind, rules: PresencePolicy? = nil) {
    guard decisions.count < DecisionLog.most else {
      omitted += 1
      return
    }
    var decision = Decision(
      kind: kind,
      time: event.time,
      decidedAt: event.decidedAt,
      application: event.application,
      regions: event.region.isEmpty ? [] : [event.region],
      subject: event.subject,
      isAnnounced: event.kind != .regionState,
      detail: event.detail,
      rules: rules
    )
    if case .observer(let observer) = event.subject { decision.observer = observer }
    if case .beacon(let beacon) = event.subject { decision.beacon = beacon }
    switch event.detail {
    case .region(let transition):
      decision.observer = decision.observer ?? transition.observer
      decision.beacon = decision.beacon ?? transition.refinement
    case .zone(let transition):
      decision.regions = [transition.from, transition.to].compactMap { $0 }
    default: break
    }
    decisions.append(decision)
  }
}
