/// A ring of a geofence on a plane in metres, which can be compared with other rings of the same geofence.
///
/// Two rings may share corners, edges or parts of edges, as rooms that adjoin do. The positions of a shared wall are rounded
/// in each ring by itself, so what lies within ``tolerance`` of the other ring counts as lying on it:
///
/// 1. Each edge of one ring is cut where it meets the other ring.
/// 2. The middle of each piece lies within the other ring, outside of it, or on it.
/// 3. Pieces on both sides make a crossing. Pieces on one side say which ring lies within which.
package struct GeofenceRing: Sendable {
  /// The relation of one ring to another.
  package enum Relation: Hashable, Sendable {
    /// The areas have at most a border in common.
    case apart
    /// It lies within the other one.
    case within
    /// The other one lies within it.
    case around
    /// Both enclose the same area.
    case same
    /// The borders cross; each edge is named by the corner that it begins with.
    case crossing(edge: Int, otherEdge: Int)
  }

  /// The distance within which a position lies on an edge.
  ///
  /// - Units: metres. Six decimals of a degree, which RFC 7946 (section 11.2) recommends, are 0.1 m.
  package static let tolerance = 0.1
  /// The length of a degree of latitude in metres.
  private static let degree = 111_200.0

  private struct Spot {
    var x: Double
    var y: Double

    static func - (one: Self, other: Self) -> Self { Spot(x: one.x - other.x, y: one.y - other.y) }
    func cross(_ other: Self) -> Double { x * other.y - y * other.x }
    func dot(_ other: Self) -> Double { x * other.x + y * other.y }
    var length: Double { dot(self).squareRoot() }
    func toward(_ other: Self, _ share: Double) -> Self {
      Spot(x: x + (other.x - x) * share, y: y + (other.y - y) * share)
    }
  }

  /// The corners, the first one again behind the last.
  private let corners: [Spot]
  private let low: Spot
  private let high: Spot

  /// Lays the rings of a geofence on one plane.
  ///
  /// The plane is stretched as it is at the middle latitude. Straight lines stay straight, so nothing crosses there that does
  /// not cross on the map.
  package static func placed(_ rings: [[Geofence.Position]]) -> [GeofenceRing] {
    let latitudes = rings.joined().map(\.latitude)
    let middle = ((latitudes.min() ?? 0) + (latitudes.max() ?? 0)) / 2
    let scale = Trigonometry.sineAndCosine(Trigonometry.radians(middle)).cosine * degree
    let origin = rings.first?.first?.longitude ?? 0
    return rings.map { ring in
      GeofenceRing(ring.map { Spot(x: ($0.longitude - origin) * scale, y: ($0.latitude - middle) * degree) })
    }
  }

  private init(_ spots: [Spot]) {
    corners = spots + spots.prefix(1)
    low = Spot(x: spots.map(\.x).min() ?? 0, y: spots.map(\.y).min() ?? 0)
    high = Spot(x: spots.map(\.x).max() ?? 0, y: spots.map(\.y).max() ?? 0)
  }

  /// Returns the relation of this ring to another one.
  ///
  /// - Complexity: the product of the numbers of corners.
  package func relation(to other: GeofenceRing) -> Relation {
    guard low.x <= other.high.x, other.low.x <= high.x, low.y <= other.high.y, other.low.y <= high.y else {
      return .apart
    }
    let mine = sides(against: other)
    if let inside = mine.inside, mine.outside != nil {
      return .crossing(edge: inside.edge, otherEdge: other.nearestEdge(to: inside.start))
    }
    if mine.inside != nil { return .within }
    let theirs = other.sides(against: self)
    if let inside = theirs.inside, theirs.outside != nil {
      return .crossing(edge: nearestEdge(to: inside.start), otherEdge: inside.edge)
    }
    if theirs.inside != nil { return .around }
    return mine.outside == nil && theirs.outside == nil ? .same : .apart
  }

  /// Returns the parts of its edges that lie on no other ring, each named by the corner that its edge begins with and by
  /// the shares of the edge between which it lies.
  ///
  /// A part that lies on two rings is no border: it has the area on both sides, or none on either.
  package func borders(beside others: [GeofenceRing]) -> [(edge: Int, shares: ClosedRange<Double>)] {
    var found: [(edge: Int, shares: ClosedRange<Double>)] = []
    for edge in corners.indices.dropLast() {
      let (from, to) = (corners[edge], corners[edge + 1])
      let cuts = ([0, 1] + others.flatMap { $0.cuts(from, to) }).sorted()
      for (start, end) in zip(cuts, cuts.dropFirst()) where end > start {
        let middle = from.toward(to, (start + end) / 2)
        guard others.allSatisfy({ $0.distance(to: middle) > GeofenceRing.tolerance }) else { continue }
        if let last = found.last, last.edge == edge, last.shares.upperBound == start {
          found[found.count - 1].shares = last.shares.lowerBound...end
        } else {
          found.append((edge, start...end))
        }
      }
    }
    return found
  }

  /// The part of an edge between two places where it meets another ring.
  private struct Piece {
    var edge: Int
    var start: Spot
  }

  /// Returns the first piece of this ring that lies within another ring, and the first that lies outside of it.
  private func sides(against other: GeofenceRing) -> (inside: Piece?, outside: Piece?) {
    var (inside, outside): (Piece?, Piece?) = (nil, nil)
    for edge in corners.indices.dropLast() {
      let (from, to) = (corners[edge], corners[edge + 1])
      let cuts = other.cuts(from, to)
      for (start, end) in zip(cuts, cuts.dropFirst()) where end > start {
        let middle = from.toward(to, (start + end) / 2)
        guard other.distance(to: middle) > GeofenceRing.tolerance else { continue }
        let piece = Piece(edge: edge, start: from.toward(to, start))
        if other.contains(middle) { inside = inside ?? piece } else { outside = outside ?? piece }
        if inside != nil, outside != nil { return (inside, outside) }
      }
    }
    return (inside, outside)
  }

  /// Returns the shares of an edge at which it meets this ring, with its ends, in rising order.
  private func cuts(_ from: Spot, _ to: Spot) -> [Double] {
    let along = to - from
    var shares = [0.0, 1.0]
    for place in corners.indices.dropLast() {
      let (start, end) = (corners[place], corners[place + 1])
      let share = (start - from).dot(along) / along.dot(along)
      if (0...1).contains(share), (start - from.toward(to, share)).length <= GeofenceRing.tolerance {
        shares.append(share)
      }
      let span = end - start
      let turn = along.cross(span)
      guard turn != 0 else { continue }
      let mine = (start - from).cross(span) / turn
      let theirs = (start - from).cross(along) / turn
      if (0...1).contains(mine), (0...1).contains(theirs) { shares.append(mine) }
    }
    return shares.sorted()
  }

  private func distance(to spot: Spot) -> Double {
    corners.indices.dropLast().reduce(Double.infinity) { min($0, distance(to: spot, edge: $1)) }
  }

  private func nearestEdge(to spot: Spot) -> Int {
    corners.indices.dropLast().min { distance(to: spot, edge: $0) < distance(to: spot, edge: $1) } ?? 0
  }

  private func distance(to spot: Spot, edge: Int) -> Double {
    let (from, along) = (corners[edge], corners[edge + 1] - corners[edge])
    let square = along.dot(along)
    let share = square > 0 ? min(1, max(0, (spot - from).dot(along) / square)) : 0
    return (spot - from.toward(corners[edge + 1], share)).length
  }

  private func contains(_ spot: Spot) -> Bool {
    var isInside = false
    for (from, to) in zip(corners, corners.dropFirst()) where (from.y > spot.y) != (to.y > spot.y) {
      if spot.x < from.x + (to.x - from.x) * (spot.y - from.y) / (to.y - from.y) { isInside.toggle() }
    }
    return isInside
  }
}
