import PharosFixes
import PharosModel
import PharosSpace

/// The named places of venues, from which a visit gets its own.
struct VisitAtlas: Sendable {
  /// A named piece of a floor.
  private struct Entry: Sendable {
    var place: VisitDetail.Place
    var area: Area
    var size: Double
  }

  private struct Story: Sendable {
    var name: String?
    var plane: FloorPlane
    /// The smallest first.
    var entries: [Entry]
  }

  private var stories: [VisitFix.Ground: Story] = [:]

  /// The least probability with which a place is named.
  ///
  /// 0.6: of two places that do not overlap, the other one then has at most 0.4.
  static let minimumProbability = 0.6
  /// Half the side of the square around a point of interest of which only the point is known, in metres.
  static let reach = 3.0

  init(_ venues: [LocatableVenue]) {
    for venue in venues.map(\.venue) {
      for (id, floor) in venue.floors {
        let points = floor.pointsOfInterest.map { point in
          let (low, high) = (VisitAtlas.corner(point.point, -1), VisitAtlas.corner(point.point, 1))
          let area = point.area ?? Area(outline: Polygon(rectangleFrom: low, to: high))
          let place = VisitDetail.Place(
            kind: .pointOfInterest,
            identifier: point.identifier,
            name: point.name.isEmpty ? nil : point.name
          )
          return Entry(place: place, area: area, size: area.size)
        }
        let areas = floor.walkable.filter { !$0.name.isEmpty }.map { area in
          Entry(
            place: VisitDetail.Place(kind: .area, identifier: area.name, name: area.name),
            area: area,
            size: area.size
          )
        }
        let entries = (points + areas).enumerated()
          .sorted { ($0.element.size, $0.offset) < ($1.element.size, $1.offset) }.map(\.element)
        stories[VisitFix.Ground(venue: venue.identifier, floor: id)] = Story(
          name: floor.names.first,
          plane: floor.plane,
          entries: entries
        )
      }
    }
  }

  private static func corner(_ point: Point, _ sign: Double) -> Point {
    Point(x: point.x + sign * reach, y: point.y + sign * reach)
  }

  /// Returns the smallest named place in which a stay lies with at least ``minimumProbability``, if there is one.
  func place(of stay: Stay) -> VisitDetail.Place? {
    guard let entries = stories[stay.ground]?.entries else { return nil }
    let deviation = stay.accuracy / VisitScale.radiusOfDeviation
    for entry in entries {
      var inside = 0
      for step in VisitAtlas.steps {
        let point = Point(x: stay.center.x + deviation * step.x, y: stay.center.y + deviation * step.y)
        if entry.area.contains(point) { inside += 1 }
      }
      let probability = Double(inside) / Double(VisitAtlas.steps.count)
      guard probability >= VisitAtlas.minimumProbability else { continue }
      var place = entry.place
      place.probability = probability
      return place
    }
    return nil
  }

  /// Returns the floor of a stay, and the centre of the stay on the Earth.
  func location(of stay: Stay) -> (floor: VisitDetail.Floor?, coordinate: Coordinate?) {
    guard let id = stay.ground.floor else { return (nil, stay.coordinate) }
    let story = stories[stay.ground]
    let floor = VisitDetail.Floor(
      building: id.building,
      level: id.level,
      name: story?.name,
      x: stay.center.x,
      y: stay.center.y
    )
    return (floor, story?.plane.coordinate(of: stay.center))
  }

  /// 48 places that stand for a plane normal distribution of deviation 1: six rings of equal probability with eight places
  /// each, every other ring turned by half a step.
  private static let steps: [Point] = {
    let radii = [0.4172, 0.7585, 1.0382, 1.3232, 1.6651, 2.2293]
    let half = 0.5.squareRoot()
    let (far, near) = (0.9238795325112867, 0.3826834323650898)
    let even = [
      (1.0, 0.0), (half, half), (0, 1), (-half, half), (-1, 0), (-half, -half), (0, -1), (half, -half),
    ]
    let odd = [
      (far, near), (near, far), (-near, far), (-far, near), (-far, -near), (-near, -far), (near, -far),
      (far, -near),
    ]
    return radii.enumerated().flatMap { ring, radius in
      (ring.isMultiple(of: 2) ? even : odd).map { Point(x: radius * $0.0, y: radius * $0.1) }
    }
  }()
}
