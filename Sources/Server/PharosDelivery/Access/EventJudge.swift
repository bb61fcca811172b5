package import PharosModel

/// The verdict on an event that has just been decided.
package struct Judgement: Sendable {
  /// The readers that an event is published to.
  package enum Verdict: Hashable, Sendable {
    /// The event is not published.
    case withhold
    /// The event is published to the live streams of the applications that may learn of it, and to no other reader.
    case live
    /// The event is published to all readers, and the journal keeps it.
    case always
  }

  /// The readers.
  package var verdict: Verdict
  /// The event as the journal keeps it: without identities that only live streams, or no reader, may learn of.
  package var kept: Event
  /// The event as it is published: without identities that no reader may learn of.
  package var published: Event
}

/// The judge of events in the order of their decisions.
///
/// Counts and lists depend on earlier events, including withheld ones:
///
/// * The number of beacons in a zone is published without hidden ones. A crossing of a threshold that only hidden ones make is
///   withheld, and so is the crossing back.
/// * A list of ranged beacons that has only hidden ones is withheld, unless a list with others was published before it:
///   then an empty list is published once, as after the last beacon has gone.
package struct EventJudge: Sendable {
  private struct Ranging: Hashable {
    let application: String
    let observer: SubjectID
    let constraint: BeaconConstraint
  }

  private struct Crossing: Hashable {
    let zone: String
    let threshold: OccupancyThreshold
  }

  /// The limit of ``ranged``: more than the observers and constraints of any site.
  private static let maximumRanged = 65_536

  private var zones: [BeaconID: PublishedState.ZoneRecord]
  /// The rangings whose last list was not empty: true if it was published, false if it had only hidden beacons.
  private var ranged: [Ranging: Bool] = [:]
  /// The thresholds above which only hidden beacons have brought the number.
  private var withheld: Set<Crossing> = []

  /// Makes a judge that knows the zones of beacons from before.
  package init(zones: [PublishedState.ZoneRecord] = []) {
    self.zones = Dictionary(zones.filter { $0.zone != nil }.map { ($0.beacon, $0) }) { $1 }
  }

  /// Judges a batch.
  ///
  /// - Parameters:
  ///   - events: the events, in the order of their decisions.
  ///   - view: the authorisations.
  ///   - liveApplications: the applications that have a live stream open.
  /// - Returns: a judgement of each.
  package mutating func judge(
    _ events: [Event],
    by view: AuthorisationView,
    liveApplications: Set<String>
  ) -> [Judgement] {
    var next = events.startIndex
    return events.map { event in
      // Of one instant, a number comes before the changes of zone that it counts.
      while next < events.endIndex, events[next].decidedAt <= event.decidedAt {
        move(events[next])
        next += 1
      }
      var judgement = view.judge(event, liveApplications: liveApplications)
      switch event.detail {
      case .occupancy(let transition): count(transition, view, &judgement)
      case .ranging(let constraint, _): list(constraint, view, liveApplications, &judgement)
      default: break
      }
      return judgement
    }
  }

  /// Forgets a subject that is erased.
  mutating func forget(_ traces: SubjectTraces) {
    zones = zones.filter { !traces.contains($0.key) }
    ranged = ranged.filter { !traces.contains($0.key.observer) }
  }

  private mutating func move(_ event: Event) {
    guard event.kind.isZone,
      case .zone(let record) = PublishedState.Record(event, region: { nil }, zone: { zones[$0] })
    else { return }
    zones[record.beacon] = record.zone == nil ? nil : record
  }

  private mutating func count(
    _ transition: OccupancyTransition,
    _ view: AuthorisationView,
    _ judgement: inout Judgement
  ) {
    let crossing = Crossing(zone: judgement.kept.region, threshold: transition.threshold)
    if transition.direction == .below, withheld.remove(crossing) != nil {
      judgement.verdict = .withhold
      return
    }
    guard !view.isOpen else { return }
    let gate = Gate(view, for: .operator)
    let hidden = zones.count { $0.value.zone == crossing.zone && !gate.shows(.beacon($0.key)) }
    guard hidden > 0 else { return }
    var shown = transition
    shown.count = max(0, transition.count - hidden)
    if transition.direction == .above, shown.count <= transition.threshold.above {
      withheld.insert(crossing)
      judgement.verdict = .withhold
    } else {
      let event = judgement.kept.with(.occupancy(shown))
      (judgement.kept, judgement.published) = (event, event)
    }
  }

  private mutating func list(
    _ constraint: BeaconConstraint,
    _ view: AuthorisationView,
    _ liveApplications: Set<String>,
    _ judgement: inout Judgement
  ) {
    let event = judgement.published
    guard case .ranging(_, let beacons) = event.detail else { return }
    let key = Ranging(application: event.application, observer: event.subject, constraint: constraint)
    if ranged.count >= EventJudge.maximumRanged { ranged.removeAll() }
    let wasShown = ranged.removeValue(forKey: key)
    guard !beacons.isEmpty else {
      if wasShown == false { judgement.verdict = .withhold }
      return
    }
    ranged[key] = judgement.verdict != .withhold
    guard judgement.verdict == .withhold, wasShown == true else { return }
    judgement = view.judge(
      event.with(.ranging(constraint: constraint, beacons: [])),
      liveApplications: liveApplications
    )
  }
}

extension AuthorisationView {
  /// Judges an event by itself.
  fileprivate func judge(_ event: Event, liveApplications: Set<String>) -> Judgement {
    guard !isOpen else { return Judgement(verdict: .always, kept: event, published: event) }
    let always = Gate(self, for: .operator)
    let names =
      event.application.isEmpty ? liveApplications : liveApplications.intersection([event.application])
    let live = names.map { Gate(self, for: .application($0, isLive: true)) }
    guard let kept = always.passed(event) else {
      let isLive =
        live.contains { $0.passed(event) != nil }
        || Gate.sharedKinds.contains(event.kind) && isShared(event.subject)
      return Judgement(verdict: isLive ? .live : .withhold, kept: event, published: event)
    }
    guard kept != event, !live.isEmpty else {
      return Judgement(verdict: .always, kept: kept, published: kept)
    }
    let published = event.without { identity in
      !always.names(identity, in: event) && !live.contains { $0.names(identity, in: event) }
    }
    return Judgement(verdict: .always, kept: kept, published: published?.event ?? kept)
  }
}
