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

/// How a line is drawn.
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
