/// A place on a floor: metres east and north of the floor's origin.
///
/// Also the difference between two places, since a plane needs no second type for it.
///
/// - Units: metres.
public struct Point: Hashable, Sendable {
  /// Metres towards the east.
  public var x: Double
  /// Metres towards the north.
  public var y: Double

  /// Makes a point.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// The place that floors are measured from.
  public static let origin = Point(x: 0, y: 0)

  /// The length of the way from the origin: that of a difference.
  public var length: Double { (x * x + y * y).squareRoot() }

  /// The distance to another place in metres.
  public func distance(to other: Point) -> Double { (other - self).length }

  /// The place at a share of the straight way to another: 0 is here, 1 is there.
  public func interpolated(to other: Point, share: Double) -> Point {
    Point(x: x + (other.x - x) * share, y: y + (other.y - y) * share)
  }

  /// The same direction with a length of one, or nil where there is no direction.
  public var direction: Point? {
    let length = length
    guard length > 0, length.isFinite else { return nil }
    return Point(x: x / length, y: y / length)
  }

  /// The scalar product: for two directions, the cosine of the angle between them.
  public func dot(_ other: Point) -> Double { x * other.x + y * other.y }

  /// The third component of the vector product: positive where `other` lies to the left.
  public func cross(_ other: Point) -> Double { x * other.y - y * other.x }

  /// The sum of two differences, or a place moved by one.
  public static func + (left: Point, right: Point) -> Point {
    Point(x: left.x + right.x, y: left.y + right.y)
  }

  /// The difference that leads from `right` to `left`.
  public static func - (left: Point, right: Point) -> Point {
    Point(x: left.x - right.x, y: left.y - right.y)
  }

  /// A difference made longer or shorter.
  public static func * (point: Point, factor: Double) -> Point {
    Point(x: point.x * factor, y: point.y * factor)
  }
}

extension Point: CustomStringConvertible {
  /// East and north in metres, as in `(3.5, -2.0)`.
  public var description: String { "(\(x), \(y))" }
}
