public import PharosDocuments

/// An area of the Earth that a located observer or tag is in or not, with the rules for being inside.
///
/// The position of a subject is known to some accuracy, so a decision is about a probability: inside once the position
/// lies within the area with more than ``Policy/enterProbability`` for ``Policy/enterDwell``, outside once that has
/// become less than ``Policy/exitProbability`` for ``Policy/exitDwell``.
public struct Geofence: Hashable, Sendable {
  /// A position on the Earth, WGS 84.
  public struct Position: Hashable, Sendable {
    /// Degrees north.
    public var latitude: Double
    /// Degrees east.
    public var longitude: Double

    /// Makes a position; ``Geofence/problem`` tells whether it lies on the Earth.
    public init(latitude: Double, longitude: Double) {
      self.latitude = latitude
      self.longitude = longitude
    }
  }

  /// The outline of the area.
  public enum Shape: Hashable, Sendable {
    /// All that lies within a distance of a position.
    case circle(center: Position, radius: Meters)
    /// The area within an odd number of the rings: a ring that lies in no other is an outline, one within an outline is a
    /// hole. Several outlines make one region of several parts. The last position of a ring is joined to its first, which
    /// is not repeated.
    case polygon(rings: [[Position]])
  }

  /// A range of heights: the area is a volume between them.
  ///
  /// A fix without a height of the same reference does not decide whether a subject is in the area, unless it lies beside
  /// the outline.
  public struct AltitudeRange: Hashable, Sendable {
    /// What heights are measured from.
    public enum Reference: String, CaseIterable, Hashable, Sendable {
      /// Mean sea level, as the `altitude` of a fix.
      case seaLevel
      /// The WGS 84 ellipsoid, as the `ellipsoidalAltitude` of a fix.
      case ellipsoid
    }

    /// The lowest height; nil for everything below ``to``.
    public var from: Meters?
    /// The greatest height; nil for everything above ``from``.
    public var to: Meters?
    /// What they are measured from.
    public var reference: Reference

    /// The heights that a range may name in metres: from the deepest trench to the edge of space.
    package static let bounds = -12_000.0...100_000.0

    /// Makes a range; ``Geofence/problem`` tells whether it is one.
    public init(from: Meters? = nil, to: Meters? = nil, reference: Reference = .seaLevel) {
      self.from = from
      self.to = to
      self.reference = reference
    }

    /// Returns whether every height of another range is one of this one.
    package func contains(_ other: AltitudeRange) -> Bool {
      let (low, high) = (-Double.infinity, Double.infinity)
      return reference == other.reference && from?.value ?? low <= other.from?.value ?? low
        && other.to?.value ?? high <= to?.value ?? high
    }

    /// Indicates whether a height may be named, and there is one that lies within.
    fileprivate var isUsable: Bool {
      let heights = [from, to].compactMap { $0?.value }
      guard !heights.isEmpty, heights.allSatisfy(AltitudeRange.bounds.contains) else { return false }
      return heights.count == 1 || heights[0] < heights[1]
    }
  }

  /// The rules for changes of state.
  public struct Policy: Hashable, Sendable {
    /// The probability above which a subject is inside.
    public var enterProbability: Double
    /// The probability below which a subject is outside.
    public var exitProbability: Double
    /// The time for which the probability must be above ``enterProbability``.
    public var enterDwell: TimeSpan
    /// The time for which the probability must be below ``exitProbability``.
    public var exitDwell: TimeSpan

    /// Makes a policy.
    ///
    /// The default dwell is 1 s: with a fix a second, two fixes in a row must agree. The errors of successive fixes are much
    /// the same, so a longer dwell adds delay and hardly any evidence; it is the probability that keeps errors from
    /// becoming transitions.
    public init(
      enterProbability: Double = 0.9,
      exitProbability: Double = 0.1,
      enterDwell: TimeSpan = .seconds(1),
      exitDwell: TimeSpan = .seconds(1)
    ) {
      self.enterProbability = enterProbability
      self.exitProbability = exitProbability
      self.enterDwell = enterDwell
      self.exitDwell = exitDwell
    }
  }

  /// The outline.
  public var shape: Shape
  /// The number of the floor that it lies on, 0 for the ground floor; nil for all floors.
  ///
  /// A subject outdoors is on floor 0 of no building.
  public var level: Int?
  /// The building that it lies in; nil for all buildings and outdoors.
  public var building: String?
  /// The heights between which it lies; nil for all.
  public var altitude: AltitudeRange?
  /// The rules for changes of state.
  public var policy: Policy

  /// The largest number of corners of a polygon, holes included.
  ///
  /// 1,000: the outline of a town has fewer, and the probability of a position takes some ten nanoseconds a corner.
  public static let maximumCorners = 1_000
  /// The largest radius of a circle, and half of the largest extent of a polygon.
  ///
  /// 100 km: beyond that a plane is no picture of the Earth.
  public static let largestRadius = Meters(100_000)

  /// Makes a geofence.
  public init(
    shape: Shape,
    level: Int? = nil,
    building: String? = nil,
    altitude: AltitudeRange? = nil,
    policy: Policy = Policy()
  ) {
    self.shape = shape
    self.level = level
    self.building = building
    self.altitude = altitude
    self.policy = policy
  }
}

extension Geofence {
  /// The reason why an outline encloses no area.
  public enum Problem: Error, Hashable, Sendable {
    /// A position is nowhere on the Earth, or too near a pole.
    case nowhere(ring: Int, corner: Int)
    /// The radius is not above zero, or too large.
    case radius(Meters)
    /// There is no outline.
    case noRing
    /// A ring has fewer than three corners.
    case tooFewCorners(ring: Int, count: Int)
    /// The rings have more corners than a geofence may have.
    case tooManyCorners(Int)
    /// Two corners of a ring lie on each other.
    case repeatedCorner(ring: Int, corner: Int)
    /// Two edges, each named by the corner that it begins with, cross, or they touch and belong to one ring.
    case crossing(ring: Int, edge: Int, otherRing: Int, otherEdge: Int)
    /// Two rings enclose the same area.
    case repeatedRing(ring: Int, otherRing: Int)
    /// The area is wider than a plane can show.
    case tooWide
    /// The range of heights has no height, or one that is too low or too high.
    case altitude
  }

  /// The reason why the outline encloses no area, or the range no height; nil if both do.
  ///
  /// - Complexity: quadratic in the number of corners.
  public var problem: Problem? {
    if let altitude, !altitude.isUsable { return .altitude }
    switch shape {
    case .circle(let center, let radius):
      if !center.isUsable { return .nowhere(ring: 0, corner: 0) }
      return radius.value > 0 && radius.value <= Geofence.largestRadius.value ? nil : .radius(radius)
    case .polygon(let rings): return Geofence.problem(of: rings)
    }
  }

  private static func problem(of rings: [[Position]]) -> Problem? {
    guard !rings.isEmpty else { return .noRing }
    let count = rings.reduce(0) { $0 + $1.count }
    guard count <= maximumCorners else { return .tooManyCorners(count) }
    for (number, ring) in rings.enumerated() {
      guard ring.count >= 3 else { return .tooFewCorners(ring: number, count: ring.count) }
      for (place, corner) in ring.enumerated() {
        guard corner.isUsable else { return .nowhere(ring: number, corner: place) }
        if corner == ring[(place + 1) % ring.count] { return .repeatedCorner(ring: number, corner: place) }
      }
    }
    let all = rings.joined()
    let latitudes = all.map(\.latitude)
    let longitudes = all.map(\.longitude)
    let height = (latitudes.max() ?? 0) - (latitudes.min() ?? 0)
    let width = (longitudes.max() ?? 0) - (longitudes.min() ?? 0)
    // A degree of latitude is 111 km; one of longitude is less.
    guard max(height, width) * 111_000 <= 2 * largestRadius.value else { return .tooWide }
    for (number, ring) in rings.enumerated() {
      if let (edge, other) = selfCrossing(of: ring) {
        return .crossing(ring: number, edge: edge, otherRing: number, otherEdge: other)
      }
    }
    let placed = GeofenceRing.placed(rings)
    for first in placed.indices {
      for second in placed.indices.dropFirst(first + 1) {
        switch placed[first].relation(to: placed[second]) {
        case .apart, .within, .around: break
        case .same: return .repeatedRing(ring: first, otherRing: second)
        case .crossing(let edge, let otherEdge):
          return .crossing(ring: first, edge: edge, otherRing: second, otherEdge: otherEdge)
        }
      }
    }
    return nil
  }

  /// Returns two edges of a ring that cross or touch beyond the corner that they share.
  private static func selfCrossing(of ring: [Position]) -> (Int, Int)? {
    for first in ring.indices {
      for second in ring.indices.dropFirst(first + 1) {
        let (a, b) = (ring[first], ring[(first + 1) % ring.count])
        let (c, d) = (ring[second], ring[(second + 1) % ring.count])
        let areNeighbours = second - first == 1 || second - first == ring.count - 1
        if areNeighbours ? Position.foldsBack(a, b, c, d) : Position.meet(a, b, c, d) {
          return (first, second)
        }
      }
    }
    return nil
  }
}

extension Geofence.Shape {
  /// The polygons of which it consists, each with its outline first and its holes behind it; empty for a circle.
  ///
  /// - Complexity: quadratic in the number of corners.
  public var polygons: [[[Geofence.Position]]] {
    guard case .polygon(let rings) = self else { return [] }
    guard rings.count > 1 else { return [rings] }
    let placed = GeofenceRing.placed(rings)
    let around = rings.indices.map { inner in
      rings.indices.filter { $0 != inner && placed[inner].relation(to: placed[$0]) == .within }
    }
    return rings.indices.filter { around[$0].count.isMultiple(of: 2) }
      .map { outline in
        let holes = rings.indices.filter {
          around[$0].count == around[outline].count + 1 && around[$0].contains(outline)
        }
        return [rings[outline]] + holes.map { rings[$0] }
      }
  }
}

extension Geofence.Position {
  /// Indicates whether it lies on the Earth, as far from the poles as Web Mercator reaches.
  fileprivate var isUsable: Bool {
    latitude.magnitude <= 85 && (-180...180).contains(longitude)
  }

  /// Returns twice the area of the triangle with two others, above zero if they turn left.
  private func turn(_ second: Self, _ third: Self) -> Double {
    (second.longitude - longitude) * (third.latitude - latitude)
      - (second.latitude - latitude) * (third.longitude - longitude)
  }

  private func isBetween(_ first: Self, _ second: Self) -> Bool {
    min(first.longitude, second.longitude) <= longitude && longitude <= max(first.longitude, second.longitude)
      && min(first.latitude, second.latitude) <= latitude && latitude <= max(first.latitude, second.latitude)
  }

  /// Returns whether two edges have a position in common.
  fileprivate static func meet(_ a: Self, _ b: Self, _ c: Self, _ d: Self) -> Bool {
    let turns = (a.turn(b, c), a.turn(b, d), c.turn(d, a), c.turn(d, b))
    if turns.0 * turns.1 < 0, turns.2 * turns.3 < 0 { return true }
    return turns.0 == 0 && c.isBetween(a, b) || turns.1 == 0 && d.isBetween(a, b)
      || turns.2 == 0 && a.isBetween(c, d) || turns.3 == 0 && b.isBetween(c, d)
  }

  /// Returns whether two edges that share a corner lie on each other.
  fileprivate static func foldsBack(_ a: Self, _ b: Self, _ c: Self, _ d: Self) -> Bool {
    let (corner, first, second) = b == c ? (b, a, d) : (a, b, c)
    guard corner.turn(first, second) == 0 else { return false }
    let along =
      (first.longitude - corner.longitude) * (second.longitude - corner.longitude)
      + (first.latitude - corner.latitude) * (second.latitude - corner.latitude)
    return along > 0
  }
}

extension Geofence.Problem: CustomStringConvertible {
  /// A description of what is wrong, with the ring and the corner counted from 0 as in a GeoJSON file.
  public var description: String { description { "ring \($0)" } }

  /// Returns a description of what is wrong with names for the rings.
  package func description(ring name: (Int) -> String) -> String {
    switch self {
    case .nowhere(let ring, let corner):
      "\(name(ring)), corner \(corner) is nowhere on the Earth, or beyond 85 degrees north or south"
    case .radius(let radius):
      "the radius is \(PlainText.number(radius.value)) m, and must be above 0 and at most 100 km"
    case .noRing: "there is no ring"
    case .tooFewCorners(let ring, let count):
      "\(name(ring)) has \(count) corner\(count == 1 ? "" : "s"), and must have three or more"
    case .tooManyCorners(let count):
      "it has \(count) corners, more than the \(Geofence.maximumCorners) that a geofence may have"
    case .repeatedCorner(let ring, let corner):
      "\(name(ring)), corner \(corner) is the same as the next one"
    case .crossing(let ring, let edge, let otherRing, let otherEdge):
      "the edge behind corner \(edge) of \(name(ring)) crosses\(ring == otherRing ? " or touches" : "") that behind "
        + "corner \(otherEdge) of \(name(otherRing))"
    case .repeatedRing(let ring, let otherRing): "\(name(otherRing)) encloses the same area as \(name(ring))"
    case .tooWide: "it is wider than 200 km"
    case .altitude:
      "its altitude has no height: `from` must lie below `to`, and both between -12 km and 100 km"
    }
  }
}

extension Geofence: CustomStringConvertible {
  /// The outline and the floor in a few words: `circle 48.1, 11.5 radius 20 m, level 0`.
  public var description: String {
    var text: String
    switch shape {
    case .circle(let center, let radius):
      text = "circle \(center.latitude), \(center.longitude) radius \(PlainText.number(radius.value)) m"
    case .polygon(let rings):
      let parts = shape.polygons.count
      let holes = rings.count - parts
      text =
        parts == 1
        ? "polygon of \(rings.first?.count ?? 0) corners"
        : "\(parts) polygons of \(rings.reduce(0) { $0 + $1.count }) corners"
      if holes > 0 { text += " with \(holes) hole\(holes == 1 ? "" : "s")" }
      if let first = rings.first?.first { text += " at \(first.latitude), \(first.longitude)" }
    }
    if let building { text += ", \(building)" }
    if let level { text += ", level \(level)" }
    if let altitude { text += ", \(altitude)" }
    return text
  }
}

extension Geofence.AltitudeRange: CustomStringConvertible {
  /// The heights in a few words: `35 m to 39 m above sea level`.
  public var description: String {
    let number = { (height: Meters) in "\(PlainText.number(height.value)) m" }
    let heights =
      switch (from, to) {
      case (let from?, let to?): "\(number(from)) to \(number(to))"
      case (let from?, nil): "from \(number(from))"
      case (nil, let to?): "up to \(number(to))"
      case (nil, nil): "no height"
      }
    return heights + (reference == .seaLevel ? " above sea level" : " above the ellipsoid")
  }
}

extension Geofence.Position: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let position = Self(
      latitude: try coder.field(value().latitude),
      longitude: try coder.field(value().longitude)
    )
    try coder.check(position.latitude.isFinite && position.longitude.isFinite, "a geofence's position")
    return position
  }
}

/// An outline and its range of heights.
///
/// A geofence without a range has the bytes of before there were any.
private struct GeofenceExtent: Hashable, Sendable {
  var shape: Geofence.Shape
  var altitude: Geofence.AltitudeRange?
}

extension GeofenceExtent: FieldUnion {
  static var fieldName: String { "a geofence's shape" }

  static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, { Self(shape: .circle(center: $0, radius: $1)) }) {
      if case (.circle(let center, let radius), nil) = ($0.shape, $0.altitude) {
        (center, radius)
      } else {
        nil
      }
    }
    try coder.code(&union, 1, { Self(shape: .polygon(rings: $0)) }) {
      if case (.polygon(let rings), nil) = ($0.shape, $0.altitude) { rings } else { nil }
    }
    try coder.code(&union, 2, { Self(shape: .circle(center: $0, radius: $1), altitude: $2) }) {
      if case (.circle(let center, let radius), let range?) = ($0.shape, $0.altitude) {
        (center, radius, range)
      } else {
        nil
      }
    }
    try coder.code(&union, 3, { Self(shape: .polygon(rings: $0), altitude: $1) }) {
      if case (.polygon(let rings), let range?) = ($0.shape, $0.altitude) { (rings, range) } else { nil }
    }
  }
}

extension Geofence.AltitudeRange: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      from: try coder.field(value().from),
      to: try coder.field(value().to),
      reference: try coder.field(value().reference == .ellipsoid) ? .ellipsoid : .seaLevel
    )
  }
}

extension Geofence.Policy: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let probabilities = 0.0...1
    let enterProbability = try coder.field(value().enterProbability)
    let exitProbability = try coder.field(value().exitProbability)
    try coder.check(
      probabilities.contains(enterProbability) && probabilities.contains(exitProbability),
      "a probability"
    )
    return Self(
      enterProbability: enterProbability,
      exitProbability: exitProbability,
      enterDwell: try coder.field(value().enterDwell),
      exitDwell: try coder.field(value().exitDwell)
    )
  }
}

extension Geofence: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let extent = try coder.field(GeofenceExtent(shape: value().shape, altitude: value().altitude))
    let geofence = Geofence(
      shape: extent.shape,
      level: try coder.field(value().level),
      building: try coder.field(value().building),
      altitude: extent.altitude,
      policy: try coder.field(value().policy)
    )
    try coder.check(geofence.problem == nil, "a geofence's shape")
    return geofence
  }
}
