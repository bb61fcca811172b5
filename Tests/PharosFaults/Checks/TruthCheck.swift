import PharosEvents
import PharosReports

/// Holds what was decided against what is true.
struct TruthCheck {
  private unowned let world: FaultWorld
  private let questions: [(question: FaultPlan.Question, spans: [SubjectID: [Range<TrueTime>]])]

  /// The least true absence behind which an exit is no mistake: what a silence lasts at least.
  private static let leastAbsence = TrueTime.seconds(2)
  /// The time that is looked back over where an exit does not say when its beacon was last heard.
  private static let longestMemory = TrueTime.seconds(400)
  /// How much later than it was heard something may be told as happening: the longest delay of the network and a second.
  private static let slack = TrueTime.seconds(Network.longestDelay + 1.5)

  /// By how much the clock of a station may be set back without being found out: what lies beyond the greatest lag is suspected.
  ///
  /// - Source: `ClockOffset.suspicious` of PharosMonitoring.
  private static let greatestAge = TrueTime.seconds(10)
  /// For how long it may go on so: two halves of the window in which the least delay is looked for, and a second.
  ///
  /// - Source: `ClockOffset.half` of PharosMonitoring.
  private static let longestError = TrueTime.seconds(61)

  init(_ world: FaultWorld) {
    self.world = world
    let plan = world.plan
    questions = plan.questions.map { question in
      var spans: [SubjectID: [Range<TrueTime>]] = [:]
      if question.isAboutBeacon {
        for transmitter in question.transmitters {
          guard let beacon = plan.transmitters[transmitter].beacon else { continue }
          spans[.beacon(beacon)] = plan.truth.spans(of: [transmitter], at: question.stations)
        }
      } else {
        for station in question.stations {
          let found = plan.truth.spans(of: question.transmitters, at: [station])
          if !found.isEmpty { spans[.observer(plan.stations[station].id)] = found }
        }
      }
      return (question, spans)
    }
  }

  /// Looks at what was decided, if it is an enter or an exit.
  ///
  /// - Parameters:
  ///   - event: what was decided.
  ///   - time: when it happened, by the world's time.
  func check(_ event: Event, at time: TrueTime) {
    switch event.kind {
    case .regionExit: checkExit(event, time)
    case .regionEnter: checkEnter(event, time)
    default: break
    }
  }

  private func found(_ event: Event) -> (question: FaultPlan.Question, spans: [Range<TrueTime>])? {
    guard let found = questions.first(where: { $0.question.region == event.region }),
      let spans = found.spans[event.subject]
    else { return nil }
    return (found.question, spans)
  }

  private func checkExit(_ event: Event, _ time: TrueTime) {
    guard let (question, spans) = found(event), spans.covers(time) else { return }
    guard isKnown(question, event.subject, at: time) else { return }
    var from = time - TruthCheck.longestMemory
    if case .region(let transition) = event.detail, let heard = transition.evidence.lastHeard {
      from = max(from, time - (event.time - heard).nanoseconds - TruthCheck.slack)
    }
    from = max(0, from)
    let early = lead(of: question, at: from + TruthCheck.slack)
    let end = max(time + early, knowable(question, event.subject, since: time))
    guard from < time, spans.absence(in: from..<end) >= TruthCheck.leastAbsence else {
      return world.violate(
        .exit,
        "\(event.subject) leaves \(event.region) at \(world.seconds(time)) ms while it is there"
      )
    }
  }

  /// Whether the server can know that a subject is where it is: a station whose adverts of it never came is no evidence.
  private func isKnown(_ question: FaultPlan.Question, _ subject: SubjectID, at time: TrueTime) -> Bool {
    stays(question, subject, at: time).contains { stay in
      world.arrivals.know(
        stay.transmitter,
        at: stay.station,
        in: min(stay.span.lowerBound, world.clockwork.now)..<world.clockwork.now
      )
    }
  }

  /// Up to when nothing came from those stations at which a subject was at a time.
  ///
  /// Whether it left before or behind that time, everything that the server was given is the same: an exit that waited for a
  /// sign of life is told with its deadline, and is right if the subject has left by the time of that sign. Not so where a
  /// station sends later what it heard meanwhile.
  private func knowable(
    _ question: FaultPlan.Question,
    _ subject: SubjectID,
    since time: TrueTime
  ) -> TrueTime {
    guard !world.plan.kinds.contains(.backlog) else { return time }
    let now = world.clockwork.now
    return stays(question, subject, at: time)
      .map { world.arrivals.firstContact(with: $0.station, after: time) ?? now }.min() ?? time
  }

  /// By how much a time may lie too early that is told of what was heard around another one.
  ///
  /// A clock that was set back and adverts that were held up for as long give a server the same bytes at the same times, where a
  /// station tells times and no ages.
  private func lead(of question: FaultPlan.Question, at time: TrueTime) -> TrueTime {
    let isUnsure = question.stations.contains { index in
      let station = world.stations[index]
      guard station.plan.speaksRaddec, station.plan.givesTime, let setAt = station.setAt else { return false }
      return abs(time - setAt) <= TruthCheck.longestError + TruthCheck.greatestAge
    }
    return isUnsure ? TruthCheck.greatestAge : 0
  }

  /// Where a subject is at a time, as far as a question is about it.
  private func stays(
    _ question: FaultPlan.Question,
    _ subject: SubjectID,
    at time: TrueTime
  ) -> [Truth.Stay] {
    world.plan.truth.stays.filter { stay in
      guard stay.span.contains(time), question.stations.contains(stay.station),
        question.transmitters.contains(stay.transmitter)
      else { return false }
      let beacon = world.plan.transmitters[stay.transmitter].beacon
      return question.isAboutBeacon
        ? beacon.map { SubjectID.beacon($0) } == subject
        : SubjectID.observer(world.plan.stations[stay.station].id) == subject
    }
  }

  private func checkEnter(_ event: Event, _ time: TrueTime) {
    guard let (question, spans) = found(event) else {
      if case .beacon(let beacon) = event.subject, (beacon.minor ?? 0) >= 1_000 { return }
      return world.violate(.enter, "\(event.subject) enters \(event.region), where it never is")
    }
    var from = max(0, time - TruthCheck.slack)
    // What came while the machine stood still is read, and happens as far as the server can know, when it goes on.
    for pause in world.pauses where time >= pause.lowerBound && time <= pause.upperBound + TruthCheck.slack {
      from = max(0, min(from, pause.lowerBound - TruthCheck.slack))
    }
    let end = time + 1 + lead(of: question, at: time)
    guard spans.absence(in: from..<end) == end - from else { return }
    world.violate(
      .enter,
      "\(event.subject) enters \(event.region) at \(world.seconds(time)) ms while it is not there"
    )
  }

  /// What is told and not so, once the world is quiet.
  ///
  /// A subject that a dead station heard may stand where it stood: nobody knows better.
  func differences(from book: StreamBook) -> [String] {
    var found: [String] = []
    let now = world.clockwork.now
    for (question, spans) in questions {
      if question.stations.contains(where: { world.stations[$0].isDead }) { continue }
      for (subject, spans) in spans {
        let key = StreamBook.Key(application: question.application, region: question.region, subject: subject)
        let state = book.state(key)
        if spans.covers(now) != (state == .inside) || state == .unmonitored {
          found.append("\(subject) is \(state) in \(question.region)")
        }
      }
    }
    return found.sorted()
  }
}
