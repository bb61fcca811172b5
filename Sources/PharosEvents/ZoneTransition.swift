public import PharosReports

/// A beacon's change of zone.
public struct ZoneTransition: Hashable, Sendable {
  /// The zone before, or nil if it was in none.
  public var from: String?
  /// The zone now, or nil if it is in none.
  public var to: String?
  /// By how much the observers of the new zone hear the beacon louder than those of the next best one.
  ///
  /// - Units: dB.
  public var margin: Double?
  /// How long the winner had won before it was believed.
  public var dwell: TimeSpan?
  /// Why it is in the new zone, or in none.
  public var reason: Reason
  /// The probability of the new zone; of the one that it left, where it is in none now.
  ///
  /// Nil where nothing was weighed: the observers fell silent, or are down.
  public var probability: Double?
  /// The zone that came next, if another one was weighed.
  public var runnerUp: Candidate?
  /// How loud the observers that decided heard the beacon, the loudest first, at most ``mostHearings``.
  public var hearings: [Hearing]

  /// How many observers a transition names at most.
  ///
  /// 3: who hears it loudest, who came next, and one more to tell whether two of them agree.
  public static let mostHearings = 3

  /// What decided.
  public enum Reason: String, Hashable, Sendable {
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

  /// How loud an observer heard the beacon when a decision was made.
  public struct Hearing: Hashable, Sendable {
    /// Who heard it.
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
