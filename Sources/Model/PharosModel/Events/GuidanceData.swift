import PharosDocuments

/// The data of an event about guidance.
struct GuidanceData: EventData, EventMembers {
  /// What they say.
  var guidance: GuidanceDetail

  static var unread: GuidanceData {
    GuidanceData(guidance: GuidanceDetail(status: .started, destination: ""))
  }
  var detail: EventDetail { .guidance(guidance) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try visitEarlierMembers(&coder)
    var (observer, beacon): (ObserverID?, BeaconID?) = (nil, nil)
    switch guidance.target {
    case .observer(let identity): observer = identity
    case .beacon(let identity): beacon = identity
    case SubjectID.none?, nil: break
    }
    try coder.member("destinationObserver", &observer)
    try coder.member("destinationBeacon", &beacon)
    guidance.target = observer.map { .observer($0) } ?? beacon.map { .beacon($0) }
  }

  /// Hands the members of records from before guidance to subjects to a coder.
  fileprivate mutating func visitEarlierMembers<Coder: MemberCoder>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.choice("status", &guidance.status, .before)
    try coder.member("venue", &guidance.venue)
    try coder.member("destination", &guidance.destination)
    try coder.member("instruction", &guidance.instruction)
    try coder.member("level", &guidance.level)
    try coder.member("distanceToManeuver", &guidance.distanceToManeuver, decimals: 1)
    try coder.member("distanceRemaining", &guidance.distanceRemaining, decimals: 1)
    try coder.member("durationRemaining", &guidance.durationRemaining)
  }

  /// Lets a walk change the members; without its destination nothing is left of the way to it.
  mutating func visit(_ walk: inout MemberWalk) {
    let hadTarget = guidance.target != nil
    visitMembers(&walk)
    guard hadTarget, guidance.target == nil else { return }
    guidance.instruction = ""
    guidance.distanceToManeuver = nil
    guidance.distanceRemaining = nil
    guidance.durationRemaining = nil
  }

  /// The destination in words.
  private var goal: String {
    guidance.target?.description ?? (guidance.destination.isEmpty ? "a subject" : guidance.destination)
  }

  func summary(of _: Event) -> String {
    let status = guidance.status
    return switch status {
    case .started, .rerouted, .step, .lost, .held: "\(status.rawValue) to \(goal): \(guidance.instruction)"
    case .arrived, .ended: "\(status.rawValue): \(goal)"
    }
  }

  func sentences(in _: String, _: SiteNames) -> [String] {
    let way = guidance.distanceRemaining.map { " The destination is \(Wording.meters($0)) away." } ?? ""
    let moved = guidance.destination.isEmpty ? ", or that one moved" : ""
    return switch guidance.status {
    case .started: ["Its guidance to \(goal) began.", guidance.instruction + way]
    case .step: ["It reached the next step on the way to \(goal).", guidance.instruction + way]
    case .rerouted:
      ["It left the route to \(goal)\(moved), and a new one was found.", guidance.instruction + way]
    case .lost: ["There is no way to \(goal) from where it is: \(guidance.instruction)"]
    case .arrived: ["It arrived at \(goal)."]
    case .ended: ["Its guidance to \(goal) was ended."]
    case .held: ["Its guidance to \(goal) waits: \(guidance.instruction)"]
    }
  }
}

/// The data of a record that was made before guidance led to subjects.
struct EarlierGuidance: EventData, EventMembers {
  private var data: GuidanceData
  static var unread: EarlierGuidance { EarlierGuidance(data: .unread) }
  var detail: EventDetail { data.detail }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try data.visitEarlierMembers(&coder)
  }

  func summary(of event: Event) -> String { data.summary(of: event) }
}
