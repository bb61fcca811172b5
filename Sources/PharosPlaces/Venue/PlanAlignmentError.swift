/// Why an image cannot be aligned by its anchors; anchors are counted from 0.
public enum PlanAlignmentError: Error, Hashable, Sendable {
  /// There are not enough anchors, or far too many.
  case count(Int)
  /// A pixel of an anchor is no pair of numbers.
  case notAPixel(Int)
  /// An anchor lies beyond the edges of Mercator's map, near a pole.
  case beyondTheMap(Int, latitude: Double)
  /// Two anchors are at one place of the image.
  case samePixel(Int, Int)
  /// Two anchors are at one place on the Earth.
  case sameCoordinate(Int, Int)
  /// Two anchors are farther from each other than a building is long.
  case tooFarApart(Int, Int, meters: Double)
  /// The image would fit, were it mirrored: pixels were counted from the wrong edge, or numbers changed places.
  case mirrored(rootMeanSquare: Double, mirroredRootMeanSquare: Double)
  /// No rotation, scale and shift brings the anchors even near to where they should be.
  case senseless(worst: Int, residual: Double, extent: Double)
  /// A pixel would be smaller or larger than any plan's.
  case scale(metersPerPixel: Double)
}

extension PlanAlignment {
  /// How near to each other two anchors are one on the image.
  ///
  /// - Units: pixels.
  static let nearestPixels = 1.0
  /// How near to each other two anchors are one on the Earth.
  ///
  /// - Units: metres. Hands and web maps are good for a few decimetres.
  static let nearestMeters = 0.1
  /// What a pixel of a plan may be: from a scan at 10 pixels a millimetre to a tile of a whole town.
  ///
  /// - Units: metres.
  static let scales = 1e-4...100.0
  /// The residual, as a share of the anchors' extent, above which they do not belong together.
  ///
  /// Web maps and hands err by a few metres, paper by a few percent; a swapped pair errs by the extent itself.
  static let senselessShare = 0.25

  /// The points of anchors that can be told apart.
  static func mapPoints(of anchors: [PlanAnchor]) throws(PlanAlignmentError) -> [MapPoint] {
    guard (fewestAnchors...mostAnchors).contains(anchors.count) else { throw .count(anchors.count) }
    var points: [MapPoint] = []
    for (index, anchor) in anchors.enumerated() {
      guard anchor.pixel.x.magnitude < 1e7, anchor.pixel.y.magnitude < 1e7 else { throw .notAPixel(index) }
      guard let point = MapPoint(anchor.coordinate) else {
        throw .beyondTheMap(index, latitude: anchor.coordinate.latitude)
      }
      for other in 0..<index {
        let dx = anchor.pixel.x - anchors[other].pixel.x
        let dy = anchor.pixel.y - anchors[other].pixel.y
        guard (dx * dx + dy * dy).squareRoot() >= nearestPixels else { throw .samePixel(other, index) }
        let (east, south) = point.offset(from: points[other])
        let scale = MapPoint.metersPerPoint(atLatitude: anchor.coordinate.latitude)
        let meters = (east * east + south * south).squareRoot() * scale
        guard meters >= nearestMeters else { throw .sameCoordinate(other, index) }
        guard meters <= largestExtent else { throw .tooFarApart(other, index, meters: meters) }
      }
      points.append(point)
    }
    return points
  }

  /// Rejects an implausible alignment.
  ///
  /// - Parameters:
  ///   - mirrored: the residual that would be left if the image were mirrored, in metres.
  ///   - extent: the distance of the farthest anchor from the middle of all anchors, in metres.
  /// - Throws: `mirrored`, `senseless` or `scale`.
  func check(mirrored: Double, extent: Double) throws(PlanAlignmentError) {
    let rootMeanSquare = rootMeanSquare
    if rootMeanSquare > extent / 20, mirrored < rootMeanSquare / 5 {
      throw .mirrored(rootMeanSquare: rootMeanSquare, mirroredRootMeanSquare: mirrored)
    }
    if let worst = residuals.indices.max(by: { residuals[$0] < residuals[$1] }),
      residuals[worst] > extent * PlanAlignment.senselessShare
    {
      throw .senseless(worst: worst, residual: residuals[worst], extent: extent)
    }
    guard PlanAlignment.scales.contains(metersPerPixel) else {
      throw .scale(metersPerPixel: metersPerPixel)
    }
  }

  /// The anchors that deserve a second look, counted from 0: those left farther off than a careful hand errs.
  public var doubtfulAnchors: [Int] {
    let extent = mapExtent
    let bound = max(PlanAlignment.doubtfulMeters, extent * PlanAlignment.doubtfulShare)
    return residuals.indices.filter { residuals[$0] > bound }
  }

  /// What a careful hand errs by on a web map.
  ///
  /// - Units: metres.
  static let doubtfulMeters = 1.0
  /// What a plan drawn to scale errs by, as a share of its extent: Mercator's map of a flattened Earth takes up to
  /// 0.7 %, paper and scanners the rest.
  static let doubtfulShare = 0.015

  /// How far the farthest anchor is from the first one, in metres.
  private var mapExtent: Double {
    anchors.reduce(0) { max($0, $1.coordinate.distance(to: anchors[0].coordinate)) }
  }
}
