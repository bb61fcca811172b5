import PharosModel
import PharosMonitoring

/// One panel of the picture: a track, and the region that it is shown for.
struct TimelinePanel {
  /// The track whose adverts and levels are drawn.
  var track: TrackKey
  /// The row whose states are drawn.
  var row: RowKey
}

/// The layout of a panel.
///
/// - Units: pixels.
struct PanelLayout {
  static let margin = 24.0
  static let left = 118.0
  static let right = 1_150.0
  private static let usualHeight = 452.0
  private static let zoneHeight = 23.0

  /// The upper end of the panel.
  let top: Double
  /// Indicates whether there is a bar of zones.
  let hasZones: Bool

  /// The height of the panel.
  var height: Double { PanelLayout.usualHeight + (hasZones ? PanelLayout.zoneHeight : 0) }

  /// The baselines of the two lines of the title.
  var title: Double { top + 22 }
  var subtitle: Double { top + 40 }
  /// The rows of the labels of events: the uppermost lies highest.
  static let labelRows = 3
  static let labelHeight = 17.0
  /// The baseline of a row of labels, counted from below.
  func label(row: Int) -> Double { plotTop - 8 - Double(row) * PanelLayout.labelHeight }
  /// The plot of levels.
  var plotTop: Double { top + 108 }
  var plotBottom: Double { plotTop + 200 }
  /// The lane of silences: bars, and their labels below.
  var laneTop: Double { plotBottom + 8 }
  var laneBottom: Double { laneTop + 26 }
  /// The bars of states.
  func bar(_ index: Int) -> (top: Double, height: Double) {
    index == 0 ? (laneBottom + 6, 20) : (laneBottom + 34 + Double(index - 1) * 21, 15)
  }
  /// The axis of time.
  var axis: Double { bar(FixedRule.timeouts.count + (hasZones ? 1 : 0)).top + 23 }
}

/// Draws one panel.
struct PanelDrawing {
  let panel: TimelinePanel
  let findings: Findings
  let layout: PanelLayout
  let narrator: Narrator
  let story: RowStory
  let trace: TrackTrace
  let time: TimeAxis

  init(panel: TimelinePanel, findings: Findings, layout: PanelLayout) {
    self.panel = panel
    self.findings = findings
    self.layout = layout
    narrator = Narrator(findings)
    story = findings.log.rows[panel.row] ?? RowStory()
    trace = findings.traces[panel.track] ?? TrackTrace()
    let span = findings.span ?? Timestamp(seconds: 0)...Timestamp(seconds: 1)
    time = TimeAxis(
      from: span.lowerBound,
      to: span.upperBound,
      left: PanelLayout.left,
      right: PanelLayout.right
    )
  }

  /// The decisions that the panel shows: those of its row, and the outages of its observer.
  var decisions: [Decision] {
    findings.decisions.filter { decision in
      switch decision.kind {
      case .enter, .exit, .state, .unmonitored, .holdExceeded: decision.rows.contains(panel.row)
      case .online, .offline, .restarted, .quarantined, .zone, .refused, .clock: false
      }
    }
  }

  func draw(on picture: inout SVGDocument) {
    let name = "\(narrator.name(panel.track.beacon)) at \(narrator.name(panel.track.observer))"
    picture.group("\(name), region \(panel.row.region.region)") { picture in
      titles(&picture, name)
      grid(&picture)
      outages(&picture)
      levels(&picture)
      others(&picture)
      marks(&picture)
      lane(&picture)
      bars(&picture)
    }
  }

  private func titles(_ picture: inout SVGDocument, _ name: String) {
    let style = TextStyle(15, isBold: true)
    let title = "\(name) · region \(panel.row.region.region)"
    picture.text(style.fitted(title, to: 1_100), at: SVGPoint(PanelLayout.margin, layout.title), style)
    var facts: [String] = []
    if let last = findings.tracks[panel.track]?.last {
      if let interval = last.interval { facts.append("advertises every \(Wording.span(interval))") }
      if let share = last.receptionShare {
        var text = "\(Wording.percent(share)) received"
        if let run = last.lossRun, run > 0 {
          text += " in runs of loss of \(Wording.decimal(run, places: 1))"
        }
        facts.append(text)
      }
    }
    if let rules = story.rules { facts.append(PanelDrawing.words(rules)) }
    let small = TextStyle(12.5, color: Palette.faint)
    let text = small.fitted(facts.joined(separator: " · "), to: 1_220)
    picture.text(text, at: SVGPoint(PanelLayout.margin, layout.subtitle), small)
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
    let exit = weak.isEmpty ? nil : "\(weak) for \(Wording.span(rules.exitDwell)) or "
    let silence =
      switch rules.silence {
      case .adaptive: "an unlikely silence"
      case .fixed(let timeout): "\(Wording.span(timeout)) of silence"
      case .never: "no silence, however long"
      }
    return "enters on \(samples)\(level), leaves on \(exit ?? "")\(silence)"
  }

  private func grid(_ picture: inout SVGDocument) {
    let bottom = layout.axis - 8
    picture.rect(
      x: PanelLayout.left,
      y: layout.plotTop,
      width: PanelLayout.right - PanelLayout.left,
      height: layout.plotBottom - layout.plotTop,
      fill: Palette.paper,
      stroke: Stroke(Palette.frame)
    )
    let ticks = time.ticks()
    picture.ticks(at: ticks.map(\.x), top: layout.plotTop, bottom: bottom, Stroke(Palette.grid))
    for tick in ticks {
      picture.text(
        tick.label,
        at: SVGPoint(tick.x, layout.axis + 6),
        TextStyle(12, color: Palette.faint, anchor: .middle)
      )
    }
  }

  /// The adverts of the same region that other tracks heard: why a state may hold while this one is silent.
  private func others(_ picture: inout SVGDocument) {
    let times = findings.others[panel.row] ?? []
    let others = findings.traces.filter { $0.key != panel.track }.flatMap { key, trace -> [Timestamp] in
      guard let regions = findings.tracks[key]?.regions, regions[panel.row.region] != nil else { return [] }
      guard panel.row.subject == .beacon(key.beacon) || panel.row.subject == .observer(key.observer) else {
        return []
      }
      return trace.points.map(\.time)
    }
    let bottom = layout.plotBottom
    let stroke = Stroke(Palette.insideElsewhere, width: 1)
    picture.ticks(at: (times + others).sorted().map(time.x), top: bottom - 6, bottom: bottom - 1, stroke)
  }

  /// A small cross: something that should not have happened.
  static func cross(on picture: inout SVGDocument, at point: SVGPoint) {
    let stroke = Stroke(Palette.mistake, width: 2.4)
    let (x, y) = (point.x, point.y)
    picture.line(from: SVGPoint(x - 4, y - 4), to: SVGPoint(x + 4, y + 4), stroke)
    picture.line(from: SVGPoint(x - 4, y + 4), to: SVGPoint(x + 4, y - 4), stroke)
  }
}

/// The plot of levels: adverts as heard, what the filter makes of them, and the levels that decide.
extension PanelDrawing {
  /// The region as the track knows it.
  private var levelRules: (enter: Double?, exit: Double?) {
    let region = findings.tracks[panel.track]?.last?.regions.first {
      $0.region == panel.row.region.region && $0.application == panel.row.region.application
    }
    return (region?.enterLevel, region?.exitLevel)
  }

  private var axis: ValueAxis {
    let rules = levelRules
    let levels =
      trace.points.flatMap {
        [Double($0.raw), Double($0.level - $0.deviation), Double($0.level + $0.deviation)]
      }
      .filter(\.isFinite)
      + [rules.enter, rules.exit].compactMap { $0 }
    return ValueAxis(
      from: (levels.min() ?? -95) - 1,
      to: (levels.max() ?? -45) + 1,
      top: layout.plotTop,
      bottom: layout.plotBottom,
      step: 5
    )
  }

  func levels(_ picture: inout SVGDocument) {
    let axis = axis
    for tick in axis.ticks() {
      picture.line(
        from: SVGPoint(PanelLayout.left, tick.y),
        to: SVGPoint(PanelLayout.right, tick.y),
        Stroke(Palette.grid)
      )
      picture.text(
        tick.label,
        at: SVGPoint(PanelLayout.left - 8, tick.y + 4),
        TextStyle(12, color: Palette.faint, anchor: .end)
      )
    }
    let caption = TextStyle(12, color: Palette.faint)
    picture.text("level", at: SVGPoint(PanelLayout.margin, layout.plotTop + 12), caption)
    picture.text("dBm", at: SVGPoint(PanelLayout.margin, layout.plotTop + 27), caption)
    picture.clipped(
      x: PanelLayout.left,
      y: layout.plotTop,
      width: PanelLayout.right - PanelLayout.left,
      height: layout.plotBottom - layout.plotTop
    ) { picture in
      filtered(&picture, axis)
      let dots = trace.points.filter { $0.raw.isFinite }
        .map { SVGPoint(time.x(of: $0.time), axis.y(of: Double($0.raw))) }
      picture.dots(dots, radius: dots.count > 2_000 ? 1.1 : 1.6, fill: Palette.advert, opacity: 0.85)
      for run in runs {
        let line = run.map { SVGPoint(time.x(of: $0.time), axis.y(of: Double($0.level))) }
        picture.polyline(line, Stroke(Palette.level, width: 1.8))
      }
    }
    thresholds(&picture, axis)
  }

  private func filtered(_ picture: inout SVGDocument, _ axis: ValueAxis) {
    for run in runs {
      let upper = run.map { SVGPoint(time.x(of: $0.time), axis.y(of: Double($0.level + $0.deviation))) }
      let lower = run.map { SVGPoint(time.x(of: $0.time), axis.y(of: Double($0.level - $0.deviation))) }
      picture.band(upper: upper, lower: lower, fill: Palette.uncertainty, opacity: 0.35)
    }
  }

  /// The points in runs without long silences: a line across a silence would show levels that no observer reported.
  private var runs: [ArraySlice<TrackTrace.Point>] {
    let interval = findings.tracks[panel.track]?.last?.interval ?? .seconds(1)
    let longest = max(.seconds(5), interval * 6)
    let points = trace.points.filter { $0.level.isFinite }
    var runs: [ArraySlice<TrackTrace.Point>] = []
    var start = 0
    for index in points.indices.dropFirst() where points[index].time - points[index - 1].time > longest {
      runs.append(points[start..<index])
      start = index
    }
    if start < points.count { runs.append(points[start...]) }
    return runs
  }

  private func thresholds(_ picture: inout SVGDocument, _ axis: ValueAxis) {
    let rules = levelRules
    let lines = [(rules.enter, Palette.enter, "enter"), (rules.exit, Palette.exit, "exit")]
    var lowest = -Double.infinity
    for case (let level?, let color, let word) in lines {
      let y = axis.y(of: level)
      picture.line(
        from: SVGPoint(PanelLayout.left, y),
        to: SVGPoint(PanelLayout.right, y),
        Stroke(color, width: 1.4, dashes: [6, 3])
      )
      // Labels of levels that lie close together must not cover each other.
      let baseline = max(y + 4, lowest + 14)
      lowest = baseline
      picture.text(
        "\(word) \(Wording.threshold(level))",
        at: SVGPoint(PanelLayout.right + 7, baseline),
        TextStyle(12, color: color, isBold: true)
      )
    }
    if trace.points.isEmpty || !trace.points.contains(where: { $0.raw.isFinite }) {
      picture.text(
        "no levels were reported",
        at: SVGPoint((PanelLayout.left + PanelLayout.right) / 2, (layout.plotTop + layout.plotBottom) / 2),
        TextStyle(13, color: Palette.faint, anchor: .middle)
      )
    }
  }
}
