import PharosEvents
import PharosReports

/// The bars of states: those of Pharos, and those of fixed rules that received the same adverts.
extension PanelDrawing {
  func bars(_ picture: inout SVGDocument) {
    pharos(&picture)
    for (index, rule) in story.fixed.reversed().enumerated() { fixed(rule, at: index + 1, &picture) }
    if layout.hasZones { zones(at: story.fixed.count + 1, &picture) }
  }

  /// In which zone the beacon was, all observers compared.
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
