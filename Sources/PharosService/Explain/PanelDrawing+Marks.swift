import PharosEvents
import PharosReports

/// What happened when: outages as shades, decisions as lines with labels, silences as bars in a lane of their own.
extension PanelDrawing {
  func outages(_ picture: inout SVGDocument) {
    for outage in findings.outages[panel.track.observer] ?? [] {
      let right = time.x(of: outage.until ?? time.end)
      let name = narrator.name(panel.track.observer)
      let shades = [(outage.silentFrom, 0.16, "silent"), (outage.from, 0.2, "known to be down")]
      for (start, opacity, word) in shades {
        picture.rect(
          x: time.x(of: start),
          y: layout.plotTop,
          width: max(1, right - time.x(of: start)),
          height: layout.plotBottom - layout.plotTop,
          fill: Palette.outage,
          opacity: opacity,
          tooltip: "\(name) \(word) from \(Wording.clock(start))"
        )
      }
      // The words stand on the wider of the two shades, so that the line between them crosses nothing.
      let noticed = time.x(of: outage.from)
      let isEarly = noticed - time.x(of: outage.silentFrom) > right - noticed
      let (left, end) = isEarly ? (time.x(of: outage.silentFrom), noticed) : (noticed, right)
      let style = TextStyle(12, color: Palette.ink, anchor: .middle)
      let words = ["no sign of life from \(name)", "no sign of life", "silent"]
      guard let text = words.first(where: { style.width(of: $0) < end - left - 6 }) else { continue }
      picture.text(text, at: SVGPoint((left + end) / 2, layout.plotTop + 16), style)
    }
  }

  // MARK: Decisions

  func marks(_ picture: inout SVGDocument) {
    var rows = LabelRows(
      rows: PanelLayout.labelRows,
      left: PanelLayout.left - 60,
      right: PanelLayout.right + 90
    )
    let bottom = layout.bar(0).top + layout.bar(0).height
    var labels: [(text: String, at: SVGPoint, style: TextStyle)] = []
    for decision in decisions {
      let x = time.x(of: decision.time)
      let color = PanelDrawing.color(of: decision.kind)
      let style = TextStyle(12, color: color, isBold: decision.kind == .exit || decision.kind == .enter)
      let label = label(decision)
      let place = rows.place(at: x, width: style.width(of: label))
      let top = place.map { layout.label(row: $0.row) + 3 } ?? layout.plotTop
      let isExit = decision.kind == .exit
      picture.line(
        from: SVGPoint(x, top),
        to: SVGPoint(x, bottom),
        Stroke(color, width: isExit ? 1.8 : 1.2, dashes: isExit ? [] : [2, 2])
      )
      guard let place else { continue }
      labels.append((label, SVGPoint(place.left, layout.label(row: place.row)), style))
    }
    // Above the lines: those of labels in upper rows pass behind the ones in lower rows.
    for label in labels {
      picture.rect(
        x: label.at.x,
        y: label.at.y - 11,
        width: label.style.width(of: label.text),
        height: 14,
        fill: Palette.paper
      )
      picture.text(label.text, at: label.at, label.style)
    }
    guard rows.omitted > 0 else { return }
    picture.text(
      "and \(rows.omitted) more",
      at: SVGPoint(TimelinePicture.width - PanelLayout.margin, layout.subtitle + 18),
      TextStyle(12, color: Palette.faint, anchor: .end)
    )
  }

  private func label(_ decision: Decision) -> String {
    let clock = Wording.clock(decision.time).prefix(10)
    guard decision.kind == .state, let transition = decision.transition else {
      return "\(decision.kind.rawValue) \(clock)\(whose(decision).map { " by \($0)" } ?? "")"
    }
    return transition.from == .unmonitored
      ? "\(transition.to.name) again \(clock)" : "\(transition.to.name) \(clock)"
  }

  /// Whose hearing settled a decision, if it was not that of this panel's track.
  private func whose(_ decision: Decision) -> String? {
    guard let track = decision.track, track != panel.track else { return nil }
    return track.beacon == panel.track.beacon ? narrator.name(track.observer) : narrator.name(track.beacon)
  }

  private static func color(of kind: Decision.Kind) -> String {
    switch kind {
    case .enter, .online: Palette.enter
    case .exit: Palette.exit
    case .state, .unmonitored, .holdExceeded, .zone, .offline, .restarted, .quarantined, .refused, .clock:
      Palette.faint
    }
  }

  // MARK: Silences

  /// A silence or a dip that an exit waited for, or one that ended in time.
  private struct Wait {
    var from: Timestamp
    var until: Timestamp
    var words: String
    var isExit: Bool
  }

  func lane(_ picture: inout SVGDocument) {
    let caption = TextStyle(12, color: Palette.faint)
    picture.text("waiting", at: SVGPoint(PanelLayout.margin, layout.laneTop + 9), caption)
    var rows = LabelRows(rows: 1, left: PanelLayout.left, right: PanelLayout.right + 90)
    for wait in waits {
      let (left, right) = (time.x(of: wait.from), time.x(of: wait.until))
      picture.rect(
        x: left,
        y: layout.laneTop + (wait.isExit ? 1 : 2),
        width: max(1.5, right - left),
        height: wait.isExit ? 9 : 7,
        fill: wait.isExit ? Palette.allowance : Palette.paper,
        stroke: wait.isExit ? nil : Stroke(Palette.allowance, width: 1.4),
        tooltip: "\(wait.words), from \(Wording.clock(wait.from))"
      )
      let style = TextStyle(11.5, color: wait.isExit ? Palette.ink : Palette.faint)
      let width = style.width(of: wait.words)
      guard let place = rows.place(at: (left + right) / 2, width: width) else { continue }
      // The lines of decisions pass behind the words.
      picture.rect(x: place.left - 2, y: layout.laneTop + 12, width: width, height: 13, fill: Palette.paper)
      picture.text(wait.words, at: SVGPoint(place.left, layout.laneTop + 22), style)
    }
  }

  /// The waits of exits first: they get their labels before close calls do.
  private var waits: [Wait] {
    var waits = decisions.compactMap { decision -> Wait? in
      guard decision.kind == .exit, let evidence = decision.transition?.evidence else { return nil }
      let who = whose(decision).map { "\($0): " } ?? ""
      if evidence.rule == .level, let dwell = evidence.window {
        return Wait(
          from: decision.time - dwell,
          until: decision.time,
          words: "\(who)weak for \(Wording.span(dwell))",
          isExit: true
        )
      }
      guard let gap = evidence.gap else { return nil }
      let allowed = evidence.allowedGap.map { " of \(Wording.span($0)) allowed" } ?? ""
      let isSame = evidence.allowedGap.map { abs(($0 - gap).seconds) < 0.05 } ?? true
      return Wait(
        from: decision.time - gap,
        until: decision.time,
        words: isSame
          ? "\(who)silent for the \(Wording.span(gap)) allowed"
          : "\(who)silent for \(Wording.span(gap))\(allowed)",
        isExit: true
      )
    }
    let calls = findings.tracks[panel.track]?.regions[panel.row.region]?.closeCalls ?? []
    waits += calls.map { call in
      Wait(
        from: call.from,
        until: call.until,
        words: "\(Wording.span(call.gap)) of \(Wording.span(call.allowed))",
        isExit: false
      )
    }
    return waits
  }
}
