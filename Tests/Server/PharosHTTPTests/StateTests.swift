import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

/// What is heard, and what the interface says of it.
@Suite("States and hearing over HTTP", .timeLimit(.minutes(20)))
struct StateTests {
  @Test("an advert that comes over HTTP enters a region, and the state says so")
  func entering() async throws {
    try await TestService.run { service in
      try await service.receive(minor: 7)
      try await service.committed(about: "front-desk")
      let states = try await service.request(
        "GET",
        "/v1/applications/gallery/states?region=anywhere"
      )
      let state = try states.json["states"][0]
      #expect(state["subject"].string == "front-desk")
      #expect(state["subjectKind"].string == "observer")
      #expect(state["state"].string == "inside")
      #expect(state["refinement"].string?.hasSuffix("/1/7") == true)
      #expect(state["nearest"]["rssi"].number == -60)
      #expect(try states.json["next"].isNull)
      let regions = try await service.request("GET", "/v1/applications/gallery/regions")
      #expect(try regions.json["regions"][0]["states"]["inside"].integer == 1)
      let record = try await service.request(
        "GET",
        "/v1/applications/gallery/regions/anywhere/record"
      )
      #expect(try record.json["state"].string == "satisfied")
      #expect(try record.json["lastEvent"]["subject"].string == "front-desk")
    }
  }

  @Test(
    "the nearest observer of a beacon is the one that hears it best now, not the one that settled the region"
  )
  func nearest() async throws {
    try await TestService.run { service in
      try await service.receive(minor: 7, rssi: -95)
      try await service.committed(about: "front-desk")
      try await service.receive(minor: 7, by: "attic", rssi: -61)
      try await service.committed(about: "attic")
      let states = try await service.request("GET", "/v1/applications/gallery/states?region=tags").json
      let state = states["states"][0]
      #expect(state["observer"].string == "front-desk")
      #expect(state["nearest"]["observer"].string == "attic")
      #expect(state["nearest"]["rssi"].number == -61)
      #expect(state["nearest"]["lastHeard"].string != nil)
    }
  }

  @Test(
    "pages of states hold every row once, in order, whatever their size",
    arguments: [1, 3, 7, 1_000]
  )
  func pages(limit: Int) async throws {
    try await TestService.run { service in
      for minor in 1...9 { try await service.receive(minor: minor) }
      for minor in 1...9 {
        try await service.committed(about: "\(String.galleryUUID)/1/\(minor)")
      }
      var seen: [String] = []
      var target: String? = "/v1/applications/gallery/states?region=tags&limit=\(limit)"
      while let next = target {
        let page = try await service.request("GET", next).json
        seen += page["states"].elements.compactMap { $0["subject"].string }
        target = page["next"].string.map {
          "/v1/applications/gallery/states?region=tags&limit=\(limit)&cursor=\($0)"
        }
      }
      #expect(seen.map { $0.split(separator: "/").last } == (1...9).map { "\($0)" })
    }
  }

  @Test("a region that is replaced, or removed and made again, begins without subjects, also after a restart")
  func resets() async throws {
    let journal = try Journal.open(.memory, stream: Site.gallery.stream)
    let path = "/v1/applications/shop/regions/tags"
    func region(_ major: Int) -> String {
      #"{"uuid":"\#(String.galleryUUID)","major":\#(major),"subject":"beacon","enter":{"samples":1}}"#
    }
    func subjects(_ service: TestService) async throws -> [String] {
      let states = try await service.request("GET", "/v1/applications/shop/states?state=inside").json[
        "states"
      ]
      return states.elements.compactMap { $0["subject"].string }
    }
    let tag = "\(String.galleryUUID)/1/7"
    try await TestService.run(journal: journal) { service in
      #expect(try await service.request("PUT", path, body: region(1)).status == 201)
      try await service.receive(minor: 7)
      try await service.committed(about: tag)
      #expect(try await subjects(service) == [tag])
      #expect(try await service.request("PUT", path, body: region(2)).status == 200)
      try await service.receive(minor: 7)
      try await service.committed(EventFilter(kinds: [.regionReset], regions: ["tags"]), times: 1)
      #expect(try await subjects(service).isEmpty)
      #expect(try await service.request("PUT", path, body: region(1)).status == 200)
      try await service.receive(minor: 7)
      try await service.committed(EventFilter(kinds: [.regionReset], regions: ["tags"]), times: 2)
      #expect(try await service.request("DELETE", path).status == 204)
      #expect(try await service.request("PUT", path, body: region(2)).status == 201)
      try await service.receive(minor: 7)
      try await service.committed(EventFilter(kinds: [.regionReset], regions: ["tags"]), times: 3)
      #expect(try await subjects(service).isEmpty)
      let events = try await service.request("GET", "/v1/events?kind=region.reset&region=tags").json["events"]
      let reasons = events.elements.compactMap { $0["event"]["data"]["reason"].string }
      #expect(reasons.sorted() == ["removed", "replaced", "replaced"])
    }
    #expect(try journal.publishedState().regions.allSatisfy { $0.application != "shop" })
    try await TestService.run(journal: journal) { service async throws in
      #expect(try await subjects(service).isEmpty)
    }
  }

  @Test("the state of a subject towards a region is answered at once, with since when and by what evidence")
  func oneState() async throws {
    try await TestService.run { service in
      let path = "/v1/regions/anywhere/state?subject=front-desk"
      let before = try await service.request("GET", path).json
      #expect(before["state"].string == "unknown" && before["since"].value == nil)
      try await service.receive(minor: 7)
      try await service.committed(about: "front-desk")
      let state = try await service.request("GET", path).json
      #expect(state["application"].string == "gallery" && state["region"].string == "anywhere")
      #expect(state["state"].string == "inside" && state["lastKnown"].string == "inside")
      #expect(state["since"].string != nil && state["since"].string == state["enteredAt"].string)
      #expect(state["evidence"]["rule"].string == "samples")
      let tag = try await service.request("GET", "/v1/regions/tags/state?subject=\(String.galleryUUID)/1/7")
        .json
      #expect(tag["state"].string == "inside" && tag["observer"].string == "front-desk")
      for (target, status) in [
        ("/v1/regions/anywhere/state", 400), ("/v1/regions/anywhere/state?subject=", 400),
        ("/v1/regions/none/state?subject=front-desk", 404), (path + "&application=gallery", 200),
        (path + "&application=none", 404),
      ] {
        #expect(try await service.request("GET", target).status == status, "\(target)")
      }
      let body = #"{"uuid":"\#(String.galleryUUID)"}"#
      #expect(
        try await service.request("PUT", "/v1/applications/shop/regions/anywhere", body: body).status == 201
      )
      #expect(try await service.request("GET", path).status == 400, "two applications have such a region")
      #expect(try await service.request("GET", path + "&application=shop").status == 200)
    }
  }

  @Test("a located subject is outside of every area that is far, and its state says since when")
  func farAreas() async throws {
    try await TestService.run { service in
      func region(_ latitude: Double) -> String {
        #"{"kind":"circle","latitude":\#(latitude),"longitude":11.5,"radius":"10m"}"#
      }
      for (name, latitude) in [("yard", 48.1), ("dock", 48.2), ("mill", 48.3)] {
        let path = "/v1/applications/shop/regions/\(name)"
        #expect(try await service.request("PUT", path, body: region(latitude)).status == 201)
      }
      let fix =
        #"{"observer":"walker","fix":{"latitude":48.1,"longitude":11.5,"accuracy":2,"altitude":500,"source":"gnss"}}"#
      for _ in 0..<6 {
        #expect(try await service.request("POST", "/v1/adverts", body: fix).status == 202)
        service.time.pass(seconds: 1)
      }
      try await service.committed([.regionsOutside], about: "walker")
      let yard = try await service.request("GET", "/v1/regions/yard/state?subject=walker").json
      #expect(yard["state"].string == "inside" && yard["evidence"]["geofence"]["fixes"].integer != nil)
      for name in ["dock", "mill"] {
        let state = try await service.request("GET", "/v1/regions/\(name)/state?subject=walker").json
        #expect(state["state"].string == "outside" && state["region"].string == name)
        #expect(state["since"].string != nil && state["evidence"]["rule"].string == "elsewhere")
        let other = try await service.request("GET", "/v1/regions/\(name)/state?subject=unheard").json
        #expect(other["state"].string == "unknown" && other["since"].value == nil)
      }
      let record = try await service.request(
        "GET",
        "/v1/applications/shop/regions/dock/record?subject=walker"
      )
      #expect(try record.json["state"].string == "unsatisfied")
      let states = try await service.request("GET", "/v1/applications/shop/states").json["states"]
      #expect(states.elements.compactMap { $0["region"].string } == ["yard"])
    }
  }

  @Test("an application learns the states of its own regions, and of subjects that it may learn of")
  func ownStates() async throws {
    try await TestService.run { service in
      try await service.receive(minor: 7)
      try await service.committed(about: "front-desk")
      let now = service.backend.clock()
      var (own, other) = (service, service)
      own.token = try service.backend.tokens.create(name: "g", role: .application("gallery"), at: now).secret
      other.token = try service.backend.tokens.create(name: "s", role: .application("shop"), at: now).secret
      let path = "/v1/regions/anywhere/state?subject=front-desk"
      #expect(try await own.request("GET", path).json["state"].string == "inside")
      #expect(try await own.request("GET", path + "&application=shop").status == 403)
      #expect(try await other.request("GET", path).status == 404)
      let purpose = try service.backend.authorisations.settingPurpose("To greet you.", application: "gallery")
      try service.backend.journal.carryOut(purpose)
      let decision = "/v1/applications/gallery/authorisations/front-desk"
      #expect(
        try await service.request("PUT", decision, body: #"{"state":"denied"}"#).status == 200
      )
      let hidden = try await own.request("GET", path)
      let unknown = try await own.request("GET", "/v1/regions/anywhere/state?subject=unheard")
      #expect(hidden.status == 200 && hidden.text == unknown.text)
    }
  }

  @Test("a ranging request that is removed is no longer listed")
  func removedRanging() async throws {
    try await TestService.run { service in
      let request = #"{"uuid":"\#(String.galleryUUID)","major":1}"#
      let path = "/v1/applications/shop/ranging/near"
      #expect(try await service.request("PUT", path, body: request).status == 201)
      try await service.committed([.ranging], about: "front-desk", in: "shop", hearing: 7)
      let target = "/v1/ranging?application=shop"
      #expect(try await service.request("GET", target).json["ranging"].elements.count == 1)
      #expect(try await service.request("DELETE", path).status == 204)
      #expect(try await service.request("GET", target).json["ranging"].elements.isEmpty)
    }
  }

  @Test("a state that is asked for comes as an event, as does one when the display is turned on")
  func answers() async throws {
    try await TestService.run(isLive: true) { service in
      try await service.receive(minor: 7)
      try await service.committed(about: "front-desk")
      let before = service.backend.journal.head
      let path = "/v1/applications/gallery/regions/anywhere/requestState"
      #expect(
        try await service.request("POST", path, body: #"{"subject":"front-desk"}"#).status == 202
      )
      #expect(try await service.request("POST", "/v1/observers/front-desk/displayOn").status == 202)
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let target = "/v1/events?kind=pharos.region.state&subject=front-desk&after=\(before)"
        let head = service.head("GET", target, headers: ["Accept": "application/x-ndjson"])
        try await connection.send(head)
        _ = try await connection.head()
        var answers = 0
        while answers < 2, let chunk = try await connection.chunk() {
          for line in chunk.split(separator: UInt8(ascii: "\n")) {
            if try JSON(Array(line))["event"]["data"]["answer"].bool == true { answers += 1 }
          }
        }
        #expect(answers == 2)
      }
      for body in [#"{}"#, #"{"subject":""}"#, #"{"subject":7}"#, #"{"subject":"a","of":1}"#] {
        #expect(try await service.request("POST", path, body: body).status == 422)
      }
      let unknown = "/v1/applications/gallery/regions/none/requestState"
      #expect(try await service.request("POST", unknown, body: #"{"subject":"a"}"#).status == 404)
    }
  }

  @Test("an application that asks for states too often is refused with a time to wait")
  func stateRequestRate() async throws {
    try await TestService.run { service in
      let path = "/v1/applications/gallery/regions/anywhere/requestState"
      var statuses: [Int] = []
      var wait: String?
      for _ in 0..<200 where wait == nil {
        let answer = try await service.request("POST", path, body: #"{"subject":"front-desk"}"#)
        statuses.append(answer.status)
        wait = answer.headers["retry-after"]
      }
      #expect(wait == "1")
      #expect(statuses.last == 429 && statuses.dropLast().allSatisfy { $0 == 202 })
      #expect(statuses.count > 50)
    }
  }

  @Test("observers, tracks, zones, tags and what is heard say what was heard")
  func hearing() async throws {
    try await TestService.run(isLive: true) { service in
      try await service.receive(minor: 7)
      let outsider =
        #"{"observer":"front-desk","mac":"c0:00:00:00:00:99","rssi":-70,"data":"02010604097879"}"#
      #expect(try await service.request("POST", "/v1/adverts", body: outsider).status == 202)
      try await service.committed(about: "front-desk")
      let observers = try await service.request("GET", "/v1/observers").json["observers"]
      #expect(observers[0]["id"].string == "front-desk")
      #expect(observers[0]["name"].string == "front desk")
      #expect(observers[0]["isUp"].bool == true)
      #expect(observers[0]["source"].string?.hasPrefix("127.0.0.1") == true)
      #expect(try await service.request("GET", "/v1/observers/front-desk").status == 200)
      #expect(try await service.request("GET", "/v1/observers/unknown").status == 404)
      let tracks = try await service.request("GET", "/v1/tracks?observer=front-desk").json["tracks"]
      #expect(tracks.elements.count == 1)
      #expect(
        tracks[0]["regions"].elements.compactMap { $0["region"].string }.sorted() == [
          "anywhere", "tags",
        ]
      )
      let heard = try await service.request("GET", "/v1/heard").json["beacons"]
      #expect(heard.elements.count == 2)
      let outsiders = try await service.request("GET", "/v1/heard?unregistered=true").json[
        "beacons"
      ]
      #expect(outsiders.elements.count == 1)
      #expect(outsiders[0]["address"].string == nil)
      #expect(outsiders[0]["pseudonym"].string?.hasPrefix("~") == true)
      #expect(outsiders[0]["registered"].bool == false)
      let zones = try await service.request("GET", "/v1/zones").json["zones"]
      #expect(zones[0]["id"].string == "lobby")
      #expect(
        try await service.request("GET", "/v1/tags").json["tags"].elements.allSatisfy {
          $0["beacon"].string != nil
        }
      )
      let fixes = try await service.request("GET", "/v1/fixes")
      #expect(fixes.text == #"{"fixes":[],"next":null}"#)
    }
  }

  @Test("datagrams are counted of an observer that numbers them, and not of others")
  func datagramCounts() async throws {
    try await TestService.run { service in
      try await service.receive(minor: 7)
      let advert = #"{"mac":"c0:00:00:00:00:07","rssi":-60,"data":"020106"}"#
      let numbered = #"{"observer":"roof","bootId":1,"sequence":1,"uptime":5000,"adverts":[\#(advert)]}"#
      #expect(try await service.request("POST", "/v1/adverts", body: numbered).status == 202)
      let plain = try await service.request("GET", "/v1/observers/front-desk").json
      #expect(plain["adverts"].integer == 1)
      #expect(plain["datagrams"].value == nil)
      #expect(plain["lostDatagrams"].value == nil)
      #expect(plain["lossShare"].value == nil)
      #expect(try await service.request("GET", "/v1/observers/roof").json["datagrams"].integer == 1)
    }
  }

  @Test(
    "a datagram that is none is refused with its reason, and counted",
    arguments: [
      ("nonsense", "unrecognised", "unrecognised"),
      ("{\"observer\":\"a\"}", "nothing_understood", "nothingUnderstood"),
      ("{", "bad_text", "badText"),
      ("{\"rssi\":-60,\"mac\":\"c0:00:00:00:00:99\"}", "no_observer", "noObserver"),
    ]
  )
  func badAdverts(body: String, reason: String, problem: String) async throws {
    try await TestService.run { service in
      let answer = try await service.request("POST", "/v1/adverts", body: body)
      #expect(answer.status == 400)
      #expect(try answer.json["type"].string == "urn:pharos:problem:\(problem)")
      let status = try await service.request("GET", "/v1/status").json["ingest"]
      #expect(status["refused"].integer == 1)
      #expect(status["refusals"][0]["reason"].string == reason)
    }
  }

  @Test("without a token a datagram is taken by the site's policy, and with one it needs no signature")
  func policy() async throws {
    try await TestService.run(policy: .signed) { service in
      var own = service
      own.token = try service.backend.tokens.create(name: "own", role: .operator, at: service.backend.clock())
        .secret
      let body = #"{"observer":"a","displayOn":true}"#
      let refused = try await service.request("POST", "/v1/adverts", body: body)
      #expect(refused.status == 400)
      #expect(try refused.json["type"].string == "urn:pharos:problem:notSigned")
      #expect(try await own.request("POST", "/v1/adverts", body: body).status == 202)
    }
  }

  @Test("a body may be longer than a datagram, and one bad element costs itself")
  func largeBatches() async throws {
    let devices = (0..<1_000).map { number in
      let address = String(number + 0x1000, radix: 16)
      return
        #"{"mac":"C3000000\#(address)","rssi":-61,"rawData":"0201061AFF4C000215E2C56DB5DFFB48D2B060D0F5A71096E000010007C5"}"#
    }
    let body = #"[{"type":"Gateway","mac":"AC233FC0FFEE"},\#(devices.joined(separator: ",")),{"mac":""}]"#
    #expect(body.utf8.count > 65_507)
    try await TestService.run { service in
      let answer = try await service.request("POST", "/v1/adverts", body: body)
      #expect(answer.status == 202)
      #expect(try answer.json["reports"].integer == 1_001)
      #expect(try answer.json["skipped"].integer == 1)
      let status = try await service.request("GET", "/v1/status").json["ingest"]
      #expect(status["skips"][0]["reason"].string == "bad_identity")
      #expect(status["refusedSources"][0]["skipped"].integer == 1)
      let huge = String(repeating: " ", count: 1 << 20) + body
      #expect(try await service.request("POST", "/v1/adverts", body: huge).status == 413)
    }
  }

  @Test("an unlisted observer waits in quarantine until it is accepted")
  func quarantine() async throws {
    var site = Site.gallery
    site.admission = .listed
    try await TestService.run(site: site) { service in
      try await service.receive(minor: 7, by: "unknown")
      try await service.committed([.observerQuarantined], about: "unknown")
      let waiting = try await service.request("GET", "/v1/quarantine").json["observers"]
      #expect(waiting[0]["id"].string == "unknown")
      #expect(waiting[0]["reports"].integer == 1)
      #expect(try await service.request("POST", "/v1/observers/unknown/accept").status == 202)
      try await service.receive(minor: 7, by: "unknown")
      try await service.committed(about: "unknown")
      #expect(service.backend.owner.site.observers.contains { $0.id.description == "unknown" })
    }
  }
}
