import Foundation
import PharosLab
import PharosModel

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

  // Wong's palette: distinguishable with any kind of colour blindness.
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
  private static let left = 70.0
  private static let right = 940.0
  private static let top = 92.0
  private static let height = 170.0
  private static let gap = 60.0
  /// The background of what a verdict allows.
  private static let allowed = "#c3e6da"

  private let record: SoakRecord
  private let time: TimeAxis

  init(_ record: SoakRecord) {
    self.record = record
    let start = Timestamp(seconds: 0)
    let end = start + .seconds(record.duration)
    time = TimeAxis(from: start, to: end, left: SoakPicture.left, right: SoakPicture.right, isElapsed: true)
  }

  /// The picture as it is written to a file.
  var text: String {
    let pitch = SoakPicture.height + SoakPicture.gap
    let headline =
      "pharos serve, \(SoakPicture.short(record.duration / 60)) minutes at \(record.rate) adverts a second"
    let note =
      "100 gateways send, 64 markers a second enter and are timed; grey is warm-up and is not judged."
    var picture = SVGDocument(
      width: SoakPicture.width,
      height: SoakPicture.top + Double(SoakPicture.panels.count) * pitch,
      title: headline,
      summary: note
    )
    picture.heading(headline, note, at: SVGPoint(SoakPicture.left, 28))
    for (place, panel) in SoakPicture.panels.enumerated() {
      draw(panel, top: SoakPicture.top + Double(place) * pitch, on: &picture)
    }
    return picture.text
  }

  private func draw(_ panel: Panel, top: Double, on picture: inout SVGDocument) {
    let bottom = top + SoakPicture.height
    let values = record.samples.flatMap { sample in panel.lines.map { $0.value(sample) } }
    let maximum = max(values.max() ?? 1, 1e-3)
    let step = pow(10, floor(log10(maximum))) / 5
    let axis = ValueAxis(from: 0, to: maximum, top: top, bottom: bottom, step: step)
    picture.text(panel.title, at: SVGPoint(time.left, top - 12), TextStyle(14, isBold: true))
    let legend = panel.lines.map { (SVGDocument.LegendMark.line(Stroke($0.color, width: 1.5)), $0.name) }
    let legendLeft = time.right - 120 * Double(legend.count)
    picture.legend(legend, at: SVGPoint(legendLeft, top - 16), right: SoakPicture.width)
    let warm = x(of: record.warmUp)
    let warmUp = SVGRect(x: time.left, y: top, width: warm - time.left, height: SoakPicture.height)
    picture.rect(warmUp, fill: Palette.outside)
    picture.note("warm-up", right: time.left, middle: top + 12)
    if let share = panel.band, let line = panel.lines.first {
      let middle = SoakVerdict.median(record.firstThird.map(line.value))
      let (low, high) = (axis.y(of: middle * (1 - share)), axis.y(of: middle * (1 + share)))
      let band = SVGRect(x: warm, y: high, width: time.right - warm, height: low - high)
      picture.rect(band, fill: SoakPicture.allowed)
      let words = "±\(SoakPicture.short(share * 100)) % of \(String(format: "%.1f", middle)) \(panel.unit)"
      let style = TextStyle(11, color: Palette.enter, anchor: .end)
      picture.text(words, at: SVGPoint(time.right - 6, low + 16), style)
    }
    picture.grid(axis, across: time)
    picture.grid(time, top: top, bottom: bottom)
    for line in panel.lines {
      let points = record.samples.map { SVGPoint(x(of: $0.time), axis.y(of: line.value($0))) }
      picture.polyline(points, Stroke(line.color, width: 1.5))
    }
  }

  private func x(of seconds: Double) -> Double { time.x(of: time.start + .seconds(seconds)) }

  private static func short(_ value: Double) -> String {
    value == value.rounded() ? String(format: "%.0f", value) : String(format: "%.3g", value)
  }
}
