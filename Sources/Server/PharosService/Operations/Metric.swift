package import PharosCluster
package import PharosDelivery
package import PharosHTTP
package import PharosIngest
package import PharosJournal
package import PharosModel
package import PharosPresence
import PharosSite

/// One metric: its name, kind, help, labels and unit, and how its samples are read.
///
/// ``all`` is the table of metrics. `/metrics` writes its entries in order; alerting rules and panels refer to the entries.
package struct Metric: Sendable {
  /// The kind of a metric.
  enum Kind: String, Sendable {
    /// A number that only grows, from zero at each start.
    case counter
    /// A number that goes up and down.
    case gauge
  }

  /// A sample: the values of the labels, in their order, and the number.
  typealias Sample = (labels: [String], value: Double)

  /// The name, which ends in the unit and does not change, because the graphs of operators depend on it.
  package let name: String
  let kind: Kind
  let help: String
  /// The names of the labels.
  let labels: [String]
  /// Reads the samples; returns nil if the server does not have what they are about.
  let samples: @Sendable (MetricSources) -> [Sample]?

  /// The unit by Grafana's name.
  var unit: String {
    if name.hasSuffix("_seconds") { return "s" }
    return name.hasSuffix("_bytes") ? "bytes" : "short"
  }

  /// Returns the selector in PromQL of the series whose labels match.
  func selected(_ matchers: String) -> String { "\(name){\(matchers)}" }

  init(
    _ name: String,
    _ kind: Kind,
    _ help: String,
    by labels: [String] = [],
    _ samples: @escaping @Sendable (MetricSources) -> [Sample]?
  ) {
    (self.name, self.kind, self.help, self.labels, self.samples) = (name, kind, help, labels, samples)
  }

  /// A counter with one sample.
  static func counter<Value: BinaryInteger & SendableMetatype>(
    _ name: String,
    _ help: String,
    _ value: @escaping @Sendable (MetricSources) -> Value?
  ) -> Metric {
    Metric(name, .counter, help) { sources in value(sources).map { [([], Double($0))] } }
  }

  /// A counter with a sample for each value of its label.
  static func counter<Value: BinaryInteger & SendableMetatype>(
    _ name: String,
    _ help: String,
    by label: String,
    _ values: @escaping @Sendable (MetricSources) -> [(String, Value)]?
  ) -> Metric {
    Metric(name, .counter, help, by: [label]) { sources in
      values(sources).map { $0.map { ([$0], Double($1)) } }
    }
  }

  /// A gauge with one sample.
  static func gauge(
    _ name: String,
    _ help: String,
    _ value: @escaping @Sendable (MetricSources) -> Double?
  ) -> Metric {
    Metric(name, .gauge, help) { sources in value(sources).map { [([], $0)] } }
  }

  /// A gauge with one sample.
  static func gauge<Value: BinaryInteger & SendableMetatype>(
    _ name: String,
    _ help: String,
    _ value: @escaping @Sendable (MetricSources) -> Value?
  ) -> Metric {
    Metric(name, .gauge, help) { sources in value(sources).map { [([], Double($0))] } }
  }

  /// A gauge with a sample for each value of its label.
  static func gauge(
    _ name: String,
    _ help: String,
    by label: String,
    _ values: @escaping @Sendable (MetricSources) -> [(String, Int)]?
  ) -> Metric {
    Metric(name, .gauge, help, by: [label]) { sources in
      values(sources).map { $0.map { ([$0], Double($1)) } }
    }
  }

  /// A metric with a sample for each observer that is listed and has a value, labelled with its id and its name.
  static func ofObservers(
    _ name: String,
    _ kind: Kind,
    _ help: String,
    _ value: @escaping @Sendable (ObserverStatus?) -> Double?
  ) -> Metric {
    Metric(name, kind, help, by: ["observer", "name"]) { sources in
      sources.observers?.compactMap { observer in
        value(observer.status).map { ([observer.id.description, observer.name], $0) }
      }
    }
  }
}

/// What metrics are read from; a metric whose source is nil is not written.
package struct MetricSources: Sendable {
  /// The resources of the process, the start in seconds since 1970, and the version.
  package var process: (usage: ProcessUsage, startedAt: Double, version: String)?
  /// The counters of ingest and of the two stages.
  package var snapshot: IngestSnapshot?
  /// The observers that have series of their own.
  package var observers: [ListedObserver]?
  /// The journal.
  package var journal: JournalStatistics?
  /// The commit publisher.
  package var committed: CommitPublisherStatistics?
  /// Live streams.
  package var feeds: FeedStatistics?
  /// The webhooks.
  package var webhooks: [WebhookStanding]?
  /// The connection to the broker whose messages are read.
  package var mqttInput: MQTTFeedStatistics?
  /// The connection to the broker that states are published to.
  package var mqttOutput: MQTTStanding?
  /// The node of a cluster, and whether it delivers.
  package var cluster: (log: SharedLogStanding, delivers: Bool)?
  /// The HTTP interface.
  package var http: HTTPStatistics?

  /// Makes sources of which there are none.
  package init() {}

  /// The connections to MQTT brokers by direction, each with whether it is up and the number of connections accepted so far;
  /// nil without any.
  var mqttConnections: [(direction: String, isUp: Bool, count: UInt64)]? {
    let connections = [
      mqttInput.map { (direction: "in", isUp: $0.isConnected, count: $0.connections) },
      mqttOutput.map { (direction: "out", isUp: $0.isOnline, count: $0.connections) },
    ].compactMap { $0 }
    return connections.isEmpty ? nil : connections
  }
}

/// An observer of the site, with its state if it was ever heard.
package struct ListedObserver: Sendable {
  /// The maximum number of observers that have series; those after it in the order of ids have none.
  package static let maximumCount = 2_000

  var id: ObserverID
  var name: String
  var status: ObserverStatus?

  /// Returns the observers that the site lists or that a zone or region names.
  ///
  /// A gateway that was never heard is down. An observer that merely sends has no series, so a sender cannot make any.
  ///
  /// - Parameters:
  ///   - site: the site.
  ///   - statuses: the states of observers.
  ///   - isShown: returns whether an observer may be named.
  /// - Returns: the observers, by id.
  package static func all(
    of site: Site,
    _ statuses: [ObserverStatus],
    isShown: (ObserverID) -> Bool = { _ in true }
  ) -> [ListedObserver] {
    let known = Dictionary(statuses.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    let names = Dictionary(site.observers.map { ($0.id, $0.name ?? "") }, uniquingKeysWith: { $1 })
    return site.mentionedObservers.union(names.keys).filter(isShown).sorted().prefix(maximumCount)
      .map { ListedObserver(id: $0, name: names[$0] ?? "", status: known[$0]) }
  }
}
