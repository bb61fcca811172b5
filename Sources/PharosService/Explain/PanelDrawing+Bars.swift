import PharosModel

/// The bars of states: those of Pharos, and those of fixed rules that received the same adverts.
extension PanelDrawing {
  func bars(_ picture: inout SVGDocument) {
    pharos(&picture)
    for (index, rule) in story.fixed.reversed().enumerated() { fixed(rule, at: index + 1, &picture) }
    if layout.hasZones { zones(at: story.fixed.count + 1, &picture) }
  }

  /// Draws the zones that the beacon was in, all observers compared.
  private func zones(at index: Int, _ picture: inout SVGDocument) {
    let (top, height) = layout.bar(index)
    caption("zone", top + height / 2, isBold: true, &picture)
    picture.rect(
      x: time.left,
      y: top,
      width: time.right - time.left,
      height: height,
      fill: Palette.paper,
      stroke: Stroke(Palette.frame, width: 0.6)
    )
    let moves = findings.decisions.filter { $0.kind == .zone && $0.beacon == panel.track.beacon }
    let names = findings.site.zones.map(\.identifier)
    for (index, move) in moves.enumerated() {
      guard case .zone(let transition) = move.detail, let zone = transition.to else { continue }
      let left = time.x(of: move.time)
      let right = index + 1 < moves.count ? time.x(of: moves[index + 1].time) : time.right
      let color = Palette.series[(names.firstIndex(of: zone) ?? 0) % Palette.series.count]
      picture.rect(
        x: left,
        y: top,
        width: max(right - left, 0.5),
        height: height,
        fill: color,
        stroke: Stroke(Palette.frame, width: 0.6),
        opacity: 0.3,
        tooltip: "\(zone) from \(Wording.clock(move.time))"
      )
      let style = TextStyle(12, anchor: .middle)
      let name = style.fitted(zone, to: right - left - 6)
      guard name.count > 2 || name == zone else { continue }
      picture.text(name, at: SVGPoint((left + right) / 2, top + height / 2 + 4), style)
    }
  }

  private func pharos(_ picture: inout SVGDocument) {
    let (top, height) = layout.bar(0)
    caption("Pharos", top + height / 2, isBold: true, &picture)
    for (index, turn) in story.turns.enumerated() {
      let end = index + 1 < story.turns.count ? story.turns[index + 1].time : time.end
      segment(turn.state, from: turn.time, to: end, top, height, &picture)
    }
    if let first = story.turns.first {
      segment(.unknown, from: time.start, to: first.time, top, height, &picture)
    } else {
      segment(.unknown, from: time.start, to: time.end, top, height, &picture)
    }
    result(
      exits: story.visits.count { $0.left != nil },
      mistakes: story.returns,
      word: "back",
      top + height / 2,
      &picture
    )
  }

  private func segment(
    _ state: RegionState,
    from start: Timestamp,
    to end: Timestamp,
    _ top: Double,
    _ height: Double,
    _ picture: inout SVGDocument
  ) {
    let (left, right) = (time.x(of: start), time.x(of: end))
    let (fill, ink) =
      switch state {
      case .inside: (Palette.inside, Palette.paper)
      case .outside: (Palette.outside, Palette.faint)
      case .unmonitored: (Palette.outage, Palette.ink)
      case .unknown: (Palette.paper, Palette.faint)
      }
    let span = "\(Wording.clock(start)) to \(Wording.clock(end))"
    picture.rect(
      x: left,
      y: top,
      width: max(right - left, 0.5),
      height: height,
      fill: fill,
      stroke: Stroke(Palette.frame, width: 0.6),
      tooltip: "\(PanelDrawing.word(state)), \(span)"
    )
    let style = TextStyle(12, color: ink, anchor: .middle)
    let word = PanelDrawing.word(state)
    guard style.width(of: word) + 6 < right - left else { return }
    picture.text(word, at: SVGPoint((left + right) / 2, top + height / 2 + 4), style)
  }

  private static func word(_ state: RegionState) -> String {
    switch state {
    case .inside: "inside"
    case .outside: "outside"
    case .unmonitored: "unmonitored"
    case .unknown: "unknown"
    }
  }

  private func fixed(_ rule: FixedRule, at index: Int, _ picture: inout SVGDocument) {
    let (top, height) = layout.bar(index)
    caption("fixed \(Wording.span(rule.timeout))", top + height / 2, isBold: false, &picture)
    picture.rect(
      x: time.left,
      y: top,
      width: time.right - time.left,
      height: height,
      fill: Palette.outside,
      stroke: Stroke(Palette.frame, width: 0.6)
    )
    let mistakes = Set(rule.falseExits(story.isStay))
    for visit in rule.visits {
      let (left, right) = (time.x(of: visit.entered), time.x(of: visit.left ?? time.end))
      let end = visit.left.map { "to \(Wording.clock($0))" } ?? "on"
      picture.rect(
        x: left,
        y: top,
        width: max(right - left, 0.5),
        height: height,
        fill: Palette.insideElsewhere,
        tooltip: "inside from \(Wording.clock(visit.entered)) \(end)"
      )
    }
    for left in rule.visits.compactMap(\.left) {
      let x = time.x(of: left)
      if mistakes.contains(left) {
        PanelDrawing.cross(on: &picture, at: SVGPoint(x, top + height / 2))
      } else {
        let stroke = Stroke(Palette.exit, width: 2)
        picture.line(from: SVGPoint(x, top), to: SVGPoint(x, top + height), stroke)
      }
    }
    result(
      exits: rule.visits.count { $0.left != nil },
      mistakes: mistakes.count,
      word: "false",
      top + height / 2,
      &picture
    )
  }

  private func caption(_ text: String, _ middle: Double, isBold: Bool, _ picture: inout SVGDocument) {
    let style = TextStyle(12.5, isBold: isBold)
    picture.text(text, at: SVGPoint(PanelLayout.margin, middle + 4), style)
  }

  private func result(
    exits: Int,
    mistakes: Int,
    word: String,
    _ middle: Double,
    _ picture: inout SVGDocument
  ) {
    // A return does not prove an exit of Pharos false. The exits of a fixed rule are judged by the states of Pharos.
    let isMistaken = mistakes > 0 && word == "false"
    let color = isMistaken ? Palette.mistake : Palette.ink
    let text = Wording.count(exits, "exit") + (mistakes > 0 ? ", \(mistakes) \(word)" : "")
    picture.text(
      text,
      at: SVGPoint(PanelLayout.right + 7, middle + 4),
      TextStyle(12, color: color, isBold: isMistaken)
    )
  }
}

/// The drawing of events: outages as shades, decisions as lines with labels, silences as bars in a lane of their own.
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

  /// Returns the observer or beacon that settled a decision, if it was not that of this panel's track.
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
