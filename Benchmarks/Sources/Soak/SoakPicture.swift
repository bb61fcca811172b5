import Foundation

/// Memory and delay over time, as SVG.
struct SoakPicture {
  /// One panel: what is drawn in it and how.
  private struct Panel: Sendable {
    var title: String
    var unit: String
    var lines: [(name: String, color: String, value: @Sendable (SoakSample) -> Double)]
  }

  // Wong's palette: told apart by people with any kind of colour blindness.
  private static let panels: [Panel] = [
    Panel(
      title: "Resident memory",
      unit: "MB",
      lines: [("resident", "#0072b2", { Double($0.resident) / 1e6 })]
    ),
    Panel(
      title: "From a datagram to the client of its event",
      unit: "ms",
      lines: [("p50", "#009e73", { $0.p50 }), ("p99", "#d55e00", { $0.p99 })]
    ),
    Panel(
      title: "Open descriptors and streams",
      unit: "",
      lines: [
        ("descriptors", "#0072b2", { Double($0.descriptors) }),
        ("streams", "#cc79a7", { Double($0.streams) }),
      ]
    ),
    Panel(
      title: "Tasks that want a core of the machine (other work included)",
      unit: "",
      lines: [("load", "#5a5f66", { $0.machineLoad })]
    ),
  ]

  private static let width = 960.0
  private static let height = 170.0
  private static let left = 70.0
  private static let right = 20.0
  private static let top = 40.0
  private static let gap = 60.0

  private let record: SoakRecord

  init(_ record: SoakRecord) { self.record = record }

  /// The picture as it is written to a file.
  var text: String {
    let count = Double(SoakPicture.panels.count)
    let whole = SoakPicture.top + count * (SoakPicture.height + SoakPicture.gap)
    var body = rect(0, 0, SoakPicture.width, whole, fill: "#ffffff")
    for (place, panel) in SoakPicture.panels.enumerated() {
      body += draw(panel, top: SoakPicture.top + Double(place) * (SoakPicture.height + SoakPicture.gap))
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <svg xmlns="http://www.w3.org/2000/svg" width="\(SoakPicture.width)" height="\(whole)" role="img" \
      viewBox="0 0 \(SoakPicture.width) \(whole)" font-family="sans-serif">
      <title>\(Int(record.duration / 60)) minutes at \(record.rate) adverts a second</title>
      \(body)</svg>

      """
  }

  private func draw(_ panel: Panel, top: Double) -> String {
    let bottom = top + SoakPicture.height
    let values = record.samples.flatMap { sample in panel.lines.map { $0.value(sample) } }
    let most = SoakPicture.round(max(values.max() ?? 1, 1e-3))
    func y(_ value: Double) -> Double { bottom - (bottom - top) * value / most }
    var body = write(panel.title, x: SoakPicture.left, y: top - 12, size: 14, bold: true)
    // What comes before is warm-up and is not judged.
    body += rect(
      SoakPicture.left,
      top,
      x(of: record.warmUp) - SoakPicture.left,
      SoakPicture.height,
      fill: "#eceff1"
    )
    for step in 0...4 {
      let value = most * Double(step) / 4
      body += line(SoakPicture.left, y(value), SoakPicture.width - SoakPicture.right, y(value), "#dfe2e6")
      let label = "\(SoakPicture.short(value)) \(panel.unit)"
      body += write(label, x: SoakPicture.left - 8, y: y(value) + 4, size: 11, anchor: "end")
    }
    for step in 0...6 {
      let time = record.duration * Double(step) / 6
      let label = "\(SoakPicture.short(time / 60)) min"
      body += write(label, x: x(of: time), y: bottom + 16, size: 11, anchor: "middle")
    }
    for (place, drawn) in panel.lines.enumerated() {
      let points = record.samples.map { "\(number(x(of: $0.time))),\(number(y(drawn.value($0))))" }
      body += "<polyline fill=\"none\" stroke=\"\(drawn.color)\" stroke-width=\"1.5\" "
      body += "points=\"\(points.joined(separator: " "))\"/>\n"
      let legend = SoakPicture.width - SoakPicture.right - 90 * Double(panel.lines.count - place)
      body += write(drawn.name, x: legend, y: top - 12, size: 12, color: drawn.color, bold: true)
    }
    return body
  }

  private func x(of time: Double) -> Double {
    SoakPicture.left + (SoakPicture.width - SoakPicture.left - SoakPicture.right) * time / record.duration
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }

  private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ color: String) -> String {
    "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" stroke=\"\(color)\"/>\n"
  }

  private func rect(_ x: Double, _ y: Double, _ width: Double, _ height: Double, fill: String) -> String {
    "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\" "
      + "fill=\"\(fill)\"/>\n"
  }

  private func write(
    _ text: String,
    x: Double,
    y: Double,
    size: Int,
    anchor: String = "start",
    color: String = "#1c1c1c",
    bold: Bool = false
  ) -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(size)\" text-anchor=\"\(anchor)\" fill=\"\(color)\""
      + (bold ? " font-weight=\"bold\"" : "") + ">\(text)</text>\n"
  }

  /// The least of 1, 2, 4 and 8 times a power of ten that is no less.
  private static func round(_ value: Double) -> Double {
    let power = pow(10, floor(log10(value)))
    return power * ([1, 2, 4, 8].first { $0 * power >= value } ?? 10)
  }

  private static func short(_ value: Double) -> String {
    value == value.rounded() ? String(format: "%.0f", value) : String(format: "%.3g", value)
  }
}
