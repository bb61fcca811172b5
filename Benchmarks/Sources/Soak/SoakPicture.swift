import Foundation

/// Memory and delay over time, as SVG.
struct SoakPicture {
  /// One line of a panel.
  private struct Line: Sendable {
    var name: String
    var color: String
    var value: @Sendable (SoakSample) -> Double

    init(_ name: String, _ color: String, _ value: @escaping @Sendable (SoakSample) -> Double) {
      self.name = name
      self.color = color
      self.value = value
    }
  }

  /// One panel: what is drawn in it and how.
  private struct Panel: Sendable {
    var title: String
    var unit: String
    var lines: [Line]
    /// By how much the first line may differ from where it was behind the warm-up, if that is judged: drawn as a band.
    var band: Double?
  }

  // Wong's palette: told apart by people with any kind of colour blindness.
  private static let panels: [Panel] = [
    Panel(
      title: "Resident memory of the server (MB)",
      unit: "MB",
      lines: [Line("resident", "#0072b2") { Double($0.resident) / 1e6 }],
      band: SoakVerdict.memory
    ),
    Panel(
      title: "Delay from a datagram to the client of its event, every ten seconds (ms)",
      unit: "ms",
      lines: [Line("p50", "#009e73") { $0.p50 }, Line("p99", "#d55e00") { $0.p99 }]
    ),
    Panel(
      title: "Open descriptors of the server, and live streams of clients that come and go",
      unit: "",
      lines: [
        Line("descriptors", "#0072b2") { Double($0.descriptors) },
        Line("streams", "#cc79a7") { Double($0.streams) },
      ]
    ),
    Panel(
      title: "Tasks that want a core of the machine (other work included)",
      unit: "",
      lines: [Line("load", "#5a5f66") { $0.machineLoad }]
    ),
  ]

  private static let width = 960.0
  private static let height = 170.0
  private static let left = 70.0
  private static let right = 20.0
  private static let top = 92.0
  private static let gap = 60.0
  /// What lies between two marks of the time: whole minutes that are read at a glance, ten marks at most.
  private static let steps = [1.0, 2, 5, 10, 15, 30, 60, 120, 240]

  private let record: SoakRecord

  init(_ record: SoakRecord) { self.record = record }

  /// The picture as it is written to a file.
  var text: String {
    let count = Double(SoakPicture.panels.count)
    let whole = SoakPicture.top + count * (SoakPicture.height + SoakPicture.gap)
    var body = rect(0, 0, SoakPicture.width, whole, fill: "#ffffff")
    body += write(headline, x: SoakPicture.left, y: 28, size: 17, bold: true)
    body += write(
      "100 gateways send, 64 markers a second enter and are timed; grey is warm-up and is not judged.",
      x: SoakPicture.left,
      y: 50,
      size: 12,
      color: "#5a5f66"
    )
    for (place, panel) in SoakPicture.panels.enumerated() {
      body += draw(panel, top: SoakPicture.top + Double(place) * (SoakPicture.height + SoakPicture.gap))
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <svg xmlns="http://www.w3.org/2000/svg" width="\(SoakPicture.width)" height="\(whole)" role="img" \
      viewBox="0 0 \(SoakPicture.width) \(whole)" font-family="sans-serif">
      <title>\(headline)</title>
      \(body)</svg>

      """
  }

  private var headline: String {
    "pharos serve, \(SoakPicture.short(record.duration / 60)) minutes at \(record.rate) adverts a second"
  }

  private func draw(_ panel: Panel, top: Double) -> String {
    let bottom = top + SoakPicture.height
    let end = SoakPicture.width - SoakPicture.right
    let values = record.samples.flatMap { sample in panel.lines.map { $0.value(sample) } }
    let most = SoakPicture.round(max(values.max() ?? 1, 1e-3))
    func y(_ value: Double) -> Double { bottom - (bottom - top) * value / most }
    var body = write(panel.title, x: SoakPicture.left, y: top - 12, size: 14, bold: true)
    let warm = x(of: record.warmUp)
    body += rect(SoakPicture.left, top, warm - SoakPicture.left, SoakPicture.height, fill: "#eceff1")
    body += write("warm-up", x: SoakPicture.left + 6, y: top + 16, size: 11, color: "#5a5f66")
    for step in 0...4 {
      let value = most * Double(step) / 4
      body += line(SoakPicture.left, y(value), end, y(value), "#dfe2e6")
      let label = panel.unit.isEmpty ? SoakPicture.short(value) : "\(SoakPicture.short(value)) \(panel.unit)"
      body += write(label, x: SoakPicture.left - 8, y: y(value) + 4, size: 11, anchor: "end")
    }
    for time in times {
      body += line(x(of: time), bottom, x(of: time), bottom + 4, "#5a5f66")
      let label = "\(SoakPicture.short(time / 60)) min"
      body += write(label, x: x(of: time), y: bottom + 18, size: 11, anchor: "middle")
    }
    if let share = panel.band, let line = panel.lines.first {
      let middle = SoakVerdict.median(record.firstThird.map(line.value))
      let (low, high) = (y(middle * (1 - share)), y(middle * (1 + share)))
      body += rect(warm, high, end - warm, low - high, fill: "#c3e6da")
      let label = "±\(SoakPicture.short(share * 100)) % of \(String(format: "%.1f", middle)) \(panel.unit)"
      body += write(label, x: end - 6, y: low + 16, size: 11, anchor: "end", color: "#00684c")
    }
    for (place, drawn) in panel.lines.enumerated() {
      let points = record.samples.map { "\(number(x(of: $0.time))),\(number(y(drawn.value($0))))" }
      body += "<polyline fill=\"none\" stroke=\"\(drawn.color)\" stroke-width=\"1.5\" "
      body += "points=\"\(points.joined(separator: " "))\"/>\n"
      let legend = end - 90 * Double(panel.lines.count - 1 - place)
      body += write(
        drawn.name,
        x: legend,
        y: top - 12,
        size: 12,
        anchor: "end",
        color: drawn.color,
        bold: true
      )
    }
    return body
  }

  /// The marked times, in seconds.
  private var times: [Double] {
    let step = 60 * (SoakPicture.steps.first { record.duration / 60 / $0 <= 10 } ?? 480)
    return Array(stride(from: 0, through: record.duration, by: step))
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

  /// The ends that an axis may have, but for a power of ten: a quarter of each is read at a glance.
  private static let ends = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8]

  /// The least of the ends that is no less.
  private static func round(_ value: Double) -> Double {
    let power = pow(10, floor(log10(value)))
    return power * (ends.first { $0 * power >= value } ?? 10)
  }

  private static func short(_ value: Double) -> String {
    value == value.rounded() ? String(format: "%.0f", value) : String(format: "%.3g", value)
  }
}
