package import PharosDocuments
package import PharosModel

// A subject must be at a place by a time. Its slack is the time left, minus the margin, minus the walk from where it is.
//
//   1. Each fix gives the walk that is left; the median of the last three counts, so that one wrong fix decides nothing.
//   2. While the slack is positive, there is time, and no warning.
//   3. Once it is negative, the subject is warned, unless it is walking there already and half the margin is left.
//   4. A warned subject is warned again if its walk has grown by so much that it goes the wrong way.
//   5. A subject that is there is not warned while it stays there.
//   6. A subject without fixes is taken to stay where it was last.

/// Decides when a subject has to leave for an appointment: a function of the walks that its fixes leave, without a clock.
package struct DepartureWatch: Hashable, Sendable {
  /// The time by which a subject must be at a place.
  package struct Appointment: Hashable, Sendable {
    /// The time.
    package var time: Timestamp
    /// The time to spare at the arrival.
    package var margin: TimeSpan

    /// Makes an appointment.
    package init(time: Timestamp, margin: TimeSpan) {
      self.time = time
      self.margin = margin
    }
  }

  /// The walk that a fix leaves.
  private struct Sample: Hashable, Sendable {
    let time: Timestamp
    let walk: TimeSpan
  }

  /// The walk up to which a subject is there: eight metres, the largest distance at which guidance ends.
  static let arrivalWalk = TimeSpan.seconds(6)
  /// The walk beyond which a subject that was there has left.
  static let leavingWalk = TimeSpan.seconds(20)
  /// The growth of the walk by which a warned subject goes the wrong way: more than fixes err.
  static let wrongWay = TimeSpan.seconds(20)
  /// The shortest time between two warnings: to read one, to turn and to walk some metres.
  static let minimumPause = TimeSpan.seconds(30)
  /// The maximum number of warnings of one appointment.
  package static let maximumWarnings = 5
  /// The time after which the position of a subject without fixes is taken for unchanged.
  static let silence = TimeSpan.seconds(10)
  /// The time over which the pace is measured.
  static let window = TimeSpan.seconds(20)
  /// The smallest part of ``window`` that tells a pace.
  static let minimumWindow = TimeSpan.seconds(8)
  /// The share of the walking speed of routes from which on a subject walks to its appointment.
  static let minimumPace = 0.5
  /// The speed at which slack can shrink: time passes, while the subject runs away at 3 m/s.
  static let maximumLoss = 3.5
  /// The maximum and the minimum time between two samples.
  static let pauses = (maximum: TimeSpan.seconds(60), minimum: TimeSpan.seconds(1))

  /// The number of warnings so far.
  package private(set) var warnings = 0
  /// The time of the last warning.
  private var lastWarning = Timestamp.distantPast
  /// The samples within ``window``, or the last three, in order.
  private var samples: [Sample] = []
  /// The shortest walk since the last warning.
  private var shortest: TimeSpan?
  /// Indicates whether the subject is at the place.
  package private(set) var isThere = false

  /// Starts without a fix and without a warning.
  package init() {}

  /// The walk from where the subject is, as the last fixes give it; nil before the first one.
  package var walk: TimeSpan? {
    guard !samples.isEmpty else { return nil }
    let last = samples.suffix(3).map(\.walk).sorted()
    return last[last.count / 2]
  }

  /// Takes the walk that a fix leaves, and returns whether to warn the subject now.
  package mutating func update(walk: TimeSpan, at now: Timestamp, for appointment: Appointment) -> Bool {
    guard now > samples.last?.time ?? .distantPast else { return false }
    samples.append(Sample(time: now, walk: walk))
    while samples.count > 3, now - samples[0].time > DepartureWatch.window { samples.removeFirst() }
    guard let median = self.walk else { return false }
    isThere = median <= (isThere ? DepartureWatch.leavingWalk : DepartureWatch.arrivalWalk)
    return decide(median, at: now, appointment)
  }

  /// Lets time pass without a fix, and returns whether to warn the subject now.
  package mutating func advance(to now: Timestamp, for appointment: Appointment) -> Bool {
    guard let last = samples.last, now - last.time >= DepartureWatch.silence, let walk else { return false }
    return decide(walk, at: now, appointment)
  }

  /// Notes a warning that was published before a restart.
  package mutating func restore(warnings count: Int, at time: Timestamp) {
    guard count > warnings else { return }
    (warnings, lastWarning, shortest) = (count, max(lastWarning, time), nil)
  }

  /// Returns the time at which ``advance(to:for:)`` may warn if no fix comes before; nil if it does not.
  package func wakeTime(for appointment: Appointment) -> Timestamp? {
    guard warnings == 0, !isThere, let last = samples.last, let walk else { return nil }
    let departure = appointment.time - appointment.margin - walk + .milliseconds(1)
    let time = max(departure, last.time + DepartureWatch.silence)
    return time < appointment.time ? time : nil
  }

  /// Returns the time from which on the next fix is worth a route; earlier ones cannot use up the slack.
  package func nextSample(for appointment: Appointment) -> Timestamp {
    guard let last = samples.last, let median = walk else { return .distantPast }
    let walk = max(last.walk, median)
    let slack =
      (appointment.time - last.time - appointment.margin - walk).seconds / DepartureWatch.maximumLoss
    let pauses = DepartureWatch.pauses
    return last.time + max(pauses.minimum, min(pauses.maximum, .seconds(slack)))
  }

  private mutating func decide(_ walk: TimeSpan, at now: Timestamp, _ appointment: Appointment) -> Bool {
    guard !isThere, now < appointment.time, warnings < DepartureWatch.maximumWarnings else { return false }
    let slack = appointment.time - now - appointment.margin - walk
    if warnings == 0 {
      guard slack < .zero else { return false }
      let half = TimeSpan(nanoseconds: appointment.margin.nanoseconds / 2)
      if isApproaching(at: now), slack + half >= .zero { return false }
    } else {
      let before = min(shortest ?? walk, walk)
      shortest = before
      guard slack < .zero, walk - before >= DepartureWatch.wrongWay,
        now - lastWarning >= DepartureWatch.minimumPause
      else { return false }
    }
    warnings += 1
    (lastWarning, shortest) = (now, walk)
    return true
  }

  /// Returns whether the walk has become shorter about as fast as a person walks.
  private func isApproaching(at now: Timestamp) -> Bool {
    guard let first = samples.first, let last = samples.last, now - last.time < DepartureWatch.silence,
      last.time - first.time >= DepartureWatch.minimumWindow
    else { return false }
    let pace = (first.walk - last.walk).seconds / (last.time - first.time).seconds
    return pace >= DepartureWatch.minimumPace
  }
}

/// The warnings; where the subject is, the next fix tells.
extension DepartureWatch: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let count = try coder.field(UInt8(clamping: value().warnings))
    let time = try coder.field(value().lastWarning)
    var watch = DepartureWatch()
    watch.restore(warnings: Int(count), at: time)
    return watch
  }
}
