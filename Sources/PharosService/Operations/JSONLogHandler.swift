import CPharos
package import Logging
import PharosReports

/// A log handler that writes one JSON object per line, for log collectors.
///
/// The members are `time`, `level`, `logger`, `message`, `source`, and `metadata`, an object of strings.
package struct JSONLogHandler: LogHandler {
  /// What every line carries.
  package var metadata: Logger.Metadata = [:]
  /// From which level on lines are written.
  package var logLevel: Logger.Level = .notice
  /// Adds metadata of the task that logs.
  package var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let sink: any OutputSink
  private let now: @Sendable () -> Timestamp

  /// Makes a handler.
  ///
  /// - Parameters:
  ///   - label: the logger's label.
  ///   - sink: where lines go.
  ///   - now: gives the time.
  package init(
    label: String,
    sink: any OutputSink,
    now: @escaping @Sendable () -> Timestamp = { .wallClock }
  ) {
    self.label = label
    self.sink = sink
    self.now = now
  }

  /// One value of the metadata that every line carries.
  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes a line; one that cannot be written is lost.
  package func log(event: LogEvent) {
    var json = JSONText()
    json.openObject()
    json.member("time", now().rfc3339)
    json.member("level", event.level.rawValue)
    json.member("logger", label)
    json.member("message", "\(event.message)")
    json.member("source", event.source)
    var all = metadata.merging(metadataProvider?.get() ?? [:]) { _, new in new }
    if let own = event.metadata { all.merge(own) { _, new in new } }
    if !all.isEmpty {
      json.openObject("metadata")
      for (key, value) in all.sorted(by: { $0.key < $1.key }) { json.member(named: key, "\(value)") }
      json.closeObject()
    }
    json.closeObject()
    json.newLine()
    try? sink.write(json.utf8)
    try? sink.flush()
  }
}

extension Timestamp {
  /// The system's wall clock, for lines that people read.
  package static var wallClock: Timestamp { Timestamp(nanoseconds: pharos_clock_wall()) }
}
