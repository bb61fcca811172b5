import PharosModel

/// A picture of a comparison: a lane for each of the rows that flap most, with the adverts and, for each rule, the
/// times inside.
///
/// Flapping is visible at arm's length: a rule that flaps is a bar with stripes, one that does not is a plain bar.
struct ComparisonPicture {
  private static let width = 1_280.0
  private static let (left, right) = (214.0, 1_106.0)
  private static let margin = 24.0
  private static let headTop = 34.0
  private static let lineHeight = 19.0
  private static let legendHeight = 30.0
  private static let barPitch = 14.0
  private static let tickHeight = 12.0
  private static let laneTitle = 22.0
  private static let laneGap = 20.0
  private static let axisHeight = 44.0
  /// An exit that was taken back late: the colour of a mistake, paler, since it may have been none.
  private static let absence = "#dfa6c3"

  private let report: ComparisonReport
  private let axis: TimeAxis
  private let headline: [String]
  private let names: EventTable

  /// Prepares a picture.
  init(_ report: ComparisonReport) {
    self.report = report
    names = EventTable(site: report.compared.site)
    let start = report.survey.first ?? Timestamp(nanoseconds: 0)
    axis = TimeAxis(
      from: start,
      to: report.survey.last ?? start,
      left: ComparisonPicture.left,
      right: ComparisonPicture.right
    )
    headline = ComparisonPicture.wrapped(
      report.headline,
      TextStyle(15, isBold: true),
      to: ComparisonPicture.width - 2 * ComparisonPicture.margin
    )
  }

  private var lanesTop: Double {
    ComparisonPicture.headTop + Double(headline.count + 1) * ComparisonPicture.lineHeight
      + ComparisonPicture.legendHeight + 20
  }

  private var laneHeight: Double {
    ComparisonPicture.laneTitle + ComparisonPicture.tickHeight + 5
      + Double(report.presence.count) * ComparisonPicture.barPitch + ComparisonPicture.laneGap
  }

  private var lanesBottom: Double { lanesTop + Double(max(1, report.worst.count)) * laneHeight }

  /// The picture as SVG text.
  var svg: String {
    var picture = SVGDocument(
      width: ComparisonPicture.width,
      height: lanesBottom + ComparisonPicture.axisHeight,
      title: "Who was inside, by whose rule",
      summary: "\(report.headline) \(report.basis)."
    )
    drawHead(on: &picture)
    guard !report.worst.isEmpty else {
      let place = SVGPoint(ComparisonPicture.margin, lanesTop + 20)
      picture.text("No rule said that anybody came or went.", at: place, TextStyle(13))
      return picture.text
    }
    drawAxis(on: &picture)
    for (index, row) in report.worst.enumerated() {
      draw(row, top: lanesTop + Double(index) * laneHeight, on: &picture)
    }
    return picture.text
  }

  // MARK: Head and axis

  private func drawHead(on picture: inout SVGDocument) {
    var y = ComparisonPicture.headTop
    for line in headline {
      picture.text(line, at: SVGPoint(ComparisonPicture.margin, y), TextStyle(15, isBold: true))
      y += ComparisonPicture.lineHeight
    }
    let basis = TextStyle(12, color: Palette.faint)
    let room = ComparisonPicture.width - 2 * ComparisonPicture.margin
    picture.text(basis.fitted(report.basis, to: room), at: SVGPoint(ComparisonPicture.margin, y), basis)
    drawLegend(at: y + ComparisonPicture.legendHeight, on: &picture)
  }

  private func drawLegend(at y: Double, on picture: inout SVGDocument) {
    var entries = [
      (Palette.inside, "inside, says Pharos"), (Palette.insideElsewhere, "inside, says another rule"),
      (Palette.outside, "outside"), (Palette.mistake, "an exit taken back within a minute"),
      (ComparisonPicture.absence, "within ten"),
    ]
    if report.presence[0].unmonitored > 0 { entries.append((Palette.outage, "unmonitored")) }
    let style = TextStyle(12)
    var x = ComparisonPicture.margin
    for (color, label) in entries {
      let frame = color == Palette.outside ? Stroke(Palette.frame, width: 0.5) : nil
      picture.rect(x: x, y: y - 10, width: 22, height: 11, fill: color, stroke: frame)
      picture.text(label, at: SVGPoint(x + 28, y), style)
      x += 28 + style.width(of: label) + 14
    }
    picture.ticks(at: [x, x + 4, x + 8, x + 12], top: y - 10, bottom: y + 1, Stroke(Palette.advert))
    picture.text("adverts", at: SVGPoint(x + 20, y), style)
  }

  private func drawAxis(on picture: inout SVGDocument) {
    let ticks = axis.ticks()
    picture.ticks(
      at: ticks.map(\.x),
      top: lanesTop - 4,
      bottom: lanesBottom,
      Stroke(Palette.grid)
    )
    let style = TextStyle(11, color: Palette.faint, anchor: .middle)
    for tick in ticks { picture.text(tick.label, at: SVGPoint(tick.x, lanesBottom + 16), style) }
    let unit = TextStyle(11, color: Palette.faint)
    picture.text("UTC", at: SVGPoint(ComparisonPicture.right + 14, lanesBottom + 16), unit)
  }

  // MARK: Lanes

  private func draw(_ row: ComparedRow, top: Double, on picture: inout SVGDocument) {
    let name = names.name(of: row.subject)
    let title = report.compared.hasOwnRegions ? "\(name) in \(row.region)" : name
    picture.group("\(title): \(row.adverts) adverts") { picture in
      let bold = TextStyle(13, isBold: true)
      let shown = bold.fitted(title, to: 700)
      picture.text(shown, at: SVGPoint(ComparisonPicture.margin, top + 13), bold)
      let beside = ComparisonPicture.margin + bold.width(of: shown) + 12
      picture.text(
        CheckRunner.count(row.adverts, "advert"),
        at: SVGPoint(beside, top + 13),
        TextStyle(12, color: Palette.faint)
      )
      let ticksTop = top + ComparisonPicture.laneTitle
      let pitch = (axis.right - axis.left) / Double(ColumnSet.count)
      picture.ticks(
        at: row.columns.marked.map { axis.left + (Double($0) + 0.5) * pitch },
        top: ticksTop,
        bottom: ticksTop + ComparisonPicture.tickHeight,
        Stroke(Palette.advert, width: 0.8)
      )
      for index in row.standings.indices {
        let y = ticksTop + ComparisonPicture.tickHeight + 5 + Double(index) * ComparisonPicture.barPitch
        drawBar(row.standings[index], rule: index, y: y, on: &picture)
      }
    }
  }

  private func drawBar(
    _ standing: ComparedRow.Standing,
    rule: Int,
    y: Double,
    on picture: inout SVGDocument
  ) {
    let isOurs = report.presence[rule].name == Comparison.pharos
    let height = isOurs ? 11.0 : 9.0
    let baseline = y + 9
    let label = TextStyle(11, color: isOurs ? Palette.ink : Palette.faint, isBold: isOurs, anchor: .end)
    picture.text(report.presence[rule].name, at: SVGPoint(ComparisonPicture.left - 10, baseline), label)
    picture.rect(x: axis.left, y: y, width: axis.right - axis.left, height: height, fill: Palette.outside)
    for run in BarColumns(standing, axis: axis, end: axis.end).runs {
      let color =
        switch run.mark {
        case .inside: isOurs ? Palette.inside : Palette.insideElsewhere
        case .mistake: Palette.mistake
        case .absence: ComparisonPicture.absence
        case .unmonitored: Palette.outage
        case .unknown: Palette.unknown
        }
      picture.rect(x: run.left, y: y, width: run.right - run.left, height: height, fill: color)
    }
    let isFlapping = standing.returns > 0
    let exits = CheckRunner.count(standing.exits, "exit")
    picture.text(
      isFlapping ? "\(exits), \(standing.returns) back" : exits,
      at: SVGPoint(ComparisonPicture.right + 10, baseline),
      TextStyle(11, color: isFlapping ? Palette.mistake : Palette.faint, isBold: isFlapping)
    )
  }

  private static func wrapped(_ text: String, _ style: TextStyle, to width: Double) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in ComparisonReport.words(of: text) {
      let longer = line.isEmpty ? word : "\(line) \(word)"
      if !line.isEmpty, style.width(of: longer) > width {
        lines.append(line)
        line = word
      } else {
        line = longer
      }
    }
    return lines + [line]
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
    }
  }
}
