import PharosFixes
import PharosModel
import PharosSpace

/// The named places of venues, from which a visit gets its own.
struct VisitAtlas: Sendable {
  private struct Story: Sendable {
    var name: String?
    var plane: FloorPlane
    var named: NamedPlaces?
  }

  private var stories: [VisitFix.Ground: Story] = [:]

  /// The least probability with which a place is named.
  ///
  /// 0.6: of two places that do not overlap, the other one then has at most 0.4.
  static let minimumProbability = 0.6

  init(_ venues: [LocatableVenue]) {
    for venue in venues {
      for (id, floor) in venue.venue.floors {
        stories[VisitFix.Ground(venue: venue.venue.identifier, floor: id)] = Story(
          name: floor.names.first,
          plane: floor.plane,
          named: venue.content.named[id]
        )
      }
    }
  }

  /// Returns the smallest named place in which a stay lies with at least ``minimumProbability``, if there is one.
  func place(of stay: Stay) -> VisitDetail.Place? {
    guard let places = stories[stay.ground]?.named?.places else { return nil }
    let deviation = stay.accuracy / VisitScale.radiusOfDeviation
    for named in places {
      var inside = 0
      for step in VisitAtlas.steps {
        let point = Point(x: stay.center.x + deviation * step.x, y: stay.center.y + deviation * step.y)
        if named.contains(point) { inside += 1 }
      }
      let probability = Double(inside) / Double(VisitAtlas.steps.count)
      guard probability >= VisitAtlas.minimumProbability else { continue }
      return VisitDetail.Place(
        kind: named.isPointOfInterest ? .pointOfInterest : .area,
        identifier: named.identifier,
        name: named.name,
        probability: probability
      )
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
