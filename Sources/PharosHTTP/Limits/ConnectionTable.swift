import Synchronization

/// The open connections up to a limit, and the choice of the one that is closed when a further one comes.
///
/// A client whose connection is closed while the server waits for it only has to connect again. The table therefore
/// closes the connection that has waited longest. A client that opens connections and sends nothing, or one byte at a
/// time, displaces its own connections, and a client that sends a whole request at once is served.
package final class ConnectionTable: Sendable {
  /// What becomes of a new connection.
  package enum Admission {
    /// It is taken.
    case taken
    /// It is taken in place of another one, which this closes.
    case takenInstead(of: @Sendable () -> Void)
    /// It is refused: all others are being served.
    case refused
  }

  private struct Entry {
    var close: @Sendable () -> Void
    /// Since when it has waited for its client, as a number that grows; nil while something is done for it.
    var waitingSince: UInt64?
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var turn: UInt64 = 0
  }

  /// How many there may be.
  let capacity: Int
  private let state = Mutex(State())

  package init(capacity: Int) { self.capacity = max(1, capacity) }

  /// How many there are.
  package var count: Int { state.withLock { $0.entries.count } }

  /// A connection was opened.
  ///
  /// - Parameters:
  ///   - connection: what tells it from others.
  ///   - close: closes it, should it have to give way.
  /// - Returns: what becomes of it.
  package func open(_ connection: AnyObject, close: @escaping @Sendable () -> Void) -> Admission {
    let name = ObjectIdentifier(connection)
    return state.withLock { state in
      state.turn += 1
      var admission = Admission.taken
      if state.entries.count >= capacity {
        guard let longest = ConnectionTable.longestWaiting(in: state.entries) else { return .refused }
        guard let entry = state.entries.removeValue(forKey: longest) else { return .refused }
        admission = .takenInstead(of: entry.close)
      }
      state.entries[name] = Entry(close: close, waitingSince: state.turn)
      return admission
    }
  }

  /// A connection waits for its client, or does so no longer.
  package func update(_ connection: AnyObject, isWaiting: Bool) {
    let name = ObjectIdentifier(connection)
    state.withLock { state in
      state.turn += 1
      state.entries[name]?.waitingSince = isWaiting ? state.turn : nil
    }
  }

  /// A connection was closed; says whether it was still known.
  @discardableResult
  package func close(_ connection: AnyObject) -> Bool {
    let name = ObjectIdentifier(connection)
    return state.withLock { $0.entries.removeValue(forKey: name) != nil }
  }

  /// All are looked at, which at the usual limit takes some 20 µs: less than it takes to open a connection.
  private static func longestWaiting(in entries: [ObjectIdentifier: Entry]) -> ObjectIdentifier? {
    var longest: (key: ObjectIdentifier, since: UInt64)?
    for (key, entry) in entries {
      guard let since = entry.waitingSince else { continue }
      if let longest, longest.since <= since { continue }
      longest = (key, since)
    }
    return longest?.key
  }
}
