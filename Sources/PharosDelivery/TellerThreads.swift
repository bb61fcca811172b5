import Dispatch

/// Where a teller works and what time it is there: two serial threads and a clock.
///
/// A parameter, so that a simulation runs a teller on its own thread and by its own time.
package struct TellerThreads: Sendable {
  /// A piece of work.
  package typealias Work = @Sendable () -> Void

  /// Does a piece of work soon, one after the other: commits, and what follows from them.
  package let work: @Sendable (@escaping Work) -> Void
  /// Does a piece of work among the others after a time.
  package let workLater: @Sendable (Duration, @escaping Work) -> Void
  /// Does a piece of work soon, one after the other and beside the commits: writing checkpoints.
  package let keep: @Sendable (@escaping Work) -> Void
  /// The time since the teller was made.
  package let elapsed: @Sendable () -> Duration

  /// Makes threads of functions.
  package init(
    work: @escaping @Sendable (@escaping Work) -> Void,
    workLater: @escaping @Sendable (Duration, @escaping Work) -> Void,
    keep: @escaping @Sendable (@escaping Work) -> Void,
    elapsed: @escaping @Sendable () -> Duration
  ) {
    self.work = work
    self.workLater = workLater
    self.keep = keep
    self.elapsed = elapsed
  }

  /// Queues of the teller's own and the machine's clock.
  static func system() -> TellerThreads {
    let start = ContinuousClock.now
    let queue = DispatchQueue(label: "pharos.teller", qos: .userInitiated)
    let keeper = DispatchQueue(label: "pharos.teller.checkpoints", qos: .utility)
    return TellerThreads(
      work: { work in queue.async { work() } },
      workLater: { delay, work in queue.asyncAfter(deadline: .now() + delay.inSeconds) { work() } },
      keep: { work in keeper.async { work() } },
      elapsed: { ContinuousClock.now - start }
    )
  }
}
