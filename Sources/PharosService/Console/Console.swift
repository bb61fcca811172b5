#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The output of a command: one sink for results, another for messages about them.
package struct Console: Sendable {
  /// Takes results: events, lines, tables, what a pipe carries on.
  package let output: any OutputSink
  /// Takes what people read beside them: errors, progress, summaries.
  package let errors: any OutputSink
  /// How results may look.
  package let outputStyle: TerminalStyle
  /// How errors and progress may look.
  package let errorStyle: TerminalStyle

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

  /// Says something beside the results; who cannot be told is not told.
  package func say(_ text: String) {
    try? errors.write(Array((text + "\n").utf8))
    try? errors.flush()
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
      say(reason)
      return .failure
    case let failure as CommandFailure:
      try? output.flush()
      say(failure.message)
      return failure.status
    case is CancellationError:
      return .success
    default:
      try? output.flush()
      say("\(error)")
      return .failure
    }
  }
}
