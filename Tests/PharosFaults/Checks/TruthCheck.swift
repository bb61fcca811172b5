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
    guard from < time, spans.absence(in: from..<time) >= TruthCheck.leastAbsence else {
      return world.violate(
        .exit,
        "\(event.subject) leaves \(event.region) at \(world.seconds(time)) ms while it is there"
      )
    }
  }

  /// Whether the server can know that a subject is where it is: a station whose adverts of it never came is no evidence.
  private func isKnown(_ question: FaultPlan.Question, _ subject: SubjectID, at time: TrueTime) -> Bool {
    world.plan.truth.stays.contains { stay in
      guard stay.span.contains(time), question.stations.contains(stay.station),
        question.transmitters.contains(stay.transmitter)
      else { return false }
      let beacon = world.plan.transmitters[stay.transmitter].beacon
      let isSubject =
        question.isAboutBeacon
        ? beacon.map { SubjectID.beacon($0) } == subject
        : SubjectID.observer(world.plan.stations[stay.station].id) == subject
      guard isSubject else { return false }
      return world.arrivals.know(
        stay.transmitter,
        at: stay.station,
        in: min(stay.span.lowerBound, world.clockwork.now)..<world.clockwork.now
      )
    }
  }

  private func checkEnter(_ event: Event, _ time: TrueTime) {
    guard let (_, spans) = found(event) else {
      if case .beacon(let beacon) = event.subject, (beacon.minor ?? 0) >= 1_000 { return }
      return world.violate(.enter, "\(event.subject) enters \(event.region), where it never is")
    }
    let from = max(0, time - TruthCheck.slack)
    guard spans.absence(in: from..<time + 1) == time + 1 - from else { return }
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
