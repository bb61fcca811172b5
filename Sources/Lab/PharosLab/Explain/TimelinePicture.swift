import PharosDocuments
import PharosModel
import PharosNarration
import PharosPresence

/// One panel of the picture: a track, and the region that it is shown for.
struct TimelinePanel {
  /// The track whose adverts and levels are drawn.
  var track: TrackKey
  /// The row whose states are drawn.
  var row: RowKey
}

/// The picture of `pharos explain`: one panel for each track, one above the other, and a legend that holds for all.
struct TimelinePicture {
  /// The width, which fits a laptop's screen and a sheet of paper in landscape.
  ///
  /// - Units: pixels.
  static let width = 1_280.0
  static let margin = 24.0
  private static let headHeight = 40.0
  private static let legendHeight = 50.0

  let findings: Findings
  let panels: [TimelinePanel]

  /// The picture.
  var document: SVGDocument {
    var drawings: [PanelDrawing] = []
    var end = TimelinePicture.headHeight
    for panel in panels {
      let drawing = PanelDrawing(panel: panel, findings: findings, top: end)
      end += drawing.height
      drawings.append(drawing)
    }
    var picture = SVGDocument(
      width: TimelinePicture.width,
      height: end + TimelinePicture.legendHeight,
      title: "When and why: \(Wording.list(drawings.map(\.name)))",
      summary: drawings.map(\.summary).joined(separator: " ")
    )
    head(&picture)
    for drawing in drawings { drawing.draw(on: &picture) }
    let right = TimelinePicture.width - TimelinePicture.margin
    picture.legend(TimelinePicture.legend, at: SVGPoint(TimelinePicture.margin, end + 16), right: right)
    return picture
  }

  private func head(_ picture: inout SVGDocument) {
    guard let span = findings.span else { return }
    let when =
      "\(Wording.date(span.lowerBound)), \(Wording.clock(span.lowerBound).prefix(8)) to "
      + "\(Wording.clock(span.upperBound).prefix(8)) UTC"
    let title = TextStyle(18, isBold: true)
    picture.text("When Pharos said enter and exit, and why", at: SVGPoint(TimelinePicture.margin, 26), title)
    let right = SVGPoint(TimelinePicture.width - TimelinePicture.margin, 26)
    picture.text(when, at: right, TextStyle(13, color: Palette.faint, anchor: .end))
  }

  private static let legend: [(mark: SVGDocument.LegendMark, words: String)] = [
    (.dots(Palette.advert, radius: 1.6), "advert as heard"),
    (.ticks(Palette.insideElsewhere), "advert that counts too: another observer or beacon"),
    (.band(Palette.uncertainty, Stroke(Palette.level, width: 2)), "filtered level ± its deviation"),
    (.line(Stroke(Palette.enter, width: 1.4, dashes: [6, 3])), "enter level"),
    (.line(Stroke(Palette.exit, width: 1.4, dashes: [6, 3])), "exit level"),
    (.area(Palette.allowance), "what an exit waited for"),
    (.frame(Palette.allowance), "silence that ended in time"),
    (.area(Palette.outage, opacity: 0.35), "no sign of life from the observer"),
    (.cross, "false exit: taken back while Pharos had it inside"),
  ]
}
