import Foundation
import PharosDelivery
import PharosHTTP
import PharosModel
import PharosTestSupport
import Testing

/// Captures that are sent to a server; how they are compared is PharosLab's part.
@Suite("Comparisons over HTTP", .timeLimit(.minutes(20)))
struct ComparisonTests {
  private let sent = ["Content-Type": "application/octet-stream"]

  @Test("a capture of several megabytes is compared, and its page is read without a token")
  func page() async throws {
    let locked = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0), tokensRequired: true)
    try await TestService.run(configuration: locked, isLive: true) { service in
      var service = service
      let backend = service.backend
      service.token = try backend.tokens.create(name: "boss", role: .operator, at: backend.clock()).secret
      let capture = String(repeating: "x", count: 5_000_000)
      let target = "/v1/comparisons?name=lobby%20%3Cb%3E.pcapng&timeout=12.5"
      let answer = try await service.request("POST", target, headers: sent, body: capture)
      #expect(answer.status == 201, "\(answer.text)")
      let location = try #require(answer.headers["location"])
      #expect(location == "/v1/comparisons/\(try answer.json["id"].string ?? "")")
      #expect(try answer.json["headline"].string == "5000000 bytes under 12.5 s")
      service.token = nil
      let page = try await service.request("GET", location)
      #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
      #expect(page.text == "<!doctype html><title>lobby <b>.pcapng</title>")
    }
  }

  @Test("the newest are listed and kept, others are dropped; nothing is left of a capture")
  func kept() async throws {
    try await TestService.run { service in
      for number in 1...22 {
        let body = String(repeating: "x", count: number)
        let target = "/v1/comparisons?name=c\(number)"
        #expect(try await service.request("POST", target, headers: sent, body: body).status == 201)
        service.time.pass(seconds: 1)
      }
      let listed = try await service.request("GET", "/v1/comparisons").json["comparisons"].elements
      #expect(listed.compactMap { $0["name"].string } == (3...22).reversed().map { "c\($0)" })
      let id = try #require(listed.first?["id"].string)
      #expect(try await service.request("DELETE", "/v1/comparisons/\(id)").status == 204)
      #expect(try await service.request("DELETE", "/v1/comparisons/\(id)").status == 404)
      #expect(try await service.request("GET", "/v1/comparisons/\(id)").status == 404)
    }
  }

  @Test("an invalid capture is refused with a sentence, and so is an invalid time-out")
  func refused() async throws {
    try await TestService.run { service in
      let empty = try await service.request("POST", "/v1/comparisons?name=void", headers: sent, body: "")
      #expect(empty.status == 422)
      #expect(try empty.json["detail"].string == "The capture is empty.")
      let wrong = try await service.request("POST", "/v1/comparisons?timeout=0", headers: sent, body: "x")
      #expect(wrong.status == 400)
      #expect(try await service.request("GET", "/v1/comparisons").json["comparisons"].elements.isEmpty)
    }
  }

  @Test("a second capture waits its turn")
  func oneAtATime() async throws {
    try await TestService.run(isLive: true) { service in
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let head = service.head(
          "POST",
          "/v1/comparisons",
          headers: [
            "Content-Length": "4", "Content-Type": "application/octet-stream", "Expect": "100-continue",
          ]
        )
        try await connection.send(head + "ab")
        // The first is being received once a second one is refused; before that the second one is served.
        var second = try await service.request("POST", "/v1/comparisons", headers: sent, body: "x")
        while second.status == 201 {
          second = try await service.request("POST", "/v1/comparisons", headers: sent, body: "x")
        }
        #expect(second.status == 503 && second.headers["retry-after"] != nil)
        try await connection.send("cd")
        #expect(try await connection.answer().status == 201)
      }
    }
  }

  @Test("a comparison that shows a subject goes when the subject is erased")
  func erased() async throws {
    try await TestService.run { service in
      let beacon = "\(String.galleryUUID)/1/7"
      let named = "/v1/comparisons?name=\(beacon.replacing("/", with: "%2F"))"
      #expect(try await service.request("POST", named, headers: sent, body: "x").status == 201)
      #expect(
        try await service.request("POST", "/v1/comparisons?name=other", headers: sent, body: "x").status
          == 201
      )
      let answer = try await service.request("DELETE", "/v1/subjects/\(beacon.replacing("/", with: "%2F"))")
      #expect(try answer.json["removed"]["comparisons"].integer == 1)
      let left = try await service.request("GET", "/v1/comparisons").json["comparisons"].elements
      #expect(left.compactMap { $0["name"].string } == ["other"])
    }
  }
}
