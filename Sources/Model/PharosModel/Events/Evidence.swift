public import PharosDocuments

/// The reason for a decision: enough to compute the decision again.
public struct Evidence: Hashable, Sendable {
  /// The rule that fired.
  public enum Rule: String, CaseIterable, Hashable, Sendable {
    /// Enough samples at or above the level within the window.
    case samples
    /// The filtered level stayed below the exit level for the dwell.
    case level
    /// A silence that the learned interval and reception make too unlikely.
    case adaptiveSilence
    /// A silence as long as the fixed time-out.
    case fixedSilence
    /// Nothing heard for the time after which a live observer's silence means outside.
    case neverHeard
    /// The observer fell silent.
    case observerOutage
    /// The observer stopped scanning.
    case scanOff
    /// The observer is back, or scans again.
    case recovery
    /// Another beacon or observer already settles it.
    case alreadyInside
    /// The state was given when monitoring began.
    case assumed
    /// A display was turned on.
    case displayOn
    /// A client asked.
    case requested
    /// The region was removed, replaced or rotated.
    case regionChange
    /// The track was evicted because the observer hears more beacons than are kept.
    case eviction
    /// The probability of being within the geofence stayed above or below that of its policy for the dwell.
    case position
    /// Two fixes lie on two sides of the geofence, and the way between them passes through it.
    case crossing
    /// A geofence within this one is inside, or left last.
    case nested
    /// No fix of the subject has come for longer than its fixes let expect.
    case positionLost
    /// The fixes within the outline of a geofence state no altitude, and it has a range of altitudes.
    case noAltitude
    /// The subject is located, and near none of the geofences about which nothing else is published.
    case elsewhere

    /// The rule in a word or two, and a sentence for readers where no numbers are shown with it.
    package var words: (brief: String, sentence: String) {
      switch self {
      case .samples: ("heard", "")
      case .level: ("weak", "")
      case .adaptiveSilence, .fixedSilence: ("silent", "")
      case .neverHeard: ("never heard", "")
      case .observerOutage: ("observer down", "")
      case .scanOff: ("scan off", "")
      case .recovery: ("observer back", "")
      case .alreadyInside: ("already inside", "Another beacon or observer already settles it.")
      case .assumed: ("assumed", "The state was given when monitoring began.")
      case .displayOn: ("display on", "A display was turned on while inside.")
      case .requested: ("asked", "A client asked.")
      case .regionChange: ("region changed", "The region was removed, replaced or rotated.")
      case .eviction:
        (
          "too many beacons",
          "More beacons are heard than are kept, and this one was silent for longest: it is no longer watched, which is "
            + "no exit."
        )
      case .position: ("located", "")
      case .crossing: ("passed through", "")
      case .nested:
        ("within another", "A geofence that lies within this one is inside, so this one is as well.")
      case .positionLost: ("not located", "")
      case .noAltitude:
        (
          "no altitude",
          "Its fixes lie within the outline and state no altitude, so that it is not known whether it is inside."
        )
      case .elsewhere:
        ("elsewhere", "It is located, and outside of every area about which nothing else is published.")
      }
    }
  }

  /// The rule that fired.
  public var rule: Rule
  /// The number of samples that the rule asks for.
  public var samples: Int?
  /// The number of samples that counted.
  public var counted: Int?
  /// The window in which they must fall, or the dwell of a level, or the patience with what is never heard.
  public var window: TimeSpan?
  /// The time from the first sample that counted to the last.
  public var spread: TimeSpan?
  /// The length of the silence at the deadline.
  public var gap: TimeSpan?
  /// The length of silence that was allowed.
  public var allowedGap: TimeSpan?
  /// The factor by which the allowed silence was stretched since the observer scans in windows; nil means not.
  public var stretch: Double?
  /// The learned advertising interval.
  public var interval: TimeSpan?
  /// The share of the beacon's adverts that this observer receives, 0 to 1.
  public var receptionShare: Double?
  /// The mean length of a run of lost adverts.
  public var lossRun: Double?
  /// The filtered level in dBm.
  public var level: Double?
  /// The standard deviation of the filtered level in dB.
  public var levelDeviation: Double?
  /// The level of the sample that decided, in dBm.
  public var sampleLevel: Double?
  /// The level that it was compared with, in dBm.
  public var threshold: Double?
  /// The distance that was given instead of the level, in metres.
  public var distance: Double?
  /// The time for which the filtered level had been below the threshold.
  public var belowFor: TimeSpan?
  /// The margin of the decision: dB for a rule about levels, seconds for one about silence.
  public var margin: Double?
  /// The time at which the beacon was last heard.
  public var lastHeard: Timestamp?
  /// The fixed rule that decisions are compared with: AltBeacon's region exit period and Core Location's usual exit.
  package static let fixedRule = TimeSpan.seconds(30)

  /// The time at which a fixed rule of 30 s would have fired.
  public var fixedRuleAt: Timestamp?
  /// The part of the silence in which the observer heard nothing or next to nothing: time that ``gap`` leaves out.
  public var deafFor: TimeSpan?
  /// The time from the deadline until the observer proved that it is alive.
  public var waitedForProof: TimeSpan?
  /// The basis of the allowed silence, where it adapts.
  public var silence: SilenceBasis?
  /// The position that a decision about a geofence was made from.
  public var geofence: GeofenceBasis?
  /// The zone that the beacon was in, or nil if it was in none.
  public var zone: String?
  /// The room of a located subject, by the venue's name, or nil if it was in none.
  public var room: String?

  /// Starts with the rule alone; what else is known is filled in.
  public init(rule: Rule) { self.rule = rule }
}

/// A class of how far a beacon's level lies below its usual level at this observer.
///
/// A beacon that is carried away is heard more and more weakly before it is no longer heard: silence after a fall in
/// level is stronger evidence than sudden silence.
public enum LevelClass: String, Hashable, Sendable, CaseIterable {
  /// About as loud as usual.
  case usual
  /// Clearly weaker than usual.
  case low
  /// Far weaker than usual.
  case far
}

/// All that an adaptive silence was computed from.
///
/// The numbers are rounded to the digits that JSON carries before they are used, so that a reader of an event computes
/// the very same gap from it.
public struct SilenceBasis: Hashable, Sendable {
  /// The interval reckoned with: the longest of the learned, the slowest known, the declared and that at rest.
  public var pace: TimeSpan
  /// The level class at the time when the beacon was last heard.
  public var surroundings: LevelClass
  /// The number of adverts received a day at such levels.
  public var opportunities: Double
  /// The chance that a run of losses begins after one of them.
  public var runChance: Double
  /// The number of false exits allowed a day at such levels.
  public var budget: Double
  /// The number of times that a run of losses continued, prior included.
  public var continued: Double
  /// The number of times that a run of losses ended, prior included.
  public var ended: Double
  /// The tail of long runs, where there is one.
  public var tail: Tail?
  /// The smallest run of losses that is too unlikely.
  public var misses: Int
  /// The shortest silence allowed: the policy's, or where it is longer the time for which a body may stand in the way or a
  /// young track's own gaps ask.
  public var floor: TimeSpan
  /// The longest silence that the policy allows, or that declared knowledge makes of it.
  public var ceiling: TimeSpan

  /// Runs of at least some length, which may last longer than the rest lets one expect.
  public struct Tail: Hashable, Sendable {
    /// The number of losses in a row from which on a run counts as long.
    public var from: Int
    /// The chance that such a run begins after an advert received.
    public var chance: Double
    /// The chance that such a run goes on for one more.
    public var continuation: Double

    /// Makes a tail; its numbers are rounded to nine decimals.
    public init(from: Int, chance: Double, continuation: Double) {
      self.from = from
      self.chance = SilenceBasis.rounded(chance, to: 1e9)
      self.continuation = SilenceBasis.rounded(continuation, to: 1e9)
    }
  }

  /// Makes a basis; its numbers are rounded to what JSON carries, and the run is still to be computed.
  public init(
    pace: TimeSpan,
    surroundings: LevelClass,
    opportunities: Double,
    runChance: Double,
    budget: Double,
    continued: Double,
    ended: Double,
    floor: TimeSpan,
    ceiling: TimeSpan
  ) {
    self.pace = .milliseconds(max(1, Int64((pace.seconds * 1_000).rounded(.up))))
    self.surroundings = surroundings
    self.opportunities = SilenceBasis.rounded(opportunities, to: 1e3)
    self.runChance = SilenceBasis.rounded(runChance, to: 1e9)
    self.budget = SilenceBasis.rounded(budget, to: 1e12)
    self.continued = SilenceBasis.rounded(continued, to: 1e3)
    self.ended = SilenceBasis.rounded(ended, to: 1e3)
    misses = 0
    self.floor = floor
    self.ceiling = ceiling
  }

  private static func rounded(_ value: Double, to steps: Double) -> Double {
    (value * steps).rounded() / steps
  }
}

extension Evidence: EventMembers {
  static var unread: Evidence { Evidence(rule: .samples) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("rule", &rule, .before)
    try coder.member("samples", &samples)
    try coder.member("counted", &counted)
    try coder.member("window", &window)
    try coder.member("spread", &spread)
    try coder.member("gap", &gap)
    try coder.member("allowedGap", &allowedGap)
    try coder.member("stretch", &stretch, decimals: 3)
    try coder.member("interval", &interval)
    try coder.member("receptionShare", &receptionShare, decimals: 3)
    try coder.member("lossRun", &lossRun, decimals: 2)
    try coder.member("level", &level, decimals: 2)
    try coder.member("levelDeviation", &levelDeviation, decimals: 2)
    try coder.member("sampleLevel", &sampleLevel, decimals: 2)
    try coder.member("threshold", &threshold, decimals: 2)
    try coder.member("distance", &distance, decimals: 3)
    try coder.member("belowFor", &belowFor)
    try coder.member("margin", &margin, decimals: 3)
    try coder.member("lastHeard", &lastHeard)
    try coder.member("fixedRuleAt", &fixedRuleAt)
    try coder.member("deafFor", &deafFor)
    try coder.member("waitedForProof", &waitedForProof)
    try coder.part("silence", &silence)
    try coder.part("geofence", &geofence)
    try coder.zone("zone", &zone)
    try coder.member("room", &room)
  }
}

/// The position that a decision about a geofence was made from.
public struct GeofenceBasis: Hashable, Sendable {
  /// The probability that the position lies within, given the recent fixes.
  public var probability: Double
  /// The distance of the estimated position from the nearest edge, above zero inside.
  ///
  /// - Units: metres.
  public var edgeDistance: Double
  /// The radius meant to hold 68 % of truths about the estimated position.
  ///
  /// - Units: metres.
  public var accuracy: Double
  /// The time for which the probability had been beyond that of the policy.
  public var dwell: TimeSpan
  /// The number of fixes in that time.
  public var fixes: Int

  /// Makes a basis.
  public init(probability: Double, edgeDistance: Double, accuracy: Double, dwell: TimeSpan, fixes: Int) {
    self.probability = probability
    self.edgeDistance = edgeDistance
    self.accuracy = accuracy
    self.dwell = dwell
    self.fixes = fixes
  }
}

extension GeofenceBasis: EventMembers {
  static var unread: GeofenceBasis {
    GeofenceBasis(probability: 0, edgeDistance: 0, accuracy: 0, dwell: .zero, fixes: 0)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("probability", &probability, decimals: 4)
    try coder.member("edgeDistance", &edgeDistance, decimals: 2)
    try coder.member("accuracy", &accuracy, decimals: 2)
    try coder.member("dwell", &dwell)
    try coder.member("fixes", &fixes)
  }
}

extension SilenceBasis: EventMembers {
  static var unread: SilenceBasis {
    SilenceBasis(
      pace: .zero,
      surroundings: .usual,
      opportunities: 0,
      runChance: 0,
      budget: 0,
      continued: 0,
      ended: 0,
      floor: .zero,
      ceiling: .zero
    )
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("pace", &pace)
    try coder.choice("surroundings", &surroundings, .bits(2))
    try coder.member("opportunities", &opportunities, decimals: 3)
    try coder.member("runChance", &runChance, decimals: 9)
    try coder.member("budget", &budget, decimals: 12)
    try coder.member("continued", &continued, decimals: 3)
    try coder.member("ended", &ended, decimals: 3)
    try coder.part(nil, &tail)
    try coder.member("misses", &misses)
    try coder.member("floor", &floor, decimals: 9)
    try coder.member("ceiling", &ceiling, decimals: 9)
  }
}

extension SilenceBasis.Tail: EventMembers {
  static var unread: SilenceBasis.Tail { SilenceBasis.Tail(from: 0, chance: 0, continuation: 0) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("longFrom", &from)
    try coder.member("longChance", &chance, decimals: 9)
    try coder.member("longContinuation", &continuation, decimals: 9)
  }
}

extension Evidence {
  /// Writes what is known as the members of an open object; times in seconds, levels in dBm.
  public func write(to json: inout JSONText) {
    var copy = self
    copy.visitMembers(&json)
  }
}

/// The evidence to the last bit, as a checkpoint stores it; an ``EventRecord`` stores it as published.
extension Evidence: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    var copy = self
    copy.visitMembers(&writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self = .unread
    try visitMembers(&reader)
  }
}

extension Evidence.Rule: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a rule" }
}

extension LevelClass: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "surroundings" }
}
