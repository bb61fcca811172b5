import Foundation
import PharosFixes
import PharosModel

/// A walk by formula: what the sensors of a handset read that is carried so.
///
/// The handset is held flat, its top in the direction of the walk, tilted up a little. Each step is one swing of the vertical
/// acceleration; all angles turn evenly within a leg.
struct DrawnWalk {
  /// A part of the walk.
  struct Leg {
    /// How long it lasts, in seconds.
    var duration: Double
    /// The heading at its start and at its end, in radians clockwise from north.
    var heading: (from: Double, to: Double)
    /// How many steps a second, 0 for a rest.
    var cadence: Double
    /// How far the acceleration swings about gravity, in m/s².
    var swing: Double = 3

    /// A way straight on.
    static func ahead(
      _ heading: Double,
      for duration: Double,
      cadence: Double = 1.8,
      swing: Double = 3
    ) -> Leg {
      Leg(duration: duration, heading: (heading, heading), cadence: cadence, swing: swing)
    }

    /// A rest.
    static func rest(_ heading: Double, for duration: Double) -> Leg {
      Leg(duration: duration, heading: (heading, heading), cadence: 0)
    }
  }

  static let start = Timestamp(seconds: 1_700_000_000)
  var legs: [Leg]
  /// How far the top is held up, in radians.
  var tilt = 0.3
  /// The field to the north and down, in µT.
  var field = (north: 30.0, down: 35.0)
  /// By how much the turn rate reads too much about each axis, in rad/s.
  var zeroRate = 0.0
  /// By how much the compass and the rotation vector are wrong at a time, in radians clockwise.
  var compassError: (Double) -> Double = { _ in 0 }

  var duration: Double { legs.reduce(0) { $0 + $1.duration } }
  /// How many steps there are.
  var steps: Int { legs.reduce(0) { $0 + Int(($1.duration * $1.cadence).rounded()) } }

  /// All samples of some kinds, in order of time, every 20 ms.
  func samples(_ kinds: Set<MotionSample.Kind>) -> [(time: Timestamp, sample: MotionSample)] {
    var all: [(time: Timestamp, sample: MotionSample)] = []
    var start = 0.0
    var tick = 0
    for leg in legs {
      let rate = (leg.heading.to - leg.heading.from) / leg.duration
      while Double(tick) * 0.02 < start + leg.duration - 1e-9 {
        let seconds = Double(tick) * 0.02
        let passed = seconds - start
        let heading = leg.heading.from + rate * passed
        let swing = leg.cadence > 0 ? leg.swing * sin(2 * .pi * leg.cadence * passed) : 0
        let time = DrawnWalk.start + .milliseconds(Int64(tick) * 20)
        for kind in [MotionSample.Kind.rotationVector, .gyroscope, .magnetometer, .accelerometer]
        where kinds.contains(kind) {
          let vector = reading(of: kind, heading: heading, rate: rate, swing: swing, seconds: seconds)
          all.append((time, MotionSample(kind: kind, age: .zero, x: vector.x, y: vector.y, z: vector.z)))
        }
        tick += 1
      }
      start += leg.duration
    }
    return all
  }

  private func reading(
    of kind: MotionSample.Kind,
    heading: Double,
    rate: Double,
    swing: Double,
    seconds: Double
  ) -> SIMD3<Float> {
    let turn = SlowRotation(heading: heading, tilt: tilt)
    switch kind {
    case .accelerometer: return turn.inHandset(east: 0, north: 0, up: 9.81 + swing)
    case .gyroscope:
      // Clockwise as seen from above is a turn about the direction down.
      return turn.inHandset(east: 0, north: 0, up: -rate) + SIMD3(repeating: Float(zeroRate))
    case .magnetometer:
      // A compass that reads too far clockwise has its north too far anticlockwise.
      let error = compassError(seconds)
      return turn.inHandset(east: -field.north * sin(error), north: field.north * cos(error), up: -field.down)
    default: return SlowRotation(heading: heading + compassError(seconds), tilt: tilt).rotationVector
    }
  }
}

/// A rotation from the handset's axes to the world's as a matrix, worked out the slow way.
struct SlowRotation {
  /// The rows are east, north and up; the columns the handset's x, y and z.
  var rows: [[Double]]

  /// Held with its top towards a heading, and up by a tilt.
  init(heading: Double, tilt: Double) {
    let (s, c) = (sin(heading), cos(heading))
    let (st, ct) = (sin(tilt), cos(tilt))
    let x = [c, -s, 0]
    let y = [s * ct, c * ct, st]
    let z = [-s * st, -c * st, ct]
    rows = (0..<3).map { [x[$0], y[$0], z[$0]] }
  }

  /// Of a unit quaternion: each axis is turned by q v q*.
  init(quaternion q: (w: Double, x: Double, y: Double, z: Double)) {
    func product(_ a: [Double], _ b: [Double]) -> [Double] {
      [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
      ]
    }
    let columns = (1...3).map { axis in
      var v = [0.0, 0, 0, 0]
      v[axis] = 1
      return product(product([q.w, q.x, q.y, q.z], v), [q.w, -q.x, -q.y, -q.z])
    }
    rows = (1...3).map { row in columns.map { $0[row] } }
  }

  /// A direction of the world in the handset's axes: the transposed matrix times it.
  func inHandset(east: Double, north: Double, up: Double) -> SIMD3<Float> {
    let world = [east, north, up]
    let v = (0..<3).map { axis in (0..<3).reduce(0) { $0 + rows[$1][axis] * world[$1] } }
    return SIMD3(Float(v[0]), Float(v[1]), Float(v[2]))
  }

  /// The vector part of the quaternion, made so that its scalar part is not negative.
  var rotationVector: SIMD3<Float> {
    // The largest of the four parts is found first, so that nothing is divided by a small number.
    let t = rows[0][0] + rows[1][1] + rows[2][2]
    let candidates = [t, rows[0][0], rows[1][1], rows[2][2]]
    let largest = candidates.indices.max { candidates[$0] < candidates[$1] } ?? 0
    var q = [0.0, 0, 0, 0]
    if largest == 0 {
      q[0] = 1 + t
      q[1] = rows[2][1] - rows[1][2]
      q[2] = rows[0][2] - rows[2][0]
      q[3] = rows[1][0] - rows[0][1]
    } else {
      let (i, j, k) = (largest - 1, largest % 3, (largest + 1) % 3)
      q[largest] = 1 + rows[i][i] - rows[j][j] - rows[k][k]
      q[0] = rows[k][j] - rows[j][k]
      q[j + 1] = rows[j][i] + rows[i][j]
      q[k + 1] = rows[k][i] + rows[i][k]
    }
    let length = q.reduce(0) { $0 + $1 * $1 }.squareRoot() * (q[0] < 0 ? -1 : 1)
    return SIMD3(Float(q[1] / length), Float(q[2] / length), Float(q[3] / length))
  }
}

extension MotionTracker {
  /// Takes all samples, and gives all movements.
  static func movements(of samples: [(time: Timestamp, sample: MotionSample)]) -> [Movement] {
    var tracker = MotionTracker()
    var movements: [Movement] = []
    for (time, sample) in samples {
      tracker.update(sample, at: time)
      while let movement = tracker.next(through: time - .oneNanosecond) { movements.append(movement) }
    }
    while let movement = tracker.next(through: .distantFuture) { movements.append(movement) }
    return movements
  }
}

extension [Movement] {
  /// The steps among them.
  var steps: [Step] { compactMap { if case .step(let step) = $0 { step } else { nil } } }

  /// The climbs among them.
  var climbs: [Climb] { compactMap { if case .climbed(let climb) = $0 { climb } else { nil } } }

  /// How long the rests are together, in seconds.
  var rest: Double {
    reduce(0) { if case .still(let from, let to) = $1 { $0 + (to - from).seconds } else { $0 } }
  }
}
