import PharosModel

/// The picture of `pharos explain`: one panel for each track, one above the other, and a legend that holds for all.
struct TimelinePicture {
  /// The width, which fits a laptop's screen and a sheet of paper in landscape.
  ///
  /// - Units: pixels.
  static let width = 1_280.0
  private static let headHeight = 40.0
  private static let legendHeight = 50.0

  let findings: Findings
  let panels: [TimelinePanel]

  /// The picture.
  var document: SVGDocument {
    var layouts: [PanelLayout] = []
    var end = TimelinePicture.headHeight
    for panel in panels {
      layouts.append(PanelLayout(top: end, hasZones: findings.places(panel.track.beacon)))
      end += layouts.last?.height ?? 0
    }
    let height = end + TimelinePicture.legendHeight
    let narrator = Narrator(findings)
    let names = panels.map { "\(narrator.name($0.track.beacon)) at \(narrator.name($0.track.observer))" }
    var picture = SVGDocument(
      width: TimelinePicture.width,
      height: height,
      title: "When and why: \(Wording.list(names))",
      summary: panels.map { summary($0, narrator) }.joined(separator: " ")
    )
    head(&picture)
    for (panel, layout) in zip(panels, layouts) {
      PanelDrawing(panel: panel, findings: findings, layout: layout).draw(on: &picture)
    }
    legend(&picture, top: height - TimelinePicture.legendHeight)
    return picture
  }

  private func summary(_ panel: TimelinePanel, _ narrator: Narrator) -> String {
    let story = findings.log.rows[panel.row]
    let exits = story?.visits.count { $0.left != nil } ?? 0
    let fixed = (story?.fixed ?? []).map { rule in
      let mistakes = rule.falseExits { story?.isStay($0) ?? false }.count
      return
        "a fixed rule of \(Wording.span(rule.timeout)) \(rule.visits.count { $0.left != nil }), \(mistakes) of them false"
    }
    return
      "\(narrator.name(panel.track.beacon)) at \(narrator.name(panel.track.observer)), region \(panel.row.region.region): "
      + "Pharos told \(Wording.count(exits, "exit")); \(fixed.joined(separator: "; "))."
  }

  private func head(_ picture: inout SVGDocument) {
    guard let span = findings.span else { return }
    let when =
      "\(Wording.date(span.lowerBound)), \(Wording.clock(span.lowerBound).prefix(8)) to "
      + "\(Wording.clock(span.upperBound).prefix(8)) UTC"
    picture.text(
      "When Pharos said enter and exit, and why",
      at: SVGPoint(PanelLayout.margin, 26),
      TextStyle(18, isBold: true)
    )
    picture.text(
      when,
      at: SVGPoint(TimelinePicture.width - PanelLayout.margin, 26),
      TextStyle(13, color: Palette.faint, anchor: .end)
    )
  }

  // MARK: The legend

  private func legend(_ picture: inout SVGDocument, top: Double) {
    let style = TextStyle(12, color: Palette.faint)
    var x = PanelLayout.margin
    var y = top + 16
    for item in LegendItem.allCases {
      let width = 34 + style.width(of: item.words)
      if x + width > TimelinePicture.width - PanelLayout.margin {
        x = PanelLayout.margin
        y += 19
      }
      item.draw(on: &picture, at: SVGPoint(x, y))
      picture.text(item.words, at: SVGPoint(x + 28, y + 4), style)
      x += width + 14
    }
  }
}

/// An entry of the legend.
private enum LegendItem: CaseIterable {
  case advert, other, level, enterLevel, exitLevel, silence, closeCall, outage, falseExit

  var words: String {
    switch self {
    case .advert: "advert as heard"
    case .other: "advert that counts too: another observer or beacon"
    case .level: "filtered level ± its deviation"
    case .enterLevel: "enter level"
    case .exitLevel: "exit level"
    case .silence: "what an exit waited for"
    case .closeCall: "silence that ended in time"
    case .outage: "no sign of life from the observer"
    case .falseExit: "false exit: taken back while Pharos had it inside"
    }
  }

  func draw(on picture: inout SVGDocument, at point: SVGPoint) {
    let (x, y) = (point.x, point.y)
    switch self {
    case .advert:
      let dots = [SVGPoint(x + 4, y), SVGPoint(x + 11, y - 3), SVGPoint(x + 18, y + 2)]
      picture.dots(dots, radius: 1.6, fill: Palette.advert)
    case .other:
      let stroke = Stroke(Palette.insideElsewhere, width: 1)
      picture.ticks(at: [x + 4, x + 8, x + 15, x + 18], top: y - 3, bottom: y + 3, stroke)
    case .level:
      picture.rect(x: x, y: y - 5, width: 22, height: 10, fill: Palette.uncertainty, opacity: 0.35)
      picture.line(from: SVGPoint(x, y), to: SVGPoint(x + 22, y), Stroke(Palette.level, width: 2))
    case .enterLevel, .exitLevel:
      let color = self == .enterLevel ? Palette.enter : Palette.exit
      let stroke = Stroke(color, width: 1.4, dashes: [6, 3])
      picture.line(from: SVGPoint(x, y), to: SVGPoint(x + 22, y), stroke)
    case .silence:
      picture.rect(x: x, y: y - 4, width: 22, height: 8, fill: Palette.allowance)
    case .closeCall:
      picture.rect(
        x: x + 0.5,
        y: y - 3.5,
        width: 21,
        height: 7,
        fill: Palette.paper,
        stroke: Stroke(Palette.allowance, width: 1.4)
      )
    case .outage:
      picture.rect(x: x, y: y - 6, width: 22, height: 12, fill: Palette.outage, opacity: 0.35)
    case .falseExit:
      PanelDrawing.cross(on: &picture, at: SVGPoint(x + 11, y))
    }
  }
}
