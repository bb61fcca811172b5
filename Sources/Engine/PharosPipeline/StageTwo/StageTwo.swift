package import PharosFixes
package import PharosModel
package import PharosRooms
package import PharosStays

/// Stage two: what compares observers.
///
/// Regions about beacons (a tag is inside as long as any gateway hears it) and zones (which room is it in?). It takes
/// the links of stage one in their order and knows no other clock: what it decides depends on the links, the region
/// changes and the site alone, not on when, or in which portions, they are handed over.
///
/// ``advance(to:into:)`` promises that every link and change up to that instant has been given. Conclusions are drawn
/// once an instant is complete, so a beacon that one gateway loses at the very instant at which the next one hears it
/// has not left.
package struct StageTwo: Sendable {
  /// The counters so far.
  ///
  /// - Complexity: linear in the number of subjects that are located.
  package var counters: PositioningCounters {
    var counters = counted
    counters.locating = locators?.counters ?? reported.counters
    return counters
  }

  /// The counters without those of locating.
  var counted = PositioningCounters()

  /// The zones as declared.
  var zones: [Zone]
  let stream: String
  let limits: PositioningLimits
  var regions: BeaconRegions
  /// The regions of a restored state that the site no longer has, or has with another definition; until ``resume(at:publishedState:into:)``.
  var regionsOfBefore: [BeaconRegions.Key] = []
  /// The zones of a restored state that the site no longer has, by the beacons that were in them; until then as well.
  var zonesOfBefore: [BeaconID: String] = [:]
  var tags = SubjectTable<Tag>()
  /// The highest transition counter of removed tags.
  ///
  /// A new tag continues from it, so that no event id is used twice.
  var retired: UInt64 = 0
  /// The time after which an observer without a sign of life counts as down at the latest.
  static let maximumOutage = TimeSpan.minutes(15)

  /// The time from which each observer that is up has been up.
  var live: [ObserverID: Timestamp] = [:]
  /// The time up to which each of them is known to have lived, if stage one reports it.
  var lived: [ObserverID: Timestamp] = [:]
  /// The time of the latest resumption; the distant future if there was none.
  var resumedAt = Timestamp.distantFuture
  /// The input of the zone decision beside the levels: the plan, proofs of life, and the learned offsets.
  var around: ZoneTrack.Surroundings
  /// The samples from the stays of tags.
  package var stays: StayLevels
  /// The last computed set of zones that place a beacon.
  var lastPlacing: [Bool] = []
  /// The places of the beacons that need evaluation at the present instant.
  var dirty: [Int] = []
  var now = Timestamp.distantPast
  /// The locators of handsets and tags, or nil if there is no venue to locate them in.
  var locators: Locators?
  /// The fixes of handsets where there is no venue: what they report themselves.
  var reported: ReportedFixes
  /// The geofences, and what the fixes say of them.
  var geofences: Geofences
  /// The visits of handsets and tags.
  var visits: Visits
  /// The guidance of subjects to their destinations.
  var guides: Guides
  /// The numbers of beacons in the zones that have thresholds.
  var occupancy: ZoneOccupancy
  private var weighing = ZoneWeighing()

  /// Creates a stage for a site, whose regions are monitored from the beginning.
  ///
  /// - Parameters:
  ///   - site: The site.
  ///   - limits: The bounds on what the stage keeps.
  ///   - venues: The venues in which handsets and tags are located. If it is empty, a handset is where its own location says,
  ///     and no tag is located.
  package init(site: Site, limits: PositioningLimits = PositioningLimits(), venues: [LocatableVenue] = []) {
    zones = site.zones.map(\.withoutThresholds)
    self.stream = site.stream
    self.limits = limits
    self.regions = BeaconRegions(site: site)
    geofences = Geofences(site: site, regions: regions, limit: limits.tags)
    let plan = ZonePlan(site: site)
    around = ZoneTrack.Surroundings(plan: plan)
    stays = StayLevels(observers: plan.observers.count)
    visits = Visits(site: site, venues: venues, limit: limits.tags)
    guides = Guides(stream: site.stream, venues: venues, limit: limits.subjects)
    occupancy = ZoneOccupancy(site.zones)
    reported = ReportedFixes(site: site, limit: limits.subjects)
    guard !venues.isEmpty else { return }
    locators = Locators(venues: venues, site: site, limit: limits.subjects, keepsFixes: true)
  }

  /// Takes a link of stage one.
  ///
  /// Links must come ordered by `StageLink.isOrderedBefore`.
  package mutating func restore(_ link: StageLink, into events: inout [Event]) {
    run(before: link.decidedAt, into: &events)
    switch link {
    case .second(let second):
      counted.summaries &+= UInt64(second.beacons.count)
      receive(second, into: &events)
      locators?.receive(second, into: &events)
    case .presence(let change):
      counted.presenceChanges &+= 1
      record(change, into: &events)
    case .observer(let change):
      counted.observerChanges &+= 1
      if change.isUp { recover(change) } else { markOffline(change) }
    case .sensing(let sensing):
      counted.sensings &+= 1
      locators?.receive(sensing, into: &events)
      if locators == nil, let fix = reported.receive(sensing) {
        events.append(fix.event)
        follow(fix, into: &events)
      }
    case .life(let life):
      lived[life.observer] = life.listening.provenThrough
      if let observer = around.plan.place(of: life.observer) { prove(observer, life) }
    }
    followFixes(into: &events)
  }

  /// Makes all decisions that are due up to an instant, given that every link and change up to it has been taken.
  package mutating func advance(to instant: Timestamp, into events: inout [Event]) {
    run(before: instant, into: &events)
    evaluate(into: &events)
    fire(through: instant, into: &events)
    compareOccupancy(into: &events)
    locate(through: instant, into: &events)
  }

  /// Applies a change of the regions that has passed the limits.
  ///
  /// It comes before all links of its instant.
  package mutating func apply(_ change: RegionChange, at instant: Timestamp, into events: inout [Event]) {
    complete(before: instant, into: &events)
    locate(through: instant - .oneNanosecond, into: &events)
    switch change {
    case .startMonitoring(let application, let region, let assuming):
      start(region, of: application, assuming: assuming, into: &events)
    case .stopMonitoring(let application, let identifier):
      let key = BeaconRegions.Key(application: application, identifier: identifier)
      if let place = regions.remove(key) { reset(place, of: key, .removed, at: instant, into: &events) }
    case .setRotation(let application, let tree):
      let keys = regions.entries.map { $0?.key }
      for place in regions.setRotation(tree, of: application, at: now) {
        guard let key = keys[place] else { continue }
        reset(
          place,
          of: key,
          regions.place(of: key) == nil ? .removed : .replaced,
          at: instant,
          into: &events
        )
      }
      geofences.setRotation(tree, of: application)
      for place in regions.entries.indices where regions.entries[place]?.key.application == application {
        geofences.update(place, regions)
      }
    case .requestState(let application, let identifier, let subject):
      answer(application, identifier, subject, into: &events)
    case .forget(let traces): forget(traces, into: &events)
    case .declare(let settings): declare(settings, into: &events)
    case .setItinerary(let subject, let itinerary):
      locators?.assign(itinerary, to: subject, at: instant, into: &events)
    case .setGuidance(let subject, let request):
      guides.set(request, of: subject, at: instant, into: &events)
    case .startRanging, .stopRanging, .setRegionLimit, .acceptObserver, .dismissObserver: break
    }
    followFixes(into: &events)
  }

  /// The itineraries and the guidance of subjects, as the changes that assign them.
  package var assignments: Set<RegionChange> {
    let itineraries = (locators?.itineraries ?? [:]).map { RegionChange.setItinerary(subject: $0, $1) }
    return Set(itineraries + guides.requests.map { RegionChange.setGuidance(subject: $0, $1) })
  }

  /// Forgets the locations of handsets and tags, for a copy that is kept for a checkpoint.
  ///
  /// They are not part of its state, and a copy that held thousands of beliefs would cause each of them to be copied.
  package mutating func forgetWhereabouts() { locators?.forgetAll() }

  /// Makes all decisions that come before a change of an instant.
  mutating func complete(before instant: Timestamp, into events: inout [Event]) {
    run(before: instant, into: &events)
    evaluate(into: &events)
  }

  // MARK: Fixes

  /// Makes every fix and every decision about a located subject that is due by an instant.
  mutating func locate(through instant: Timestamp, into events: inout [Event]) {
    locators?.advance(to: instant, into: &events)
    followFixes(into: &events)
    for decider in FixDecider.all { decider.advance(&self, instant, &events) }
  }

  /// Hands each new fix to all that decides by fixes.
  private mutating func followFixes(into events: inout [Event]) {
    for fix in locators?.drainFixes() ?? [] { follow(fix, into: &events) }
  }

  private mutating func follow(_ fix: PublishedFix, into events: inout [Event]) {
    for decider in FixDecider.all { decider.follow(&self, fix, &events) }
  }

  /// Hands a position to the geofences.
  package mutating func follow(_ position: LocatedPosition, into events: inout [Event]) {
    geofences.follow(position, regions, into: &events)
  }

  // MARK: Time

  /// Completes the instants before one, which becomes the present.
  private mutating func run(before instant: Timestamp, into events: inout [Event]) {
    guard instant > now else { return }
    evaluate(into: &events)
    fire(through: Timestamp(nanoseconds: instant.nanoseconds - 1), into: &events)
    compareOccupancy(into: &events)
    now = instant
  }

  /// Compares the numbers of beacons in zones with their thresholds, once the present instant is complete.
  private mutating func compareOccupancy(into events: inout [Event]) {
    guard occupancy.isChanged else { return }
    let (tags, around) = (tags, around)
    let down = around.plan.zones.indices.filter { around.hasObserver(.down, in: $0) }
    let waiting = Set(down.map { around.plan.zones[$0].identifier })
    occupancy.compare(at: now, stream: stream, waiting: waiting, into: &events) {
      tags.rows.compactMap { tag in tag.zone.zone.map { around.plan.zones[$0].identifier } }
    }
  }

  /// Evaluates every beacon that is due, each at its own instant.
  private mutating func fire(through instant: Timestamp, into events: inout [Event]) {
    while let (place, wake) = tags.popDue(through: instant) {
      let due = tags[place].due
      guard due <= wake else {
        tags.schedule(place, at: due)
        continue
      }
      if wake > now { compareOccupancy(into: &events) }
      now = max(now, wake)
      touch(place)
      evaluate(into: &events)
    }
  }

  /// Makes the decisions about all beacons that need evaluation at the present instant.
  private mutating func evaluate(into events: inout [Event]) {
    guard !dirty.isEmpty else { return }
    var places: [Int] = []
    swap(&places, &dirty)
    for place in places {
      evaluateRegions(place, into: &events)
      evaluateZone(place, into: &events)
      arm(place)
    }
    places.removeAll(keepingCapacity: true)
    swap(&places, &dirty)
  }

  /// Queues a beacon for evaluation at the present instant.
  mutating func touch(_ place: Int) {
    guard tags.isOccupied(place), !tags[place].isDirty else { return }
    tags[place].isDirty = true
    dirty.append(place)
  }

  private mutating func arm(_ place: Int) {
    guard tags.isOccupied(place) else { return }
    let due = tags[place].endEvaluation()
    tags.schedule(place, at: due)
  }

  // MARK: Beacons

  /// Returns the place of a beacon, and adds the beacon if it is missing, evicting others if necessary.
  mutating func place(of beacon: BeaconID, into events: inout [Event]) -> Int {
    if let place = tags.place(of: beacon) {
      tags[place].touched = now
      return place
    }
    for place in tags.evictions(limit: limits.tags) {
      counted.evictions &+= 1
      evict(place, into: &events)
    }
    return add(beacon)
  }

  /// Adds a beacon that is missing.
  mutating func add(_ beacon: BeaconID) -> Int {
    let place = tags.insert(Tag(beacon: beacon, touched: now, retired: retired))
    counted.tags = tags.count
    return place
  }

  mutating func evict(_ place: Int, into events: inout [Event]) {
    evictRows(place, into: &events)
    if tags[place].zone.zone != nil { occupancy.recount() }
    visits.lose(tags[place].beacon, at: now)
    dirty.removeAll { $0 == place }
    retired = max(retired, tags[place].highestCounter)
    tags.remove(place)
    counted.tags = tags.count
  }

  /// Counts a presence change for a region that is not monitored.
  mutating func countStray() { counted.strayChanges &+= 1 }

  /// Counts an observer that was not recorded because the limit was reached.
  mutating func countCrowdedOut() { counted.crowdedOut &+= 1 }

  /// Evaluates a beacon's levels if a look is due.
  private mutating func evaluateZone(_ place: Int, into events: inout [Event]) {
    guard tags.isOccupied(place), tags[place].zone.nextLook <= now else { return }
    tags[place].zone.look(at: now, around, &weighing)
    let isInside = tags[place].rows.contains { row in
      (row.state == .inside || row.state == .unmonitored)
        && row.hearings.contains { around.plan.place(of: $0.observer) != nil }
    }
    let move = tags[place].zone.decide(at: now, isInside: isInside, around, weighing)
    let family = tags[place].beacon.words.high
    if tags[place].zone.teach(&stays, of: family, at: now, around, weighing) {
      around.offsets.refresh(stays)
    }
    guard let move else { return }
    tags[place].zone.counter += 1
    if move.kind == .zoneUnmonitored {
      tags[place].zone.setAlarm(at: now + maximumHold(of: place))
    }
    publish(move, weighing, about: tags[place].beacon, tags[place].zone.counter, into: &events)
  }
}

extension StageTwo {
  /// Returns the offsets of the observers that stand in zones, learned from the tags in each other's zones.
  ///
  /// The order is that in which the zones name the observers. An offset is only used where `Calibration.isApplied`
  /// is set.
  package func calibrations() -> [Calibration] {
    zip(around.plan.observers, around.offsets.entries).map { observer, entry in
      Calibration(
        observer: observer,
        offset: entry.offset,
        deviation: entry.deviation,
        pairs: entry.pairs,
        observations: Int(entry.observations),
        isApplied: entry.isApplied
      )
    }
  }

  /// Takes an observer's summaries of one second.
  ///
  /// A beacon whose next look is already scheduled is not evaluated for each of its observers.
  mutating func receive(_ second: SecondSummary, into events: inout [Event]) {
    guard let observer = around.plan.place(of: second.observer) else { return }
    markUp(second.observer)
    around.report(of: observer, at: now)
    for index in second.beacons.indices {
      let place = place(of: second.beacons[index].beacon, into: &events)
      if tags[place].zone.placingEpoch != regions.epoch { askWhoPlaces(place) }
      let summary = second.beacons[index]
      let deafTime = around.listening[observer].deafTime
      tags[place].zone.add(
        summary,
        of: observer,
        until: second.until,
        at: now,
        deafTime: deafTime,
        &around.noise
      )
      if tags[place].zone.nextLook <= now { touch(place) }
    }
  }

  /// Determines the zones that place a beacon.
  ///
  /// Most beacons share one answer, and the array that holds it.
  private mutating func askWhoPlaces(_ place: Int) {
    let beacon = tags[place].beacon
    let placing = around.plan.placing(beacon, isAskedAbout: regions.asks(about: beacon))
    if placing != lastPlacing { lastPlacing = placing }
    tags[place].zone.placing = lastPlacing
    tags[place].zone.placingEpoch = regions.epoch
  }

  /// Records that an observer went down.
  ///
  /// The beacons that it had inside become unmonitored unless others hear them, and the beacons of its zones are not
  /// handed to neighbouring zones.
  mutating func markOffline(_ change: ObserverChange) {
    (live[change.observer], lived[change.observer]) = (nil, nil)
    let observer = around.plan.place(of: change.observer)
    if let observer { around.lives[observer] = .down }
    for place in tags.occupied {
      var isConcerned = false
      if let observer {
        isConcerned = tags[place].zone.markOffline(observer, since: change.time, at: now, around)
      }
      for index in tags[place].rows.indices
      where tags[place].rows[index].hears(change.observer) {
        tags[place].rows[index].markOffline(
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

  /// Records that an observer is up again.
  ///
  /// Its silence counts again, and stage one will report what it hears.
  mutating func recover(_ change: ObserverChange) {
    markUp(change.observer)
    for place in tags.occupied {
      var isConcerned = false
      for index in tags[place].rows.indices
      where tags[place].rows[index].awaits(change.observer) {
        tags[place].rows[index].assumptionDeadline = now + tags[place].rows[index].patience
        isConcerned = true
      }
      if isConcerned { touch(place) }
    }
    guard let observer = around.plan.place(of: change.observer) else { return }
    occupancy.recount()
    for place in tags.occupied {
      if tags[place].zone.recover(observer, at: now, around) { touch(place) }
    }
  }

  /// Marks an observer as up, from now on unless it has been up before.
  private mutating func markUp(_ observer: ObserverID) {
    if live[observer] == nil { live[observer] = now }
    if let place = around.plan.place(of: observer) { around.lives[place] = .up }
  }

  /// Returns the time for which a beacon may stay unmonitored in its zone: that of the region which is the first to raise
  /// its alarm.
  func maximumHold(of place: Int) -> TimeSpan {
    let held = tags[place].rows.filter { $0.state == .inside || $0.state == .unmonitored }
    return held.compactMap { regions.entries[$0.region]?.region.maximumHold }.min()
      ?? Region.defaultMaximumHold
  }

  /// Records a proof of life of an observer: its silence counts up to that time, less what it could not hear.
  ///
  /// If the last proof is long ago, the beacons that the observer heard are evaluated rarely, and are due now.
  mutating func prove(_ observer: Int, _ life: ObserverLife) {
    if around.lives[observer] == .unknown { around.lives[observer] = .up }
    let before = around.listening[observer].provenThrough
    around.listening[observer] = life.listening
    let proven = life.listening.provenThrough - before
    guard proven.seconds * ZoneRules.silentPause > ZoneRules.period.seconds else { return }
    for place in tags.occupied {
      if tags[place].zone.comeUp(for: observer, at: now) { touch(place) }
    }
  }

  /// Publishes that a beacon is no longer in a zone, since there is no such zone any longer.
  func publishRemoval(
    of zone: String,
    around beacon: BeaconID,
    _ counter: UInt64,
    into events: inout [Event]
  ) {
    let transition = ZoneTransition(from: zone, to: nil, margin: nil, dwell: nil, reason: .removed)
    events.append(zoneEvent(.zoneExit, zone, beacon, at: now, counter, transition))
  }

  /// An event about a beacon and a zone, decided now.
  private func zoneEvent(
    _ kind: EventKind,
    _ zone: String,
    _ beacon: BeaconID,
    at time: Timestamp,
    _ counter: UInt64,
    _ transition: ZoneTransition
  ) -> Event {
    Event(
      stream: stream,
      kind: kind,
      time: time,
      decidedAt: now,
      stage: 2,
      subject: .beacon(beacon),
      region: zone,
      counter: counter,
      ordinal: counter,
      detail: .zone(transition)
    )
  }

  /// Publishes that a beacon left a zone, entered one, or both.
  mutating func publish(
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
    let reported =
      move.kind.map { [($0, names.to)] } ?? [
        (EventKind.zoneExit, names.from), (.zoneEnter, names.to),
      ]
    for (kind, zone) in reported {
      guard let zone else { continue }
      events.append(zoneEvent(kind, zone, beacon, at: move.time, counter, transition))
    }
    occupancy.move(from: names.from, to: names.to)
    let zoneMove = ZoneMove(
      from: names.from,
      to: move.reason == .observerDown ? nil : names.to,
      time: move.time,
      reason: move.reason,
      probability: move.probability
    )
    visits.receive(zoneMove, of: beacon, at: now, into: &events)
    guard !guides.isEmpty else { return }
    guides.move(beacon, zones: zonesOfSubjects(), at: move.time, decidedAt: now, into: &events)
  }

  /// Returns a function that gives the zone of a beacon, or nil.
  func zonesOfSubjects() -> Guides.Zones {
    let (tags, around) = (tags, around)
    return { subject in
      guard case .beacon(let beacon) = subject, let place = tags.place(of: beacon) else { return nil }
      return tags[place].zone.zone.map { around.plan.zones[$0].identifier }
    }
  }

  /// Returns the observers that heard the beacon loudest when a decision was made.
  private func hearings(_ weighing: ZoneWeighing) -> [ZoneTransition.Hearing] {
    let ranked = weighing.heard.sorted { ($0.corrected, -$0.observer) > ($1.corrected, -$1.observer) }
    return ranked.prefix(ZoneTransition.maximumHearings).map { heard in
      ZoneTransition.Hearing(
        observer: around.plan.observers[heard.observer],
        level: heard.level,
        offset: heard.offset
      )
    }
  }
}

/// The limits on the state of stage two.
package struct PositioningLimits: Hashable, Sendable {
  /// The maximum number of beacons with state; beyond that, beacons at no known location are evicted first, then the
  /// oldest.
  package var tags: Int
  /// The maximum number of handsets and tags that are located; beyond that, the oldest are evicted first.
  ///
  /// Each takes 80 to 90 KiB, measured in a process that tracked a hundred.
  package var subjects: Int
  /// The maximum number of observers that are recorded for one beacon in one region at the same time.
  package var observersPerRow: Int

  /// Makes limits.
  ///
  /// 65,536 beacons are 30 times a large site; 64 gateways within the reach of one tag are more than any floor has;
  /// 8,192 subjects are what two cores can track once a second, in 0.7 GiB.
  package init(tags: Int = 65_536, observersPerRow: Int = 64, subjects: Int = 8_192) {
    self.tags = max(16, tags)
    self.observersPerRow = max(1, observersPerRow)
    self.subjects = max(1, subjects)
  }
}

/// The counters of stage two.
package struct PositioningCounters: Hashable, Sendable {
  /// Summaries of tracks taken.
  package var summaries: UInt64 = 0
  /// Presence changes taken.
  package var presenceChanges: UInt64 = 0
  /// Observers gone down or come back.
  package var observerChanges: UInt64 = 0
  /// Presence changes for a region that is not, or no longer, monitored.
  package var strayChanges: UInt64 = 0
  /// Times that an observer heard a beacon but was not recorded, because ``PositioningLimits/observersPerRow`` was
  /// reached.
  package var crowdedOut: UInt64 = 0
  /// Beacons forgotten because there were too many.
  package var evictions: UInt64 = 0
  /// Sensings of handsets taken.
  package var sensings: UInt64 = 0
  /// The counters of locating.
  package var locating = LocatingCounters()
  /// Beacons with state.
  package var tags: Int = 0

  /// Starts at zero.
  package init() {}
}
