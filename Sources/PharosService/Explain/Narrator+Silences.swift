import PharosModel

/// Explanations of the length of a silence, and of what else an exit took.
extension Narrator {
  /// Explains the length of the silence that was allowed, and the margin.
  func allowance(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let allowed = evidence.allowedGap else { return [] }
    let basis = evidence.silence
    var text: String
    if allowed == decision.rules?.silenceFloor {
      text =
        "The silence allowed is \(Wording.span(allowed)), the shortest that the region takes for anything"
    } else if allowed >= basis?.ceiling ?? decision.rules?.silenceCeiling ?? .forever {
      text = "The silence allowed is \(Wording.span(allowed)), the ceiling: the longest that the region waits"
    } else if let basis, allowed == basis.floor {
      text =
        "The silence allowed is \(Wording.span(allowed)): its losses alone would allow less, but somebody in the way "
        + "may hide it for so long"
    } else {
      let budget = decision.rules.map { Wording.trimmed(Wording.decimal($0.falseExitsPerDay, places: 3)) }
      let run = basis.map { ", some \($0.misses) adverts lost in a row," } ?? ""
      text =
        "While it is here, a silence beyond \(Wording.span(allowed))\(run) is expected less than "
        + "\(budget ?? "0.01") times a day, which is the budget for false exits"
    }
    if let stretch = evidence.stretch, stretch != 1 {
      let times = Wording.trimmed(Wording.decimal(stretch, places: 1))
      text += "; it is stretched \(times) times, as the observer scans in windows only"
    }
    if let margin = evidence.margin {
      text += "; margin \(Wording.span(.seconds(margin))) beyond one interval"
    }
    return [text + "."] + deafness(decision, evidence) + surroundings(basis)
  }

  /// Reports the part of the time since the last advert that counts for nothing.
  private func deafness(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let deaf = evidence.deafFor else { return [] }
    let observer = decision.observer.map(name) ?? "the observer"
    return [
      "For \(Wording.span(deaf)) of that time \(observer) was deaf to others too, which does not count."
    ]
  }

  /// Explains the effect of the level before the silence.
  private func surroundings(_ basis: SilenceBasis?) -> [String] {
    switch basis?.surroundings {
    case .low:
      [
        "Before the silence its level had fallen below the usual, as it does when somebody leaves: that shortens it."
      ]
    case .far:
      [
        "Before the silence its level had fallen far below the usual, as it does when somebody leaves: that shortens it "
          + "much."
      ]
    case .usual, nil:
      []
    }
  }

  /// Explains the delay of an exit: the wait for a sign that the observer itself lives, or for its late reports.
  func proof(_ decision: Decision, _ evidence: Evidence) -> [String] {
    let observer = decision.observer.map(name) ?? "the observer"
    if let waited = evidence.waitedForProof {
      return [
        "The exit waited \(Wording.span(waited)) for a sign that \(observer) itself lives, and got it: the "
          + "silence is the beacon's own."
      ]
    }
    let late = decision.decidedAt - decision.time
    guard late > .milliseconds(50) else { return [] }
    return ["Told \(Wording.span(late)) after the deadline, since reports of \(observer) may be so late."]
  }

  /// Reports that another beacon or observer of the region was heard later, and was given up before.
  func companions(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let lastHeard = evidence.lastHeard, let row = decision.rows.first,
      let visit = findings.log.rows[row]?.fixed.last?.visit(at: decision.time)
    else { return [] }
    guard visit.lastHeard > lastHeard, visit.lastHeard < decision.time else { return [] }
    let clock = Wording.clock(visit.lastHeard)
    switch decision.subject {
    case .observer:
      return [
        "Another beacon of the region was heard until \(clock) and was given up sooner: this was the last."
      ]
    case .beacon:
      return ["Another observer heard it until \(clock) and gave it up sooner: this was the last."]
    case .none:
      return []
    }
  }

  /// Reports when fixed rules would have decided the same, and how often they would have been wrong before.
  func fixedRules(_ decision: Decision, lastHeard: Timestamp?) -> [String] {
    guard let row = decision.rows.first, let story = findings.log.rows[row], let lastHeard else { return [] }
    let began = decision.transition?.enteredAt ?? .distantPast
    let clauses = story.fixed.reversed().map { rule in
      let subject = "a fixed \(Wording.span(rule.timeout)) rule"
      var clause: String
      if let left = rule.exit(after: lastHeard) {
        clause = "\(subject) would have said so \(Narrator.difference(left - decision.time))"
      } else {
        clause = "\(subject) had not said so by the end of the capture"
      }
      let mistakes = story.falseExits(of: rule).filter { began <= $0 && $0 < decision.time }
      if !mistakes.isEmpty {
        clause += ", but would have left falsely \(Wording.times(mistakes.count)) in this visit"
        clause += " (at \(Wording.clocks(mistakes)))"
      }
      return clause
    }
    let text = clauses.joined(separator: "; ")
    return [text.prefix(1).uppercased() + text.dropFirst() + "."]
  }

  private static func difference(_ span: TimeSpan) -> String {
    if abs(span.seconds) < 0.05 { return "at the same moment" }
    return "\(Wording.span(span)) \(span > .zero ? "later" : "earlier")"
  }
}

/// Explanations of what was considered and not done.
extension Narrator {
  /// Returns sentences on what one track went through without a decision, grouping regions with the same sentences.
  func considered(_ key: TrackKey) -> [(regions: [RegionKey], sentences: [String])] {
    guard let story = findings.tracks[key] else { return [] }
    var groups: [(regions: [RegionKey], sentences: [String])] = []
    for region in story.regions.keys.sorted() {
      guard let waiting = story.regions[region] else { continue }
      let sentences = sentences(waiting, key, region)
      guard !sentences.isEmpty else { continue }
      if let index = groups.firstIndex(where: { $0.sentences == sentences }) {
        groups[index].regions.append(region)
      } else {
        groups.append(([region], sentences))
      }
    }
    return groups
  }

  private func sentences(_ waiting: TrackStory.Waiting, _ key: TrackKey, _ region: RegionKey) -> [String] {
    let rules = rules(of: region)
    return waiting.closeCalls.map { closeCall($0, at: key.observer) } + dips(waiting, rules)
      + lone(waiting.lone, rules) + outages(key, region)
  }

  private func rules(of region: RegionKey) -> PresencePolicy? {
    findings.log.rows.first { $0.key.region == region }?.value.rules
  }

  private func closeCall(_ call: TrackStory.CloseCall, at observer: ObserverID) -> String {
    let fixed = FixedRule.timeouts.filter { $0 < call.gap }.map { "\(Wording.span($0))" }
    let rules = fixed.count == 1 ? "A fixed rule" : "Fixed rules"
    let others = fixed.isEmpty ? "" : " \(rules) of \(Wording.list(fixed)) would have left."
    if call.wasWaiting {
      return
        "Silent for \(Wording.span(call.gap)) from \(Wording.clock(call.from)), longer than the \(Wording.span(call.allowed)) "
        + "allowed, but \(name(observer)) gave no sign of its own life in the meantime: no exit." + others
    }
    guard call.gap <= call.allowed else {
      return
        "Silent for \(Wording.span(call.gap)) from \(Wording.clock(call.from)), longer than the "
        + "\(Wording.span(call.allowed)) allowed, but heard again before the exit was decided." + others
    }
    return
      "Silent for \(Wording.span(call.gap)) from \(Wording.clock(call.from)): \(Wording.percent(call.share)) of the "
      + "\(Wording.span(call.allowed)) allowed, \(Wording.span(call.allowed - call.gap)) to spare." + others
  }

  private func dips(_ waiting: TrackStory.Waiting, _ rules: PresencePolicy?) -> [String] {
    guard !waiting.dips.isEmpty else { return [] }
    let dwell = rules.map { "the \(Wording.span($0.exitDwell)) it takes" } ?? "the dwell"
    let shown = waiting.dips.map { dip in
      let length = dip.until - dip.from
      return
        "\(Wording.span(length)) from \(Wording.clock(dip.from)) (down to \(Wording.level(dip.lowest)))"
    }
    let level = waiting.dips.first.map { Wording.threshold($0.exitLevel) } ?? "the exit level"
    let more = waiting.dipCount - shown.count
    let rest = more > 0 ? " and \(more) more" : ""
    return ["Below \(level), but not for \(dwell): \(shown.joined(separator: ", "))\(rest)."]
  }

  private func lone(_ lone: TrackStory.Lone, _ rules: PresencePolicy?) -> [String] {
    var said: [String] = []
    let few = lone.count - lone.weak
    if few > 0 {
      let needed = rules?.enterSamples ?? 2
      let clocks = Wording.clocks(Array(lone.examples.prefix(TrackStory.most)), outOf: few)
      said.append(
        "\(Wording.count(few, "lone advert")) did not enter, since it takes \(needed) within the window: \(clocks)."
      )
    }
    if lone.weak > 0 {
      let level = lone.enterLevel.map { " of \(Wording.threshold($0))" } ?? ""
      said.append(
        "\(Wording.count(lone.weak, "advert")) while outside \(lone.weak == 1 ? "was" : "were") below the enter level\(level)."
      )
    }
    return said
  }

  /// Outages of the observer that a fixed rule would have taken for departures.
  private func outages(_ key: TrackKey, _ region: RegionKey) -> [String] {
    let rows = [SubjectID.beacon(key.beacon), .observer(key.observer)].compactMap {
      findings.log.rows[RowKey(region: region, subject: $0)]
    }
    guard let story = rows.first else { return [] }
    return (findings.outages[key.observer] ?? []).compactMap { outage in
      guard let until = outage.until, story.state(at: outage.from) != .outside else { return nil }
      let exits = story.fixed.compactMap { rule -> String? in
        let left = story.falseExits(of: rule).first { outage.from - rule.timeout < $0 && $0 < until }
        return left.map { "\(Wording.span(rule.timeout)) at \(Wording.clock($0))" }
      }
      guard !exits.isEmpty else { return nil }
      return
        "\(name(key.observer)) was down from \(Wording.clock(outage.from)) to \(Wording.clock(until)): no departure. "
        + "A fixed rule would have left: that of \(Wording.list(exits))."
    }
  }
}
