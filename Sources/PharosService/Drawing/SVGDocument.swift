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
  ///   - title: What a screen reader says first, and a browser's tab shows.
  ///   - summary: What there is to see, in a sentence or two, for those who cannot see it.
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
