import PharosDocuments
import PharosModel
import PharosNarration
import PharosTerminal

/// A picture of a comparison: a lane for each of the rows that flap most, with the adverts and, for each rule, the
/// times inside.
///
/// Flapping is visible at arm's length: a rule that flaps is a bar with stripes, one that does not is a plain bar.
struct ComparisonPicture {
  private static let width = 1_280.0
  private static let margin = 24.0
  private static let headTop = 34.0
  private static let lineHeight = 19.0
  private static let barPitch = 14.0
  private static let tickHeight = 12.0
  private static let laneTitle = 22.0
  private static let laneGap = 20.0
  /// An exit that was taken back late: the colour of a mistake, paler, since it may have been none.
  private static let absence = "#dfa6c3"

  private let report: ComparisonReport
  private let axis: TimeAxis
  private let headline: [String]
  private let names: SiteNames

  /// Prepares a picture.
  init(_ report: ComparisonReport) {
    self.report = report
    names = SiteNames(report.compared.site)
    let start = report.survey.first ?? Timestamp(nanoseconds: 0)
    axis = TimeAxis(from: start, to: report.survey.last ?? start, left: 214, right: 1_106)
    let style = TextStyle(15, isBold: true)
    let room = ComparisonPicture.width - 2 * ComparisonPicture.margin
    headline = Paragraph.lines(ComparisonReport.glued(report.headline)) { style.width(of: $0) <= room }
  }

  private var basisTop: Double {
    ComparisonPicture.headTop + Double(headline.count) * ComparisonPicture.lineHeight
  }
  private var lanesTop: Double { basisTop + 69 }

  private var laneHeight: Double {
    ComparisonPicture.laneTitle + ComparisonPicture.tickHeight + 5
      + Double(report.presence.count) * ComparisonPicture.barPitch + ComparisonPicture.laneGap
  }

  private var lanesBottom: Double { lanesTop + Double(max(1, report.worst.count)) * laneHeight }

  /// The picture as SVG text.
  var svg: String {
    var picture = SVGDocument(
      width: ComparisonPicture.width,
      height: lanesBottom + 44,
      title: "Who was inside, by whose rule",
      summary: "\(report.headline) \(report.basis)."
    )
    drawHead(on: &picture)
    guard !report.worst.isEmpty else {
      let place = SVGPoint(ComparisonPicture.margin, lanesTop + 20)
      picture.text("No rule reported an entry or an exit.", at: place, TextStyle(13))
      return picture.text
    }
    picture.grid(axis, top: lanesTop - 4, bottom: lanesBottom)
    picture.note("UTC", right: axis.right, middle: lanesBottom + 10)
    for (index, row) in report.worst.enumerated() {
      draw(row, top: lanesTop + Double(index) * laneHeight, on: &picture)
    }
    return picture.text
  }

  private func drawHead(on picture: inout SVGDocument) {
    for (index, line) in headline.enumerated() {
      let y = ComparisonPicture.headTop + Double(index) * ComparisonPicture.lineHeight
      picture.text(line, at: SVGPoint(ComparisonPicture.margin, y), TextStyle(15, isBold: true))
    }
    let basis = TextStyle(12, color: Palette.faint)
    let right = ComparisonPicture.width - ComparisonPicture.margin
    let text = basis.fitted(report.basis, to: right - ComparisonPicture.margin)
    picture.text(text, at: SVGPoint(ComparisonPicture.margin, basisTop), basis)
    var legend: [(mark: SVGDocument.LegendMark, words: String)] = [
      (.area(Palette.inside), "inside, says Pharos"),
      (.area(Palette.insideElsewhere), "inside, says another rule"),
      (.area(Palette.outside), "outside"), (.area(Palette.mistake), "an exit taken back within a minute"),
      (.area(ComparisonPicture.absence), "within ten"), (.ticks(Palette.advert), "adverts"),
    ]
    if report.presence[0].unmonitored > 0 { legend.append((.area(Palette.outage), "unmonitored")) }
    picture.legend(legend, at: SVGPoint(ComparisonPicture.margin, basisTop + 25), right: right)
  }

  private func draw(_ row: ComparedRow, top: Double, on picture: inout SVGDocument) {
    let name = names.name(of: row.key.subject)
    let title = report.compared.hasOwnRegions ? "\(name) in \(row.key.region.region)" : name
    picture.group("\(title): \(row.adverts) adverts") { picture in
      let bold = TextStyle(13, isBold: true)
      let shown = bold.fitted(title, to: 700)
      picture.text(shown, at: SVGPoint(ComparisonPicture.margin, top + 13), bold)
      picture.note(
        Wording.count(row.adverts, "advert"),
        right: ComparisonPicture.margin + bold.width(of: shown),
        middle: top + 9
      )
      let ticksTop = top + ComparisonPicture.laneTitle
      let pitch = (axis.right - axis.left) / Double(ColumnSet.count)
      picture.ticks(
        at: row.columns.marked.map { axis.left + (Double($0) + 0.5) * pitch },
        top: ticksTop,
        bottom: ticksTop + ComparisonPicture.tickHeight,
        Stroke(Palette.advert, width: 0.8)
      )
      for (index, standing) in row.standings.enumerated() {
        let y = ticksTop + ComparisonPicture.tickHeight + 5 + Double(index) * ComparisonPicture.barPitch
        drawBar(standing, of: report.presence[index].name, y: y, on: &picture)
      }
    }
  }

  private func drawBar(
    _ standing: ComparedRow.Standing,
    of rule: String,
    y: Double,
    on picture: inout SVGDocument
  ) {
    let isOurs = rule == Comparison.pharos
    let segments = BarColumns(standing, axis: axis, end: axis.end).runs.map { run in
      let color =
        switch run.mark {
        case .inside: isOurs ? Palette.inside : Palette.insideElsewhere
        case .mistake: Palette.mistake
        case .absence: ComparisonPicture.absence
        case .unmonitored: Palette.outage
        case .unknown: Palette.unknown
        }
      return SVGDocument.Segment(left: run.left, right: run.right, fill: color)
    }
    picture.caption(rule, left: axis.left, middle: y + 5, isBold: isOurs)
    picture.bar(segments, across: axis, top: y, height: isOurs ? 11 : 9)
    let exits = Wording.count(standing.exits, "exit")
    let words = standing.returns > 0 ? "\(exits), \(standing.returns) back" : exits
    picture.note(words, right: axis.right, middle: y + 5, isMistake: standing.returns > 0)
  }
}

/// The states that a rule reported over time, in columns of half a pixel, so that thousands of changes make one bar.
///
/// If several marks share a column, the one with the largest value is drawn. A mistake or an absence has a minimum
/// width, so that it stays visible.
struct BarColumns {
  /// The mark of a column; where two meet, the larger value is drawn, and a column outside has no mark.
  enum Mark: UInt8 {
    /// Inside.
    case inside = 1
    /// Nothing is kept of this time.
    case unknown
    /// Unmonitored: no observer can tell whether the subject is inside.
    case unmonitored
    /// Outside, and back within ten minutes.
    case absence
    /// Outside, and back within a minute.
    case mistake

    fileprivate var isReturn: Bool { self == .mistake || self == .absence }
  }

  /// Columns in a row with the same mark.
  struct Run: Equatable {
    /// The left end, in pixels.
    var left: Double
    /// The right end, in pixels.
    var right: Double
    /// The mark of the columns.
    var mark: Mark
  }

  /// The runs, from left to right.
  private(set) var runs: [Run] = []

  /// The minimum width of a mistake or an absence, in columns.
  private static let narrowest = 4

  /// Lays out what a rule said up to an end.
  init(_ standing: ComparedRow.Standing, axis: TimeAxis, end: Timestamp) {
    let count = max(1, Int((axis.right - axis.left) / Decimation.resolution))
    var columns = [UInt8](repeating: 0, count: count)
    for (index, change) in standing.changes.enumerated() {
      let isLast = index + 1 == standing.changes.count
      let until = isLast ? end : standing.changes[index + 1].time
      guard let mark = BarColumns.mark(of: change, isCut: isLast && standing.isCut) else { continue }
      let first = min(count - 1, Int((axis.x(of: change.time) - axis.left) / Decimation.resolution))
      var last = min(count - 1, Int((axis.x(of: until) - axis.left) / Decimation.resolution))
      if mark.isReturn { last = min(count - 1, max(last, first + BarColumns.narrowest - 1)) }
      for column in first...max(first, last) { columns[column] = max(columns[column], mark.rawValue) }
    }
    var start = 0
    while start < count {
      var stop = start
      while stop < count, columns[stop] == columns[start] { stop += 1 }
      if let mark = Mark(rawValue: columns[start]) {
        runs.append(
          Run(
            left: axis.left + Double(start) * Decimation.resolution,
            right: axis.left + Double(stop) * Decimation.resolution,
            mark: mark
          )
        )
      }
      start = stop
    }
  }

  private static func mark(of change: ComparedRow.Change, isCut: Bool) -> Mark? {
    guard !isCut else { return .unknown }
    switch change.state {
    case .inside: return .inside
    case .outside:
      guard let after = change.cameBackAfter else { return nil }
      return after <= PresenceTally.minute ? .mistake : .absence
    case .unmonitored: return .unmonitored
    case .unknown: return nil
    }
  }
}
