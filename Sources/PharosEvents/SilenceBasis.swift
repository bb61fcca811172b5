public import PharosReports

/// How far a beacon's level lies below what is usual for it at this observer.
///
/// Somebody who walks away is heard more and more weakly before nothing is heard: silence after a fall says more than
/// silence out of the blue.
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
  /// How far the level had fallen when the beacon was last heard.
  public var surroundings: LevelClass
  /// How many adverts a day are received at such levels.
  public var opportunities: Double
  /// The chance that a run of losses begins after one of them.
  public var runChance: Double
  /// How many false exits a day are allowed at such levels.
  public var budget: Double
  /// How often a run of losses went on, what was believed beforehand included.
  public var continued: Double
  /// How often a run of losses ended, what was believed beforehand included.
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
    /// From how many losses in a row on a run counts as long.
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

extension SilenceBasis {
  /// Writes the basis as the members of an object; times in seconds.
  func write(to json: inout JSONText) {
    json.member("pace", pace.seconds, decimals: 3)
    json.member("surroundings", surroundings.rawValue)
    json.member("opportunities", opportunities, decimals: 3)
    json.member("runChance", runChance, decimals: 9)
    json.member("budget", budget, decimals: 12)
    json.member("continued", continued, decimals: 3)
    json.member("ended", ended, decimals: 3)
    if let tail {
      json.member("longFrom", tail.from)
      json.member("longChance", tail.chance, decimals: 9)
      json.member("longContinuation", tail.continuation, decimals: 9)
    }
    json.member("misses", misses)
    json.member("floor", floor.seconds, decimals: 9)
    json.member("ceiling", ceiling.seconds, decimals: 9)
  }
}
