/// What charts are made of: headings, legends, the grids of axes, and bars of states.
extension SVGDocument {
  // MARK: Words

  /// Writes a heading, and a faint line below it.
  package mutating func heading(_ title: String, _ note: String, at point: SVGPoint) {
    text(title, at: point, TextStyle(15, isBold: true))
    text(note, at: SVGPoint(point.x, point.y + 19), TextStyle(12.5, color: Palette.faint))
  }

  /// What an entry of a legend shows before its words.
  package enum LegendMark: Sendable {
    /// Something that fills.
    case area(String, opacity: Double = 1)
    /// The outline of something empty.
    case frame(String)
    /// A line.
    case line(Stroke)
    /// A line with a band around it.
    case band(String, Stroke)
    /// Dots.
    case dots(String, radius: Double)
    /// Upright ticks.
    case ticks(String)
    /// A cross.
    case cross
  }

  /// Draws a legend from a point on, in as many lines as it takes up to a right end.
  package mutating func legend(
    _ entries: [(mark: LegendMark, words: String)],
    at point: SVGPoint,
    right: Double
  ) {
    let style = TextStyle(12, color: Palette.faint)
    var place = point
    for (mark, words) in entries {
      let width = 28 + style.width(of: words)
      if place.x + width > right { place = SVGPoint(point.x, place.y + 19) }
      draw(mark, at: place)
      text(words, at: SVGPoint(place.x + 28, place.y + 4), style)
      place.x += width + 16
    }
  }

  private mutating func draw(_ mark: LegendMark, at point: SVGPoint) {
    let (x, y) = (point.x, point.y)
    let box = SVGRect(x: x, y: y - 5, width: 22, height: 10)
    switch mark {
    case .area(let color, let opacity):
      let edge = color == Palette.outside ? Stroke(Palette.frame, width: 0.5) : nil
      rect(box, fill: color, stroke: edge, opacity: opacity)
    case .frame(let color): rect(box, fill: Palette.paper, stroke: Stroke(color, width: 1.4))
    case .line(let stroke): line(from: SVGPoint(x, y), to: SVGPoint(box.right, y), stroke)
    case .band(let color, let stroke):
      rect(box, fill: color, opacity: 0.35)
      line(from: SVGPoint(x, y), to: SVGPoint(box.right, y), stroke)
    case .dots(let color, let radius):
      dots(
        [SVGPoint(x + 4, y), SVGPoint(x + 11, y - 3), SVGPoint(x + 18, y + 2)],
        radius: radius,
        fill: color
      )
    case .ticks(let color):
      ticks(at: [x + 4, x + 8, x + 15, x + 18], top: y - 5, bottom: y + 5, Stroke(color))
    case .cross: cross(at: SVGPoint(x + 11, y))
    }
  }

  // MARK: Axes

  /// Draws the ticks of a time axis over a height, and their labels below it.
  package mutating func grid(_ axis: TimeAxis, top: Double, bottom: Double) {
    let ticks = axis.ticks()
    self.ticks(at: ticks.map(\.x), top: top, bottom: bottom, Stroke(Palette.grid))
    let style = TextStyle(12, color: Palette.faint, anchor: .middle)
    for tick in ticks { text(tick.label, at: SVGPoint(tick.x, bottom + 14), style) }
  }

  /// Draws the ticks of an axis of numbers across a time axis, and their labels on its left.
  package mutating func grid(_ axis: ValueAxis, across time: TimeAxis) {
    for tick in axis.ticks() {
      line(from: SVGPoint(time.left, tick.y), to: SVGPoint(time.right, tick.y), Stroke(Palette.grid))
      caption(tick.label, left: time.left, middle: tick.y)
    }
  }

  /// Writes words on the left of a chart.
  package mutating func caption(_ words: String, left: Double, middle: Double, isBold: Bool = false) {
    let color = isBold ? Palette.ink : Palette.faint
    text(words, at: SVGPoint(left - 8, middle + 4), TextStyle(12, color: color, isBold: isBold, anchor: .end))
  }

  /// Writes words on the right of a chart, in a colour that stands out if they tell of a mistake.
  package mutating func note(_ words: String, right: Double, middle: Double, isMistake: Bool = false) {
    let color = isMistake ? Palette.mistake : Palette.faint
    text(words, at: SVGPoint(right + 8, middle + 4), TextStyle(12, color: color, isBold: isMistake))
  }

  // MARK: Bars

  /// A part of a bar of states.
  package struct Segment: Equatable, Sendable {
    /// The left end.
    package var left: Double
    /// The right end.
    package var right: Double
    /// The colour that fills it.
    package var fill: String
    /// The opacity of the fill.
    package var opacity = 1.0
    /// The words in it, which are cut or left out where they do not fit.
    package var words = ""
    /// The colour of the words.
    package var ink = Palette.ink
    /// What a browser says of it.
    package var tooltip: String?
  }

  /// Draws a bar of states over a time axis; what no segment covers shows the colour of the ground.
  package mutating func bar(
    _ segments: [Segment],
    across axis: TimeAxis,
    top: Double,
    height: Double,
    ground: String = Palette.outside
  ) {
    let whole = SVGRect(x: axis.left, y: top, width: axis.right - axis.left, height: height)
    rect(whole, fill: ground, stroke: Stroke(Palette.frame, width: 0.6))
    for segment in segments {
      let width = max(segment.right - segment.left, 0.5)
      let box = SVGRect(x: segment.left, y: top, width: width, height: height)
      rect(box, fill: segment.fill, opacity: segment.opacity, tooltip: segment.tooltip)
      let style = TextStyle(12, color: segment.ink, anchor: .middle)
      let words = style.fitted(segment.words, to: width - 6)
      guard words.count > 4 || words == segment.words else { continue }
      text(words, at: SVGPoint((box.x + box.right) / 2, top + height / 2 + 4), style)
    }
  }
}
