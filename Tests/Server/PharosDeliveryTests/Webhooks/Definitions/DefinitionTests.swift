import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import Testing

/// What webhooks may be, and how deliveries are signed.
@Suite("Webhook definitions")
struct DefinitionTests {
  @Test("a signature is that of the example in Standard Webhooks")
  func signature() throws {
    let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    let signature = secret.signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: 1_614_265_330,
      body: json("{\"test\": 2432232314}")
    )
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test("secrets are made long enough, read back, and hidden")
  func secrets() {
    let secret = WebhookSecret()
    #expect(WebhookSecret(secret.revealed) == secret)
    #expect(secret != WebhookSecret())
    #expect(!"\(secret)".contains(secret.revealed.dropFirst(10)))
    var dumped = ""
    dump(secret, to: &dumped)
    #expect(!dumped.contains("bytes"))
    for text in ["", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!!"] {
      #expect(WebhookSecret(text) == nil, "\(text)")
    }
  }

  @Test(
    "receivers on the premises are allowed",
    arguments: [
      "http://192.168.1.20:8080/hook", "https://example.org", "http://localhost:9000/",
      "http://[fd12::5]/x?y=1",
      "http://127.0.0.1:8081/",
    ]
  )
  func allowed(url: String) {
    #expect(WebhookTarget.problem(with: url, ownPorts: [8080]) == nil)
  }

  @Test(
    "a URL that points a webhook at its own network is refused with a reason",
    arguments: [
      ("ftp://example.org/", "http://"), ("example.org", "http://"), ("", "http://"),
      ("https://user:pass@example.org/", "signed"), ("https://example.org/#top", "#"),
      ("http://169.254.169.254/latest", "credentials"), ("http://2852039166/", "credentials"),
      ("http://0xa9fea9fe/", "credentials"), ("http://0251.0376.0251.0376/", "credentials"),
      ("http://[::ffff:169.254.169.254]/", "credentials"),
      ("http://metadata.google.internal./", "credentials"),
      ("http://[fd00:ec2:0::254]/", "credentials"), ("http://168.63.129.16/", "credentials"),
      ("http://169.254.1.1/", "credentials"), ("http://[64:ff9b::a9fe:a9fe]/", "credentials"),
      ("http://[2002:a9fe:a9fe::1]/", "credentials"), ("http://[::169.254.169.254]/", "credentials"),
      ("http://[64:ff9b:1::a9fe:a9fe]/", "credentials"), ("http://[::ffff:0:a9fe:a9fe]/", "credentials"),
      ("http://[2001:0:1234::5601:5601]/", "credentials"), ("http://[fe80::1]/", "link-local"),
      ("http://[fe80::1%25eth0]/", "link-local"), ("http://224.0.0.1/", "single machine"),
      ("http://[ff02::1]/", "single machine"),
      ("http://[::ffff:127.0.0.1]:8080/", "itself"), ("http://[::]:8080/", "itself"),
      ("http://127.0.0.1:8080/v1/adverts", "itself"), ("http://localhost:8080/", "itself"),
      ("http://127.1:8080/", "itself"), ("http://[::1]:8080/", "itself"), ("http://0:8080/", "itself"),
      ("http://:80/", "address"), ("http://a b/", "address"), ("http://example.org:99999/", "port"),
    ]
  )
  func refused(url: String, reason: String) {
    let problem = WebhookTarget.problem(with: url, ownPorts: [8080])
    #expect(problem?.field == "url")
    let words = "\(problem?.message ?? "") \(problem?.expected ?? "")"
    #expect(words.contains(reason), "\(words)")
  }

  @Test(
    "mistakes of a document are reported member by member",
    arguments: [
      ("{}", ["url"]), ("nonsense", [""]), ("7", [""]),
      (#"{"url": 7}"#, ["url"]),
      (#"{"url": "https://a.example", "colour": "red"}"#, ["colour"]),
      (#"{"url": "https://a.example", "concurrency": 65}"#, ["concurrency"]),
      (#"{"url": "https://a.example", "concurrency": 1.5}"#, ["concurrency"]),
      (#"{"url": "https://a.example", "secret": "hush"}"#, ["secret"]),
      (#"{"url": "https://a.example", "deferral": {}}"#, ["deferral.time"]),
      (#"{"url": "https://a.example", "deferral": {"time": 0}}"#, ["deferral.time"]),
      (#"{"url": "https://a.example", "deferral": {"distance": "20m"}}"#, ["deferral.distance"]),
      (
        #"{"url": "https://a.example", "deferral": {"time": 9, "maximumCount": 257}}"#,
        ["deferral.maximumCount"]
      ),
      (
        #"{"url": "https://a.example", "filter": {"kinds": ["ranging", "region.enter"]}}"#,
        ["filter.kinds[0]"]
      ),
      (#"{"url": "https://a.example", "filter": {"kinds": []}}"#, ["filter.kinds"]),
      (#"{"url": "https://a.example", "filter": {"subject": ["x"]}}"#, ["filter.subject"]),
    ]
  )
  func mistakes(document: String, fields: [String]) throws {
    let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream), clock: StandingClock())
    let error = #expect(throws: WebhookError.self) { try house.webhooks.create(json: json(document)) }
    guard case .invalid(let problems)? = error else { return }
    #expect(problems.map(\.field) == fields)
    #expect(problems.allSatisfy { !$0.message.isEmpty && $0.expected?.isEmpty == false })
    #expect(house.webhooks.list().isEmpty)
  }

  @Test("a deferral is read back, stated in listings, and absent from what older versions wrote")
  func deferral() throws {
    let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream), clock: StandingClock())
    let document = #"{"url": "https://a.example/", "deferral": {"distance": 20.5, "maximumCount": 7}}"#
    let made = try house.webhooks.create(json: json(document)).standing
    let rule = DeliveryDeferral(time: .minutes(60), distance: 20.5, maximumCount: 7)
    #expect(made.definition.deferral == rule)
    let again = try WebhookHouse(house.journal, clock: StandingClock())
    #expect(again.webhooks.list().map(\.definition) == [made.definition])
    var text = JSONText()
    text.openObject()
    made.write(to: &text)
    text.closeObject()
    #expect(text.text.contains(#""deferral":{"time":3600,"distance":20.5,"maximumCount":7}"#), "\(text.text)")
    let limits: [(document: String, rule: DeliveryDeferral)] = [
      (#"{"time": 9}"#, DeliveryDeferral(time: .seconds(9))),
      (#"{"distance": 9}"#, DeliveryDeferral(distance: 9)),
      (#"{"maximumCount": 9}"#, DeliveryDeferral(maximumCount: 9)),
    ]
    for (number, limit) in limits.enumerated() {
      let alone = #"{"url": "https://a.example/\#(number)", "deferral": \#(limit.document)}"#
      #expect(try house.webhooks.create(json: json(alone)).standing.definition.deferral == limit.rule)
    }
    var former = made.definition
    former.deferral = nil
    #expect(former.encoded.count < made.definition.encoded.count)
    #expect(try WebhookDefinition(encoded: former.encoded) == former)
    let id = made.definition.id
    _ = try house.webhooks.replace(id, json: json(#"{"url": "https://a.example/"}"#))
    #expect(house.webhooks.list().first { $0.definition.id == id }?.definition.deferral == nil)
  }

  @Test("a definition is read back from its bytes, and damaged bytes are refused without harm")
  func fields() throws {
    var definition = WebhookDefinition(
      id: "wh_1",
      url: "https://example.org/",
      summary: "ours",
      application: "gallery",
      filter: EventFilter(
        kinds: [.regionEnter, .notification],
        regions: ["a", "b"],
        subjects: [Samples.subject(1)],
        observers: [.name("door")]
      ),
      concurrency: 3,
      isEnabled: false,
      createdAt: Samples.start,
      startsAfter: 42
    )
    definition.formerSecret = WebhookSecret()
    definition.rotatesAt = Samples.start + .seconds(5)
    definition.disabledBecause = "410"
    var writer = FieldWriter()
    definition.write(to: &writer)
    var reader = FieldReader(writer.bytes[...])
    #expect(try WebhookDefinition(from: &reader) == definition)
    try reader.finish()
    for index in writer.bytes.indices {
      var bytes = writer.bytes
      bytes[index] ^= 0x41
      var reader = FieldReader(bytes[...])
      _ = try? WebhookDefinition(from: &reader)
      var cut = FieldReader(writer.bytes[..<index])
      #expect(throws: FieldError.self) { try WebhookDefinition(from: &cut) }
    }
  }
}
