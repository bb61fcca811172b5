package import PharosEvents
package import PharosReports

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
  /// What has been done so far.
  ///
  /// - Complexity: linear in the number of subjects that are located.
  package var counters: PositioningCounters {
    var counters = counted
    if let locators { counters.locating = locators.counters }
    return counters
  }

  /// What has been counted, locating left out.
  var counted = PositioningCounters()

  /// What is declared at present: changes of a site are found by comparing with it.
  var site: Site
  let stream: String
  let limits: PositioningLimits
  var regions: BeaconRegions
  var tags = TagTable()
  var deadlines = DeadlineQueue()
  /// Since when each observer that is up has been up.
  var live: [ObserverID: Timestamp] = [:]
  /// What zones are weighed with beside the levels: the plan, proofs of life, and the offsets that were found.
  var around: ZoneTrack.Surroundings
  /// What tags that are surely in a zone have taught.
  var gaps: LevelGaps
  /// Where each observer's beacons were found in its last second, by its place in the plan.
  ///
  /// A hint that saves the look-up: an observer tells of its beacons in one order from second to second.
  var expected: [[Int32]] = []
  /// The last answer to which zones place a beacon.
  var lastPlacing: [Bool] = []
  /// The places of what was touched at the present instant.
  var dirty: [Int] = []
  var now = Timestamp.distantPast
  /// Where handsets and tags are; nil if there is no venue to locate them in.
  var locators: Locators?
  private var weighing = ZoneWeighing()

  /// Creates a stage for a site, whose regions are monitored from the beginning.
  ///
  /// - Parameters:
  ///   - site: The site.
  ///   - limits: The bounds on what the stage keeps.
  ///   - rules: The constants of the zone decision.
  ///   - grounds: The venues in which handsets and tags are located. If it is empty, no subject is located.
  package init(
    site: Site,
    limits: PositioningLimits = PositioningLimits(),
    rules: ZoneRules = ZoneRules(),
    grounds: [Ground] = []
  ) {
    self.site = site
    self.stream = site.stream
    self.limits = limits
    self.regions = BeaconRegions(site: site)
    let plan = ZonePlan(site: site)
    around = ZoneTrack.Surroundings(
      plan: plan,
      rules: rules,
      proofs: Array(repeating: .distantFuture, count: plan.observers.count),
      offsets: OffsetTable(observers: plan.observers.count, rules)
    )
    gaps = LevelGaps(observers: plan.observers.count)
    if !grounds.isEmpty { locators = Locators(grounds: grounds, site: site, limit: limits.subjects) }
  }

  /// Takes what stage one found out; links come ordered by `StageLink.isOrderedBefore`.
  package mutating func take(_ link: StageLink, into events: inout [Event]) {
    run(before: link.decidedAt, into: &events)
    switch link {
    case .second(let second):
      counted.summaries &+= UInt64(second.beacons.count)
      hear(second, into: &events)
      locators?.hear(second, into: &events)
    case .presence(let change):
      counted.presenceChanges &+= 1
      note(change, into: &events)
    case .observer(let change):
      counted.observerChanges &+= 1
      if change.isUp { recover(change) } else { goDark(change) }
    case .sensing(let sensing):
      counted.sensings &+= 1
      locators?.take(sensing, into: &events)
    case .life(let life):
      if let observer = around.plan.place(of: life.observer) { prove(observer, through: life.provenThrough) }
    }
  }

  /// Decides all that is due up to an instant, given that every link and change up to it has been taken.
  package mutating func advance(to instant: Timestamp, into events: inout [Event]) {
    run(before: instant, into: &events)
    settle(into: &events)
    fire(through: instant, into: &events)
    locators?.advance(to: instant, into: &events)
  }

  /// Takes a change of the regions, which the limit has already let pass; it comes before all links of its instant.
  package mutating func apply(_ change: RegionChange, at instant: Timestamp, into events: inout [Event]) {
    complete(before: instant, into: &events)
    switch change {
    case .startMonitoring(let application, let region, let assuming):
      start(region, of: application, assuming: assuming, into: &events)
    case .stopMonitoring(let application, let identifier):
      let key = BeaconRegions.Key(application: application, identifier: identifier)
      if let place = regions.remove(key) { forgetRows(of: place) }
    case .setRotation(let application, let tree):
      for place in regions.setRotation(tree, of: application, at: now) { forgetRows(of: place) }
    case .requestState(let application, let identifier, let subject):
      answer(application, identifier, subject, into: &events)
    case .forget(let traces): forget(traces, into: &events)
    case .startRanging, .stopRanging, .acceptObserver: break
    }
  }

  /// Forgets where handsets and tags are, as a copy does that is kept for a checkpoint: this is no part of its state, and a
  /// copy that held thousands of beliefs would have each of them copied.
  package mutating func forgetWhereabouts() { locators?.forgetAll() }

  /// Draws all conclusions that come before a change of an instant.
  mutating func complete(before instant: Timestamp, into events: inout [Event]) {
    run(before: instant, into: &events)
    settle(into: &events)
  }

  // MARK: Time

  /// Completes the instants before one, which becomes the present.
  private mutating func run(before instant: Timestamp, into events: inout [Event]) {
    guard instant > now else { return }
    settle(into: &events)
    fire(through: Timestamp(nanoseconds: instant.nanoseconds - 1), into: &events)
    now = instant
  }

  /// Looks at every beacon that is due, each at its own instant.
  private mutating func fire(through instant: Timestamp, into events: inout [Event]) {
    while let entry = deadlines.pop(through: instant) {
      guard tags.isTaken(entry.slot), tags.store[entry.slot].generation == entry.generation,
        tags.store[entry.slot].wake == entry.due
      else { continue }
      tags.store[entry.slot].wake = .distantFuture
      let due = tags.store[entry.slot].due
      guard due <= entry.due else {
        put(entry.slot, off: due)
        continue
      }
      now = max(now, entry.due)
      touch(entry.slot)
      settle(into: &events)
    }
  }

  /// Draws the conclusions about all that was touched at the present instant.
  private mutating func settle(into events: inout [Event]) {
    guard !dirty.isEmpty else { return }
    var places: [Int] = []
    swap(&places, &dirty)
    for place in places {
      settleRows(place, into: &events)
      settleZone(place, into: &events)
      arm(place)
    }
    places.removeAll(keepingCapacity: true)
    swap(&places, &dirty)
  }

  /// Notes that something was said about a beacon.
  mutating func touch(_ place: Int) {
    guard tags.isTaken(place), !tags.store[place].isDirty else { return }
    tags.store[place].isDirty = true
    dirty.append(place)
  }

  private mutating func arm(_ place: Int) {
    guard tags.isTaken(place) else { return }
    put(place, off: tags.store[place].settleDown())
  }

  /// Has the queue bring a beacon up at an instant, unless it does so earlier.
  private mutating func put(_ place: Int, off due: Timestamp) {
    guard due < tags.store[place].wake else { return }
    tags.store[place].wake = due
    let generation = tags.store[place].generation
    deadlines.insert(DeadlineQueue.Entry(due: due, slot: place, generation: generation))
  }

  // MARK: Beacons

  /// The place of a beacon, made if it is missing and if need be by forgetting others.
  mutating func place(of beacon: BeaconID, into events: inout [Event]) -> Int {
    if let place = tags.place(of: beacon) {
      tags.store[place].touched = now
      return place
    }
    if tags.count >= limits.tags {
      for place in tags.stalest(max(1, limits.tags / 16)) { evict(place, into: &events) }
    }
    let place = tags.place(adding: beacon, at: now)
    counted.tags = tags.count
    return place
  }

  mutating func evict(_ place: Int, into events: inout [Event]) {
    counted.evictions &+= 1
    evictRows(place, into: &events)
    dirty.removeAll { $0 == place }
    tags.remove(place)
    counted.tags = tags.count
  }

  /// Counts a presence change for a region that is not monitored.
  mutating func countStray() { counted.strayChanges &+= 1 }

  /// Counts an observer that there was no room for.
  mutating func countCrowdedOut() { counted.crowdedOut &+= 1 }

  /// Looks at a beacon's levels if it is time to.
  private mutating func settleZone(_ place: Int, into events: inout [Event]) {
    guard tags.isTaken(place), tags.store[place].zone.nextLook <= now else { return }
    tags.store[place].zone.look(at: now, around, gaps, &weighing)
    let move = tags.store[place].zone.decide(at: now, around, weighing)
    if tags.store[place].zone.teach(&gaps, at: now, around, weighing) {
      around.offsets.refresh(gaps, around.rules)
    }
    guard let move else { return }
    tags.store[place].zone.counter += 1
    tell(move, weighing, about: tags.store[place].beacon, tags.store[place].zone.counter, into: &events)
  }
}
