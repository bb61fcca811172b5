public import ArgumentParser
public import PharosLab
public import PharosModel
import PharosService
import PharosSite
import PharosTerminal
public import PharosTools
public import PharosWays

extension HostPort: ExpressibleByArgument {
  /// Reads `HOST:PORT`.
  public init?(argument: String) { self.init(argument) }
}

extension TimeSpan {
  /// Reads a time with its unit, the value of an option.
  ///
  /// - Throws: `ValidationError` that says what is missing.
  static func option(_ text: String) throws -> TimeSpan {
    if let span = TimeSpan(written: text) { return span }
    throw ValidationError(
      Double(text) == nil
        ? "it is not a time; expected a number with its unit, such as 90s or 5m"
        : "the unit is missing; "
          + "expected \(text)s for seconds, \(text)ms, \(text)m, \(text)h or \(text)d"
    )
  }
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

extension SurveyScoreRunner.Format: ExpressibleByArgument {}
extension RoomsLearnRunner.Format: ExpressibleByArgument {}
extension RoomsScoreRunner.Format: ExpressibleByArgument {}

extension RouteLanguage: ExpressibleByArgument {}

extension LogLevel: ExpressibleByArgument {}

extension LogFormat: ExpressibleByArgument {}

/// The help of options that several commands have.
extension ArgumentHelp {
  static let captureObserver = ArgumentHelp(
    "Who heard what a Bluetooth capture holds. (default: the file's name)",
    valueName: "id"
  )
  static let tail = ArgumentHelp("Let time run on behind the last packet, such as 60s.", valueName: "time")
  static let traces = ArgumentHelp("Traces, or folders of them.", valueName: "trace")
  static let udp = ArgumentHelp(
    "Where to listen; may be repeated. (default: 127.0.0.1:50001)",
    valueName: "host:port"
  )
}

/// The level and the format of the log.
struct LogOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How much is logged on standard error: trace, debug, info, notice, warning or error. (default: notice)",
      valueName: "level"
    )
  )
  var logLevel: LogLevel?

  @Option(
    help: ArgumentHelp(
      "How the log is written: text, or json for one object a line. (default: text)",
      valueName: "format"
    )
  )
  var logFormat: LogFormat?

  /// Returns whether arguments that may be wrong, or else the environment, ask for a log in JSON.
  static func areJSON(_ arguments: [String]) -> Bool {
    let option = "--log-format"
    if let joined = arguments.first(where: { $0.hasPrefix("\(option)=") }) {
      return joined == "\(option)=\(LogFormat.json.rawValue)"
    }
    guard let place = arguments.firstIndex(of: option) else {
      return ProcessEnvironment.variables()["PHAROS_LOG_FORMAT"] == LogFormat.json.rawValue
    }
    return arguments.dropFirst(place + 1).first == LogFormat.json.rawValue
  }

  /// The settings; what is left open the environment says.
  func settings() throws -> LogSettings {
    let environment = ProcessEnvironment.variables()
    do throws(CommandFailure) {
      return try LogSettings(level: logLevel, format: logFormat, environment: environment)
    } catch {
      // The format may be known although the level is wrong.
      let settings = try? LogSettings(level: .notice, format: logFormat, environment: environment)
      (settings?.console() ?? .standard()).say(error.message, .error)
      throw ExitCode(error.status.rawValue)
    }
  }
}

/// The server that a command is about.
struct ServerOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The data folder of a server that is stopped.", valueName: "dir"))
  var data: String?

  @Option(
    help: ArgumentHelp(
      "The site file, whose stream a new data folder is for. (default: a site called pharos)",
      valueName: "file"
    )
  )
  var site: String?

  @Option(
    help: ArgumentHelp(
      "The HTTP address of a server that runs; PHAROS_TOKEN gives the operator's token.",
      valueName: "url"
    )
  )
  var url: String?

  /// Returns the access to the server.
  func access() throws -> ServerAccess {
    do throws(CommandFailure) {
      let stream = try SiteLoader.load(site, console: .standard()).site.stream
      return try ServerAccess(
        data: data,
        stream: stream,
        url: url,
        environment: ProcessEnvironment.variables()
      )
    } catch {
      Console.standard().say(error.message)
      throw ExitCode(error.status.rawValue)
    }
  }
}

extension KindSelection {
  /// The help text of the option.
  static let help: String =
    "Which events to write: \(words.map(\.word).joined(separator: ", ")), with commas between them."

  /// The text that help shows where it is the default.
  public var defaultValueDescription: String { self == .usual ? "all but state" : "\(kinds.count) kinds" }
}
