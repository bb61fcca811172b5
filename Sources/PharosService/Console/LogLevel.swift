package import Logging

/// The levels of the log, as the command line spells them.
package enum LogLevel: String, CaseIterable, Sendable {
  /// Everything, step by step.
  case trace
  /// What helps to find a fault.
  case debug
  /// What happens, where it is rare.
  case info
  /// What an operator wants to know.
  case notice
  /// What may need a hand.
  case warning
  /// What is lost.
  case error
}

/// How the log is written.
package enum LogFormat: String, CaseIterable, Sendable {
  /// Lines for people.
  case text
  /// One JSON object a line.
  case json
}

/// The log of a command: from which level on, and how it is written.
package struct LogSettings: Hashable, Sendable {
  /// From which level on lines are written.
  package var level: LogLevel
  /// How they are written.
  package var format: LogFormat

  /// Makes settings.
  package init(level: LogLevel = .notice, format: LogFormat = .text) {
    self.level = level
    self.format = format
  }

  /// Settles what the command line leaves open: `PHAROS_LOG_LEVEL` and `PHAROS_LOG_FORMAT`.
  ///
  /// - Throws: which variable is wrong.
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
      case .text: StreamLogHandler.standardError(label: label)
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
