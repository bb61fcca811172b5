import Pharos
import PharosDelivery
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSite
import PharosTestSupport
import Testing

/// Summaries of minutes: how they come about, and how they are answered.
@Suite("History over HTTP", .timeLimit(.minutes(20)))
struct HistoryTests {
  private static let tag = "\(String.galleryUUID)/1/7"
  private static var coded: String { tag.replacing("/", with: "%2F") }
  private static let start = HistoryMinute(29_000_040)

  private func time(_ minute: Int64) -> String { HistoryMinute(Self.start.number + minute).start.rfc3339 }

  /// Stores two hours: a tag that changes its zone and its floor, an observer with an outage, a zone and a region.
  private func fill(_ service: TestService, minutes: Range<Int64> = 0..<120) throws {
    let tag = try #require(SubjectID(Self.tag))
    let desk = try #require(ObserverID("front-desk"))
    for minute in minutes where minute != 50 {
      var sample = HistorySample(minute: HistoryMinute(Self.start.number + minute))
      sample.subjects[tag] = SubjectMinute(
        zone: minute < 60 ? "lobby" : nil,
        state: minute < 90 ? .inside : .unmonitored,
        nearest: .observer(desk),
        rssi: -60 - Int(minute % 10),
        position: SubjectMinute.Position(
          venue: "museum",
          building: "main",
          level: minute < 60 ? 0 : 1,
          latitude: 52.52 + Double(minute) * 1e-6,
          longitude: 13.4,
          accuracy: 2.5
        )
      )
      sample.subjects[.observer(.name("visitor"))] = SubjectMinute(state: .inside)
      sample.observers[desk] = ObserverMinute(adverts: 600, isUp: !(70..<75).contains(minute))
      sample.places[.zone("lobby")] = PlaceMinute(inside: minute < 60 ? 4 : 1, unmonitored: 0)
      sample.places[HistoryPlace(application: "gallery", identifier: "tags")] = PlaceMinute(
        inside: UInt16(minute % 4),
        unmonitored: 1
      )
      sample.places[.zone("removed")] = PlaceMinute(inside: 1, unmonitored: 0)
      try service.backend.journal.record(sample)
    }
  }

  private var range: String { "from=\(time(0))&to=\(time(119))" }

  @Test("a step and a frame have the name that the room and the tag had in their last minute")
  func renaming() async throws {
    try await TestService.run { service in
      let tag = try #require(SubjectID(Self.tag))
      let first = HistoryMinute(containing: service.backend.clock())
      for name in ["Kitchen", "Studio"] {
        service.time.pass(seconds: 120)
        let zone = #"{"name":"\#(name)","observers":["roof"]}"#
        #expect(try await [200, 201].contains(service.request("PUT", "/v1/zones/attic", body: zone).status))
        service.time.pass(seconds: 120)
        var sample = HistorySample(minute: HistoryMinute(containing: service.backend.clock()))
        sample.subjects[tag] = SubjectMinute(zone: "attic", state: .inside)
        try service.backend.journal.record(sample)
      }
      service.time.pass(seconds: 120)
      let range = "from=\(first.start.rfc3339)&to=\(service.backend.clock().rfc3339)"
      let path = "/v1/history/subjects/\(Self.coded)?\(range)"
      let points = try await service.request("GET", path).json["points"].elements
      #expect(points.map { $0["room"].string } == ["Kitchen", "Studio"])
      let csv = try await service.request("GET", path, headers: ["Accept": "text/csv"]).text
      #expect(csv.contains(",Kitchen,attic,") && csv.contains(",Studio,attic,"))
      let frames = try await service.request("GET", "/v1/history/positions?\(range)").json["frames"].elements
      #expect(frames.flatMap { $0["subjects"].elements.map { $0["room"].string } } == ["Kitchen", "Studio"])
      let listed = try await service.request("GET", "/v1/history/subjects?\(range)&points=12").json
      #expect(listed["subjects"][0]["room"].string == "Studio")
    }
  }

  @Test(
    "minutes in which the observers of a room were down are a gap, not a zero, and the room of a tag says so"
  )
  func outage() async throws {
    try await TestService.run { service in
      try fill(service, minutes: 0..<10)
      let tag = try #require(SubjectID(Self.tag))
      for minute in Int64(10)..<20 {
        var sample = HistorySample(minute: HistoryMinute(Self.start.number + minute))
        sample.places[.zone("lobby")] = PlaceMinute(inside: nil, unmonitored: 4)
        sample.subjects[tag] = SubjectMinute(zone: "lobby", isZoneUnmonitored: true, state: .unmonitored)
        try service.backend.journal.record(sample)
      }
      let range = "from=\(time(0))&to=\(time(19))&points=20"
      let zone = try await service.request("GET", "/v1/history/zones/lobby?\(range)").json
      let points = zone["points"].elements
      #expect(points.count == 20)
      #expect(points.prefix(10).allSatisfy { $0["inside"].number == 4 && $0["unmonitored"].number == 0 })
      #expect(
        points.dropFirst(10).allSatisfy { $0["inside"].number == nil && $0["insideMaximum"].number == nil }
      )
      #expect(points.dropFirst(10).allSatisfy { $0["unmonitored"].number == 4 })
      let csv = ["Accept": "text/csv"]
      let table = try await service.request("GET", "/v1/history/zones/lobby?\(range)", headers: csv)
      #expect(table.text.contains("\(time(12)),1,,,4\r\n"))
      let subject = try await service.request("GET", "/v1/history/subjects/\(Self.coded)?\(range)").json
      let states = subject["points"].elements.map { $0["zoneState"].string }
      #expect(states == Array(repeating: "inside", count: 10) + Array(repeating: "unmonitored", count: 10))
      let all = try await service.request("GET", "/v1/history/occupancy?\(range)").json
      let lobby = try #require(all["places"].elements.first { $0["zone"].string == "lobby" })
      #expect(lobby["inside"].elements.filter { $0.number == 0 }.isEmpty)
    }
  }

  @Test(
    "a subject's minutes are answered in steps: what held in most of them, the mean level, the last position"
  )
  func subject() async throws {
    try await TestService.run { service in
      try fill(service)
      let path = "/v1/history/subjects/\(Self.coded)"
      let all = try await service.request("GET", "\(path)?\(range)").json
      #expect(all["subject"].string == Self.tag)
      #expect(all["name"].string == "door")
      #expect(all["step"].integer == 60)
      #expect(all["from"].string == time(0))
      #expect(all["to"].string == time(120))
      #expect(all["points"].elements.count == 119)
      #expect(all["points"][50]["time"].string == time(51), "the minute that is not stored is left out")
      #expect(all["points"][3]["rssi"].number == -63)
      #expect(all["points"][3]["latitude"].number == 52.520_003)
      #expect(all["points"][3]["building"].string == "main")
      let few = try await service.request("GET", "\(path)?\(range)&points=12").json
      #expect(few["step"].integer == 600)
      #expect(few["points"].elements.count == 12)
      let points = few["points"]
      #expect(points[0]["zone"].string == "lobby")
      #expect(points[0]["state"].string == "inside")
      #expect(points[0]["nearest"].string == "front-desk")
      #expect(points[0]["rssi"].number == -64.5)
      #expect(points[0]["rssiLowest"].integer == -69)
      #expect(points[0]["rssiHighest"].integer == -60)
      #expect(points[5]["minutes"].integer == 9)
      #expect(points[6]["zone"].string == nil)
      #expect(points[6]["level"].integer == 1)
      #expect(points[11]["state"].string == "unmonitored")
      #expect(points[11]["latitude"].number == 52.520_119)
      for (query, status) in [
        ("from=\(time(9))&to=\(time(3))", 400), ("points=0", 400), ("points=1501", 400), ("since=1", 400),
        ("from=yesterday", 400), ("from=0&to=4000000000&points=3", 200),
      ] {
        #expect(try await service.request("GET", "\(path)?\(query)").status == status, "\(query)")
      }
      #expect(try await service.request("GET", "/v1/history/subjects/unknown").status == 404)
      let tagged = try await service.request("GET", "\(path)?\(range)")
      let known = ["If-None-Match": try #require(tagged.headers["etag"])]
      #expect(try await service.request("GET", "\(path)?\(range)", headers: known).status == 304)
    }
  }

  @Test("a table for spreadsheets has the same values, and no cell that one would compute")
  func csv() async throws {
    try await TestService.run { service in
      try fill(service, minutes: 0..<3)
      var sample = HistorySample(minute: HistoryMinute(Self.start.number + 3))
      sample.subjects[.observer(.name("=1+1"))] = SubjectMinute(zone: "a \"b\", c", state: .inside)
      try service.backend.journal.record(sample)
      let csv = ["Accept": "text/csv"]
      let path = "/v1/history/subjects/\(Self.coded)?\(range)"
      let answer = try await service.request("GET", path, headers: csv)
      #expect(answer.headers["content-type"] == "text/csv; charset=utf-8; header=present")
      let lines = answer.text.split(separator: "\r\n").map(String.init)
      #expect(
        lines == [
          "time,minutes,room,zone,zoneState,state,nearest,rssi,rssiLowest,rssiHighest,venue,building,level,latitude,longitude,"
            + "horizontalAccuracy",
          "\(time(0)),1,Lobby,lobby,inside,inside,front-desk,-60,-60,-60,museum,main,0,52.52,13.4,2.5",
          "\(time(1)),1,Lobby,lobby,inside,inside,front-desk,-61,-61,-61,museum,main,0,52.520001,13.4,2.5",
          "\(time(2)),1,Lobby,lobby,inside,inside,front-desk,-62,-62,-62,museum,main,0,52.520002,13.4,2.5",
        ]
      )
      let all = try await service.request("GET", "/v1/history/positions?at=\(time(3))", headers: csv)
      #expect(
        all.text.contains(
          "\(time(3)),'=1+1,observer,,\"a \"\"b\"\", c\",\"a \"\"b\"\", c\",inside,inside,,,,,,,,\r\n"
        )
      )
      for path in [
        "/v1/history/observers/front-desk", "/v1/history/zones/lobby",
        "/v1/history/applications/gallery/regions/tags",
      ] {
        let answer = try await service.request("GET", "\(path)?\(range)", headers: csv)
        #expect(answer.text.split(separator: "\r\n").count == 4, "\(path): \(answer.text)")
      }
    }
  }

  @Test("positions are points with the values of the table, and those of a subject its way")
  func points() async throws {
    try await TestService.run { service in
      try fill(service, minutes: 0..<3)
      let points = ["Accept": "application/geo+json"]
      let checker = SchemaChecker(description: try await service.request("GET", "/openapi.json").json)
      for (path, schema, count) in [
        ("/v1/history/subjects/\(Self.coded)?\(range)", "SubjectFeatures", 3),
        ("/v1/history/positions?at=\(time(2))", "PositionFeatures", 2),
      ] {
        let answer = try await service.request("GET", path, headers: points)
        #expect(answer.headers["content-type"] == "application/geo+json")
        let mistakes = checker.mistakes(try answer.json, checker.resolve("#/components/schemas/\(schema)"))
        #expect(mistakes.isEmpty, "\(path): \(mistakes)")
        let features = try answer.json["features"].elements
        try #require(features.count == count, "\(answer.text)")
        let last = try #require(features.last { !$0["geometry"].isNull })
        #expect(last["geometry"]["coordinates"].elements.map(\.number) == [13.4, 52.520_002])
        #expect(last["properties"]["time"].string == time(2))
        #expect(last["properties"]["horizontalAccuracy"].number == 2.5)
        #expect(last["properties"]["zone"].string == "lobby")
      }
    }
  }

  @Test("an observer's rates and outages, a zone's and a region's occupancy")
  func observersAndPlaces() async throws {
    try await TestService.run { service in
      try fill(service)
      let observer = try await service.request("GET", "/v1/history/observers/front-desk?\(range)&points=24")
        .json
      #expect(observer["name"].string == "front desk")
      #expect(observer["points"].elements.count == 24)
      #expect(observer["points"][3]["advertsPerSecond"].number == 10)
      #expect(observer["points"].elements.map { $0["up"].number }.filter { $0 != 1 } == [0])
      #expect(observer["outages"].elements.count == 1)
      #expect(observer["outages"][0]["from"].string == time(70))
      #expect(observer["outages"][0]["to"].string == time(75))
      #expect(try await service.request("GET", "/v1/history/observers/attic").status == 404)

      let zone = try await service.request("GET", "/v1/history/zones/lobby?\(range)&points=2").json
      #expect(zone["name"].string == "Lobby")
      #expect(zone["points"].elements.map { $0["inside"].number } == [4, 1])
      let region = "/v1/history/applications/gallery/regions/tags"
      let counts = try await service.request("GET", "\(region)?\(range)&points=12").json
      #expect(counts["application"].string == "gallery")
      #expect(counts["points"][0]["insideMaximum"].integer == 3)
      #expect(counts["points"][0]["unmonitored"].number == 1)

      let all = try await service.request("GET", "/v1/history/occupancy?\(range)&points=12").json
      let places = all["places"].elements
      // What the site no longer has is not listed.
      #expect(places.map { $0["zone"].string ?? $0["region"].string } == ["lobby", "tags"])
      #expect(
        places[0]["inside"].elements.map(\.number) == Array(repeating: 4, count: 6)
          + Array(repeating: 1, count: 6)
      )
    }
  }

  @Test("lists of subjects have levels and zones in few steps, page by page, and a bound")
  func sparklines() async throws {
    try await TestService.run { service in
      try fill(service)
      let path = "/v1/history/subjects?\(range)&points=12"
      let list = try await service.request("GET", path).json
      #expect(list["subjects"].elements.map { $0["subject"].string } == ["visitor", Self.tag])
      #expect(
        list["subjects"][1]["rssi"].elements.map(\.number) == Array(repeating: -64.5, count: 5) + [
          -65, -64.5, -64.5, -64.5, -64.5, -64.5, -64.5,
        ]
      )
      #expect(
        list["subjects"][1]["zones"].elements.compactMap(\.string) == Array(repeating: "lobby", count: 6)
          + Array(repeating: "", count: 6)
      )
      #expect(list["subjects"][0]["rssi"].elements.allSatisfy { $0.number == nil })
      let page = try await service.request("GET", "\(path)&limit=1").json
      #expect(page["subjects"].elements.count == 1)
      let next = try #require(page["next"].string)
      let second = try await service.request("GET", "\(path)&limit=1&cursor=\(next)").json
      #expect(second["subjects"][0]["subject"].string == Self.tag)
      #expect(second["next"].string == nil)
      let one = try await service.request("GET", "\(path)&subject=visitor").json
      #expect(one["subjects"].elements.count == 1)
      let long = "/v1/history/subjects?from=0&to=4000000000&points=12"
      #expect(try await service.request("GET", long).status == 400)
      #expect(try await service.request("GET", "\(long)&limit=1").status == 400)
    }
  }

  @Test("positions at a time are those of its minute; over a range those at the end of each step")
  func positions() async throws {
    try await TestService.run { service in
      try fill(service)
      let at = try await service.request("GET", "/v1/history/positions?at=\(time(65))").json
      #expect(at["frames"].elements.count == 1)
      let frame = at["frames"][0]
      #expect(frame["time"].string == time(65))
      #expect(frame["subjects"].elements.map { $0["subject"].string } == ["visitor", Self.tag])
      #expect(frame["subjects"][1]["level"].integer == 1)
      #expect(frame["subjects"][1]["rssi"].integer == -65)
      #expect(frame["subjects"][0]["latitude"].number == nil)
      let none = try await service.request("GET", "/v1/history/positions?at=\(time(50))").json
      #expect(none["frames"][0]["subjects"].elements.isEmpty)
      let day = try await service.request("GET", "/v1/history/positions?\(range)&points=12").json
      #expect(day["frames"].elements.map { $0["time"].string } == (0..<12).map { time($0 * 10 + 9) })
      #expect(day["frames"].elements.allSatisfy { $0["subjects"].elements.count == 2 })
      #expect(day["next"].string == nil)
      let both = "/v1/history/positions?at=\(time(1))&points=3"
      #expect(try await service.request("GET", both).status == 400)
    }
  }

  @Test("an answer with many positions ends at the limit, and names the frame that follows")
  func manyPositions() async throws {
    try await TestService.run { service in
      for minute in 0..<100 as Range<Int64> {
        var sample = HistorySample(minute: HistoryMinute(Self.start.number + minute))
        for number in 0..<110 {
          sample.subjects[.observer(.name("handset \(number)"))] = SubjectMinute(state: .inside)
        }
        try service.backend.journal.record(sample)
      }
      let path = "/v1/history/positions?points=100&to=\(time(99))"
      let first = try await service.request("GET", "\(path)&from=\(time(0))").json
      #expect(first["frames"].elements.count == 90)
      #expect(first["next"].string == time(90))
      let second = try await service.request("GET", "\(path)&from=\(time(90))").json
      #expect(second["frames"].elements.count == 10)
      #expect(second["frames"][0]["time"].string == time(90))
      #expect(second["next"].string == nil)
    }
  }

  @Test("an application sees the occupancy of its own regions alone; only the operator sees subjects")
  func access() async throws {
    let locked = HTTPConfiguration(
      address: HostPort(host: "127.0.0.1", port: 0),
      tokensRequired: true
    )
    try await TestService.run(configuration: locked) { service in
      try fill(service)
      var client = service
      client.token = try service.backend.tokens.create(
        name: "shop",
        role: .application("gallery"),
        at: service.backend.clock()
      ).secret
      let own = try await client.request("GET", "/v1/history/occupancy?\(range)")
      #expect(own.status == 200, "\(own.text)")
      #expect(try own.json["places"].elements.map { $0["region"].string } == ["tags"])
      let region = "/v1/history/applications/gallery/regions/tags"
      #expect(try await client.request("GET", region).status == 200)
      for path in [
        "/v1/history/subjects", "/v1/history/subjects/visitor", "/v1/history/observers/front-desk",
        "/v1/history/zones/lobby", "/v1/history/positions", "/v1/history/applications/other/regions/tags",
      ] {
        #expect(try await client.request("GET", path).status == 403, "\(path)")
        #expect(try await service.request("GET", path).status == 401, "\(path)")
      }
    }
  }

  @Test("of a person without an authorisation nothing is stored, and what was stored before is not shown")
  func persons() async throws {
    try await TestService.run { service in
      try await service.receive(minor: 7, by: "visitor")
      try await service.committed(about: "visitor")
      service.backend.commitPublisher.publish([.fix(of: "visitor", at: 1)])
      await service.backend.commitPublisher.drain()
      var recorder = HistoryRecorder(backend: service.backend)
      try await recorder.record(HistoryMinute(100))
      let visitor = SubjectID.observer(.name("visitor"))
      let before = try service.backend.journal.history(at: [HistoryMinute(100)])[0].subjects
      #expect(before.contains { $0.subject == visitor })
      #expect(try await service.request("GET", "/v1/history/subjects/visitor").status == 200)

      _ = try await service.request("PUT", "/v1/applications/gallery", body: #"{"purpose":"tours"}"#)
      let allow = "/v1/applications/gallery/authorisations/visitor"
      let denied = #"{"state":"denied","person":true}"#
      #expect(try await service.request("PUT", allow, body: denied).status == 200)
      try await recorder.record(HistoryMinute(101))
      let after = try service.backend.journal.history(at: [HistoryMinute(101)])[0].subjects
      #expect(!after.contains { $0.subject == visitor })
      #expect(before.contains { $0.summary.nearest == visitor })
      #expect(!after.contains { $0.summary.nearest == visitor })
      #expect(try await service.request("GET", "/v1/history/subjects/visitor").status == 404)
      for path in ["/v1/history/subjects?from=0&to=9000", "/v1/history/positions?at=1970-01-01T01:40:00Z"] {
        let answer = try await service.request("GET", path)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(!answer.text.contains("visitor"), "\(path)")
      }
    }
  }

  @Test("a minute is reported once it has ended, also where a wait ends early or the clock is set")
  func watch() {
    var watch = MinuteWatch()
    let end = HistoryMinute(101).start
    #expect(watch.look(at: end - .seconds(10)) == .wait(.seconds(10)))
    #expect(watch.look(at: end - .milliseconds(1)) == .wait(.milliseconds(1)))
    #expect(watch.look(at: end) == .ended(HistoryMinute(100)))
    var next = MinuteWatch()
    #expect(next.look(at: end + .seconds(1)) == .wait(.seconds(59)))
    #expect(next.look(at: end + .seconds(200)) == .ended(HistoryMinute(103)), "the machine was paused")
    var back = MinuteWatch()
    #expect(back.look(at: end) == .wait(.seconds(60)))
    #expect(back.look(at: end - .seconds(3_600)) == .ended(HistoryMinute(40)))
  }

  @Test("a sample holds zones, states, levels, fixes, observers and counts as the lists serve them")
  func samples() async throws {
    try await TestService.run { service in
      var recorder = HistoryRecorder(backend: service.backend)
      try await recorder.record(HistoryMinute(0))
      for _ in 0..<6 {
        try await service.receive(minor: 7)
        service.time.pass(seconds: 1)
      }
      try await service.committed(about: Self.tag)
      let now = try await service.backend.server.snapshot().time
      let fix = Event.fix(of: "front-desk", at: Int(now.nanoseconds / 1_000_000_000))
      service.backend.commitPublisher.publish([fix])
      await service.backend.commitPublisher.drain()
      service.time.pass(seconds: 30)
      let time = try await service.backend.server.snapshot().time
      let minute = HistoryMinute(HistoryMinute(containing: time).number - 1)
      try await recorder.record(minute)
      let subjects = try service.backend.journal.history(at: [minute])[0].subjects
      let tag = try #require(subjects.first { $0.subject.description == Self.tag }?.summary)
      #expect(tag.state == .inside)
      #expect(tag.nearest == .observer(.name("front-desk")))
      #expect(tag.rssi == -60)
      let desk = try #require(subjects.first { $0.subject.description == "front-desk" }?.summary)
      #expect(desk.state == .inside)
      #expect(desk.nearest.description == Self.tag)
      #expect(desk.position?.venue == "museum")
      let range = minute...minute
      let observer = try service.backend.journal.history(of: ObserverID.name("front-desk"), in: range)
      #expect(observer.map(\.summary) == [ObserverMinute(adverts: 6, isUp: true)])
      let places = try service.backend.journal.historyPlaces().map(\.key)
      #expect(places.map(\.identifier) == ["lobby", "anywhere", "tags"])
      for place in places where !place.application.isEmpty {
        let inside = try service.backend.journal.history(of: place, in: range).map(\.summary.inside)
        #expect(inside == [1], "\(place)")
      }
    }
  }
}
