import PharosModel

/// The rate limit of log lines about dropped datagrams: one for the first, then at most one a minute.
struct DropLog {
  private var lastLine = Timestamp.distantPast
  private var unsaid: UInt64 = 0

  /// Counts dropped datagrams and returns the number to log, if it is time for a line.
  mutating func record(_ drops: UInt64, at time: Timestamp) -> UInt64? {
    unsaid += drops
    guard unsaid > 0, time - lastLine >= .minutes(1) else { return nil }
    defer { unsaid = 0 }
    lastLine = time
    return unsaid
  }
}

/// The socket counters of one loop.
struct LoopCounters: Sendable {
  /// Datagrams that the kernel dropped because the receive buffer was full.
  var kernelDrops: UInt64 = 0
  /// The number of times that a socket had to wait because a ring was full.
  var ringWaits: UInt64 = 0
  /// Errors of sockets.
  var socketErrors: UInt64 = 0
}
