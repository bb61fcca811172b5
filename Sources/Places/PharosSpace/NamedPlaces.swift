package import PharosModel

/// The named places of a floor, from which a location gets the names that people use.
package struct NamedPlaces: Hashable, Sendable {
  /// A named piece of a floor.
  package struct Place: Hashable, Sendable {
    /// The identifier of a point of interest; the name of an area.
    package var identifier: String
    /// The display name, or nil if it has none.
    package var name: String?
    /// Indicates whether it is a point of interest, and no area.
    package var isPointOfInterest: Bool
    /// Indicates whether one can be in it as in a room: the venue draws its outline, and it is not the whole floor.
    package var isRoom: Bool
    /// The outline; a square where only a point is known.
    package var area: Area
    private let extent: Extent?

    fileprivate init(_ point: PointOfInterest) {
      let reach = Point(x: NamedPlaces.reach, y: NamedPlaces.reach)
      identifier = point.identifier
      name = point.name.isEmpty ? nil : point.name
      isPointOfInterest = true
      isRoom = point.area != nil
      area =
        point.area ?? Area(outline: Polygon(rectangleFrom: point.point - reach, to: point.point + reach))
      extent = area.outline.extent
    }

    fileprivate init(_ named: Area, of floor: Floor) {
      identifier = named.name
      name = named.name
      isPointOfInterest = false
      isRoom = !floor.names.contains(named.name)
      area = named
      extent = area.outline.extent
    }

    /// Returns whether a point is inside it.
    package func contains(_ point: Point) -> Bool {
      guard let extent, extent.contains(point) else { return false }
      return area.contains(point)
    }
  }

  /// Half the side of the square around a point of interest of which only the point is known.
  ///
  /// - Units: metres.
  package static let reach = 3.0

  /// The places, the smallest first.
  package let places: [Place]

  /// Gathers the places of a floor.
  package init(_ floor: Floor) {
    let areas = floor.walkable.filter { !$0.name.isEmpty }
    places = (floor.pointsOfInterest.map(Place.init) + areas.map { Place($0, of: floor) }).enumerated()
      .map { (size: $0.element.area.size, offset: $0.offset, place: $0.element) }
      .sorted { ($0.size, $0.offset) < ($1.size, $1.offset) }.map(\.place)
  }

  /// Returns the smallest room with a name at a point; nil where there is none.
  package func room(at point: Point) -> Place? {
    places.first { $0.isRoom && $0.name != nil && $0.contains(point) }
  }

  /// Returns the names of the room and of the point of interest at a point, each the smallest one of its kind; nil where
  /// there is none.
  ///
  /// A shop that the venue draws is a room and a point of interest.
  package func names(at point: Point) -> (room: String?, place: String?) {
    var found: (room: String?, place: String?)
    for place in places {
      let isWanted = found.room == nil && place.isRoom || found.place == nil && place.isPointOfInterest
      guard isWanted, let name = place.name, place.contains(point) else { continue }
      if found.room == nil, place.isRoom { found.room = name }
      if found.place == nil, place.isPointOfInterest { found.place = name }
    }
    return found
  }
}
