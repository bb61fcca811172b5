import Foundation
import Pharos
import PharosDelivery
import PharosHTTP
import PharosIngest
import PharosModel
import PharosTestSupport
import Testing

/// Recordings that operators make over HTTP; what their files hold is PharosIngest's part.
@Suite("Recordings over HTTP", .timeLimit(.minutes(20)))
struct RecordingTests {
  private static let path = "/v1/recordings"

  private func start(_ service: TestService, _ body: String = "{}") async throws -> String {
    let answer = try await service.request("POST", Self.path, body: body)
    try #require(answer.status == 201, "\(answer.text)")
    let id = try #require(answer.json["id"].string)
    #expect(answer.headers["location"] == "\(Self.path)/\(id)")
    return id
  }

  private func files(_ service: TestService) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: service.backend.folder.path("data/recordings")))
      ?? []
  }

  @Test(
    "a recording shows how far it is, ends on request, stays as a file of the folder and goes when it is dropped"
  )
  func life() async throws {
    try await TestService.run { service in
      let id = try await start(service, #"{"seconds":600,"bytes":2000000}"#)
      let going = try await service.request("GET", "\(Self.path)/\(id)").json
      let (began, ends) = (going["startedAt"].string, going["endsAt"].string)
      let length = Timestamp(text: ends ?? "").flatMap { end in
        Timestamp(text: began ?? "").map { end - $0 }
      }
      #expect(length == .seconds(600))
      #expect(going["maximumBytes"].integer == 2_000_000 && going["endedAt"].value == nil)
      try await service.receive(minor: 7, times: 5)
      let ended = try await service.request("POST", "\(Self.path)/\(id)/end").json
      #expect(ended["endsAt"].value == nil && ended["endedAt"].string != nil && ended["problem"].value == nil)
      let path = service.backend.folder.path("data/recordings/\(id).pharos")
      let bytes = try Data(contentsOf: URL(filePath: path))
      #expect(ended["bytes"].integer == bytes.count && bytes.count > 1_000)
      #expect(bytes.range(of: Data("c0:00:00:00:00:07".utf8)) != nil)
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      #expect(try await service.request("DELETE", "\(Self.path)/\(id)").status == 204)
      #expect(try await service.request("GET", "\(Self.path)/\(id)").status == 404)
      #expect(files(service).isEmpty)
    }
  }

  @Test("one at a time is made, the newest three are kept, and one that goes on ends when it is dropped")
  func bounded() async throws {
    try await TestService.run { service in
      var made: [String] = []
      for _ in 0..<5 {
        made.append(try await start(service))
        let second = try await service.request("POST", Self.path, body: "{}")
        #expect(second.status == 409)
        #expect(try await service.request("POST", "\(Self.path)/\(made.last ?? "")/end").status == 200)
        service.time.pass(seconds: 1)
      }
      let listed = try await service.request("GET", Self.path).json["recordings"].elements
      #expect(listed.compactMap { $0["id"].string } == made.suffix(3).reversed())
      #expect(files(service).count == 3)
      let last = try await start(service)
      #expect(try await service.backend.server.snapshot().isRecording)
      #expect(try await service.request("DELETE", "\(Self.path)/\(last)").status == 204)
      #expect(try await !service.backend.server.snapshot().isRecording)
    }
  }

  @Test("limits out of range are refused, and so is a recording without a data folder or without room for it")
  func refused() async throws {
    try await TestService.run { service in
      for body in [#"{"seconds":0}"#, #"{"seconds":21601}"#, #"{"bytes":1000}"#, #"{"minutes":3}"#] {
        let answer = try await service.request("POST", Self.path, body: body)
        #expect(answer.status == 422, "\(body)")
      }
      for id in ["1", "-1", "..%2F..%2Fetc", "01"] {
        for (method, rest) in [("GET", ""), ("DELETE", ""), ("POST", "/end"), ("POST", "/comparison")] {
          let answer = try await service.request(method, "\(Self.path)/\(id)\(rest)")
          #expect(answer.status == 404, "\(method) \(id)\(rest)")
        }
      }
      #expect(files(service).isEmpty)
    }
    let none = Recordings(dataFolder: nil)
    #expect(none.newest == nil)
    try await TestService.run(recordings: none) { service in
      let answer = try await service.request("POST", Self.path, body: "{}")
      #expect(answer.status == 503 && answer.text.contains("--data DIR"))
    }
    let full = try TemporaryFolder()
    try await TestService.run(recordings: Recordings(dataFolder: full.path("data")) { _ in 300 << 20 }) {
      service in
      let answer = try await service.request("POST", Self.path, body: "{}")
      #expect(answer.status == 507 && answer.text.contains("300 MiB left"), "\(answer.text)")
      let small = try await service.request("POST", Self.path, body: #"{"bytes":1048576}"#)
      #expect(small.status == 201, "\(small.text)")
    }
  }

  @Test("a recording that has ended is compared, with an edited site if one is given")
  func compared() async throws {
    try await TestService.run { service in
      let id = try await start(service)
      let path = "\(Self.path)/\(id)/comparison"
      #expect(try await service.request("POST", path, body: "{}").status == 409)
      #expect(try await service.request("POST", "\(Self.path)/\(id)/end").status == 200)
      let plain = try await service.request("POST", path)
      #expect(plain.status == 201 && plain.headers["location"]?.hasPrefix("/v1/comparisons/") == true)
      #expect(try plain.json["headline"].string?.hasSuffix("bytes under 30.0 s") == true)
      let edited = try await service.request("POST", path, body: #"{"site":"zones: []\n","timeout":20}"#)
      #expect(try edited.json["headline"].string == "edited: zones: []\n")
      #expect(try await service.request("POST", path, body: #"{"timeout":0}"#).status == 422)
      let listed = try await service.request("GET", "/v1/comparisons").json["comparisons"].elements
      #expect(
        listed.count == 2 && listed.allSatisfy { $0["name"].string?.hasPrefix("recording of ") == true }
      )
    }
  }

  @Test("erasing any subject removes all recordings and ends the one that goes on")
  func erased() async throws {
    try await TestService.run { service in
      let first = try await start(service)
      #expect(try await service.request("POST", "\(Self.path)/\(first)/end").status == 200)
      service.time.pass(seconds: 1)
      _ = try await start(service)
      let beacon = "\(String.galleryUUID)%2F1%2F7"
      let answer = try await service.request("DELETE", "/v1/subjects/\(beacon)")
      #expect(try answer.json["removed"]["recordings"].integer == 2)
      #expect(files(service).isEmpty)
      #expect(try await !service.backend.server.snapshot().isRecording)
    }
  }

  @Test("recordings older than events may be are removed, except the one that goes on")
  func pruned() async throws {
    try await TestService.run { service in
      let old = try await start(service)
      #expect(try await service.request("POST", "\(Self.path)/\(old)/end").status == 200)
      service.time.pass(seconds: 10)
      let going = try await start(service)
      service.backend.recordings.prune(before: service.backend.clock() - .seconds(60))
      #expect(files(service).count == 2)
      service.backend.recordings.prune(before: service.backend.clock() + .seconds(60))
      #expect(files(service) == ["\(going).pharos"])
      #expect(try await service.request("DELETE", "\(Self.path)/\(going)").status == 204)
    }
  }

  @Test("only an operator may record")
  func operators() async throws {
    let locked = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0), tokensRequired: true)
    try await TestService.run(configuration: locked) { service in
      var service = service
      let (tokens, now) = (service.backend.tokens, service.backend.clock())
      #expect(try await service.request("POST", Self.path, body: "{}").status == 401)
      service.token = try tokens.create(name: "till", role: .application("gallery"), at: now).secret
      #expect(try await service.request("POST", Self.path, body: "{}").status == 403)
      #expect(try await service.request("GET", Self.path).status == 403)
      service.token = try tokens.create(name: "boss", role: .operator, at: now).secret
      #expect(try await service.request("POST", Self.path, body: "{}").status == 201)
    }
  }
}
