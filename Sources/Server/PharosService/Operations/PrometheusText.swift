import PharosDocuments

/// Metrics in Prometheus' text format, version 0.0.4.
///
/// - Source: prometheus.io/docs/instrumenting/exposition_formats.
package enum PrometheusText {
  /// The content type of an answer that holds the text.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// Returns the text of the metrics whose sources there are.
  package static func text(of sources: MetricSources) -> String {
    var text = ""
    for metric in Metric.all {
      guard let samples = metric.samples(sources) else { continue }
      text += "# HELP \(metric.name) \(EscapedText.help(metric.help))\n"
      text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
      for sample in samples {
        let (labels, name) = (metric.labels, metric.name)
        precondition(sample.labels.count == labels.count, "\(name) has \(labels.count) labels")
        let pairs = zip(labels, sample.labels).map { "\($0)=\"\(EscapedText.label($1))\"" }
        text += labels.isEmpty ? name : "\(name){\(pairs.joined(separator: ","))}"
        text += " \(number(sample.value))\n"
      }
    }
    return text
  }

  /// A number as Prometheus reads it.
  package static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && value.magnitude < 9e15 ? "\(Int64(value))" : "\(value)"
  }
}
