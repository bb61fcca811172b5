import PharosDocuments
import PharosModel

/// A picture as SVG text, element by element.
///
/// Drawing is appending: what comes later lies on top. Whatever text comes from outside is escaped here and nowhere
/// else. The same calls give the same bytes: coordinates are written with at most two decimals, and nothing depends on a
/// locale or a hash.
///
/// - Units: lengths are CSS pixels; y grows downwards.
/// - Source: Scalable Vector Graphics (SVG) 1.1, second edition, W3C 2011: the subset that every browser, Inkscape
///   and librsvg draw alike.
package struct SVGDocument: Sendable {
  /// The width of the picture.
  package let width: Double
  /// The height of the picture.
  package let height: Double

  private var body = ""
  private var depth = 1
  private var clips = 0
  private let title: String
  private let summary: String

  /// Starts a white picture.
  ///
  /// - Parameters:
  ///   - width: The width of the picture.
  ///   - height: The height of the picture.
  ///   - title: The title, which a screen reader reads first and a browser's tab shows.
  ///   - summary: A description of the picture in a sentence or two, for those who cannot see it.
  package init(width: Double, height: Double, title: String, summary: String) {
    self.width = width
    self.height = height
    self.title = title
    self.summary = summary
    rect(SVGRect(x: 0, y: 0, width: width, height: height), fill: Palette.paper)
  }

  /// The picture as it is written to a file.
  package var text: String {
    let (width, height) = (SVGDocument.number(width), SVGDocument.number(height))
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
      viewBox="0 0 \(width) \(height)" role="img" aria-labelledby="title summary" \
      font-family="\(TextStyle.family)">
        <title id="title">\(EscapedText.markup(title))</title>
        <desc id="summary">\(EscapedText.markup(summary))</desc>
      \(body)</svg>

      """
  }

  /// The attributes of an element; values are escaped as they are written.
  private typealias Attributes = KeyValuePairs<StaticString, String>

  /// Draws a group: its label is what a screen reader and a browser's tooltip say of all that is in it.
  package mutating func group(_ label: String, _ draw: (inout SVGDocument) -> Void) {
    contain("g", [:], label: label, draw)
  }

  /// Draws a group of which nothing is seen outside a rectangle.
  package mutating func clipped(to rect: SVGRect, _ draw: (inout SVGDocument) -> Void) {
    clips += 1
    let name = "clip\(clips)"
    contain("clipPath", ["id": name]) { $0.rect(rect, fill: Palette.ink) }
    contain("g", ["clip-path": "url(#\(name))"], draw)
  }

  private mutating func contain(
    _ name: StaticString,
    _ attributes: Attributes,
    label: String? = nil,
    _ draw: (inout SVGDocument) -> Void
  ) {
    open(name, attributes)
    body += ">\n"
    depth += 1
    if let label { element("title", [:], text: label) }
    draw(&self)
    depth -= 1
    body += "\(String(repeating: "  ", count: depth))</\(name)>\n"
  }

  private mutating func element(_ name: StaticString, _ attributes: Attributes, text: String) {
    open(name, attributes)
    body += ">\(EscapedText.markup(text))</\(name)>\n"
  }

  /// Draws a shape: its geometry, then its fill and its stroke.
  private mutating func shape(
    _ name: StaticString,
    _ geometry: Attributes,
    fill: String? = nil,
    stroke: Stroke? = nil,
    opacity: Double = 1,
    tooltip: String? = nil
  ) {
    open(name, geometry)
    write(["fill": fill ?? "none"])
    if opacity < 1 { write([fill == nil ? "stroke-opacity" : "fill-opacity": SVGDocument.number(opacity)]) }
    if let stroke {
      write(["stroke": stroke.color, "stroke-width": SVGDocument.number(stroke.width)])
      if fill == nil {
        write(["stroke-linejoin": "round", "stroke-linecap": stroke.dashes.isEmpty ? "round" : "butt"])
      }
      let dashes = stroke.dashes.map(SVGDocument.number).joined(separator: " ")
      if !dashes.isEmpty { write(["stroke-dasharray": dashes]) }
    }
    body += tooltip.map { "><title>\(EscapedText.markup($0))</title></\(name)>\n" } ?? "/>\n"
  }

  private mutating func open(_ name: StaticString, _ attributes: Attributes) {
    body += "\(String(repeating: "  ", count: depth))<\(name)"
    write(attributes)
  }

  private mutating func write(_ attributes: Attributes) {
    for (name, value) in attributes { body += " \(name)=\"\(EscapedText.markup(value))\"" }
  }

  /// A coordinate with at most two decimals and no trailing zero; what is no number is drawn at 0.
  package static func number(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "0" }
    let hundredths = Int64((value * 100).rounded())
    let (whole, rest) = (hundredths.magnitude / 100, hundredths.magnitude % 100)
    let sign = hundredths < 0 ? "-" : ""
    guard rest != 0 else { return "\(sign)\(whole)" }
    return rest % 10 == 0 ? "\(sign)\(whole).\(rest / 10)" : "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }
}

/// A point of a picture.
package struct SVGPoint: Hashable, Sendable {
  /// From the left.
  package var x: Double
  /// From the top.
  package var y: Double

  /// Makes a point.
  package init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }
}

/// The style of a line.
package struct Stroke: Hashable, Sendable {
  /// Its colour.
  package var color: String
  /// Its width.
  package var width: Double
  /// The lengths of dashes and the gaps between them, in turn; empty for a solid line.
  package var dashes: [Double]

  /// Makes a stroke.
  package init(_ color: String, width: Double = 1, dashes: [Double] = []) {
    self.color = color
    self.width = width
    self.dashes = dashes
  }
}

/// A rectangle of a picture.
package struct SVGRect: Hashable, Sendable {
  /// The left end.
  package var x: Double
  /// The upper end.
  package var y: Double
  /// The width.
  package var width: Double
  /// The height.
  package var height: Double

  /// Makes a rectangle.
  package init(x: Double, y: Double, width: Double, height: Double) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// The right end.
  package var right: Double { x + width }
  /// The lower end.
  package var bottom: Double { y + height }
}

extension SVGDocument {
  /// Draws a straight line.
  package mutating func line(from start: SVGPoint, to end: SVGPoint, _ stroke: Stroke) {
    path("M\(SVGDocument.place(start))L\(SVGDocument.place(end))", stroke: stroke)
  }

  /// Draws a line through points whose x does not fall; of many in one pixel only what is seen is written.
  package mutating func polyline(_ points: [SVGPoint], _ stroke: Stroke) {
    let thinned = Decimation.line(points)
    guard thinned.count > 1 else { return }
    shape("polyline", ["points": SVGDocument.list(thinned)], stroke: stroke)
  }

  /// Fills what lies between an upper and a lower line whose x do not fall.
  package mutating func band(upper: [SVGPoint], lower: [SVGPoint], fill: String, opacity: Double = 1) {
    let points = Decimation.line(upper) + Decimation.line(lower).reversed()
    guard points.count > 2 else { return }
    shape("polygon", ["points": SVGDocument.list(points)], fill: fill, opacity: opacity)
  }

  /// Draws a rectangle; one without width or height is not drawn.
  package mutating func rect(
    _ rect: SVGRect,
    fill: String,
    stroke: Stroke? = nil,
    opacity: Double = 1,
    tooltip: String? = nil
  ) {
    guard rect.width > 0, rect.height > 0 else { return }
    let (x, y) = (SVGDocument.number(rect.x), SVGDocument.number(rect.y))
    let (width, height) = (SVGDocument.number(rect.width), SVGDocument.number(rect.height))
    let geometry: Attributes = ["x": x, "y": y, "width": width, "height": height]
    shape("rect", geometry, fill: fill, stroke: stroke, opacity: opacity, tooltip: tooltip)
  }

  /// Draws the lines that the commands of a path say; nothing for none.
  private mutating func path(_ commands: String, stroke: Stroke, opacity: Double = 1) {
    guard !commands.isEmpty else { return }
    shape("path", ["d": commands], stroke: stroke, opacity: opacity)
  }

  /// Draws many dots as one element; those that would lie on one another are drawn once.
  package mutating func dots(_ points: [SVGPoint], radius: Double, fill: String, opacity: Double = 1) {
    let commands = Decimation.dots(points).map { "M\(SVGDocument.place($0))h0" }.joined()
    path(commands, stroke: Stroke(fill, width: radius * 2), opacity: opacity)
  }

  /// Draws many upright ticks as one element; those that would lie on one another are drawn once.
  package mutating func ticks(at positions: [Double], top: Double, bottom: Double, _ stroke: Stroke) {
    let thinned = Decimation.dots(positions.map { SVGPoint($0, top) })
    let length = SVGDocument.number(bottom - top)
    path(thinned.map { "M\(SVGDocument.place($0))v\(length)" }.joined(), stroke: stroke)
  }

  /// Draws a small cross: something that should not have happened.
  package mutating func cross(at point: SVGPoint) {
    let (x, y) = (point.x, point.y)
    let falling = "M\(SVGDocument.place(SVGPoint(x - 4, y - 4)))l8 8"
    path(
      falling + "M\(SVGDocument.place(SVGPoint(x - 4, y + 4)))l8 -8",
      stroke: Stroke(Palette.mistake, width: 2.4)
    )
  }

  /// Writes one line of text; `at` is where its anchor lies on the baseline.
  package mutating func text(_ text: String, at point: SVGPoint, _ style: TextStyle) {
    open("text", ["x": SVGDocument.number(point.x), "y": SVGDocument.number(point.y)])
    write(["font-size": SVGDocument.number(style.size), "fill": style.color])
    if style.isBold { write(["font-weight": "bold"]) }
    if style.anchor != .start { write(["text-anchor": style.anchor.rawValue]) }
    body += ">\(EscapedText.markup(text))</text>\n"
  }

  /// A point as paths write it.
  private static func place(_ point: SVGPoint) -> String { "\(number(point.x)) \(number(point.y))" }

  private static func list(_ points: [SVGPoint]) -> String {
    points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
  }
}

/// The style of text in a picture, and its width.
package struct TextStyle: Hashable, Sendable {
  /// The part of the text that lies at its point.
  package enum Anchor: String, Hashable, Sendable {
    /// Its beginning.
    case start
    /// Its middle.
    case middle
    /// Its end.
    case end
  }

  /// The fonts, the first that a reader has: narrow enough everywhere for ``width(of:)`` to hold.
  package static let family = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"

  /// The height of the font.
  package var size: Double
  /// Its colour.
  package var color: String
  /// Indicates whether the text is bold.
  package var isBold: Bool
  /// The part of the text that lies at its point.
  package var anchor: Anchor

  /// Makes a style.
  package init(
    _ size: Double = 12,
    color: String = Palette.ink,
    isBold: Bool = false,
    anchor: Anchor = .start
  ) {
    self.size = size
    self.color = color
    self.isBold = isBold
    self.anchor = anchor
  }

  /// Returns the maximum width of a line of text, whichever of the fonts draws it.
  ///
  /// A picture cannot ask the font that will draw it. The widths are those of DejaVu Sans, the widest of the family,
  /// by classes of characters.
  ///
  /// - Units: shares of the font's size for each character.
  package func width(of text: String) -> Double {
    let widths = text.unicodeScalars.reduce(0) { $0 + TextStyle.width(of: $1) }
    return widths * size * (isBold ? 1.1 : 1)
  }

  private static func width(of scalar: Unicode.Scalar) -> Double {
    switch scalar {
    case "i", "j", "l", "I", ".", ",", ":", ";", "'", "|", "!", " ", "·", "f", "t", "(", ")", "/", "-": 0.4
    case "m", "w", "M", "W", "%", "@", "…", "—", "−", "±", "≥", "→": 0.95
    case "A"..."Z": 0.72
    case "\u{2E80}"...: 1.1
    default: 0.64
    }
  }

  /// The text, or its beginning and an ellipsis where it is wider than `width`.
  package func fitted(_ text: String, to width: Double) -> String {
    guard self.width(of: text) > width else { return text }
    var kept = Substring(text)
    while !kept.isEmpty, self.width(of: kept + "…") > width { kept.removeLast() }
    return kept + "…"
  }
}

/// The colours of every picture, by what they mean.
///
/// Eight hues that people with any kind of colour blindness tell apart, and that differ in lightness too, so that a black
/// and white print still reads: Pharos dark, peers' rules lighter, warnings hatched or outlined beside their colour.
///
/// - Source: M. Okabe and K. Ito, "Color Universal Design", 2008.
package enum Palette {
  /// The paper.
  package static let paper = "#ffffff"
  /// Text, and the lines that matter.
  package static let ink = "#1c1c1c"
  /// Text that stands back: axes, notes.
  package static let faint = "#5a5f66"
  /// Lines of the grid.
  package static let grid = "#dfe2e6"
  /// The frame of a panel, and its background.
  package static let frame = "#9aa0a6"
  /// The background of a bar: outside.
  package static let outside = "#eceff1"
  /// Inside, as Pharos says.
  package static let inside = "#0072b2"
  /// Inside, as another rule says.
  package static let insideElsewhere = "#7fb4d3"
  /// The raw levels of adverts.
  package static let advert = "#7a7f87"
  /// The filtered level.
  package static let level = "#004c78"
  /// The uncertainty of the filtered level.
  package static let uncertainty = "#56b4e9"
  /// An enter, and the level that it takes.
  package static let enter = "#00795a"
  /// An exit, and the level below which it comes.
  package static let exit = "#c44a00"
  /// The silence that is allowed before an exit.
  package static let allowance = "#f2a93b"
  /// An exit that was false: the beacon came back at once.
  package static let mistake = "#a3004c"
  /// Time in which an observer could not tell.
  package static let outage = "#b9a44c"
  /// Time in which a state is not known.
  package static let unknown = "#c9ccd1"

  /// Colours for kinds that have no meaning of their own, such as rules side by side, in this order.
  package static let series = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b"]
}

/// Removal of details too small to see: a capture of a day has a million adverts, a picture a thousand columns.
package enum Decimation {
  /// The distance below which two things look like one.
  ///
  /// - Units: pixels; half a pixel is one pixel of a screen of high resolution.
  package static let resolution = 0.5

  /// The points of a line without those that its neighbours in the same column hide.
  ///
  /// Of each column the first, the lowest, the highest and the last stay, in their order, so that no peak is lost.
  package static func line(_ points: [SVGPoint]) -> [SVGPoint] {
    var kept: [SVGPoint] = []
    var start = 0
    while start < points.count {
      let column = (points[start].x / resolution).rounded(.down)
      var end = start
      var (lowest, highest) = (start, start)
      while end < points.count, (points[end].x / resolution).rounded(.down) == column {
        if points[end].y < points[lowest].y { lowest = end }
        if points[end].y > points[highest].y { highest = end }
        end += 1
      }
      var last = -1
      for index in [start, min(lowest, highest), max(lowest, highest), end - 1] where index > last {
        kept.append(points[index])
        last = index
      }
      start = end
    }
    return kept
  }

  /// The points without those that lie on one before them.
  package static func dots(_ points: [SVGPoint]) -> [SVGPoint] {
    var seen: Set<SVGPoint> = []
    return points.filter { point in
      let place = SVGPoint(
        (point.x / resolution).rounded(.down),
        (point.y / resolution).rounded(.down)
      )
      return seen.insert(place).inserted
    }
  }
}
