import CPharos
package import PharosModel
import PharosPipeline

/// The two clocks that ingest reads: one that never goes back, and the wall clock that people set.
///
/// A parameter, so that tests run on a clock of their own.
package struct IngestClock: Sendable {
  /// The time since some fixed point, counted while the machine is suspended too.
  package var steady: @Sendable () -> TimeSpan
  /// The wall clock.
  package var wall: @Sendable () -> Timestamp

  /// The smallest jump of the steady clock between two readings from which the server concludes that it stood still.
  package var minimumPause: TimeSpan

  /// Makes a pair of clocks.
  ///
  /// - Parameters:
  ///   - steady: the time since some fixed point.
  ///   - wall: the wall clock.
  ///   - minimumPause: the smallest jump that counts as a pause; by default none does, since clocks advanced by hand
  ///     jump.
  package init(
    steady: @escaping @Sendable () -> TimeSpan,
    wall: @escaping @Sendable () -> Timestamp,
    minimumPause: TimeSpan = .forever
  ) {
    self.steady = steady
    self.wall = wall
    self.minimumPause = minimumPause
  }

  /// The clocks of the machine.
  ///
  /// - Source: clock_gettime(2); `CLOCK_BOOTTIME` rather than `CLOCK_MONOTONIC`, which stands still while the machine
  ///   is suspended, so that a pause counts as downtime.
  package static let system = IngestClock(
    steady: { TimeSpan(nanoseconds: pharos_clock_since_boot()) },
    wall: { Timestamp(nanoseconds: pharos_clock_wall()) },
    minimumPause: PipelineInput.minimumPause
  )
}

/// The steady clock as a time of day: the source of R for all loops.
///
/// The mapping is made at start and kept when the wall clock is set, so that a step can neither fire a
/// deadline nor hold one back; the merger maps what is decided later to the new time.
package struct Timeline: Sendable {
  private let clock: IngestClock
  /// From the steady clock to the time of day.
  private let offset: TimeSpan

  /// The offset from the steady clock to the wall clock that published events use; readings of the wall clock are
  /// compared with it.
  package let eventOffset: TimeSpan

  /// The minimum distance between the last instant of the previous run and the first one of this run.
  ///
  /// A millisecond: more than a reading is rounded by.
  private static let margin = TimeSpan.milliseconds(1)

  /// Maps a clock as it stands now, or goes on with the mapping of the run before.
  ///
  /// - Parameters:
  ///   - clock: the clocks.
  ///   - instant: the last instant of the run before: R never goes back, whatever was done to the wall clock.
  ///   - correction: the difference between the wall clock's time and R, as it was there.
  package init(_ clock: IngestClock, behind instant: Timestamp? = nil, correction: TimeSpan = .zero) {
    self.clock = clock
    var offset = ClockWatch.offset(of: clock) - correction
    if let instant {
      let earliest = instant + Timeline.margin
      let now = Timestamp(nanoseconds: (clock.steady() + offset).nanoseconds)
      if now < earliest { offset = offset + (earliest - now) }
    }
    self.offset = offset
    eventOffset = offset + correction
  }

  /// The time of day by the mapping.
  package func now() -> Timestamp { Timestamp(nanoseconds: (clock.steady() + offset).nanoseconds) }
}

/// R as one loop gives it out: one clock reading for each receive call, and from it an R for each of its datagrams.
///
/// R alone orders all inputs. The clock is read in steps of 2,048 ns, of which each loop has 128 ns of its own: the
/// datagrams of a call get a nanosecond each, in the order in which they came, and no two loops ever give the same R.
package struct LoopClock {
  /// The number of inputs that one reading serves: the slots of a receive call and the datagrams that NIO had read
  /// before it.
  package static let inputsPerReading: Int64 = 128
  /// The distance between readings, which has room for the inputs of every loop.
  private static let step = inputsPerReading * Int64(IngestConfiguration.Limits.loops.upperBound)

  private let timeline: Timeline
  private let offset: Int64
  private var reading = Int64.min
  /// The last R that was given out.
  private(set) var last = Timestamp.distantPast

  /// Starts on a timeline, for the loop with an index.
  package init(_ timeline: Timeline, loop: Int = 0) {
    self.timeline = timeline
    offset = Int64(loop) * LoopClock.inputsPerReading
  }

  /// The next R, the first of ``inputsPerReading``: the time, or the next step where the clock has not moved.
  package mutating func next() -> Timestamp {
    let now = timeline.now().nanoseconds
    let step = LoopClock.step
    reading = max(now - (now % step + step) % step, reading == .min ? .min : reading + step)
    last = Timestamp(nanoseconds: reading + offset)
    return last
  }

  /// The R behind all that a reading serves, of the same loop.
  static func following(_ reading: Timestamp) -> Timestamp { reading + TimeSpan(nanoseconds: step) }

  /// An R before all that loops give out from now on.
  package static func before(_ timeline: Timeline) -> Timestamp {
    let now = timeline.now().nanoseconds
    return Timestamp(nanoseconds: now - (now % step + step) % step - 1)
  }

  /// The last R that a reading serves: the watermark that covers its inputs.
  package static func end(of reading: Timestamp) -> Timestamp {
    reading + TimeSpan(nanoseconds: inputsPerReading - 1)
  }
}

/// A watch that notices when the wall clock is set.
package struct ClockWatch {
  /// The smallest change that counts as a step.
  ///
  /// 50 ms: NTP slews what is less than 128 ms, which moves both clocks alike and so shows as nothing here, and two
  /// clock reads of a loaded machine lie less than a millisecond apart in the best of five.
  static let smallestStep = TimeSpan.milliseconds(50)

  private let clock: IngestClock
  private var known: TimeSpan

  /// Starts from the current offset between the clocks, or from the one that published events use if they differ.
  ///
  /// - Parameters:
  ///   - clock: the clocks.
  ///   - eventOffset: the offset from the steady clock to the wall clock that published events use; nil for the current one.
  package init(_ clock: IngestClock, eventOffset: TimeSpan? = nil) {
    self.clock = clock
    known = eventOffset ?? ClockWatch.offset(of: clock)
  }

  /// Returns the step by which the wall clock was set since the last call, or nil if it was not set.
  package mutating func look() -> TimeSpan? {
    let offset = ClockWatch.offset(of: clock)
    let step = offset - known
    guard abs(step.nanoseconds) >= ClockWatch.smallestStep.nanoseconds else { return nil }
    known = offset
    return step
  }

  /// The distance between the two clocks, from the quickest of five readings, since the thread may lose the
  /// processor between the two.
  package static func offset(of clock: IngestClock) -> TimeSpan {
    var best = TimeSpan.forever
    var offset = TimeSpan.zero
    for _ in 0..<5 {
      let before = clock.steady()
      let wall = clock.wall()
      let elapsed = clock.steady() - before
      guard elapsed < best else { continue }
      best = elapsed
      offset = TimeSpan(nanoseconds: wall.nanoseconds &- before.nanoseconds &- elapsed.nanoseconds / 2)
    }
    return offset
  }
}
