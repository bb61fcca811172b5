import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel

/// The itineraries of subjects.
struct ItineraryResource: Resource {
  let assignments: Assignments

  var routes: [Route] {
    let path = "/v1/subjects/{subject}/itinerary"
    return [
      Route(
        .get,
        path,
        Operation("getItinerary", .fixes, "The itinerary of a subject")
          .with(.subject)
          .answering(.itineraryDocument)
          .failing(.unavailable),
        access: .operation
      ) { request in
        let itinerary = try await stored(try request.subject())
        return .json { write(itinerary, to: &$0) }
      },
      Route(
        .put,
        path,
        Operation(
          "putItinerary",
          .fixes,
          "Assign an itinerary to a subject",
          """
          While the subject is on it, the route makes places beside it less likely; fixes tell the progress \
          and whether the subject has left it.
          """
        )
        .with(.subject)
        .receiving(.itineraryDocument)
        .answering(.itineraryDocument),
        access: .operation,
        handler: assignItinerary
      ),
      Route(
        .delete,
        path,
        Operation("deleteItinerary", .fixes, "Take the itinerary of a subject away")
          .with(.subject)
          .answering(.nothing()),
        access: .operation,
        handler: endItinerary
      ),
    ]
  }

  private func stored(_ subject: SubjectID) async throws -> Itinerary {
    guard let bytes = try await assignments.document(.itinerary, of: subject) else {
      throw Problem.notFound("\"\(subject.description.shortened)\" has no itinerary.")
    }
    var reader = FieldReader(bytes[...])
    return try Itinerary(from: &reader)
  }

  private func assignItinerary(_ request: APIRequest) async throws -> APIAnswer {
    let subject = try request.subject()
    let itinerary = try BodyDocument.read(request.body, name: "itinerary", known: ["waypoints"]) { fields in
      ItineraryResource.itinerary(fields)
    }
    try await assignments.assign(.itinerary, itinerary.encoded, to: subject)
    return .json { write(itinerary, to: &$0) }
  }

  private func endItinerary(_ request: APIRequest) async throws -> APIAnswer {
    let subject = try request.subject()
    _ = try await stored(subject)
    try await assignments.assign(.itinerary, nil, to: subject)
    return .noContent
  }

  private static func itinerary(_ fields: DocumentFields) -> Itinerary? {
    let list = fields.list("waypoints", of: "waypoints")
    let known = ["latitude", "longitude", "level"]
    let expected = "\(Itinerary.lengths.lowerBound) to \(Itinerary.lengths.upperBound) waypoints"
    guard Itinerary.lengths.contains(list.count) else {
      fields.mistake("waypoints", "waypoints has \(list.count) elements", expected: expected)
      return nil
    }
    let waypoints = list.compactMap { index, path, node -> Itinerary.Waypoint? in
      guard
        let waypoint = DocumentFields(
          node,
          place: "waypoint \(index + 1)",
          path: path,
          known: known,
          problems: fields.problems
        )
      else { return nil }
      let latitude = waypoint.required("latitude", .number(in: -90...90, unit: "degrees"))
      let longitude = waypoint.required("longitude", .number(in: -180...180, unit: "degrees"))
      let level = waypoint.value("level", .integer(in: -1_000...1_000)) ?? 0
      guard let latitude, let longitude else { return nil }
      return Itinerary.Waypoint(latitude: latitude, longitude: longitude, level: level)
    }
    return waypoints.count == list.count ? Itinerary(waypoints) : nil
  }

  private func write(_ itinerary: Itinerary, to json: inout JSONText) {
    json.objects("waypoints", itinerary.waypoints) { json, waypoint in
      json.member("latitude", waypoint.latitude, decimals: 8)
      json.member("longitude", waypoint.longitude, decimals: 8)
      json.member("level", waypoint.level)
    }
  }
}

extension Schema {
  static let itineraryDocument = Schema.closed([
    .required(
      "waypoints",
      .list(
        .closed([
          .required("latitude", .number(-90...90), "Degrees north, WGS 84."),
          .required("longitude", .number(-180...180), "Degrees east, WGS 84."),
          .optional(
            "level",
            .integer(-1_000...1_000),
            "The floor's number; 0, the ground floor, if it is missing."
          ),
        ]),
        2...1_000
      )
    )
  ]).described("A route through waypoints.").named("ItineraryDocument")
}
