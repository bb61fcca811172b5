import Glibc
package import Logging
import PharosDocuments
import PharosModel

/// The output of a command: one sink for results, another for messages about them.
package struct Console: Sendable {
  /// Takes results: events, lines, tables, what a pipe carries on.
  package let output: any OutputSink
  /// Takes what people read beside them: errors, progress, summaries.
  package let errors: any OutputSink
  /// The style of results.
  package let outputStyle: TerminalStyle
  /// The style of errors and progress.
  package let errorStyle: TerminalStyle
  /// The log that takes messages, if standard error has the format of the log.
  private var log: Logger?

  /// Makes a console from two sinks; without styles they are taken for pipes.
  package init(
    output: any OutputSink,
    errors: any OutputSink,
    outputStyle: TerminalStyle = .plain,
    errorStyle: TerminalStyle = .plain
  ) {
    self.output = output
    self.errors = errors
    self.outputStyle = outputStyle
    self.errorStyle = errorStyle
  }

  /// A console that drops everything.
  package static var discarding: Console { Console(output: MemorySink(), errors: MemorySink()) }

  /// The console of this process.
  ///
  /// Turns SIGPIPE off, so that `pharos process … | head` ends quietly.
  package static func standard() -> Console {
    signal(SIGPIPE, SIG_IGN)
    let outputStyle = TerminalStyle(descriptor: STDOUT_FILENO)
    return Console(
      output: DescriptorSink(
        descriptor: STDOUT_FILENO,
        threshold: outputStyle.isTerminal ? 0 : DescriptorSink.usualThreshold
      ),
      errors: DescriptorSink(descriptor: STDERR_FILENO, threshold: 0),
      outputStyle: outputStyle,
      errorStyle: TerminalStyle(descriptor: STDERR_FILENO)
    )
  }

  /// Writes one line of results.
  package func print(_ line: String) throws(OutputError) {
    try output.write(Array((line + "\n").utf8))
  }

  /// Writes one line of results about a mistake or a warning, in its colour.
  package func print(_ line: String, isMistake: Bool) throws(OutputError) {
    try print(outputStyle.paint(line, isMistake ? .red : .yellow))
  }

  /// Returns the console with messages that are lines of a log, so that all of standard error has one format.
  package func logging(to logger: Logger) -> Console {
    var console = self
    console.log = logger
    return console
  }

  /// Writes a message to ``errors``, and ignores a failure to write.
  ///
  /// - Parameters:
  ///   - text: the message.
  ///   - level: its level in a log; text for people has none.
  ///   - details: values by name: rows below the text, or metadata of the log.
  package func say(_ text: String, _ level: LogLevel = .notice, details: [Detail] = []) {
    guard let log else {
      let lines = [text] + details.map(\.row)
      try? errors.write(Array(lines.map { $0 + "\n" }.joined().utf8))
      try? errors.flush()
      return
    }
    let metadata = Dictionary(details.map { ($0.name, $0.value) }) { "\($0); \($1)" }
      .mapValues { Logger.MetadataValue.string(LogPrivacy.hidden($0)) }
    log.log(level: level.level, "\(LogPrivacy.hidden(text))", metadata: metadata)
  }

  /// A value of a message, with its name.
  package struct Detail: Sendable {
    let name: String
    let value: String

    /// Makes a value.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// The value as a line below the message.
    package var row: String { "  \(name.padded(to: 11))\(value)" }
  }

  /// Runs a command's body and turns whatever stops it into an exit status and a sentence.
  package func run(_ body: () throws -> CommandStatus) -> CommandStatus {
    do {
      let status = try body()
      try output.flush()
      return status
    } catch {
      return explain(error)
    }
  }

  /// Runs a command's body and turns whatever stops it into an exit status and a sentence.
  package func run(_ body: () async throws -> CommandStatus) async -> CommandStatus {
    do {
      let status = try await body()
      try output.flush()
      return status
    } catch {
      return explain(error)
    }
  }

  private func explain(_ error: any Error) -> CommandStatus {
    switch error {
    case OutputError.closed:
      return .success
    case OutputError.failed(let reason):
      say(reason, .error)
      return .failure
    case let failure as CommandFailure:
      try? output.flush()
      say(failure.message, .error)
      return failure.status
    case is CancellationError:
      return .success
    default:
      try? output.flush()
      say("\(error)", .error)
      return .failure
    }
  }
}

/// The exit status of a command.
///
/// - Source: the two codes above 1 are those of `sysexits.h`.
package enum CommandStatus: Int32, Sendable {
  /// All went well.
  case success = 0
  /// Something failed on the way: a damaged capture, a port in use.
  case failure = 1
  /// The command line was wrong (`EX_USAGE`).
  case usage = 64
  /// The site file was wrong (`EX_CONFIG`).
  case configuration = 78
}

/// An error that ends a command, with a message for the user.
package struct CommandFailure: Error, CustomStringConvertible, Sendable {
  /// The exit status of the process.
  package let status: CommandStatus
  /// A message of one or more lines: what went wrong, where, what was expected and what to do.
  package let message: String

  /// The message.
  package var description: String { message }

  /// Makes a failure.
  package init(_ message: String, status: CommandStatus = .failure) {
    self.status = status
    self.message = message
  }
}

/// The capabilities of an output beyond plain text.
package struct TerminalStyle: Equatable, Sendable {
  /// Indicates whether people read the output as it is written: only then are lines redrawn.
  package let isTerminal: Bool
  /// Indicates whether colours may be used.
  package let usesColor: Bool
  /// The number of columns, at least 40.
  package let width: Int

  /// A pipe, a file, or a test: no colour, no redrawing, 80 columns.
  package static let plain = TerminalStyle(isTerminal: false, usesColor: false, width: 80)

  /// Makes a style.
  package init(isTerminal: Bool, usesColor: Bool, width: Int) {
    self.isTerminal = isTerminal
    self.usesColor = usesColor
    self.width = max(40, width)
  }

  /// Finds out about a descriptor; the `NO_COLOR` convention and `TERM=dumb` are honoured.
  package init(descriptor: Int32) {
    let isTerminal = isatty(descriptor) == 1
    let isDumb = TerminalStyle.environment("TERM") == "dumb"
    let refusesColor = TerminalStyle.environment("NO_COLOR").map { !$0.isEmpty } ?? false
    var size = winsize()
    let hasSize = isTerminal && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    self.init(
      isTerminal: isTerminal && !isDumb,
      usesColor: isTerminal && !isDumb && !refusesColor,
      width: hasSize ? Int(size.ws_col) : 80
    )
  }

  /// The colours that tables use.
  package enum Color: Int, Sendable {
    /// Something is gone or wrong.
    case red = 31
    /// Something is here or well.
    case green = 32
    /// Something deserves a look.
    case yellow = 33
    /// Something stands back.
    case gray = 90
  }

  /// The text in a colour, or as it is where colours may not be used.
  package func paint(_ text: String, _ color: Color) -> String {
    usesColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}

/// A bar that is redrawn on a terminal, and nothing at all elsewhere.
package struct ProgressBar: Sendable {
  private let console: Console
  private let label: String
  private let elapsed: @Sendable () -> Duration
  private var shownTenths = -1
  private var isShown = false

  /// The number of cells of the bar itself.
  private static let cells = 30

  /// The time after which the remaining time is shown.
  private static let minimumTime = Duration.seconds(5)

  /// Makes a bar that shows nothing yet; `elapsed` returns the time since its beginning, by default that of the machine.
  package init(_ label: String, on console: Console, elapsed: (@Sendable () -> Duration)? = nil) {
    self.console = console
    self.label = label
    let start = ContinuousClock.now
    self.elapsed = elapsed ?? { start.duration(to: .now) }
  }

  /// Shows the progress; draws only when it has changed by a tenth of a percent.
  ///
  /// - Parameters:
  ///   - done: the amount that is done.
  ///   - total: the whole amount, or nil if it is unknown (a pipe); then nothing is drawn.
  package mutating func show(_ done: Int, of total: Int?) {
    guard console.errorStyle.isTerminal, let total, total > 0 else { return }
    let tenths = min(
      1_000,
      done.multipliedReportingOverflow(by: 1_000).overflow ? 1_000 : done * 1_000 / total
    )
    guard tenths != shownTenths else { return }
    shownTenths = tenths
    isShown = true
    let filled = ProgressBar.cells * tenths / 1_000
    let bar =
      String(repeating: "█", count: filled) + String(repeating: "░", count: ProgressBar.cells - filled)
    let left = remaining(at: tenths)
    let room = max(0, console.errorStyle.width - ProgressBar.cells - 10 - left.count)
    let name = PlainText.cut(PlainText.clean(label), to: room)
    write("\r\(bar) \(tenths / 10).\(tenths % 10) %\(left) \(name)\u{1B}[K")
  }

  /// The time that is left at the speed so far, in its two largest units; empty while that is a guess.
  private func remaining(at tenths: Int) -> String {
    let elapsed = elapsed()
    guard tenths > 0, tenths < 1_000, elapsed >= ProgressBar.minimumTime else { return "" }
    let seconds = (elapsed / tenths * (1_000 - tenths)).components.seconds
    let units = [
      ("d", seconds / 86_400), ("h", seconds / 3_600 % 24), ("min", seconds / 60 % 60), ("s", seconds % 60),
    ]
    let shown = units.drop { $0.1 == 0 }.prefix(2).map { "\($0.1) \($0.0)" }
    return ", \(shown.isEmpty ? "0 s" : shown.joined(separator: " ")) left"
  }

  /// Wipes the bar away, so that what follows starts on a clean line.
  package mutating func clear() {
    guard isShown else { return }
    isShown = false
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    try? console.errors.write(Array(text.utf8))
    try? console.errors.flush()
  }
}
