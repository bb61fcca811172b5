package import PharosFixes
package import PharosModel
package import PharosSpace

/// The accuracy that fixes of a venue can have at a place, from what its radio map and its radios cover.
///
/// It is an estimate for planning: a fix has the accuracy of its own readings.
package struct FixCoverage: Sendable {
  private let venue: LocatableVenue

  /// The accuracy of a fix that only the places of radios give, as a share of the distance of the third nearest one.
  ///
  /// Distances from levels are uncertain by half, and three of them fix a place.
  private static let unsurveyedShare = 0.5
  /// The number of radios that fix a place.
  private static let radios = 3

  /// Prepares a venue.
  package init(_ venue: LocatableVenue) { self.venue = venue }

  /// The radius below which a geofence around a position is smaller than the accuracy of fixes there: the smallest useful one.
  ///
  /// - Parameters:
  ///   - coordinate: the position.
  ///   - level: the number of the floor; nil for the floor that is covered best.
  ///   - building: the building; nil for any.
  /// - Returns: the radius in metres; nil where the venue has no such floor or the position lies outside of it.
  package func smallestUsefulRadius(
    at coordinate: Coordinate,
    level: Int?,
    building: String? = nil
  ) -> Double? {
    venue.venue.floors.compactMap { id, floor -> Double? in
      guard level ?? id.level == id.level, building ?? id.building == id.building,
        let point = floor.plane.point(of: coordinate), let extent = floor.extent,
        (extent.southWest.x...extent.northEast.x).contains(point.x),
        (extent.southWest.y...extent.northEast.y).contains(point.y)
      else { return nil }
      return accuracy(at: point, on: id, floor)
    }.min()
  }

  /// Returns the floors on which a geofence lies, and the venue gives fixes no height of the kind that its range counts in.
  ///
  /// There the height is that of the handset's own location, if it has one.
  ///
  /// - Parameter geofence: the geofence.
  /// - Returns: the floors, in the order of the venue; none for a geofence without a range of heights.
  package func floorsWithoutHeight(for geofence: Geofence) -> [FloorID] {
    guard let range = geofence.altitude, let circle = geofence.equivalentCircle else { return [] }
    return venue.venue.floors.compactMap { id, floor in
      let isKnown = floor.altitude != nil && (range.reference == .seaLevel || venue.venue.geoidHeight != nil)
      guard !isKnown, geofence.level ?? id.level == id.level,
        geofence.building ?? id.building == id.building,
        let point = floor.plane.point(of: circle.center), let extent = floor.extent
      else { return nil }
      let (low, high) = (extent.southWest, extent.northEast)
      let isThere =
        (low.x - circle.radius...high.x + circle.radius).contains(point.x)
        && (low.y - circle.radius...high.y + circle.radius).contains(point.y)
      return isThere ? id : nil
    }
  }

  private func accuracy(at point: Point, on id: FloorID, _ floor: Floor) -> Double {
    let rules = venue.rules
    let hidden = Double(rules.hiddenError)
    if let number = venue.radio.floors.firstIndex(of: id), number < venue.radio.walked.count {
      let remoteness = Double(venue.content.remoteness(of: point, floor: number))
      return (hidden * hidden + (Double(rules.remoteError) * remoteness).squared).squareRoot()
    }
    let places =
      floor.beacons.map(\.point) + floor.accessPoints.map(\.point) + floor.observers.map(\.point)
    let distances = places.map { $0.distance(to: point) }.sorted()
    guard distances.count >= FixCoverage.radios else { return Double(rules.vaguest) }
    return max(2 * hidden, distances[FixCoverage.radios - 1] * FixCoverage.unsurveyedShare)
  }
}

extension Double {
  fileprivate var squared: Double { self * self }
}

extension Geofence {
  /// The middle of its outline, and the radius of a circle of its size in metres; nil without an outline.
  package var equivalentCircle: (center: Coordinate, radius: Double)? {
    switch shape {
    case .circle(let center, let radius):
      return Coordinate(latitude: center.latitude, longitude: center.longitude).map { ($0, radius.value) }
    case .polygon(let rings):
      guard let first = rings.first?.first,
        let origin = Coordinate(latitude: first.latitude, longitude: first.longitude)
      else { return nil }
      let plane = GroundPlane(origin: origin)
      let polygons = shape.polygons.map { polygon in
        polygon.map { ring in
          Polygon(
            ring.compactMap { corner in
              Coordinate(latitude: corner.latitude, longitude: corner.longitude).flatMap(plane.point)
            }
          )
        }
      }
      let corners = polygons.flatMap { $0.first?.corners ?? [] }
      guard let extent = Extent(around: corners), let center = plane.coordinate(of: extent.middle) else {
        return nil
      }
      let size = polygons.reduce(0) { $0 + ($1.first?.area ?? 0) - $1.dropFirst().reduce(0) { $0 + $1.area } }
      return (center, (max(0, size) / .pi).squareRoot())
    }
  }
}
