import PharosDocuments

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
