public import PharosReports
public import PharosWire
import Synchronization

/// A key with its window, shared by all threads that receive.
///
/// The kernel spreads datagrams over sockets by their addresses, so one sender's may arrive at any of them, and a repeat
/// anywhere. All judge by the same window, behind a lock of its own: it is taken once for a datagram, for some twenty
/// nanoseconds, and by two threads at once only where two of one sender's datagrams arrive in that moment.
public final class SignedSender: Sendable {
  /// Which key it is.
  public let name: SenderName

  private let window: Mutex<SenderWindow>

  /// Begins with a window.
  public init(_ name: SenderName, window: SenderWindow = SenderWindow()) {
    self.name = name
    self.window = Mutex(window)
  }

  /// Judges a datagram that the key has signed, and marks it as taken if the judgement is to take it.
  ///
  /// - Parameters:
  ///   - head: the head of the datagram.
  ///   - received: its R.
  ///   - lease: the last R at which the lease on the disk allows datagrams to be taken.
  /// - Returns: what to do with it.
  public func judge(
    _ head: PharosDatagramHead,
    received: Timestamp,
    lease: Timestamp
  ) -> SenderWindow.Judgement {
    window.withLock { $0.judge(head, received: received, lease: lease, of: name) }
  }

  /// A record is kept.
  public func kept(_ record: SenderRecord) { window.withLock { $0.kept(record) } }

  /// What to keep before anything is received; see ``SenderWindow/recordAtStart(_:)``.
  public var recordAtStart: SenderRecord? { window.withLock { $0.recordAtStart(name) } }

  /// What to keep when nothing is received any more; see ``SenderWindow/recordAtEnd(_:)``.
  public var recordAtEnd: SenderRecord? { window.withLock { $0.recordAtEnd(name) } }
}
