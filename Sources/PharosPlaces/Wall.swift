/// Something upright that radio passes through and loses level in.
public struct Wall: Hashable, Sendable {
  /// Where it stands.
  public var segment: Segment
  /// What a signal that passes through it loses.
  ///
  /// - Units: dB. At 2.4 GHz plasterboard takes about 3, glass 2 to 4 (coated 10 and more), brick 6 to 10,
  ///   concrete 10 to 20, a lift's steel 30.
  /// - Source: ITU-R P.1238 and P.2040, and the multi-wall model of COST 231.
  public var attenuation: Double

  /// Makes a wall between two places.
  public init(from start: Point, to end: Point, attenuation: Double) {
    segment = Segment(from: start, to: end)
    self.attenuation = attenuation
  }
}

/// All walls of a floor, and what they do to the straight line between two places.
public struct Walls: Hashable, Sendable {
  /// The walls, in no order that matters.
  public var all: [Wall]

  /// Makes a set of walls.
  public init(_ all: [Wall] = []) { self.all = all }

  /// How many walls a straight line passes through.
  ///
  /// - Complexity: O(walls), without allocation.
  public func count(between start: Point, and end: Point) -> Int {
    let line = Segment(from: start, to: end)
    var count = 0
    for wall in all where wall.segment.crosses(line) { count += 1 }
    return count
  }

  /// What the walls take from a signal on its straight way from one place to another.
  ///
  /// - Units: dB.
  /// - Complexity: O(walls), without allocation.
  public func attenuation(between start: Point, and end: Point) -> Double {
    let line = Segment(from: start, to: end)
    var sum = 0.0
    for wall in all where wall.segment.crosses(line) { sum += wall.attenuation }
    return sum
  }

  /// Adds the four walls around a rectangle.
  ///
  /// - Parameters:
  ///   - southWest: One corner.
  ///   - northEast: The corner opposite.
  ///   - attenuation: What each wall takes, in dB.
  public mutating func enclose(southWest: Point, northEast: Point, attenuation: Double) {
    let southEast = Point(x: northEast.x, y: southWest.y)
    let northWest = Point(x: southWest.x, y: northEast.y)
    let corners = [southWest, southEast, northEast, northWest]
    for (index, corner) in corners.enumerated() {
      let next = corners[(index + 1) % corners.count]
      all.append(Wall(from: corner, to: next, attenuation: attenuation))
    }
  }
}

extension Walls: ExpressibleByArrayLiteral {
  /// Makes a set of walls from a literal.
  public init(arrayLiteral elements: Wall...) { self.init(elements) }
}
