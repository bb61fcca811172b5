import Glibc
import Synchronization

/// A request to a running gateway to send what it has and to end.
package final class GatewayStop: Sendable {
  private static let isSignalled = Atomic<Bool>(false)
  private static let signalPipe = Atomic<Int32>(-1)

  let pipe: WakePipe
  private let isAsked = Atomic<Bool>(false)
  private let heedsSignals: Bool

  /// Creates a stop that is not requested yet, or nil if the system has no file descriptors left.
  ///
  /// - Parameter heedsSignals: pass true to let SIGTERM and SIGINT request it from now on: for the only gateway of a
  ///   process.
  package init?(heedsSignals: Bool = false) {
    guard let pipe = WakePipe() else { return nil }
    self.pipe = pipe
    self.heedsSignals = heedsSignals
    guard heedsSignals else { return }
    GatewayStop.signalPipe.store(pipe.writing, ordering: .releasing)
    for number in [SIGTERM, SIGINT] {
      // Without SA_RESTART, so that a signal also interrupts the opening of a named pipe that has no writer.
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in GatewayStop.signalled() }
      sigaction(number, &action, nil)
    }
  }

  /// Asks the gateway to end; from any thread.
  package func ask() {
    // Release here, acquire in `isRequested`: the caller may have written data that the end needs.
    isAsked.store(true, ordering: .releasing)
    pipe.wake()
  }

  /// Indicates whether a stop was requested.
  var isRequested: Bool {
    isAsked.load(ordering: .acquiring) || heedsSignals && GatewayStop.isSignalled.load(ordering: .acquiring)
  }

  /// Handles a signal with two stores and a write, all of which a handler may do.
  private static func signalled() {
    isSignalled.store(true, ordering: .releasing)
    let descriptor = signalPipe.load(ordering: .acquiring)
    if descriptor >= 0 { WakePipe.wake(descriptor) }
  }
}

/// A pipe to itself, by which other threads and signal handlers end a `poll(2)`.
final class WakePipe: Sendable {
  /// The end to be polled.
  let reading: Int32
  /// The end to be written to; writing is all that a signal handler may do with it.
  let writing: Int32

  /// Makes a pipe, or gives nil where the system has no descriptors left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    reading = ends[0]
    writing = ends[1]
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit {
    _ = close(reading)
    _ = close(writing)
  }

  /// Ends the present or the next poll.
  func wake() { WakePipe.wake(writing) }

  /// Ends the poll of the pipe that has this writing end; safe in a signal handler.
  static func wake(_ descriptor: Int32) {
    // A full pipe wakes as well as one more byte would.
    withUnsafeBytes(of: UInt8(1)) { _ = write(descriptor, $0.baseAddress, 1) }
  }

  /// Takes the bytes out that woke it.
  func drain() {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      while read(reading, buffer.baseAddress, buffer.count) == buffer.count {}
    }
  }
}
