package import PharosDelivery
import PharosDocuments
package import PharosModel
package import PharosSite
package import PharosSpace
package import PharosWays

/// The venues that requests name.
struct VenueCatalog: Sendable {
  private let all: @Sendable () -> [ServedVenue]

  /// Makes a catalog of the venues that a function returns, as they are at each request.
  init(_ all: @escaping @Sendable () -> [ServedVenue]) { self.all = all }

  /// The venues in the order of the site file.
  var venues: [ServedVenue] { all() }

  /// Returns the venue that a path names.
  ///
  /// - Throws: 404 if there is none.
  func venue(_ request: APIRequest) throws(Problem) -> ServedVenue {
    let name = request.parameter("id")
    guard let served = venues.first(where: { $0.venue.identifier == name }) else {
      throw .notFound("There is no venue \"\(name.shortened)\". /v1/venues lists those that there are.")
    }
    return served
  }

  /// Returns the venue that a path names, and its page for visitors.
  ///
  /// - Throws: 404 if it has none: the same as if there were no such venue.
  func visited(_ request: APIRequest) throws(Problem) -> (served: ServedVenue, page: VisitorPage) {
    let name = request.parameter("id")
    guard let served = venues.first(where: { $0.venue.identifier == name }), let page = served.visitors else {
      throw .notFound("There is no page for visitors of a venue \"\(name.shortened)\".")
    }
    return (served, page)
  }

  /// Returns the floor that a path names.
  func floor(_ request: APIRequest) throws(Problem) -> (ServedVenue, (id: FloorID, floor: Floor)) {
    let served = try venue(request)
    let (building, level) = (request.parameter("building"), request.parameter("level"))
    let id = Int(level).map { FloorID(building: building, level: $0) }
    guard let id, let floor = served.venue.floor(id) else {
      throw .notFound(
        "Venue \"\(served.venue.identifier)\" has no floor \(building.shortened)/\(level.shortened)."
      )
    }
    return (served, (id, floor))
  }
}

/// A venue that the interface serves, with the reader of its floor plans' images.
package struct ServedVenue: Sendable {
  /// Reads a file of the venue's folder whole; throws if it cannot be read.
  ///
  /// Takes the image's name as the floor plan has it. It may block.
  package typealias ReadImage = @Sendable (_ name: String) throws -> [UInt8]

  /// The venue.
  package var venue: Venue
  /// Its router, which the engine uses too.
  package var router: VenueRouter
  /// Its places, for searches.
  package var directory: SharedDirectory
  /// Its page for visitors; nil if it has none.
  package var visitors: VisitorPage?
  /// Reads the image of a floor plan.
  package var image: ReadImage

  /// Makes a venue that is served.
  ///
  /// - Parameters:
  ///   - venue: the venue.
  ///   - router: its router; nil for one of its own.
  ///   - directory: its places for searches; nil for a directory of its own.
  ///   - visitors: its page for visitors; nil for none.
  ///   - image: reads the image of a floor plan.
  package init(
    _ venue: Venue,
    router: VenueRouter? = nil,
    directory: SharedDirectory? = nil,
    visitors: VisitorPage? = nil,
    image: @escaping ReadImage
  ) {
    self.venue = venue
    self.router = router ?? VenueRouter(venue)
    self.directory = directory ?? SharedDirectory(venue)
    self.visitors = visitors
    self.image = image
  }
}

extension LoadedVenues {
  /// The venues as they are served.
  package var served: [ServedVenue] {
    entries.map { entry in
      ServedVenue(
        entry.contents.venue,
        router: entry.router,
        directory: entry.directory,
        visitors: entry.visitors
      ) { name in
        try VenueFiles.disk(entry.folder).whole(name)
      }
    }
  }

  /// Returns the walk from a fix to the place of an appointment in the same venue; nil if there is no way.
  package func walk(from fix: FixDetail, to appointment: NotificationRule.Appointment) -> TimeSpan? {
    guard let latitude = fix.latitude, let longitude = fix.longitude,
      let coordinate = Coordinate(latitude: latitude, longitude: longitude),
      let entry = entries.first(where: { $0.contents.venue.identifier == fix.venue })
    else { return nil }
    let rows = try? entry.router.router.matrix(
      from: [.coordinate(coordinate, level: fix.level)],
      to: [.place(appointment.place)],
      options: RouteOptions(isAccessible: appointment.isAccessible)
    )
    return (rows?.first?.first ?? nil).map { .seconds($0.duration) }
  }
}
