import Atomics
import CPharos
public import PharosReports

/// The two clocks that ingest reads: one that never goes back, and the wall clock that people set.
///
/// A parameter, so that tests run on a clock of their own.
public struct IngestClock: Sendable {
  /// The time since some fixed point, counted while the machine is suspended too.
  public var steady: @Sendable () -> TimeSpan
  /// The wall clock.
  public var wall: @Sendable () -> Timestamp

  /// Makes a pair of clocks.
  public init(steady: @escaping @Sendable () -> TimeSpan, wall: @escaping @Sendable () -> Timestamp) {
    self.steady = steady
    self.wall = wall
  }

  /// The clocks of the machine.
  ///
  /// - Source: clock_gettime(2); `CLOCK_BOOTTIME` rather than `CLOCK_MONOTONIC`, which stands still while the machine
  ///   is suspended, so that a pause counts as downtime.
  public static let system = IngestClock(
    steady: { TimeSpan(nanoseconds: pharos_clock_since_boot()) },
    wall: { Timestamp(nanoseconds: pharos_clock_wall()) }
  )
}

/// The steady clock as a time of day: what all loops take R from.
///
/// The mapping is made at start and kept when somebody sets the wall clock, so that a step can neither fire a
/// deadline nor hold one back. Only while nothing has been received, when there is nothing to decide, does a step
/// forward move it: a machine that boots without a battery-backed clock gets the right date this way.
final class Timeline: Sendable {
  private let clock: IngestClock
  /// Nanoseconds from the steady clock to the time of day.
  ///
  /// Relaxed: it is a number of its own, and a loop that sees
  /// a new value late only takes a smaller R, which is still greater than its last.
  private let offset: ManagedAtomic<Int64>

  /// Maps a clock as it stands now.
  init(_ clock: IngestClock) {
    self.clock = clock
    offset = ManagedAtomic(ClockWatch.offset(of: clock).nanoseconds)
  }

  /// The time of day by the mapping.
  func now() -> Timestamp {
    Timestamp(nanoseconds: clock.steady().nanoseconds &+ offset.load(ordering: .relaxed))
  }

  /// Moves the mapping forward.
  func advance(by step: TimeSpan) {
    offset.wrappingIncrement(by: max(0, step.nanoseconds), ordering: .relaxed)
  }
}

/// R as one loop gives it out: strictly increasing, so that R and the loop's index order all inputs.
struct LoopClock {
  private let timeline: Timeline
  /// The last R that was given out.
  private(set) var last = Timestamp.distantPast

  /// Starts on a timeline.
  init(_ timeline: Timeline) { self.timeline = timeline }

  /// The next R: the time, or a nanosecond after the last R where the clock has not moved.
  mutating func next() -> Timestamp {
    last = max(timeline.now(), last + TimeSpan(nanoseconds: 1))
    return last
  }
}

/// Notices when somebody sets the wall clock.
struct ClockWatch {
  /// The smallest change that counts as a step.
  ///
  /// 50 ms: NTP slews what is less than 128 ms, which moves both clocks alike and so shows as nothing here, and two
  /// clock reads of a loaded machine lie less than a millisecond apart in the best of five.
  static let smallestStep = TimeSpan.milliseconds(50)

  private let clock: IngestClock
  private var known: TimeSpan

  /// Starts with the clocks as they stand.
  init(_ clock: IngestClock) {
    self.clock = clock
    known = ClockWatch.offset(of: clock)
  }

  /// By how much the wall clock was set since the last look, or nil if it was not.
  mutating func look() -> TimeSpan? {
    let offset = ClockWatch.offset(of: clock)
    let step = offset - known
    guard abs(step.nanoseconds) >= ClockWatch.smallestStep.nanoseconds else { return nil }
    known = offset
    return step
  }

  /// The distance between the two clocks, from the quickest of five readings, since the thread may lose the
  /// processor between the two.
  static func offset(of clock: IngestClock) -> TimeSpan {
    var best = TimeSpan.forever
    var offset = TimeSpan.zero
    for _ in 0..<5 {
      let before = clock.steady()
      let wall = clock.wall()
      let took = clock.steady() - before
      guard took < best else { continue }
      best = took
      offset = TimeSpan(nanoseconds: wall.nanoseconds &- before.nanoseconds &- took.nanoseconds / 2)
    }
    return offset
  }
}
