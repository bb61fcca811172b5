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
  /// Where it is on the image.
  public var pixel: Pixel
  /// Where it is on the Earth.
  public var coordinate: Coordinate

  /// Makes an anchor.
  public init(pixel: Pixel, coordinate: Coordinate) {
    self.pixel = pixel
    self.coordinate = coordinate
  }
}
