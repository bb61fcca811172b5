import PharosDocuments

/// A change of the state in which a handset is positioned by its camera.
public struct PositioningTransition: Hashable, Sendable {
  /// The advice to the person who carries the handset.
  public enum Advice: String, CaseIterable, Hashable, Sendable {
    /// None.
    case none
    /// Hold the phone up, so that its camera sees more: a scan in the background failed.
    case holdPhoneUp
  }

  /// What carries a subject that does not step.
  public enum Conveyance: String, CaseIterable, Hashable, Sendable {
    /// Nothing.
    case none
    /// A moving walkway.
    case conveyor
    /// An escalator.
    case escalator
  }

  /// The state.
  public var state: PositioningState
  /// The state before.
  public var previous: PositioningState
  /// The reasons for a degraded state.
  public var reasons: PositioningReasons
  /// The advice.
  public var advice: Advice
  /// What carries the subject.
  public var conveyance: Conveyance
  /// The evidence.
  public var evidence: PositioningEvidence

  /// Makes a change.
  public init(
    state: PositioningState,
    previous: PositioningState,
    reasons: PositioningReasons = [],
    advice: Advice = .none,
    conveyance: Conveyance = .none,
    evidence: PositioningEvidence
  ) {
    self.state = state
    self.previous = previous
    self.reasons = reasons
    self.advice = advice
    self.conveyance = conveyance
    self.evidence = evidence
  }
}

/// A request for a scan, for the handset of the subject.
public struct ScanRequest: Hashable, Sendable {
  /// The reason for a request.
  public enum Reason: String, CaseIterable, Hashable, Sendable {
    /// Nothing positions the handset yet.
    case start
    /// The way since the last scan.
    case distance
    /// The time since the last scan.
    case time
    /// The subject changed floors or went through a door, or scans contradict everything else.
    case environmentChanged
    /// The subject left a moving walkway or an escalator.
    case conveyor
  }

  /// The reason.
  public var reason: Reason
  /// Counts the requests since the last scan, from 1.
  public var attempt: Int
  /// The evidence.
  public var evidence: PositioningEvidence

  /// Makes a request.
  public init(reason: Reason, attempt: Int = 1, evidence: PositioningEvidence) {
    self.reason = reason
    self.attempt = attempt
    self.evidence = evidence
  }
}

/// The evidence behind a state of visual positioning, and behind a request for a scan.
public struct PositioningEvidence: Hashable, Sendable {
  /// The venue's identifier.
  public var venue: String
  /// The state that the handset itself reported, or nil if it reported none lately.
  public var reported: PositioningState?
  /// The time since the last scan that was used, or nil if there was none.
  public var scanAge: TimeSpan?
  /// The way since then in metres.
  public var distance: Double?
  /// The accuracy of the last fix in metres, or nil if there was none.
  public var horizontalAccuracy: Double?
  /// Indicates whether the odometry tracks.
  public var isTracking: Bool

  /// Makes evidence.
  public init(
    venue: String = "",
    reported: PositioningState? = nil,
    scanAge: TimeSpan? = nil,
    distance: Double? = nil,
    horizontalAccuracy: Double? = nil,
    isTracking: Bool = false
  ) {
    self.venue = venue
    self.reported = reported
    self.scanAge = scanAge
    self.distance = distance
    self.horizontalAccuracy = horizontalAccuracy
    self.isTracking = isTracking
  }
}

extension PositioningEvidence: EventMembers {
  static var unread: PositioningEvidence { PositioningEvidence() }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("venue", &venue)
    try coder.member("reported", &reported)
    try coder.member("scanAge", &scanAge)
    try coder.member("distance", &distance, decimals: 1)
    try coder.member("horizontalAccuracy", &horizontalAccuracy, decimals: 2)
    try coder.flag("tracking", &isTracking)
  }

  /// The evidence in a sentence.
  fileprivate var sentence: String {
    guard let scanAge else { return "No scan has been used so far." }
    let way = distance.map { ", \(Wording.meters($0)) back" } ?? ""
    return "The last scan that was used is \(Wording.span(scanAge)) old\(way)."
  }
}

extension PositioningTransition: EventData, EventMembers {
  static var unread: PositioningTransition {
    PositioningTransition(state: .notPositioning, previous: .notPositioning, evidence: .unread)
  }
  var detail: EventDetail { .positioning(self) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("state", &state, .bits(2))
    try coder.choice("previous", &previous, .bits(2))
    try coder.choice("advice", &advice, .bits(1))
    try coder.choice("conveyance", &conveyance, .bits(2))
    try coder.member("reasons", &reasons)
    try coder.part("evidence", &evidence)
  }

  func summary(of _: Event) -> String {
    ([state.name] + reasons.words + (advice == .none ? [] : [advice.rawValue])
      + (conveyance == .none ? [] : [conveyance.rawValue])).joined(separator: " ")
  }

  func sentences(in _: String, _: SiteNames) -> [String] {
    var said: [String] =
      switch state {
      case .notPositioning: ["Its camera gives no position at present."]
      case .degradedPositioning:
        [
          "Its camera positions it worse than usual"
            + (reasons.isEmpty ? "." : ": \(Wording.list(reasons.words)).")
        ]
      case .accuratePositioning: ["Its camera positions it accurately."]
      }
    if conveyance != .none {
      said.append(
        "It moves without steps, on \(conveyance == .escalator ? "an" : "a") \(conveyance.rawValue)."
      )
    }
    if advice == .holdPhoneUp { said.append("A scan in the background failed: hold the phone up.") }
    return said + [evidence.sentence]
  }
}

extension ScanRequest: EventData, EventMembers {
  static var unread: ScanRequest { ScanRequest(reason: .start, evidence: .unread) }
  var detail: EventDetail { .scanRequest(self) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("reason", &reason, .before)
    try coder.member("attempt", &attempt)
    try coder.part("evidence", &evidence)
  }

  func summary(of _: Event) -> String { reason.rawValue + (attempt > 1 ? ", request \(attempt)" : "") }

  func sentences(in _: String, _: SiteNames) -> [String] {
    let cause =
      switch reason {
      case .start: "nothing positions it yet"
      case .distance: "it has come far since the last one"
      case .time: "the last one is long ago"
      case .environmentChanged: "its surroundings have changed"
      case .conveyor: "something carried it"
      }
    return ["A scan is asked for because \(cause).", evidence.sentence]
  }
}

extension PositioningTransition.Advice: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "an advice" }
}

extension PositioningTransition.Conveyance: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a conveyance" }
}

extension ScanRequest.Reason: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a reason for a scan" }
}
