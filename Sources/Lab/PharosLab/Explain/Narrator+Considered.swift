import PharosDocuments
import PharosModel
import PharosNarration
import PharosPresence

/// Explanations of what was considered and not done.
extension Narrator {
  /// Makes a narrator that knows all that a run over captures found out.
  init(_ findings: Findings) { self.init(findings.site, rows: findings.log.rows) }

  /// Returns sentences on what one track went through without a decision, grouping regions with the same sentences.
  func considered(
    _ key: TrackKey,
    in findings: Findings
  ) -> [(regions: [RegionKey], sentences: [String])] {
    guard let story = findings.tracks[key] else { return [] }
    var groups: [(regions: [RegionKey], sentences: [String])] = []
    for region in story.regions.keys.sorted() {
      guard let waiting = story.regions[region] else { continue }
      let sentences = sentences(waiting, key, region, findings)
      guard !sentences.isEmpty else { continue }
      if let index = groups.firstIndex(where: { $0.sentences == sentences }) {
        groups[index].regions.append(region)
      } else {
        groups.append(([region], sentences))
      }
    }
    return groups
  }

  private func sentences(
    _ waiting: TrackStory.Waiting,
    _ key: TrackKey,
    _ region: RegionKey,
    _ findings: Findings
  ) -> [String] {
    let rules = rules(of: region)
    return waiting.closeCalls.map { closeCall($0, at: key.observer) } + dips(waiting, rules)
      + lone(waiting.lone, rules) + outages(key, region, findings)
  }

  private func rules(of region: RegionKey) -> PresencePolicy? {
    rows.first { $0.key.region == region }?.value.rules
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
      let clocks = Wording.clocks(Array(lone.examples.prefix(TrackStory.maximumEntries)), outOf: few)
      said.append(
        "\(Wording.count(few, "lone advert")) did not enter, since it takes \(needed) within the window: \(clocks)."
      )
    }
    if let progress = lone.progress, progress.isNextEnough {
      said.append(
        "Heard \(Wording.count(progress.heard, "time")) in \(Wording.span(progress.span)) at the end; "
          + "enters with the next in regular distance."
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
  private func outages(_ key: TrackKey, _ region: RegionKey, _ findings: Findings) -> [String] {
    let stories = [SubjectID.beacon(key.beacon), .observer(key.observer)].compactMap {
      self.rows[RowKey(region: region, subject: $0)]
    }
    guard let story = stories.first else { return [] }
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
