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

extension GuidanceDetail: EventData, EventMembers {
  static var unread: GuidanceDetail { GuidanceDetail(status: .started, destination: "") }
  var detail: EventDetail { .guidance(self) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try visitEarlierMembers(&coder)
    var (observer, beacon): (ObserverID?, BeaconID?) = (nil, nil)
    switch target {
    case .observer(let identity): observer = identity
    case .beacon(let identity): beacon = identity
    case SubjectID.none?, nil: break
    }
    try coder.member("destinationObserver", &observer)
    try coder.member("destinationBeacon", &beacon)
    target = observer.map { .observer($0) } ?? beacon.map { .beacon($0) }
  }

  /// Hands the members of records from before guidance to subjects to a coder.
  fileprivate mutating func visitEarlierMembers<Coder: MemberCoder>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.choice("status", &status, .before)
    try coder.member("venue", &venue)
    try coder.member("destination", &destination)
    try coder.member("instruction", &instruction)
    try coder.member("level", &level)
    try coder.member("distanceToManeuver", &distanceToManeuver, decimals: 1)
    try coder.member("distanceRemaining", &distanceRemaining, decimals: 1)
    try coder.member("durationRemaining", &durationRemaining)
  }

  /// Lets a walk change the members; without its destination nothing is left of the way to it.
  mutating func visit(_ walk: inout MemberWalk) {
    let hadTarget = target != nil
    visitMembers(&walk)
    guard hadTarget, target == nil else { return }
    instruction = ""
    (distanceToManeuver, distanceRemaining, durationRemaining) = (nil, nil, nil)
  }

  /// The destination in words.
  private var goal: String {
    if let target { target.description } else { destination.isEmpty ? "a subject" : destination }
  }

  func summary(of _: Event) -> String {
    switch status {
    case .started, .rerouted, .step, .lost, .held: "\(status.rawValue) to \(goal): \(instruction)"
    case .arrived, .ended: "\(status.rawValue): \(goal)"
    }
  }

  func sentences(in _: String, _: SiteNames) -> [String] {
    let way = distanceRemaining.map { " The destination is \(Wording.meters($0)) away." } ?? ""
    let isMoving = target != nil || destination.isEmpty
    return switch status {
    case .started: ["Its guidance to \(goal) began.", instruction + way]
    case .step: ["It reached the next step on the way to \(goal).", instruction + way]
    case .rerouted:
      [
        "It left the route to \(goal)\(isMoving ? ", or \(goal) moved" : ""), and a new one was found.",
        instruction + way,
      ]
    case .lost: ["There is no way to \(goal) from where it is: \(instruction)"]
    case .arrived: ["It arrived at \(goal)."]
    case .ended: ["Its guidance to \(goal) was ended."]
    case .held: ["Its guidance to \(goal) waits: \(instruction)"]
    }
  }
}

/// A change of a record that was made before guidance led to subjects.
struct EarlierGuidance: EventData, EventMembers {
  private var guidance: GuidanceDetail
  static var unread: EarlierGuidance { EarlierGuidance(guidance: .unread) }
  var detail: EventDetail { .guidance(guidance) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try guidance.visitEarlierMembers(&coder)
  }

  func summary(of event: Event) -> String { guidance.summary(of: event) }
}
