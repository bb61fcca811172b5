public import PharosReports

/// Why a decision was made: enough to compute it again.
public struct Evidence: Hashable, Sendable {
  /// The rule that fired.
  public enum Rule: String, Hashable, Sendable {
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
    /// Somebody asked.
    case requested
    /// The region was removed, replaced or rotated.
    case regionChange
    /// The track was evicted because the observer hears more beacons than are kept.
    case eviction
  }

  /// The rule that fired.
  public var rule: Rule
  /// How many samples the rule asks for.
  public var samples: Int?
  /// How many samples counted.
  public var counted: Int?
  /// The window in which they must fall, or the dwell of a level, or the patience with what is never heard.
  public var window: TimeSpan?
  /// The time from the first sample that counted to the last.
  public var spread: TimeSpan?
  /// The length of the silence at the deadline.
  public var gap: TimeSpan?
  /// The length of silence that was allowed.
  public var allowedGap: TimeSpan?
  /// By how much the allowed silence was stretched since the observer scans in windows; nil means not.
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
  /// How long the filtered level had been below the threshold.
  public var belowFor: TimeSpan?
  /// By how much the decision was clear: dB for a rule about levels, seconds for one about silence.
  public var margin: Double?
  /// When the beacon was last heard.
  public var lastHeard: Timestamp?
  /// When a fixed rule of 30 s would have fired.
  public var fixedRuleAt: Timestamp?
  /// The part of the silence in which the observer heard nothing or next to nothing: time that ``gap`` leaves out.
  public var deafFor: TimeSpan?
  /// How long after the deadline the observer proved that it lives.
  public var waitedForProof: TimeSpan?
  /// What the allowed silence was computed from, where it adapts.
  public var silence: SilenceBasis?

  /// Starts with the rule alone; what else is known is filled in.
  public init(rule: Rule) { self.rule = rule }
}
