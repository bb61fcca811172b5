import PharosEvents
import PharosReports

extension StageTwo {
  /// The offsets of the observers that stand in zones, as they were found from the tags that they hear in common.
  ///
  /// In the order in which the zones name them. An offset is only used where ``Calibration/isApplied`` says so.
  package func calibrations() -> [Calibration] {
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

  /// Takes how an observer heard its beacons in one second.
  ///
  /// A beacon whose levels are due to be looked at anyway is not looked at for each of its observers.
  mutating func hear(_ second: SecondSummary, into events: inout [Event]) {
    guard let observer = around.plan.place(of: second.observer) else { return }
    if live[second.observer] == nil { live[second.observer] = now }
    var order = KnownOrder(expected, of: observer)
    for index in second.beacons.indices {
      let beacon = second.beacons[index].beacon
      let place: Int
      if let next = order.next, tags.isTaken(next), tags.store[next].beacon == beacon {
        place = next
        tags.store[place].touched = now
      } else {
        place = self.place(of: beacon, into: &events)
      }
      order.append(place)
      if tags.store[place].zone.placingEpoch != regions.epoch { askWhoPlaces(place) }
      tags.store[place].zone.add(
        second.beacons[index],
        of: observer,
        until: second.until,
        at: now,
        around.ground
      )
      if tags.store[place].zone.nextLook <= now { touch(place) }
    }
    order.keep(in: &expected, of: observer)
  }

  /// Finds out which zones place a beacon; most beacons share one answer, and the array that holds it.
  private mutating func askWhoPlaces(_ place: Int) {
    let beacon = tags.store[place].beacon
    let placing = around.plan.placing(beacon, isAskedAbout: regions.asks(about: beacon))
    if placing != lastPlacing { lastPlacing = placing }
    tags.store[place].zone.placing = lastPlacing
    tags.store[place].zone.placingEpoch = regions.epoch
  }

  /// An observer went down: what it had inside is in the dark, and its zones' beacons are not handed next door.
  mutating func goDark(_ change: ObserverChange) {
    live[change.observer] = nil
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

  /// An observer is known to have lived up to a time: its silence counts up to then.
  ///
  /// Where nothing was known of it for long, the beacons that it heard are looked at seldom, and are due now.
  mutating func prove(_ observer: Int, through time: Timestamp) {
    let before = around.proofs[observer]
    around.proofs[observer] = time
    guard (time - before).seconds * around.rules.silentPause > around.rules.period.seconds else { return }
    for place in tags.slots where tags.isTaken(place) {
      if tags.store[place].zone.comeUp(for: observer, at: now, around.rules) { touch(place) }
    }
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
