package import PharosDocuments
package import PharosModel

/// A movement of a handset, as detected by its motion sensors.
///
/// Movements of a ``MotionTracker`` come in order of the time at which they were *known*: a movement at a time uses no
/// later sample.
package enum Movement: Hashable, Sendable {
  /// It was carried one step further.
  case step(Step)
  /// A rest from the first time to the second. A long rest is reported in consecutive parts.
  case still(from: Timestamp, to: Timestamp)
  /// A way up or down that has ended on a level again.
  case climbed(Climb)

  /// The time at which it was known: the end of the step, of the rest or of the climb's last sample.
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
  /// The end of the step before, or one usual step earlier for the first one of a walk.
  package var began: Timestamp
  /// The time at which the step was known: the heel has struck and the push is over.
  package var time: Timestamp
  /// The length of the step.
  ///
  /// - Units: metres.
  package var length: Float
  /// One standard deviation of that length, from step to step; that of the whole walk is ``FusionRules/scaleDeviation``.
  ///
  /// - Units: metres.
  package var lengthDeviation: Float
  /// The direction, or nil if no sensor gives one.
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
/// Most of a heading's error is common to the steps of a walk: it comes from the grip on the handset, and from iron in
/// the building that disturbs the compass. A filter has to carry that part along as a bias. The rest differs from step
/// to step.
package struct Heading: Hashable, Sendable {
  /// The direction from which a heading is measured.
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
  /// The direction from which it is measured.
  package var reference: Reference

  /// Makes a heading.
  package init(radians: Float, deviation: Float, biasDeviation: Float, reference: Reference) {
    self.radians = radians
    self.deviation = deviation
    self.biasDeviation = biasDeviation
    self.reference = reference
  }
}

/// A way up or down, as detected from the air pressure: over stairs, in a lift or on an escalator.
package struct Climb: Hashable, Sendable {
  /// The time at which the height began to change.
  package var began: Timestamp
  /// The time at which the height was known to have settled.
  package var time: Timestamp
  /// The distance up, negative if down.
  ///
  /// - Units: metres.
  package var meters: Float
}

extension Movement: FieldUnion {
  /// The name of the field.
  package static var fieldName: String { "a movement" }

  /// Hands each case to a coder.
  package static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.step) { if case .step(let step) = $0 { step } else { nil } }
    try coder.code(&union, 1, { Self.still(from: $0, to: $1) }) {
      if case .still(let start, let end) = $0 { (start, end) } else { nil }
    }
    try coder.code(&union, 2, Self.climbed) { if case .climbed(let climb) = $0 { climb } else { nil } }
  }
}

extension Step: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(
    _ value: () -> Self,
    by coder: inout C
  ) throws(C.Failure) -> Self {
    Step(
      began: try coder.field(value().began),
      time: try coder.field(value().time),
      length: try coder.field(value().length),
      lengthDeviation: try coder.field(value().lengthDeviation),
      heading: try coder.field(value().heading)
    )
  }
}

extension Heading: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(
    _ value: () -> Self,
    by coder: inout C
  ) throws(C.Failure) -> Self {
    Heading(
      radians: try coder.field(value().radians),
      deviation: try coder.field(value().deviation),
      biasDeviation: try coder.field(value().biasDeviation),
      reference: try coder.field(value().reference)
    )
  }
}

extension Climb: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(
    _ value: () -> Self,
    by coder: inout C
  ) throws(C.Failure) -> Self {
    Climb(
      began: try coder.field(value().began),
      time: try coder.field(value().time),
      meters: try coder.field(value().meters)
    )
  }
}

extension Heading.Reference: FieldUnion {
  /// The name of the field.
  package static var fieldName: String { "a reference of headings" }

  /// Hands each case to a coder.
  package static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, .north)
    try coder.code(&union, 1, Self.unknown) { if case .unknown(let number) = $0 { number } else { nil } }
  }
}
