package import PharosDocuments
package import PharosModel
import PharosSpace

/// The subjects that are being located: one ``Locator`` for each handset, and for each tag that fixed observers hear.
///
/// A fix depends only on the subject's own inputs and on a random seed made from the names of the stream and the
/// subject. So neither batching, nor sharding, nor other subjects change a fix. Positions are not part of the
/// written state: after a restart each subject is located from scratch, within a scan or two.
package struct Locators: Sendable {
  /// The prepared venues.
  let venues: [LocatableVenue]
  let stream: String
  let limit: Int
  /// The beacons at known places, which are not tags.
  private let fixedBeacons: Set<BeaconID>
  /// The settings of the site.
  var settings: PositioningSettings
  private var subjects = SubjectTable<LocatedSubject>()
  /// Indicates whether fixes are kept until ``drainFixes()`` takes them.
  private let keepsFixes: Bool
  private var fixes: [PublishedFix] = []
  /// The itineraries, also of subjects that are not located at present.
  package private(set) var itineraries: [SubjectID: Itinerary] = [:]
  /// The counters, without those of locators that are still active.
  var counted = LocatingCounters()

  /// The time for which a subject is kept without any input.
  ///
  /// 10 min: a handset in a pocket may sleep that long; its fixes end earlier, after ``FusionRules/silence``.
  static let memory = TimeSpan.minutes(10)
  /// Creates a collection without subjects.
  package init(venues: [LocatableVenue], site: Site, limit: Int, keepsFixes: Bool = false) {
    self.venues = venues
    self.limit = limit
    self.keepsFixes = keepsFixes
    stream = site.stream
    settings = site.positioning
    fixedBeacons = Set(venues.flatMap { $0.venue.floors.flatMap { $0.floor.beacons.map(\.beacon) } })
  }

  /// The sum of the counters of all subjects, including those that were forgotten.
  ///
  /// - Complexity: linear in the number of subjects; intended for a copy, or for once a second.
  package var counters: LocatingCounters {
    var sum = counted
    for place in subjects.occupied {
      var subject = subjects[place]
      sum.add(subject.counters())
    }
    sum.subjects = subjects.count
    return sum
  }

  // MARK: Inputs

  /// Takes a sensing of a handset.
  package mutating func receive(_ sensing: Sensing, into events: inout [Event]) {
    let reach = GroundReach(sensing.body, venues)
    let place = place(of: .observer(sensing.observer), reach, at: sensing.decidedAt, into: &events)
    subjects[place].receive(sensing)
    publish(place, into: &events)
    arm(place)
  }

  /// Takes a fixed observer's summaries of half a second.
  ///
  /// Beacons that are not at known places are tags. Their fixes wait for the observer that reports last of those that hear
  /// them: a gateway that sends once in two seconds is that much later than one that sends at once.
  package mutating func receive(_ second: SecondSummary, into events: inout [Event]) {
    let reach = GroundReach(second.observer, venues)
    guard reach.maximumKnown > 0 else { return }
    let delivery = second.decidedAt - second.until + SecondSummary.length
    for summary in second.beacons where !fixedBeacons.contains(summary.beacon) {
      let place = place(of: .beacon(summary.beacon), reach, at: second.decidedAt, into: &events)
      subjects[place].receive(second.observer, summary, delivery: delivery, decidedAt: second.decidedAt)
      publish(place, into: &events)
      arm(place)
    }
  }

  /// Makes every fix that is due by an instant, given that every input up to it has been taken.
  package mutating func advance(to instant: Timestamp, into events: inout [Event]) {
    while let (place, _) = subjects.popDue(through: instant) {
      let end = subjects[place].touched + Locators.memory
      run(place, through: min(instant, end), into: &events)
      if end <= instant { forget(place) } else { arm(place) }
    }
  }

  /// Applies the settings of an edited site.
  ///
  /// If any of them but `tags` and `isSimulated` has changed, all subjects are located from scratch.
  package mutating func adopt(_ next: PositioningSettings, at instant: Timestamp, into events: inout [Event])
  {
    var like = next
    (like.tags, like.isSimulated) = (settings.tags, settings.isSimulated)
    advance(to: instant - .oneNanosecond, into: &events)
    if like != settings { forgetAll() }
    settings = next
  }

  /// Assigns an itinerary to a subject, or takes it away, after everything that was received before an instant.
  ///
  /// Beyond the limit on subjects no further subject gets one.
  package mutating func assign(
    _ itinerary: Itinerary?,
    to subject: SubjectID,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    guard itinerary?.isValid != false else { return }
    guard itineraries[subject] != nil || itineraries.count < limit || itinerary == nil else { return }
    itineraries[subject] = itinerary
    guard let place = subjects.place(of: subject) else { return }
    run(place, through: instant - .oneNanosecond, into: &events)
    subjects[place].advance(to: instant - .oneNanosecond)
    publish(place, into: &events)
    subjects[place].assign(itinerary)
    arm(place)
  }

  /// Restores the itineraries of a written state.
  package mutating func restore(_ itineraries: [SubjectID: Itinerary]) { self.itineraries = itineraries }

  /// Forgets all subjects.
  package mutating func forgetAll() {
    for place in subjects.occupied { counted.add(subjects[place].counters()) }
    subjects = SubjectTable()
  }

  /// Forgets one subject.
  package mutating func forget(_ traces: SubjectTraces) {
    itineraries = itineraries.filter { !traces.contains($0.key) }
    for place in subjects.places(of: traces) { forget(place) }
  }

  // MARK: Fixes

  /// Makes the fixes of a subject one after the other, even if much time has passed.
  mutating func run(_ place: Int, through instant: Timestamp, into events: inout [Event]) {
    // What is due lies beyond what was advanced to, or at the end of time, where nothing is.
    var due = subjects[place].nextDue()
    while due <= instant, due < .distantFuture {
      subjects[place].advance(to: due)
      publish(place, into: &events)
      due = subjects[place].nextDue()
    }
  }

  /// Removes and returns the fixes that were published since the last call.
  package mutating func drainFixes() -> [PublishedFix] {
    guard !fixes.isEmpty else { return [] }
    var drained: [PublishedFix] = []
    swap(&drained, &fixes)
    return drained
  }

  /// Schedules a subject for its next fix or its removal, unless it is scheduled earlier already.
  private mutating func arm(_ place: Int) {
    let due = min(subjects[place].nextDue(), subjects[place].touched + Locators.memory)
    subjects.schedule(place, at: due)
  }

  /// Publishes the fixes that a subject has ready.
  private mutating func publish(_ place: Int, into events: inout [Event]) {
    while let (fix, number, decidedAt) = subjects[place].nextFix() {
      counted.fixes &+= 1
      var detail = FixDetail(fix, in: venues[subjects[place].ground].content)
      if settings.isSimulated { detail.sourceInformation.insert(.simulatedBySoftware) }
      let event = Event(
        stream: stream,
        kind: .fix,
        time: fix.time,
        decidedAt: decidedAt,
        stage: 2,
        subject: subjects[place].subject,
        counter: number,
        ordinal: number,
        detail: .fix(detail)
      )
      events.append(event)
      if keepsFixes { fixes.append(PublishedFix(event: event, detail: detail)) }
    }
    while let (note, number, decidedAt) = subjects[place].nextNote() {
      let (kind, detail): (EventKind, EventDetail) =
        switch note.body {
        case .state(let transition): (.positioningState, .positioning(transition))
        case .scan(let request): (.scanRequested, .scanRequest(request))
        }
      events.append(
        Event(
          stream: stream,
          kind: kind,
          time: note.time,
          decidedAt: decidedAt,
          stage: 2,
          subject: subjects[place].subject,
          counter: number,
          ordinal: number,
          detail: detail
        )
      )
    }
  }
}

extension Locators {
  /// Returns the place of a subject, and adds the subject if it is missing, evicting others if necessary.
  mutating func place(
    of id: SubjectID,
    _ reach: GroundReach,
    at instant: Timestamp,
    into events: inout [Event]
  ) -> Int {
    // A subject that has been silent for too long is forgotten as of its own deadline, whether time has run on or not.
    if let place = subjects.place(of: id), subjects[place].touched + Locators.memory < instant {
      run(place, through: subjects[place].touched + Locators.memory, into: &events)
      forget(place)
    }
    if let place = subjects.place(of: id) {
      if reach.hasEvidence, subjects[place].record(reach) {
        run(place, through: instant - .oneNanosecond, into: &events)
        counted.add(subjects[place].counters())
        subjects[place].move(to: reach.best, locator: locator(of: id, on: reach.best))
      }
      return place
    }
    if subjects.count >= limit {
      // Publishes pending fixes of evicted subjects first.
      advance(to: instant - .oneNanosecond, into: &events)
      for place in subjects.evictions(limit: limit) {
        counted.evictions &+= 1
        forget(place)
      }
    }
    return subjects.insert(
      LocatedSubject(
        id,
        on: reach.best,
        isAtHome: reach.maximumKnown > 0,
        locator: locator(of: id, on: reach.best),
        at: instant
      )
    )
  }

  private func locator(of id: SubjectID, on ground: Int) -> Locator {
    var rules = venues[ground].rules
    rules.interval = settings.interval
    rules.lag = settings.lag
    if let particles = settings.particles { rules.particles = particles }
    var locator = Locator(ground: venues[ground], rules: rules, seed: seed(of: id))
    if let itinerary = itineraries[id] { locator.assign(itinerary) }
    return locator
  }

  /// Returns a number that depends only on the stream and the subject: FNV-1a over both names, a zero between them.
  private func seed(of id: SubjectID) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in stream.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = hash &* 0x100_0000_01B3
    for byte in id.description.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }

  /// Frees the place of a subject.
  package mutating func forget(_ place: Int) {
    counted.add(subjects[place].counters())
    subjects.remove(place)
  }
}

/// The number of heard emitters that each ground knows, from which the subject's ground is chosen.
struct GroundReach {
  /// The number of emitters that each ground knows.
  let known: [Int]
  /// The ground that knows most; the first of several equal ones.
  let best: Int
  /// Indicates whether the input contains anything that a ground could know.
  let hasEvidence: Bool

  /// The result if there is only one ground, in which every subject is located.
  private static let sole = GroundReach(known: [1], hasEvidence: false)

  /// The number of emitters that the best ground knows.
  var maximumKnown: Int { known[best] }

  /// The distance from the floors of a venue within which a location from outside counts for the venue.
  ///
  /// 1 km: the walk from the station, so that a subject is assigned to the venue before it reaches the first door.
  ///
  /// - Units: metres.
  static let approach = 1_000.0

  /// The maximum number of access points of a scan that are looked up where there are several venues.
  ///
  /// 64: a scan in a mall has hundreds, and any few of them identify the building.
  static let maximumLookedUp = 64

  /// Creates the result of a sensing.
  ///
  /// If there is only one ground, nothing is looked up.
  init(_ body: Sensing.Body, _ venues: [LocatableVenue]) {
    guard venues.count > 1 else {
      self = GroundReach.sole
      return
    }
    switch body {
    case .accessPoints(let points):
      let some = points.prefix(GroundReach.maximumLookedUp)
      self.init(
        known: venues.map { ground in
          some.count { ground.content.emitter(.accessPoint($0.bssid)) != nil }
        },
        hasEvidence: true
      )
    case .beacon(let beacon, let address, rssi: _, accuracy: _):
      self.init(
        known: venues.map { $0.content.emitter(ofBeacon: beacon, address: address) == nil ? 0 : 1 },
        hasEvidence: true
      )
    case .outside(let fix):
      let place = Coordinate(latitude: fix.latitude, longitude: fix.longitude)
      self.init(
        known: venues.map { ground in
          place.map { ground.isNear($0, within: GroundReach.approach) } == true ? 1 : 0
        },
        hasEvidence: true
      )
    case .motion, .relativePose, .visualStatus:
      self.init(known: venues.map { _ in 0 }, hasEvidence: false)
    }
  }

  /// Creates the result of a fixed observer, from the venues that know it.
  init(_ observer: ObserverID, _ venues: [LocatableVenue]) {
    self.init(
      known: venues.map { $0.content.emitter(.observer(observer)) == nil ? 0 : 1 },
      hasEvidence: venues.count > 1
    )
  }

  private init(known: [Int], hasEvidence: Bool) {
    self.known = known
    self.hasEvidence = hasEvidence
    var best = 0
    for ground in known.indices where known[ground] > known[best] { best = ground }
    self.best = best
  }
}

extension LocatableVenue {
  /// Returns whether a place is within a distance of the drawn extent of any floor with known coordinates.
  fileprivate func isNear(_ place: Coordinate, within meters: Double) -> Bool {
    content.floors.contains { floor in
      floor.plane.point(of: place).map { floor.holds($0, margin: meters) } ?? false
    }
  }
}

/// The counters of locating, over all subjects.
package struct LocatingCounters: Hashable, Sendable {
  /// The number of subjects that are located at present.
  package var subjects = 0
  /// Subjects forgotten because there were too many.
  package var evictions: UInt64 = 0
  /// Published fixes.
  package var fixes: UInt64 = 0
  /// Readings, locations and motion samples that were dropped because they arrived too late, and motion samples out of
  /// order.
  package var late: UInt64 = 0
  /// Readings of emitters that no radio map knows.
  package var unknown: UInt64 = 0
  /// Entries of scans that repeat an entry that was used already, or that are too old.
  package var repeated: UInt64 = 0
  /// Readings and locations that were dropped because the inbox was full.
  package var crowded: UInt64 = 0
  /// Locations from outside, and motion samples, that are not valid.
  package var invalid: UInt64 = 0
  /// Fixes that were dropped because they were not fetched in time.
  package var unfetched: UInt64 = 0
  /// Times that another place explained a subject's readings much better than the belief, and part of the belief moved
  /// there.
  package var recoveries: UInt64 = 0

  /// Scans of visual positioning that contradicted everything else and were not used.
  package var outliers: UInt64 = 0
  /// Jumps of visual odometry that were left out.
  package var jumps: UInt64 = 0

  /// Starts at zero.
  package init() {}

  /// Adds what one locator has counted.
  mutating func add(_ counters: LocatingCounters) {
    late &+= counters.late
    unknown &+= counters.unknown
    repeated &+= counters.repeated
    crowded &+= counters.crowded
    invalid &+= counters.invalid
    unfetched &+= counters.unfetched
    recoveries &+= counters.recoveries
    outliers &+= counters.outliers
    jumps &+= counters.jumps
  }
}

/// A fix that was published.
package struct PublishedFix: Sendable {
  /// Its event.
  package let event: Event
  /// The detail of the event.
  package let detail: FixDetail
}

extension Locators {
  /// Hands the beliefs about all subjects to a coder, which is to read them into locators of the same venues.
  package mutating func visitWhereabouts<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    let facts = venues.map { "\($0.venue.identifier) \($0.content.floors.count) \($0.radio.emitters.count)" }
    let written = try coder.field(facts)
    try coder.check(written == facts, "the venues")
    let makers = self
    var table = C.isReader ? SubjectTable<LocatedSubject>() : subjects
    try table.visitRows(&coder) { (row, coder) throws(C.Failure) in
      try LocatedSubject.coded(row, by: &coder, grounds: makers.venues.count) {
        makers.locator(of: $0, on: $1)
      }
    }
    if C.isReader { subjects = table }
  }
}
