#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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
