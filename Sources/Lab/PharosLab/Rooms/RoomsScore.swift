import PharosDocuments
import PharosModel
import PharosRooms
import PharosTerminal

/// The zones that were decided beside those that were true, and how well the levels tell the zones apart.
struct RoomsScore {
  /// The time of each true zone by the zone that was decided; nil for none.
  private(set) var matrix: [String?: [String?: TimeSpan]] = [:]

  /// Takes what was decided during a stay.
  mutating func add(_ zones: [String?: TimeSpan], in zone: String?) {
    matrix[zone, default: [:]].merge(zones) { $0 + $1 }
  }

  /// The time of all stays, and the part of it in which the zone was right.
  var total: (all: TimeSpan, right: TimeSpan) {
    matrix.reduce((.zero, .zero)) { sum, row in
      (sum.0 + row.value.values.reduce(.zero, +), sum.1 + (row.value[row.key] ?? .zero))
    }
  }

  /// Two zones that were taken for each other.
  struct Mistake {
    /// The names of the zones, in order.
    var zones: (String, String)
    /// The time in which one was decided and the other one true.
    var time: TimeSpan
  }

  /// The pairs of zones that were taken for each other, the worst first.
  var mistakes: [Mistake] {
    var found: [[String]: TimeSpan] = [:]
    for case (let zone?, let row) in matrix {
      for case (let other?, let time) in row where other != zone {
        found[[zone, other].sorted()] = (found[[zone, other].sorted()] ?? .zero) + time
      }
    }
    return found.map { Mistake(zones: ($0.key[0], $0.key[1]), time: $0.value) }
      .sorted { ($1.time, $0.zones.0, $0.zones.1) < ($0.time, $1.zones.0, $1.zones.1) }
  }
}

/// How well the levels of a site's observers tell two zones apart.
///
/// Two observers are compared by the difference of their levels, which no power of a beacon changes: by the distance of its
/// means in the two zones, in its standard deviations. Below two, every sixth look is on the wrong side of the middle.
struct ZoneSeparation {
  /// One pair of observers.
  struct Pair {
    /// The observers.
    var observers: (ObserverID, ObserverID)
    /// The distance of the zones in standard deviations.
    var distance: Double
  }

  /// All pairs of observers, the best first.
  let pairs: [Pair]

  /// The distance from which on two zones are well apart.
  static let clear = 2.0

  /// Compares two zones.
  init(_ first: ZoneFingerprint, _ second: ZoneFingerprint) {
    let observers = Set(first.levels.map(\.observer)).union(second.levels.map(\.observer)).sorted()
    let levels = observers.map { (ZoneSeparation.moments(first, $0), ZoneSeparation.moments(second, $0)) }
    var pairs: [Pair] = []
    for left in observers.indices {
      for right in observers.indices.dropFirst(left + 1) {
        let (one, other) = (levels[left], levels[right])
        let step = (one.0.mean - other.0.mean) - (one.1.mean - other.1.mean)
        let variance = (one.0.variance + other.0.variance + one.1.variance + other.1.variance) / 2
        let distance = abs(step) / max(variance.squareRoot(), ZoneRules.minimumScatter)
        pairs.append(Pair(observers: (observers[left], observers[right]), distance: distance))
      }
    }
    self.pairs = pairs.enumerated().sorted {
      ($1.element.distance, $0.offset) < ($0.element.distance, $1.offset)
    }
    .map(\.element)
  }

  /// The mean and the variance of an observer's level, where silence counts as the least level that a receiver hears.
  private static func moments(
    _ fingerprint: ZoneFingerprint,
    _ observer: ObserverID
  ) -> (mean: Double, variance: Double) {
    let silence = ZoneRules.sensitivity
    guard let level = fingerprint.levels.first(where: { $0.observer == observer }) else {
      return (silence, 0)
    }
    let step = level.mean - silence
    let variance =
      level.heard * level.deviation * level.deviation + level.heard * (1 - level.heard) * step * step
    return (silence + level.heard * step, variance)
  }
}
