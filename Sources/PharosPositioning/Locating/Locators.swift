package import PharosEvents
import PharosPlaces
package import PharosReports

/// The subjects that are being located: one ``Locator`` for each handset, and for each tag that fixed observers hear.
///
/// A fix depends only on the subject's own inputs and on a random seed made from the names of the stream and the
/// subject. So neither batching, nor sharding, nor other subjects change a fix. Positions are not part of the
/// written state: after a restart each subject is located from scratch, within a scan or two.
package struct Locators: Sendable {
  /// The venues made ready.
  let grounds: [Ground]
  let stream: String
  let limit: Int
  /// The beacons that hang at known places: they are no tags.
  private let fixedBeacons: Set<BeaconID>
  /// What the site asks for.
  var settings: PositioningSettings
  var subjects: [LocatedSubject] = []
  var free: [Int] = []
  var places: [SubjectID: Int] = [:]
  private var deadlines = DeadlineQueue()
  var generation: UInt32 = 0
  /// What was counted, that of locators that are still at work left out.
  var counted = LocatingCounters()

  /// How long a subject is kept without any input.
  ///
  /// 10 min: a handset in a pocket may sleep that long; its fixes end earlier, after ``FusionRules/silence``.
  static let memory = TimeSpan.minutes(10)
  /// How long the fix of a tag waits at least.
  ///
  /// 3 s: an observer tells of a tag once a second, at its own phase, and its lag of half a second or more later.
  static let leastTagLag = TimeSpan.seconds(3)

  /// Creates a collection without subjects.
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

  /// Applies the settings of an edited site.
  ///
  /// If any of them but `tags` has changed, all subjects are located from scratch.
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

  /// Forgets one subject.
  mutating func forget(_ traces: SubjectTraces) {
    for place in subjects.indices where subjects[place].isLive && traces.contains(subjects[place].id) {
      forget(place)
    }
  }

  // MARK: Fixes

  /// Makes the fixes of a subject one after the other, however far time has run on.
  mutating func run(_ place: Int, through instant: Timestamp, into events: inout [Event]) {
    // What is due lies beyond what was advanced to, or at the end of time, where nothing is.
    var due = subjects[place].nextDue()
    while due <= instant, due < .distantFuture {
      subjects[place].advance(to: due)
      tell(place, into: &events)
      due = subjects[place].nextDue()
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
