import PharosHTTP
import Testing

@Suite("Itineraries over HTTP", .timeLimit(.minutes(20)))
struct ItineraryEndpointTests {
  @Test("an itinerary is assigned, read, replaced, taken away, and erased with its subject")
  func life() async throws {
    try await TestService.run { service in
      let path = "/v1/subjects/visitor/itinerary"
      #expect(try await service.request("GET", path).status == 404)
      #expect(try await service.request("DELETE", path).status == 404)
      #expect(try await service.request("PUT", path, body: TestService.itinerary).status == 200)
      let read = try await service.request("GET", path).json["waypoints"].elements
      #expect(read.count == 2 && read[1]["level"].integer == 1 && read[0]["level"].integer == 0)
      #expect(try await service.request("DELETE", path).status == 204)
      #expect(try await service.request("GET", path).status == 404)
      #expect(try await service.request("PUT", path, body: TestService.itinerary).status == 200)
      #expect(try await service.request("DELETE", "/v1/subjects/visitor").status == 200)
      #expect(try await service.request("GET", path).status == 404)
    }
  }

  @Test(
    "an invalid route is refused and changes nothing",
    arguments: [
      #"{}"#, #"{"waypoints":[]}"#, #"{"waypoints":[{"latitude":1,"longitude":2}]}"#,
      #"{"waypoints":[{"latitude":91,"longitude":2},{"latitude":1,"longitude":2}]}"#,
      #"{"waypoints":[{"latitude":1},{"latitude":1,"longitude":2}]}"#,
      #"{"waypoints":[{"latitude":1,"longitude":2,"level":0.5},{"latitude":1,"longitude":2}]}"#,
      #"{"waypoints":[{"latitude":1,"longitude":2,"x":1},{"latitude":1,"longitude":2}]}"#,
    ]
  )
  func refused(body: String) async throws {
    try await TestService.run { service in
      let path = "/v1/subjects/visitor/itinerary"
      let answer = try await service.request("PUT", path, body: body)
      #expect(answer.status == 422 && answer.text.contains("waypoint"), "\(answer.text)")
      #expect(try await service.request("GET", path).status == 404)
    }
  }
}
