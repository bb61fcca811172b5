import PharosDocuments

/// A change of state of a region, or the answer to a question about it.
public struct RegionTransition: Hashable, Sendable {
  /// The state before.
  public var from: RegionState
  /// The state now.
  public var to: RegionState
  /// The most specific identity that caused it, where one did.
  public var refinement: BeaconID?
  /// The observer whose hearing settled it, for regions about beacons.
  public var observer: ObserverID?
  /// The start of the visit that the change ends, interrupts or continues; nil for one that begins a visit.
  public var enteredAt: Timestamp?
  /// Indicates whether the event answers a request (requestState, display-on), so that nothing has changed.
  public var isAnswer: Bool
  /// The evidence for the decision.
  public var evidence: Evidence

  /// Makes a transition.
  public init(
    from: RegionState,
    to: RegionState,
    refinement: BeaconID? = nil,
    observer: ObserverID? = nil,
    enteredAt: Timestamp? = nil,
    isAnswer: Bool = false,
    evidence: Evidence
  ) {
    self.from = from
    self.to = to
    self.refinement = refinement
    self.observer = observer
    self.enteredAt = enteredAt
    self.isAnswer = isAnswer
    self.evidence = evidence
  }
}

extension RegionTransition: EventData, EventMembers {
  var detail: EventDetail { .region(self) }

  static var unread: RegionTransition {
    RegionTransition(from: .unknown, to: .unknown, evidence: .unread)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try visitBeginning(&coder)
    try visitDecision(&coder)
  }

  func write(to json: inout JSONText, endingAt time: Timestamp) {
    var copy = self
    copy.visitBeginning(&json)
    if let enteredAt { json.member("duration", (time - enteredAt).seconds, decimals: 3) }
    copy.visitDecision(&json)
  }

  func summary(of event: Event) -> String {
    if event.kind == .regionState { return "\(from.name) > \(to.name)" }
    if event.kind == .regionExit, let enteredAt {
      return "stayed \(TimeSpan.seconds((event.time - enteredAt).seconds.rounded()).written)"
    }
    return evidence.rule.words.brief
  }

  /// Lists the members up to the start of the visit, behind which JSON states how long the visit lasted.
  private mutating func visitBeginning<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("from", &from, .bits(2))
    try coder.choice("to", &to, .bits(2))
    try coder.member("refinement", &refinement)
    try coder.member("observer", &observer)
    try coder.member("enteredAt", &enteredAt)
  }

  /// Lists the remaining members.
  private mutating func visitDecision<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.flag("answer", &isAnswer)
    try coder.part("evidence", &evidence)
  }
}

/// A beacon's change of zone; of whether its zone is monitored, where ``from`` and ``to`` are the same.
public struct ZoneTransition: Hashable, Sendable {
  /// The zone before, or nil if it was in none.
  public var from: String?
  /// The zone now, or nil if it is in none.
  public var to: String?
  /// The difference in level between the observers of the new zone and those of the next best one.
  ///
  /// - Units: dB.
  public var margin: Double?
  /// The time for which the new zone had been ahead before the change was accepted, or for which the beacon has been
  /// unmonitored in its zone.
  public var dwell: TimeSpan?
  /// The reason for which the beacon is in the new zone, or in none.
  public var reason: Reason
  /// The probability of the new zone; of the one that it left, where it is in none now.
  ///
  /// Nil where nothing was weighed: the observers fell silent, or are down.
  public var probability: Double?
  /// The zone that came next, if another one was weighed.
  public var runnerUp: Candidate?
  /// The levels at which the deciding observers heard the beacon, the loudest first, at most ``maximumHearings``.
  public var hearings: [Hearing]

  /// The largest number of observers that a transition names.
  ///
  /// Three: the one that hears the beacon loudest, the next one, and one more to tell whether two of them agree.
  public static let maximumHearings = 3

  /// The reason for a change of zone.
  public enum Reason: String, CaseIterable, Hashable, Sendable {
    /// One zone won by probability, margin and dwell.
    case margin
    /// No observer hears the beacon.
    case silence
    /// Its zone has become improbable, and no other is probable enough.
    case notSure
    /// The observers of its zone that heard it are down, so that it stays in the zone, unmonitored.
    case observerDown
    /// An observer of the zone in which it was unmonitored hears it again.
    case confirmed
    /// The zone was removed from the site.
    case removed
    /// The levels fit the fingerprint of one zone better than those of the others.
    case fingerprint
  }

  /// A zone that was weighed, and what came of it.
  public struct Candidate: Hashable, Sendable {
    /// The zone.
    public var zone: String
    /// Its probability.
    public var probability: Double

    /// Makes a candidate.
    public init(zone: String, probability: Double) {
      self.zone = zone
      self.probability = probability
    }
  }

  /// The level at which an observer heard the beacon when a decision was made.
  public struct Hearing: Hashable, Sendable {
    /// The observer that heard it.
    public var observer: ObserverID
    /// The filtered level as it was compared, the offset left out.
    ///
    /// - Units: dBm.
    public var level: Double
    /// The offset that was found by itself and added for the comparison; what a site declares is in the level.
    ///
    /// - Units: dB.
    public var offset: Double

    /// Makes a hearing.
    public init(observer: ObserverID, level: Double, offset: Double = 0) {
      self.observer = observer
      self.level = level
      self.offset = offset
    }
  }

  /// Makes a transition.
  public init(
    from: String?,
    to: String?,
    margin: Double?,
    dwell: TimeSpan?,
    reason: Reason,
    probability: Double? = nil,
    runnerUp: Candidate? = nil,
    hearings: [Hearing] = []
  ) {
    self.from = from
    self.to = to
    self.margin = margin
    self.dwell = dwell
    self.reason = reason
    self.probability = probability
    self.runnerUp = runnerUp
    self.hearings = hearings
  }
}

extension ZoneTransition: EventData, EventMembers {
  var detail: EventDetail { .zone(self) }

  func summary(of _: Event) -> String { margin.map { "by \(Int($0.rounded())) dB" } ?? reason.rawValue }

  static var unread: ZoneTransition {
    ZoneTransition(from: nil, to: nil, margin: nil, dwell: nil, reason: .margin)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.zone("from", &from)
    try coder.zone("to", &to)
    try coder.member("margin", &margin, decimals: 2)
    try coder.member("dwell", &dwell)
    try coder.choice("reason", &reason, .behind)
    try coder.member("probability", &probability, decimals: 4)
    try coder.part("runnerUp", &runnerUp)
    try coder.parts("hearings", &hearings)
  }
}

extension ZoneTransition.Candidate: EventMembers {
  static var unread: ZoneTransition.Candidate {
    ZoneTransition.Candidate(zone: "", probability: 0)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("zone", &zone)
    try coder.member("probability", &probability, decimals: 4)
  }
}

extension ZoneTransition.Hearing: EventMembers {
  static var unread: ZoneTransition.Hearing {
    ZoneTransition.Hearing(observer: .eui48(0), level: 0)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("observer", &observer)
    try coder.member("level", &level, decimals: 2)
    try coder.member("offset", &offset, decimals: 2)
  }
}

/// The number of beacons in a zone crossed a threshold of its site.
public struct OccupancyTransition: Hashable, Sendable {
  /// The side of a threshold on which the number is now.
  public enum Direction: String, CaseIterable, Hashable, Sendable {
    /// More beacons than the upper bound are in the zone.
    case above
    /// Fewer beacons than the lower bound are in the zone.
    case below
  }

  /// The side on which the number is now.
  public var direction: Direction
  /// The number of beacons in the zone.
  public var count: Int
  /// The threshold that was crossed.
  public var threshold: OccupancyThreshold

  /// Makes a transition.
  public init(direction: Direction, count: Int, threshold: OccupancyThreshold) {
    self.direction = direction
    self.count = count
    self.threshold = threshold
  }
}

extension OccupancyTransition.Direction: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a side of a threshold" }
}

extension OccupancyTransition: EventData, EventMembers {
  var detail: EventDetail { .occupancy(self) }

  static var unread: OccupancyTransition {
    OccupancyTransition(direction: .above, count: 0, threshold: .unread)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("direction", &direction, .behind)
    try coder.member("count", &count)
    try coder.part("threshold", &threshold)
  }

  func summary(of _: Event) -> String {
    "\(count), \(direction.rawValue) \(direction == .above ? threshold.above : threshold.below)"
  }

  func sentences(in _: String, _: SiteNames) -> [String] {
    switch direction {
    case .above:
      [
        "\(Wording.count(count, "beacon")) in the zone are more than the \(threshold.above) that its site sets as the upper bound."
      ]
    case .below:
      [
        "\(Wording.count(count, "beacon")) in the zone are fewer than the \(threshold.below) that its site sets as the lower bound."
      ]
    }
  }
}

extension ZoneTransition.Reason: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a reason" }
}

extension RegionTransition {
  /// The transition of a change.
  package init(
    _ change: RegionMachine.Change,
    refinement: BeaconID? = nil,
    observer: ObserverID? = nil,
    evidence: Evidence
  ) {
    self.init(
      from: change.from,
      to: change.to,
      refinement: refinement,
      observer: observer,
      enteredAt: change.enteredAt,
      evidence: evidence
    )
  }

  /// The alarm about a subject that has been unmonitored for longer than its region allows.
  package init(
    holdOf machine: RegionMachine,
    exceeds limit: TimeSpan,
    by rule: Evidence.Rule,
    refinement: BeaconID? = nil
  ) {
    var evidence = Evidence(rule: rule)
    evidence.window = limit
    self.init(
      from: machine.lastKnown,
      to: .unmonitored,
      refinement: refinement,
      enteredAt: machine.enteredAt,
      evidence: evidence
    )
  }

  /// The answer to a question about a state.
  package init(
    answering state: RegionState,
    refinement: BeaconID? = nil,
    enteredAt: Timestamp?,
    rule: Evidence.Rule
  ) {
    self.init(
      from: state,
      to: state,
      refinement: refinement,
      enteredAt: enteredAt,
      isAnswer: true,
      evidence: Evidence(rule: rule)
    )
  }
}
