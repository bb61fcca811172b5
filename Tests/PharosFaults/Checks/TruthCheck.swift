import PharosModel

/// Holds what was decided against what is true.
struct TruthCheck {
  private unowned let world: FaultWorld
  private let questions: [(question: FaultPlan.Question, spans: [SubjectID: [Range<TrueTime>]])]

  /// The least true absence behind which an exit is no mistake: what a silence lasts at least.
  private static let minimumAbsence = TrueTime.seconds(2)
  /// The time within which the adverts of an enter may lie.
  ///
  /// - Source: `AdaptiveSilence.defaultWindow` of PharosPresence.
  private static let enterWindow = TrueTime.seconds(30.036)
  /// The time that is looked back over where an exit does not say when its beacon was last heard.
  private static let maximumMemory = TrueTime.seconds(400)
  /// How much later than it was heard an event may be dated: the longest delay of the network and a second, for which
  /// a station without a clock keeps what it hears.
  private let slack: TrueTime

  /// The greatest age that a datagram may state.
  private let maximumAge: TrueTime

  /// By how much the clock of a station may be set back without being found out: what lies beyond the greatest lag is suspected.
  ///
  /// - Source: `ClockOffset.suspicious` of PharosPresence.
  private static let maximumAge = TrueTime.seconds(10)
  /// For how long it may go on so: two halves of the window in which the least delay is looked for, and a second.
  ///
  /// - Source: `ClockOffset.half` of PharosPresence.
  private static let maximumError = TrueTime.seconds(61)

  init(_ world: FaultWorld) {
    self.world = world
    let plan = world.plan
    // Who tells neither times nor ages says only that it was heard since the upload before.
    let undated = plan.stations.filter { !$0.isDated }.map(\.period).max() ?? 0
    slack =
      .seconds((plan.kinds.contains(.delay) ? Network.maximumDelay : 0) + 0.5) + max(.seconds(1), undated)
    maximumAge = plan.stations.map(\.period).max() ?? 0
    questions = plan.questions.map { question in
      var spans: [SubjectID: [Range<TrueTime>]] = [:]
      if question.isAboutBeacon {
        for transmitter in question.transmitters {
          guard let beacon = plan.transmitters[transmitter].beacon else { continue }
          spans[.beacon(beacon)] = plan.truth.spans(
            of: [transmitter],
            at: question.stations,
            isClose: question.isClose
          )
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
  ///   - decided: when it was decided, by the world's time.
  func check(_ event: Event, at time: TrueTime, decided: TrueTime) {
    guard world.erasures.mayJudge(event.subject) else { return }
    switch event.kind {
    case .regionExit, .zoneExit: checkExit(event, time, decided)
    case .regionEnter: checkEnter(event, time)
    default: break
    }
  }

  private func found(_ event: Event) -> (question: FaultPlan.Question, spans: [Range<TrueTime>])? {
    guard let found = questions.first(where: { $0.question.isAbout(event) }),
      let spans = found.spans[event.subject]
    else { return nil }
    return (found.question, spans)
  }

  private func checkExit(_ event: Event, _ time: TrueTime, _ decided: TrueTime) {
    guard !world.plan.kinds.contains(.twin), let (question, spans) = found(event), spans.covers(time) else {
      return
    }
    guard isKnown(question, event.subject, at: time, by: decided) else { return }
    var from = time - TruthCheck.maximumMemory
    if case .region(let transition) = event.detail, let heard = transition.evidence.lastHeard {
      from = time - (event.time - heard).nanoseconds - slack
      // The level was low for the dwell before; what was not heard since then says nothing of another one.
      if transition.evidence.rule == .level { from = min(from, time - dwell(of: question) - slack) }
    }
    from = max(0, from)
    guard !isDeceived(question, event.subject, from: from, to: time, by: decided) else { return }
    let early = lead(of: question, at: from + slack)
    let blind = blindness(question, event.subject, at: time, by: decided)
    let end = max(time + early, blind.end)
    let gone = max(0, blind.gone.upperBound - max(from, blind.gone.lowerBound))
    let absence = spans.absence(in: from..<max(from, end)) + gone
    guard from < time, absence >= TruthCheck.minimumAbsence else {
      let found = "\(event.subject) leaves \(event.region) at \(world.seconds(time)) ms while it is there"
      return world.violate(.exit, "\(found), looked at up to \(world.seconds(end)) ms")
    }
  }

  /// The time for which a level must be low to leave a question's region.
  private func dwell(of question: FaultPlan.Question) -> TrueTime {
    let regions = world.plan.site.applications.first { $0.identifier == question.application }?.regions
    let region = regions?.first { $0.identifier == question.region }
    return region?.presence.exitDwell.nanoseconds ?? 0
  }

  /// Whether the server can know that a subject is where it is: a station whose adverts of it never came is no evidence.
  ///
  /// Nor are fewer adverts than it takes to enter; a subject that came to a station without having entered there has entered
  /// nowhere.
  /// What came behind the decision was no evidence for it either, though both may be seen at one look of the server.
  private func isKnown(
    _ question: FaultPlan.Question,
    _ subject: SubjectID,
    at time: TrueTime,
    by decided: TrueTime
  ) -> Bool {
    stays(question, subject, at: time).contains { stay in
      let began = wholeSpan(of: stay, at: time).lowerBound
      return world.arrivals.canEnter(
        stay.transmitter,
        at: stay.station,
        in: min(began, decided)..<decided + 1,
        window: TruthCheck.enterWindow
      )
    }
  }

  /// Whether the last that the server could know of a subject is a reflection: it reached a station where the subject was not, and
  /// nothing came since from a station where it was.
  ///
  /// A subject that walked to that station and left it there gives the server the same bytes.
  private func isDeceived(
    _ question: FaultPlan.Question,
    _ subject: SubjectID,
    from: TrueTime,
    to time: TrueTime,
    by decided: TrueTime
  ) -> Bool {
    let stays = stays(question, subject, at: time)
    guard let transmitter = stays.first?.transmitter else { return false }
    let reflected = question.stations.flatMap {
      world.plan.truth.reflections(of: transmitter, at: $0, in: from..<time)
    }
    guard let latest = reflected.max() else { return false }
    return !stays.contains {
      world.arrivals.know(transmitter, at: $0.station, in: latest..<max(latest, decided) + 1)
    }
  }

  /// All the time around another one that a transmitter is at a station: one stay may follow upon another at the same station.
  private func wholeSpan(of stay: Truth.Stay, at time: TrueTime) -> Range<TrueTime> {
    let spans = world.plan.truth.spans(of: [stay.transmitter], at: [stay.station])
    return spans.first { $0.contains(time) } ?? stay.span
  }

  /// Up to when nothing came from those stations at which a subject was at a time, and in which part of that silence it was there to
  /// no purpose.
  ///
  /// Whether it left before or behind that time, everything that the server was given is the same: an exit that waited for a
  /// sign of life is published with its deadline, and is right if the subject has left by the time of that sign. For
  /// the same reason one who left in that silence might as well have left as it began, as long as nothing came of it
  /// since. Not so where a station sends later what it heard meanwhile.
  private func blindness(
    _ question: FaultPlan.Question,
    _ subject: SubjectID,
    at time: TrueTime,
    by decided: TrueTime
  ) -> (end: TrueTime, gone: Range<TrueTime>) {
    let sendsLater = world.plan.kinds.contains(.backlog)
    var (end, gone) = (TrueTime.max, time..<time)
    for stay in stays(question, subject, at: time) {
      let (last, first) = world.arrivals.contacts(with: stay.station, around: time)
      // Who was not heard since has given no sign of life that an exit could have waited for.
      guard let last, let first, !sendsLater || !world.stations[stay.station].canKeep else {
        return (time, time..<time)
      }
      end = min(end, first)
      let span = wholeSpan(of: stay, at: time)
      guard span.upperBound <= first,
        !world.arrivals.know(stay.transmitter, at: stay.station, in: last + 1..<max(last, decided) + 1)
      else { continue }
      gone = max(last, span.lowerBound)..<span.upperBound
    }
    return end == .max ? (time, gone) : (end, gone)
  }

  /// By how much the published time may lie before that of the hearing it is based on.
  ///
  /// A clock that was set back and adverts that were held up for as long give a server the same bytes at the same times, where a
  /// station tells times and no ages.
  private func lead(of question: FaultPlan.Question, at time: TrueTime) -> TrueTime {
    let span = time - TruthCheck.maximumError..<time + TruthCheck.maximumAge
    let timed = question.stations.map { world.stations[$0] }.filter {
      $0.plan.speaksRaddec && $0.plan.givesTime
    }
    // To the server, two gateways with one identity are one whose clock is set with each datagram.
    if world.plan.kinds.contains(.twin), Set(timed.map(\.ahead)).count > 1 { return TruthCheck.maximumAge }
    let setBack = timed.map { $0.setBack(in: span) }
    return min(TruthCheck.maximumAge, setBack.max() ?? 0)
  }

  /// Where a subject is at a time, as far as a question is about it.
  private func stays(
    _ question: FaultPlan.Question,
    _ subject: SubjectID,
    at time: TrueTime
  ) -> [Truth.Stay] {
    world.plan.truth.stays.filter { stay in
      guard stay.span.contains(time), question.stations.contains(stay.station),
        question.transmitters.contains(stay.transmitter), !(question.isClose && stay.isFar)
      else { return false }
      let beacon = world.plan.transmitters[stay.transmitter].beacon
      return question.isAboutBeacon
        ? beacon.map { SubjectID.beacon($0) } == subject
        : SubjectID.observer(world.plan.stations[stay.station].id) == subject
    }
  }

  private func checkEnter(_ event: Event, _ time: TrueTime) {
    guard let (question, spans) = found(event) else {
      if event.application == FaultPlan.edited { return }
      if case .beacon(let beacon) = event.subject, (beacon.minor ?? 0) >= 1_000 { return }
      return world.violate(.enter, "\(event.subject) enters \(event.region), where it never is")
    }
    var from = max(min(0, time), time - slack)
    // What came while the machine stood still is read, and happens as far as the server can know, when it goes on.
    // Ages count from then, too.
    for pause in world.pauses where time >= pause.lowerBound - maximumAge && time <= pause.upperBound {
      from = max(0, min(from, time - (pause.upperBound - pause.lowerBound) - slack))
    }
    if isReflected(question, event.subject, at: time) { from = max(0, from - TruthCheck.enterWindow) }
    let end = time + 1 + lead(of: question, at: time)
    guard spans.absence(in: from..<end) == end - from,
      !isReflectedTwice(question, event.subject, at: time)
    else { return }
    world.violate(
      .enter,
      "\(event.subject) enters \(event.region) at \(world.seconds(time)) ms while it is not there"
    )
  }

  /// Whether a reflection of a transmitter reached one of a question's stations just before a time.
  ///
  /// Together with one advert from before the transmitter left it makes an enter, as of two adverts of one that is there.
  private func isReflected(_ question: FaultPlan.Question, _ subject: SubjectID, at time: TrueTime) -> Bool {
    question.stations.contains { station in
      question.transmitters.contains {
        world.plan.transmitters[$0].beacon.map { SubjectID.beacon($0) } == subject
          && !world.plan.truth.reflections(of: $0, at: station, in: time - slack..<time + 1).isEmpty
      }
    }
  }

  /// Whether the server read one reflection twice, from a station whose format has no sequence numbers.
  ///
  /// A beacon that is there gives the same bytes with two adverts; where the times of a sender would tell, they do so once the
  /// server knows that sender's clock.
  private func isReflectedTwice(
    _ question: FaultPlan.Question,
    _ subject: SubjectID,
    at time: TrueTime
  ) -> Bool {
    question.stations.filter { world.stations[$0].plan.speaksRaddec }.contains { station in
      question.transmitters.contains { transmitter in
        guard world.plan.transmitters[transmitter].beacon.map({ SubjectID.beacon($0) }) == subject else {
          return false
        }
        return world.plan.truth.reflections(of: transmitter, at: station, in: time - slack..<time + 1)
          .contains { world.arrivals.isRepeated(.init(transmitter: transmitter, time: $0), at: station) }
      }
    }
  }

  /// Whether another gateway of the same identity has a clock that is ahead of a station's by more than the greatest lag.
  ///
  /// Both tell times and neither numbers its datagrams, so everything that comes from this one is a late report to the server.
  private func isOutrun(_ station: Int) -> Bool {
    func givesTimes(_ station: Station) -> Bool { station.plan.speaksRaddec && station.plan.givesTime }
    let behind = world.stations[station]
    return givesTimes(behind)
      && world.stations.contains { twin in
        twin !== behind && twin.plan.id == behind.plan.id && givesTimes(twin)
          && twin.ahead - behind.ahead > TruthCheck.maximumAge
      }
  }

  /// Returns the published states that are not true, once the world is quiet.
  ///
  /// A subject that a dead station heard may keep its state: it is unknown whether it has changed.
  func differences(from book: StreamBook) -> [String] {
    var found: [String] = []
    let now = world.clockwork.now
    for (question, spans) in questions {
      if question.isRoom || question.stations.contains(where: { world.stations[$0].isDead }) { continue }
      for (subject, spans) in spans {
        if stays(question, subject, at: now).contains(where: { isOutrun($0.station) }) { continue }
        if world.consents.everHidden.contains(subject) { continue }
        let key = StreamBook.Key(
          application: question.application,
          region: question.region,
          subject: subject
        )
        let state = book.state(key)
        // Of a subject that was erased and has left, the last published state stays.
        let isForgotten = world.erased.contains(subject) && !spans.covers(now) && state == .unmonitored
        if spans.covers(now) != (state == .inside) || state == .unmonitored && !isForgotten {
          found.append("\(subject) is \(state) in \(question.region)")
        }
      }
    }
    return found.sorted()
  }
}

extension FaultPlan.Question {
  /// Returns whether an event answers it.
  fileprivate func isAbout(_ event: Event) -> Bool {
    region == event.region && isRoom == (event.kind == .zoneEnter || event.kind == .zoneExit)
  }
}
