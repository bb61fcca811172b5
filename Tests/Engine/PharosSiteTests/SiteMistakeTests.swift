import PharosDocuments
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

@Suite("A site file that is wrong")
struct SiteMistakeTests {
  /// What `check` would print for a text.
  static func problems(_ text: String) -> [String] {
    do {
      return try SiteFile.parse(text, path: "site.yaml").warnings.map { $0.text(in: "site.yaml") }
    } catch {
      return error.problems.map { $0.text(in: "site.yaml") }
    }
  }

  @Test(
    "a measured power that none can be is a mistake, with the powers that can",
    arguments: ["58", "0", "-128", "20"]
  )
  func measuredPower(power: String) {
    let text = "beacons:\n  - { mac: \"c0:00:00:00:00:01\", measuredPower: \(power) }"
    let problems = SiteMistakeTests.problems(text)
    #expect(problems.count == 1)
    #expect(problems.first?.hasPrefix("site.yaml:2: ") == true)
    let expected = "measuredPower is \"\(power)\" (expected a number from -127 to -1 dBm)"
    #expect(problems.first?.hasSuffix(expected) == true)
  }

  @Test(
    "each mistake is reported in one line with its number",
    arguments: [
      (
        "regions:\n  - { id: lobby, mac: \"c0:00:00:00:00:01\",\n      enter: { rssi: -75 }, exit: { rssi: -70 } }",
        "site.yaml:3: region \"lobby\": exit.rssi (-70 dBm) must be under enter.rssi (-75 dBm)"
      ),
      (
        "regions:\n  - id: a\n    uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0\n    majr: 3",
        "site.yaml:4: region \"a\": unknown key \"majr\"; did you mean \"major\"? (expected one of id, kind, subject, "
          + "observers, uuid, major, minor, namespace, instance, mac, key, enter, exit, notifyOnEntry, "
          + "notifyOnExit, notifyEntryStateOnDisplay, maximumHold, title, description, address, picture, link, "
          + "properties)"
      ),
      (
        "regions:\n  - { id: a, mac: \"c0:00:00:00:00:01\",\n      enter: { distance: 3m }, exit: { distance: 3m } }",
        "site.yaml:3: region \"a\": exit.distance (3m) must be beyond enter.distance (3m)"
      ),
      (
        "regions:\n  - { id: a, mac: \"c0:00:00:00:00:01\", enter: { distance: 3 } }",
        "site.yaml:2: region \"a\": enter: distance is \"3\" (expected a distance in metres with its unit, "
          + "as in 3m or 2.5m)"
      ),
      (
        "zones:\n  - { id: a, observers: [desk], floor: ground }",
        "site.yaml:2: zone \"a\": floor is \"ground\" (expected a whole number from -20 to 200)"
      ),
      (
        "regions:\n  - { id: a, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 70000 }",
        "site.yaml:2: region \"a\": major is \"70000\" (expected a whole number from 0 to 65535)"
      ),
      (
        "regions:\n  - { id: a, uuid: E2C56DB5 }",
        "site.yaml:2: region \"a\": uuid is \"E2C56DB5\" (expected 32 hexadecimal digits, as in "
          + "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0)"
      ),
      (
        "regions:\n  - { id: a, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, minor: 7 }",
        "site.yaml:2: region \"a\": minor is set without major (expected a major as well)"
      ),
      (
        "regions:\n  - { id: a }",
        "site.yaml:2: region \"a\": no uuid, namespace or mac says which beacons are meant (expected exactly one "
          + "of uuid, namespace and mac)"
      ),
      (
        "regions:\n  - { mac: \"c0:00:00:00:00:01\" }",
        "site.yaml:2: region 1: id is missing (expected the region's name)"
      ),
      (
        "regions:\n  - { id: a, mac: \"c0:00:00:00:00:01\" }\n  - { id: a, mac: \"c0:00:00:00:00:02\" }",
        "site.yaml:3: region \"a\": this id is already in use (expected each region of an application once)"
      ),
      (
        "regions:\n  - { id: a, mac: 11:22:33:44:55:06 }",
        "site.yaml:2: region \"a\": mac 11:22:33:44:55:06 is a number to YAML (expected quotes around it: "
          + "\"11:22:33:44:55:06\")"
      ),
      (
        "observers:\n  - { id: 112233445566 }",
        "site.yaml:2: observer \"112233445566\": id 112233445566 is a number to YAML (expected quotes around it: "
          + "\"112233445566\")"
      ),
      (
        "observers:\n  - { id: ac:23:3f:a0:00:01 }",
        "site.yaml:2: warning: observer \"ac:23:3f:a0:00:01\": id ac:23:3f:a0:00:01 is set without quotes; YAML "
          + "reads some addresses as numbers (expected \"ac:23:3f:a0:00:01\")"
      ),
      (
        "observers:\n  - { id: \"ac:23:3f:a0:00:01\", lag: 500 }",
        "site.yaml:2: observer \"ac:23:3f:a0:00:01\": lag is \"500\" (expected a time with a unit, from 0s to "
          + "10m)"
      ),
      (
        "ingest: { policy: signed }",
        "site.yaml:1: warning: site: signatures are asked for, and there is no data folder to keep keys in: every "
          + "gateway is refused unless --data gives one (expected data, and pharos observer add for each gateway)"
      ),
      (
        "data: d\nlisten: { udp: [\"0.0.0.0:1\", { address: \"[::]:2\", policy: signed }] }",
        "site.yaml:2: warning: site: 0.0.0.0:1 accepts datagrams from any sender, even under the names of observers that sign "
          + "elsewhere (expected policy: allowlist or signed there, or an address of this machine alone)"
      ),
      (
        "listen: { udp: [{ policy: signed }] }",
        "site.yaml:1: listen.udp: address is missing (expected HOST:PORT, as in \"127.0.0.1:50001\" or "
          + "\"[::]:50001\")"
      ),
      (
        "listen: { udp: [{ address: \"[::1]:2\", policy: singed }] }",
        "site.yaml:1: listen.udp: policy is \"singed\"; did you mean \"signed\"? (expected open, allowlist or "
          + "signed)"
      ),
      (
        "ingest: { policy: opne }",
        "site.yaml:1: ingest: policy is \"opne\"; did you mean \"open\"? (expected open, "
          + "allowlist or signed)"
      ),
      (
        "ingest: { policy: allowlist }",
        "site.yaml:1: warning: ingest: policy allowlist, and no observer is listed: each is quarantined until it is "
          + "accepted (expected observers, or pharos observer accept for each)"
      ),
      (
        "webhooks: []",
        "site.yaml:1: site: webhooks carry secrets and are made over HTTP: POST /v1/webhooks (expected no such key)"
      ),
      (
        "listen: { mqtt: { broker: \"mqtt://me:secret@10.0.0.2\" } }",
        "site.yaml:1: listen: mqtt: broker is no address of a broker (expected mqtt://HOST or mqtts://HOST, with "
          + ":PORT if it is another than 1883 or 8883, and without a user)"
      ),
      (
        "listen: { mqtt: { topics: [\"#\"] } }",
        "site.yaml:1: listen: mqtt: broker is missing (expected mqtt://HOST or mqtts://HOST, with "
          + ":PORT if it is another than 1883 or 8883, and without a user)"
      ),
      (
        "listen: { mqtt: { broker: \"mqtt://10.0.0.2\", password: secret } }",
        "site.yaml:1: listen: mqtt: unknown key \"password\" (expected one of broker, ca, username, passwordFile, "
          + "passwordVariable, clientID, topics, policy)"
      ),
      (
        "listen:\n  mqtt:\n    broker: \"mqtt://10.0.0.2\"\n    topics: [\"home/#/x\"]",
        "site.yaml:4: listen: mqtt: topics has \"home/#/x\" (expected a topic filter, as in home/+/BTtoMQTT/#)"
      ),
      (
        "data: d\ningest: { policy: signed }\nlisten: { mqtt: { broker: \"mqtt://10.0.0.2\" } }",
        "site.yaml:3: site: MQTT messages carry no signature, so that policy signed refuses each of them (expected "
          + "listen.mqtt.policy: allowlist or open, and credentials for each gateway at the broker)"
      ),
      (
        "publish: { mqtt: { broker: \"mqtt://10.0.0.2\", ca: ca.pem } }",
        "site.yaml:1: publish: mqtt: ca stands with mqtt://, which uses no TLS (expected mqtts://, or no such key)"
      ),
      (
        "publish:\n  mqtt:\n    broker: \"mqtts://10.0.0.2\"\n    passwordFile: secret",
        "site.yaml:4: publish: mqtt: passwordFile is set without username (expected a username as well)"
      ),
      (
        "publish: { mqtt: { broker: \"mqtt://h\", username: u, passwordFile: f, passwordVariable: V } }",
        "site.yaml:1: publish: mqtt: passwordFile and passwordVariable both say where the password is (expected one "
          + "of them)"
      ),
      (
        "publish: { mqtt: { broker: \"mqtt://h\", prefix: a/+ } }",
        "site.yaml:1: publish: mqtt: prefix is \"a/+\" (expected a topic without wildcards, as in pharos)"
      ),
      (
        "listen: { http: here }",
        "site.yaml:1: listen: http is \"here\" (expected HOST:PORT, as in \"127.0.0.1:8080\")"
      ),
      (
        "listen: { allowedOrigins: [https://floor.example.org/map] }",
        "site.yaml:1: listen: allowedOrigins has \"https://floor.example.org/map\" (expected an origin without a "
          + "path, as in \"https://floor.example.org\")"
      ),
      (
        "listen: { allowedHosts: [pharos.local:8080] }",
        "site.yaml:1: listen: allowedHosts has \"pharos.local:8080\" (expected a host name without port, as in "
          + "\"pharos.local\")"
      ),
      (
        "listen: { http: \"127.0.0.1:1\" }\ntls: { certificate: a.pem }",
        "site.yaml:2: tls: key is missing (expected the path of a PEM file)"
      ),
      (
        "data: d\njournal: { retention: { size: 5 } }",
        "site.yaml:2: journal: retention: size is \"5\" (expected a size, as in 500MB or 10GB)"
      ),
      (
        "journal: { retention: { size: 1GB } }",
        "site.yaml:1: warning: site: journal is set without data: it is used only where --data gives the folder"
      ),
      (
        "applications: [{ id: a, purpose: \"  \" }]",
        "site.yaml:1: application \"a\": purpose is empty (expected what the application wants to know where people "
          + "are for)"
      ),
      (
        "applications: [{ id: a }]\nobservers: [{ id: phone, person: true }]",
        "site.yaml:1: warning: site: application \"a\" has no purpose, so it cannot be authorised to learn "
          + "about persons (expected a purpose: what the application wants to know where people are for)"
      ),
      (
        "listen: { udp: [\"127.0.0.1\"] }",
        "site.yaml:1: listen: udp has \"127.0.0.1\" (expected HOST:PORT, as in \"127.0.0.1:50001\" or "
          + "\"[::]:50001\")"
      ),
      (
        "zones:\n  - { id: lobby, observers: [desk], adjacent: [hal] }\n  - { id: hall, observers: [arch] }",
        "site.yaml:2: zone \"lobby\" is adjacent to \"hal\", which is no zone; did you mean \"hall\"? (expected a "
          + "zone of this file)"
      ),
      (
        "observers: [{ id: desk }]\nregions:\n  - id: a\n    mac: \"c0:00:00:00:00:01\"\n    subject: beacon\n"
          + "    observers: [dessk]",
        "site.yaml:6: region \"a\": observer \"dessk\" is not listed under observers; did you mean \"desk\"? "
          + "(expected an observer of the list, or no list at all)"
      ),
      (
        "regions:\n  - { id: a, mac: \"c0:00:00:00:00:01\", observers: [desk] }",
        "site.yaml:2: region \"a\": observers are listed, and the region is about observers (expected subject: "
          + "beacon with it)"
      ),
      (
        "zones:\n  - { id: lobby, observers: [desk, arch] }\n  - { id: hall, observers: [arch, desk] }\n"
          + "  - { id: yard, observers: [arch], beacons: [{ mac: \"c0:00:00:00:00:01\" }] }",
        "site.yaml:3: warning: zone \"hall\": its observers are those of zone \"lobby\", so no tag can be located in one "
          + "rather than the other (expected an observer of its own in each zone)"
      ),
      (
        "positioning: { interval: 2s }",
        "site.yaml:1: warning: site: positioning is set without venues: nothing is located"
      ),
      (
        "venues:\n  - { folder: mall, nearMe: \"https://example.org\" }",
        "site.yaml:2: venue \"mall\": nearMe is set without visitors: true (expected both, or neither)"
      ),
      (
        "venues:\n  - { visitors: true }",
        "site.yaml:2: venue 1: folder is missing (expected the path of a venue's folder)"
      ),
      (
        "venues: [venues/museum/]\npositioning: { interval: 10ms }",
        "site.yaml:2: positioning: interval is \"10ms\" (expected a time with a unit, from 250ms to 1h)"
      ),
      (
        "venues: [venues/museum/]\npositioning: { lag: 1h }",
        "site.yaml:2: positioning: lag is \"1h\" (expected a time with a unit, from 0s to 30s)"
      ),
      (
        "venues: [venues/museum/]\npositioning: { particles: 7 }",
        "site.yaml:2: positioning: particles is \"7\" (expected a whole number from 50 to 2000)"
      ),
      (
        "venues: [venues/museum/]\npositioning: { speed: 7 }",
        "site.yaml:2: positioning: unknown key \"speed\" (expected one of interval, lag, particles, simulated, tags)"
      ),
      (
        "applications:\n  - id: default\nregions:\n  - { id: a, mac: \"c0:00:00:00:00:01\" }",
        "site.yaml:2: application \"default\": regions at the top level are this application's too (expected its "
          + "regions in one place)"
      ),
      (
        "stream: a\nstream: b",
        "site.yaml:1: the mapping that starts here has a key twice: \"stream\" (expected each key once)"
      ),
      (
        "regions: 5",
        "site.yaml:1: site: regions is \"5\" (expected a list of regions: regions: [{ id: … }])"
      ),
      (
        "region: []",
        "site.yaml:1: site: unknown key \"region\"; did you mean \"regions\"? (expected one of stream, listen, publish, "
          + "tls, data, journal, ingest, applications, regions, ranging, rotation, observers, beacons, zones, venues, "
          + "positioning, visits, iBeaconCompanies, pathLossExponent)"
      ),
      (
        "minor: 3",
        "site.yaml:1: site: \"minor\" belongs under regions, ranging or beacons (expected regions: [{ minor: … }], "
          + "ranging: [{ minor: … }] or beacons: [{ minor: … }])"
      ),
      ("- a\n- b", "site.yaml:1: site is a list (expected keys and values)"),
      (
        "regions:\n  - { id: a, mac: \"c0:00:00:00:00:01\", exit: { silence: soon } }",
        "site.yaml:2: region \"a\": exit: silence is \"soon\" (expected adaptive, never or a time such as 30s)"
      ),
      (
        "regions:\n  - { id: a, mac: \"c0:00:00:00:00:01\", exit: { rssi: -90 } }",
        "site.yaml:2: warning: region \"a\": exit.rssi (-90 dBm) without enter.rssi: a weak beacon enters by its "
          + "samples and leaves by its level, again and again (expected an enter.rssi above it)"
      ),
    ]
  )
  func oneMistake(text: String, line: String) {
    #expect(SiteMistakeTests.problems(text) == [line])
  }

  @Test("the 21st region is named with the limit")
  func regionLimit() {
    let regions = (1...22).map { "  - { id: r\($0), mac: \"c0:00:00:00:00:01\" }" }
    #expect(
      SiteMistakeTests.problems("regions:\n" + regions.joined(separator: "\n")) == [
        "site.yaml:22: application \"default\" has 22 regions; this is the first above its limit of 20 (expected "
          + "at most 20; use a rotation for a larger set)"
      ]
    )
  }

  @Test(
    "each mistake says where in the tree it is",
    arguments: [
      (
        "regions:\n  - { id: a, mac: \"c0:00:00:00:00:01\", enter: { samples: 0 } }",
        "regions[0].enter.samples"
      ),
      ("applications:\n  - { id: a }\n  - { id: b, regions: [{ id: x }] }", "applications[1].regions[0]"),
      ("applications:\n  - { id: a, ranging: [{ uuid: x }] }", "applications[0].ranging[0].uuid"),
      ("zones:\n  - { id: a, observers: [b], adjacent: [c] }", "zones[0].adjacent[0]"),
      ("observers: [{ id: d }]\nzones:\n  - { id: a, observers: [b] }", "zones[0].observers[0]"),
      ("listen: { udp: [\"127.0.0.1:1\", x] }", "listen.udp[1]"),
      ("iBeaconCompanies: [1, x]", "iBeaconCompanies[1]"),
      ("frobnicate: 1", "frobnicate"),
      ("tokens: []", "tokens"),
    ]
  )
  func fields(text: String, field: String) throws {
    #expect {
      _ = try SiteFile.parse(text, path: "site.yaml")
    } throws: { error in
      (error as? DocumentError)?.problems.map(\.field) == [field]
    }
  }

  @Test("all mistakes come together, in the order of their lines")
  func allTogether() {
    let text = """
      zones: [{ id: z }]
      regions:
        - { id: a }
        - { id: b, uuid: nonsense, frobnicate: 1 }
      pathLossExponent: nine
      """
    #expect(
      SiteMistakeTests.problems(text).map { $0.prefix(12) } == [
        "site.yaml:1:", "site.yaml:3:", "site.yaml:4:", "site.yaml:4:", "site.yaml:5:",
      ]
    )
  }

  @Test("a mistake behind more warnings than are kept is still a mistake")
  func manyWarnings() {
    let observers = (10..<500).map { "  - { id: ac:23:3f:a0:\($0 / 100)0:\(10 + $0 % 90) }\n" }
    let problems = SiteMistakeTests.problems(
      "observers:\n" + Set(observers).sorted().joined() + "pathLossExponent: nine"
    )
    #expect(problems.count == 202)
    #expect(problems.last?.contains("more warnings beyond the first 200") == true)
    #expect(problems.dropLast().last?.contains("pathLossExponent is \"nine\"") == true)
  }

  @Test(
    "a mistake of YAML has a line of the file, and what to type",
    arguments: [
      ("regions:\n  - { id: a\n", 2, "} at the end"), ("venues: [a, b\n\n\n", 1, "] at the end"),
      ("stream: \"a\nvenues: [b]\n", 1, "a closing quote"),
      ("zones:\n  - id: a\n    name: Room: 2\n", 3, "quotes around the text: name: \"Room: 2\""),
      ("stream: @home\n", 1, "stream: \"@home\""), ("stream: *a\n", 1, "stream: \"*a\""),
      ("stream: %a\n", 1, "stream: \"%a\""), ("stream: `a\n", 1, "stream: \"`a\""),
      ("zones:\n  - id: a\n   name: b\n", 3, "4 spaces before name:, so that it stands below id"),
      ("zones:\n  - id: a\n      name: b\n", 3, "4 spaces before name:"),
      ("zones:\n  - id: a\n  name: b\n", 3, "one below the other"),
      ("regions:\n  - id:a\n    major: 1\n", 2, "id: a"),
      ("zones:\n  - id: a\n    name:b\n    floor: 1\n", 3, "name: b"),
      ("zones:\n  - id: a\n    adjacent: [*all]\n", 3, "quotes around a text that begins with *"),
      ("stream: a\n---\nstream: b\n", 2, "no --- behind its first line"),
      ("%YAML 1.1\nstream: a\n", 2, "no line that begins with %"),
    ]
  )
  func notYAML(text: String, line: Int, advice: String) throws {
    let problems = SiteMistakeTests.problems(text)
    #expect(problems.count == 1, "\(problems)")
    #expect(try #require(problems.first).hasPrefix("site.yaml:\(line): not YAML"), "\(problems)")
    #expect(try #require(problems.first).contains(advice), "\(problems)")
  }

  private static let uuid = "regions:\n  - { id: a, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  @Test(
    "a text that reads otherwise than it looks is named with its line and what to type",
    arguments: [
      ("zones:\n  - id: a\n    name: Room #2\n", 3, "name: \"Room #2\""),
      ("zones:\n  - id: a\n    name: Room # 2\n", 3, "name: \"Room # 2\""),
      ("zones:\n  - { id: a, name: Room #2, observers: [x] }\n", 2, "name: \"Room #2\""),
      (
        "zones:\n  - { id: a, floor: 2 #hall, observers: [x] }\n", 2,
        "\", observers: [x] }\" behind it is lost"
      ),
      (
        "regions: [{\n  id: a, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0,\n  exit: { silence: 30s #half, dwell: 5s\n } }]\n",
        3, "\", dwell: 5s\" behind it is lost"
      ),
      ("zones:\n  - id: a\n    name: \u{201C}Room\u{201D}\n", 3, "straight quotes: \"Room\""),
      ("zones:\n  - id: a\n\u{A0}   name: Room\n", 3, "U+00A0"),
      ("zones:\n  - id: a\n    name:\u{A0}Room\n", 3, "U+00A0"),
      ("zones:\n  - id: a\n    name: Room\u{A0}2\n", 3, "U+00A0"),
      ("zones:\n  \u{2013} id: a\n", 2, "a hyphen: -"),
      ("pathLossExponent: \u{2212}2\n", 1, "a hyphen before the number: -2"),
      ("allowedOrigins: [\"https://a.example\"]\n", 1, "listen: { allowedOrigins: … }"),
      ("policy: open\n", 1, "ingest: { policy: … }"),
      ("observers:\n  - { id: a, name: Hall }\n  - { id: b, name: hall }\n", 3, "\"a\" has this name, too"),
      ("observers:\n  - { id: Kitchen }\n  - { id: kitchen }\n", 3, "is \"Kitchen\" in another case"),
      (
        "observers:\n  - { id: \"ac:23:3f:a0:00:01\" }\n  - { id: \"01:00:a0:3f:23:ac\" }\n", 3,
        "with its octets in the reverse order"
      ),
      ("listen:\n  tls: { certificate: a, key: b }\n", 2, "belongs under the top level"),
      ("observers:\n  - id: a\n    name: 'Anna's desk'\n", 3, "expected \"Anna's desk\""),
      ("observers:\n  - { id: a, name: \"the \"small\" hall\" }\n", 2, "\"the \\\"small\\\" hall\""),
      ("zones:\n  - { id: a };\n", 2, "nothing behind }"),
      ("stream: a\n<<<<<<< HEAD\ndata: b\n=======\ndata: c\n>>>>>>> other\n", 2, "one of the two versions"),
      (
        "zones:\n  - &hall { id: a, floor: 1 }\n  - { <<: *hall, id: b }\n", 3,
        "its keys typed here: id: a, floor: 1"
      ),
      ("regions:\n  - { id:a }\n", 2, "a space behind the colon: id: a"),
      ("regions:\n  - id:a\n", 2, "keys and values: id: a"),
      ("stream = a\n", 1, "keys and values: stream: a"),
      (uuid + ", major: 010 }\n", 2, "expected 10, a whole number"),
      (uuid + ", major: 0x1F }\n", 2, "expected 31, a whole number"),
      (uuid + ", major: 1_000 }\n", 2, "expected 1000, a whole number"),
      (uuid + ", major: 7.0 }\n", 2, "expected 7, a whole number"),
      ("beacons:\n  - { name: a, measuredPower: -59 dBm }\n", 2, "expected -59, a number"),
      ("beacons:\n  - { name: a, measuredPower: -59,5 }\n", 2, "a point in a number: -59.5"),
      ("beacons:\n  - name: a\n    measuredPower: -59,5\n", 3, "expected -59.5, a number"),
      ("observers:\n  - { id: a, lag: 0.5 s }\n", 2, "expected 0.5s, a time"),
      ("listen: { http: 8080 }\n", 1, "expected \"127.0.0.1:8080\", HOST:PORT"),
      ("listen: { udp: [50001] }\n", 1, "expected \"127.0.0.1:50001\", HOST:PORT"),
      ("listen: { http: \"http://0.0.0.0:8080/\" }\n", 1, "expected \"0.0.0.0:8080\", HOST:PORT"),
      ("zones:\n  - { id: a, observers: [x], occupancy: 20 }\n", 2, "occupancy: { above: 20 }"),
      ("zones:\n  - { id: a, observers: [x], beacons: [door] }\n", 2, "{ uuid: …, major: …, minor: … }"),
      (
        "zones:\n  - { id: a, observers: [x], beacons: [E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7] }\n", 2,
        "{ uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 7 }"
      ),
      (
        "zones:\n  - id: a\n    observers: ac:23:3f:a0:00:01, hall\n", 3,
        "a list of observers: observers: [\"ac:23:3f:a0:00:01\", hall]"
      ),
      ("venues: venues/museum\n", 1, "venues: [venues/museum]"),
      ("zones:\n  hall:\n    observers: [x]\n", 1, "with a hyphen before each: - id: hall"),
      ("regions:\n  id: a\n", 1, "with a hyphen before the first key: - id: …"),
      ("zones:\n  - hall\n", 2, "keys and values: id: hall"),
      ("ingest: open\n", 1, "keys and values: policy: …"),
      ("observers:\n  - id: \"ac:23:3f:a0:00\"\n", 2, "looks like an address and is none"),
      ("zones:\n  - { id: a, observers: [\"ac:23:3f:a0:0O:01\"] }\n", 2, "six octets"),
      ("zones:\n  - { id: a, observers: [x] }\n", 1, "regions: [{ id: tags, subject: beacon, uuid: … }]"),
    ]
  )
  func traps(text: String, line: Int, advice: String) throws {
    var lines: [String]
    do {
      lines = try SiteFile.parse(text, path: "site.yaml").warnings.map { $0.text(in: "site.yaml") }
    } catch {
      lines = error.problems.map { $0.text(in: "site.yaml") }
    }
    #expect(lines.contains { $0.hasPrefix("site.yaml:\(line): ") && $0.contains(advice) }, "\(lines)")
  }

  @Test(
    "text that only resembles a trap is none",
    arguments: [
      "stream: it's", "stream: 'it''s'", "stream: \"a \\\"b\\\" c\"", "stream: a}b", "stream: a [b] c",
      "stream: http://a",
      "stream: \"010\"", "pathLossExponent: 2.0", "iBeaconCompanies: [0x004c]", "venues: [a] # b",
      "observers: [{ id: \"ac:23:3f:a0:00:01\" }]", "observers: [{ id: \"10:30\" }]",
    ]
  )
  func noTrap(text: String) throws {
    let warnings = try SiteFile.parse("\(text)\n", path: "site.yaml").warnings
    #expect(warnings.isEmpty, "\(warnings)")
  }

  @Test("a bracket that a comment hides is one mistake", arguments: ["name: Bed #4", "floor: 4 #ward"])
  func hiddenBracket(entry: String) {
    let problems = SiteMistakeTests.problems("zones:\n  - { id: a, \(entry) }\n")
    #expect(problems.count == 1 && problems[0].hasPrefix("site.yaml:2: # after a space"), "\(problems)")
  }

  @Test("each key that is written in another section is named with its own", arguments: Seeds.drawn(0..<200))
  func misplacedKey(seed: UInt64) throws {
    let sections: [(name: String, keys: String, text: String)] = [
      ("the top level", "stream data venues observers zones ingest journal", "KEY"),
      ("listen", "http allowedOrigins allowedHosts", "listen:\n  KEY"),
      ("listen.meraki", "validator secretFile secretVariable", "listen:\n  meraki:\n    KEY"),
      ("publish.mqtt", "prefix discovery homeAssistant", "publish:\n  mqtt:\n    broker: mqtt://a\n    KEY"),
      ("listen.mqtt", "topics policy", "listen:\n  mqtt:\n    broker: mqtt://a\n    KEY"),
      ("tls", "certificate", "tls:\n  KEY"), ("ingest", "policy", "ingest:\n  KEY"),
      ("journal.retention", "age size", "journal:\n  retention:\n    KEY"),
      ("regions", "notifyEntryStateOnDisplay observers", "regions:\n  - id: a\n    KEY"),
      ("enter", "samples within rssi distance", "regions:\n  - id: a\n    enter:\n      KEY"),
      ("exit", "silence ceiling falseExitsPerDay rssi distance", "regions:\n  - id: a\n    exit:\n      KEY"),
      ("observers", "rssiOffset liveness lag", "observers:\n  - id: a\n    KEY"),
      ("beacons", "irk measuredPower interval", "beacons:\n  - mac: a\n    KEY"),
      ("zones", "adjacent occupancy observers", "zones:\n  - id: a\n    KEY"),
      ("positioning", "particles interval lag", "positioning:\n  KEY"), ("visits", "hold", "visits:\n  KEY"),
    ]
    var random = SeededGenerator(seed: seed)
    let home = try #require(sections.randomElement(using: &random))
    let key = try #require(home.keys.split(separator: " ").randomElement(using: &random))
    let others = sections.filter { !$0.keys.split(separator: " ").contains(key) }
    let place = try #require(others.randomElement(using: &random))
    let text = place.text.replacing("KEY", with: "\(key): 1")
    let line = text.split(separator: "\n").count
    let problems = SiteMistakeTests.problems(text + "\n")
    let found =
      problems.first { $0.hasPrefix("site.yaml:\(line): ") && $0.contains("\"\(key)\"") } ?? "\(problems)"
    // A key near to one of the section is taken for that first, and some keys stand in several sections.
    let names = found.split(separator: " (expected").first.map(String.init) ?? ""
    let homes = sections.filter { $0.keys.split(separator: " ").contains(key) }.map(\.name)
    let isNamed = names.contains("belongs under") && homes.contains { names.contains($0) }
    #expect(isNamed || names.contains("did you mean"), "\(found)")
  }

  @Test(
    "true and false are read in every spelling of YAML 1.1 and 1.2 without quotes, and no others are",
    arguments: ["true", "false", "yes", "no", "on", "off", "y", "n"].enumerated().map { ($0, $1) }
  )
  func flags(index: Int, word: String) throws {
    func isPerson(_ text: String) -> Bool? {
      guard let read = try? SiteFile.parse("observers: [{ id: a, person: \(text) }]", path: "site.yaml")
      else {
        return nil
      }
      return !read.access.personObservers.isEmpty
    }
    for spelling in [word, word.uppercased(), word.prefix(1).uppercased() + word.dropFirst()] {
      #expect(isPerson(spelling) == (index % 2 == 0), "\(spelling)")
      #expect(isPerson("\"\(spelling)\"") == (["true", "false"].contains(spelling) ? index == 0 : nil))
    }
    #expect(isPerson("\(word)x") == nil)
    if word.count > 1 { #expect(isPerson(word.prefix(1) + word.dropFirst().uppercased()) == nil) }
  }

  @Test(
    "comments, quoted texts and other uses of such characters are no traps",
    arguments: [
      "stream: hall # the name of all", "stream: \"hall #2\"", "stream: a#b", "#stream: hall #2",
      "iBeaconCompanies: [76] #short", "pathLossExponent: 2 #indoors", "zones: [] #none",
      "iBeaconCompanies:\n  - 76 #short", "stream: Anna\u{2019}s",
      "iBeaconCompanies: [\n  76, # short, of Apple\n  89 # see [1]\n]",
      "iBeaconCompanies: [76, 89] #short, of Apple",
    ]
  )
  func noTraps(text: String) throws {
    #expect(try SiteFile.parse(text + "\n", path: "site.yaml").warnings.isEmpty)
  }

  @Test(
    "a tab in the indentation is named as a tab",
    arguments: ["\tid: b", "  \t- { id: b }", "\t- { id: b }"]
  )
  func tab(line: String) {
    #expect(
      SiteMistakeTests.problems("stream: a\nzones:\n\(line)\n") == [
        "site.yaml:3: the line is indented with a tab (expected spaces, since YAML takes no tab there)"
      ]
    )
  }

  @Test("bytes that are no text name the line of the damage")
  func notUTF8() {
    #expect {
      _ = try SiteFile.parse(bytes: Array("stream: a\n# ".utf8) + [0xFF, 0xFE], path: "site.yaml")
    } throws: { error in
      "\(error)" == "site.yaml:2: not UTF-8 (expected a text file in UTF-8)"
    }
    // PowerShell writes what a program prints in UTF-16.
    #expect {
      _ = try SiteFile.parse(bytes: [0xFF, 0xFE, 0x61, 0, 0x3A, 0], path: "site.yaml")
    } throws: { error in
      "\(error)"
        == "site.yaml:1: not UTF-8 (expected a text file in UTF-8; this is UTF-16: save it with the encoding UTF-8)"
    }
  }

  @Test("a rotation nested without end, or multiplied by aliases, is refused and nothing hangs")
  func rotationBombs() {
    let node = "region: { id: r, mac: \"c0:00:00:00:00:01\" }"
    let deep = String(repeating: "{ \(node), children: [", count: 40) + String(repeating: "]}", count: 40)
    #expect(
      SiteMistakeTests.problems("rotation: [\(deep)]").contains { $0.contains("deeper than 16 levels") }
    )
    var bomb = "iBeaconCompanies: [1]\nrotation:\n  - &a0 { \(node) }\n"
    for level in 1...12 {
      let copies = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      bomb += "  - &a\(level) { \(node), children: [\(copies)] }\n"
    }
    #expect(!SiteMistakeTests.problems(bomb).isEmpty)
  }

  @Test("no damaged file crashes the reader", arguments: Seeds.drawn(0..<20))
  func fuzz(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let text = StarterSite.text
    let alphabet = Array("{}[]:,\"'-&*#\n\t |>!%@`0aé".unicodeScalars)
    for _ in 0..<40 {
      var scalars = Array(text.unicodeScalars)
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let at = Int.random(in: 0..<scalars.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: scalars.remove(at: at)
        case 1: scalars[at] = alphabet.randomElement(using: &random) ?? "x"
        default: scalars.insert(alphabet.randomElement(using: &random) ?? "x", at: at)
        }
      }
      let damaged = String(String.UnicodeScalarView(scalars))
      for problem in SiteMistakeTests.problems(damaged) { #expect(problem.hasPrefix("site.yaml:")) }
    }
  }
}
