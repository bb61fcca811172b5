import PharosModel

/// The server's two clocks over all its runs, and how each run takes R from them.
///
/// What `Timeline` and `ClockWatch` of PharosIngest do with the machine's clocks: R never goes back over a restart, and a step of
/// the wall clock is noticed within a second and decides nothing.
struct ServerClock {
  /// The wall clock at the world's beginning.
  private static let epoch: Int64 = 1_800_000_000_000_000_000
  /// The least step that counts as one.
  private static let smallestStep = TimeSpan.milliseconds(50)

  /// How far the wall clock has been set.
  var wallOffset: TrueTime = 0
  /// From the world's time to R.
  private var shift: TrueTime = 0
  /// From the world's time to the wall clock as events tell it.
  private var committed: TrueTime = 0

  /// The wall clock.
  func wall(_ now: TrueTime) -> Timestamp { Timestamp(nanoseconds: ServerClock.epoch + now + wallOffset) }

  /// A run begins, behind the checkpoint of the run before if there is one.
  mutating func start(at now: TrueTime, behind instant: Timestamp?, correction: TimeSpan) {
    shift = ServerClock.epoch + wallOffset - correction.nanoseconds
    if let instant { shift = max(shift, instant.nanoseconds + 1_000_000 - now) }
    committed = shift + correction.nanoseconds
  }

  /// R.
  func received(_ now: TrueTime) -> Timestamp { Timestamp(nanoseconds: now + shift) }

  /// The world's time of an R.
  func trueTime(_ received: Timestamp) -> TrueTime { received.nanoseconds - shift }

  /// By how much the wall clock was set since the last look.
  mutating func look() -> TimeSpan? {
    let step = ServerClock.epoch + wallOffset - committed
    guard abs(step) >= ServerClock.smallestStep.nanoseconds else { return nil }
    committed += step
    return TimeSpan(nanoseconds: step)
  }
}
