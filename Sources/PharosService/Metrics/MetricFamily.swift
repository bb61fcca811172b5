/// A family of metrics: its name, which ends in its unit, its kind, its help text and its labels.
///
/// Names and labels do not change, because the graphs of operators depend on them. The families are declared in
/// extensions of this type, and the guide on operations lists them.
package struct MetricFamily: Hashable, Sendable {
  /// How its values move.
  package enum Kind: String, Sendable {
    /// Only up, from zero at each start.
    case counter
    /// Up and down.
    case gauge
  }

  /// The name; that of a counter ends in `_total`.
  package let name: String
  /// How its values move.
  package let kind: Kind
  /// What it says, as one sentence without a full stop.
  package let help: String
  /// The labels of every sample, in their order.
  package let labels: [String]

  static func counter(_ name: String, _ help: String, by labels: String...) -> MetricFamily {
    MetricFamily(name: name, kind: .counter, help: help, labels: labels)
  }

  static func gauge(_ name: String, _ help: String, by labels: String...) -> MetricFamily {
    MetricFamily(name: name, kind: .gauge, help: help, labels: labels)
  }
}
