import Synchronization

/// Which applications have a live stream open, which is what `whenInUse` depends on.
package final class LiveApplications: Sendable {
  private let streams = Mutex<[String: Int]>([:])

  /// Starts without an open stream.
  package init() {}

  /// The applications that have at least one live stream open.
  package var names: Set<String> { streams.withLock { Set($0.keys) } }

  /// An application opens a stream.
  func open(_ application: String) {
    streams.withLock { $0[application, default: 0] += 1 }
  }

  /// An application closes a stream.
  func close(_ application: String) {
    streams.withLock { streams in
      guard let count = streams[application] else { return }
      streams[application] = count > 1 ? count - 1 : nil
    }
  }
}
