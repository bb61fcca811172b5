/// The rotation and scale that lead best from one set of places to another, both around their middle.
///
/// Places are taken for complex numbers: the factor a that makes Σ|zᵢ − a·pᵢ|² least is Σ zᵢ·p̄ᵢ ÷ Σ|pᵢ|².
///
/// - Source: S. Umeyama, "Least-squares estimation of transformation parameters between two point patterns", IEEE
///   PAMI 13 (1991), for two dimensions.
struct SimilarityFit {
  /// The complex factor.
  let factor: Point
  /// How far each place is from where the factor leads.
  let residuals: [Double]
  /// How far the farthest place is from the middle.
  let extent: Double

  init(of places: [Point], from sources: [Point], mirrored: Bool) {
    let sources = mirrored ? sources.map { Point(x: $0.x, y: -$0.y) } : sources
    var sum = Point.origin
    var square = 0.0
    for (place, source) in zip(places, sources) {
      sum = sum + Point(x: source.dot(place), y: source.cross(place))
      square += source.dot(source)
    }
    let factor = sum * (1 / square)
    self.factor = factor
    residuals = zip(places, sources).map { place, source in
      let reached = Point(
        x: factor.x * source.x - factor.y * source.y,
        y: factor.y * source.x + factor.x * source.y
      )
      return place.distance(to: reached)
    }
    extent = places.reduce(0) { max($0, $1.length) }
  }

  /// The mean square of the residuals.
  var meanSquare: Double { residuals.reduce(0) { $0 + $1 * $1 } / Double(residuals.count) }
}
