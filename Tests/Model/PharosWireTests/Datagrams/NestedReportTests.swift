import PharosModel
import PharosWire
import Testing

/// Readings that stand where no name of a list leads.
@Suite("Nested readings")
struct NestedReportTests {
  private static let data = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010007c5"
  private static let base64 = "AgEGGv9MAAIV4sVttd/7SNKwYND1pxCW4AABAAfF"
  private static let beacon = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7"

  /// The line of the tag's advert.
  private static func line(
    _ observer: String = "hall",
    kind: String = "unknown",
    _ data: String = data,
    _ time: String = "received"
  ) -> String {
    "\(observer) advert c3:00:00:0a:0b:0c/\(kind) -61 unknown [\(data)] \(time)"
  }

  /// Reads a message of a topic.
  private static func message(
    _ topic: String,
    _ payload: String,
    level: UInt8 = 0
  ) -> Result<[String], DatagramRefusal> {
    guard let datagram = MQTTFormat.datagram(topic: topic.utf8, observerLevel: level, payload: payload.utf8)
    else { return .failure(.badText) }
    return decoded(datagram)
  }

  @Test("Tasmota's adverts, its list of devices and its beacons, on its own topics and on named ones")
  func tasmota() {
    for (topic, level) in [("tele/hall/BLE", 0), ("tele/hall/BLE", 2), ("house/hall/x", 2)]
      as [(String, UInt8)]
    {
      for (suffix, kind) in [("", "unknown"), ("/0", "public"), ("/1", "random"), ("\\/1", "random")] {
        let payload =
          #"{"DetailsBLE":{"mac":"C300000A0B0C\#(suffix)","a":"tag1","RSSI":-61,"lost":true,"p":"\#(Self.data.uppercased())"}}"#
        #expect(Self.message(topic, payload, level: level) == .success([Self.line(kind: kind)]))
      }
    }
    let devices =
      #"{"Time":"2027-01-15T09:00:00","BLEDevices":{"total":2,"C300000A0B0C":{"r":-61,"a":"tag"}}}"#
    #expect(Self.message("tele/hall/BLE", devices) == .success([Self.line("hall", "")]))
    let found =
      #"{"Time":"2027-01-15T09:00:00","IBEACON":{"MAC":"C300000A0B0C","NAME":"","#
      + #""UID":"E2C56DB5DFFB48D2B060D0F5A71096E0","MAJOR":"0001","MINOR":"00FF","RSSI":-61,"STATE":"ON","PERSEC":10}}"#
    let line = "hall ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/255 -61 - received"
    #expect(Self.message("tele/hall/SENSOR", found) == .success([line]))
    let gone = found.replacing("-61", with: "0").replacing("ON\"", with: "OFF\"")
    #expect(Self.message("tele/hall/SENSOR", gone) == .success([]))
    for other in [#"{"Time":"2027-01-15T09:00:00","DHT11":{"Temperature":21.5}}"#, #"{"Wifi":{"RSSI":84}}"#] {
      #expect(Self.message("tele/hall/STATE", other) == .success(["hall heartbeat - - 0 received"]))
    }
    #expect(Self.message("tele/hall/LWT", "Online") == .success(["hall heartbeat - - 0 received"]))
    #expect(Self.message("tele/hall/LWT", "Offline") == .success([]))
  }

  @Test("a ranged beacon keeps the address that it was heard with")
  func address() throws {
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    let text =
      #"{"gw":"hall","mac":"C300000A0B0C/1","rssi":-61,"uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":7}"#
    _ = decoder.decode(Array(text.utf8).span.bytes, received: receiveTime, into: &batch)
    guard case .rangedBeacon(let ranged)? = batch.reports.first?.body else {
      Issue.record("no ranged beacon")
      return
    }
    #expect(ranged.beacon.description == Self.beacon)
    #expect(ranged.address == DeviceAddress(bits: 0xC300_000A_0B0C, kind: .random))
  }

  @Test("Shelly's scan results, one advert or a list, with the scan response behind it")
  func shelly() {
    func event(_ data: String) -> String {
      #"{"src":"shellyplus1-ac0000000001","dst":"shellyplus1-ac0000000001/events","method":"NotifyEvent","params":"#
        + #"{"ts":1764000008.25,"events":[{"component":"script:1","id":1,"event":"ble.scan_result","data":\#(data),"#
        + #""ts":1764000008.25}]}}"#
    }
    let advert = Self.line("shellyplus1-ac0000000001", Self.data, "sent 1764000008250000000")
    let response =
      "shellyplus1-ac0000000001 advert c3:00:00:0a:0b:0c/unknown -61 scanResponse [03095461] sent 1764000008250000000"
    let one = #""c3:00:00:0a:0b:0c",-61,"\#(Self.base64)""#
    #expect(decoded(event(#"[1,\#(one),""]"#)) == .success([advert]))
    #expect(decoded(event(#"[1,\#(one),"AwlUYQ=="]"#)) == .success([advert, response]))
    #expect(decoded(event(#"[2,[[\#(one),""],[\#(one)]]]"#)) == .success([advert, advert]))
    // The one that cannot be read costs itself.
    let (lines, notes) = read(Array(event(#"[2,[["c3:00:00:0a:0b:0c",-61,"?"],[\#(one)]]]"#).utf8))
    #expect(lines == [advert] && notes.skipped == [.badText: 1])
    // A topic that the site names goes before the sender.
    let named = Self.message("kitchen/events/rpc", event(#"[1,\#(one),""]"#), level: 1)
    #expect(named == .success([Self.line("kitchen", Self.data, "sent 1764000008250000000")]))
  }

  @Test(
    "the bytes of an advert are the same however they are spelled",
    arguments: [
      #""0x020106""#, #""02 01 06""#, #""02:01:06""#, #""02-01-06""#, #""02,01,06""#, #""AgEG""#,
      "[2,1,6]", "[2, 1, 6]", #"{"type":"Buffer","data":[2,1,6]}"#,
    ]
  )
  func spellings(data: String) {
    let text = #"{"gw":"hall","mac":"c3:00:00:0a:0b:0c","rssi":-61,"payload":\#(data)}"#
    #expect(decoded(text) == .success([Self.line("hall", "020106")]))
  }

  @Test("bytes that are signed, in base64 with escaped slashes, of either alphabet, and without padding")
  func moreSpellings() {
    func text(_ data: String) -> String {
      #"{"gw":"hall","mac":"c3:00:00:0a:0b:0c","rssi":-61,"data":\#(data)}"#
    }
    #expect(decoded(text("[3,-1,-1,-2]")) == .success([Self.line("hall", "03fffffe")]))
    for spelled in [#"A///_g=="#, #"A\/\/\/\/g=="#, "A____g"] {
      #expect(decoded(text("\"\(spelled)\"")) == .success([Self.line("hall", "03fffffe")]), "\(spelled)")
    }
    // Words are base64 too, but no AD structures.
    for word in ["hello", "temperature", "0x", "020", "02 0106", "[2,256]"] {
      #expect(decoded(text("\"\(word)\"")) == .failure(.badText), "\(word)")
    }
  }

  @Test(
    "a reading one or several objects deeper is still a reading, of the observer that the text names",
    arguments: [
      #"{"gw":"hall","value":{"device_list":[{"ble_addr":"C3:00:00:0A:0B:0C","addr_type":1,"scan_rssi":-61,"adv_data":"DATA"}]}}"#,
      #"{"gateway_euid":"hall","events":[{"device_euid":"00:00:C3:00:00:0A:0B:0C","addrType":1,"rssi":"-61","data":"DATA"}]}"#,
      #"{"gw":"hall","seen":{"c300000a0b0c":{"rssi":-61,"addrType":1,"raw":"DATA"}}}"#,
      #"{"gw":"hall","device":{"mac":"c3:00:00:0a:0b:0c","addrType":1},"rssi":-61,"adv":{"raw":"DATA"}}"#,
      #"{"gw":"hall","m":"c3:00:00:0a:0b:0c/1","r":-61,"d":"DATA"}"#,
      #"{"gw":"hall","mac":"c3:00:00:0a:0b:0c/1","heard":{"rssi":-61,"data":"DATA"}}"#,
      #"{"hostname":"hall","a":{"b":{"c":[[{"x":1}],{"mac":"c3:00:00:0a:0b:0c/1","rssi":-61,"data":"DATA"}]}}}"#,
      #"[{"sourceId":"hall","trackingId":"c3:00:00:0a:0b:0c/1","rssi":-61,"packet":"DATA"}]"#,
    ]
  )
  func deeper(text: String) {
    let text = text.replacing("DATA", with: Self.data)
    #expect(decoded(text) == .success([Self.line("hall", kind: "random")]))
  }

  @Test("an address around readings is the gateway's if they name their devices, otherwise the device's")
  func around() {
    let tag = #"{"clientMac":"c3:00:00:0a:0b:0c","rssi":-61,"data":"020106"}"#
    let gateway = "ac:23:3f:a0:00:01"
    for text in [
      #"{"deviceMac":"ac233fa00001","type":"BLE","measurements":[\#(tag)]}"#,
      #"{"mac":"ac:23:3f:a0:00:01","time":1747659778,"data":{"mac":"ac:23:3f:a0:00:01","value":{"list":[\#(tag)]}}}"#,
    ] {
      #expect(decoded(text) == .success([Self.line(gateway, "020106")]))
    }
    let spaces =
      #"{"rssiNotification":{"macAddress":"c3:00:00:0a:0b:0c","apRssiMeasurements":["#
      + #"{"apMacAddress":"ac:23:3f:a0:00:01","rssi":-61},{"apMacAddress":"ac:23:3f:a0:00:02","rssi":-61}]}}"#
    #expect(
      decoded(spaces) == .success([Self.line(gateway, ""), Self.line("ac:23:3f:a0:00:02", "")])
    )
    let map = #"{"gw":"hall","bluetooth":{"c3:00:00:0a:0b:0c":-61},"wifi":{"c4:00:00:0a:0b:0c":-40}}"#
    #expect(decoded(map) == .success([Self.line("hall", "")]))
  }

  @Test(
    "the state of a gateway itself is no reading",
    arguments: [
      #"{"gw":"hall","wifi":{"mac":"ac:23:3f:a0:00:01","rssi":-50}}"#,
      #"{"gw":"hall","wlan0":{"address":"ac:23:3f:a0:00:01","rssi":-50}}"#,
      #"{"gw":"hall","temperature":{"value":21.5},"list":[[1,2],["mac","ac:23:3f:a0:00:01"]]}"#,
      #"{"gw":"hall","connections":["ac:23:3f:a0:00:01"]}"#,
    ]
  )
  func own(text: String) {
    #expect(decoded(text) == .failure(.nothingUnderstood))
  }

  @Test("the device may stand in the topic, with its level alone as the payload")
  func topics() {
    let device = "ble/hall/c300000a0b0c"
    let advert = #"{"rssi":-61,"data":"020106"}"#
    #expect(Self.message(device, advert, level: 2) == .success([Self.line("hall", "020106")]))
    #expect(
      Self.message("c3:00:00:0a:0b:0c/hall/adv", advert, level: 2) == .success([Self.line("hall", "020106")])
    )
    #expect(Self.message(device, #"{"rssi":-61}"#, level: 2) == .success([Self.line("hall", "")]))
    for topic in [device, "ble/hall/c300000a0b0c/rssi"] {
      #expect(Self.message(topic, "-61", level: 2) == .success([Self.line("hall", "")]))
    }
    #expect(Self.message("ble/hall/c300000a0b0c/temperature", "-61", level: 2) == .failure(.unrecognised))
    // Two addresses say nothing, and one in the payload goes before the topic's.
    #expect(Self.message("ble/hall/c300000a0b0c/c300000a0b0d", "-61", level: 2) == .failure(.unrecognised))
    let other = #"{"mac":"c3:00:00:0a:0b:0c","rssi":-61,"data":"020106"}"#
    #expect(Self.message("ble/hall/c300000a0b0d", other, level: 2) == .success([Self.line("hall", "020106")]))
  }
}
