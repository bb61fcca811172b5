public import Logging

/// The levels of the log, as the command line spells them.
public enum LogLevel: String, CaseIterable, Sendable {
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

  /// A logger that writes to standard error from this level on.
  public func logger() -> Logger {
    var logger = Logger(label: "pharos") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = Logger.Level(rawValue: rawValue) ?? .notice
    return logger
  }
}
