import Foundation
import PharosHTTP
import PharosJournal
import PharosModel
import PharosMQTT
import PharosTestSupport
import Testing

/// A broker and a journal in memory, with an outbox between them.
struct OutboxBench {
  var outbox: MQTTOutbox
  /// The events of the journal, whose sequences count from 1.
  var journal: [Event]
  /// What the broker has retained.
  var retained: [String: String] = [:]
  /// Every message that the broker took, in order.
  var accepted: [MQTTMessage] = []
  /// The messages that the broker has not acknowledged.
  var unacknowledged: [MQTTPacketID] = []
  var subscribed: [String] = []
  private var packet: MQTTPacketID = 0
  private var connections = 0

  init(
    _ journal: [Event] = [],
    cursor: Int64 = 0,
    site: Site = Samples.site,
    names: MQTTNames = Samples.names,
    states: PublishedState? = nil,
    settings: MQTTOutboxSettings = MQTTOutboxSettings()
  ) {
    self.journal = journal
    let known = states ?? StateTable(after: journal).state
    outbox = MQTTOutbox(
      names: names,
      version: "1",
      site: site,
      cursor: cursor,
      states: known,
      through: Int64(journal.count),
      settings: settings
    )
  }

  var topics: [String] { accepted.map(\.topic) }

  /// Connects; the broker lists what it has retained, unless it refuses to.
  mutating func connect(listing: Bool = true) {
    connections += 1
    outbox.connected(token: "t\(connections)", at: Samples.start)
    unacknowledged = []
    subscribed = []
    carryOut()
    guard listing else { return outbox.advance(to: Samples.start + .seconds(11)) }
    for (topic, payload) in retained.sorted(by: { $0.key < $1.key }) {
      outbox.received(topic, payload: Array(payload.utf8), isRetained: true)
    }
    outbox.received(Samples.names.marker("t\(connections)"), payload: [1], isRetained: false)
  }

  /// Loses the connection, and what the broker had taken without acknowledging it.
  mutating func disconnect() {
    outbox.disconnected()
    unacknowledged = []
  }

  /// Publishes all there is; acknowledges at most so many messages.
  mutating func run(acknowledging limit: Int = .max) {
    var acknowledged = 0
    while true {
      if let (after, limit) = outbox.nextRead, after < journal.count {
        let page = journal.enumerated().dropFirst(Int(after)).prefix(limit)
        outbox.load(page.map { (Int64($0.offset + 1), $0.element) }, through: after + Int64(page.count))
      }
      carryOut()
      if let (after, _) = outbox.nextRead, after < journal.count { continue }
      guard acknowledged < limit, !unacknowledged.isEmpty else { return }
      outbox.acknowledged(unacknowledged.removeFirst())
      acknowledged += 1
    }
  }

  mutating func carryOut() {
    while let action = outbox.next() {
      switch action {
      case .subscribe(let filters): subscribed += filters
      case .unsubscribe(let filters): subscribed.removeAll { filters.contains($0) }
      case .publish(let message):
        packet += 1
        outbox.sent(packet)
        unacknowledged.append(packet)
        accepted.append(message)
        guard message.isRetained else { continue }
        retained[message.topic] =
          message.payload.isEmpty ? nil : String(decoding: message.payload, as: UTF8.self)
      }
    }
  }

  /// The topics of what the broker has retained of subjects and observers, in order.
  var retainedTopics: [String] { retained.keys.filter { !OutboxBench.server.contains($0) }.sorted() }

  /// The topics of the server itself.
  static let server: Set = ["pharos/status", "homeassistant/binary_sensor/pharos/server/config"]

  /// The payloads of all messages that the broker took.
  var published: [String] { accepted.map { String(decoding: $0.payload, as: UTF8.self) } }

  /// The time of a second after the start.
  func time(_ second: Int) -> Timestamp { Samples.start + .seconds(Double(second)) }

  /// Takes a live event and advances the outbox to its time.
  mutating func receive(_ event: Event) {
    outbox.receive(live: event, at: event.time)
    outbox.advance(to: event.time)
  }

  /// The ids of the events in the messages of a subject's region, in order.
  func events(on topic: String) -> [String] {
    accepted.filter { $0.topic == topic }.compactMap { message in
      String(decoding: message.payload, as: UTF8.self).split(separator: "\"event\":\"").dropFirst().first
        .map { String($0.prefix(32)) }
    }
  }
}

@Suite("The outbox of a broker")
struct MQTTOutboxTests {
  private static let cat = "e2c56db5-dffb-48d2-b060-d0f5a71096e0_1_7"
  private static let house = "pharos/region/default/house/\(cat)"

  /// Every journey of four states, with a restart of the whole server before and after each of them.
  ///
  /// The machine that decides, the reducer of events, the rows of the journal, the cache that HTTP reads and what the
  /// broker retains must agree.
  @Test(
    "a region stands the same in the library, in SQL, over HTTP and over MQTT, after every journey and restart"
  )
  func journeys() throws {
    let states: [RegionState] = [.unknown, .inside, .outside, .unmonitored]
    let uuid = try #require(Samples.cat.uuid)
    let tags = (0..<256).map { BeaconID.proximity(uuid, major: 1, minor: UInt16($0)) }
    for restart in 0...4 {
      var machines = tags.map { _ in RegionMachine(assuming: .unknown, since: .distantPast) }
      func events(_ steps: Range<Int>) -> [Event] {
        steps.flatMap { step in
          tags.indices.compactMap { place in
            let next = states[place >> (2 * step) & 3]
            // Late reports give a change the time of an earlier step.
            let second = Int64(10 * step + 10 - (step % 2 == 1 && place % 3 == 0 ? 15 : 0))
            return machines[place].change(to: next, at: Samples.start + .seconds(Double(second)))
              .map { Samples.state($0, tags[place], step: step) }
          }
        }
      }
      let folder = FileManager.default.temporaryDirectory.appending(path: "journeys-\(UUID().uuidString)")
        .path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let before = events(0..<restart)
      do {
        let journal = try Journal.open(.folder(folder), stream: "pharos")
        _ = try journal.append(before.map { .init(event: $0) })
      }
      let journal = try Journal.open(.folder(folder), stream: "pharos")
      let known = try journal.publishedState()
      var cache = StateCache()
      cache.reset(to: known)
      var bench = OutboxBench(before, cursor: Int64(before.count), states: known)
      bench.connect()
      for (place, tag) in tags.enumerated() {
        machines[place] = RegionMachine(assuming: .unknown, since: .distantPast)
        let record = known.regions.first { $0.region == "house" && $0.subject == .beacon(tag) }
        record?.restore(&machines[place])
      }
      let after = events(restart..<4)
      _ = try journal.append(after.map { .init(event: $0) })
      for event in after { cache.record(event) }
      bench.journal += after
      bench.run()
      let rows = try journal.publishedState()
      let reduced = StateTable(after: before + after).state
      #expect(rows == reduced)
      #expect(cache.rows(of: "default").sorted() == reduced.regions)
      for (place, tag) in tags.enumerated() where place != 0 {
        let name = "\(place), restart \(restart)"
        let record = reduced.regions.first { $0.region == "house" && $0.subject == .beacon(tag) }
        let known = try #require(record, "\(name)")
        #expect(known.state == machines[place].state, "\(name)")
        #expect(known.lastKnown == machines[place].lastKnown, "\(name)")
        #expect(known.enteredAt == machines[place].enteredAt, "\(name)")
        #expect(known.time == machines[place].changedAt, "\(name)")
        let topic = Self.house.replacing(/_7$/, with: "_\(place)")
        let text = try #require(bench.retained[topic], "\(name)")
        #expect(text.contains("\"state\":\"\(known.state.name)\""), "\(name)")
        let entered = known.enteredAt.map { "\"enteredAt\":\"\($0.rfc3339)\"" }
        #expect(entered.map(text.contains) ?? !text.contains("enteredAt"), "\(name): \(text)")
      }
    }
  }

  @Test("a connection lists, announces, says that it is online and publishes the states; then the events")
  func firstConnection() {
    var bench = OutboxBench([Samples.observer(.observerOnline)], cursor: 1)
    bench.connect()
    #expect(bench.subscribed == Samples.names.ownFilters)
    bench.journal += [Samples.state(.inside), Samples.zone(.zoneEnter, "kitchen", second: 1)]
    bench.run()
    #expect(bench.subscribed == ["homeassistant/status"])
    #expect(
      bench.topics == [
        "pharos/session/t1", "homeassistant/binary_sensor/pharos/server/config",
        "homeassistant/binary_sensor/pharos/ac_23_3f_a0_00_01_connectivity/config",
        "pharos/status", "pharos/observer/ac_23_3f_a0_00_01",
        "homeassistant/device_tracker/pharos/\(Self.cat)/config",
        "homeassistant/binary_sensor/pharos/\(Self.cat)_default_house/config", Self.house,
        "pharos/location/\(Self.cat)", "pharos/subject/\(Self.cat)",
        "homeassistant/sensor/pharos/\(Self.cat)_room/config",
        "homeassistant/sensor/pharos/\(Self.cat)_last_room/config",
        "homeassistant/sensor/pharos/\(Self.cat)_last_room_since/config", Self.house,
        "pharos/location/\(Self.cat)", "pharos/subject/\(Self.cat)", "pharos/last-room/\(Self.cat)",
      ]
    )
    #expect(bench.retained["pharos/status"] == "online")
    #expect(
      bench.retained["pharos/observer/ac_23_3f_a0_00_01"]
        == #"{"up":true,"observer":"ac:23:3f:a0:00:01","observerName":"kitchen gateway","room":"Kitchen","time":"2026-01-01T00:00:00.000000000Z"}"#
    )
    let subject = bench.retained["pharos/subject/\(Self.cat)"] ?? ""
    #expect(
      subject.hasPrefix(
        #"{"location":"Kitchen","subject":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7","name":"Minka","room":"Kitchen","zone":"kitchen","zoneState":"inside","inside":["default/house"],"in_zones":["zone.home","Kitchen"],"time""#
      )
    )
    #expect(bench.outbox.cursor == 3)
    #expect(bench.outbox.delivered == 2)
    #expect(bench.outbox.isIdle)
  }

  @Test("a location is the room, else home in any region, away outside all, and unknown otherwise")
  func locations() {
    func location(_ events: [Event]) -> String {
      var bench = OutboxBench(site: Samples.site)
      bench.journal = events
      bench.connect()
      bench.run()
      let word = bench.retained["pharos/location/\(Self.cat)"] ?? ""
      let document = bench.retained["pharos/subject/\(Self.cat)"] ?? ""
      #expect(document.hasPrefix(#"{"location":"\#(word)","#))
      // What later versions of Home Assistant decide the state by says the same as the text.
      let zones = ["None": nil, "not_home": "[]", "home": #"["zone.home"]"#]
      let wanted = zones[word, default: #"["zone.home","\#(word)"]"#]
      #expect(document.contains(#""in_zones":"#) == (wanted != nil))
      if let wanted { #expect(document.contains(#""in_zones":\#(wanted),"#)) }
      return word
    }
    let inside = Samples.state(.inside)
    #expect(location([inside]) == "home")
    #expect(location([inside, Samples.state(.outside, from: .inside, second: 1)]) == "not_home")
    #expect(location([inside, Samples.state(.unmonitored, from: .inside, second: 1)]) == "None")
    let garden = Samples.state(.outside, region: "Garden", second: 1)
    #expect(location([garden]) == "not_home")
    #expect(location([garden, inside]) == "home")
    #expect(location([Samples.zone(.zoneEnter, "hall"), garden]) == "hall")
    let change = [Samples.zone(.zoneEnter, "hall"), Samples.zone(.zoneEnter, "kitchen", second: 1)]
    #expect(location(change + [Samples.zone(.zoneExit, "hall", second: 2)]) == "Kitchen")
    #expect(location(change + [Samples.zone(.zoneExit, "kitchen", second: 2)]) == "None")
    #expect(location([Samples.zone(.zoneEnter, "attic"), inside]) == "home")
  }

  @Test("a change of rooms is one change of the location")
  func changeOfRooms() {
    var bench = OutboxBench()
    bench.journal = [
      Samples.state(.inside), Samples.zone(.zoneEnter, "kitchen", second: 1),
      Samples.zone(.zoneExit, "kitchen", to: "hall", second: 2), Samples.zone(.zoneEnter, "hall", second: 2),
      Samples.zone(.zoneExit, "hall", second: 3),
    ]
    bench.connect()
    bench.run()
    let words = bench.accepted.filter { $0.topic == "pharos/location/\(Self.cat)" }
      .map { String(decoding: $0.payload, as: UTF8.self) }
    #expect(words == ["home", "Kitchen", "hall", "home"])
    #expect(bench.outbox.cursor == 5)
  }

  @Test(
    "the cursor follows the acknowledgements, and what has none is published again on the next connection"
  )
  func cursor() {
    var bench = OutboxBench()
    bench.journal = (0..<10).map { Samples.state($0 % 2 == 0 ? .inside : .outside, second: $0) }
    bench.connect()
    // The marker, the documents of the server, the tracker and the presence, and the availability come before the messages
    // of the events, three for each.
    bench.run(acknowledging: 5 + 3 * 3 + 1)
    #expect(bench.outbox.cursor == 3)
    bench.disconnect()
    #expect(!bench.outbox.isOnline)
    bench.accepted = []
    bench.connect()
    bench.run()
    let expected = bench.journal.dropFirst(3).map(\.id.description)
    // The state at the cursor is published before the events that follow.
    #expect(bench.events(on: Self.house) == [bench.journal[2].id.description] + expected)
    #expect(bench.outbox.cursor == 10)
  }

  @Test("an answer to a question changes nothing and holds nothing up")
  func answers() {
    var bench = OutboxBench()
    bench.journal = [Samples.state(.inside), Samples.state(.inside, second: 1, isAnswer: true)]
    bench.connect()
    bench.run()
    #expect(bench.events(on: Self.house) == [bench.journal[0].id.description])
    #expect(bench.outbox.cursor == 2)
  }

  @Test("a broker that has forgotten everything gets the present states, not only the changes")
  func forgetfulBroker() {
    var bench = OutboxBench()
    bench.journal = [Samples.state(.inside), Samples.zone(.zoneEnter, "kitchen", second: 1)]
    bench.connect()
    bench.run()
    let before = bench.retained
    bench.disconnect()
    bench.retained = [:]
    bench.connect()
    bench.run()
    #expect(bench.retained == before)
  }

  @Test("after a restart, older events come before the present states, so that no state goes back")
  func restart() {
    let journal = [Samples.state(.inside), Samples.state(.outside, from: .inside, second: 1)]
    var bench = OutboxBench(journal, cursor: 0)
    bench.connect()
    bench.run()
    let house = bench.accepted.filter { $0.topic == Self.house }.map {
      String(decoding: $0.payload.prefix(18), as: UTF8.self)
    }
    #expect(house == [#"{"state":"inside","#, #"{"state":"outside""#, #"{"state":"outside""#])
    #expect(bench.outbox.cursor == 2)
  }

  @Test("retained messages of removed subjects and regions are deleted when the server connects")
  func stale() {
    var bench = OutboxBench([Samples.state(.inside)], cursor: 1)
    bench.retained = [
      "pharos/region/default/attic/\(Self.cat)": "{}", "pharos/subject/mac_00": "{}",
      "pharos/status": "offline",
      "homeassistant/binary_sensor/pharos/mac_00_default_house/config": "{}", Self.house: "{}",
    ]
    bench.connect()
    bench.run()
    #expect(
      Set(bench.retainedTopics) == [
        Self.house, "pharos/location/\(Self.cat)", "pharos/subject/\(Self.cat)",
        "homeassistant/device_tracker/pharos/\(Self.cat)/config",
        "homeassistant/binary_sensor/pharos/\(Self.cat)_default_house/config",
      ]
    )
    #expect(bench.retained["pharos/status"] == "online")
  }

  @Test("a restart keeps the distance entity of a beacon that is still ranged, without a distance")
  func distanceOverRestart() {
    let topic = "pharos/distance/\(Self.cat)"
    let config = "homeassistant/sensor/pharos/\(Self.cat)_distance/config"
    for isRanged in [true, false] {
      var site = Samples.site
      if isRanged, let region = site.applications[0].regions[0].constraint {
        site.applications[0].ranging = [RangingRequest(constraint: region)]
      }
      var bench = OutboxBench([Samples.state(.inside)], cursor: 1, site: site)
      bench.retained = [topic: #"{"distance":2}"#, config: "{}"]
      bench.connect()
      bench.run()
      #expect(bench.retained[config] == (isRanged ? "{}" : nil))
      #expect(bench.retained[topic]?.hasPrefix(#"{"distance":null,"#) == (isRanged ? true : nil))
      bench.outbox.withdraw { subject, _ in subject == .beacon(Samples.cat) }
      bench.run()
      #expect(bench.retainedTopics == [], "withdrawn after the restart")
    }
  }

  @Test(
    "a region that is removed while the server runs takes its entity and its state with it; a new name is announced"
  )
  func editedSite() {
    var bench = OutboxBench()
    bench.journal = [Samples.state(.inside), Samples.state(.inside, region: "Garden", second: 1)]
    bench.connect()
    bench.run()
    let garden = bench.retained.keys.filter { $0.contains("garden") }
    #expect(garden.count == 2)
    var site = Samples.site
    site.applications[0].regions.removeLast()
    site.beacons[0].name = "Luna"
    bench.outbox.update(site: site)
    bench.run()
    #expect(bench.retained.keys.filter { $0.contains("garden") } == [])
    #expect(bench.retained["pharos/subject/\(Self.cat)"]?.contains(#""inside":["default/house"]"#) == true)
    #expect(
      bench.retained["homeassistant/device_tracker/pharos/\(Self.cat)/config"]?.contains("Luna") == true
    )
    let count = bench.accepted.count
    bench.outbox.update(site: site)
    bench.run()
    #expect(bench.accepted.count == count)
  }

  @Test("Home Assistant's birth has everything announced and published once more; a retained one does not")
  func birth() {
    var bench = OutboxBench([Samples.state(.inside)], cursor: 1)
    bench.connect()
    bench.run()
    bench.journal += [
      Samples.observer(.observerOnline), Samples.zone(.zoneEnter, "kitchen", second: 1),
      Samples.event(.beaconBattery, detail: .battery(millivolts: 3_000, observer: Samples.gateway)),
    ]
    bench.run()
    bench.receive(Samples.ranging(2))
    bench.receive(Samples.fix)
    let heard = NearestObserver(observer: Samples.gateway, rssi: -60, lastHeard: Samples.start)
    bench.outbox.update(nearest: [Samples.cat: heard])
    bench.run()
    bench.accepted = []
    bench.outbox.received("homeassistant/status", payload: Array("online".utf8), isRetained: true)
    bench.outbox.received("homeassistant/status", payload: Array("offline".utf8), isRetained: false)
    bench.run()
    #expect(bench.accepted.isEmpty)
    let before = bench.retained
    bench.retained = [:]
    for _ in 1...2 {
      bench.accepted = []
      bench.outbox.received("homeassistant/status", payload: Array("online".utf8), isRetained: false)
      bench.run()
      // Each once, the documents before the states, and the device of the server before all that refer to it.
      #expect(bench.topics.count == Set(bench.topics).count)
      #expect(bench.retained == before.filter { $0.key != "pharos/status" })
      #expect(bench.topics.first == "homeassistant/binary_sensor/pharos/server/config")
      let documents = bench.topics.prefix { $0.hasSuffix("/config") }.count
      #expect(!bench.topics.dropFirst(documents).contains { $0.hasSuffix("/config") })
    }
  }

  @Test("a room whose observers are down stays the location, unmonitored")
  func unmonitoredRoom() {
    var bench = OutboxBench()
    bench.journal = [
      Samples.zone(.zoneEnter, "kitchen"), Samples.zone(.zoneUnmonitored, "kitchen", second: 1),
    ]
    bench.connect()
    bench.run()
    let topic = "pharos/subject/\(Self.cat)"
    let room =
      #""location":"Kitchen","subject":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7","name":"Minka","room":"Kitchen","zone":"kitchen""#
    #expect(bench.retained[topic]?.contains(room + #","zoneState":"unmonitored""#) == true)
    bench.journal.append(Samples.zone(.zoneMonitored, "kitchen", second: 2))
    bench.run()
    #expect(bench.retained[topic]?.contains(room + #","zoneState":"inside""#) == true)
  }

  @Test(
    "a state names the observer that hears the beacon best now, and is published again when that is another one"
  )
  func nearestObserver() {
    var bench = OutboxBench()
    bench.journal = [Samples.state(.inside)]
    bench.connect()
    bench.run()
    #expect(bench.outbox.beaconsInside == [Samples.cat])
    func receive(_ observer: String, _ rssi: Double) {
      bench.accepted = []
      let time = Timestamp(seconds: 1_767_225_660)
      bench.outbox.update(nearest: [
        Samples.cat: NearestObserver(observer: .name(observer), rssi: rssi, lastHeard: time)
      ])
      bench.run()
    }
    let nearest = "pharos/nearest/\(Self.cat)"
    receive("desk", -61)
    #expect(bench.topics.filter { !$0.hasSuffix("/config") } == [Self.house, nearest])
    #expect(
      bench.retained[nearest]
        == #"{"observer":"desk","rssi":-61,"lastHeard":"2026-01-01T00:01:00.000000000Z","subject":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7","name":"Minka"}"#
    )
    #expect(
      bench.retained[Self.house]?.contains(
        #""observer":"desk","nearest":{"observer":"desk","rssi":-61,"lastHeard":"2026-01-01T00:01:00.000000000Z"}"#
      ) == true
    )
    receive("desk", -65)
    #expect(bench.topics == [nearest])
    receive("desk", -65.3)
    #expect(bench.topics.isEmpty)
    receive("attic", -60)
    #expect(bench.topics == [Self.house, nearest])
    // Away from all of them, there is neither an observer nor a level.
    bench.outbox.update(nearest: [:])
    bench.run()
    #expect(bench.retained[nearest]?.hasPrefix(#"{"observer":null,"rssi":null,"#) == true)
    bench.accepted = []
    bench.outbox.update(nearest: [:])
    bench.run()
    #expect(bench.topics.isEmpty)
  }

  @Test("the last room and the time of its enter stay when the subject leaves, and over a restart")
  func lastRoom() {
    var bench = OutboxBench()
    bench.journal = [
      Samples.zone(.zoneEnter, "kitchen"), Samples.zone(.zoneExit, "kitchen", to: "hall", second: 2),
      Samples.zone(.zoneEnter, "hall", second: 2), Samples.zone(.zoneUnmonitored, "hall", second: 3),
      Samples.zone(.zoneMonitored, "hall", second: 4), Samples.zone(.zoneExit, "hall", second: 5),
    ]
    bench.connect()
    bench.run()
    let topic = "pharos/last-room/\(Self.cat)"
    let hall =
      #"{"room":"hall","zone":"hall","since":"2026-01-01T00:00:02.000000000Z","subject":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7","name":"Minka"}"#
    #expect(bench.retained[topic] == hall)
    #expect(bench.retained["pharos/subject/\(Self.cat)"]?.contains(#""room":null"#) == true)
    for suffix in ["room", "last_room", "last_room_since"] {
      #expect(bench.retained["homeassistant/sensor/pharos/\(Self.cat)_\(suffix)/config"] != nil)
    }
    var restarted = OutboxBench(bench.journal, cursor: 6)
    restarted.retained = bench.retained
    restarted.connect()
    restarted.run()
    #expect(restarted.retainedTopics == bench.retainedTopics)
    #expect(restarted.retained[topic] == bench.retained[topic])
    // A broker that has forgotten it gets what the journal knows of the present room.
    restarted = OutboxBench(Array(bench.journal.prefix(3)), cursor: 3)
    restarted.connect()
    restarted.run()
    #expect(restarted.retained[topic] == hall)
  }

  @Test("the floor is that of the zone, and that of fixes once there are some")
  func floors() {
    var site = Samples.site
    site.zones[0].floor = 2
    let config = "homeassistant/sensor/pharos/\(Self.cat)_floor/config"
    var bench = OutboxBench(site: site)
    bench.journal = [Samples.zone(.zoneEnter, "kitchen")]
    bench.connect()
    bench.run()
    #expect(bench.retained["pharos/subject/\(Self.cat)"]?.contains(#""level":2,"#) == true)
    #expect(bench.retained[config]?.contains(#""state_topic":"pharos/subject/\#(Self.cat)""#) == true)
    bench.receive(Samples.fix)
    bench.run()
    #expect(bench.retained[config]?.contains(#""state_topic":"pharos/fix/\#(Self.cat)""#) == true)
    #expect(bench.retained["pharos/fix/\(Self.cat)"]?.contains(#""floorName":"ground floor""#) == true)
    bench.outbox.update(site: Samples.site)
    bench.run()
    #expect(bench.retained[config]?.contains(#""state_topic":"pharos/fix/\#(Self.cat)""#) == true)
    // A zone without a floor makes no entity for it.
    bench = OutboxBench([Samples.zone(.zoneEnter, "kitchen")], cursor: 1)
    bench.connect()
    bench.run()
    #expect(bench.retained[config] == nil)
  }

  @Test("a notification is published once, and the broker keeps none for later subscribers")
  func notifications() {
    let cause = EventID(high: 0, low: 7)
    var detail = NotificationDetail(rule: "hello", occasion: .enter, text: "Hi Minka", cause: cause)
    detail.title = "House"
    let event = Samples.event(
      .notification,
      application: "default",
      region: "house",
      second: 1,
      detail: .notification(detail)
    )
    var bench = OutboxBench()
    bench.journal = [Samples.state(.inside), event]
    bench.connect()
    bench.run()
    let sent = bench.accepted.filter { $0.topic == "pharos/notification/default/hello" }
    #expect(sent.map(\.isRetained) == [false])
    #expect(sent.map(\.isAcknowledged) == [true])
    let text = sent.map { String(decoding: $0.payload, as: UTF8.self) }.first ?? ""
    let start = #"{"application":"default","rule":"hello","on":"enter","title":"House","text":"Hi Minka","#
    #expect(text.hasPrefix(start), "\(text)")
    #expect(bench.outbox.cursor == 2)
    bench.accepted = []
    bench.outbox.disconnected()
    bench.connect()
    bench.run()
    #expect(!bench.topics.contains("pharos/notification/default/hello"))
  }

  @Test("a battery is published as it is reported, stays over a restart, and goes with its beacon")
  func batteries() {
    let topic = "pharos/battery/\(Self.cat)"
    let report = Samples.event(
      .beaconBattery,
      second: 1,
      detail: .battery(millivolts: 2_980, observer: Samples.gateway)
    )
    var bench = OutboxBench()
    bench.journal = [Samples.state(.inside), report]
    bench.connect()
    bench.run()
    #expect(
      bench.retained[topic]
        == #"{"millivolts":2980,"subject":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7","name":"Minka","time":"2026-01-01T00:00:01.000000000Z"}"#
    )
    #expect(bench.outbox.cursor == 2)
    var restarted = OutboxBench(bench.journal, cursor: 2)
    restarted.retained = bench.retained
    restarted.connect()
    restarted.run()
    #expect(restarted.retainedTopics == bench.retainedTopics)
    #expect(restarted.retained[topic] == bench.retained[topic])
    restarted.outbox.withdraw { subject, _ in subject == .beacon(Samples.cat) }
    restarted.run()
    #expect(restarted.retainedTopics == [])
  }

  /// Whatever was published before, an edit leaves what a new server would publish of the edited site.
  @Test("no name, room or entity of a gateway, a zone or a beacon outlives its removal from the site")
  func editsLeaveNoNames() {
    for seed in 1...60 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var bench = OutboxBench()
      var events = [
        Samples.observer(.observerOnline), Samples.state(.inside, second: 1),
        Samples.zone(.zoneEnter, "kitchen", second: 2), Samples.state(.inside, region: "Garden", second: 3),
      ]
      if Bool.random(using: &random) { events.append(Samples.observer(.observerOffline, second: 4)) }
      if Bool.random(using: &random) { events.append(Samples.zone(.zoneExit, "kitchen", second: 5)) }
      bench.journal = events
      bench.connect()
      bench.run()
      if Bool.random(using: &random) {
        bench.receive(Samples.ranging(2))
        bench.receive(Samples.fix)
      }
      if Bool.random(using: &random) {
        let heard = NearestObserver(observer: Samples.gateway, rssi: -60, lastHeard: Samples.start)
        bench.outbox.update(nearest: [Samples.cat: heard])
      }
      bench.run()
      #expect(bench.retained.values.contains { $0.contains("kitchen gateway") }, "seed \(seed)")
      var site = Samples.site
      var gone: [String] = []
      if Bool.random(using: &random) {
        site.observers = []
        gone.append("kitchen gateway")
      }
      if Bool.random(using: &random) {
        site.zones.removeFirst()
        gone.append("Kitchen")
      }
      if Bool.random(using: &random) {
        site.beacons = []
        gone.append("Minka")
      }
      if Bool.random(using: &random), bench.outbox.isOnline {
        // What happens without a connection is made up for by the next one.
        bench.disconnect()
        bench.outbox.update(site: site)
        bench.connect()
      } else {
        bench.outbox.update(site: site)
      }
      bench.run()
      for name in gone {
        let left = bench.retained.filter { $0.value.contains("\"\(name)\"") }
        #expect(left.isEmpty, "seed \(seed): \(name) is left")
      }
      let gateway = bench.retained.keys.filter { $0.contains("ac_23_3f_a0_00_01") }
      #expect(gateway.isEmpty == site.observers.isEmpty, "seed \(seed)")
    }
  }

  @Test(
    "a gateway that was removed comes back under its identity when it is heard again, and not by a restart"
  )
  func removedGateway() {
    let state = "pharos/observer/ac_23_3f_a0_00_01"
    let config = "homeassistant/binary_sensor/pharos/ac_23_3f_a0_00_01_connectivity/config"
    var bench = OutboxBench([Samples.observer(.observerOnline)], cursor: 1)
    bench.connect()
    bench.run()
    #expect(bench.retained[config]?.contains("kitchen gateway") == true)
    var site = Samples.site
    site.observers = []
    bench.outbox.update(site: site)
    bench.journal.append(Samples.observer(.observerOffline, second: 1))
    bench.run()
    #expect(bench.retainedTopics == [])
    var restarted = OutboxBench(bench.journal, cursor: 2, site: site)
    restarted.connect()
    restarted.run()
    #expect(restarted.retainedTopics == [])
    bench.journal.append(Samples.observer(.observerOnline, second: 2))
    bench.run()
    #expect(bench.retainedTopics == [config, state])
    #expect(bench.retained[config]?.contains(#""name":"ac:23:3f:a0:00:01""#) == true)
  }

  @Test("a broker that refuses to list is published to all the same")
  func noListing() {
    var bench = OutboxBench([Samples.state(.inside)], cursor: 1)
    bench.connect(listing: false)
    bench.run()
    #expect(bench.retained["pharos/status"] == "online")
    #expect(bench.retained[Self.house] != nil)
  }

  @Test("of distances and fixes the newest waits, behind the decisions, and none survives its subject")
  func liveValues() {
    var bench = OutboxBench()
    bench.receive(Samples.ranging(2))
    bench.connect()
    bench.run()
    let topic = "pharos/distance/\(Self.cat)"
    #expect(bench.retained[topic]?.hasPrefix(#"{"distance":2,"#) == true)
    for second in 1...5 { bench.receive(Samples.ranging(Double(second), second: Int64(second))) }
    bench.receive(Samples.ranging(0.5, by: .name("desk"), second: 6))
    bench.outbox.receive(live: Samples.fix, at: Samples.start + .seconds(6))
    bench.accepted = []
    bench.journal = [Samples.state(.inside)]
    bench.run()
    #expect(bench.topics.filter { !$0.hasSuffix("/config") }.suffix(2) == [topic, "pharos/fix/\(Self.cat)"])
    #expect(bench.topics.contains("homeassistant/device_tracker/pharos/\(Self.cat)_position/config"))
    #expect(bench.accepted.suffix(2).allSatisfy { !$0.isAcknowledged })
    #expect(bench.retained[topic]?.contains(#""observer":"desk""#) == true)
    #expect(bench.retained["pharos/fix/\(Self.cat)"]?.contains(#""gps_accuracy":2.25"#) == true)
    let traces = SubjectTraces(Samples.cat.description)
    if let traces { bench.outbox.forget(traces) }
    bench.run()
    #expect(bench.retainedTopics == [])
  }

  @Test(
    "the distance of a beacon is that of the nearest observer that has determined one in the last ten seconds"
  )
  func nearestDistance() {
    var bench = OutboxBench()
    bench.connect()
    var values: [String] = []
    let topic = "pharos/distance/\(Self.cat)"
    // The kitchen hears the beacon at 2 m in every third second, the hall at 12 m in each.
    for second in 0..<60 {
      let near = second % 3 == 0 ? 2.0 : -1
      bench.outbox.receive(
        live: Samples.ranging(12, by: .name("hall"), second: Int64(second)),
        at: bench.time(second)
      )
      bench.receive(Samples.ranging(near, second: Int64(second)))
      bench.run()
      values.append(bench.retained[topic].map { String($0.prefix(15)) } ?? "")
    }
    #expect(Set(values) == [#"{"distance":2,""#])
    // It is published on change or once a minute, and then once more as the kitchen is not heard for ten seconds.
    #expect(bench.topics.count { $0 == topic } == 1)
    bench.accepted = []
    for second in 60..<80 {
      bench.receive(Samples.ranging(12.02, by: .name("hall"), second: Int64(second)))
      bench.run()
      values.append(bench.retained[topic].map { String($0.prefix(15)) } ?? "")
    }
    #expect(values[60..<67].allSatisfy { $0.hasPrefix(#"{"distance":2,"#) })
    #expect(values[67...].allSatisfy { $0.hasPrefix(#"{"distance":12"#) })
    #expect(bench.topics.count { $0 == topic } == 2)
    // Observers that no longer know a distance leave none, although no event says so.
    for second in 80..<89 {
      bench.outbox.advance(to: bench.time(second))
      bench.run()
      #expect(bench.retained[topic]?.hasPrefix(#"{"distance":12"#) == true)
    }
    #expect(bench.outbox.wakeTime == bench.time(89))
    bench.outbox.advance(to: bench.time(89))
    bench.run()
    #expect(bench.retained[topic]?.hasPrefix(#"{"distance":null,"#) == true)
    #expect(bench.outbox.wakeTime == nil)
  }

  @Test(
    "a distance that changes all the time is published once a second, however many observers hear the beacon"
  )
  func distanceRate() {
    var bench = OutboxBench()
    bench.connect()
    for step in 0..<100 {
      let event = Samples.ranging(5 + Double(step) / 7, by: .name("observer-\(step % 10)"))
      bench.outbox.receive(live: event, at: Samples.start + .milliseconds(Int64(step) * 100))
      bench.outbox.advance(to: Samples.start + .milliseconds(Int64(step) * 100))
      bench.run()
    }
    #expect(bench.topics.count { $0 == "pharos/distance/\(Self.cat)" } <= 10)
  }

  @Test("a fix without coordinates makes no position, and erasing its subject removes it all the same")
  func fixWithoutCoordinates() {
    var bench = OutboxBench()
    bench.connect()
    guard case .fix(var fix) = Samples.fix.detail else { return }
    (fix.latitude, fix.longitude) = (nil, nil)
    bench.outbox.receive(live: Samples.event(.fix, detail: .fix(fix)), at: Samples.start)
    bench.run()
    let floor = "homeassistant/sensor/pharos/\(Self.cat)_floor/config"
    #expect(bench.retainedTopics == [floor, "pharos/fix/\(Self.cat)"])
    // A sighting that is not published yet goes as well.
    bench.outbox.receive(live: Samples.ranging(2), at: Samples.start)
    if let traces = SubjectTraces(Samples.cat.description) { bench.outbox.forget(traces) }
    bench.outbox.advance(to: bench.time(5))
    bench.run()
    #expect(bench.retainedTopics == [])
  }

  @Test(
    "an event that may not be published is passed over, and a withdrawn authorisation removes what is retained"
  )
  func authorisations() {
    var bench = OutboxBench()
    bench.connect()
    bench.carryOut()
    bench.outbox.load([(1, nil)], through: 1)
    bench.run()
    #expect(bench.outbox.cursor == 1)
    #expect(bench.retainedTopics == [])
    for hidden in [SubjectID.beacon(Samples.cat), .observer(Samples.gateway)] {
      for isRunning in [true, false] {
        var bench = OutboxBench()
        bench.connect()
        bench.carryOut()
        let events = [
          Samples.observer(.observerOnline), Samples.state(.inside, second: 1),
          Samples.zone(.zoneEnter, "kitchen", second: 2),
        ]
        bench.outbox.load(events.enumerated().map { (Int64($0.offset + 1), $0.element) }, through: 3)
        bench.receive(Samples.ranging(2))
        if isRunning { bench.run() } else { bench.accepted = [] }
        bench.outbox.withdraw { subject, _ in subject == hidden }
        bench.journal = Array(repeating: Samples.state(.inside, isAnswer: true), count: 3)
        bench.run()
        #expect(bench.outbox.cursor == 3)
        let texts = bench.retained.map { "\($0.key) \($0.value)" } + (isRunning ? [] : bench.published)
        #expect(!texts.contains { $0.contains(hidden.description) }, "\(hidden)")
        #expect(!bench.retained.keys.contains { $0.contains(MQTTNames.level(hidden)) })
        #expect(bench.retained.keys.contains { $0.contains(Self.cat) } == (hidden != .beacon(Samples.cat)))
        let before = bench.retained
        bench.disconnect()
        bench.connect()
        bench.run()
        #expect(bench.retained == before)
      }
    }
  }

  @Test("a connection that takes nothing loses nothing")
  func refusals() {
    var bench = OutboxBench()
    bench.journal = [Samples.state(.inside)]
    bench.connect()
    bench.run(acknowledging: 0)
    bench.disconnect()
    bench.outbox.connected(token: "x", at: Samples.start)
    guard case .subscribe? = bench.outbox.next(), case .publish(let message)? = bench.outbox.next() else {
      Issue.record("no marker")
      return
    }
    #expect(bench.outbox.next() == nil)
    bench.outbox.refused()
    #expect(bench.outbox.next() == .publish(message))
    bench.outbox.sent(1)
    bench.outbox.acknowledged(77)
    #expect(bench.outbox.cursor == 0)
  }

  @Test("entities and messages are bounded")
  func bounds() {
    var settings = MQTTOutboxSettings()
    settings.entities = 3
    settings.window = 8
    settings.liveSubjects = 2
    var bench = OutboxBench(settings: settings)
    let tags = (1...20).map { BeaconID.address(DeviceAddress(bits: $0, kind: .unknown)) }
    bench.journal = tags.map { Samples.state(.inside, $0) }
    bench.connect()
    bench.carryOut()
    bench.run(acknowledging: 0)
    #expect(bench.unacknowledged.count == 8)
    bench.run()
    #expect(bench.retained.keys.filter { $0.hasSuffix("/config") }.count == 3)
    #expect(bench.outbox.hasUnannounced)
    #expect(bench.retained.keys.filter { $0.hasPrefix("pharos/region/") }.count == 20)
  }

  @Test(
    "after any failure each event arrives, in order for its subject, and the last states are right"
  )
  func brokenConnections() {
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let tags = [Samples.cat, Samples.keys]
      let journal = (0..<200).map { second -> Event in
        let tag = tags.randomElement(using: &random) ?? Samples.cat
        let state: RegionState = Bool.random(using: &random) ? .inside : .outside
        return Samples.state(state, tag, second: Int64(second))
      }
      var bench = OutboxBench(Array(journal.prefix(50)), cursor: Int64.random(in: 0...50, using: &random))
      bench.journal = journal
      let first = Int(bench.outbox.cursor)
      while bench.outbox.cursor < 200 {
        if Bool.random(using: &random) { bench.retained.removeAll() }
        bench.connect()
        bench.run(acknowledging: Int.random(in: 0...120, using: &random))
        bench.disconnect()
      }
      bench.retained = [:]
      bench.connect()
      bench.run()
      let removals = bench.accepted.filter { $0.payload.isEmpty }
      #expect(removals.isEmpty, "seed \(seed): what only later events explain was removed")
      for tag in tags {
        let topic = "pharos/region/default/house/\(MQTTNames.level(.beacon(tag)))"
        let wanted = journal.filter { $0.subject == .beacon(tag) }
        let missing = Set(wanted.filter { journal.firstIndex(of: $0) ?? 0 >= first }.map(\.id.description))
          .subtracting(bench.events(on: topic))
        #expect(missing.isEmpty, "seed \(seed)")
        guard case .region(let last)? = wanted.last?.detail else { continue }
        #expect(bench.retained[topic]?.hasPrefix("{\"state\":\"\(last.to.name)\"") == true, "seed \(seed)")
      }
    }
  }
}
