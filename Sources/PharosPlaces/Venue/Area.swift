/// A piece of a floor with a name, maybe with holes in it: a hall, a shop, an atrium.
public struct Area: Hashable, Sendable {
  /// What people or files call it, or an empty text.
  public var name: String
  /// Its outer side.
  public var outline: Polygon
  /// What is cut out of it.
  public var holes: [Polygon]

  /// Makes an area.
  public init(name: String = "", outline: Polygon, holes: [Polygon] = []) {
    self.name = name
    self.outline = outline
    self.holes = holes
  }

  /// Whether a place lies in it: inside the outline, and in none of the holes.
  ///
  /// - Complexity: O(corners), without allocation.
  public func contains(_ point: Point) -> Bool {
    guard outline.contains(point) else { return false }
    for hole in holes where hole.contains(point) { return false }
    return true
  }

  /// The size of the outline less that of the holes in square metres.
  public var size: Double { outline.area - holes.reduce(0) { $0 + $1.area } }

  /// Every side of the outline and of the holes.
  public var sides: [Segment] { ([outline] + holes).flatMap(\.sides) }
}

extension Polygon {
  /// Its sides in order.
  public var sides: [Segment] {
    guard corners.count >= 3, var previous = corners.last else { return [] }
    return corners.map { corner in
      defer { previous = corner }
      return Segment(from: previous, to: corner)
    }
  }
}
