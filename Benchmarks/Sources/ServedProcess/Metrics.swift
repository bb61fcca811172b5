import Foundation

/// The server's own counts, as `/metrics` gives them.
package struct Metrics: Sendable {
  private var samples: [(name: String, labels: String, value: Double)] = []

  /// Reads Prometheus' text format.
  package init(_ text: String) {
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
        continue
      }
      let series = line[..<space]
      let name = series.prefix { $0 != "{" }
      samples.append((String(name), String(series.dropFirst(name.count)), value))
    }
  }

  /// Asks a server.
  package init(of call: HTTPCall) async throws {
    let answer = try await call.get("/metrics")
    guard answer.status == 200 else { throw ServedProcessError("/metrics answers \(answer.status)") }
    self.init(answer.body)
  }

  /// The sum of all samples of a family whose labels hold a text.
  package func sum(_ name: String, _ label: String = "") -> Double {
    samples.reduce(0) { $1.name == name && (label.isEmpty || $1.labels.contains(label)) ? $0 + $1.value : $0 }
  }

  /// The value of every label of a family with one label, without zeros.
  package func values(_ name: String, by label: String) -> [String: Double] {
    var values: [String: Double] = [:]
    for sample in samples where sample.name == name && sample.value != 0 {
      guard let start = sample.labels.range(of: "\(label)=\"") else { continue }
      values[String(sample.labels[start.upperBound...].prefix { $0 != "\"" }), default: 0] += sample.value
    }
    return values
  }
}
