import FuzzWire
import PharosModel
import PharosWire
import Testing

@Suite("JSON")
struct JSONFormatTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  @Test(
    "reports of other programs are decoded",
    arguments: [
      // OpenMQTTGateway and Theengs: raw manufacturer and service data, or an iBeacon that was taken apart.
      (
        #"{"gateway":"hall","id":"11:22:33:44:55:66","mac_type":1,"rssi":-70,"manufacturerdata":"4c000215aa"}"#,
        "hall advert 11:22:33:44:55:66/random -70 unknown [06ff4c000215aa] received"
      ),
      (
        #"{"gw":"hall","id":"11:22:33:44:55:66","rssi":-70,"servicedatauuid":"0xfeaa","servicedata":"2000"}"#,
        "hall advert 11:22:33:44:55:66/unknown -70 unknown [0516aafe2000] received"
      ),
      (
        """
        {"gw":"hall","id":"11:22:33:44:55:66","rssi":-70,"mfid":"4c00","model_id":"IBEACON",\
        "uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":"7","txpower":-59}
        """,
        "hall ranged \(uuid)/1/7 -70 - power -59 received"
      ),
      // ESPresense.
      (
        #"{"room":"kitchen","mac":"5c1a112233ff","id":"irk:00ff","rssi@1m":-65,"rssi":-60.5,"distance":1.2}"#,
        "kitchen advert 5c:1a:11:22:33:ff/unknown -61 unknown [] received"
      ),
      (
        #"{"room":"kitchen","mac":"5c1a112233ff","id":"iBeacon:\#(uuid)-65535-2","rssi":-60,"distance":1.25}"#,
        "kitchen ranged \(uuid)/65535/2 -60 1.25 received"
      ),
      (
        #"{"room":"kitchen","id":"eddy:00112233445566778899-aabbccddeeff","rssi":-60}"#,
        "kitchen ranged eddystone:00112233445566778899/aabbccddeeff -60 - received"
      ),
      // mongoose KIWI.
      (
        #"{"gw":"ac233fa00001","mac":"112233445566","rssi":-60,"adv":"020106","scan":""}"#,
        "ac:23:3f:a0:00:01 advert 11:22:33:44:55:66/unknown -60 unknown [020106] received"
      ),
      // Pharos's own names.
      (
        #"{"observer":"a","beacon":"mac:11:22:33:44:55:66","rssi":0,"accuracy":-1}"#,
        "a ranged mac:11:22:33:44:55:66 - - received"
      ),
      (
        #"{"observer":"a","namespace":"00112233445566778899","instance":"aabbccddeeff","rssi":-1}"#,
        "a ranged eddystone:00112233445566778899/aabbccddeeff -1 - received"
      ),
      (
        #"{"Observer":"a","ADDRESS":"11-22-33-44-55-66","address_type":"Public","r-ssi":127,"pdu":"ADV_NONCONN_IND","channel":38,"sid":3}"#,
        "a advert 11:22:33:44:55:66/public - nonConnectable ch38 sid3 [] received"
      ),
      (
        #"{"name":"caf\u00e9 \ud83d\ude00 \"\/","heartbeat":{"advertsHeard":"3"}}"#,
        "caf\u{E9} \u{1F600} \"/ heartbeat 3 - 0 received"
      ),
      (
        #"{"mac":"ac233fa00001","scanState":{"state":"OFF","age":5}}"#,
        "ac:23:3f:a0:00:01 scan off age 5000000"
      ),
      (#"{"observer":"a","displayOn":{"age":7}}"#, "a display on age 7000000"),
      (
        #"{"observer":"a","wifiScan":{"age":3,"accessPoints":[{"mac":"001122334455","age":2}]}}"#,
        "a wifi 00:11:22:33:44:55 - 0 2000000 age 3000000"
      ),
      (
        #"{"observer":"a","fix":{"lat":9,"lon":8,"accuracy":1,"source":"vps","altitude":-4,"attitude":{"y":-1}}}"#,
        "a fix 9.0 8.0 1.0 - vps up -4.0 [0.0 0.0 -1.0 0.0] received"
      ),
      (
        #"{"observer":"a","fix":{"lat":9,"lon":8,"accuracy":1,"altitude":7,"ellipsoidalAltitude":47.5,"verticalAccuracy":2.25,"course":271.5,"courseAccuracy":4.5,"speedAccuracy":0.25,"isSimulatedBySoftware":true,"isProducedByAccessory":false}}"#,
        "a fix 9.0 8.0 1.0 - gnss up 47.5 ±2.25 to 271.5 ±4.5° ±0.25m/s by 1 received"
      ),
      (
        #"{"observer":"a","fix":{"lat":9,"lon":8,"accuracy":1,"verticalAccuracy":-1,"course":-1,"courseAccuracy":-1,"speedAccuracy":-1}}"#,
        "a fix 9.0 8.0 1.0 - gnss received"
      ),
      (
        #"{"observer":"a","relativePose":{"session":9,"interval":100,"age":20,"x":0.5,"rotation":{"z":1}}}"#,
        "a pose 9 100000000 0.5 0.0 0.0 [0.0 0.0 0.0 1.0] normal age 20000000"
      ),
      (
        #"{"observer":"a","relativePoses":[{"interval":50,"y":-1,"quality":"LOST"}]}"#,
        "a pose 0 50000000 0.0 -1.0 0.0 - lost received"
      ),
      (
        #"{"observer":"a","vpsStatus":{"state":"degradedPositioning","reasons":["noMap","glare"],"scan":"failed"}}"#,
        "a visual degradedPositioning 8 failed stopped received"
      ),
      (
        #"{"observer":"a","motion":{"samples":[{"kind":"rotationVector","x":0.5,"z":-1e0}]}}"#,
        "a motion rotationVector 0 0.5 0.0 -1.0 received"
      ),
    ]
  )
  func shapes(text: String, line: String) { #expect(decoded(text) == .success([line])) }

  @Test("an object that holds lists gives them its observer, its time, and its head")
  func envelope() throws {
    #expect(
      decoded(Samples.json[1])
        == .success([
          "hall head 3 17 93000000000 received",
          "hall heartbeat 250 0.5 0 received",
          "hall scan foreground received",
          "hall display on received",
          "hall advert c4:be:84:e7:ec:3e/random -58 unknown [020106] age 120000000",
          "hall ranged \(Self.uuid)/1/7 - 1.5 received",
          "hall wifi 00:11:22:33:44:55 -70 2437 900000000 received",
          "hall motion step 250000000 0.75 1.5 0.0 received",
          "hall fix 47.375 8.5 12.0 1.25 gnss received",
        ])
    )
    let nested = """
      {"adverts":[{"mac":"000000000001","rssi":-1},{"mac":"000000000002","rssi":-1,"age":9},
      {"mac":"000000000003","rssi":-1,"observer":"b"}],"age":4,"observer":"a"}
      """
    #expect(
      decoded(nested)
        == .success([
          "a advert 00:00:00:00:00:02/unknown -1 unknown [] age 9000000",
          "a advert 00:00:00:00:00:01/unknown -1 unknown [] age 4000000",
          "b advert 00:00:00:00:00:03/unknown -1 unknown [] age 4000000",
        ])
    )
  }

  @Test("a Minew array belongs to the gateway that it begins with")
  func minew() {
    let text = """
      [{"timestamp":"2019-01-01T00:00:00Z","type":"Gateway","mac":"AC233FC00001","gatewayFree":96},
       {"timestamp":"2019-01-01T00:00:00Z","type":"Unknown","mac":"AC233F000001","rssi":-60,"rawData":"0201060302E1FF"}]
      """
    #expect(
      decoded(text)
        == .success([
          "ac:23:3f:c0:00:01 heartbeat - - 0 received",
          "ac:23:3f:c0:00:01 advert ac:23:3f:00:00:01/unknown -60 unknown [0201060302e1ff] received",
        ])
    )
  }

  @Test("a Minew gateway that parses frames names an iBeacon by fields of its own")
  func minewParsed() {
    let text = """
      [{"timestamp":"2019-01-01T00:00:00Z","type":"Gateway","mac":"AC233FC00001","gatewayFree":96},
       {"timestamp":"2019-01-01T00:00:00Z","type":"iBeacon","mac":"AC233F000001","bleName":"","rssi":-52,
        "ibeaconUuid":"E2C56DB5DFFB48D2B060D0F5A71096E0","ibeaconMajor":1,"ibeaconMinor":7,"ibeaconTxPower":-59}]
      """
    #expect(
      decoded(text)
        == .success([
          "ac:23:3f:c0:00:01 heartbeat - - 0 received",
          "ac:23:3f:c0:00:01 ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7 -52 - power -59 received",
        ])
    )
  }

  @Test("members that look like an identity and are ignored are counted by name")
  func ignoredIdentities() {
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    func decode(_ text: String) -> [String: UInt64] {
      _ = decoder.decode(text.utf8Span.span.bytes, received: Timestamp(seconds: 100), into: &batch)
      return decoder.counters.ignoredIdentities.counts
    }
    let uuid = #""E2C56DB5DFFB48D2B060D0F5A71096E0""#
    let device = #""observer":"a","mac":"AC233F000001","rssi":-52"#
    // What is understood, what came as bytes and what is no sighting is no loss.
    #expect(decode("{\(device),\"uuid\":\(uuid),\"major\":1,\"minor\":7,\"beaconUUID\":\(uuid)}") == [:])
    #expect(decode("{\(device),\"data\":\"020106\",\"beaconUUID\":\(uuid)}") == [:])
    #expect(decode("{\(device),\"serviceDataUuid\":\"0xfe9f\",\"battery\":3,\"majority\":null}") == [:])
    #expect(decode("{\"observer\":\"a\",\"heartbeat\":true,\"uuid\":\(uuid)}") == [:])
    #expect(
      decode("{\(device),\"beaconUUID\":\(uuid),\"beacon_major\":1}") == ["beaconUUID": 1, "beacon_major": 1]
    )
    #expect(decode("{\(device),\"uuid\":\(uuid),\"maj\":1}")["uuid"] == 1)
    #expect(decode("[{\(device),\"eddystoneInstance\":\"0a\"}]")["eddystoneInstance"] == 1)
    #expect(decoder.counters.totalDatagrams == 7)
    // Senders choose the names, so there are few of them.
    for number in 0..<100 { _ = decode("{\(device),\"uuid-\(number)\":\(uuid)}") }
    #expect(decode("{\(device),\"\(String(repeating: "uuid", count: 50))\":1}").count == 16)
    #expect(decoder.counters.ignoredIdentities.counts["other"] == 90)
    let sum = decoder.counters + decoder.counters
    #expect(sum.ignoredIdentities.counts["other"] == 180)
    #expect(sum.ignoredIdentities.counts.count == 16)
  }

  @Test("raddec in JSON gives the reports of raddec in binary")
  func raddec() {
    let text = """
      {"transmitterId":"fae4e3242009","transmitterIdType":3,"packets":["400d092024e3e4fa02010203020001","4406092024e3e4fa"],
      "rssiSignature":[{"receiverId":"000000000001","receiverIdType":2,"rssi":-34},{"receiverId":"001bc50940810001","rssi":-33}]}
      {"transmitterId":"0011223344556677","transmitterIdType":1,"packets":["ffff"],"timestamp":1000000000000,
      "rssiSignature":[{"receiverId":"000000000001","rssi":-34}]}
      {"transmitterId":"00112233","transmitterIdType":7,"packets":["00"],"rssiSignature":[]}
      """
    let address = "fa:e4:e3:24:20:09/random"
    #expect(
      decoded(text)
        == .success([
          "00:00:00:00:00:01 advert \(address) -34 connectable [02010203020001] received",
          "00:00:00:00:00:01 advert \(address) -34 scanResponse [] received",
          "00:1b:c5:09:40:81:00:01 advert \(address) -33 connectable [02010203020001] received",
          "00:1b:c5:09:40:81:00:01 advert \(address) -33 scanResponse [] received",
          "00:00:00:00:00:01 advert anonymous -34 unknown [] sent 1000000000000000000",
        ])
    )
  }

  @Test(
    "times are distinguished by their size, and whole seconds are too coarse",
    arguments: [
      ("1612150079", "received"), ("1612150079.0", "sent 1612150079000000000"),
      ("1612150079.789", "sent 1612150079789000000"), ("1612150079789", "sent 1612150079789000000"),
      ("1612150079789.25", "sent 1612150079789250000"), ("1612150079789123", "sent 1612150079789123000"),
      ("1612150079789123456", "sent 1612150079789123456"), ("0", "received"), ("\"noon\"", "received"),
    ]
  )
  func times(time: String, expected: String) {
    let line = "a advert 00:00:00:00:00:01/unknown -60 unknown [] \(expected)"
    #expect(decoded(#"{"gw":"a","mac":"000000000001","rssi":-60,"timestamp":\#(time)}"#) == .success([line]))
  }

  @Test(
    "JSON that is no report is refused with its reason",
    arguments: [
      ("[{}]", .nothingUnderstood),
      ("{\"host_int\": 4094514483, \"version\": [1, 8]}", .nothingUnderstood),
      ("{} 5", .nothingUnderstood),
      ("[5]", .nothingUnderstood),
      (#"{"observer":"a","adverts":[{}]}"#, .nothingUnderstood),
      (#"{"observer":"a","adverts":[7]}"#, .badField),
      (#"{"mac":"000000000001","rssi":-60}"#, .noObserver),
      (#"{"observer":"","mac":"000000000001","rssi":-60}"#, .badIdentity),
      (#"{"observer":"a\u0007","mac":"000000000001","rssi":-60}"#, .badIdentity),
      (#"{"observer":7,"mac":"000000000001","rssi":-60}"#, .badIdentity),
      (#"{"observer":"a","mac":"00000000001","rssi":-60}"#, .badIdentity),
      (#"{"observer":"a","mac":"000000000001","rssi":-600}"#, .badField),
      (#"{"observer":"a","mac":"000000000001","rssi":true}"#, .badField),
      (#"{"observer":"a","mac":"000000000001","rssi":"loud"}"#, .badField),
      (#"{"observer":"a","mac":"000000000001","rssi":-60,"data":"020"}"#, .badText),
      (#"{"observer":"a","mac":"000000000001","rssi":-60,"data":"0x"}"#, .badText),
      (#"{"observer":"a","mac":"000000000001","rssi":-60,"age":-1}"#, .badField),
      (#"{"observer":"a","mac":"000000000001","rssi":-60,"time":-1}"#, .badField),
      (#"{"observer":"a","uuid":"e2c5","major":1,"minor":2}"#, .badIdentity),
      (#"{"observer":"a","uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":65536,"minor":2}"#, .badField),
      (#"{"observer":"a","uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1.5,"minor":2}"#, .badField),
      (#"{"observer":"a","beacon":"door"}"#, .badIdentity),
      (#"{"observer":"a","scanState":"asleep"}"#, .badField),
      (#"{"observer":"a","heartbeat":{"scanDuty":2}}"#, .badField),
      (#"{"observer":"a","fix":{"latitude":91,"longitude":0,"accuracy":1}}"#, .badField),
      (#"{"observer":"a","fix":{"latitude":9}}"#, .badField),
      (#"{"observer":"a","fix":{"lat":9,"lon":9,"accuracy":1,"attitude":{"w":1,"x":1}}}"#, .badField),
      (#"{"observer":"a","fix":{"lat":9,"lon":9,"accuracy":1,"attitude":[1,0,0,0]}}"#, .badField),
      (#"{"observer":"a","relativePoses":[{"x":1}]}"#, .badField),
      (#"{"observer":"a","relativePoses":[{"x":1,"interval":0}]}"#, .badField),
      (#"{"observer":"a","relativePoses":[{"x":1,"interval":50,"quality":"superb"}]}"#, .badField),
      (#"{"observer":"a","relativePoses":[{"x":1e39,"interval":50}]}"#, .badField),
      (#"{"observer":"a","visualStatus":{"state":"asleep"}}"#, .badField),
      (#"{"observer":"a","visualStatus":{"state":"notPositioning","reasons":"dark"}}"#, .badField),
      (#"{"observer":"a","wifiScan":[{"bssid":"x"}]}"#, .badIdentity),
      (#"{"observer":"a","motion":[{"kind":"smell"}]}"#, .badField),
      (#"{"transmitterId":"fae4e3242009","rssiSignature":[{"rssi":-34}]}"#, .noObserver),
      (
        #"{"transmitterId":"fae4e3242009","packets":["4407092024e3e4fa"],"rssiSignature":[{"receiverId":"a"}]}"#,
        .lengthMismatch
      ),
    ] as [(String, DatagramRefusal)]
  )
  func refusals(text: String, reason: DatagramRefusal) { #expect(decoded(text) == .failure(reason)) }

  @Test("a measured power is read by any of its names, and one that is none leaves the distance unknown")
  func measuredPower() {
    let beacon = #""observer":"a","uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":7,"rssi":-61"#
    let line = "a ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7 -61 -"
    for name in ["measuredPower", "ibeaconTxPower", "refpower", "rssi@1m", "power", "txpower"] {
      #expect(decoded("{\(beacon),\"\(name)\":-59}") == .success(["\(line) power -59 received"]), "\(name)")
    }
    #expect(decoded("{\(beacon),\"power\":197}") == .success(["\(line) power -59 received"]))
    for none in ["0", "4", "-300", "null", "\"n/a\"", "true", "[]"] {
      #expect(decoded("{\(beacon),\"txpower\":\(none)}") == .success(["\(line) received"]), "\(none)")
    }
  }

  @Test(
    "a service is the same by its UUID of 16, 32 and 128 bits",
    arguments: ["feaa", "0xFEAA", "0000feaa", "0000FEAA-0000-1000-8000-00805F9B34FB"]
  )
  func serviceUUIDs(uuid: String) {
    let text =
      #"{"gw":"a","mac":"000000000001","rssi":-60,"servicedatauuid":"\#(uuid)","servicedata":"00e301"}"#
    #expect(
      decoded(text) == .success(["a advert 00:00:00:00:00:01/unknown -60 unknown [0616aafe00e301] received"])
    )
  }
}
