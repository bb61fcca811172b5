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

  private let polygon: Polygon
  /// The edges, each named by the corner that it begins with.
  private let edges: [Segment]

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
      GeofenceRing(ring.map { Point(x: ($0.longitude - origin) * scale, y: ($0.latitude - middle) * degree) })
    }
  }

  private init(_ corners: [Point]) {
    polygon = Polygon(corners)
    edges = zip(corners, corners.dropFirst() + corners.prefix(1)).map { Segment(from: $0, to: $1) }
  }

  /// Returns the relation of this ring to another one.
  ///
  /// - Complexity: the product of the numbers of corners.
  package func relation(to other: GeofenceRing) -> Relation {
    guard let extent = polygon.extent, let otherExtent = other.polygon.extent, extent.meets(otherExtent)
    else {
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
    for (edge, line) in edges.enumerated() {
      let cuts = ([0, 1] + others.flatMap { $0.cuts(line) }).sorted()
      for (start, end) in zip(cuts, cuts.dropFirst()) where end > start {
        let middle = line.place(at: (start + end) / 2)
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
    var start: Point
  }

  /// Returns the first piece of this ring that lies within another ring, and the first that lies outside of it.
  private func sides(against other: GeofenceRing) -> (inside: Piece?, outside: Piece?) {
    var (inside, outside): (Piece?, Piece?) = (nil, nil)
    for (edge, line) in edges.enumerated() {
      let cuts = other.cuts(line)
      for (start, end) in zip(cuts, cuts.dropFirst()) where end > start {
        let middle = line.place(at: (start + end) / 2)
        guard other.distance(to: middle) > GeofenceRing.tolerance else { continue }
        let piece = Piece(edge: edge, start: line.place(at: start))
        if other.polygon.contains(middle) { inside = inside ?? piece } else { outside = outside ?? piece }
        if inside != nil, outside != nil { return (inside, outside) }
      }
    }
    return (inside, outside)
  }

  /// Returns the shares of an edge at which it meets this ring, with its ends, in rising order.
  private func cuts(_ line: Segment) -> [Double] {
    let along = line.end - line.start
    var shares = [0.0, 1.0]
    for edge in edges {
      let share = (edge.start - line.start).dot(along) / along.dot(along)
      if (0...1).contains(share), edge.start.distance(to: line.place(at: share)) <= GeofenceRing.tolerance {
        shares.append(share)
      }
      if let meeting = line.meeting(edge) { shares.append(meeting.share) }
    }
    return shares.sorted()
  }

  private func distance(to point: Point) -> Double {
    edges.reduce(Double.infinity) { min($0, $1.distance(to: point)) }
  }

  private func nearestEdge(to point: Point) -> Int {
    edges.indices.min { edges[$0].distance(to: point) < edges[$1].distance(to: point) } ?? 0
  }
}
