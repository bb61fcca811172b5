/// The details of a decision, by its kind.
public enum EventDetail: Hashable, Sendable {
  /// A region's state changed, or was asked for.
  case region(RegionTransition)
  /// A region was refused: the limit, and the region that did not fit.
  case regionLimit(limit: Int, refused: String)
  /// The beacons ranged in the last second, nearest first, unknown last.
  case ranging(constraint: BeaconConstraint, beacons: [RangedReading])
  /// A beacon changed zones.
  case zone(ZoneTransition)
  /// An observer came online, went offline or restarted.
  case observer(ObserverTransition)
  /// A beacon's battery.
  case battery(millivolts: UInt16, observer: ObserverID)
  /// The wall clock was set by so much.
  case clockStep(TimeSpan)
  /// The access of an application to a subject's data changed.
  case authorisation(AuthorisationTransition)
  /// A message from a rule of an application, for people to read.
  case notification(NotificationDetail)
  /// The estimated location of a subject.
  case fix(FixDetail)
}

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
  /// The start of the visit that an exit ends.
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

extension RegionTransition: EventMembers {
  static var unread: RegionTransition {
    RegionTransition(from: .unknown, to: .unknown, evidence: .unread)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try visitBeginning(&coder)
    try visitDecision(&coder)
  }

  /// Lists the members up to the start of the visit, behind which JSON states how long the visit lasted.
  mutating func visitBeginning<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("from", &from, .bits(2))
    try coder.choice("to", &to, .bits(2))
    try coder.member("refinement", &refinement)
    try coder.member("observer", &observer)
    try coder.member("enteredAt", &enteredAt)
  }

  /// Lists the remaining members.
  mutating func visitDecision<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.flag("answer", &isAnswer)
    try coder.part("evidence", &evidence)
  }
}

/// A change in an observer's life.
public struct ObserverTransition: Hashable, Sendable {
  /// The time at which the observer was last heard before, or nil if it never was.
  public var lastHeard: Timestamp?
  /// The silence that its learned gaps allow.
  public var allowedGap: TimeSpan?
  /// Its boot id, if it tells one.
  public var bootID: UInt32?

  /// Makes a transition.
  public init(lastHeard: Timestamp? = nil, allowedGap: TimeSpan? = nil, bootID: UInt32? = nil) {
    self.lastHeard = lastHeard
    self.allowedGap = allowedGap
    self.bootID = bootID
  }
}

extension ObserverTransition: EventMembers {
  static var unread: ObserverTransition {
    ObserverTransition()
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("lastHeard", &lastHeard)
    try coder.member("allowedGap", &allowedGap)
    try coder.member("bootId", &bootID)
  }
}

/// One beacon of a ranging event.
public struct RangedReading: Hashable, Sendable {
  /// The proximity of a beacon.
  public enum Proximity: String, CaseIterable, Hashable, Sendable {
    /// Below half a metre.
    case immediate
    /// Below three metres.
    case near
    /// Farther.
    case far
    /// Not determined.
    case unknown
  }

  /// The beacon.
  public var beacon: BeaconID
  /// The mean of the samples since the last report in dBm, or 0 if there were none.
  public var rssi: Double
  /// The distance in metres, or −1 if undetermined.
  public var accuracy: Double
  /// The standard deviation of the distance in metres, or −1 if undetermined.
  public var deviation: Double
  /// The proximity.
  public var proximity: Proximity
  /// The number of samples since the last report.
  public var samples: Int

  /// Makes a reading.
  public init(
    beacon: BeaconID,
    rssi: Double,
    accuracy: Double,
    deviation: Double,
    proximity: Proximity,
    samples: Int
  ) {
    self.beacon = beacon
    self.rssi = rssi
    self.accuracy = accuracy
    self.deviation = deviation
    self.proximity = proximity
    self.samples = samples
  }
}

extension RangedReading: EventMembers {
  static var unread: RangedReading {
    RangedReading(beacon: .unread, rssi: 0, accuracy: 0, deviation: 0, proximity: .unknown, samples: 0)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("beacon", &beacon)
    try coder.choice("proximity", &proximity, .behind)
    try coder.member("rssi", &rssi, decimals: 1)
    try coder.member("accuracy", &accuracy, decimals: 2)
    try coder.member("deviation", &deviation, decimals: 2)
    try coder.member("samples", &samples)
  }
}

/// A beacon's change of zone.
public struct ZoneTransition: Hashable, Sendable {
  /// The zone before, or nil if it was in none.
  public var from: String?
  /// The zone now, or nil if it is in none.
  public var to: String?
  /// The difference in level between the observers of the new zone and those of the next best one.
  ///
  /// - Units: dB.
  public var margin: Double?
  /// The time for which the new zone had been ahead before the change was accepted.
  public var dwell: TimeSpan?
  /// The reason for which the beacon is in the new zone, or in none.
  public var reason: Reason
  /// The probability of the new zone; of the one that it left, where it is in none now.
  ///
  /// Nil where nothing was weighed: the observers fell silent, or are down.
  public var probability: Double?
  /// The zone that came next, if another one was weighed.
  public var runnerUp: Candidate?
  /// The levels at which the deciding observers heard the beacon, the loudest first, at most ``mostHearings``.
  public var hearings: [Hearing]

  /// The largest number of observers that a transition names.
  ///
  /// Three: the one that hears the beacon loudest, the next one, and one more to tell whether two of them agree.
  public static let mostHearings = 3

  /// The reason for a change of zone.
  public enum Reason: String, CaseIterable, Hashable, Sendable {
    /// One zone won by probability, margin and dwell.
    case margin
    /// No observer hears the beacon any more.
    case silence
    /// Its zone has become improbable, and no other is probable enough.
    case notSure
    /// The observers of its zone are down.
    case observerDown
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

extension ZoneTransition: EventMembers {
  static var unread: ZoneTransition {
    ZoneTransition(from: nil, to: nil, margin: nil, dwell: nil, reason: .margin)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("from", &from)
    try coder.member("to", &to)
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

/// The access of an application to a subject's data, in Core Location's terms.
public enum AuthorisationState: UInt8, CaseIterable, Hashable, Sendable {
  /// No decision has been made yet: the application learns nothing.
  case notDetermined
  /// Forbidden by policy, which the subject cannot change: the application learns nothing.
  case restricted
  /// Forbidden by the subject: the application learns nothing.
  case denied
  /// Told while the application has a live stream open, and to that stream alone.
  case whenInUse
  /// Told at any time: streams, webhooks, the journal.
  case always

  /// The state as documents and events spell it.
  public var name: String {
    switch self {
    case .notDetermined: "notDetermined"
    case .restricted: "restricted"
    case .denied: "denied"
    case .whenInUse: "whenInUse"
    case .always: "always"
    }
  }

  /// Reads a state's name, or nil if there is none of that name.
  public init?(name: String) {
    guard let state = AuthorisationState.allCases.first(where: { $0.name == name }) else { return nil }
    self = state
  }
}

/// A change of what an application may learn about a subject.
public struct AuthorisationTransition: Hashable, Sendable {
  /// The access before.
  public var from: AuthorisationState
  /// The access now.
  public var to: AuthorisationState
  /// The purpose that the application states for the access; empty where it was never asked for one.
  public var purpose: String

  /// Makes a transition.
  public init(from: AuthorisationState, to: AuthorisationState, purpose: String) {
    self.from = from
    self.to = to
    self.purpose = purpose
  }
}

extension AuthorisationState: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "an authorisation" }
}

extension AuthorisationTransition: FieldStruct {
  /// A transition whose fields are still to be read.
  public static var unread: AuthorisationTransition {
    AuthorisationTransition(from: .notDetermined, to: .notDetermined, purpose: "")
  }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&from)
    try coder.code(&to)
    try coder.code(&purpose)
  }
}

extension AuthorisationTransition {
  /// Writes the members of an event's `data`.
  func write(to json: inout JSONText) {
    json.member("from", from.name)
    json.member("to", to.name)
    json.member("purpose", ifPresent: purpose.isEmpty ? nil : purpose)
  }
}

/// A message from a rule of an application, for people to read: a hello, a goodbye.
public struct NotificationDetail: Hashable, Sendable {
  /// The occasion that a rule waits for.
  public enum Occasion: UInt8, CaseIterable, Hashable, Sendable {
    /// A subject enters a region.
    case enter
    /// A subject leaves a region.
    case exit

    /// The occasion as documents and events spell it.
    public var name: String {
      switch self {
      case .enter: "enter"
      case .exit: "exit"
      }
    }
  }

  /// The identifier of the rule, which is unique within its application.
  public var rule: String
  /// The occasion that caused the notification.
  public var occasion: Occasion
  /// The text, ready to be shown.
  public var text: String
  /// The enter or exit that caused it.
  public var cause: EventID

  /// Makes a notification.
  public init(rule: String, occasion: Occasion, text: String, cause: EventID) {
    self.rule = rule
    self.occasion = occasion
    self.text = text
    self.cause = cause
  }
}

extension NotificationDetail.Occasion: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a notification's occasion" }
}

extension NotificationDetail: FieldStruct {
  /// A notification whose fields are still to be read.
  public static var unread: NotificationDetail {
    NotificationDetail(rule: "", occasion: .enter, text: "", cause: EventID(high: 0, low: 0))
  }

  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&rule)
    try coder.code(&occasion)
    try coder.code(&text)
    try coder.code(&cause)
  }
}

extension NotificationDetail {
  /// Writes the members of an event's `data`.
  func write(to json: inout JSONText) {
    json.member("rule", rule)
    json.member("on", occasion.name)
    json.member("text", text)
    json.member("cause", cause.description)
  }
}
