import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosSite
import PharosSpace
import PharosWays

/// The public page of each venue that has one, and what the page reads: floors, places and ways, and nothing about subjects.
///
/// Everyone who reaches the server may read it; a venue without a page answers as one that does not exist.
struct VisitorResource: Resource {
  let catalog: VenueCatalog

  var routes: [Route] {
    let path = "/venues/{id}"
    return [
      Route(
        .get,
        path,
        Operation(
          "getVisitorPage",
          .pages,
          "The page of a venue for its visitors",
          "Map, search, directory and directions, for everyone; only of a venue with `visitors: true` in the site file."
        )
        .with(.venue)
        .answering(.done("text/html", .text)),
        access: .anyone,
        conditional: true
      ) { request in
        _ = try catalog.visited(request)
        return try PageResource.asset("/assets/visitor.html")
      },
      Route(
        .get,
        path + "/data",
        Operation("getVisitorData", .pages, "What the page for visitors shows: floors, outlines and places")
          .with(.venue)
          .answering(.visitorData),
        access: .anyone,
        conditional: true,
        handler: data
      ),
      Route(
        .get,
        path + "/routes",
        Operation(
          "findVisitorRoutes",
          .pages,
          "The fastest route between two places or positions of the page for visitors"
        )
        .with(
          .venue,
          .query("from", .name, "The id or name of a place or an entrance, or `latitude,longitude,level`.")
            .required,
          .query("to", .name, "The same.").required,
          .query(
            "accessible",
            .flag.usually(.bool(false)),
            "Without steps, and without doors and places that a wheelchair cannot use."
          )
        )
        .with(RouteForm.parameters(geometry: .geojson))
        .answering(.routes),
        access: .anyone,
        long: true,
        handler: ways
      ),
    ]
  }

  private func data(_ request: APIRequest) throws -> APIAnswer {
    let (served, page) = try catalog.visited(request)
    return .json(VisitorResource.members, of: (venue: served.venue, page: page))
  }

  private func ways(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let ends = ["from", "to"].map { name -> Waypoint in
      let text = query.text(name)
      if text == nil, !query.has(name) { query.wrong(name, "is missing", expected: "a place or a position") }
      return text.flatMap { Waypoint(position: $0) } ?? .place(text ?? "")
    }
    let options = RouteOptions(isAccessible: query.bool("accessible") ?? false)
    let form = RouteForm(&query, geometry: .geojson)
    try query.finish()
    let search = RouteSearch(served: try catalog.visited(request).served, options: options)
    return try await search.routes(form, through: { _ in ends }) { json, ends, legs in
      WayDocuments.write("waypoints", ends, legs, to: &json)
    }
  }

  /// A floor of the page.
  fileprivate typealias Story = (id: FloorID, floor: Floor, venue: Venue)

  fileprivate static let members: [DocumentField<(venue: Venue, page: VisitorPage)>] = [
    .always("id", .text) { $0.venue.identifier },
    .always("name", .text) { $0.venue.name.isEmpty ? $0.venue.identifier : $0.venue.name },
    .sometimes("address", .text) { $0.venue.address },
    .sometimes("nearMe", .text(.address), "Opens the venue's application at what is near.") {
      $0.page.nearMe
    },
    .always(
      "floors",
      .list(
        .object([
          .always("id", .text, "Building and number, as `main/0`.") { $0.id.description },
          .always("building", .text) { story in
            let building = story.venue.buildings.first { $0.identifier == story.id.building }
            return building.flatMap { $0.name.isEmpty ? nil : $0.name } ?? story.id.building
          },
          .always("level", .integer) { $0.id.level },
          .always("name", .text) { $0.floor.name },
          .always(
            "entrances",
            .list(
              .object([
                .always("id", .text) { $0.identifier }
              ])
            )
          ) { $0.floor.entrances },
          .always("outlines", outlines, "What is drawn of the floor, as of `getFloor`.") { $0 },
          .always("places", .list(.object(ListedPlace.members))) { story in
            story.floor.pointsOfInterest.map {
              ListedPlace(place: $0, floor: story.id, plane: story.floor.plane)
            }
          },
        ])
      )
    ) { owner in owner.venue.floors.map { (id: $0.id, floor: $0.floor, venue: owner.venue) } },
  ]

  private static let outlines = ValueForm<Story>(writing: .floorFeatures) { story, key, json in
    json.openObject(key)
    json.member("type", "FeatureCollection")
    json.openArray("features")
    FloorFeatures(
      floor: story.floor,
      connectors: story.venue.connectors.filter { $0.stops.contains { $0.floor == story.id } },
      id: story.id,
      withRadios: false
    )
    .write(to: &json)
    json.closeArray()
    json.closeObject()
  }
}

extension Schema {
  static let visitorData = Schema.object(VisitorResource.members).named("VisitorData")
}
