package import PharosEvents

/// Sorts distances into immediate, near and far, and holds a class until its edge is clearly crossed.
package struct ProximityClassifier: Hashable, Sendable {
  /// Below this distance a beacon is immediate.
  ///
  /// - Units: metres. Apple publishes no edges; this one is ours, half an arm's length.
  static let immediate = 0.5
  /// Below this distance a beacon is near.
  ///
  /// - Units: metres. Ours as well: across a room but not across a hall.
  static let near = 3.0
  /// By how much an edge must be passed before the class changes: a tenth, less than a decibel.
  static let band = 1.1

  var proximity = RangedReading.Proximity.unknown

  package init() {}

  /// The class of a distance; nil is undetermined.
  package mutating func classify(_ meters: Double?) -> RangedReading.Proximity {
    guard let meters else {
      proximity = .unknown
      return .unknown
    }
    let inner = edge(ProximityClassifier.immediate, isWithin: proximity == .immediate)
    let outer = edge(
      ProximityClassifier.near,
      isWithin: proximity == .immediate || proximity == .near
    )
    proximity = meters < inner ? .immediate : meters < outer ? .near : .far
    return proximity
  }

  private func edge(_ meters: Double, isWithin: Bool) -> Double {
    guard proximity != .unknown else { return meters }
    return isWithin ? meters * ProximityClassifier.band : meters / ProximityClassifier.band
  }
}
