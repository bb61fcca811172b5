package import PharosReports

/// What a handset's motion sensors say that it did.
///
/// Movements of a ``MotionTracker`` come in order of the time at which they were *known*: a movement at a time uses no
/// sample that is later.
package enum Movement: Hashable, Sendable {
  /// It was carried one step further.
  case step(Step)
  /// A rest from the first time to the second. A long rest is reported in consecutive parts.
  case still(from: Timestamp, to: Timestamp)
  /// It went up or down, and is on a level again.
  case climbed(Climb)

  /// When it was known: the end of the step, of the rest or of the climb's last look.
  package var time: Timestamp {
    switch self {
    case .step(let step): step.time
    case .still(from: _, let to): to
    case .climbed(let climb): climb.time
    }
  }
}

/// One step of the person who carries the handset.
package struct Step: Hashable, Sendable {
  /// When the step before ended, or one usual step earlier for the first one of a walk.
  package var began: Timestamp
  /// When the step was known: the heel has struck and the push is over.
  package var time: Timestamp
  /// How far it went.
  ///
  /// - Units: metres.
  package var length: Float
  /// One standard deviation of that length, from step to step; that of the whole walk is ``MotionRules/scaleDeviation``.
  ///
  /// - Units: metres.
  package var lengthDeviation: Float
  /// Where to, or nil if no sensor tells.
  package var heading: Heading?

  /// Makes a step.
  package init(
    began: Timestamp,
    time: Timestamp,
    length: Float,
    lengthDeviation: Float,
    heading: Heading?
  ) {
    self.began = began
    self.time = time
    self.length = length
    self.lengthDeviation = lengthDeviation
    self.heading = heading
  }
}

/// The direction of a step, with its two kinds of error.
///
/// Most of a heading's error is common to the steps of a walk: how the handset is held, and what iron in the building does to the
/// compass. A filter has to carry that part along as a bias. The rest differs from step to step.
package struct Heading: Hashable, Sendable {
  /// What a heading is measured from.
  package enum Reference: Hashable, Sendable {
    /// Magnetic north, as the handset's compass has it; the declination is part of the bias.
    case north
    /// An unknown direction. Headings with the same number share it.
    case unknown(UInt32)
  }

  /// The direction, clockwise from the reference, −π to π.
  ///
  /// - Units: radians.
  package var radians: Float
  /// One standard deviation of the part that is new with each step.
  ///
  /// - Units: radians.
  package var deviation: Float
  /// One standard deviation of the part that lasts; about 1.8, a whole turn spread evenly, where the reference is unknown.
  ///
  /// - Units: radians.
  package var biasDeviation: Float
  /// What it is measured from.
  package var reference: Reference

  /// Makes a heading.
  package init(radians: Float, deviation: Float, biasDeviation: Float, reference: Reference) {
    self.radians = radians
    self.deviation = deviation
    self.biasDeviation = biasDeviation
    self.reference = reference
  }
}

/// A way up or down, as the air pressure tells it: over stairs, in a lift or on an escalator.
package struct Climb: Hashable, Sendable {
  /// When the height began to change.
  package var began: Timestamp
  /// When it was known that the height had settled.
  package var time: Timestamp
  /// How far up, or down where negative.
  ///
  /// - Units: metres.
  package var meters: Float
  /// One standard deviation of that.
  ///
  /// - Units: metres.
  package var deviation: Float

  /// Makes a climb.
  package init(began: Timestamp, time: Timestamp, meters: Float, deviation: Float) {
    self.began = began
    self.time = time
    self.meters = meters
    self.deviation = deviation
  }
}

/// What a handset is doing at a point in time, as far as its motion sensors tell.
package enum Activity: Hashable, Sendable {
  /// Nothing is known: no sensor speaks.
  case unknown
  /// It rests.
  case still
  /// Movement without steps: the handset is shaken, turned, or pushed on wheels.
  case restless
  /// It is carried along at a speed in m/s, in a direction in radians clockwise from north, or nil if none is known.
  case walking(speed: Float, course: Float?)
}
