import FuzzWire
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

/// Layouts of makers, each with a vector made from its public description.
@Suite("Layouts of other makers' gateways")
struct VendorTests {
  private static let beacon = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010007c5"

  @Test("Cassia, MOKOSmart, Meraki, Aruba, April Brother, KKM and BlueUp in JSON")
  func json() {
    let expected: [[String]] = [
      [
        "cc:1b:e0:00:00:01 advert c3:00:00:0a:0b:0c/random -61 unknown [020106] received",
        "cc:1b:e0:00:00:01 advert c3:00:00:0a:0b:0c/random -61 scanResponse [03095461] received",
      ],
      ["ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0c/unknown -61 unknown [020106] sent 1760000000123000000"],
      ["ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0c/unknown -61 unknown [020106] received"],
      ["ac:23:3f:c0:ff:ee heartbeat - - 0 received"],
      [
        "a8:46:9d:00:00:01 heartbeat - - 0 received",
        "a8:46:9d:00:00:01 advert c3:00:00:0a:0b:0c/unknown -61 unknown [020106] received",
      ],
      [
        "20:4c:03:00:00:01 heartbeat - - 0 received",
        "20:4c:03:00:00:01 ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7 -61 - power -59 age 2000000000",
        "20:4c:03:00:00:01 advert c3:00:00:0a:0b:0d/unknown -70 unknown [] age 60000000000",
        "20:4c:03:00:00:01 ranged eddystone:00112233445566778899/aabbccddeeff - - received",
      ],
      [
        "ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0c/unknown -61 nonConnectable [020106] received",
        "ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0d/unknown -62 unknown [020106] received",
      ],
      ["ac:23:3f:c0:ff:ee heartbeat - - 0 received"],
      [
        "20:4c:03:00:00:01 heartbeat - - 0 received",
        "20:4c:03:00:00:01 ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7 -61 - age 2000000000",
        "20:4c:03:00:00:01 ranged eddystone:00112233445566778899/aabbccddeeff -61 - age 2000000000",
      ],
      ["20:4c:03:00:00:01 heartbeat - - 0 received"],
      [
        "ac:23:3f:c0:ff:ee heartbeat - - 0 received",
        "ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0c/unknown -61 unknown [020106] received",
        "ac:23:3f:c0:ff:ee ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7 -62 - power -59 received",
      ],
      ["ac:23:3f:c0:ff:ee heartbeat - - 0 received"],
      [
        "ac:23:3f:c0:ff:ee ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/0/7 -61 6.5 power -54 received",
        "ac:23:3f:c0:ff:ee ranged eddystone:00112233445566778899/aabbccddeeff -61 - received",
      ],
    ]
    for (sample, lines) in zip(Samples.vendorJSON, expected) { #expect(decoded(sample) == .success(lines)) }
    #expect(Samples.vendorJSON.count == expected.count)
  }

  @Test("an object or a list without anything holds no report and is not refused, by itself alone")
  func empty() {
    for text in ["[]", "{}", " {}\r\n", "\u{FEFF}{}"] { #expect(decoded(text) == .success([]), "\(text)") }
    for text in ["{}{}", "[{}]", "{\"a\":1}"] {
      #expect(decoded(text) == .failure(.nothingUnderstood), "\(text)")
    }
  }

  @Test("a name of eight letters is a name, where no gateway writes its own address in base64")
  func namesOfEight() {
    let advert = "advert c3:00:00:0a:0b:0c/unknown -61 unknown [] received"
    for text in [
      #"{"gmac":"kitchen1","obj":[{"dmac":"c300000a0b0c","rssi":-61}]}"#,
      #"{"data":{"gw_mac":"kitchen1","tags":{"c300000a0b0c":{"rssi":-61,"data":""}}}}"#,
    ] {
      #expect(decoded(text) == .success(["kitchen1 heartbeat - - 0 received", "kitchen1 \(advert)"]))
    }
    #expect(
      decoded(#"{"gw":"hall","mac":"wwAACgsM","rssi":-61}"#) == .failure(.badIdentity)
    )
    #expect(
      decoded(#"{"reporter":{"mac":"204c03000001"},"reported":[{"mac":"wwAACgsM","rssi":{"last":-61}}]}"#)
        == .success(["20:4c:03:00:00:01 heartbeat - - 0 received"])
    )
  }

  @Test("an identity inside a device's object has the device's level, unless it has one of its own")
  func identitiesWithin() {
    let uuid = #""uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0","major":1"#
    let name = "ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1"
    func lines(_ parts: String) -> Result<[String], DatagramRefusal> {
      decoded(#"{"gw":"hall","mac":"c3:00:00:0a:0b:0c","rssi":-61,\#(parts)}"#)
    }
    #expect(lines(#""iBeacon":{\#(uuid),"minor":7}"#) == .success(["hall \(name)/7 -61 - received"]))
    #expect(
      lines(#""a":{"b":[{\#(uuid),"minor":7},{\#(uuid),"minor":8}]}"#)
        == .success(["hall \(name)/7 -61 - received", "hall \(name)/8 -61 - received"])
    )
    #expect(
      lines(#""beacons":[{\#(uuid),"minor":7,"rssi":-70}]"#)
        == .success([
          "hall \(name)/7 -70 - received",
          "hall advert c3:00:00:0a:0b:0c/unknown -61 unknown [] received",
        ])
    )
    // One that names nothing costs itself alone.
    let (found, notes) = read(
      Array(#"{"gw":"hall","mac":"c3:00:00:0a:0b:0c","rssi":-61,"x":{"uuid":"?","major":1,"minor":7}}"#.utf8)
    )
    #expect(found == ["hall advert c3:00:00:0a:0b:0c/unknown -61 unknown [] received"])
    #expect(notes.skipped == [.badIdentity: 1])
  }

  @Test(
    "the age of a device in Aruba's report is the time between its seconds",
    arguments: Seeds.drawn(0..<20)
  )
  func arubaAges(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let now = Int64.random(in: 1_700_000_000...1_900_000_000, using: &random)
    let age = Int64.random(in: -5...4_000, using: &random)
    let quote = Bool.random(using: &random) ? "\"" : ""
    let text =
      #"{"reporter":{"mac":"204c03000001","time":\#(quote)\#(now)\#(quote)},"reported":["#
      + #"{"mac":"c300000a0b0c","rssi":{"last":-61},"lastSeen":\#(quote)\#(now - age)\#(quote)}]}"#
    #expect(
      decoded(text).map { $0.last ?? "" }
        == .success(
          "20:4c:03:00:00:01 advert c3:00:00:0a:0b:0c/unknown -61 unknown [] age \(max(0, age) * 1_000_000_000)"
        )
    )
  }

  @Test("a Cassia gateway that does not name itself has the observer of its topic")
  func namelessCassia() throws {
    let text = String(decoding: Samples.vendorJSON[0], as: UTF8.self)
    let nameless = text.replacing(#","ap":"CC:1B:E0:00:00:01""#, with: "")
    #expect(decoded(nameless) == .failure(.noObserver))
    let message = try #require(
      MQTTFormat.datagram(topic: "cassia/hall".utf8, observerLevel: 2, payload: nameless.utf8)
    )
    #expect(read(message).lines?.first?.hasPrefix("hall advert c3:00:00:0a:0b:0c/random") == true)
  }

  @Test(
    "the server-sent events of a Cassia controller are read line by line",
    arguments: ["\n\n", "\r\n\r\n", "\n"]
  )
  func cassiaEvents(end: String) throws {
    let event = String(decoding: Samples.vendorJSON[0], as: UTF8.self)
    let lines = try #require(try? decoded(Samples.vendorJSON[0]).get())
    #expect(decoded("data: \(event)\(end)") == .success(lines))
    let stream =
      ":keep-alive\(end)event: scan\nid: 7\ndata:\(event)\(end):keep-alive\(end)data: \(event)\(end)"
    #expect(decoded(stream) == .success(lines + lines))
    // A line that is cut costs itself.
    let (found, notes) = read(Array("data: \(event)\(end)data: \(event.dropLast(20))".utf8))
    #expect(found == lines && notes.skipped[.badText] == 1)
    #expect(decoded(":keep-alive\n\n") == .failure(.nothingUnderstood))
  }

  @Test("MINEW-CONNECT has the gateway of its topic")
  func minewConnect() throws {
    let frame = Samples.minewConnect[0]
    #expect(decoded(frame) == .failure(.noObserver))
    let message = try #require(MQTTFormat.datagram(topic: "/gw/ac233fc0ffee/status".utf8, payload: frame))
    let line = "ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0c/unknown -61 unknown [\(Self.beacon)] received"
    #expect(decoded(message) == .success([line]))
    // A second record that is cut costs itself.
    var longer = frame + [0x28, 0, 1, 1]
    longer[6] = UInt8(longer.count + 36)
    let cut = try #require(MQTTFormat.datagram(topic: "/gw/ac233fc0ffee/status".utf8, payload: longer))
    let (lines, notes) = read(cut)
    #expect(lines == [line] && notes.skipped == [.tooShort: 1])
  }

  @Test("April Brother's map")
  func aprilBrother() {
    let line =
      "ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0c/unknown -61 nonConnectable [\(Self.beacon)] received"
    #expect(decoded(Samples.aprilBrother[0]) == .success([line]))
    #expect(decoded(Samples.aprilBrother[1]) == .success(["ac:23:3f:c0:ff:ee heartbeat - - 0 received"]))
    // A device that is no byte string, or too short, costs itself.
    var mixed = Samples.aprilBrother[0]
    let list = mixed.firstIndex(of: 0x91) ?? 0
    mixed[list] = 0x93
    mixed += [0x05, 0xC4, 0x02, 0x03, 0xC3]
    let (lines, notes) = read(mixed)
    #expect(lines == [line] && notes.skipped == [.badField: 1, .tooShort: 1])
    #expect(decoded(Array(mixed.dropLast(2))) == .success([line]))
  }

  @Test("HCI events in digits have the observer of their topic")
  func hciText() throws {
    #expect(decoded(Samples.hciText[0]) == .failure(.noObserver))
    let expected = [
      "ble_gateway advert c3:00:00:0a:0b:0c/random -61 nonConnectable [\(Self.beacon)] received",
      "ble_gateway advert c3:00:00:0a:0b:0c/random -61 extended [020106] received",
    ]
    for (sample, line) in zip(Samples.hciText, expected) {
      let message = try #require(
        MQTTFormat.datagram(topic: "ble_gateway".utf8, observerLevel: 1, payload: sample)
      )
      #expect(decoded(message) == .success([line]))
    }
  }

  @Test("a level of the topic that the site names is the observer, of mqtt_room's messages too")
  func observerLevel() throws {
    let payload =
      #"{"id":"iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-7","name":"keys","distance":1.4,"rssi":-61}"#
    let topic = "room_presence/bedroom"
    let plain = try #require(MQTTFormat.datagram(topic: topic.utf8, payload: payload.utf8))
    #expect(decoded(plain) == .failure(.noObserver))
    let named = try #require(MQTTFormat.datagram(topic: topic.utf8, observerLevel: 2, payload: payload.utf8))
    #expect(
      decoded(named) == .success(["bedroom ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7 -61 1.4 received"])
    )
    let beyond = try #require(MQTTFormat.datagram(topic: topic.utf8, observerLevel: 3, payload: payload.utf8))
    #expect(decoded(beyond) == .failure(.noObserver))
  }
}
