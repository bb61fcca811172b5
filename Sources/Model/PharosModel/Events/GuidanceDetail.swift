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
  }

  /// What happened.
  public var status: Status
  /// The venue's identifier; empty before the subject was located in one.
  public var venue: String
  /// The destination as it was asked for.
  public var destination: String
  /// What to do next, or why there is no way.
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
    instruction: String = "",
    level: Int? = nil,
    distanceToManeuver: Double? = nil,
    distanceRemaining: Double? = nil,
    durationRemaining: TimeSpan? = nil
  ) {
    self.status = status
    self.venue = venue
    self.destination = destination
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

extension GuidanceDetail: EventData, EventMembers {
  static var unread: GuidanceDetail { GuidanceDetail(status: .started, destination: "") }
  var detail: EventDetail { .guidance(self) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("status", &status, .before)
    try coder.member("venue", &venue)
    try coder.member("destination", &destination)
    try coder.member("instruction", &instruction)
    try coder.member("level", &level)
    try coder.member("distanceToManeuver", &distanceToManeuver, decimals: 1)
    try coder.member("distanceRemaining", &distanceRemaining, decimals: 1)
    try coder.member("durationRemaining", &durationRemaining)
  }

  func summary(of _: Event) -> String {
    switch status {
    case .started, .rerouted, .step, .lost: "\(status.rawValue) to \(destination): \(instruction)"
    case .arrived, .ended: "\(status.rawValue): \(destination)"
    }
  }

  func sentences(in _: String, _: SiteNames) -> [String] {
    let way = distanceRemaining.map { " The destination is \(Wording.meters($0)) away." } ?? ""
    return switch status {
    case .started: ["Its guidance to \(destination) began.", instruction + way]
    case .step: ["It reached the next step on the way to \(destination).", instruction + way]
    case .rerouted: ["It left the route to \(destination), and a new one was found.", instruction + way]
    case .lost: ["There is no way to \(destination) from where it is: \(instruction)"]
    case .arrived: ["It arrived at \(destination)."]
    case .ended: ["Its guidance to \(destination) was ended."]
    }
  }
}
