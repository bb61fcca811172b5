/// The keys of the metadata in log lines, in one place so that they stay what dashboards look for.
enum LogKey {
  static let listener = "listener"
  static let source = "source"
  static let reason = "reason"
  static let explanation = "explanation"
  static let suppressed = "suppressed"
  static let error = "error"
  static let drops = "drops"
  static let asked = "asked_bytes"
  static let granted = "granted_bytes"
  static let command = "command"
  static let step = "step_seconds"
  static let pause = "pause_seconds"
}
