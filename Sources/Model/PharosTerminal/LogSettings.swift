import CPharos
package import Logging
import PharosDocuments
package import PharosModel

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

  /// The level as loggers call it.
  var level: Logger.Level {
    switch self {
    case .trace: .trace
    case .debug: .debug
    case .info: .info
    case .notice: .notice
    case .warning: .warning
    case .error: .error
    }
  }
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
      LineLogHandler(label: label, format: format, sink: DescriptorSink(descriptor: 2, threshold: 0))
    }
    logger.logLevel = level.level
    return logger
  }

  /// The console of this process: with a log in JSON, its messages are lines of the log.
  package func console() -> Console {
    format == .json ? Console.standard().logging(to: logger()) : Console.standard()
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

/// A log handler that writes one line an event: a sentence for people, or a JSON object for log collectors.
///
/// A sentence begins with the time and the level; metadata stands behind it in parentheses. A line break or an escape
/// sequence in a name or an error of others becomes a middle dot. The members of an object are `time`, `level`, `logger`,
/// `message`, `source`, and `metadata`, an object of strings.
package struct LineLogHandler: LogHandler {
  /// The metadata of every line.
  package var metadata: Logger.Metadata = [:]
  /// The minimum level of the lines that are written.
  package var logLevel: Logger.Level = .notice
  /// Adds metadata of the task that logs.
  package var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let format: LogFormat
  private let sink: any OutputSink
  private let now: @Sendable () -> Timestamp

  /// Makes a handler.
  ///
  /// - Parameters:
  ///   - label: the logger's label.
  ///   - format: the format of the lines.
  ///   - sink: the sink that receives the lines.
  ///   - now: gives the time.
  package init(
    label: String,
    format: LogFormat,
    sink: any OutputSink,
    now: @escaping @Sendable () -> Timestamp = { .wallClock }
  ) {
    self.label = label
    self.format = format
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
    var all = metadata.merging(metadataProvider?.get() ?? [:]) { _, new in new }
    if let own = event.metadata { all.merge(own) { _, new in new } }
    let members = all.sorted { $0.key < $1.key }
    let line = format == .json ? object(event, members) : sentence(event, members)
    try? sink.write(line)
    try? sink.flush()
  }

  private typealias Members = [(key: String, value: Logger.Metadata.Value)]

  private func sentence(_ event: LogEvent, _ members: Members) -> [UInt8] {
    var text = "\(event.message)"
    if !members.isEmpty {
      text += " (" + members.map { "\($0.key)=\($0.value)" }.joined(separator: ", ") + ")"
    }
    return Array(
      "\(now().rfc3339.prefix(19))Z \(event.level.rawValue) \(label): \(PlainText.clean(text))\n".utf8
    )
  }

  private func object(_ event: LogEvent, _ members: Members) -> [UInt8] {
    var json = JSONText()
    json.openObject()
    json.member("time", now().rfc3339)
    json.member("level", event.level.rawValue)
    json.member("logger", label)
    json.member("message", "\(event.message)")
    json.member("source", event.source)
    if !members.isEmpty {
      json.openObject("metadata")
      for (key, value) in members { json.member(named: key, "\(value)") }
      json.closeObject()
    }
    json.closeObject()
    json.newLine()
    return json.utf8
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
