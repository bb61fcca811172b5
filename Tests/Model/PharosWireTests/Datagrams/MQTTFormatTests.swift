import FuzzWire
import PharosModel
import PharosWire
import Testing

@Suite("MQTT messages")
struct MQTTFormatTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  /// The reports of a message as lines, or the reason why it is refused.
  private static func read(_ topic: String, _ payload: [UInt8]) -> Result<[String], DatagramRefusal> {
    decoded(MQTTFormat.datagram(topic: topic.utf8, payload: payload) ?? [])
  }

  /// The same for a payload of text.
  private static func read(_ topic: String, _ payload: String) -> Result<[String], DatagramRefusal> {
    read(topic, Array(payload.utf8))
  }

  @Test("each gateway's messages give its reports, with the observer of the topic or the payload")
  func gateways() {
    let expected: [[String]] = [
      ["OpenMQTTGateway ranged \(Self.uuid)/1/7 -79 - power -66 received"],
      ["TheengsGateway advert 11:22:33:44:55:66/unknown -70 unknown [06ff4c000215aa] received"],
      ["OpenMQTTGateway heartbeat - - 0 received"],
      ["OpenMQTTGateway heartbeat - - 0 received"],
      [],
      ["office ranged \(Self.uuid)/1/7 -81 6.5 power -59 received"],
      ["office heartbeat - - 0 received"],
      ["office heartbeat - - 0 received"],
      [
        "c8:25:2d:8e:9c:2c advert d4:15:5c:77:56:68/unknown -26 unknown "
          + "[0201061bff99040512fc5394c37c0004fffc040cac364200cdcbb8334c884f] received"
      ],
      ["c8:25:2d:8e:9c:2c heartbeat - - 0 received"],
      [
        "ac:23:3f:c1:ec:cc heartbeat - - 0 received",
        "ac:23:3f:c1:ec:cc ranged \(Self.uuid)/1/7 -56 - power -59 received",
      ],
      ["ac:23:3f:c1:ec:cc advert c3:00:00:11:22:33/unknown -56 unknown [] received"],
      ["hall advert c4:be:84:e7:ec:3e/unknown -58 unknown [020106] received"],
    ]
    for (message, lines) in zip(Samples.messages, expected) {
      #expect(Self.read(message.topic, message.payload) == .success(lines), "\(message.topic)")
    }
    #expect(Samples.messages.count == expected.count + 1)
  }

  @Test("a binary frame of a Minew gateway is read as it is over UDP")
  func binary() {
    #expect(Self.read("/gw/0a0b0c0d0e0f/status", Samples.minew[0]) == decoded(Samples.minew[0]))
  }

  @Test(
    "the topic gives what the payload does not",
    arguments: [
      // The prefix of OpenMQTTGateway and its gateways' names are settings.
      ("a/b/hall/BTtoMQTT/X", #"{"id":"11:22:33:44:55:66","rssi":-70}"#, "hall"),
      ("home/hall/BTtoMQTT/undecoded", #"{"id":"11:22:33:44:55:66","rssi":-70}"#, "hall"),
      ("home/A1:B2:C3:D4:E5:F6/BTtoMQTT/X", #"{"id":"11:22:33:44:55:66","rssi":-70}"#, "a1:b2:c3:d4:e5:f6"),
      ("home/hall/BTtoMQTT/X", #"{"gateway":"desk","id":"11:22:33:44:55:66","rssi":-70}"#, "desk"),
      ("espresense/devices/x/küche", #"{"mac":"112233445566","rssi":-70}"#, "küche"),
      ("gw/desk/status", #"[{"mac":"112233445566","rssi":-70}]"#, "desk"),
    ]
  )
  func observer(topic: String, payload: String, observer: String) {
    let line = "\(observer) advert 11:22:33:44:55:66/unknown -70 unknown [] received"
    #expect(Self.read(topic, payload) == .success([line]))
  }

  @Test(
    "Eddystone and iBeacon are found in what gateways pass on undecoded",
    arguments: [
      (
        #"{"id":"11:22:33:44:55:66","rssi":-70,"servicedatauuid":"0xfeaa","#
          + #""servicedata":"00e700112233445566778899aabbccddeeff0000"}"#,
        "UID 00112233445566778899/aabbccddeeff -25"
      ),
      (
        #"{"id":"11:22:33:44:55:66","rssi":-70,"#
          + #""manufacturerdata":"4c000215e2c56db5dffb48d2b060d0f5a71096e000010007c5"}"#,
        "iBeacon E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7 -59"
      ),
    ]
  )
  func identities(payload: String, identity: String) throws {
    let datagram = try #require(
      MQTTFormat.datagram(topic: "home/hall/BTtoMQTT/112233445566".utf8, payload: payload.utf8)
    )
    var batch = ReportBatch()
    try MQTTFormat.decode(datagram.span.bytes, received: receiveTime, into: &batch)
    guard case .advert(let advert)? = batch.reports.first?.body else {
      Issue.record("no advert")
      return
    }
    let bytes = Array(batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)])
    #expect(frames(bytes).map(line) == [identity])
  }

  @Test(
    "a message that cannot be read is refused with a reason",
    arguments: [
      ("home/hall/BTtoMQTT/X", "", DatagramRefusal.empty),
      ("home/hall/BTtoMQTT/X", "on", .unrecognised),
      ("home/hall/BTtoMQTT/X", #"{"hum":52.6,"tempc":19.2}"#, .nothingUnderstood),
      ("home/hall/BTtoMQTT/X", #"{"id":"11:22:33:44:55:66","rssi":-70"#, .badText),
      ("home//BTtoMQTT/X", #"{"id":"11:22:33:44:55:66","rssi":-70}"#, .badIdentity),
      ("home/hall/LWT", "asleep", .nothingUnderstood),
      ("home/hall/SYStoMQTT", "1", .nothingUnderstood),
      ("home/hall/SYStoMQTT", "{", .badText),
      ("espresense/rooms/office/max_distance", "16.0", .unrecognised),
      ("ruuvi/C8:25:2D:8E:9C:2C/tag", #"{"rssi":-26,"data":"020106"}"#, .badIdentity),
      ("ruuvi/C8:25:2D:8E:9C:2C/gw_status", #"{"state":1}"#, .nothingUnderstood),
      ("/gw/ac233fc1eccc/status", "\u{1}", .unrecognised),
      ("zigbee2mqtt/lamp", #"{"state":"ON"}"#, .nothingUnderstood),
      ("zigbee2mqtt/lamp", #"{"address":"11:22:33:44:55:66","rssi":-70}"#, .noObserver),
      ("a/b/c/d/e/f/g/h/BTtoMQTT", #"{"id":"11:22:33:44:55:66","rssi":-70}"#, .noObserver),
    ]
  )
  func refusals(topic: String, payload: String, reason: DatagramRefusal) {
    #expect(Self.read(topic, payload) == .failure(reason))
  }

  @Test("a message within a message is none")
  func nesting() throws {
    let inner = try #require(MQTTFormat.datagram(topic: "home/hall/LWT".utf8, payload: "online".utf8))
    #expect(Self.read("any", inner) == .failure(.unrecognised))
    #expect(Self.read("home/hall/BTtoMQTT/X", inner) == .failure(.unrecognised))
  }

  @Test("an envelope of another version, or with a topic that is no text, is refused")
  func envelopes() {
    var newer = Samples.mqtt[3]
    newer[4] = 2
    #expect(decoded(newer) == .failure(.unsupportedVersion))
    #expect(decoded(Array("MQTT".utf8)) == .failure(.tooShort))
    #expect(decoded(Array("MQTT".utf8) + [1, 0, 0, 9, 0x61]) == .failure(.tooShort))
    #expect(decoded(Array("MQTT".utf8) + [1, 0, 0, 1, 0xFF, 0x61]) == .failure(.badText))
    #expect(MQTTFormat.datagram(topic: Array(repeating: 0x61, count: 65_536), payload: [1]) == nil)
  }

  @Test("identities that are not understood are counted by name")
  func ignoredIdentities() throws {
    let payload = #"{"id":"11:22:33:44:55:66","rssi":-70,"tagUuid":"e2c56db5"}"#
    let datagram = try #require(
      MQTTFormat.datagram(topic: "home/hall/BTtoMQTT/X".utf8, payload: payload.utf8)
    )
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    #expect(decoder.decode(datagram.span.bytes, received: receiveTime, into: &batch) == .success(.mqtt))
    #expect(decoder.counters.ignoredIdentities.counts == ["tagUuid": 1])
  }
}
