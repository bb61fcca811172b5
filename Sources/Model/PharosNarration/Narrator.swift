import PharosDocuments
package import PharosModel

/// A narrator that explains in words why a decision was made and what else was considered.
///
/// It makes no decision itself: every number comes from the decision's evidence, from the story of its track, or from
/// fixed rules that received the same adverts.
package struct Narrator {
  /// The states and the fixed rules of each row, for comparisons; empty where only the event is known.
  package let rows: [RowKey: RowStory]
  private let names: SiteNames

  /// Makes a narrator that knows a site's names, and what fixed rules would have decided.
  package init(_ site: Site, rows: [RowKey: RowStory] = [:]) {
    self.init(SiteNames(site), rows: rows)
  }

  /// Makes a narrator that knows some names, such as those of the time of an event.
  package init(_ names: SiteNames, rows: [RowKey: RowStory] = [:]) {
    (self.names, self.rows) = (names, rows)
  }

  /// The name of an observer, or its identity.
  package func name(_ observer: ObserverID) -> String { names.name(of: .observer(observer)) }

  /// The name of a beacon, or its identity cut short in the middle.
  package func name(_ beacon: BeaconID) -> String { names.name(of: .beacon(beacon)) }

  /// The name of a subject.
  package func name(_ subject: SubjectID) -> String { names.name(of: subject) }

  /// Returns the place and the subject of a decision, in one line.
  package func headline(_ decision: Decision) -> String {
    let regions = decision.regions.joined(separator: ", ")
    let who = who(decision)
    switch decision.detail {
    case .zone(let transition) where decision.kind.isZone:
      return "\(transition.from ?? "nowhere") → \(transition.to ?? "nowhere") · \(who)"
    case .region(let transition) where decision.kind == .regionState:
      return "\(regions) \(transition.from.name) → \(transition.to.name) · \(who)"
    case .regionLimit, .clockStep: return decision.application
    default: return regions.isEmpty ? who : "\(regions) · \(who)"
    }
  }

  /// Explains why one event was published, in plain text, from the event and the site alone.
  package func narrate(_ event: Event) -> String {
    Narration.plain(narration(Decision(event)).why.joined(separator: " "))
  }

  /// Explains why a decision was made, and what other rules would have decided.
  package func narration(_ decision: Decision) -> Narration {
    switch decision.detail {
    case .region(let transition): region(decision, transition)
    case .zone(let transition): Narration(zone(transition, isHeldLong: decision.kind == .zoneHoldExceeded))
    case .observer(let transition): observer(decision, transition)
    default: Narration(decision.detail.sentences(in: decision.application, names))
    }
  }

  private func who(_ decision: Decision) -> String {
    let subject = name(decision.subject)
    switch decision.subject {
    case .none: return ""
    case .beacon:
      guard !decision.kind.isZone, let observer = decision.observer else { return subject }
      return "\(subject) at \(name(observer))"
    case .observer:
      guard let beacon = decision.beacon else { return subject }
      return "\(subject) (\(name(beacon)))"
    }
  }

  private func region(_ decision: Decision, _ transition: RegionTransition) -> Narration {
    var said: Narration
    switch transition.evidence.rule {
    case .samples: said = enter(decision, transition.evidence)
    case .adaptiveSilence: said = adaptiveExit(decision, transition.evidence)
    case .fixedSilence: said = fixedExit(decision, transition.evidence)
    case .level: said = levelExit(decision, transition.evidence)
    case .observerOutage, .scanOff: said = outage(decision, transition)
    case .recovery: said = recovery(decision, transition)
    case .neverHeard: said = neverHeard(decision, transition.evidence)
    case .position, .crossing, .positionLost: said = Narration(located(decision, transition.evidence))
    default: said = Narration([transition.evidence.rule.words.sentence])
    }
    if !decision.isAnnounced, decision.kind == .regionEnter || decision.kind == .regionExit {
      said.why.append(
        "The region asks for no \(decision.word) event, so the change of state alone is published."
      )
    }
    return said
  }
}

/// The explanation of one decision.
package struct Narration: Hashable {
  /// The reasons for the decision, sentence by sentence.
  package var why: [String]
  /// Sentences about what other rules would have decided on the same adverts.
  package var compared: [String] = []

  package init(_ why: [String], compared: [String] = []) {
    self.why = why
    self.compared = compared
  }

  /// The same with nothing to hold a number and its unit together.
  package var plain: Narration {
    Narration(why.map(Narration.plain), compared: compared.map(Narration.plain))
  }

  /// A text with plain spaces instead of those at which no line may break.
  package static func plain(_ text: String) -> String { text.replacing("\u{A0}", with: " ") }
}

/// Geofences.
extension Narrator {
  /// Explains a decision that was made from positions.
  private func located(_ decision: Decision, _ evidence: Evidence) -> [String] {
    if evidence.rule == .positionLost {
      if decision.kind == .regionHoldExceeded {
        let hold = evidence.window.map { " for \(Wording.span($0))" } ?? ""
        return ["It has been unmonitored\(hold), the longest that the region takes without an alarm."]
      }
      let gap = evidence.gap.map { " for \(Wording.span($0))" } ?? ""
      return [
        "No fix has come\(gap), longer than its fixes let expect: where it is is not known, so this is no exit."
      ]
    }
    guard let basis = evidence.geofence else { return [] }
    let edge = Wording.meters(basis.edgeDistance.magnitude)
    let place = "\(edge) \(basis.edgeDistance < 0 ? "outside" : "inside") the edge"
    let accuracy = "\(Wording.meters(basis.accuracy)) accurate"
    if evidence.rule == .crossing {
      return [
        "Two fixes lie on two sides of the area, and the way between them leads through it with a probability of "
          + "\(Wording.probability(basis.probability)); it took \(Wording.span(basis.dwell)).",
        "The last fix lies \(place), \(accuracy).",
      ]
    }
    let threshold = evidence.threshold.map { " against \(Wording.probability($0))" } ?? ""
    let fixes = basis.fixes == 1 ? "one fix" : "\(basis.fixes) fixes in \(Wording.span(basis.dwell))"
    return [
      "The position lies \(place), \(accuracy): it is within the area with a probability of "
        + "\(Wording.probability(basis.probability))\(threshold), by \(fixes)."
    ]
  }
}

/// Enters, outages and what follows them.
extension Narrator {
  package func enter(_ decision: Decision, _ evidence: Evidence) -> Narration {
    let samples = evidence.samples ?? 1
    let window = samples > 1 ? evidence.window.map { " within \(Wording.span($0))" } ?? "" : ""
    let spread = samples > 1 ? evidence.spread.map { " (it took \(Wording.span($0)))" } ?? "" : ""
    var text = "Heard \(Wording.times(samples))\(window)\(spread), which is what it takes"
    if let level = evidence.level {
      text += ", at \(Wording.level(level, deviation: evidence.levelDeviation))"
      if let threshold = evidence.threshold {
        text += " against an enter level of \(Wording.threshold(threshold))"
        if let meters = evidence.distance { text += ", that at \(Wording.meters(meters))," }
        if let margin = evidence.margin { text += " (margin \(Wording.decimal(margin, places: 1)) dB)" }
      }
    }
    return Narration([text + "."], compared: firstAdvert(decision, evidence))
  }

  /// Reports when a rule that enters on the first advert would have entered.
  private func firstAdvert(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let row = decision.rows.first, let rule = rows[row]?.fixed.last else { return [] }
    guard let visit = rule.visit(at: decision.time) else { return [] }
    let ahead = decision.time - visit.entered
    guard ahead > .milliseconds(50) else { return [] }
    if evidence.threshold != nil, ahead > .seconds(5) {
      return [
        "Fixed rules look at no level: to them the beacon has been here since \(Wording.clock(visit.entered))."
      ]
    }
    if ahead > .seconds(5) {
      return ["A rule that enters on the first advert has had it here since \(Wording.clock(visit.entered))."]
    }
    return ["A rule that enters on the first advert would have said so \(Wording.span(ahead)) earlier."]
  }

  /// Explains why a region became or stayed unmonitored, and which exits fixed rules would have sent.
  package func outage(_ decision: Decision, _ transition: RegionTransition) -> Narration {
    let observer = decision.observer.map(name) ?? "the observer"
    if decision.kind == .regionHoldExceeded {
      let hold = transition.evidence.window.map { " for \(Wording.span($0))" } ?? ""
      return Narration(["It has been unmonitored\(hold), the longest that the region takes without an alarm."]
      )
    }
    let said: String
    if transition.evidence.rule == .scanOff {
      said = "\(observer) stopped scanning. Its silence says nothing from here on, so this is no exit."
    } else {
      let heard = transition.evidence.lastHeard.map { " (the beacon last heard \(Wording.clock($0)))" } ?? ""
      said =
        "\(observer) fell silent altogether\(heard), and no other observer hears the beacon: the region is "
        + "unmonitored, so this is no exit."
    }
    return Narration([said], compared: exits(in: decision, transition))
  }

  /// Returns the exits that fixed rules would have sent while the region was unmonitored.
  private func exits(in decision: Decision, _ transition: RegionTransition) -> [String] {
    guard let row = decision.rows.first, let story = rows[row] else { return [] }
    let until = story.turns.first { $0.time > decision.time }
    let from = transition.evidence.lastHeard ?? decision.time
    return story.fixed.reversed().compactMap { rule in
      guard let left = rule.exit(after: from) else { return nil }
      guard left <= until?.time ?? .distantFuture else { return nil }
      let back = rule.visits.first { $0.entered > left }
      let end = back.map { " and taken it back at \(Wording.clock($0.entered))" } ?? ""
      return
        "A fixed \(Wording.span(rule.timeout)) rule would have sent an exit at \(Wording.clock(left))\(end)."
    }
  }

  package func recovery(_ decision: Decision, _ transition: RegionTransition) -> Narration {
    let observer = decision.observer.map(name) ?? "the observer"
    if decision.kind == .regionState {
      return Narration([
        "\(observer) can tell again and hears the beacon, which was inside before: nothing has changed, so there is no "
          + "enter."
      ])
    }
    return Narration([
      "\(observer) can tell again and hears the beacon, which was not inside before: a real difference."
    ])
  }

  package func neverHeard(_ decision: Decision, _ evidence: Evidence) -> Narration {
    let observer = decision.observer.map(name) ?? "Every observer that counts"
    let window = evidence.window.map { " for \(Wording.span($0))" } ?? ""
    let isExit = decision.kind == .regionExit
    let text =
      "\(observer) lives and has heard nothing of it\(window)"
      + (isExit ? ": what was inside before is gone." : ", so it is outside; that is no exit.")
    guard isExit else { return Narration([text]) }
    return Narration([text], compared: fixedRules(decision, lastHeard: evidence.lastHeard))
  }

  package func observer(_ decision: Decision, _ transition: ObserverTransition) -> Narration {
    switch decision.kind {
    case .observerOffline: offline(decision, transition)
    case .observerRestarted:
      Narration([
        "Its boot id is \(transition.bootID.map(String.init) ?? "new"): the observer restarted. That alone decides nothing."
      ])
    case .observerQuarantined:
      Narration([
        "It is neither in the site file nor accepted, so what it reports changes nothing. "
          + "`pharos observer accept \(decision.subject)` lets it in."
      ])
    default: Narration(online(decision, transition))
    }
  }

  private func online(_ decision: Decision, _ transition: ObserverTransition) -> [String] {
    guard let lastHeard = transition.lastHeard else { return ["Heard for the first time."] }
    return [
      "Back after \(Wording.span(decision.time - lastHeard)). What it had inside is compared with what it hears now; "
        + "only a real difference becomes an event."
    ]
  }

  private func offline(_ decision: Decision, _ transition: ObserverTransition) -> Narration {
    var text = "No sign of life"
    if let lastHeard = transition.lastHeard { text += " since \(Wording.clock(lastHeard))" }
    if let allowed = transition.allowedGap { text += "; its learned gaps allow \(Wording.span(allowed))" }
    text += ". Its silence is no evidence from here on: nothing is taken for gone because of it."
    let held = rows.values.filter { story in
      story.turns.contains { $0.time == decision.time && $0.state == .unmonitored }
    }
    guard !held.isEmpty else { return Narration([text]) }
    let counts = FixedRule.timeouts.indices.reversed().compactMap { index -> String? in
      let from = transition.lastHeard ?? decision.time
      let exits = held.filter { story in
        let end = story.turns.first { $0.time > decision.time }?.time ?? .distantFuture
        return story.falseExits(of: story.fixed[index]).contains { from < $0 && $0 < end }
      }
      let rule = "a fixed \(Wording.span(FixedRule.timeouts[index])) rule \(exits.count)"
      return exits.isEmpty ? nil : rule
    }
    guard !counts.isEmpty else { return Narration([text]) }
    let stays = "\(Wording.count(held.count, "stay")) that became unmonitored"
    return Narration([text], compared: ["False exits among \(stays): \(Wording.list(counts)), Pharos 0."])
  }

  private func zone(_ transition: ZoneTransition, isHeldLong: Bool) -> [String] {
    var said: [String] = []
    let next = transition.runnerUp.map {
      "; \($0.zone) came next with \(Wording.probability($0.probability))"
    }
    let chance = transition.probability.map(Wording.probability)
    switch transition.reason {
    case .margin:
      if let to = transition.to, let chance {
        said.append("\(to) has a probability of \(chance)\(next ?? "").")
      }
      var text = transition.margin.map {
        "Its observers hear the beacon \(Wording.decimal($0, places: 1)) dB louder than those of the next zone"
      }
      if let dwell = Wording.lasting(transition.dwell), let margin = text {
        text = "\(margin), and it has been ahead for \(dwell)"
      }
      if let text { said.append(text + ".") }
      if transition.margin == nil, chance == nil { said.append("No other zone hears it.") }
    case .silence:
      said.append(
        "No observer of \(transition.from ?? "the zone") hears it now, and they are known to be alive."
      )
    case .notSure:
      let now = chance.map { " (\($0)\(next ?? ""))" } ?? ""
      said.append(
        "\(transition.from ?? "Its zone") has become improbable\(now), and no other zone is probable enough: not sure is "
          + "the honest answer."
      )
    case .observerDown where isHeldLong:
      let hold = Wording.lasting(transition.dwell).map { " for \($0)" } ?? ""
      said.append("It has been unmonitored there\(hold), the longest that its regions take without an alarm.")
    case .observerDown:
      said.append(
        "The observers of \(transition.from ?? "its zone") that heard it are down: their silence is no evidence, so it "
          + "stays there, unmonitored, until they are back or another zone clearly hears it."
      )
    case .removed: said.append("The zone was removed from the site.")
    case .fingerprint:
      let to = transition.to ?? "the zone"
      let found = chance.map { " \(to) has a probability of \($0)\(next ?? "")." } ?? ""
      said.append(
        "The levels fit what was learned in \(to) better than what was learned in other zones.\(found)"
      )
    case .confirmed:
      let gap = Wording.lasting(transition.dwell).map { " after \($0)" } ?? ""
      said.append("An observer of \(transition.to ?? "its zone") hears it again\(gap): it never left.")
    }
    let levels = transition.hearings.map { hearing in
      let offset = hearing.offset == 0 ? "" : " (\(Wording.decimal(hearing.offset, places: 1)) dB calibrated)"
      return "\(name(hearing.observer)) \(Wording.level(hearing.level))\(offset)"
    }
    if !levels.isEmpty { said.append("Levels: \(levels.joined(separator: ", ")).") }
    return said
  }
}

/// Exits: the rule, its numbers, and what fixed rules would have said.
extension Narrator {
  package func adaptiveExit(_ decision: Decision, _ evidence: Evidence) -> Narration {
    Narration(
      [silence(evidence)] + learned(decision, evidence) + allowance(decision, evidence)
        + proof(decision, evidence) + companions(decision, evidence),
      compared: fixedRules(decision, lastHeard: evidence.lastHeard)
    )
  }

  package func fixedExit(_ decision: Decision, _ evidence: Evidence) -> Narration {
    var said = [silence(evidence)]
    if case .fixed(let timeout)? = decision.rules?.silence {
      said.append(
        "The region's rule is a fixed time-out of \(Wording.span(timeout)); nothing learned counts."
      )
    }
    said += learned(decision, evidence) + proof(decision, evidence) + companions(decision, evidence)
    return Narration(said, compared: fixedRules(decision, lastHeard: evidence.lastHeard))
  }

  package func levelExit(_ decision: Decision, _ evidence: Evidence) -> Narration {
    var said: [String] = []
    let threshold = evidence.threshold.map(Wording.threshold) ?? "the exit level"
    let meters = evidence.distance.map { ", its level at \(Wording.meters($0))," } ?? ""
    let dwell = evidence.window.map { " for \(Wording.span($0))" } ?? ""
    said.append(
      "Still heard, but too weak: the filtered level stayed below \(threshold)\(meters)\(dwell), the dwell."
    )
    if let level = evidence.level {
      let margin = evidence.margin.map { ", a margin of \(Wording.decimal($0, places: 1)) dB" } ?? ""
      said.append("It stood at \(Wording.level(level, deviation: evidence.levelDeviation))\(margin).")
    }
    if let gap = evidence.gap, gap > .seconds(1) { said.append("Last heard \(Wording.span(gap)) before.") }
    said += proof(decision, evidence) + companions(decision, evidence)
    return Narration(said, compared: fixedRules(decision, lastHeard: evidence.lastHeard))
  }

  private func silence(_ evidence: Evidence) -> String {
    let gap = evidence.gap.map { " for \(Wording.span($0))" } ?? ""
    guard let lastHeard = evidence.lastHeard else { return "Silent\(gap)." }
    let level = evidence.level.map { " at \(Wording.level($0, deviation: evidence.levelDeviation))" } ?? ""
    return "Silent\(gap) (last heard \(Wording.clock(lastHeard))\(level))."
  }

  /// Reports what the track knows of its beacon's interval and of its own reception.
  package func learned(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let interval = evidence.interval else {
      return ["Too little was heard to know how often it advertises."]
    }
    let observer = decision.observer.map(name) ?? "its observer"
    var text = "It advertises every \(Wording.span(interval))"
    if let share = evidence.receptionShare {
      text += " and \(observer) receives \(Wording.percent(share)) of its adverts"
      if let run = evidence.lossRun, run > 0 {
        text += ", losing \(Wording.decimal(run, places: 1)) in a row on average when it loses any"
      }
    }
    return [text + "."]
  }
}
