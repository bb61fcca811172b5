/// Metrics in Prometheus' text format, version 0.0.4.
///
/// - Source: prometheus.io/docs/instrumenting/exposition_formats.
package struct PrometheusText: Sendable {
  /// The content type of an answer that holds the text.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text so far.
  package private(set) var text = ""
  private var written: Set<String> = []

  package init() {}

  /// Writes a family with one sample.
  mutating func write(_ family: MetricFamily, _ value: some BinaryInteger) {
    write(family, [([], Double(value))])
  }

  /// Writes a family with one sample; nothing for nil.
  mutating func write(_ family: MetricFamily, _ value: Double?) {
    guard let value else { return }
    write(family, [([], value)])
  }

  /// Writes a family with a sample for each combination of labels, in the order of the family's labels.
  mutating func write(_ family: MetricFamily, _ samples: [(labels: [String], value: Double)]) {
    precondition(written.insert(family.name).inserted, "\(family.name) is written twice")
    text += "# HELP \(family.name) \(PrometheusText.escaped(family.help, quotes: false))\n"
    text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
    for (labels, value) in samples {
      precondition(labels.count == family.labels.count, "\(family.name) has \(family.labels.count) labels")
      text += family.name
      if !labels.isEmpty {
        let pairs = zip(family.labels, labels).map { "\($0)=\"\(PrometheusText.escaped($1))\"" }
        text += "{\(pairs.joined(separator: ","))}"
      }
      text += " \(PrometheusText.number(value))\n"
    }
  }

  /// A number as Prometheus reads it.
  package static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && value.magnitude < 9e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool = true) -> String {
    var escaped = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    if quotes { escaped = escaped.replacing("\"", with: "\\\"") }
    return escaped
  }
}
