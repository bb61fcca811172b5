import PharosEvents
import PharosReports

/// How loud one observer hears one beacon: a filtered level, and how long its silence means nothing.
///
/// The filter is a Kalman filter on a level that wanders: each second adds `wander` to its variance, each summary is a
/// measurement whose variance is `scatter` over its samples.
struct ObserverLevel: Sendable {
  /// How much a level's variance grows in a second.
  ///
  /// 4 dB²: a walker's level moves by about 2 dB in a second.
  private static let wander = 4.0
  /// The variance of a single sample around the level.
  ///
  /// 25 dB²: fading gives 5 dB of scatter from advert to advert.
  private static let scatter = 25.0
  /// How many samples of a second count as independent.
  ///
  /// 4: more adverts in one second see the same shadow.
  private static let independentSamples = 4.0
  /// The interval of a beacon that has been summarised once.
  private static let firstInterval = 5.0
  /// The longest interval that is learned.
  private static let longestInterval = 60.0

  let observer: ObserverID
  /// The filtered level.
  ///
  /// - Units: dBm.
  private(set) var level: Double
  /// When stage one told of it last; moved to the recovery after an outage.
  private(set) var toldAt: Timestamp
  /// How many adverts it is made of, since the last recovery.
  private(set) var samples: UInt64
  /// Whether the observer is down, so that its silence says nothing.
  var isDark = false
  /// The level when another observer went down.
  var levelAtOutage: Double?

  private var variance: Double
  private var interval = firstInterval

  /// Starts with a first summary.
  init(_ summary: TrackSummary, at instant: Timestamp) {
    observer = summary.observer
    level = summary.mean
    variance = ObserverLevel.noise(of: summary)
    samples = UInt64(summary.count)
    toldAt = instant
  }

  /// Takes a further second.
  mutating func add(_ summary: TrackSummary, at instant: Timestamp) {
    let gap = max(0, (instant - toldAt).seconds)
    let noise = ObserverLevel.noise(of: summary)
    variance += ObserverLevel.wander * gap
    let gain = variance / (variance + noise)
    level += gain * (summary.mean - level)
    variance *= 1 - gain
    samples &+= UInt64(summary.count)
    learn(gap: gap)
    toldAt = instant
    isDark = false
  }

  /// The observer is back: its silence counts from now on, and its level once it has heard the beacon again.
  mutating func recover(at instant: Timestamp) {
    isDark = false
    samples = 0
    toldAt = max(toldAt, instant)
  }

  /// The level as it is compared: falling once the silence has lasted longer than the beacon's interval explains.
  func compared(at instant: Timestamp, _ rules: ZoneRules) -> Double {
    guard !isDark else { return level }
    let grace = max(rules.shortestLevelGrace.seconds, interval * rules.levelIntervals)
    let excess = (instant - toldAt).seconds - grace
    return excess > 0 ? level - excess * rules.silentFall : level
  }

  /// Whether a live observer has heard nothing for so long that it no longer hears the beacon.
  func isGone(at instant: Timestamp, _ rules: ZoneRules) -> Bool {
    guard !isDark else { return false }
    let learned = max(rules.shortestPresence.seconds, interval * rules.presenceIntervals)
    return (instant - toldAt).seconds >= min(learned, rules.longestPresence.seconds)
  }

  /// Learns fast that a beacon has become slower and slowly that it has become faster, so that a tag that rests is
  /// not taken for gone.
  private mutating func learn(gap: Double) {
    let weight = gap > interval ? 0.5 : 0.0625
    interval = min(interval + weight * (gap - interval), ObserverLevel.longestInterval)
  }

  private static func noise(of summary: TrackSummary) -> Double {
    scatter / min(max(Double(summary.count), 1), independentSamples)
  }
}
