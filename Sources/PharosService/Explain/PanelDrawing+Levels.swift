import PharosMonitoring
import PharosReports

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
