/// A picture as SVG text, element by element: what `explain` and `compare` draw.
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
    rect(x: 0, y: 0, width: width, height: height, fill: Palette.paper)
  }

  /// The picture as it is written to a file.
  package var text: String {
    let (width, height) = (SVGDocument.number(width), SVGDocument.number(height))
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
      viewBox="0 0 \(width) \(height)" role="img" aria-labelledby="title summary" \
      font-family="\(TextStyle.family)">
        <title id="title">\(SVGDocument.escaped(title))</title>
        <desc id="summary">\(SVGDocument.escaped(summary))</desc>
      \(body)</svg>

      """
  }

  /// One attribute of an element; its value is escaped as it is written.
  package typealias Attribute = (name: StaticString, value: String)

  /// Appends an element without content, or with a tooltip.
  package mutating func element(_ name: StaticString, _ attributes: [Attribute], tooltip: String? = nil) {
    indent()
    open(name, attributes)
    if let tooltip {
      body += "><title>\(SVGDocument.escaped(tooltip))</title></\(name)>\n"
    } else {
      body += "/>\n"
    }
  }

  /// Appends an element that holds text alone.
  package mutating func element(_ name: StaticString, _ attributes: [Attribute], text: String) {
    indent()
    open(name, attributes)
    body += ">\(SVGDocument.escaped(text))</\(name)>\n"
  }

  /// Draws a group: its label is what a screen reader and a browser's tooltip say of all that is in it.
  package mutating func group(_ label: String? = nil, _ draw: (inout SVGDocument) -> Void) {
    contain([], label: label, draw)
  }

  /// Draws a group of which nothing is seen outside a rectangle.
  package mutating func clipped(
    x: Double,
    y: Double,
    width: Double,
    height: Double,
    _ draw: (inout SVGDocument) -> Void
  ) {
    clips += 1
    let name = "clip\(clips)"
    contain([("id", name)], element: "clipPath") { picture in
      picture.rect(x: x, y: y, width: width, height: height, fill: Palette.ink)
    }
    contain([("clip-path", "url(#\(name))")], draw)
  }

  private mutating func contain(
    _ attributes: [Attribute],
    element: StaticString = "g",
    label: String? = nil,
    _ draw: (inout SVGDocument) -> Void
  ) {
    indent()
    open(element, attributes)
    body += ">\n"
    depth += 1
    if let label { self.element("title", [], text: label) }
    draw(&self)
    depth -= 1
    indent()
    body += "</\(element)>\n"
  }

  private mutating func indent() { body += String(repeating: "  ", count: depth) }

  private mutating func open(_ name: StaticString, _ attributes: [Attribute]) {
    body += "<\(name)"
    for attribute in attributes { body += " \(attribute.name)=\"\(SVGDocument.escaped(attribute.value))\"" }
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

  /// The text with what XML gives a meaning to written as references, and what XML forbids as a middle dot.
  package static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}", "\u{FFFE}", "\u{FFFF}": escaped += "·"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
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

  fileprivate var attributes: [SVGDocument.Attribute] {
    let line: [SVGDocument.Attribute] = [("stroke", color), ("stroke-width", SVGDocument.number(width))]
    guard !dashes.isEmpty else { return line }
    return line + [("stroke-dasharray", dashes.map(SVGDocument.number).joined(separator: " "))]
  }
}

extension SVGDocument {
  /// Draws a straight line.
  package mutating func line(from start: SVGPoint, to end: SVGPoint, _ stroke: Stroke) {
    let ends: [Attribute] = [
      ("x1", SVGDocument.number(start.x)), ("y1", SVGDocument.number(start.y)),
      ("x2", SVGDocument.number(end.x)), ("y2", SVGDocument.number(end.y)),
    ]
    element("line", ends + stroke.attributes)
  }

  /// Draws a line through points whose x does not fall; of many in one pixel only what is seen is written.
  package mutating func polyline(_ points: [SVGPoint], _ stroke: Stroke) {
    let thinned = Decimation.line(points)
    guard thinned.count > 1 else { return }
    let fixed: [Attribute] = [
      ("points", SVGDocument.list(thinned)), ("fill", "none"), ("stroke-linejoin", "round"),
    ]
    element("polyline", fixed + stroke.attributes)
  }

  /// Fills what lies between an upper and a lower line whose x do not fall.
  package mutating func band(upper: [SVGPoint], lower: [SVGPoint], fill: String, opacity: Double = 1) {
    let points = Decimation.line(upper) + Decimation.line(lower).reversed()
    guard points.count > 2 else { return }
    element(
      "polygon",
      [
        ("points", SVGDocument.list(points)), ("fill", fill), ("fill-opacity", SVGDocument.number(opacity)),
      ]
    )
  }

  /// Fills a polygon: a marker such as a triangle.
  package mutating func polygon(_ points: [SVGPoint], fill: String, tooltip: String? = nil) {
    element("polygon", [("points", SVGDocument.list(points)), ("fill", fill)], tooltip: tooltip)
  }

  /// Draws a rectangle; one without width or height is not drawn.
  package mutating func rect(
    x: Double,
    y: Double,
    width: Double,
    height: Double,
    fill: String,
    stroke: Stroke? = nil,
    opacity: Double = 1,
    radius: Double = 0,
    tooltip: String? = nil
  ) {
    guard width > 0, height > 0 else { return }
    var attributes: [Attribute] = [
      ("x", SVGDocument.number(x)), ("y", SVGDocument.number(y)), ("width", SVGDocument.number(width)),
      ("height", SVGDocument.number(height)), ("fill", fill),
    ]
    if opacity < 1 { attributes.append(("fill-opacity", SVGDocument.number(opacity))) }
    if radius > 0 { attributes.append(("rx", SVGDocument.number(radius))) }
    element("rect", attributes + (stroke?.attributes ?? []), tooltip: tooltip)
  }

  /// Draws many dots as one element; those that would lie on one another are drawn once.
  package mutating func dots(_ points: [SVGPoint], radius: Double, fill: String, opacity: Double = 1) {
    let thinned = Decimation.dots(points)
    guard !thinned.isEmpty else { return }
    let path = thinned.map { "M\(SVGDocument.number($0.x)) \(SVGDocument.number($0.y))h0" }.joined()
    let attributes: [Attribute] = [
      ("d", path), ("fill", "none"), ("stroke-linecap", "round"),
      ("stroke-opacity", SVGDocument.number(opacity)),
    ]
    element("path", attributes + Stroke(fill, width: radius * 2).attributes)
  }

  /// Draws many upright ticks as one element; those that would lie on one another are drawn once.
  package mutating func ticks(at positions: [Double], top: Double, bottom: Double, _ stroke: Stroke) {
    let thinned = Decimation.dots(positions.map { SVGPoint($0, top) })
    guard !thinned.isEmpty else { return }
    let length = SVGDocument.number(bottom - top)
    let path = thinned.map { "M\(SVGDocument.number($0.x)) \(SVGDocument.number(top))v\(length)" }.joined()
    element("path", [("d", path), ("fill", "none")] + stroke.attributes)
  }

  /// Writes one line of text; `at` is where its anchor lies on the baseline.
  package mutating func text(_ text: String, at point: SVGPoint, _ style: TextStyle) {
    var attributes: [Attribute] = [
      ("x", SVGDocument.number(point.x)), ("y", SVGDocument.number(point.y)),
      ("font-size", SVGDocument.number(style.size)), ("fill", style.color),
    ]
    if style.isBold { attributes.append(("font-weight", "bold")) }
    if style.anchor != .start { attributes.append(("text-anchor", style.anchor.rawValue)) }
    element("text", attributes, text: text)
  }

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
