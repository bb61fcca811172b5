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
package struct CommandFailure: Error, Sendable {
  /// How the process ends.
  package let status: CommandStatus
  /// What went wrong, where, what was expected and what to do; one or more lines.
  package let message: String

  /// Makes a failure.
  package init(_ message: String, status: CommandStatus = .failure) {
    self.status = status
    self.message = message
  }
}
