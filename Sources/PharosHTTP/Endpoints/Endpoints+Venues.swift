import PharosAccess
import PharosPlaces
import PharosReports

extension Endpoints {
  var venueRoutes: [Route] {
    [
      Route(.get, "/v1/venues", access: .anyToken, conditional: true) { _ in
        .json { json in
          json.openObject()
          json.openArray("venues")
          for served in backend.venues() { VenueDocuments.write(served.venue, to: &json) }
          json.closeArray()
          json.closeObject()
        }
      },
      Route(.get, "/v1/venues/{id}", access: .anyToken, conditional: true) { request in
        let served = try venue(request)
        return .json { json in VenueDocuments.write(served.venue, to: &json) }
      },
      Route(
        .get,
        "/v1/venues/{id}/floors/{building}/{level}",
        access: .anyToken,
        conditional: true
      ) { request in
        let (served, floor) = try floor(request)
        let features = FloorFeatures(
          of: floor.floor,
          connectors: served.venue.connectors.filter { connector in
            connector.stops.contains { $0.floor == floor.id }
          },
          on: floor.id,
          // Where radios hang is the operator's own affair.
          withRadios: request.principal.application == nil
        )
        var answer = APIAnswer.json { json in features.write(to: &json) }
        answer.setHeader("Content-Type", "application/geo+json")
        return answer
      },
      Route(
        .get,
        "/v1/venues/{id}/floors/{building}/{level}/plan",
        access: .anyToken,
        conditional: true
      ) { request in
        try await plan(request)
      },
    ]
  }

  private func plan(_ request: APIRequest) async throws -> APIAnswer {
    let (served, floor) = try floor(request)
    guard let plan = floor.floor.plan else {
      throw Problem.notFound("Floor \(floor.id) has no plan; its outlines are one step up.")
    }
    do {
      let image = try await Blocking.run { try served.image(plan.image) }
      return .bytes(image, type: "image/png")
    } catch {
      throw Problem.unavailable(
        "The image of floor \(floor.id) cannot be read; `pharos check` says what is wrong with the venue's folder."
      )
    }
  }

  private func venue(_ request: APIRequest) throws(Problem) -> ServedVenue {
    let name = request.parameter("id")
    guard let served = backend.venues().first(where: { $0.venue.identifier == name }) else {
      throw .notFound("There is no venue \"\(name.shortened)\". /v1/venues lists those that there are.")
    }
    return served
  }

  private func floor(_ request: APIRequest) throws(Problem) -> (ServedVenue, (id: FloorID, floor: Floor)) {
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
