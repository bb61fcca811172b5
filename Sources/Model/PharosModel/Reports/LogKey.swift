/// The keys of the metadata in log lines, in one place so that they stay what dashboards look for.
package enum LogKey {
  /// The command that the operator may run.
  package static let command = "command"
  /// A count.
  package static let count = "count"
  /// The number of datagrams that the system dropped.
  package static let drops = "drops"
  /// The message of an error.
  package static let error = "error"
  /// The number of events.
  package static let events = "events"
  /// The meaning of a reason.
  package static let explanation = "explanation"
  /// A limit's name.
  package static let limit = "limit"
  /// The address of a listener.
  package static let listener = "listener"
  /// The number of events that could not be written.
  package static let lost = "events.lost"
  /// A request's method.
  package static let method = "http.method"
  /// The metric that counts what a limit refused.
  package static let metric = "metric"
  /// The size of a buffer that was requested.
  package static let asked = "asked_bytes"
  /// The size of a buffer that the system gave.
  package static let granted = "granted_bytes"
  /// A request's path.
  package static let path = "http.path"
  /// The time for which the process stood still.
  package static let pause = "pause_seconds"
  /// The reason of a failure or a refusal.
  package static let reason = "reason"
  /// A sequence number.
  package static let sequence = "sequence"
  /// The sender of a datagram.
  package static let source = "source"
  /// The step of the wall clock.
  package static let step = "step_seconds"
  /// The number of similar messages that were not logged.
  package static let suppressed = "suppressed"
  /// The value that met a limit.
  package static let value = "value"
}
