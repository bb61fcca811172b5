import PharosDocuments

/// A change in the guidance of a subject to its destination.
public struct GuidanceDetail: Hashable, Sendable {
  /// What happened.
  public enum Status: String, CaseIterable, Hashable, Sendable {
    /// The first route was found.
    case started
    /// The next step of the route was reached.
    case step
    /// The subject left the route, and a new one was found.
    case rerouted
    /// There is no way from where the subject is; the old route stays, if there is one.
    case lost
    /// The subject reached the destination.
    case arrived
    /// The guidance was ended before the arrival.
    case ended
    /// The position of the subject that is the destination is not known, or may not be seen, and there is no route until it is.
    case held
  }

  /// What happened.
  public var status: Status
  /// The venue's identifier; empty before the subject was located in one.
  public var venue: String
  /// The place or position as it was asked for; empty if the destination is a subject.
  public var destination: String
  /// The subject that is the destination, if it is one; nil also for a reader that may not learn of it.
  public var target: SubjectID?
  /// What to do next, or why there is no way or no route.
  public var instruction: String
  /// The floor on which the subject is; nil if it is not located.
  public var level: Int?
  /// The way to the next manoeuvre in metres.
  public var distanceToManeuver: Double?
  /// The way to the destination in metres.
  public var distanceRemaining: Double?
  /// The time to the destination.
  public var durationRemaining: TimeSpan?

  /// Makes a change.
  public init(
    status: Status,
    venue: String = "",
    destination: String,
    target: SubjectID? = nil,
    instruction: String = "",
    level: Int? = nil,
    distanceToManeuver: Double? = nil,
    distanceRemaining: Double? = nil,
    durationRemaining: TimeSpan? = nil
  ) {
    self.status = status
    self.venue = venue
    self.destination = destination
    self.target = target
    self.instruction = instruction
    self.level = level
    self.distanceToManeuver = distanceToManeuver
    self.distanceRemaining = distanceRemaining
    self.durationRemaining = durationRemaining
  }
}

extension GuidanceDetail.Status: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a status of guidance" }
}
