package import PharosModel
package import PharosSpace

/// The outline of a geofence on a plane of its own, in metres, prepared for decisions about positions.
///
/// A circle is a polygon of 32 corners that encloses the same area.
package struct GeofenceArea: Sendable {
  /// The plane, whose origin is the middle of the area.
  package let plane: MercatorPlane
  /// The area.
  ///
  /// - Units: square metres.
  package let size: Double
  /// The radius of the circle that encloses the same area.
  package let radius: Double
  /// The smallest rectangle around the area, in map points.
  package let box: MapBox
  /// The length of the edges and the size of each polygon, in metres and square metres.
  private let polygons: [(perimeter: Double, size: Double)]
  /// The corners of each outline counterclockwise and those of each hole clockwise, and the first corner of each again
  /// behind its last, so that two that follow each other make an edge.
  private let corners: [Point]
  /// The number of corners of each ring, the repeated one included, and whether it is a hole.
  private let rings: [(count: Int, isHole: Bool)]
  /// The edges, and parts of edges, that have the area on one side only.
  private let borders: [Segment]

  /// The number of corners that stand for a circle.
  private static let circleCorners = 32
  /// The number of standard deviations beyond which a normal distribution is taken to be zero.
  private static let reach = 5.0

  /// Prepares an outline; nil if it encloses no area.
  package init?(_ shape: Geofence.Shape) {
    guard let origin = GeofenceArea.middle(of: shape), let plane = MercatorPlane(origin: origin) else {
      return nil
    }
    self.plane = plane
    var outlines: [(points: [Point], isHole: Bool)] = []
    switch shape {
    case .circle(_, let radius): outlines = [(GeofenceArea.circle(radius: radius.value), false)]
    case .polygon:
      for polygon in shape.polygons {
        for (number, ring) in polygon.enumerated() {
          var points: [Point] = []
          for corner in ring {
            guard let coordinate = Coordinate(latitude: corner.latitude, longitude: corner.longitude),
              let mapPoint = MapPoint(coordinate)
            else { return nil }
            points.append(plane.point(of: mapPoint))
          }
          outlines.append((points, number > 0))
        }
      }
    }
    var (corners, rings): ([Point], [(count: Int, isHole: Bool)]) = ([], [])
    var polygons: [(perimeter: Double, size: Double)] = []
    for (ring, isHole) in outlines {
      guard ring.count >= 3 else { return nil }
      let area = Polygon(ring).signedArea
      let oriented = (area > 0) == isHole ? ring.reversed() : ring
      if !isHole { polygons.append((0, 0)) }
      polygons[polygons.count - 1].size += (isHole ? -1 : 1) * area.magnitude
      for place in oriented.indices {
        polygons[polygons.count - 1].perimeter += oriented[place].distance(
          to: oriented[(place + 1) % ring.count]
        )
      }
      corners += oriented + [oriented[0]]
      rings.append((ring.count + 1, isHole))
    }
    let size = polygons.reduce(0) { $0 + $1.size }
    guard size > 0, polygons.allSatisfy({ $0.size > 0 }), let extent = Extent(around: corners) else {
      return nil
    }
    let (low, high) = (extent.southWest, extent.northEast)
    self.corners = corners
    self.rings = rings
    borders = GeofenceArea.borders(of: shape, outlines.map(\.points))
    self.size = size
    self.polygons = polygons
    radius = (size / .pi).squareRoot()
    box = MapBox(
      plane.mapPoint(of: Point(x: low.x, y: high.y)),
      plane.mapPoint(of: Point(x: high.x, y: low.y))
    )
  }

  private static func borders(of shape: Geofence.Shape, _ outlines: [[Point]]) -> [Segment] {
    let placed = GeofenceRing.placed(shape.polygons.flatMap { $0 })
    var borders: [Segment] = []
    for (number, ring) in outlines.enumerated() {
      let edge = { (place: Int) in Segment(from: ring[place], to: ring[(place + 1) % ring.count]) }
      // A circle, or the only ring, adjoins no other one.
      guard placed.count > 1 else {
        borders += ring.indices.map(edge)
        continue
      }
      var others = placed
      let own = others.remove(at: number)
      borders += own.borders(beside: others).map { border in
        let whole = edge(border.edge)
        let along = whole.end - whole.start
        return Segment(
          from: whole.start + along * border.shares.lowerBound,
          to: whole.start + along * border.shares.upperBound
        )
      }
    }
    return borders
  }

  private static func middle(of shape: Geofence.Shape) -> Coordinate? {
    switch shape {
    case .circle(let center, _): return Coordinate(latitude: center.latitude, longitude: center.longitude)
    case .polygon(let rings):
      let corners = rings.joined()
      guard !corners.isEmpty else { return nil }
      let latitudes = corners.map(\.latitude)
      let longitudes = corners.map(\.longitude)
      return Coordinate(
        latitude: ((latitudes.min() ?? 0) + (latitudes.max() ?? 0)) / 2,
        longitude: ((longitudes.min() ?? 0) + (longitudes.max() ?? 0)) / 2
      )
    }
  }

  private static func circle(radius: Double) -> [Point] {
    let step = 2 * Double.pi / Double(circleCorners)
    let stretched = radius * (step / Trigonometry.sineAndCosine(step).sine).squareRoot()
    return (0..<circleCorners).map { place in
      let (sine, cosine) = Trigonometry.sineAndCosine(step * Double(place))
      return Point(x: stretched * cosine, y: stretched * sine)
    }
  }

  /// Returns whether a point lies within.
  package func contains(_ point: Point) -> Bool {
    var isInside = false
    forEachEdge { from, to in
      if Segment(from: from, to: to).isCrossed(eastOf: point) { isInside.toggle() }
    }
    return isInside
  }

  /// Returns the distance of a point from the nearest edge, above zero within.
  ///
  /// An edge, or a part of one, that has the area on both sides is none: polygons that adjoin are one area.
  package func edgeDistance(of point: Point) -> Double {
    var nearest = Double.infinity
    for border in borders { nearest = min(nearest, border.distance(to: point)) }
    return contains(point) ? nearest : -nearest
  }

  /// Returns the probability that a position with a circular normal distribution lies within.
  ///
  /// By Green's theorem it is the integral of Φ(x) φ(y) dy around the area, in standard deviations from the point.
  ///
  /// - Parameters:
  ///   - point: the mean of the distribution.
  ///   - deviation: the standard deviation along each axis.
  /// - Returns: the probability.
  package func probability(around point: Point, deviation: Double) -> Double {
    guard deviation > 0 else { return contains(point) ? 1 : 0 }
    var sum = 0.0
    forEachEdge { from, to in
      sum += GeofenceArea.integral(from: (from - point) * (1 / deviation), to: (to - point) * (1 / deviation))
    }
    return min(1, max(0, sum))
  }

  /// Returns the probability that a subject is within, given an estimate of its position.
  ///
  /// The subject is taken to be as likely within as in the band around the area that is as wide as two accuracies: so an
  /// estimate much coarser than the area says nearly nothing about it, whereas the plain probability would say that
  /// the subject is outside. Around a large area the band is the smaller one, and the plain probability counts. Of several
  /// polygons the one with the widest band for its size counts, so that an area is believed at least as much as each part.
  package func belief(around point: Point, deviation: Double) -> Double {
    let plain = probability(around: point, deviation: deviation)
    let width = 2 * deviation * GeofenceArea.deviationsWithin68
    let bands = polygons.map { ($0.perimeter * width + .pi * width * width) / $0.size }
    let weight = max(1, bands.max() ?? 1)
    return weight * plain / (weight * plain + 1 - plain)
  }

  /// The radius, in standard deviations along an axis, of the circle that holds 68 % of a circular normal distribution.
  package static let deviationsWithin68 = 1.515

  /// The first and the last share of a segment that lie within; nil if it does not pass through.
  package func passage(of segment: Segment) -> ClosedRange<Double>? {
    var (first, last) = (Double.infinity, -Double.infinity)
    forEachEdge { from, to in
      guard let meeting = segment.meeting(Segment(from: from, to: to)) else { return }
      first = min(first, meeting.share)
      last = max(last, meeting.share)
    }
    return last > first ? first...last : nil
  }

  /// Returns whether another area lies wholly within this one.
  package func contains(_ other: GeofenceArea) -> Bool {
    guard box.contains(other.box), size >= other.size else { return false }
    let theirs = other.corners.map { plane.point(of: other.plane.mapPoint(of: $0)) }
    guard theirs.allSatisfy(contains) else { return false }
    var isCut = false
    for place in theirs.indices.dropLast() where other.isEdge(place) {
      let edge = Segment(from: theirs[place], to: theirs[place + 1])
      forEachEdge { from, to in isCut = isCut || edge.crosses(Segment(from: from, to: to)) }
      if isCut { return false }
    }
    // A hole of this one may lie within the other without a cut.
    var start = 0
    for ring in rings {
      if ring.isHole, other.contains(other.plane.point(of: plane.mapPoint(of: corners[start]))) {
        return false
      }
      start += ring.count
    }
    return true
  }

  private func isEdge(_ place: Int) -> Bool {
    var end = 0
    for ring in rings {
      end += ring.count
      if place < end { return place != end - 1 }
    }
    return false
  }

  private func forEachEdge(_ body: (Point, Point) -> Void) {
    var start = 0
    for ring in rings {
      for place in start..<(start + ring.count - 1) { body(corners[place], corners[place + 1]) }
      start += ring.count
    }
  }

  // MARK: The integral

  /// Returns the integral of Φ(x) φ(y) dy along an edge.
  private static func integral(from start: Point, to end: Point) -> Double {
    let along = end - start
    var shares = 0.0...1.0
    guard clip(&shares, start.y, along.y) else { return 0 }
    // Where x is beyond the reach, Φ is 1 or 0.
    var middle = shares
    let isNear = clip(&middle, start.x, along.x)
    var sum = 0.0
    if !isNear {
      let isRight = start.x + along.x * (shares.lowerBound + shares.upperBound) / 2 > 0
      return isRight ? rise(start.y, along.y, shares) : 0
    }
    for far in [shares.lowerBound...middle.lowerBound, middle.upperBound...shares.upperBound]
    where far.upperBound > far.lowerBound && start.x + along.x * (far.lowerBound + far.upperBound) / 2 > 0 {
      sum += rise(start.y, along.y, far)
    }
    let length = along.length * (middle.upperBound - middle.lowerBound)
    let panels = max(1, Int(length.rounded(.up)))
    let width = (middle.upperBound - middle.lowerBound) / Double(panels)
    var inner = 0.0
    for panel in 0..<panels {
      let center = middle.lowerBound + width * (Double(panel) + 0.5)
      for (offset, weight) in [(-0.387298334620742, 5.0), (0, 8), (0.387298334620742, 5)] {
        let share = center + offset * width
        inner +=
          weight * Normal.distribution(start.x + along.x * share) * Normal.density(start.y + along.y * share)
      }
    }
    return sum + inner * along.y * width / 18
  }

  /// Cuts a range of shares down to those at which a coordinate is within the reach; false if none is.
  private static func clip(_ shares: inout ClosedRange<Double>, _ start: Double, _ along: Double) -> Bool {
    guard along != 0 else { return start.magnitude < reach }
    let (one, other) = ((-reach - start) / along, (reach - start) / along)
    let low = max(shares.lowerBound, min(one, other))
    let high = min(shares.upperBound, max(one, other))
    guard low < high else { return false }
    shares = low...high
    return true
  }

  private static func rise(_ start: Double, _ along: Double, _ shares: ClosedRange<Double>) -> Double {
    Normal.distribution(start + along * shares.upperBound)
      - Normal.distribution(start + along * shares.lowerBound)
  }
}

extension Geofence.AltitudeRange {
  /// Half of the distance between the heights, in metres; infinite if there is only one.
  var halfHeight: Double {
    from.flatMap { from in to.map { ($0.value - from.value) / 2 } } ?? .infinity
  }

  /// Returns the probability that a height with a normal distribution lies within.
  func probability(around height: Double, deviation: Double) -> Double {
    let below = { (bound: Double) in Normal.distribution((bound - height) / deviation) }
    return max(0, (to.map { below($0.value) } ?? 1) - (from.map { below($0.value) } ?? 0))
  }

  /// Returns the probability that a subject is within, given an estimate of its height.
  ///
  /// It is weighed against the bands below and above, two accuracies wide each, as ``GeofenceArea/belief(around:deviation:)``
  /// weighs an outline.
  func belief(around height: Double, deviation: Double) -> Double {
    let plain = probability(around: height, deviation: deviation)
    let weight = max(1, 2 * deviation / halfHeight)
    return weight * plain / (weight * plain + 1 - plain)
  }
}

/// The standard normal distribution.
private enum Normal {
  /// The density.
  static func density(_ number: Double) -> Double {
    0.3989422804014327 * RadioMath.powerOfTwo(-0.7213475204444817 * number * number)
  }

  /// The probability of less than a number, to within 10⁻⁷.
  ///
  /// - Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17.
  static func distribution(_ number: Double) -> Double {
    let t = 1 / (1 + 0.2316419 * number.magnitude)
    var sum = 1.330274429
    sum = sum * t - 1.821255978
    sum = sum * t + 1.781477937
    sum = sum * t - 0.356563782
    sum = sum * t + 0.319381530
    let tail = density(number) * sum * t
    return number < 0 ? tail : 1 - tail
  }
}
