import PharosDocuments
import PharosModel
import PharosNarration
import PharosPresence

/// Draws one panel: the levels of a track, what was decided and waited for, and the bars of states.
struct PanelDrawing {
  private static let left = 118.0
  private static let right = 1_150.0
  /// The right end of labels that belong to the right end of the plot.
  private static let labelRight = 1_240.0
  private static let labelRows = 3

  /// The name of the track.
  let name: String

  private let panel: TimelinePanel
  private let findings: Findings
  private let narrator: Narrator
  private let story: RowStory
  private let trace: TrackTrace
  private let last: TrackInsight?
  private let time: TimeAxis
  private let hasZones: Bool
  /// The upper end of the panel.
  private let top: Double

  init(panel: TimelinePanel, findings: Findings, top: Double) {
    self.panel = panel
    self.findings = findings
    self.top = top
    narrator = Narrator(findings)
    name = "\(narrator.name(panel.track.beacon)) at \(narrator.name(panel.track.observer))"
    story = findings.log.rows[panel.row] ?? RowStory()
    trace = findings.traces[panel.track] ?? TrackTrace()
    last = findings.tracks[panel.track]?.last
    hasZones = findings.places(panel.track.beacon)
    let span = findings.span ?? Timestamp(seconds: 0)...Timestamp(seconds: 1)
    let (start, end) = (span.lowerBound, span.upperBound)
    time = TimeAxis(from: start, to: end, left: PanelDrawing.left, right: PanelDrawing.right)
  }

  /// The height of the panel.
  var height: Double { bottom + 46 - top }

  private var plot: SVGRect {
    SVGRect(x: time.left, y: top + 108, width: time.right - time.left, height: 200)
  }
  /// The upper end of the lane of silences: bars, and their labels below.
  private var lane: Double { plot.bottom + 8 }
  private var pharosBar: (top: Double, height: Double) { (lane + 32, 20) }
  /// The bars of the fixed rules and of the zones below that of Pharos, counted from 0.
  private func lowerBar(_ index: Int) -> (top: Double, height: Double) {
    (lane + 60 + Double(index) * 21, 15)
  }
  /// The lower end of all bars.
  private var bottom: Double { lowerBar(FixedRule.timeouts.count + (hasZones ? 1 : 0)).top }

  /// What the panel shows, in a sentence.
  var summary: String {
    let fixed = story.fixed.map { rule in
      "a fixed rule of \(Wording.span(rule.timeout)) \(rule.exits), \(story.falseExits(of: rule).count) of them false"
    }
    return "\(name), region \(panel.row.region.region): "
      + "Pharos reported \(Wording.count(story.exits, "exit")); \(fixed.joined(separator: "; "))."
  }

  func draw(on picture: inout SVGDocument) {
    picture.group("\(name), region \(panel.row.region.region)") { picture in
      titles(&picture)
      picture.rect(plot, fill: Palette.paper, stroke: Stroke(Palette.frame))
      picture.grid(time, top: plot.y, bottom: bottom + 2)
      outages(&picture)
      levels(&picture)
      others(&picture)
      marks(&picture)
      waits(&picture)
      bars(&picture)
    }
  }

  private func titles(_ picture: inout SVGDocument) {
    let title = TextStyle(15, isBold: true).fitted("\(name) · region \(panel.row.region.region)", to: 1_100)
    var facts: [String] = []
    if let interval = last?.interval { facts.append("advertises every \(Wording.span(interval))") }
    if let share = last?.receptionShare {
      let run = last?.lossRun.flatMap { $0 > 0 ? $0 : nil }
      let losses = run.map { " in runs of loss of \(Wording.decimal($0, places: 1))" } ?? ""
      facts.append("\(Wording.percent(share)) received\(losses)")
    }
    if let rules = story.rules { facts.append(PanelDrawing.words(rules)) }
    let note = TextStyle(12.5).fitted(facts.joined(separator: " · "), to: 1_220)
    picture.heading(title, note, at: SVGPoint(TimelinePicture.margin, top + 22))
  }

  /// The region's rules in few words.
  private static func words(_ rules: PresencePolicy) -> String {
    let samples = Wording.count(rules.enterSamples, "advert")
    let enters = [
      rules.enterRSSI.map { " at \(Wording.threshold($0))" },
      rules.enterDistance.map { " within \(Wording.meters($0.value))" },
    ]
    let leaves = [
      rules.exitRSSI.map { "below \(Wording.threshold($0))" },
      rules.exitDistance.map { "beyond \(Wording.meters($0.value))" },
    ]
    let level = enters.compactMap { $0 }.joined()
    let weak = leaves.compactMap { $0 }.joined(separator: " or ")
    let exit = weak.isEmpty ? "" : "\(weak) for \(Wording.span(rules.exitDwell)) or "
    let silence =
      switch rules.silence {
      case .adaptive: "an unlikely silence"
      case .fixed(let timeout): "\(Wording.span(timeout)) of silence"
      case .never: "no silence, however long"
      }
    return "enters on \(samples)\(level), leaves on \(exit)\(silence)"
  }
}

/// The plot of levels: adverts as heard, what the filter makes of them, and the levels that decide.
extension PanelDrawing {
  /// The levels by which the region decides, as the track knows them.
  private var thresholds: [(level: Double, color: String, word: String)] {
    let region = last?.regions.first {
      $0.region == panel.row.region.region && $0.application == panel.row.region.application
    }
    let enter = region?.enterLevel.map { ($0, Palette.enter, "enter") }
    let exit = region?.exitLevel.map { ($0, Palette.exit, "exit") }
    return [enter, exit].compactMap { $0 }
  }

  private func levels(_ picture: inout SVGDocument) {
    let drawn = trace.points.flatMap {
      [$0.raw, $0.level - $0.deviation, $0.level + $0.deviation].map(Double.init)
    }
    let levels = drawn.filter(\.isFinite) + thresholds.map(\.level)
    let axis = ValueAxis(
      from: (levels.min() ?? -95) - 1,
      to: (levels.max() ?? -45) + 1,
      top: plot.y,
      bottom: plot.bottom,
      step: 5
    )
    picture.grid(axis, across: time)
    let caption = TextStyle(12, color: Palette.faint)
    picture.text("level", at: SVGPoint(TimelinePicture.margin, plot.y + 12), caption)
    picture.text("dBm", at: SVGPoint(TimelinePicture.margin, plot.y + 27), caption)
    picture.clipped(to: plot) { picture in samples(&picture, axis) }
    thresholds(&picture, axis)
  }

  private func samples(_ picture: inout SVGDocument, _ axis: ValueAxis) {
    func place(_ point: TrackTrace.Point, _ level: Float) -> SVGPoint {
      SVGPoint(time.x(of: point.time), axis.y(of: Double(level)))
    }
    for run in runs {
      let upper = run.map { place($0, $0.level + $0.deviation) }
      let lower = run.map { place($0, $0.level - $0.deviation) }
      picture.band(upper: upper, lower: lower, fill: Palette.uncertainty, opacity: 0.35)
    }
    let dots = trace.points.filter { $0.raw.isFinite }.map { place($0, $0.raw) }
    picture.dots(dots, radius: dots.count > 2_000 ? 1.1 : 1.6, fill: Palette.advert, opacity: 0.85)
    for run in runs { picture.polyline(run.map { place($0, $0.level) }, Stroke(Palette.level, width: 1.8)) }
    guard dots.isEmpty else { return }
    let middle = SVGPoint((plot.x + plot.right) / 2, (plot.y + plot.bottom) / 2)
    picture.text("no levels were reported", at: middle, TextStyle(13, color: Palette.faint, anchor: .middle))
  }

  /// The points in runs without long silences: a line across a silence would show levels that no observer reported.
  private var runs: [ArraySlice<TrackTrace.Point>] {
    let maximum = max(.seconds(5), (last?.interval ?? .seconds(1)) * 6)
    let points = trace.points.filter { $0.level.isFinite }
    let gaps = points.indices.dropFirst().filter { points[$0].time - points[$0 - 1].time > maximum }
    return zip([0] + gaps, gaps + [points.count]).map { points[$0..<$1] }
  }

  private func thresholds(_ picture: inout SVGDocument, _ axis: ValueAxis) {
    var lowest = -Double.infinity
    for (level, color, word) in thresholds {
      let y = axis.y(of: level)
      let stroke = Stroke(color, width: 1.4, dashes: [6, 3])
      picture.line(from: SVGPoint(plot.x, y), to: SVGPoint(plot.right, y), stroke)
      // Labels of levels that lie close together must not cover each other.
      lowest = max(y + 4, lowest + 14)
      let style = TextStyle(12, color: color, isBold: true)
      picture.text("\(word) \(Wording.threshold(level))", at: SVGPoint(plot.right + 8, lowest), style)
    }
  }

  /// The adverts of the same region that other tracks heard: why a state may hold while this one is silent.
  private func others(_ picture: inout SVGDocument) {
    let others = findings.traces.filter { $0.key != panel.track }.flatMap { key, trace -> [Timestamp] in
      let isOfRow = panel.row.subject == .beacon(key.beacon) || panel.row.subject == .observer(key.observer)
      guard isOfRow, findings.tracks[key]?.regions[panel.row.region] != nil else { return [] }
      return trace.points.map(\.time)
    }
    let times = ((findings.others[panel.row] ?? []) + others).sorted()
    let stroke = Stroke(Palette.insideElsewhere)
    picture.ticks(at: times.map(time.x), top: plot.bottom - 6, bottom: plot.bottom - 1, stroke)
  }
}

/// What was decided and waited for: outages as shades, decisions as lines with labels, silences in a lane of their own.
extension PanelDrawing {
  private func outages(_ picture: inout SVGDocument) {
    let name = narrator.name(panel.track.observer)
    for outage in findings.outages[panel.track.observer] ?? [] {
      let (silent, noticed) = (time.x(of: outage.silentFrom), time.x(of: outage.from))
      let right = time.x(of: outage.until ?? time.end)
      for (left, start, opacity, words) in [
        (silent, outage.silentFrom, 0.16, "silent"), (noticed, outage.from, 0.2, "known to be down"),
      ] {
        let shade = SVGRect(x: left, y: plot.y, width: max(1, right - left), height: plot.height)
        let tooltip = "\(name) \(words) from \(Wording.clock(start))"
        picture.rect(shade, fill: Palette.outage, opacity: opacity, tooltip: tooltip)
      }
      // The words stand on the wider of the two shades, so that the line between them crosses nothing.
      let (left, end) = noticed - silent > right - noticed ? (silent, noticed) : (noticed, right)
      let style = TextStyle(12, anchor: .middle)
      let words = ["no sign of life from \(name)", "no sign of life", "silent"]
      guard let text = words.first(where: { style.width(of: $0) < end - left - 6 }) else { continue }
      picture.text(text, at: SVGPoint((left + end) / 2, plot.y + 16), style)
    }
  }

  // MARK: Decisions

  /// The decisions that the panel shows: those of its row.
  private var decisions: [Decision] { findings.decisions.filter { $0.rows.contains(panel.row) } }

  private func marks(_ picture: inout SVGDocument) {
    var rows = LabelRows(rows: PanelDrawing.labelRows, left: time.left - 60, right: PanelDrawing.labelRight)
    let bottom = pharosBar.top + pharosBar.height
    var labels: [(text: String, at: SVGPoint, style: TextStyle)] = []
    for decision in decisions {
      let (isEnter, isExit) = (decision.kind == .regionEnter, decision.kind == .regionExit)
      let color = isEnter ? Palette.enter : isExit ? Palette.exit : Palette.faint
      let style = TextStyle(12, color: color, isBold: isEnter || isExit)
      let (x, label) = (time.x(of: decision.time), label(decision))
      let place = rows.place(at: x, width: style.width(of: label)).map { place in
        SVGPoint(place.left, plot.y - 8 - Double(place.row) * 17)
      }
      let stroke = Stroke(color, width: isExit ? 1.8 : 1.2, dashes: isExit ? [] : [2, 2])
      picture.line(from: SVGPoint(x, place.map { $0.y + 3 } ?? plot.y), to: SVGPoint(x, bottom), stroke)
      if let place { labels.append((label, place, style)) }
    }
    // Above the lines: those of labels in upper rows pass behind the ones in lower rows.
    for (text, place, style) in labels {
      let ground = SVGRect(x: place.x, y: place.y - 11, width: style.width(of: text), height: 14)
      picture.rect(ground, fill: Palette.paper)
      picture.text(text, at: place, style)
    }
    guard rows.omitted > 0 else { return }
    let corner = SVGPoint(TimelinePicture.width - TimelinePicture.margin, top + 58)
    picture.text("and \(rows.omitted) more", at: corner, TextStyle(12, color: Palette.faint, anchor: .end))
  }

  private func label(_ decision: Decision) -> String {
    let clock = Wording.clock(decision.time).prefix(10)
    guard decision.kind == .regionState, let transition = decision.transition else {
      return "\(decision.word) \(clock)\(whose(decision).map { " by \($0)" } ?? "")"
    }
    return "\(transition.to.name) \(transition.from == .unmonitored ? "again " : "")\(clock)"
  }

  /// Returns the observer or beacon that settled a decision, if it was not that of this panel's track.
  private func whose(_ decision: Decision) -> String? {
    guard let track = decision.track, track != panel.track else { return nil }
    return track.beacon == panel.track.beacon ? narrator.name(track.observer) : narrator.name(track.beacon)
  }

  // MARK: Silences

  /// A silence or a dip that an exit waited for, or one that ended in time.
  private struct Wait {
    var from: Timestamp
    var until: Timestamp
    var words: String
    var isExit: Bool
  }

  private func waits(_ picture: inout SVGDocument) {
    picture.caption("waiting", left: time.left, middle: lane + 5)
    var rows = LabelRows(rows: 1, left: time.left, right: PanelDrawing.labelRight)
    for wait in waits {
      let (left, right) = (time.x(of: wait.from), time.x(of: wait.until))
      let box = SVGRect(x: left, y: lane + 1, width: max(1.5, right - left), height: 8)
      let tooltip = "\(wait.words), from \(Wording.clock(wait.from))"
      let edge = Stroke(Palette.allowance, width: 1.4)
      picture.rect(box, fill: wait.isExit ? Palette.allowance : Palette.paper, stroke: edge, tooltip: tooltip)
      let style = TextStyle(11.5, color: wait.isExit ? Palette.ink : Palette.faint)
      let width = style.width(of: wait.words)
      guard let place = rows.place(at: (left + right) / 2, width: width) else { continue }
      // The lines of decisions pass behind the words.
      picture.rect(SVGRect(x: place.left - 2, y: lane + 12, width: width, height: 13), fill: Palette.paper)
      picture.text(wait.words, at: SVGPoint(place.left, lane + 22), style)
    }
  }

  /// The waits of exits first: they get their labels before close calls do.
  private var waits: [Wait] {
    let exits = decisions.compactMap { decision -> Wait? in
      guard decision.kind == .regionExit, let evidence = decision.transition?.evidence else { return nil }
      let who = whose(decision).map { "\($0): " } ?? ""
      func wait(_ span: TimeSpan, _ words: String) -> Wait {
        Wait(from: decision.time - span, until: decision.time, words: "\(who)\(words)", isExit: true)
      }
      if evidence.rule == .level, let dwell = evidence.window {
        return wait(dwell, "weak for \(Wording.span(dwell))")
      }
      guard let gap = evidence.gap else { return nil }
      guard let allowed = evidence.allowedGap, abs((allowed - gap).seconds) >= 0.05 else {
        return wait(gap, "silent for the \(Wording.span(gap)) allowed")
      }
      return wait(gap, "silent for \(Wording.span(gap)) of \(Wording.span(allowed)) allowed")
    }
    let calls = findings.tracks[panel.track]?.regions[panel.row.region]?.closeCalls ?? []
    return exits
      + calls.map { call in
        let words = "\(Wording.span(call.gap)) of \(Wording.span(call.allowed))"
        return Wait(from: call.from, until: call.until, words: words, isExit: false)
      }
  }
}

/// The bars of states: those of Pharos, those of fixed rules that received the same adverts, and the zones.
extension PanelDrawing {
  private func bars(_ picture: inout SVGDocument) {
    let turns = [RowStory.Turn(time: time.start, state: .unknown)] + story.turns
    let ends = turns.dropFirst().map(\.time) + [time.end]
    let states = zip(turns, ends).map { turn, end in segment(turn.state, from: turn.time, to: end) }
    bar(states.filter { $0.right > $0.left }, at: pharosBar, "Pharos", on: &picture)
    // A return does not prove an exit of Pharos false. The exits of a fixed rule are judged by the states of Pharos.
    record(story.exits, story.returns, "back", at: pharosBar, on: &picture)
    for (index, rule) in story.fixed.reversed().enumerated() {
      fixed(rule, at: lowerBar(index), on: &picture)
    }
    if hasZones { bar(zones, at: lowerBar(story.fixed.count), "zone", ground: Palette.paper, on: &picture) }
  }

  private func bar(
    _ segments: [SVGDocument.Segment],
    at place: (top: Double, height: Double),
    _ caption: String,
    ground: String = Palette.outside,
    on picture: inout SVGDocument
  ) {
    let isBold = !caption.hasPrefix("fixed")
    picture.caption(caption, left: time.left, middle: place.top + place.height / 2, isBold: isBold)
    picture.bar(segments, across: time, top: place.top, height: place.height, ground: ground)
  }

  private func record(
    _ exits: Int,
    _ mistakes: Int,
    _ word: String,
    at place: (top: Double, height: Double),
    on picture: inout SVGDocument
  ) {
    let words = Wording.count(exits, "exit") + (mistakes > 0 ? ", \(mistakes) \(word)" : "")
    let isMistake = mistakes > 0 && word == "false"
    picture.note(words, right: time.right, middle: place.top + place.height / 2, isMistake: isMistake)
  }

  private func segment(_ state: RegionState, from: Timestamp, to: Timestamp) -> SVGDocument.Segment {
    let (word, fill, ink) =
      switch state {
      case .inside: ("inside", Palette.inside, Palette.paper)
      case .outside: ("outside", Palette.outside, Palette.faint)
      case .unmonitored: ("unmonitored", Palette.outage, Palette.ink)
      case .unknown: ("unknown", Palette.paper, Palette.faint)
      }
    let (left, right) = (time.x(of: from), time.x(of: to))
    let tooltip = "\(word), \(Wording.clock(from)) to \(Wording.clock(to))"
    return .init(left: left, right: right, fill: fill, words: word, ink: ink, tooltip: tooltip)
  }

  private func fixed(
    _ rule: FixedRule,
    at place: (top: Double, height: Double),
    on picture: inout SVGDocument
  ) {
    let stays = rule.visits.map { visit in
      let (left, right) = (time.x(of: visit.entered), time.x(of: visit.left ?? time.end))
      let end = visit.left.map { "to \(Wording.clock($0))" } ?? "on"
      let tooltip = "inside from \(Wording.clock(visit.entered)) \(end)"
      return SVGDocument.Segment(left: left, right: right, fill: Palette.insideElsewhere, tooltip: tooltip)
    }
    bar(stays, at: place, "fixed \(Wording.span(rule.timeout))", on: &picture)
    let mistakes = story.falseExits(of: rule)
    for left in rule.visits.compactMap(\.left) {
      let (x, bottom) = (time.x(of: left), place.top + place.height)
      if mistakes.contains(left) {
        picture.cross(at: SVGPoint(x, place.top + place.height / 2))
      } else {
        picture.line(from: SVGPoint(x, place.top), to: SVGPoint(x, bottom), Stroke(Palette.exit, width: 2))
      }
    }
    record(rule.exits, mistakes.count, "false", at: place, on: &picture)
  }

  /// The zones that the beacon was in, all observers compared.
  private var zones: [SVGDocument.Segment] {
    let moves = findings.decisions.filter { $0.kind.isZone && $0.beacon == panel.track.beacon }
    let names = findings.site.zones.map(\.identifier)
    return zip(moves, moves.dropFirst().map(\.time) + [time.end]).compactMap { move, end in
      guard case .zone(let transition) = move.detail, let zone = transition.to else { return nil }
      return .init(
        left: time.x(of: move.time),
        right: time.x(of: end),
        fill: Palette.series[(names.firstIndex(of: zone) ?? 0) % Palette.series.count],
        opacity: 0.3,
        words: zone,
        tooltip: "\(zone) from \(Wording.clock(move.time))"
      )
    }
  }
}
