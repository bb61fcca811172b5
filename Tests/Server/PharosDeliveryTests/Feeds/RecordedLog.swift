import Logging
import Synchronization

/// A log handler that keeps what is logged.
struct RecordedLog: LogHandler {
  private final class Kept: Sendable {
    let lines = Mutex<[String]>([])
  }

  private let kept = Kept()
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  /// What was logged: the level, then the message.
  var lines: [String] { kept.lines.withLock { $0 } }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    kept.lines.withLock { $0.append("\(event.level): \(event.message)") }
  }
}
