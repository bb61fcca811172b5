public import ArgumentParser
public import PharosService

extension HostPort: ExpressibleByArgument {
  /// Reads `HOST:PORT`.
  public init?(argument: String) { self.init(argument) }
}

extension TimeSpan: ExpressibleByArgument {
  /// Reads a time with its unit.
  public init?(argument: String) { self.init(written: argument) }

  /// What stands for it where it is the default.
  public var defaultValueDescription: String { written }
}

extension ObserverID: ExpressibleByArgument {
  /// Reads an observer's identity.
  public init?(argument: String) { self.init(argument) }
}

extension KindSelection: ExpressibleByArgument {
  /// Reads words with commas between them.
  public init?(argument: String) { self.init(argument) }
}

extension EventFormat: ExpressibleByArgument {}

extension ReplayRunner.Format: ExpressibleByArgument {}

extension CompareRunner.Format: ExpressibleByArgument {}

extension ExplainRunner.Format: ExpressibleByArgument {}

extension LogLevel: ExpressibleByArgument {}

/// How much is logged.
struct LogOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How much is logged on standard error: trace, debug, info, notice, warning or error.",
      valueName: "level"
    )
  )
  var logLevel: LogLevel = .notice
}

extension KindSelection {
  /// What the option for it says.
  static let help: String =
    "Which events to write: \(words.map(\.word).joined(separator: ", ")), with commas between them."

  /// What stands for it where it is the default.
  public var defaultValueDescription: String { self == .usual ? "all but state" : "\(kinds.count) kinds" }
}
