package import PharosDocuments
import PharosFixes
package import PharosModel
import PharosRooms
import PharosStays

extension StageTwo {
  /// The version of the bytes that ``writeState(to:)`` writes.
  package static let stateVersion: UInt8 = 16

  /// Writes everything that later decisions depend on, so that an engine that restores it makes the same decisions.
  ///
  /// Regions are identified by application and identifier, and zones and observers by the names that the site gives
  /// them, so that an engine with an edited site can read the state. The counters are not written: they count from the
  /// start. Call this method after ``advance(to:into:)``.
  ///
  /// - Parameter writer: The writer that receives the state.
  /// - Complexity: linear in what is known; some hundreds of bytes for each beacon.
  package func writeState(to writer: inout FieldWriter) {
    var copy = self
    copy.visitState(&writer)
  }

  /// Restores a state into this stage, which must not have taken any input yet.
  ///
  /// Rows, zones and observers that the site no longer declares are dropped, and no event is published for them. A
  /// region whose definition has changed starts without state.
  ///
  /// - Parameter reader: A reader at the beginning of the state.
  /// - Throws: A `FieldError` if the bytes are not a valid state. The stage is then unchanged.
  package mutating func restoreState(from reader: inout FieldReader) throws(FieldError) {
    var restored = self
    try restored.visitState(&reader)
    self = restored
  }

  /// Hands everything that later decisions depend on to a coder.
  mutating func visitState<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: StageTwo.stateVersion)
    try coder.code(&now)
    let known = try coder.field(regions.entries)
    let keys = known.compactMap { $0?.key }
    try coder.check(Set(keys).count == keys.count, "a region")
    let former = try coder.field(zones)
    let present = around.plan
    let places = Coder.isReader ? begin(with: known, former) : []
    try coder.code(each: &around.listening)
    try coder.code(each: &around.lives)
    try coder.code(each: &around.hasReported)
    try coder.code(&around.start)
    try around.offsets.visitFields(&coder)
    try around.noise.visitFields(&coder)
    try stays.visitFields(&coder)
    try coder.code(&live)
    try coder.code(&lived)
    try coder.code(&resumedAt)
    try visitTags(&coder, regions: known.count)
    let queued = try coder.field(dirty.map { UInt32($0) })
    if Coder.isReader {
      for place in tags.occupied { tags[place].translateRows(by: places) }
      dirty = queued.map { Int($0) }
      for place in dirty {
        try coder.check(tags.isOccupied(place) && !tags[place].isDirty, "a place in the queue")
        tags[place].isDirty = true
      }
    }
    try geofences.visitState(&coder, places: places)
    let itineraries = try coder.field(locators?.itineraries ?? [:])
    if Coder.isReader {
      locators?.restore(itineraries)
      if former != zones {
        zonesOfBefore = removedZones(by: present)
        replan(to: present)
      }
      counted.tags = tags.count
    }
    try occupancy.visitState(&coder)
    try visits.visitState(&coder)
    try guides.visitState(&coder)
  }

  /// Takes over the regions of a state, and plans for its zones.
  ///
  /// - Returns: the place of each region in the present list, nil for one that is gone.
  private mutating func begin(with known: [BeaconRegions.Entry?], _ zones: [Zone]) -> [Int?] {
    let places = regions.restore(known, at: now)
    regionsOfBefore = zip(known, places).compactMap { $1 == nil ? $0?.key : nil }
    let plan = ZonePlan(site: Site(zones: zones))
    around = ZoneTrack.Surroundings(plan: plan)
    stays = StayLevels(observers: plan.observers.count)
    return places
  }

  /// Hands what is known of the places of handsets and tags, and of stays that have not lasted yet, to a coder.
  ///
  /// It is no part of ``visitState(_:)``, being as large as all the rest several times over: a server that starts again locates
  /// all of them from the start. A reader needs the state first, and the same venues.
  mutating func visitWhereabouts<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let hadVenues = try coder.field(locators != nil)
    try coder.check(hadVenues == (locators != nil), "the venues")
    try locators?.visitWhereabouts(&coder)
    try reported.visitWhereabouts(&coder)
    try visits.visitAll(&coder)
    try guides.visitRoutes(&coder)
  }

  // MARK: Beacons

  /// Hands the beacons to a coder, behind the few different sets of zones that place one.
  private mutating func visitTags<Coder: FieldCoder>(
    _ coder: inout Coder,
    regions count: Int
  ) throws(Coder.Failure) {
    let (plan, epoch) = (around.plan, regions.epoch)
    var numbers: [[Bool]: UInt32] = [:]
    var answers: [[Bool]] = []
    for tag in tags.rows where numbers[tag.zone.placing] == nil {
      numbers[tag.zone.placing] = UInt32(answers.count)
      answers.append(tag.zone.placing)
    }
    try coder.code(&answers)
    try coder.code(counter: &retired)
    if Coder.isReader { tags = SubjectTable() }
    try tags.visitRows(&coder) { (row, coder) throws(Coder.Failure) in
      let number = Int(try coder.field(numbers[row().zone.placing] ?? 0))
      let isCurrent = try coder.field(row().zone.placingEpoch == epoch)
      var tag = try coder.field(row())
      guard Coder.isReader else { return tag }
      try coder.check(
        number < answers.count && answers[number].count <= plan.zones.count
          && tag.fits(regions: count, zones: plan.zones.count, observers: plan.observers.count),
        "a place in a list"
      )
      tag.zone.placing = answers[number]
      tag.zone.placingEpoch = isCurrent ? epoch : nil
      return tag
    }
  }

  /// Replaces the zone plan.
  ///
  /// Zones and observers that both plans have in common keep their state.
  mutating func replan(to plan: ZonePlan) {
    let translation = PlanTranslation(from: around.plan, to: plan)
    var next = ZoneTrack.Surroundings(plan: plan, noise: around.noise)
    next.start = around.start
    next.offsets = around.offsets.translated(by: translation, observers: plan.observers.count)
    for (old, new) in translation.observers.enumerated() {
      guard let new else { continue }
      (next.listening[new], next.lives[new]) = (around.listening[old], around.lives[old])
      next.hasReported[new] = around.hasReported[old]
    }
    stays = stays.translated(by: translation, observers: plan.observers.count)
    around = next
    for place in tags.occupied {
      tags[place].zone.translate(by: translation)
      tags[place].zone.placing = plan.placing(
        tags[place].beacon,
        isAskedAbout: regions.asks(about: tags[place].beacon)
      )
      tags[place].zone.placingEpoch = regions.epoch
    }
  }
}

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
  ///   - publishedState: The last states from the events since the state was written, or from all events if there is no
  ///     state.
  ///   - events: Receives the resulting events, such as those of tags that become unmonitored because their observer is
  ///     down.
  package mutating func resume(
    at instant: Timestamp,
    publishedState: PublishedState,
    into events: inout [Event]
  ) {
    let downtime = now == .distantPast ? .zero : max(.zero, instant - now)
    now = max(now, instant)
    resumedAt = now
    live.removeAll()
    for index in around.lives.indices where around.lives[index] == .up {
      around.lives[index] = .unknown
    }
    for place in tags.occupied {
      tags[place].zone.resume(at: now, after: downtime)
      for row in tags[place].rows.indices { tags[place].rows[row].resume(after: downtime) }
    }
    geofences.resume(at: now, after: downtime)
    // What was published about a region that is another one now says nothing about it.
    let changed = resetRegions(publishedState.resets, into: &events)
    let kept = publishedState.regions.filter { !changed.contains(BeaconRegions.Key($0.key)) }
    restore(kept, into: &events)
    leaveRemovedZones(publishedState.zones, into: &events)
    restore(publishedState)
    restore(publishedState.observers)
    // Counters of the state may have been used already by decisions that it does not know of.
    let floor = UInt64(clamping: now.nanoseconds)
    retired = max(retired, floor)
    occupancy.resume(publishedState.occupancies, floor: floor)
    guides.resume(floor: floor)
    visits.resume(after: downtime, published: publishedState.visits, at: now, into: &events)
    let moved = publishedState.zones.map { ($0.beacon, $0.time) }
    let times = Dictionary(moved) { first, _ in first }
    visits.reconcile(with: zonesOfBeacons, times: times, at: now, into: &events)
    tags.cancelDeadlines()
    for place in tags.occupied {
      tags[place].raiseCounters(to: floor)
      touch(place)
    }
    counted.tags = tags.count
  }

  /// Skips the time from one instant to a later one, during which no input was received: silence in it is no evidence.
  package mutating func pause(through end: Timestamp, at instant: Timestamp, into events: inout [Event]) {
    complete(before: instant, into: &events)
    locate(through: instant - .oneNanosecond, into: &events)
    resume(at: end, publishedState: PublishedState(), into: &events)
  }

  /// Begins again with the regions that are others now than in the state, or were reset since.
  ///
  /// - Returns: the keys of the regions.
  private mutating func resetRegions(
    _ published: [RegionKey],
    into events: inout [Event]
  ) -> Set<BeaconRegions.Key> {
    let known = published.map { BeaconRegions.Key($0) }.filter { regions.place(of: $0) != nil }
    var done: Set<BeaconRegions.Key> = []
    for key in regionsOfBefore + known where done.insert(key).inserted {
      if let region = regions.place(of: key) {
        reset(region, of: key, .replaced, at: now, into: &events)
      } else {
        publishReset(of: key, .removed, at: now, into: &events)
      }
    }
    regionsOfBefore = []
    return done
  }

  /// Restores states towards regions from events.
  ///
  /// Beacons that are inside or unmonitored come first, so that they get a place before the limit is reached.
  private mutating func restore(_ words: [PublishedState.RegionRecord], into events: inout [Event]) {
    let isSomewhere = { (word: PublishedState.RegionRecord) in
      word.state == .inside || word.state == .unmonitored
    }
    for word in words.filter(isSomewhere) + words.filter({ !isSomewhere($0) }) {
      if word.isAboutOthers {
        geofences.restore(word, at: now)
        continue
      }
      let key = BeaconRegions.Key(application: word.application, identifier: word.region)
      if let region = regions.place(of: key), let entry = regions.entries[region],
        entry.region.geofence != nil
      {
        geofences.restore(word, region, entry, at: now)
        continue
      }
      guard case .beacon(let beacon) = word.subject, let region = regions.place(of: key),
        let entry = regions.entries[region], case .beacon = entry.region.subject,
        let place = roomFor(beacon)
      else { continue }
      let row = tags[place].row(of: region, assuming: .unknown, since: entry.since)
      tags[place].rows[row].restore(word, at: now, entry.region)
    }
  }

  /// Publishes that beacons are no longer in zones that were removed while the server was down.
  private mutating func leaveRemovedZones(_ words: [PublishedState.ZoneRecord], into events: inout [Event]) {
    let kept = Set(around.plan.zones.map(\.identifier))
    for word in words {
      zonesOfBefore[word.beacon] = word.zone.flatMap { kept.contains($0) ? nil : $0 }
    }
    let counter = UInt64(clamping: now.nanoseconds)
    for (beacon, zone) in zonesOfBefore.sorted(by: { $0.key < $1.key }) {
      publishRemoval(of: zone, around: beacon, counter, into: &events)
    }
    zonesOfBefore = [:]
  }

  /// Restores the zones of beacons from events.
  private mutating func restore(_ publishedState: PublishedState) {
    let down = Set(
      publishedState.observers.filter { !$0.isUp }.compactMap { around.plan.place(of: $0.observer) }
    )
    let zones = Dictionary(around.plan.zones.enumerated().map { ($1.identifier, $0) }) { first, _ in first }
    let words =
      publishedState.zones.filter { $0.zone != nil } + publishedState.zones.filter { $0.zone == nil }
    for word in words {
      let zone = word.zone.flatMap { zones[$0] }
      guard word.zone == nil || zone != nil, let place = roomFor(word.beacon) else { continue }
      tags[place].zone.restore(
        zone,
        since: word.time,
        isUnmonitored: word.isUnmonitored,
        at: now,
        isHeardInTheDark: tags[place].zone.levels.contains { down.contains($0.observer) }
      )
      if word.isUnmonitored { tags[place].zone.setAlarm(at: now + maximumHold(of: place)) }
      guard tags[place].zone.placing.isEmpty else { continue }
      tags[place].zone.placing = around.plan.placing(
        word.beacon,
        isAskedAbout: regions.asks(about: word.beacon)
      )
      tags[place].zone.placingEpoch = regions.epoch
    }
  }

  /// Restores the states of observers from events, after those of regions and zones.
  private mutating func restore(_ words: [PublishedState.ObserverRecord]) {
    for word in words {
      let change = ObserverChange(
        observer: word.observer,
        isUp: word.isUp,
        time: word.time,
        decidedAt: now,
        ordinal: 0
      )
      // An observer last reported online must prove that it is alive.
      if word.isUp { recover(change) } else { markOffline(change) }
      (live[word.observer], lived[word.observer]) = (nil, nil)
      if word.isUp, let place = around.plan.place(of: word.observer) { around.lives[place] = .unknown }
    }
  }

  /// The place of a beacon, made if there is room for one more.
  private mutating func roomFor(_ beacon: BeaconID) -> Int? {
    if let place = tags.place(of: beacon) { return place }
    return tags.count < limits.tags ? add(beacon) : nil
  }

  /// Takes over the zones and the settings for locating that an edited site declares; zones that stay keep their tags.
  mutating func declare(_ settings: Site, into events: inout [Event]) {
    locators?.adopt(settings.positioning, at: now, into: &events)
    reported.adopt(settings.positioning)
    visits.adopt(settings, at: now, into: &events)
    occupancy.adopt(settings.zones)
    let declared = settings.zones.map(\.withoutThresholds)
    guard declared != zones else { return }
    zones = declared
    let plan = ZonePlan(site: settings)
    let removed = removedZones(by: plan)
    for place in tags.occupied {
      guard let zone = removed[tags[place].beacon] else { continue }
      tags[place].zone.counter += 1
      publishRemoval(of: zone, around: tags[place].beacon, tags[place].zone.counter, into: &events)
    }
    replan(to: plan)
    visits.reconcile(with: zonesOfBeacons, at: now, into: &events)
    for place in tags.occupied { touch(place) }
  }

  /// The zones that beacons are in and a plan no longer has.
  private func removedZones(by plan: ZonePlan) -> [BeaconID: String] {
    let kept = Set(plan.zones.map(\.identifier))
    return zonesOfBeacons.filter { !kept.contains($0.value) }
  }

  /// The zones that beacons are in.
  private var zonesOfBeacons: [BeaconID: String] {
    var found: [BeaconID: String] = [:]
    for tag in tags.rows {
      if let zone = tag.zone.zone { found[tag.beacon] = around.plan.zones[zone].identifier }
    }
    return found
  }
}

extension Zone {
  /// The zone without what the plan does not depend on.
  var withoutThresholds: Zone {
    var zone = self
    zone.occupancy = []
    return zone
  }
}
