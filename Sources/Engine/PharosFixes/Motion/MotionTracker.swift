import DequeModule
package import PharosDocuments
package import PharosModel

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
  /// The numbers of samples and movements that were used or dropped, by reason.
  package private(set) var counters = MotionCounters()
  /// The time up to which movements have been determined.
  ///
  /// Samples up to that time come too late.
  package private(set) var reportedThrough = Timestamp.distantPast
  /// The time of the newest acceleration or step that was processed.
  ///
  /// The activity of the handset since then is unknown.
  package internal(set) var sensedThrough: Timestamp?

  private var lanes: [MotionLane]
  private var waiting: [Movement] = []
  var steps = StepDetector()
  var gait = Gait()
  var compass = Compass()
  var rest = RestWatch()
  var heights = HeightWatch()

  /// The number of samples of each kind that may wait for each second, and the minimum time between two samples that
  /// are kept.
  ///
  /// The order is that of `MotionSample.Kind`: acceleration, turn rate, field, rotation vector, pressure, steps. Steps
  /// can be detected in 50 samples of acceleration a second. Orientation and field are needed as often as a hand
  /// turns.
  package static let lanes: [(rate: Double, spacing: TimeSpan)] = [
    (50, .milliseconds(15)), (50, .milliseconds(15)), (14, .milliseconds(75)), (27, .milliseconds(35)),
    (6, .milliseconds(180)), (6, .milliseconds(150)),
  ]
  /// The longest horizon, which takes 40 KiB.
  static let maximumHorizon = TimeSpan.seconds(10)
  /// The time by which a sample must lie behind the last one to show that the clock was set back, so that the earlier
  /// samples have times in the future.
  static let clockStep = TimeSpan.seconds(10)
  /// The maximum number of movements that may wait to be fetched.
  package static let waitingLimit = 16

  /// Creates a tracker of a handset of which nothing is known yet.
  ///
  /// - Parameter horizon: The longest time for which samples wait, from the time for which movements are requested to
  ///   the newest sample: the lag of the caller, plus half a second for batches. It is held between 0.5 and 10 s.
  package init(horizon: TimeSpan = .seconds(1.6)) {
    let seconds = min(max(horizon, .milliseconds(500)), MotionTracker.maximumHorizon).seconds
    lanes = MotionTracker.lanes.map { MotionLane(limit: Int($0.rate * seconds) + 1, spacing: $0.spacing) }
  }

  /// Takes a sample at a given time.
  ///
  /// The sample's own `age` does not count.
  package mutating func update(_ sample: MotionSample, at time: Timestamp) {
    guard MotionTracker.isSensible(sample) else {
      counters.invalid += 1
      return
    }
    let kind = Int(sample.kind.rawValue)
    guard time > reportedThrough else {
      counters.late += 1
      return
    }
    if lanes[kind].latest != .distantPast, lanes[kind].latest - time >= MotionTracker.clockStep {
      counters.unordered += UInt64(lanes[kind].rewind(to: time))
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
    lanes[kind].append(MotionLane.Entry(time: time, x: sample.x, y: sample.y, z: sample.z))
    counters.accepted += 1
  }

  /// Returns the next movement that was known by a time, or nil if there is none.
  ///
  /// Call it until it returns nil.
  ///
  /// Samples up to that time that come afterwards are late.
  package mutating func next(through time: Timestamp) -> Movement? {
    repeat {
      if let first = waiting.first, first.time <= time { return waiting.removeFirst() }
    } while processNext(through: time)
    reportedThrough = max(reportedThrough, time)
    return nil
  }

  /// Processes the earliest waiting sample, if it is early enough, and returns whether there was one.
  @discardableResult
  private mutating func processNext(through limit: Timestamp) -> Bool {
    let next = MotionTracker.order.min { front(of: $0) < front(of: $1) }
    guard let next, front(of: next) <= limit, let entry = lanes[Int(next.rawValue)].popFirst() else {
      return false
    }
    reportedThrough = max(reportedThrough, entry.time)
    process(entry, of: next)
    return true
  }

  /// The kinds in the order in which they count at one instant: orientation before the acceleration that may end a step.
  private static let order: [MotionSample.Kind] = [
    .rotationVector, .gyroscope, .magnetometer, .barometer, .step, .accelerometer,
  ]

  /// The time of the first waiting sample of a kind.
  private func front(of kind: MotionSample.Kind) -> Timestamp {
    lanes[Int(kind.rawValue)].waiting.first?.time ?? .distantFuture
  }

  /// Queues a movement for ``next(through:)``.
  ///
  /// If the queue is full, the oldest movement is dropped and counted.
  mutating func enqueue(_ movement: Movement) {
    if waiting.count == MotionTracker.waitingLimit {
      waiting.removeFirst()
      counters.forgotten += 1
    }
    waiting.append(movement)
  }
}

extension MotionTracker {
  /// Returns whether a sample has values that a sensor can produce.
  static func isSensible(_ sample: MotionSample) -> Bool {
    switch sample.kind {
    case .accelerometer: isWithin(160, sample)
    case .gyroscope: isWithin(160, sample)
    case .magnetometer: isWithin(5_000, sample)
    case .rotationVector: isWithin(1.01, sample)
    case .barometer: sample.x >= 300 && sample.x <= 1_100
    // Length and heading may be unknown, but a length that is given must be possible for a step.
    case .step: !(sample.x < 0) && !(sample.x > 3) && !(sample.y.magnitude > 100)
    }
  }

  private static func isWithin(_ limit: Float, _ sample: MotionSample) -> Bool {
    sample.x.magnitude <= limit && sample.y.magnitude <= limit && sample.z.magnitude <= limit
  }

  /// Processes the next sample.
  mutating func process(_ entry: MotionLane.Entry, of kind: MotionSample.Kind) {
    let vector = SIMD3(entry.x, entry.y, entry.z)
    switch kind {
    case .rotationVector: compass.update(rotationVector: vector, at: entry.time)
    case .gyroscope:
      let isResting = rest.isResting(at: entry.time)
      compass.update(turnRate: vector, at: entry.time, isResting: isResting)
    case .magnetometer: compass.update(field: vector, at: entry.time)
    case .accelerometer: process(acceleration: vector, at: entry.time)
    case .barometer:
      if let climb = heights.update(entry.x, at: entry.time) { enqueue(.climbed(climb)) }
    case .step:
      sensedThrough = entry.time
      let heading = compass.heading(at: entry.time)
      rest.wake()
      enqueue(.step(gait.addStep(length: entry.x, heading: entry.y, own: heading, at: entry.time)))
    }
  }

  private mutating func process(acceleration: SIMD3<Float>, at time: Timestamp) {
    sensedThrough = time
    compass.update(acceleration: acceleration, at: time)
    let strength = acceleration.square.squareRoot()
    if let mark = steps.update(strength, at: time) {
      rest.wake()
      let heading = compass.heading(at: time)
      if let step = gait.addStep(mark, heading: heading, at: time) { enqueue(.step(step)) }
    }
    if let still = rest.update(strength, at: time) { enqueue(still) }
  }
}

/// The waiting samples of one kind, in order of their times, up to a number.
package struct MotionLane: Hashable, Sendable {
  /// One sample.
  package struct Entry: Hashable, Sendable {
    /// The time of sampling.
    var time: Timestamp
    /// The first value.
    var x: Float
    /// The second value.
    var y: Float
    /// The third value.
    var z: Float
  }

  /// The maximum number of waiting samples.
  let limit: Int
  /// The least time between two samples that are kept.
  let spacing: TimeSpan
  private(set) var waiting: Deque<Entry> = []
  /// The time of the last sample that came, kept or not.
  private(set) var latest = Timestamp.distantPast
  private var kept = Timestamp.distantPast

  /// Makes a lane for a number of samples at a distance.
  init(limit: Int, spacing: TimeSpan) {
    self.limit = limit
    self.spacing = spacing
  }

  /// Indicates whether there is no room for another sample.
  var isFull: Bool { waiting.count == limit }

  /// Records that a sample came, and returns whether it is far enough from the last one that was kept.
  mutating func admits(_ time: Timestamp) -> Bool {
    latest = time
    guard kept == .distantPast || time - kept >= spacing else { return false }
    kept = time
    return true
  }

  /// Adds a sample, for which there is room.
  mutating func append(_ entry: Entry) {
    // All at once: growing by steps would overshoot the limit.
    if waiting.isEmpty { waiting.reserveCapacity(limit) }
    waiting.append(entry)
  }

  /// Removes and returns the next sample.
  mutating func popFirst() -> Entry? { waiting.popFirst() }

  /// Removes the waiting samples from a time on, because the clock was set back, and returns their number.
  mutating func rewind(to time: Timestamp) -> Int {
    let before = waiting.count
    while let last = waiting.last, last.time >= time { waiting.removeLast() }
    latest = waiting.last?.time ?? .distantPast
    kept = latest
    return before - waiting.count
  }
}

/// The numbers of samples and movements that a tracker used or dropped, by reason.
package struct MotionCounters: Hashable, Sendable {
  /// Samples that were taken.
  package var accepted: UInt64 = 0
  /// Samples that are no number, or no value that a sensor can have.
  package var invalid: UInt64 = 0
  /// Samples not later than the one before of their kind.
  package var unordered: UInt64 = 0
  /// Samples that arrived after the movements up to their time had been determined.
  package var late: UInt64 = 0
  /// Samples dropped because their kind comes more often than necessary.
  package var thinned: UInt64 = 0
  /// Samples that were processed before the caller asked for their time, because a queue was full.
  package var hurried: UInt64 = 0
  /// Movements that were dropped because the caller did not fetch them in time.
  package var forgotten: UInt64 = 0

  /// Starts at zero.
  package init() {}
}

extension MotionTracker {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    for index in lanes.indices { try lanes[index].visitFields(&coder) }
    try coder.code(&waiting)
    try coder.code(&reportedThrough)
    try coder.code(&sensedThrough)
    try steps.visitFields(&coder)
    try gait.visitFields(&coder)
    try compass.visitFields(&coder)
    try rest.visitFields(&coder)
    try heights.visitFields(&coder)
  }
}

extension MotionLane {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(deque: &waiting)
    try coder.code(&latest)
    try coder.code(&kept)
  }
}

extension MotionLane.Entry: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(
    _ value: () -> Self,
    by coder: inout C
  ) throws(C.Failure) -> Self {
    Self(
      time: try coder.field(value().time),
      x: try coder.field(value().x),
      y: try coder.field(value().y),
      z: try coder.field(value().z)
    )
  }
}
