import PharosEvents
import PharosReports

extension StageTwo {
  /// Takes how an observer heard a beacon in one second.
  mutating func hear(_ summary: TrackSummary, into events: inout [Event]) {
    guard !plan.zones(of: summary.observer).isEmpty else { return }
    if live[summary.observer] == nil { live[summary.observer] = now }
    let place = place(of: summary.beacon, into: &events)
    let (now, rules, epoch) = (now, rules, regions.epoch)
    let isStale = tags[place]?.zone.placingEpoch != epoch
    let placing =
      isStale ? plan.placing(summary.beacon, isAskedAbout: regions.asks(about: summary.beacon)) : nil
    _ = tags.update(place) { tag in
      if let placing {
        tag.zone.placing = placing
        tag.zone.placingEpoch = epoch
      }
      tag.zone.add(summary, at: now, rules)
    }
    touch(place)
  }

  /// An observer went down: what it had inside is in the dark, and its zones' beacons are not handed next door.
  mutating func goDark(_ change: ObserverChange) {
    live[change.observer] = nil
    let (now, rules, proofs) = (now, rules, proofs)
    for place in tags.slots {
      let isConcerned = tags.update(place) { tag in
        var isConcerned = tag.zone.goDark(change, at: now, rules, proofs: proofs)
        for index in tag.rows.indices where tag.rows[index].hears(change.observer) {
          tag.rows[index].goDark(
            change.observer,
            time: change.time,
            lastHeard: nil,
            evidence: Evidence(rule: .observerOutage)
          )
          isConcerned = true
        }
        return isConcerned
      }
      if isConcerned ?? false { touch(place) }
    }
  }

  /// An observer is back: its silence counts again, and stage one will tell what it hears.
  mutating func recover(_ change: ObserverChange) {
    if live[change.observer] == nil { live[change.observer] = now }
    let now = now
    for place in tags.slots {
      let isConcerned = tags.update(place) { $0.zone.recover(change.observer, at: now) }
      if isConcerned ?? false { touch(place) }
    }
  }

  /// Tells that a beacon left a zone, came into one, or both.
  func tell(_ move: ZoneTrack.Move, about beacon: BeaconID, counter: UInt64, into events: inout [Event]) {
    let names = (
      from: move.from.map { plan.zones[$0].identifier }, to: move.to.map { plan.zones[$0].identifier }
    )
    let transition = ZoneTransition(
      from: names.from,
      to: names.to,
      margin: move.margin,
      dwell: move.dwell,
      reason: move.reason
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
}
