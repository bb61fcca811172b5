/// The picture of a floor: an image in the venue's folder and how it lies on the Earth.
public struct FloorPlan: Hashable, Sendable {
  /// The image's file, counted from the venue's folder.
  public var image: String
  /// How wide the image is in pixels.
  public var width: Int
  /// How high the image is in pixels.
  public var height: Int
  /// How it lies on the Earth.
  public var alignment: PlanAlignment

  /// Makes a floor plan.
  public init(image: String, width: Int, height: Int, alignment: PlanAlignment) {
    self.image = image
    self.width = width
    self.height = height
    self.alignment = alignment
  }
}

extension Floor {
  /// The pixel of the floor plan at a place of the floor; nil without a plan.
  public func pixel(of point: Point) -> Pixel? {
    guard let plan, let coordinate = plane.coordinate(of: point) else { return nil }
    return plan.alignment.pixel(of: coordinate)
  }

  /// The place of the floor at a pixel of its plan; nil without a plan, or far outside of it.
  public func point(of pixel: Pixel) -> Point? {
    guard let plan else { return nil }
    return plane.point(of: plan.alignment.coordinate(of: pixel))
  }
}
