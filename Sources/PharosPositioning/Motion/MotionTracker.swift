package import PharosReports

/// A tracker that turns the samples of one handset's motion sensors into movements, as they come in.
///
/// Samples of one kind come in order of time. Kinds may be mixed in any way, in batches of about a second, as handsets
/// write them. Samples wait until the caller asks for their time with ``next(through:)``, and are then processed in
/// order of time over all kinds, so the batching does not affect the result. A movement at a time depends on no later
/// sample.
///
/// Samples that cannot be used (not a number, out of order, too late) are counted in ``counters`` and change nothing.
/// The horizon bounds the number of waiting samples: when samples run further ahead of the time that the caller asked
/// for, the tracker processes the oldest ones early.
///
/// - Complexity: A tenth of a microsecond a sample. A handset takes at most 8 KiB with the usual horizon, and 4 KiB
///   with acceleration and rotation vector alone.
package struct MotionTracker: Hashable, Sendable {
  /// The constants.
  package let rules: MotionRules
  /// What was not used, and why.
  package private(set) var counters = MotionCounters()
  /// The time up to which movements have been determined.
  ///
  /// Samples up to that time come too late.
  package private(set) var toldThrough = Timestamp.distantPast
  /// The time of the newest acceleration or step that was processed.
  ///
  /// What the handset has done since is unknown.
  package internal(set) var sensedThrough: Timestamp?

  private var lanes: [MotionLane]
  /// The time of the first sample of each lane, in nanoseconds; the greatest number where it is empty.
  private var fronts = SIMD8<Int64>(repeating: .max)
  private var waiting: [Movement] = []
  var gait = Gait()
  var compass = Compass()
  var rest = RestWatch()
  var heights = HeightWatch()

  /// How many samples of each kind may wait for each second, and how far apart those are that are kept.
  ///
  /// In the order of `MotionSample.Kind`: acceleration, turn rate, field, rotation vector, pressure, steps. Steps show in 50 samples
  /// of acceleration a second; orientation and field are wanted as often as a hand turns.
  package static let lanes: [(rate: Double, spacing: TimeSpan)] = [
    (50, .milliseconds(15)), (50, .milliseconds(15)), (14, .milliseconds(75)), (27, .milliseconds(35)),
    (6, .milliseconds(180)), (6, .milliseconds(150)),
  ]
  /// The longest horizon, which takes 40 KiB.
  static let longestHorizon = TimeSpan.seconds(10)
  /// By how much a sample has to lie behind the last one for the clock to have been set back, so that what came before was of the future.
  static let clockStep = TimeSpan.seconds(10)
  /// How many movements may wait to be fetched.
  package static let waitingLimit = 16

  /// Creates a tracker of a handset of which nothing is known yet.
  ///
  /// - Parameters:
  ///   - rules: The constants.
  ///   - horizon: The longest time for which samples wait, from the time for which movements are requested to the
  ///     newest sample: the lag of the caller, plus half a second for batches. It is held between 0.5 and 10 s.
  package init(rules: MotionRules = MotionRules(), horizon: TimeSpan = .seconds(1.6)) {
    self.rules = rules
    let seconds = min(max(horizon, .milliseconds(500)), MotionTracker.longestHorizon).seconds
    lanes = MotionTracker.lanes.map { MotionLane(limit: Int($0.rate * seconds) + 1, spacing: $0.spacing) }
  }

  /// Takes a sample, whose own `age` does not count: the time is given.
  package mutating func take(_ sample: MotionSample, at time: Timestamp) {
    guard MotionTracker.isSensible(sample) else {
      counters.senseless += 1
      return
    }
    let kind = Int(sample.kind.rawValue)
    guard time > toldThrough else {
      counters.late += 1
      return
    }
    if lanes[kind].latest.isAhead(of: time, by: MotionTracker.clockStep) {
      counters.unordered += UInt64(lanes[kind].rewind(to: time))
      fronts[kind] = lanes[kind].first?.time.nanoseconds ?? .max
    }
    guard time > lanes[kind].latest else {
      counters.unordered += 1
      return
    }
    guard lanes[kind].admits(time) else {
      counters.thinned += 1
      return
    }
    while lanes[kind].isFull {
      counters.hurried += 1
      processNext(through: .distantFuture)
    }
    if lanes[kind].count == 0 { fronts[kind] = time.nanoseconds }
    lanes[kind].append(MotionLane.Entry(time: time, x: sample.x, y: sample.y, z: sample.z))
    counters.taken += 1
  }

  /// The next movement that was known by a time, or nil if there is none: call it until then.
  ///
  /// Samples up to that time that come afterwards are late.
  package mutating func next(through time: Timestamp) -> Movement? {
    repeat {
      if let first = waiting.first, first.time <= time { return waiting.removeFirst() }
    } while processNext(through: time)
    toldThrough = max(toldThrough, time)
    return nil
  }

  /// Returns what the handset does at a time.
  ///
  /// The caller must have fetched the movements up to that time.
  package func activity(at time: Timestamp) -> Activity {
    if let (speed, course) = gait.walking(at: time, rules: rules) {
      return .walking(speed: speed, course: course)
    }
    guard let sensedThrough, time - sensedThrough <= max(rules.sampleLife, gait.life(rules)) else {
      return .unknown
    }
    return rest.isResting(at: time, rules: rules) ? .still : .restless
  }

  /// Processes the earliest sample that waits, if it is early enough; says whether there was one.
  @discardableResult
  private mutating func processNext(through limit: Timestamp) -> Bool {
    var chosen = 0
    var earliest = Int64.max
    // At one instant orientation counts before the acceleration that may end a step.
    let order = SIMD8<UInt8>(3, 1, 2, 4, 5, 0, 6, 7)
    for place in 0..<6 {
      let kind = Int(order[place])
      if fronts[kind] < earliest { (chosen, earliest) = (kind, fronts[kind]) }
    }
    guard earliest <= limit.nanoseconds, let entry = lanes[chosen].popFirst(),
      let kind = MotionSample.Kind(rawValue: UInt8(chosen))
    else { return false }
    fronts[chosen] = lanes[chosen].first?.time.nanoseconds ?? .max
    toldThrough = max(toldThrough, entry.time)
    process(entry, of: kind)
    return true
  }

  /// Queues a movement for ``next(through:)``.
  ///
  /// If the queue is full, the oldest movement is dropped and counted.
  mutating func tell(_ movement: Movement) {
    if waiting.count == MotionTracker.waitingLimit {
      waiting.removeFirst()
      counters.forgotten += 1
    }
    waiting.append(movement)
  }
}

extension Timestamp {
  /// Whether the point lies later than another one by a span or more.
  fileprivate func isAhead(of other: Timestamp, by span: TimeSpan) -> Bool {
    self != .distantPast && self - other >= span
  }
}
