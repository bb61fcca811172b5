import PharosModel

/// The alignment of a floor plan's image with the Earth: a rotation, scale and shift on Mercator's map.
///
/// Two anchors are met exactly, as Apple's sample Footprint aligns plans. Three or more are met in the least-squares
/// sense, as well as a rotation, a scale and a shift can; the residual of each is reported. There is no skew and no
/// mirroring, so a plan must be drawn to scale.
public struct PlanAlignment: Hashable, Sendable {
  /// The anchors by which the image was aligned, in the order given.
  public let anchors: [PlanAnchor]
  /// The distance of each anchor from the place where the alignment puts its pixel.
  ///
  /// - Units: metres.
  public let residuals: [Double]
  /// The length of a pixel on the ground, with the scale of Mercator's map amid the anchors.
  ///
  /// - Units: metres.
  public let metersPerPixel: Double
  /// The middle of the anchors on the map, and on the image.
  private let mapCenter: MapPoint
  private let pixelCenter: Pixel
  /// The complex factor that turns a way on the image into one on the map: x to the right and y downwards on both.
  private let factor: Point

  /// The fewest anchors: with one, an image could be turned and scaled at will.
  public static let minimumAnchors = 2
  /// The most anchors: each is set by hand.
  public static let maximumAnchors = 1_000
  /// The farthest that two anchors may be from each other.
  ///
  /// - Units: metres. The longest buildings have 3 km; farther out the scale of Mercator's map changes by more than a
  ///   survey's errors.
  public static let largestExtent = 10_000.0

  /// Aligns an image.
  ///
  /// - Parameter anchors: at least two, apart from each other on the image and on the Earth.
  /// - Throws: the anchors that are invalid, and the reason.
  public init(anchors: [PlanAnchor]) throws(PlanAlignmentError) {
    let points = try PlanAlignment.mapPoints(of: anchors)
    let count = Double(anchors.count)
    let ways = points.map { $0.offset(from: points[0]) }
    let east = ways.reduce(0) { $0 + $1.east } / count
    let south = ways.reduce(0) { $0 + $1.south } / count
    let mapCenter = MapPoint(x: points[0].x + east, y: points[0].y + south)
    let pixelCenter = Pixel(
      x: anchors.reduce(0) { $0 + $1.pixel.x } / count,
      y: anchors.reduce(0) { $0 + $1.pixel.y } / count
    )
    let onMap = ways.map { Point(x: $0.east - east, y: $0.south - south) }
    let onImage = anchors.map { Point(x: $0.pixel.x - pixelCenter.x, y: $0.pixel.y - pixelCenter.y) }
    let fit = SimilarityFit(of: onMap, from: onImage, mirrored: false)
    let scale = MapPoint.metersPerPoint(atLatitude: mapCenter.coordinate.latitude)

    self.anchors = anchors
    self.mapCenter = mapCenter
    self.pixelCenter = pixelCenter
    factor = fit.factor
    residuals = anchors.count == 2 ? [0, 0] : fit.residuals.map { $0 * scale }
    metersPerPixel = fit.factor.length * scale
    let mirrored = SimilarityFit(of: onMap, from: onImage, mirrored: true)
    try check(mirrored: mirrored.meanSquare.squareRoot() * scale, extent: fit.extent * scale)
  }

  /// The point of the map under a pixel.
  public func mapPoint(of pixel: Pixel) -> MapPoint {
    let x = pixel.x - pixelCenter.x
    let y = pixel.y - pixelCenter.y
    return MapPoint(
      x: mapCenter.x + factor.x * x - factor.y * y,
      y: mapCenter.y + factor.y * x + factor.x * y
    )
  }

  /// The pixel over a point of the map.
  public func pixel(of mapPoint: MapPoint) -> Pixel {
    let (east, south) = mapPoint.offset(from: mapCenter)
    let square = factor.dot(factor)
    return Pixel(
      x: pixelCenter.x + (factor.x * east + factor.y * south) / square,
      y: pixelCenter.y + (factor.x * south - factor.y * east) / square
    )
  }

  /// The coordinate under a pixel.
  public func coordinate(of pixel: Pixel) -> Coordinate { mapPoint(of: pixel).coordinate }

  /// The pixel over a coordinate, or nil beyond the edges of the map.
  public func pixel(of coordinate: Coordinate) -> Pixel? { MapPoint(coordinate).map(pixel(of:)) }

  /// The direction that the image's upper edge faces: 0 for north, 90 for east.
  ///
  /// - Units: degrees, 0 up to 360.
  public var bearing: Double {
    let degrees = Trigonometry.degrees(Trigonometry.angle(y: factor.y, x: factor.x))
    return degrees < 0 ? degrees + 360 : degrees
  }

  /// The root of the mean square of the residuals in metres.
  public var rootMeanSquare: Double {
    (residuals.reduce(0) { $0 + $1 * $1 } / Double(residuals.count)).squareRoot()
  }
}

/// A place on a floor plan's image: pixels to the right of its left edge and down from its upper edge.
///
/// The first pixel reaches from 0 to 1, its middle is at 0.5.
///
/// - Units: pixels.
public struct Pixel: Hashable, Sendable {
  /// Pixels from the left edge.
  public var x: Double
  /// Pixels from the upper edge, downwards.
  public var y: Double

  /// Makes a place on an image.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A place that is known on an image and on the Earth: what an image is aligned by.
public struct PlanAnchor: Hashable, Sendable {
  /// The place on the image.
  public var pixel: Pixel
  /// The place on the Earth.
  public var coordinate: Coordinate

  /// Makes an anchor.
  public init(pixel: Pixel, coordinate: Coordinate) {
    self.pixel = pixel
    self.coordinate = coordinate
  }
}

/// The rotation and scale that lead best from one set of places to another, both around their middle.
///
/// Places are taken for complex numbers: the factor a that makes Σ|zᵢ − a·pᵢ|² least is Σ zᵢ·p̄ᵢ ÷ Σ|pᵢ|².
///
/// - Source: S. Umeyama, "Least-squares estimation of transformation parameters between two point patterns", IEEE
///   PAMI 13 (1991), for two dimensions.
struct SimilarityFit {
  /// The complex factor.
  let factor: Point
  /// The distance of each place from where the factor leads.
  let residuals: [Double]
  /// The distance of the farthest place from the middle.
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

/// A reason why an image cannot be aligned by its anchors; anchors are counted from 0.
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
  case inconsistent(worst: Int, residual: Double, extent: Double)
  /// A pixel would be smaller or larger than any plan's.
  case scale(metersPerPixel: Double)
}

extension PlanAlignment {
  /// The distance below which two anchors on the image count as one.
  ///
  /// - Units: pixels.
  static let nearestPixels = 1.0
  /// The distance below which two anchors on the Earth count as one.
  ///
  /// - Units: metres. Hands and web maps are good for a few decimetres.
  static let nearestMeters = 0.1
  /// The permitted sizes of a plan's pixel: from a scan at 10 pixels a millimetre to a tile of a whole town.
  ///
  /// - Units: metres.
  static let scales = 1e-4...100.0
  /// The residual, as a share of the anchors' extent, above which they do not belong together.
  ///
  /// Web maps and hands err by a few metres, paper by a few percent; a swapped pair errs by the extent itself.
  static let inconsistentShare = 0.25

  /// Returns the points of anchors that are distinct.
  static func mapPoints(of anchors: [PlanAnchor]) throws(PlanAlignmentError) -> [MapPoint] {
    guard (minimumAnchors...maximumAnchors).contains(anchors.count) else { throw .count(anchors.count) }
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
  /// - Throws: `mirrored`, `inconsistent` or `scale`.
  func check(mirrored: Double, extent: Double) throws(PlanAlignmentError) {
    let rootMeanSquare = rootMeanSquare
    if rootMeanSquare > extent / 20, mirrored < rootMeanSquare / 5 {
      throw .mirrored(rootMeanSquare: rootMeanSquare, mirroredRootMeanSquare: mirrored)
    }
    if let worst = residuals.indices.max(by: { residuals[$0] < residuals[$1] }),
      residuals[worst] > extent * PlanAlignment.inconsistentShare
    {
      throw .inconsistent(worst: worst, residual: residuals[worst], extent: extent)
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

  /// The error of a careful hand on a web map.
  ///
  /// - Units: metres.
  static let doubtfulMeters = 1.0
  /// The error of a plan drawn to scale, as a share of its extent: Mercator's map of a flattened Earth accounts for up
  /// to 0.7 %, paper and scanners the rest.
  static let doubtfulShare = 0.015

  /// The distance of the farthest anchor from the first one, in metres.
  private var mapExtent: Double {
    anchors.reduce(0) { max($0, $1.coordinate.distance(to: anchors[0].coordinate)) }
  }
}

extension PlanAlignmentError: CustomStringConvertible {
  /// The problem, the anchors concerned, counted from 1, and the remedy.
  public var description: String {
    switch self {
    case .count(let count):
      let bounds = "\(PlanAlignment.minimumAnchors) to \(PlanAlignment.maximumAnchors)"
      return "\(count) anchors: an image is aligned by \(bounds) of them"
    case .notAPixel(let index):
      return "anchor \(index + 1): the pixel is no place on an image"
    case .beyondTheMap(let index, let latitude):
      return "anchor \(index + 1): latitude \(latitude) is beyond the edge of the map, "
        + "\(MapPoint.largestLatitude)"
    case .samePixel(let first, let second):
      return "anchors \(first + 1) and \(second + 1) are one spot of the image: take places far apart"
    case .sameCoordinate(let first, let second):
      return "anchors \(first + 1) and \(second + 1) are one spot on the Earth: take places far apart"
    case .tooFarApart(let first, let second, let meters):
      return
        "anchors \(first + 1) and \(second + 1) are \(PlanAlignmentError.round(meters / 1_000)) km from each "
        + "other: look for swapped numbers (latitude comes first here, longitude in GeoJSON)"
    case .mirrored(let found, let mirrored):
      return "the anchors fit to \(PlanAlignmentError.round(found)) m, and to "
        + "\(PlanAlignmentError.round(mirrored)) m if the image is mirrored: count pixels downwards from its upper edge"
    case .inconsistent(let worst, let residual, let extent):
      return "anchor \(worst + 1) is \(PlanAlignmentError.round(residual)) m off, and the anchors reach "
        + "\(PlanAlignmentError.round(extent)) m: no turning and scaling of the image brings them together"
    case .scale(let metersPerPixel):
      return "a pixel would be \(metersPerPixel) m long: look for swapped numbers"
    }
  }

  /// A number with three decimals at most.
  private static func round(_ number: Double) -> Double { (number * 1_000).rounded() / 1_000 }
}
