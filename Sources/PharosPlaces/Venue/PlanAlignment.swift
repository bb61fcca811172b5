/// How a floor plan's image lies on the Earth: turned, scaled and moved on Mercator's map.
///
/// Two anchors are met exactly, as Apple's sample Footprint aligns plans. Three or more are met as well as a rotation, a
/// scale and a shift can, with the least sum of squares; what is left is reported for each. There is no skew and no
/// mirror, so a plan must be drawn to scale.
public struct PlanAlignment: Hashable, Sendable {
  /// What the image was aligned by, in the order given.
  public let anchors: [PlanAnchor]
  /// How far each anchor is from where the alignment puts its pixel.
  ///
  /// - Units: metres.
  public let residuals: [Double]
  /// How long a pixel is on the ground, with the scale of Mercator's map amid the anchors.
  ///
  /// - Units: metres.
  public let metersPerPixel: Double
  /// The middle of the anchors on the map, and on the image.
  private let mapCenter: MapPoint
  private let pixelCenter: Pixel
  /// The complex factor that turns a way on the image into one on the map: x to the right and y downwards on both.
  private let factor: Point

  /// The fewest anchors: with one, an image could be turned and scaled at will.
  public static let fewestAnchors = 2
  /// The most anchors: each is set by hand.
  public static let mostAnchors = 1_000
  /// The farthest that two anchors may be from each other.
  ///
  /// - Units: metres. The longest buildings have 3 km; farther out the scale of Mercator's map changes by more than a
  ///   survey's errors.
  public static let largestExtent = 10_000.0

  /// Aligns an image.
  ///
  /// - Parameter anchors: at least two, apart from each other on the image and on the Earth.
  /// - Throws: which anchors make no sense, and why.
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

  /// Where the image's upper edge faces: 0 for north, 90 for east.
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
