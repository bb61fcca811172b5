package import PharosFixes

/// The errors of the fixes of walks from which a map was not made, relative to the radii that the fixes claimed.
///
/// The radius is meant to hold 68 % of truths. So the factor on it is the 68 % quantile of those ratios.
package struct RadiusEvidence: Sendable {
  private var ratios: [Float] = []
  private var walks = 0

  /// The minimum number of walks that show a factor; with fewer the radius stays as it is.
  ///
  /// 6: the fixes of a walk err together, so that the walks count, not the fixes. A share of 68 % of six walks is known to ±19 %.
  package static let minimumWalks = 6
  /// The share of truths that the radius is meant to hold.
  private static let share = 0.68

  /// Starts without any evidence.
  package init() {}

  /// Adds the ratios of a walk's fixes: the distance of each from the true place, divided by its radius.
  package mutating func add(_ walk: [Double]) {
    guard !walk.isEmpty else { return }
    walks += 1
    ratios += walk.map { Float($0) }
  }

  /// Returns the factor for a kind of subject, within its bounds; nil with too few walks.
  package func scale(_ kind: RadiusScale.Kind) -> RadiusScale? {
    guard walks >= RadiusEvidence.minimumWalks else { return nil }
    let sorted = ratios.sorted()
    let quantile = sorted[min(sorted.count - 1, Int(Double(sorted.count) * RadiusEvidence.share))]
    let bounds = RadiusScale.bounds
    let factor = min(bounds.upperBound, max(bounds.lowerBound, quantile))
    return RadiusScale(kind: kind, factor: factor, walks: walks)
  }
}
