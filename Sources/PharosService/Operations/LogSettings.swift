import CPharos
package import Logging
import PharosModel

/// The levels of the log, as the command line spells them.
package enum LogLevel: String, CaseIterable, Sendable {
  /// Everything, step by step.
  case trace
  /// Details that help to find a fault.
  case debug
  /// Rare occurrences.
  case info
  /// Information that an operator wants.
  case notice
  /// Conditions that may need an operator's action.
  case warning
  /// Losses.
  case error
}

/// The format of the log.
package enum LogFormat: String, CaseIterable, Sendable {
  /// Lines for people.
  case text
  /// One JSON object a line.
  case json
}

/// The log of a command: from which level on, and how it is written.
package struct LogSettings: Hashable, Sendable {
  /// The minimum level of the lines that are written.
  package var level: LogLevel
  /// The format of the lines.
  package var format: LogFormat

  /// Makes settings.
  package init(level: LogLevel = .notice, format: LogFormat = .text) {
    self.level = level
    self.format = format
  }

  /// Settles what the command line leaves open: `PHAROS_LOG_LEVEL` and `PHAROS_LOG_FORMAT`.
  ///
  /// - Throws: ``CommandFailure`` that names the variable that is wrong.
  package init(
    level: LogLevel?,
    format: LogFormat?,
    environment: [String: String]
  ) throws(CommandFailure) {
    let levels: LogLevel? = try LogSettings.variable("PHAROS_LOG_LEVEL", in: environment)
    let formats: LogFormat? = try LogSettings.variable("PHAROS_LOG_FORMAT", in: environment)
    self.level = level ?? levels ?? .notice
    self.format = format ?? formats ?? .text
  }

  /// A logger that writes to standard error.
  package func logger() -> Logger {
    var logger = Logger(label: "pharos") { label in
      switch format {
      case .text: TextLogHandler(StreamLogHandler.standardError(label: label))
      case .json: JSONLogHandler(label: label, sink: DescriptorSink(descriptor: 2, threshold: 0))
      }
    }
    logger.logLevel = Logger.Level(rawValue: level.rawValue) ?? .notice
    return logger
  }

  private static func variable<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String,
    in environment: [String: String]
  ) throws(CommandFailure) -> Value? {
    guard let text = environment[name], !text.isEmpty else { return nil }
    guard let value = Value(rawValue: text) else {
      let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandFailure("\(name) is \"\(text)\" (expected one of \(words))", status: .configuration)
    }
    return value
  }
}

/// A log handler for people: a line break or an escape sequence in a name or an error of others becomes a middle dot, so
/// that each event is one line.
package struct TextLogHandler<Lines: LogHandler>: LogHandler {
  private var lines: Lines

  /// Makes a handler that writes the lines of another one.
  package init(_ lines: Lines) { self.lines = lines }

  /// The metadata of every line.
  package var metadata: Logger.Metadata {
    get { lines.metadata }
    set { lines.metadata = newValue }
  }
  /// The minimum level of the lines that are written.
  package var logLevel: Logger.Level {
    get { lines.logLevel }
    set { lines.logLevel = newValue }
  }
  /// Adds metadata of the task that logs.
  package var metadataProvider: Logger.MetadataProvider? {
    get { lines.metadataProvider }
    set { lines.metadataProvider = newValue }
  }

  /// One value of the metadata that every line carries.
  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { lines[metadataKey: key] }
    set { lines[metadataKey: key] = newValue }
  }

  /// Writes a line.
  package func log(event: LogEvent) {
    var event = event
    event.message = "\(PlainText.clean("\(event.message)"))"
    event.metadata = event.metadata?.mapValues { .string(PlainText.clean("\($0)")) }
    lines.log(event: event)
  }
}

/// A log handler that writes one JSON object per line, for log collectors.
///
/// The members are `time`, `level`, `logger`, `message`, `source`, and `metadata`, an object of strings.
package struct JSONLogHandler: LogHandler {
  /// The metadata of every line.
  package var metadata: Logger.Metadata = [:]
  /// The minimum level of the lines that are written.
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
  ///   - sink: the sink that receives the lines.
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

/// A filter that keeps device addresses out of the log, which is read by many, shipped elsewhere and kept for long.
///
/// Other details of a text stay, such as the line of a file and the name of an entry. `pharos check` shows the
/// addresses on the console.
package enum LogPrivacy {
  /// The text that replaces an address.
  static let mask = "(address)"

  /// A text without device addresses: six octets with colons or dashes between them.
  package static func hidden(_ text: String) -> String {
    let octets = /[0-9A-Fa-f]{2}([:\-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![0-9A-Fa-f]|\1)/
    // A longer run of octets is an observer's EUI-64 or something else altogether; the m of `mac:` begins no octet.
    let octetBefore = /(?:^|[^0-9A-Za-z])[0-9A-Fa-f]{2}[:\-]$/
    return text.replacing(octets) { match in
      text[..<match.range.lowerBound].suffix(4).contains(octetBefore) ? match.output.0 : mask[...]
    }
  }
}
