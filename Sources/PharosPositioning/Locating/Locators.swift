package import PharosEvents
import PharosPlaces
package import PharosReports

/// Everybody who is being located: one ``Locator`` for each handset, and for each tag that fixed observers hear.
///
/// Each subject goes by its own inputs alone, and chance is drawn from the stream's name and the subject's: so neither batches
/// nor shards nor the company of others change a fix. What is known of where somebody is lives here only; after a restart
/// it is found anew, within a scan or two.
package struct Locators: Sendable {
  /// The venues made ready.
  let grounds: [Ground]
  private let stream: String
  private let limit: Int
  /// The beacons that hang at known places: they are no tags.
  private let fixedBeacons: Set<BeaconID>
  /// What the site asks for.
  private var settings: PositioningSettings
  private var subjects: [LocatedSubject] = []
  private var free: [Int] = []
  private var places: [SubjectID: Int] = [:]
  private var deadlines = DeadlineQueue()
  private var generation: UInt32 = 0
  /// What was counted, that of locators that are still at work left out.
  private var counted = LocatingCounters()

  /// How long a subject is kept without any input.
  ///
  /// 10 min: a handset in a pocket may sleep that long; its fixes end earlier, after ``FusionRules/silence``.
  static let memory = TimeSpan.minutes(10)
  /// How long the fix of a tag waits at least.
  ///
  /// 3 s: an observer tells of a tag once a second, at its own phase, and its lag of half a second or more later.
  static let leastTagLag = TimeSpan.seconds(3)

  /// Starts with nobody.
  package init(grounds: [Ground], site: Site, limit: Int) {
    self.grounds = grounds
    self.limit = limit
    stream = site.stream
    settings = site.positioning
    fixedBeacons = Set(grounds.flatMap { $0.venue.floors.flatMap { $0.floor.beacons.map(\.beacon) } })
  }

  /// What all subjects have counted, those that are gone among them.
  ///
  /// - Complexity: linear in the number of subjects; meant for a copy, or for once a second.
  var counters: LocatingCounters {
    var sum = counted
    for place in subjects.indices {
      var subject = subjects[place]
      sum.add(subject.counters())
    }
    sum.subjects = places.count
    return sum
  }

  // MARK: Inputs

  /// Takes what a handset sensed.
  package mutating func take(_ sensing: Sensing, into events: inout [Event]) {
    let reach = GroundReach(sensing.body, grounds)
    let place = place(of: .observer(sensing.observer), reach, at: sensing.decidedAt, into: &events)
    subjects[place].take(sensing)
    tell(place, into: &events)
    arm(place)
  }

  /// Takes how a fixed observer heard its beacons in one second: those that hang nowhere are tags.
  mutating func hear(_ second: SecondSummary, into events: inout [Event]) {
    let reach = GroundReach(second.observer, grounds)
    guard reach.mostKnown > 0 else { return }
    for summary in second.beacons where !fixedBeacons.contains(summary.beacon) {
      let place = place(of: .beacon(summary.beacon), reach, at: second.decidedAt, into: &events)
      subjects[place].hear(second.observer, summary, decidedAt: second.decidedAt)
      tell(place, into: &events)
      arm(place)
    }
  }

  /// Makes every fix that is due by an instant, given that every input up to it has been taken.
  package mutating func advance(to instant: Timestamp, into events: inout [Event]) {
    while let entry = deadlines.pop(through: instant) {
      guard subjects[entry.slot].isLive, subjects[entry.slot].generation == entry.generation,
        subjects[entry.slot].wake == entry.due
      else { continue }
      subjects[entry.slot].wake = .distantFuture
      let end = subjects[entry.slot].touched + Locators.memory
      run(entry.slot, through: min(instant, end), into: &events)
      if end <= instant { forget(entry.slot) } else { arm(entry.slot) }
    }
  }

  /// Goes by what an edited site asks for: where it asks for other fixes than before, everybody is found anew.
  mutating func adopt(_ next: PositioningSettings, at instant: Timestamp, into events: inout [Event]) {
    var like = next
    like.tags = settings.tags
    advance(to: instant - .oneNanosecond, into: &events)
    if like != settings { forgetAll() }
    settings = next
  }

  /// Forgets everybody.
  mutating func forgetAll() {
    for place in subjects.indices where subjects[place].isLive { forget(place) }
    deadlines = DeadlineQueue()
  }

  // MARK: Subjects

  /// The place of a subject, made if it is missing and if need be by forgetting others.
  private mutating func place(
    of id: SubjectID,
    _ reach: GroundReach,
    at instant: Timestamp,
    into events: inout [Event]
  ) -> Int {
    // Whoever has been silent for too long is forgotten at its own instant, whether time has run on since or not.
    if let place = places[id], subjects[place].touched + Locators.memory < instant {
      run(place, through: subjects[place].touched + Locators.memory, into: &events)
      forget(place)
    }
    if let place = places[id] {
      if reach.isTelling, subjects[place].note(reach) {
        run(place, through: instant - .oneNanosecond, into: &events)
        counted.add(subjects[place].counters())
        subjects[place].move(to: reach.best, locator: locator(of: id, on: reach.best))
      }
      return place
    }
    if places.count >= limit {
      // Those who go have had their fixes up to here.
      advance(to: instant - .oneNanosecond, into: &events)
      evict()
    }
    generation &+= 1
    let subject = LocatedSubject(
      id,
      generation: generation,
      on: reach.best,
      isAtHome: reach.mostKnown > 0,
      locator: locator(of: id, on: reach.best),
      at: instant
    )
    let place = free.popLast() ?? subjects.count
    if place == subjects.count { subjects.append(subject) } else { subjects[place] = subject }
    places[id] = place
    return place
  }

  private func locator(of id: SubjectID, on ground: Int) -> Locator {
    var rules = grounds[ground].rules
    rules.interval = settings.interval
    rules.lag = settings.lag
    if case .beacon = id { rules.lag = max(rules.lag, Locators.leastTagLag) }
    if let particles = settings.particles { rules.particles = particles }
    return Locator(ground: grounds[ground], rules: rules, seed: seed(of: id))
  }

  /// A number that the stream and the subject alone decide: FNV-1a over both names, a zero between them.
  private func seed(of id: SubjectID) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in stream.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = hash &* 0x100_0000_01B3
    for byte in id.description.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }

  /// Forgets a sixteenth of the subjects, those that were silent longest, if there are too many.
  private mutating func evict() {
    guard places.count >= limit else { return }
    let stalest = subjects.indices
      .filter { subjects[$0].isLive }
      .map { (place: $0, touched: subjects[$0].touched, id: subjects[$0].id) }
      .sorted { ($0.touched, $0.id) < ($1.touched, $1.id) }
      .prefix(max(1, limit / 16))
    for entry in stalest {
      counted.evictions &+= 1
      forget(entry.place)
    }
  }

  private mutating func forget(_ place: Int) {
    counted.add(subjects[place].counters())
    places[subjects[place].id] = nil
    subjects[place].leave()
    free.append(place)
  }

  // MARK: Fixes

  /// Makes the fixes of a subject one after the other, however far time has run on.
  private mutating func run(_ place: Int, through instant: Timestamp, into events: inout [Event]) {
    var due = subjects[place].nextDue()
    while due <= instant {
      subjects[place].advance(to: due)
      tell(place, into: &events)
      // Time goes on whatever a locator says: one that names the same instant again is asked a moment later.
      due = max(subjects[place].nextDue(), due + .milliseconds(1))
    }
  }

  /// Has the queue bring a subject up when a fix is due or it is to be forgotten, unless it does so earlier.
  private mutating func arm(_ place: Int) {
    let due = min(subjects[place].nextDue(), subjects[place].touched + Locators.memory)
    guard due < subjects[place].wake else { return }
    subjects[place].wake = due
    let generation = subjects[place].generation
    deadlines.insert(DeadlineQueue.Entry(due: due, slot: place, generation: generation))
  }

  /// Makes events of the fixes that a subject has ready.
  private mutating func tell(_ place: Int, into events: inout [Event]) {
    while let (fix, number, decidedAt) = subjects[place].nextFix() {
      counted.fixes &+= 1
      events.append(
        Event(
          stream: stream,
          kind: .fix,
          time: fix.time,
          decidedAt: decidedAt,
          stage: 2,
          subject: subjects[place].id,
          counter: number,
          ordinal: number,
          detail: .fix(FixDetail(fix, in: grounds[subjects[place].ground].venue))
        )
      )
    }
  }
}
