import PharosDocuments
import PharosModel
import PharosNarration
import PharosPresence
import PharosRooms
import PharosTerminal

/// The result of `pharos explain`: the decisions that pass the filters, what else was considered, and a comparison with
/// fixed rules.
struct ExplainReport {
  let options: ExplainRunner.Options
  let findings: Findings
  let filter: ExplainFilter
  let narrator: Narrator
  /// The decisions that the filters leave.
  let decisions: [Decision]

  /// The maximum number of tracks for which the report lists what else was considered.
  private static let maximumTracks = 12
  /// The maximum number of tracks that are drawn.
  static let maximumPanels = 4

  init(options: ExplainRunner.Options, findings: Findings, filter: ExplainFilter) {
    self.options = options
    self.findings = findings
    self.filter = filter
    narrator = Narrator(findings)
    let accepted = findings.decisions.filter(filter.matches).enumerated()
    // By the time of what happened; what is decided late stands where it belongs.
    decisions = accepted.sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
  }

  /// The decisions that the report explains.
  var listed: ArraySlice<Decision> { decisions.prefix(options.limit) }

  /// The number of decisions that the filters leave or the log dropped, and that the report does not explain.
  var unlisted: Int { decisions.count - listed.count + findings.log.omitted }

  /// The tracks that the filters leave, those with most decisions first.
  var tracks: [TrackKey] {
    var counts: [TrackKey: Int] = [:]
    for decision in decisions { if let track = decision.track { counts[track, default: 0] += 1 } }
    return filter.tracks(in: findings).sorted { left, right in
      let (more, less) = (counts[left] ?? 0, counts[right] ?? 0)
      return more == less ? left < right : more > less
    }
  }

  /// The tracks for which the report lists what else was considered.
  var weighed: [TrackKey] { Array(tracks.prefix(ExplainReport.maximumTracks)) }

  /// The beacons of those tracks of which a zone was nearly reported.
  var rooms: [(beacon: BeaconID, sentences: [String])] {
    var rooms: [(beacon: BeaconID, sentences: [String])] = []
    for beacon in Set(weighed.map(\.beacon)).sorted() {
      let episodes = (findings.rooms[beacon]?.episodes ?? []).filter { episode in
        filter.region.map { $0 == episode.closest.zone } ?? true
      }
      if !episodes.isEmpty { rooms.append((beacon, narrator.nearlyReported(episodes))) }
    }
    return rooms
  }

  /// The rows that pass the filters and for which a fixed rule or Pharos reported an exit.
  var compared: [(key: RowKey, story: RowStory)] {
    let shown = Set(tracks)
    return findings.log.rows.keys.sorted().compactMap { key in
      guard let story = findings.log.rows[key] else { return nil }
      guard filter.region.map({ $0 == key.region.region }) ?? true else { return nil }
      let isShown = shown.contains { track in
        let subject = key.subject
        return subject == .beacon(track.beacon) || subject == .observer(track.observer)
      }
      guard isShown else { return nil }
      let hasExit =
        story.visits.contains { $0.left != nil }
        || story.fixed.contains { $0.visits.contains { $0.left != nil } }
      return hasExit ? (key, story) : nil
    }
  }

  /// The panels to draw: one track, or up to ``maximumPanels`` if an observer or a beacon was named.
  var panels: [TimelinePanel] {
    let maximum = filter.observer == nil && filter.beacon == nil ? 1 : ExplainReport.maximumPanels
    return tracks.prefix(maximum).compactMap { track in
      row(of: track).map { TimelinePanel(track: track, row: $0) }
    }
  }

  /// The number of tracks that the filters leave and that are not drawn.
  var tracksNotDrawn: Int { max(0, tracks.count - panels.count) }

  /// The row that a track's panel is about: the region named, or that with most decisions of this track.
  private func row(of track: TrackKey) -> RowKey? {
    guard let story = findings.tracks[track] else { return nil }
    var best: (row: RowKey, count: Int)?
    for region in story.regions.keys.sorted() {
      guard filter.region.map({ $0 == region.region }) ?? true else { continue }
      let candidates = [SubjectID.beacon(track.beacon), .observer(track.observer)]
        .map { RowKey(region: region, subject: $0) }
      guard let row = candidates.first(where: { findings.log.rows[$0] != nil }) else { continue }
      let count = decisions.filter { $0.track == track && $0.rows.contains(row) }.count
      if best.map({ count > $0.count }) ?? true { best = (row, count) }
    }
    return best?.row
  }
}

extension ExplainReport {
  /// The widest that lines of paragraphs get.
  static let widest = 100
  /// The column at which paragraphs begin: behind the time of day and two spaces.
  private static let indent = 14

  /// The report as lines for people.
  func lines(style: TerminalStyle) -> [String] {
    let width = style.isTerminal ? min(style.width, ExplainReport.widest) : ExplainReport.widest
    var lines = heading(width: width)
    for decision in listed { lines += [""] + self.lines(of: decision, style: style, width: width) }
    lines += leftOut(width: width)
    lines += considered(style: style, width: width)
    lines += comparison(style: style, width: width)
    return lines
  }

  private func heading(width: Int) -> [String] {
    guard let span = findings.span else { return [] }
    let text =
      "\(options.captures.joined(separator: ", ")): \(Wording.date(span.lowerBound)) \(Wording.clock(span.lowerBound)) to "
      + "\(Wording.clock(span.upperBound)) UTC, \(Wording.span(span.upperBound - span.lowerBound)), "
      + "\(Wording.count(findings.adverts, "advert")), \(Wording.count(findings.observers.count, "observer")), "
      + "\(Wording.count(findings.beacons.count, "beacon")) that some region asks about."
    var lines = Paragraph.lines(text, width: width)
    let filters = [
      filter.observer.map { "observer \(narrator.name($0))" },
      filter.beacon.map { "beacon \(narrator.name($0))" },
      filter.region.map { "region \($0)" },
    ]
    let named = filters.compactMap { $0 }
    let what = named.isEmpty ? "" : " about \(named.joined(separator: ", "))"
    lines.append("\(Wording.count(decisions.count, "decision"))\(what).")
    return lines
  }

  private func lines(of decision: Decision, style: TerminalStyle, width: Int) -> [String] {
    let word = decision.word.uppercased()
    let head = "\(Wording.clock(decision.time))  "
    let headline = PlainText.clean(narrator.headline(decision))
    let title = "\(style.paint(word, ExplainReport.color(of: decision.kind)))  \(headline)"
    let published = narrator.narration(decision)
    let indent = String(repeating: " ", count: ExplainReport.indent)
    var lines = [head + title]
    if !published.why.isEmpty {
      lines += Paragraph.lines(published.why.joined(separator: " "), behind: indent, width: width)
    }
    if !published.compared.isEmpty {
      lines += Paragraph.lines(published.compared.joined(separator: " "), behind: indent + "≠ ", width: width)
    }
    return lines
  }

  private static func color(of kind: EventKind) -> TerminalStyle.Color {
    kind.isZone ? .yellow : kind == .observerQuarantined ? .gray : kind.tone.color
  }

  /// Returns a note on the decisions that are left out, with advice on how to see them.
  private func leftOut(width: Int) -> [String] {
    guard unlisted > 0 else { return [] }
    let busiest = tracks.prefix(3).map { track in
      "--observer \(ExplainReport.quoted(narrator.name(track.observer))) --beacon \(ending(of: track.beacon))"
    }
    let text =
      "\(unlisted) more \(unlisted == 1 ? "decision is" : "decisions are") not listed. Narrow it with --observer, "
      + "--beacon or --region, or raise --limit. Most happened at: \(busiest.joined(separator: "; "))."
    return [""] + Paragraph.lines(text, width: width)
  }

  private func ending(of beacon: BeaconID) -> String {
    let name = narrator.name(beacon)
    guard name.contains("…") else { return ExplainReport.quoted(name) }
    let short = Vocabulary.ending(of: beacon)
    let isPlain = findings.beacons.count { $0.description.hasSuffix("/" + short) } == 1
    return isPlain ? short : beacon.description
  }

  private static func quoted(_ text: String) -> String { text.contains(" ") ? "\"\(text)\"" : text }

  // MARK: What was considered

  private func considered(style: TerminalStyle, width: Int) -> [String] {
    var lines: [String] = []
    for track in weighed {
      let groups = narrator.considered(track, in: findings).filter { group in
        filter.region.map { wanted in group.regions.contains { $0.region == wanted } } ?? true
      }
      for group in groups {
        let regions = group.regions.map(\.region).joined(separator: ", ")
        let name = "\(narrator.name(track.beacon)) at \(narrator.name(track.observer))"
        lines.append(PlainText.clean("  \(regions) · \(name)"))
        for sentence in group.sentences { lines += Paragraph.lines(sentence, behind: "    – ", width: width) }
      }
    }
    for room in rooms {
      lines.append(PlainText.clean("  rooms · \(narrator.name(room.beacon))"))
      for sentence in room.sentences { lines += Paragraph.lines(sentence, behind: "    – ", width: width) }
    }
    guard !lines.isEmpty else { return [] }
    let left = tracks.count - weighed.count
    if left > 0 { lines.append("  and \(Wording.count(left, "more track")): name one to see it.") }
    return ["", style.paint("CONSIDERED, AND NOT DONE", .gray)] + lines
  }

  // MARK: Fixed rules

  /// The maximum number of rows in the comparison.
  private static let maximumCompared = 20

  private static let table = TextTable([
    .text("", 1), .text("REGION", 14), .text("WHO", 24), .number("PHAROS", 8), .number("FIXED 30 s", 13),
    .number("FIXED 10 s", 13),
  ])

  private func comparison(style: TerminalStyle, width: Int) -> [String] {
    let rows = compared
    guard !rows.isEmpty else { return [] }
    let note =
      "In brackets those taken back: of Pharos by an enter within a minute, of a fixed rule while Pharos had it inside "
      + "all the time."
    var lines = ["", style.paint("EXITS AGAINST FIXED RULES", .gray)]
    lines += Paragraph.lines(note, width: width) + [ExplainReport.table.header]
    let ranked = rows.sorted { left, right in
      let (more, less) = (ExplainReport.mistakes(left.story), ExplainReport.mistakes(right.story))
      return more == less ? left.key < right.key : more > less
    }
    for row in ranked.prefix(ExplainReport.maximumCompared) {
      let exits = row.story.exits
      let own = row.story.returns == 0 ? "\(exits)" : "\(exits) (\(row.story.returns))"
      let fixed = row.story.fixed.reversed().map { rule in
        let all = rule.exits
        let mistakes = row.story.falseExits(of: rule).count
        return mistakes == 0 ? "\(all)" : "\(all) (\(mistakes))"
      }
      lines.append(
        ExplainReport.table.line(
          ["", row.key.region.region, narrator.name(row.key.subject), own] + fixed
        )
      )
    }
    if rows.count > ExplainReport.maximumCompared {
      lines.append("  and \(rows.count - ExplainReport.maximumCompared) more")
    }
    return lines
  }

  private static func mistakes(_ story: RowStory) -> Int {
    story.fixed.reduce(0) { $0 + story.falseExits(of: $1).count }
  }
}

extension ExplainReport {
  /// The report as one JSON object: the same figures, and the same sentences.
  var json: String {
    JSONText.object { json in
      json.strings("captures", options.captures)
      if let span = findings.span {
        json.member("from", span.lowerBound.rfc3339)
        json.member("until", span.upperBound.rfc3339)
      }
      json.member("adverts", findings.adverts)
      json.member("decisionsFound", decisions.count)
      json.member("decisionsLeftOut", unlisted)
      json.objects("decisions", listed) { write($1, to: &$0) }
      json.objects("tracks", weighed) { write($1, to: &$0) }
      json.objects("rooms", rooms) { json, room in
        json.member("beacon", room.beacon.description)
        json.strings("nearlyReported", room.sentences.map(Narration.plain))
      }
      json.objects("fixedRules", compared) { json, row in write(row.key, row.story, to: &json) }
    }
  }

  private func write(_ decision: Decision, to json: inout JSONText) {
    json.member("time", decision.time.rfc3339)
    json.member("decidedAt", decision.decidedAt.rfc3339)
    json.member("decision", decision.word)
    if !decision.application.isEmpty { json.member("application", decision.application) }
    json.strings(decision.kind.isZone ? "zones" : "regions", decision.regions)
    if decision.subject != .none { json.member("subject", decision.subject.description) }
    json.member("observer", ifPresent: decision.observer?.description)
    json.member("beacon", ifPresent: decision.beacon?.description)
    if let transition = decision.transition {
      json.member("from", transition.from.name)
      json.member("to", transition.to.name)
      json.member("announced", decision.isAnnounced)
      json.openObject("evidence")
      transition.evidence.write(to: &json)
      json.closeObject()
      write(rules: decision, transition.evidence, to: &json)
    }
    let published = narrator.narration(decision).plain
    json.strings("why", published.why)
    json.strings("compared", published.compared)
  }

  /// Writes the decisions of fixed rules about the same silence.
  private func write(rules decision: Decision, _ evidence: Evidence, to json: inout JSONText) {
    guard decision.kind == .regionExit, let row = decision.rows.first, let story = findings.log.rows[row],
      let lastHeard = evidence.lastHeard
    else { return }
    let began = decision.transition?.enteredAt ?? .distantPast
    json.objects("fixedRules", story.fixed) { json, rule in
      json.member("timeout", rule.timeout.seconds, decimals: 3)
      let left = rule.exit(after: lastHeard)
      json.member("exit", ifPresent: left?.rfc3339)
      if let left { json.member("later", (left - decision.time).seconds, decimals: 3) }
      let mistakes = story.falseExits(of: rule).filter { began <= $0 && $0 < decision.time }
      json.strings("falseExits", mistakes.map(\.rfc3339))
    }
  }

  private func write(_ track: TrackKey, to json: inout JSONText) {
    json.member("observer", track.observer.description)
    json.member("beacon", track.beacon.description)
    if let story = findings.tracks[track] {
      json.member("samples", story.samples)
      if let interval = story.last?.interval { json.member("interval", interval.seconds, decimals: 3) }
      if let share = story.last?.receptionShare { json.member("receptionShare", share, decimals: 3) }
      if let run = story.last?.lossRun { json.member("lossRun", run, decimals: 2) }
    }
    json.objects("considered", narrator.considered(track, in: findings)) { json, group in
      json.strings("regions", group.regions.map(\.region))
      json.strings("why", group.sentences.map(Narration.plain))
    }
  }

  private func write(_ key: RowKey, _ story: RowStory, to json: inout JSONText) {
    json.member("application", key.region.application)
    json.member("region", key.region.region)
    json.member("subject", key.subject.description)
    json.member("exits", story.exits)
    json.member("returnsWithinMinute", story.returns)
    json.objects("rules", story.fixed) { json, rule in
      json.member("timeout", rule.timeout.seconds, decimals: 3)
      json.member("exits", rule.exits)
      json.member("falseExits", story.falseExits(of: rule).count)
    }
  }
}
