// How a subject is found to be stationary, and to move again:
//
// A subject at rest is displaced by nothing, one that moves by at least the profile's speed times the time that has passed.
// The fixes of some time, back from the newest one, decide between the two:
//
// 1. The time is long enough: at least the profile's duration, and so long that the slowest movement separates the 68 %
//    circles of the first fix and of the last one. Vague fixes take longer. Measured speeds below the profile's speed do
//    without the second.
// 2. The displacement is nearer to that of rest than to that of the slowest movement, which is the likelier of the two where
//    errors are equally likely in all directions. It is √12 times the root mean square distance of the fixes from their mean:
//    the length of a straight, steady movement of that scatter. What goes to and fro scatters as well. Measured speeds below
//    the profile's speed do without this test too.
// 3. The speeds from each fix to the one that the slowest movement would reach outside its 68 % circle are, on the root mean
//    square, nearer to rest too, so that pacing is no rest. Measured speeds do without this test.
// 4. The scatter is no larger than that of the profile's distance halved, or than the accuracies of the fixes explain: √2 of
//    their deviation along one axis.
// 5. The newest fix does not show that the subject has left.
//
// A subject has left its rest if a fix is further from the mean than all but one of a thousand fixes at rest. The errors of a
// subject at rest hardly change, so that its fixes scatter by less than their accuracies: the scatter at this rest counts,
// together with one fix of the stated accuracy. For a plane normal distribution of root mean square distance s, the distance
// exceeds k · s with a probability of exp(-k²). A measured speed of at least the profile's, another floor, and a place outside
// the plane end a rest at once. Where a lower speed is measured, fixes that wander by what their accuracies explain are no
// departure, though the few that decided scattered by less: only a subject that is carried while it rests gets further.
//
// - Source: the mean of a growing series without its sum of squares: Welford, "Note on a method for calculating corrected sums of
//   squares and products", Technometrics 4 (1962). The Rayleigh distribution of distances: Siddiqui, "Statistical inference for
//   Rayleigh distributions", J. Res. NBS 68D (1964).

package import PharosModel
import PharosSpace

/// A state machine that makes the live updates of one subject of its fixes, and of their absence.
///
/// The machine knows no clock: fixes come in order, and the caller calls ``expire()`` when there was none for too long.
package struct StationaryTrack: Sendable {
  /// What there is to report.
  package enum Change: Hashable, Sendable {
    /// A fix of a subject that moves, or of which it is not known.
    case located
    /// The subject is stationary since a time; nothing follows until that ends.
    case stationary(since: Timestamp)
    /// There is no fix; nothing follows until there is one.
    case unavailable
  }

  /// A fix on the plane.
  private struct Sample: Sendable {
    var time: Timestamp
    var point: Point
    /// The 68 % radius in metres.
    var radius: Double
    /// Indicates whether its speed was measured, and is below the profile's.
    var isStill: Bool

    /// The mean square distance from the truth in square metres.
    var square: Double {
      let deviation = max(VisitScale.minimumDeviation, radius / VisitScale.radiusOfDeviation)
      return 2 * deviation * deviation
    }
  }

  /// The fixes of a rest.
  private struct Rest: Sendable {
    /// The mean of its fixes.
    var center: Point
    /// The number of fixes of which it is the mean.
    var count: Double
    /// The number of fixes that decided.
    let decisive: Double
    /// The mean square distance of these from their mean, in square metres.
    let scatter: Double

    /// Returns whether a fix shows that the subject has left.
    func isLeft(by sample: Sample) -> Bool {
      let off = sample.point - center
      let square = (sample.square + decisive * scatter) / (decisive + 1)
      return off.dot(off) > StationaryTrack.departure * (sample.isStill ? max(square, sample.square) : square)
    }

    /// Takes a fix into the mean, which forgets: errors that change slowly are followed.
    mutating func add(_ sample: Sample) {
      count = min(count + 1, decisive * StationaryTrack.memory)
      center = center + (sample.point - center) * (1 / count)
    }
  }

  private enum State: Sendable {
    /// The fixes since the last evidence of a movement.
    case moving([Sample])
    case stationary(Rest)
    case unavailable
  }

  /// The time for which fixes are kept, in durations of the profile: what takes longer to decide is too vague.
  private static let memory = 4.0
  /// The square of the distance, in units of the mean square one, that one fix at rest in a thousand exceeds: ln 1,000.
  private static let departure = 6.908
  /// The smallest number of fixes that decide.
  private static let minimumFixes = 3

  private let profile: MotionProfile
  private var state = State.moving([])
  private var ground: VisitFix.Ground?
  /// The plane of the outdoors.
  private var plane: GroundPlane?
  private var latest = Timestamp.distantPast

  /// Creates a machine that knows nothing yet.
  package init(_ profile: MotionProfile) { self.profile = profile }

  /// Takes the next fix of the subject.
  ///
  /// - Returns: the change to report with this fix, or nil while the subject is stationary.
  package mutating func receive(_ fix: VisitFix) -> Change? {
    guard fix.time > latest, let point = place(of: fix), fix.accuracy.isFinite, fix.accuracy > 0 else {
      if case .stationary = state { return nil }
      return .located
    }
    latest = fix.time
    let sample = Sample(
      time: fix.time,
      point: point,
      radius: fix.accuracy,
      isStill: fix.speed.map { $0 < profile.speed } ?? false
    )
    let isMoving = fix.speed.map { $0 >= profile.speed } ?? false
    switch state {
    case .stationary(var rest) where !isMoving && !rest.isLeft(by: sample):
      rest.add(sample)
      state = .stationary(rest)
      return nil
    case .moving(var samples) where !isMoving:
      // Taken out of the state, so that the array is not copied.
      state = .unavailable
      samples.append(sample)
      let reach = fix.time - profile.duration * Self.memory
      if let first = samples.firstIndex(where: { $0.time >= reach }) { samples.removeFirst(first) }
      guard let found = rest(in: samples) else {
        state = .moving(samples)
        return .located
      }
      state = .stationary(found.rest)
      return .stationary(since: found.since)
    case .moving, .stationary, .unavailable:
      state = .moving([sample])
      return .located
    }
  }

  /// Ends the wait for a fix.
  ///
  /// - Returns: the change, or nil if it was reported already.
  package mutating func expire() -> Change? {
    if case .unavailable = state { return nil }
    state = .unavailable
    return .unavailable
  }

  /// Returns the place of a fix on the plane of its ground, or nil for a fix that has none; another ground is a movement.
  private mutating func place(of fix: VisitFix) -> Point? {
    if ground != fix.ground {
      ground = fix.ground
      plane = nil
      state = .moving([])
    }
    guard fix.ground.floor == nil else {
      return fix.point.x.isFinite && fix.point.y.isFinite ? fix.point : nil
    }
    guard let coordinate = fix.coordinate else { return nil }
    if let point = plane?.point(of: coordinate) { return point }
    if plane != nil { state = .moving([]) }
    plane = GroundPlane(origin: coordinate)
    return plane?.point(of: coordinate)
  }

  /// Returns the rest that the newest fixes show, with the time of its first fix, or nil if they show none.
  private func rest(in samples: [Sample]) -> (rest: Rest, since: Timestamp)? {
    guard let last = samples.last else { return nil }
    var (weight, count, scatter, stated) = (0.0, 0.0, 0.0, 0.0)
    var mean = Point.origin
    var isStill = true
    for (place, sample) in samples.enumerated().reversed() {
      let share = 1 / (sample.radius * sample.radius)
      let off = sample.point - mean
      scatter += off.dot(off) * share * weight / (weight + share)
      weight += share
      mean = mean + off * (share / weight)
      stated += sample.square
      count += 1
      isStill = isStill && sample.isStill
      let span = last.time - sample.time
      let way = profile.speed * span.seconds
      guard span >= profile.duration, Int(count) >= Self.minimumFixes,
        isStill || way >= sample.radius + last.radius
      else { continue }
      let square = scatter / weight
      let displacement = (12 * square).squareRoot()
      guard displacement <= profile.distance / 2 || square <= stated / count,
        isStill || displacement <= way / 2 && speed(over: samples[place...]) <= profile.speed / 2
      else { continue }
      let rest = Rest(center: mean, count: count, decisive: count, scatter: square)
      guard !rest.isLeft(by: last) else { continue }
      let first = samples[..<place].lastIndex { rest.isLeft(by: $0) }
      return (rest, samples[first.map { $0 + 1 } ?? 0].time)
    }
    return nil
  }
  /// Returns the root mean square of the speeds that fixes show over the time in which the slowest movement covers their mean
  /// radius, a quarter of the profile's duration at least; infinite if none of them are so far apart.
  private func speed(over samples: ArraySlice<Sample>) -> Double {
    let radius = samples.reduce(0) { $0 + $1.radius } / Double(samples.count)
    let lag = max(profile.duration * 0.25, .seconds(radius / profile.speed))
    var speeds = DerivedSpeeds()
    var before = samples.startIndex
    for sample in samples {
      while before + 1 < samples.endIndex, sample.time - samples[before + 1].time >= lag { before += 1 }
      let span = sample.time - samples[before].time
      if span >= lag { speeds.add(samples[before].point.distance(to: sample.point) / span.seconds) }
    }
    return speeds.isEmpty ? .infinity : speeds.rootMeanSquare
  }
}
