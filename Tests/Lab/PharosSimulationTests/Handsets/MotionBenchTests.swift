import PharosModel
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Simulated sensors")
struct MotionBenchTests {
  static let planner = JourneyPlanner(venue: SimulatedMall.venue(), storey: SimulatedMall.storey)

  static func handset(
    _ journeySteps: [JourneyStep],
    sensors: Handset.Sensors = Handset.Sensors(hasMagnetometer: true)
  ) throws
    -> Handset
  {
    let journey = try planner.journey(on: SimulatedMall.floor(0), from: Point(x: 5, y: 20), journeySteps)
    return Handset(id: .name("h"), journey: journey, motion: .raw(sensors))
  }

  /// All samples of a kind with their times in seconds.
  static func samples(
    _ kind: MotionSample.Kind,
    of handset: Handset,
    seconds: Int64,
    seed: UInt64 = 1
  ) -> [(
    time: Double, x: Double, y: Double, z: Double
  )] {
    var bench = MotionBench(handset, seed: seed)
    return (0..<seconds).flatMap { second in
      let end = TimeSpan.seconds(Double(second + 1))
      return bench.samples(from: .seconds(Double(second)), until: end).filter { $0.kind == kind }
        .map { ((end - $0.age).seconds, Double($0.x), Double($0.y), Double($0.z)) }
    }
  }

  /// A vector of the device turned into east, north and up by a unit quaternion, by the textbook's matrix.
  static func turned(
    _ v: (Double, Double, Double),
    by q: (x: Double, y: Double, z: Double)
  ) -> (Double, Double, Double) {
    let w = max(0, 1 - q.x * q.x - q.y * q.y - q.z * q.z).squareRoot()
    let rows = [
      [1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.z * w), 2 * (q.x * q.z + q.y * w)],
      [2 * (q.x * q.y + q.z * w), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.x * w)],
      [2 * (q.x * q.z - q.y * w), 2 * (q.y * q.z + q.x * w), 1 - 2 * (q.x * q.x + q.y * q.y)],
    ]
    let results = rows.map { $0[0] * v.0 + $0[1] * v.1 + $0[2] * v.2 }
    return (results[0], results[1], results[2])
  }

  @Test("samples come at their rate, at the same times however time is cut")
  func rate() throws {
    let handset = try Self.handset([.walk(to: Point(x: 50, y: 20))])
    var whole = MotionBench(handset, seed: 3)
    let once = whole.samples(from: .zero, until: .seconds(4)).map {
      ($0.kind, (.seconds(4) - $0.age) as TimeSpan, $0.x)
    }
    var parts = MotionBench(handset, seed: 3)
    let often = (0..<Int64(16)).flatMap { part in
      let end = TimeSpan.milliseconds(250 * part + 250)
      return parts.samples(from: .milliseconds(250 * part), until: end).map { ($0.kind, end - $0.age, $0.x) }
    }
    #expect(once.count { $0.0 == .accelerometer } == 200)
    #expect(once.count { $0.0 == .barometer } == 20)
    let oncePlain = once.filter { $0.0 != .barometer }
    let oftenPlain = often.filter { $0.0 != .barometer }
    #expect(oncePlain.map(\.1) == oftenPlain.map(\.1))
    #expect(oncePlain.count == 800)
  }

  @Test("at rest, gravity points down and the field north, through the rotation vector")
  func attitude() throws {
    // One walks a little first, so as to face somewhere: towards the north-east.
    let handset = try Self.handset([.walk(to: Point(x: 8, y: 23)), .stay(.seconds(30))])
    let rest = 6.0..<30.0
    let vectors = Self.samples(.rotationVector, of: handset, seconds: 30).filter { rest.contains($0.time) }
    let forces = Self.samples(.accelerometer, of: handset, seconds: 30).filter { rest.contains($0.time) }
    let fields = Self.samples(.magnetometer, of: handset, seconds: 30).filter { rest.contains($0.time) }
    var force = (0.0, 0.0, 0.0)
    var field = (0.0, 0.0, 0.0)
    var ahead = (0.0, 0.0, 0.0)
    for ((vector, f), m) in zip(zip(vectors, forces), fields) {
      let q = (x: vector.x, y: vector.y, z: vector.z)
      let turnedForce = Self.turned((f.x, f.y, f.z), by: q)
      let turnedField = Self.turned((m.x, m.y, m.z), by: q)
      let turnedAhead = Self.turned((0, 1, 0), by: q)
      force = (force.0 + turnedForce.0, force.1 + turnedForce.1, force.2 + turnedForce.2)
      field = (field.0 + turnedField.0, field.1 + turnedField.1, field.2 + turnedField.2)
      ahead = (ahead.0 + turnedAhead.0, ahead.1 + turnedAhead.1, ahead.2 + turnedAhead.2)
    }
    let count = Double(vectors.count)
    #expect(vectors.count == 1_200)
    #expect(abs(force.0 / count) < 0.05 && abs(force.1 / count) < 0.05)
    #expect(abs(force.2 / count - 9.80665) < 0.02)
    #expect(abs(field.0 / count) < 0.5)
    #expect(abs(field.1 / count - 20) < 0.3)
    #expect(abs(field.2 / count + 44) < 0.3)
    // The device's y axis points where one faces, tilted up by 20°, turned by what steel does to compasses.
    #expect(abs(ahead.2 / count - 0.343) < 0.001)
    let heading = Trigonometry.angle(y: ahead.0, x: ahead.1)
    #expect(abs(heading - .pi / 4) < 0.25)
  }

  @Test("each step shakes once, and rest is still")
  func shaking() throws {
    let handset = try Self.handset([.stay(.seconds(10)), .walk(to: Point(x: 50, y: 20)), .stay(.seconds(10))])
    let length = Int64(handset.journey.duration.seconds)
    let forces = Self.samples(.accelerometer, of: handset, seconds: length).map {
      ($0.time, ($0.x * $0.x + $0.y * $0.y + $0.z * $0.z).squareRoot() - 9.80665)
    }
    let rest = forces.filter { $0.0 < 9.9 }.map(\.1)
    #expect(rest.deviation < 0.1)
    var peaks = 0
    var armed = true
    for (_, force) in forces {
      if armed, force > 2.5 {
        peaks += 1
        armed = false
      } else if force < -0.5 {
        armed = true
      }
    }
    let steps = handset.journey.steps(at: handset.journey.duration)
    #expect(abs(Double(peaks) - steps) <= 1.5, "\(peaks) peaks, \(steps) steps")
  }

  @Test("the gyroscope adds up to the turns, clockwise ones negative")
  func turning() throws {
    let handset = try Self.handset([.walk(to: Point(x: 12, y: 20)), .walk(to: Point(x: 12, y: 16))])
    let rates = Self.samples(.gyroscope, of: handset, seconds: 8)
    // About the axis that points up, which leans by the tilt in the device.
    let tilt = Trigonometry.sineAndCosine(0.35)
    let turn = rates.map { ($0.y * tilt.sine + $0.z * tilt.cosine) / 50 }.reduce(0, +)
    #expect(abs(turn + .pi / 2) < 0.15)
  }

  @Test("a lift pushes up when it starts upwards and lets go when it stops")
  func lift() throws {
    let handset = try Self.handset([
      .ride(SimulatedMall.lift, to: SimulatedMall.floor(2)), .stay(.seconds(5)),
    ])
    let ride = (0..<10_000).map { Double($0) / 100 }
      .filter { handset.journey.place(at: .seconds($0)).manner == .lift }
    let start = try #require(ride.first) + 4
    let end = try #require(ride.last) - 4
    let forces = Self.samples(.accelerometer, of: handset, seconds: 60).map {
      ($0.time, ($0.x * $0.x + $0.y * $0.y + $0.z * $0.z).squareRoot() - 9.80665)
    }
    #expect(forces.filter { (start + 0.3..<start + 1.3).contains($0.0) }.map(\.1).mean > 0.5)
    #expect(forces.filter { (end - 1.3..<end - 0.3).contains($0.0) }.map(\.1).mean < -0.5)
    let pressures = Self.samples(.barometer, of: handset, seconds: 60)
    let below = pressures.filter { $0.time < start }.map(\.x).mean
    let above = pressures.filter { $0.time > end && $0.time < end + 10 }.map(\.x).mean
    // 9 m are 1.08 hPa; weather and noise come on top.
    #expect(abs(below - above - 1.08) < 0.15)
  }

  @Test("handsets that find steps themselves tell nearly all of them")
  func reportedSteps() throws {
    var handset = try Self.handset([.walk(to: Point(x: 55, y: 20)), .walk(to: Point(x: 5, y: 21))])
    handset.motion = .steps
    let steps = Self.samples(.step, of: handset, seconds: Int64(handset.journey.duration.seconds) + 1)
    #expect(abs(Double(steps.count) - 0.98 * handset.journey.steps(at: handset.journey.duration)) < 5)
    #expect(abs(steps.map(\.x).mean - handset.journey.gait.stepLength) < 0.03)
    #expect(abs(steps.filter { $0.time < 30 }.map(\.y).mean - .pi / 2) < 0.2)
  }
}
