package import PharosModel

/// One decision as it is explained: an event, or several that say the same of different regions.
package struct Decision {
  /// The kind of the event; that of a change of state says whether it is an enter or an exit.
  package var kind: EventKind
  /// The time at which it happened.
  package var time: Timestamp
  /// The time at which it was decided.
  package var decidedAt: Timestamp
  /// The application, or an empty string.
  package var application: String
  /// The regions, all with the same reason; for a zone decision the zone left and the zone entered.
  package var regions: [String]
  /// The subject that the decision is about.
  package var subject: SubjectID
  /// The observer whose reports settled it.
  package var observer: ObserverID?
  /// The beacon that settled it.
  package var beacon: BeaconID?
  /// Indicates whether an event beside the change of state announced it.
  package var isAnnounced: Bool
  /// The detail of the event.
  package var detail: EventDetail
  /// The rules of the region.
  package var rules: PresencePolicy?

  /// The decision that one event reports alone.
  package init(_ event: Event) {
    kind = event.kind
    time = event.time
    decidedAt = event.decidedAt
    application = event.application
    regions = event.region.isEmpty ? [] : [event.region]
    subject = event.subject
    isAnnounced = true
    detail = event.detail
    if case .observer(let own) = event.subject { observer = own }
    if case .beacon(let own) = event.subject { beacon = own }
    switch event.detail {
    case .region(let transition):
      observer = observer ?? transition.observer
      beacon = beacon ?? transition.refinement
    case .zone(let transition) where kind.isZone:
      regions = [transition.from, transition.to].compactMap { $0 }
    default: break
    }
  }

  /// The kind in a word or two; a change of zones is one decision.
  package var word: String { kind.isZone ? EventKind.Group.zone.rawValue : kind.word }

  /// The track that settled it, if one did.
  package var track: TrackKey? {
    guard let observer, let beacon else { return nil }
    return TrackKey(observer: observer, beacon: beacon)
  }

  /// The transition, if it is about a region.
  package var transition: RegionTransition? {
    guard case .region(let transition) = detail else { return nil }
    return transition
  }

  /// The rows that it is about.
  package var rows: [RowKey] {
    guard transition != nil else { return [] }
    return regions.map { RowKey(region: RegionKey(application: application, region: $0), subject: subject) }
  }

  /// Returns whether another decision says the same of another region, for the same reason.
  package func says(theSameAs other: Decision) -> Bool {
    guard let mine = transition, let theirs = other.transition else { return false }
    return kind == other.kind && time == other.time && decidedAt == other.decidedAt
      && application == other.application && subject == other.subject && observer == other.observer
      && beacon == other.beacon && isAnnounced == other.isAnnounced && rules == other.rules
      && mine.from == theirs.from && mine.to == theirs.to && mine.enteredAt == theirs.enteredAt
      && mine.evidence == theirs.evidence
  }
}

/// The history of one subject and one region: the states that Pharos reported, and the states that fixed rules would
/// have reported for the same adverts.
package struct RowStory {
  /// A state, and since when.
  package struct Turn: Hashable {
    package var time: Timestamp
    package var state: RegionState

    package init(time: Timestamp, state: RegionState) {
      self.time = time
      self.state = state
    }
  }

  /// The rules by which the region debounces, as they were last.
  package var rules: PresencePolicy?
  /// Pharos' states, in order.
  package private(set) var turns: [Turn] = []
  private var machine = RegionMachine(assuming: .unknown, since: .distantPast)
  /// The fixed rules, which receive every advert that a counting observer has heard.
  package private(set) var fixed = FixedRule.timeouts.map(FixedRule.init)

  package init() {}

  /// An advert was heard.
  package mutating func receive(at time: Timestamp) {
    for index in fixed.indices { fixed[index].receive(at: time) }
  }

  /// Records a change of state that Pharos reported.
  ///
  /// - Returns: the change, compared with the last known state.
  @discardableResult
  package mutating func follow(_ transition: RegionTransition, at time: Timestamp) -> RegionMachine.Change {
    turns.append(Turn(time: time, state: transition.to))
    return machine.follow(transition, at: time)
  }

  /// Time ends.
  package mutating func finish(at time: Timestamp) {
    for index in fixed.indices { fixed[index].finish(at: time) }
  }

  /// Returns the state at an instant: that of the last change up to then.
  package func state(at time: Timestamp) -> RegionState { turns.last { $0.time <= time }?.state ?? .unknown }

  /// Returns whether Pharos reports that the subject stayed all the time: inside, or unmonitored and inside again
  /// afterwards.
  package func isStay(_ range: ClosedRange<Timestamp>) -> Bool {
    guard state(at: range.lowerBound) == .inside, state(at: range.upperBound) == .inside else { return false }
    return !turns.contains { $0.state == .outside && range.contains($0.time) }
  }

  /// The time after an exit within which an enter takes the exit back.
  ///
  /// One minute, because a person who leaves a house stays away for longer.
  package static let returnSpan = TimeSpan.minutes(1)

  /// The number of exits that Pharos reported.
  package var exits: Int { visits.count { $0.left != nil } }

  /// The exits of a fixed rule that were taken back while Pharos had the subject inside.
  package func falseExits(of rule: FixedRule) -> [Timestamp] { rule.falseExits(isStay) }

  /// The number of Pharos's own exits that an enter took back within `returnSpan`.
  package var returns: Int {
    let visits = visits
    return zip(visits, visits.dropFirst()).count { visit, next in
      visit.left.map { next.entered - $0 <= RowStory.returnSpan } ?? false
    }
  }

  /// The stays, as Pharos reports them; the last one may go on.
  package var visits: [(entered: Timestamp, left: Timestamp?)] {
    var visits: [(entered: Timestamp, left: Timestamp?)] = []
    for (index, turn) in turns.enumerated() {
      switch turn.state {
      case .inside where visits.last.map { $0.left != nil } ?? true:
        visits.append((turn.time, nil))
      case .outside where visits.last.map { $0.left == nil } ?? false:
        visits[visits.count - 1].left = turns[index].time
      case .inside, .outside, .unknown, .unmonitored: break
      }
    }
    return visits
  }
}

/// The rule that most peers use, applied to the same adverts: inside from the first advert on, outside after a fixed
/// time of silence.
///
/// - Source: AltBeacon's region exit period and Core Location's usual exit after 30 s; AltBeacon's sample applications
///   and Bermuda's area age use 10 s.
package struct FixedRule {
  /// One stay, as the rule sees it.
  package struct Visit: Hashable {
    /// The first advert.
    package var entered: Timestamp
    /// The last advert.
    package var lastHeard: Timestamp
    /// The time of the rule's exit; nil if there was none when time ended.
    package var left: Timestamp?

    package init(entered: Timestamp, lastHeard: Timestamp, left: Timestamp? = nil) {
      self.entered = entered
      self.lastHeard = lastHeard
      self.left = left
    }
  }

  /// The time-outs that decisions are compared with.
  package static let timeouts: [TimeSpan] = [.seconds(10), Evidence.fixedRule]

  /// The time-out.
  package let timeout: TimeSpan
  /// Its stays, in order.
  package private(set) var visits: [Visit] = []

  package init(timeout: TimeSpan) { self.timeout = timeout }

  /// The number of its exits.
  package var exits: Int { visits.count { $0.left != nil } }

  /// The first exit after an instant; nil if there was none.
  package func exit(after time: Timestamp) -> Timestamp? {
    visits.lazy.compactMap(\.left).first { $0 > time }
  }

  /// An advert was heard; one that is older than the last changes nothing.
  package mutating func receive(at time: Timestamp) {
    guard let last = visits.last, time <= last.lastHeard + timeout else {
      finish(at: time)
      visits.append(Visit(entered: time, lastHeard: time))
      return
    }
    visits[visits.count - 1].lastHeard = max(last.lastHeard, time)
  }

  /// Time ends, or has come so far.
  package mutating func finish(at time: Timestamp) {
    guard let last = visits.last, last.left == nil, time > last.lastHeard + timeout else { return }
    visits[visits.count - 1].left = last.lastHeard + timeout
  }

  /// The stay that an instant belongs to: the last one that began by then.
  package func visit(at time: Timestamp) -> Visit? { visits.last { $0.entered <= time } }

  /// The exits that were taken back: the beacon was heard again, and by Pharos' own word it had been there throughout.
  package func falseExits(_ isStaying: (ClosedRange<Timestamp>) -> Bool) -> [Timestamp] {
    zip(visits, visits.dropFirst()).compactMap { visit, next in
      guard let left = visit.left, isStaying(visit.lastHeard...next.entered) else { return nil }
      return left
    }
  }
}

/// One beacon at one observer.
package struct TrackKey: Hashable, Comparable {
  package var observer: ObserverID
  package var beacon: BeaconID

  package init(observer: ObserverID, beacon: BeaconID) {
    self.observer = observer
    self.beacon = beacon
  }

  package static func < (left: TrackKey, right: TrackKey) -> Bool {
    (left.observer, left.beacon) < (right.observer, right.beacon)
  }
}

/// One subject and one region: the pair that has a region state.
package struct RowKey: Hashable, Comparable {
  package var region: RegionKey
  package var subject: SubjectID

  package init(region: RegionKey, subject: SubjectID) {
    self.region = region
    self.subject = subject
  }

  package static func < (left: RowKey, right: RowKey) -> Bool {
    (left.subject, left.region) < (right.subject, right.region)
  }
}
