package import PharosModel

/// Learns the fingerprints of zones from looks at beacons whose zone is known.
///
/// Successive looks of one stay resemble each other, the less the further they are apart. Where their correlation falls
/// exponentially, the mean of a stay has the variance of as many independent looks as its length has times of twice the lag at
/// which the correlation is 1/e, and of one at least.
///
/// - Source: the correlation of successive samples as an autoregressive process, Youssef and Agrawala, Proc. INFOCOM (2004), 3;
///   the variance of the mean of an Ornstein–Uhlenbeck process over a time.
package struct FingerprintLearner: Sendable {
  /// One stay, its looks at equal distances.
  private struct Stay: Sendable {
    var zone: String
    var looks: [[FingerprintTable.Observation]] = []
    var end = Timestamp.distantPast
  }

  /// The sums over the looks of one zone at one observer.
  private struct Sums {
    var looks = 0.0
    var heard = 0.0
    var mean = 0.0
    var squares = 0.0

    mutating func add(_ observation: FingerprintTable.Observation) {
      switch observation {
      case .none: break
      case .silence: looks += 1
      case .level(let level):
        looks += 1
        heard += 1
        let step = level - mean
        mean += step / heard
        squares += step * (level - mean)
      }
    }
  }

  /// The observers, in the order of the observations.
  private let observers: [ObserverID]
  private var stays: [Int: Stay] = [:]

  /// Starts with nothing learned.
  ///
  /// - Parameter observers: The observers, in the order of the observations.
  package init(observers: [ObserverID]) { self.observers = observers }

  /// Takes a look at a beacon.
  ///
  /// - Parameters:
  ///   - look: The observations, one for each observer.
  ///   - zone: The zone that the beacon is known to be in.
  ///   - stay: The number of the stay.
  ///   - instant: The time of the look, later than that of the stay's last one.
  package mutating func add(
    _ look: [FingerprintTable.Observation],
    in zone: String,
    stay: Int,
    at instant: Timestamp
  ) {
    stays[stay, default: Stay(zone: zone)].looks.append(look)
    stays[stay]?.end = instant
  }

  /// The fingerprints by zones.
  package var fingerprints: [String: ZoneFingerprint] {
    let ordered = stays.sorted { $0.key < $1.key }.map(\.value)
    var sums: [String: [Sums]] = [:]
    for stay in ordered {
      var own = sums[stay.zone] ?? Array(repeating: Sums(), count: observers.count)
      for look in stay.looks { for place in observers.indices { own[place].add(look[place]) } }
      sums[stay.zone] = own
    }
    let lag = FingerprintLearner.correlationLag(of: ordered.map { residuals(of: $0, sums[$0.zone] ?? []) })
    return sums.reduce(into: [:]) { found, entry in
      let own = ordered.filter { $0.zone == entry.key }
      found[entry.key] = ZoneFingerprint(
        levels: zip(observers, entry.value).compactMap(FingerprintLearner.level).sorted {
          $0.observer < $1.observer
        },
        looks: own.reduce(0) {
          $0 + FingerprintLearner.independentLooks(of: Double($1.looks.count), lag: lag)
        },
        learnedAt: own.map(\.end).max() ?? .distantPast
      )
    }
  }

  /// Returns the number of independent looks as which those of one stay count.
  private static func independentLooks(of count: Double, lag: Double) -> Double {
    let share = lag / count
    return 1 / (2 * share * (1 - share * (1 - RadioMath.exponential(-1 / share))))
  }

  private static func level(_ observer: ObserverID, _ sums: Sums) -> ZoneFingerprint.Level? {
    guard sums.heard > 0 else { return nil }
    return ZoneFingerprint.Level(
      observer: observer,
      mean: sums.mean,
      deviation: (sums.squares / sums.heard).squareRoot(),
      heard: sums.heard / sums.looks
    )
  }

  /// The deviations of a stay's levels from the means of its zone, by looks and observers; nil where nothing was heard.
  private func residuals(of stay: Stay, _ sums: [Sums]) -> [[Double?]] {
    stay.looks.map { look in
      zip(look, sums).map { observation, sums in
        guard case .level(let level) = observation else { return nil }
        return level - sums.mean
      }
    }
  }

  /// Returns the lag in looks at which the correlation has fallen to 1/e, or the maximumLag one there is.
  private static func correlationLag(of stays: [[[Double?]]]) -> Double {
    let variance = covariance(of: stays, lag: 0)
    let threshold = variance * RadioMath.exponential(-1)
    let maximumLag = max(1, (stays.map(\.count).max() ?? 1) - 1)
    var before = variance
    for lag in 1...maximumLag {
      let present = covariance(of: stays, lag: lag)
      // Between two lags it is a straight line.
      guard present > threshold else {
        return Double(lag) - (before > present ? (threshold - present) / (before - present) : 0)
      }
      before = present
    }
    return Double(maximumLag)
  }

  /// Returns the mean product of deviations that are a number of looks apart, over all stays and observers.
  private static func covariance(of stays: [[[Double?]]], lag: Int) -> Double {
    var (sum, count) = (0.0, 0.0)
    for stay in stays {
      for (early, late) in zip(stay, stay.dropFirst(lag)) {
        for case (let early?, let late?) in zip(early, late) {
          sum += early * late
          count += 1
        }
      }
    }
    return count > 0 ? sum / count : 0
  }
}
