package import PharosEvents
package import PharosReports

extension StageTwo {
  /// Resumes after a restart.
  ///
  /// The time since the state was written, or all earlier time if there is no state, is downtime. Decisions that fell
  /// due during the downtime are not made, and silence during it is no evidence: levels, holds and assumptions count
  /// from `instant`. Where an event is newer than the state, the event wins. An observer's silence does not count
  /// before stage one has reported that the observer is up.
  ///
  /// - Parameters:
  ///   - instant: The time at which inputs begin again, later than the time of the state.
  ///   - lastTold: The last states from the events since the state was written, or from all events if there is no
  ///     state.
  ///   - events: Receives the resulting events, such as those of tags that become unmonitored because their observer is
  ///     down.
  package mutating func resume(at instant: Timestamp, lastTold: LastTold, into events: inout [Event]) {
    let downtime = now == .distantPast ? .zero : max(.zero, instant - now)
    now = max(now, instant)
    live.removeAll()
    for place in tags.slots where tags.isTaken(place) {
      tags.store[place].zone.resume(at: now, after: downtime, around.rules)
      for row in tags.store[place].rows.indices { tags.store[place].rows[row].resume(after: downtime) }
    }
    take(lastTold.regions, into: &events)
    take(lastTold)
    take(lastTold.observers)
    // Counters of the state may have been used already by decisions that it does not know of.
    let floor = UInt64(clamping: now.nanoseconds)
    tags.retired = max(tags.retired, floor)
    deadlines = DeadlineQueue()
    for place in tags.slots where tags.isTaken(place) {
      tags.store[place].raiseCounters(to: floor)
      tags.store[place].wake = .distantFuture
      touch(place)
    }
    counted.tags = tags.count
  }

  /// Skips the time from one instant to a later one, during which no input was received: silence in it is no evidence.
  package mutating func pause(through end: Timestamp, at instant: Timestamp, into events: inout [Event]) {
    complete(before: instant, into: &events)
    resume(at: end, lastTold: LastTold(), into: &events)
  }

  /// Restores states towards regions from events.
  ///
  /// Beacons that are inside or unmonitored come first, so that they get a place before the limit is reached.
  private mutating func take(_ words: [LastTold.RegionWord], into events: inout [Event]) {
    let isSomewhere = { (word: LastTold.RegionWord) in word.state == .inside || word.state == .unmonitored }
    for word in words.filter(isSomewhere) + words.filter({ !isSomewhere($0) }) {
      let key = BeaconRegions.Key(application: word.application, identifier: word.region)
      guard case .beacon(let beacon) = word.subject, let region = regions.place(of: key),
        let entry = regions.entries[region], case .beacon = entry.region.subject,
        let place = roomFor(beacon)
      else { continue }
      let now = now
      _ = tags.update(place) { tag in
        let row = tag.row(of: region, assuming: .unknown, since: entry.since)
        tag.rows[row].take(word, at: now, entry.region)
      }
    }
  }

  /// Restores the zones of beacons from events.
  private mutating func take(_ lastTold: LastTold) {
    let down = Set(lastTold.observers.filter { !$0.isUp }.compactMap { around.plan.place(of: $0.observer) })
    let zones = Dictionary(around.plan.zones.enumerated().map { ($1.identifier, $0) }) { first, _ in first }
    let words = lastTold.zones.filter { $0.zone != nil } + lastTold.zones.filter { $0.zone == nil }
    for word in words {
      let zone = word.zone.flatMap { zones[$0] }
      guard word.zone == nil || zone != nil, let place = roomFor(word.beacon) else { continue }
      tags.store[place].zone.take(
        zone,
        since: word.time,
        at: now,
        isHeardInTheDark: tags.store[place].zone.levels.contains { down.contains($0.observer) },
        around.rules
      )
      guard tags.store[place].zone.placing.isEmpty else { continue }
      tags.store[place].zone.placing = around.plan.placing(
        word.beacon,
        isAskedAbout: regions.asks(about: word.beacon)
      )
      tags.store[place].zone.placingEpoch = regions.epoch
    }
  }

  /// Restores the states of observers from events, after those of regions and zones.
  private mutating func take(_ words: [LastTold.ObserverWord]) {
    for word in words {
      let change = ObserverChange(
        observer: word.observer,
        isUp: word.isUp,
        time: word.time,
        decidedAt: now,
        ordinal: 0
      )
      // Who was up by the last word has still to show that it is.
      if word.isUp { recover(change) } else { goDark(change) }
      live[word.observer] = nil
    }
  }

  /// The place of a beacon, made if there is room for one more.
  private mutating func roomFor(_ beacon: BeaconID) -> Int? {
    if let place = tags.place(of: beacon) { return place }
    return tags.count < limits.tags ? tags.place(adding: beacon, at: now) : nil
  }

  /// Takes a site that was edited: what it declares alike keeps its state, what it no longer declares is forgotten without
  /// a word, and what is new begins now.
  ///
  /// A site that is no different changes nothing.
  package mutating func adopt(_ next: Site, at instant: Timestamp, into events: inout [Event]) {
    let changes = site.regionChanges(to: next)
    for change in changes { apply(change, at: instant, into: &events) }
    locators?.adopt(next.positioning, at: instant, into: &events)
    let hasOtherZones = next.zones != site.zones
    site = next
    guard hasOtherZones else { return }
    complete(before: instant, into: &events)
    replan(to: ZonePlan(site: next))
    for place in tags.slots where tags.isTaken(place) { touch(place) }
  }
}
