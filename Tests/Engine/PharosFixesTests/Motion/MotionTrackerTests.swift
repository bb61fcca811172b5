import PharosFixes
import PharosModel
import PharosTestSupport
import Testing

@Suite("A tracker of motion")
struct MotionTrackerTests {
  typealias Samples = [(time: Timestamp, sample: MotionSample)]
  static let all: Set<MotionSample.Kind> = [.accelerometer, .gyroscope, .magnetometer, .rotationVector]

  /// Walks, turns and rests by chance, with a barometer and with sensors that fall silent for a while.
  static func walk(seed: UInt64) -> Samples {
    var generator = SeededGenerator(seed: seed)
    let legs = (0..<12).map { _ in
      let from = Double.random(in: -3...3, using: &generator)
      return DrawnWalk.Leg(
        duration: Double.random(in: 1...6, using: &generator),
        heading: (from, from + Double.random(in: -1...1, using: &generator)),
        cadence: Bool.random(using: &generator) ? Double.random(in: 1.3...2.5, using: &generator) : 0
      )
    }
    let walk = DrawnWalk(legs: legs)
    var samples = walk.samples(all)
    for kind in all {
      let start = Double.random(in: 0...walk.duration, using: &generator)
      let silence = DrawnWalk.start + .seconds(start)..<DrawnWalk.start + .seconds(start + 4)
      samples.removeAll { $0.sample.kind == kind && silence.contains($0.time) }
    }
    let height = HeightTests.ramp(from: 5, speed: 0.4, to: 4)
    samples += HeightTests.samples(walk.duration, seed: seed, height: height)
    return samples.sorted { $0.time < $1.time }
  }

  @Test("how kinds are mixed and batched changes nothing", arguments: Seeds.drawn(0..<12 as Range<UInt64>))
  func batches(seed: UInt64) {
    let samples = Self.walk(seed: seed)
    let expected = MotionTracker.movements(of: samples)
    #expect(expected.count > 10)

    var generator = SeededGenerator(seed: seed &+ 1_000)
    var tracker = MotionTracker()
    var movements: [Movement] = []
    var lower = samples.startIndex
    while lower < samples.endIndex {
      // A batch of up to 0.7 s, kind by kind as handsets write them, the kinds in any order.
      let end = samples[lower].time + .milliseconds(Int64.random(in: 1...700, using: &generator))
      let upper = samples[lower...].firstIndex { $0.time >= end } ?? samples.endIndex
      let kinds = [MotionSample.Kind.accelerometer, .gyroscope, .magnetometer, .rotationVector, .barometer]
      for kind in kinds.shuffled(using: &generator) {
        for (time, sample) in samples[lower..<upper] where sample.kind == kind {
          tracker.update(sample, at: time)
        }
      }
      // What is asked for lags behind by as much as comes late.
      let asked = end - .milliseconds(Int64.random(in: 1...800, using: &generator))
      while let movement = tracker.next(through: asked) { movements.append(movement) }
      lower = upper
    }
    while let movement = tracker.next(through: .distantFuture) { movements.append(movement) }
    #expect(movements == expected)
    #expect(tracker.counters.late == 0 && tracker.counters.hurried == 0)
  }

  @Test(
    "a walk that is cut at any point has the same movements up to there",
    arguments: Seeds.drawn(20..<28 as Range<UInt64>)
  )
  func causality(seed: UInt64) {
    let samples = Self.walk(seed: seed)
    let whole = MotionTracker.movements(of: samples)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let cut = samples[Int.random(in: 0..<samples.count, using: &generator)].time
      let part = MotionTracker.movements(of: samples.filter { $0.time <= cut })
      #expect(part == whole.filter { $0.time <= cut })
    }
  }

  @Test("movements come in order, none before its time", arguments: Seeds.drawn(40..<48 as Range<UInt64>))
  func order(seed: UInt64) {
    var tracker = MotionTracker()
    var last = Timestamp.distantPast
    for (time, sample) in Self.walk(seed: seed) {
      tracker.update(sample, at: time)
      while let movement = tracker.next(through: time - .milliseconds(300)) {
        #expect(movement.time >= last && movement.time <= time - .milliseconds(300))
        last = movement.time
      }
    }
  }

  @Test("impossible samples are counted and change nothing", arguments: 60..<64 as Range<UInt64>)
  func invalid(seed: UInt64) {
    let samples = Self.walk(seed: seed)
    var generator = SeededGenerator(seed: seed)
    var tracker = MotionTracker()
    var movements: [Movement] = []
    var nonsense: UInt64 = 0
    let values: [Float] = [.nan, .infinity, -.infinity, 1e30, -1e9, .signalingNaN]
    for (time, sample) in samples {
      if Int.random(in: 0..<4, using: &generator) == 0 {
        var wrong = sample
        wrong.x = values[Int.random(in: 0..<values.count, using: &generator)]
        tracker.update(wrong, at: time)
        nonsense += 1
      }
      tracker.update(sample, at: time)
      while let movement = tracker.next(through: time - .oneNanosecond) { movements.append(movement) }
    }
    while let movement = tracker.next(through: .distantFuture) { movements.append(movement) }
    #expect(tracker.counters.invalid == nonsense)
    #expect(movements == MotionTracker.movements(of: samples))
  }

  @Test("any bits as samples, at any times, do no harm", arguments: 80..<84 as Range<UInt64>)
  func anything(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var tracker = MotionTracker()
    var reported = Timestamp.distantPast
    var given: UInt64 = 0
    for round in 0..<20_000 {
      let kind = MotionSample.Kind(rawValue: UInt8.random(in: 0...5, using: &generator)) ?? .step
      func value() -> Float {
        Bool.random(using: &generator)
          ? Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &generator))
          : Float.random(in: -1...1, using: &generator) * (kind == .barometer ? 1_000 : 10)
      }
      let near = Int64.random(in: -2_000_000_000...5_000_000_000, using: &generator)
      let time =
        Int.random(in: 0..<50, using: &generator) == 0
        ? Timestamp(nanoseconds: Int64.random(in: .min...(.max), using: &generator))
        : DrawnWalk.start + .milliseconds(Int64(round) * 10) + TimeSpan(nanoseconds: near)
      tracker.update(MotionSample(kind: kind, age: .zero, x: value(), y: value(), z: value()), at: time)
      given += 1
      if Int.random(in: 0..<30, using: &generator) == 0, time < DrawnWalk.start + .seconds(100_000) {
        while let movement = tracker.next(through: time) {
          #expect(movement.time >= reported)
          reported = movement.time
          if case .step(let step) = movement {
            #expect(step.length > 0 && step.length <= 3)
            #expect(step.heading.map { $0.radians.magnitude <= 3.15 && $0.biasDeviation > 0 } ?? true)
          }
        }
      }
    }
    let counters = tracker.counters
    #expect(
      counters.accepted + counters.invalid + counters.late + counters.thinned + counters.unordered >= given
    )
  }

  @Test("a sample for a reported time is late, one that goes back is out of order, so is a repeated one")
  func late() {
    var tracker = MotionTracker()
    let sample = MotionSample(kind: .accelerometer, age: .zero, x: 0, y: 0, z: 9.8)
    let time = DrawnWalk.start
    tracker.update(sample, at: time + .seconds(1))
    tracker.update(sample, at: time + .seconds(1))
    tracker.update(sample, at: time + .seconds(0.9))
    #expect(tracker.counters.unordered == 2)
    _ = tracker.next(through: time + .seconds(2))
    tracker.update(sample, at: time + .seconds(2))
    #expect(tracker.counters.late == 1)
    tracker.update(sample, at: time + .seconds(2.1))
    #expect(tracker.counters.accepted == 2)
  }

  @Test("a clock that was an hour ahead for one sample does not silence the sensor")
  func clockStep() {
    var samples = DrawnWalk(legs: [.ahead(0, for: 10)]).samples([.accelerometer])
    let expected = MotionTracker.movements(of: samples).steps.count
    samples[100].time = samples[100].time + .seconds(3_600)
    var tracker = MotionTracker()
    var movements: [Movement] = []
    for (index, (time, sample)) in samples.enumerated() {
      tracker.update(sample, at: time)
      let asked = DrawnWalk.start + .milliseconds(Int64(index) * 20 - 1_000)
      while let movement = tracker.next(through: asked) { movements.append(movement) }
    }
    while let movement = tracker.next(through: .distantFuture) { movements.append(movement) }
    #expect(movements.steps.count == expected)
    #expect(tracker.counters.unordered == 1)
  }

  @Test("sensors that are read faster than needed are thinned and give the same steps", arguments: [2, 4, 8])
  func thinned(times: Int) {
    let walk = DrawnWalk(legs: [.ahead(0.5, for: 20)])
    let plain = MotionTracker.movements(of: walk.samples([.accelerometer, .rotationVector])).steps
    let dense = walk.samples([.accelerometer, .rotationVector]).flatMap { time, sample in
      (0..<times).map { (time: time + .milliseconds(Int64(20 / times * $0)), sample: sample) }
    }
    let steps = MotionTracker.movements(of: dense.sorted { $0.time < $1.time }).steps
    #expect(steps.count == plain.count)
  }

  @Test("without queries the oldest are reported early, and the memory stays bounded")
  func bounded() {
    var tracker = MotionTracker()
    let samples = DrawnWalk(legs: [.ahead(0, for: 60)]).samples(Self.all)
    for (time, sample) in samples { tracker.update(sample, at: time) }
    #expect(tracker.counters.hurried > 0 && tracker.counters.forgotten > 0)
    var left = 0
    while tracker.next(through: .distantFuture) != nil { left += 1 }
    #expect(left >= MotionTracker.waitingLimit)

    // Rings grow by doubling, up to their limits.
    let entries = MotionTracker.lanes.reduce(0) { $0 + Int($1.rate * 1.6) + 1 }
    let lanes = entries * MemoryLayout<MotionLane.Entry>.stride
    let waiting = MotionTracker.waitingLimit * MemoryLayout<Movement>.stride
    let own = MemoryLayout<MotionTracker>.size + 6 * MemoryLayout<MotionLane>.stride
    #expect(lanes + waiting + own <= 8 * 1_024, "\(lanes) + \(waiting) + \(own)")
  }

  @Test("a longer horizon holds what comes far ahead")
  func horizon() {
    let samples = DrawnWalk(legs: [.ahead(0.3, for: 30)]).samples(Self.all)
    let expected = MotionTracker.movements(of: samples)
    var tracker = MotionTracker(horizon: .seconds(5))
    var movements: [Movement] = []
    for (time, sample) in samples {
      tracker.update(sample, at: time)
      while let movement = tracker.next(through: time - .seconds(4.5)) { movements.append(movement) }
    }
    while let movement = tracker.next(through: .distantFuture) { movements.append(movement) }
    #expect(movements == expected)
    #expect(tracker.counters.hurried == 0)
  }

  @Test("the same samples give the same tracker")
  func determinism() {
    let samples = Self.walk(seed: 99)
    func tracker() -> MotionTracker {
      var tracker = MotionTracker()
      for (time, sample) in samples {
        tracker.update(sample, at: time)
        while tracker.next(through: time) != nil {}
      }
      return tracker
    }
    #expect(tracker() == tracker())
    #expect(tracker().hashValue == tracker().hashValue)
  }
}
