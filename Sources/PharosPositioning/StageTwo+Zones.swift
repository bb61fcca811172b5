import PharosEvents
import PharosReports

extension StageTwo {
  /// The offsets of the observers that stand in zones, as they were found from the tags that they hear in common.
  ///
  /// In the order in which the zones name them. An offset is only used where ``Calibration/isApplied`` says so.
  public func calibrations() -> [Calibration] {
    zip(around.plan.observers, around.offsets.entries).map { observer, entry in
      Calibration(
        observer: observer,
        offset: entry.offset,
        deviation: entry.deviation,
        pairs: entry.pairs,
        lessons: Int(entry.lessons),
        isApplied: entry.isApplied
      )
    }
  }

  /// Takes how an observer heard a beacon in one second.
  ///
  /// A beacon whose levels are due to be looked at anyway is not looked at for each of them.
  mutating func hear(_ summary: TrackSummary, into events: inout [Event]) {
    guard let observer = place(of: summary.observer) else { return }
    let place = place(of: summary.beacon, into: &events)
    if tags.store[place].zone.placingEpoch != regions.epoch {
      tags.store[place].zone.placing = around.plan.placing(
        summary.beacon,
        isAskedAbout: regions.asks(about: summary.beacon)
      )
      tags.store[place].zone.placingEpoch = regions.epoch
    }
    tags.store[place].zone.add(summary, of: observer, at: now, around.rules)
    if tags.store[place].zone.nextLook <= now { touch(place) }
  }

  /// An observer went down: what it had inside is in the dark, and its zones' beacons are not handed next door.
  mutating func goDark(_ change: ObserverChange) {
    live[change.observer] = nil
    lastObserver = nil
    let observer = around.plan.place(of: change.observer)
    for place in tags.slots where tags.isTaken(place) {
      var isConcerned = false
      if let observer {
        isConcerned = tags.store[place].zone.goDark(observer, since: change.time, at: now, around)
      }
      for index in tags.store[place].rows.indices
      where tags.store[place].rows[index].hears(change.observer) {
        tags.store[place].rows[index].goDark(
          change.observer,
          time: change.time,
          lastHeard: nil,
          evidence: Evidence(rule: .observerOutage)
        )
        isConcerned = true
      }
      if isConcerned { touch(place) }
    }
  }

  /// An observer is back: its silence counts again, and stage one will tell what it hears.
  mutating func recover(_ change: ObserverChange) {
    if live[change.observer] == nil { live[change.observer] = now }
    for place in tags.slots where tags.isTaken(place) {
      var isConcerned = false
      for index in tags.store[place].rows.indices
      where tags.store[place].rows[index].awaits(change.observer) {
        tags.store[place].rows[index].assumptionDeadline = now + tags.store[place].rows[index].patience
        isConcerned = true
      }
      if isConcerned { touch(place) }
    }
    guard let observer = around.plan.place(of: change.observer) else { return }
    for place in tags.slots where tags.isTaken(place) {
      if tags.store[place].zone.recover(observer, at: now) { touch(place) }
    }
  }

  /// The place of an observer in the plan, or nil if it stands in no zone.
  private mutating func place(of observer: ObserverID) -> Int? {
    if let lastObserver, lastObserver.id == observer { return lastObserver.place }
    let place = around.plan.place(of: observer)
    lastObserver = (observer, place)
    if place != nil, live[observer] == nil { live[observer] = now }
    return place
  }

  /// Tells that a beacon left a zone, came into one, or both.
  func tell(
    _ move: ZoneTrack.Move,
    _ weighing: ZoneWeighing,
    about beacon: BeaconID,
    _ counter: UInt64,
    into events: inout [Event]
  ) {
    let zones = around.plan.zones
    let names = (from: move.from.map { zones[$0].identifier }, to: move.to.map { zones[$0].identifier })
    let transition = ZoneTransition(
      from: names.from,
      to: names.to,
      margin: move.margin,
      dwell: move.dwell,
      reason: move.reason,
      probability: move.probability,
      runnerUp: move.runnerUp.map {
        ZoneTransition.Candidate(zone: zones[$0.zone].identifier, probability: $0.probability)
      },
      hearings: hearings(weighing)
    )
    for (kind, zone) in [(EventKind.zoneExit, names.from), (.zoneEnter, names.to)] {
      guard let zone else { continue }
      events.append(
        Event(
          stream: stream,
          kind: kind,
          time: move.time,
          decidedAt: now,
          stage: 2,
          subject: .beacon(beacon),
          region: zone,
          counter: counter,
          ordinal: counter,
          detail: .zone(transition)
        )
      )
    }
  }

  /// Who heard the beacon loudest when a decision was made.
  private func hearings(_ weighing: ZoneWeighing) -> [ZoneTransition.Hearing] {
    let ranked = weighing.heard.sorted { ($0.corrected, -$0.observer) > ($1.corrected, -$1.observer) }
    return ranked.prefix(ZoneTransition.mostHearings).map { heard in
      ZoneTransition.Hearing(
        observer: around.plan.observers[heard.observer],
        level: heard.level,
        offset: heard.offset
      )
    }
  }
}
