import PharosCaptures
import PharosDocuments
import PharosModel
import Testing

/// The lines of `inspect`, letter by letter.
@Suite("Lines of inspect")
struct AdvertLineTests {
  private func line(_ report: AdvertisingReport) -> String {
    var json = JSONText()
    AdvertLine(report).append(to: &json)
    return json.text
  }

  private func report(_ data: String, hasRSSI: Bool = true, level: Int8? = -49) -> AdvertisingReport {
    AdvertisingReport(
      frame: 134,
      index: 1,
      time: Timestamp(seconds: 1_612_150_079, nanoseconds: 789_349_000),
      address: DeviceAddress("a4:c1:38:bf:6f:ab", kind: .public),
      pdu: .scanRsp,
      hasRSSI: hasRSSI,
      level: level,
      data: CaptureBytes.hex(data)[...]
    )
  }

  private static let head =
    #"{"frame":134,"index":1,"time":"1612150079.789349000","addr":"a4:c1:38:bf:6f:ab","addr_type":"public","pdu":"SCAN_RSP""#

  @Test("an iBeacon is shown with its numbers")
  func iBeacon() {
    let data = "1aff4c000215494e54454c4c495f524f434b535f48575072f2ffc2"
    #expect(
      line(report(data)) == AdvertLineTests.head + #","rssi":-49,"data":"\#(data)","#
        + #""ibeacon":{"uuid":"494e5445-4c4c-495f-524f-434b535f4857","major":20594,"minor":62207,"tx_power":-62}}"#
        + "\n"
    )
  }

  @Test("a radio without a level says null, a framing without one says nothing")
  func levels() {
    #expect(line(report("", level: 127)) == AdvertLineTests.head + #","rssi":null,"data":""}"# + "\n")
    #expect(line(report("", hasRSSI: false, level: nil)) == AdvertLineTests.head + #","data":""}"# + "\n")
    #expect(line(report("", level: 0)) == AdvertLineTests.head + #","rssi":0,"data":""}"# + "\n")
  }

  @Test(
    "Eddystone and AltBeacon are shown with what they hold",
    arguments: [
      (
        "1516aafe00e3123456789012346789010000000000010000".replacing("1516", with: "1716"),
        #""eddystone":{"frame":"UID","service_data":"00e3123456789012346789010000000000010000","tx_power_0m":-29,"namespace":"12345678901234678901","instance":"000000000001"}"#
      ),
      (
        "0916aafe10ee0072757600",
        #""eddystone":{"frame":"URL","service_data":"10ee00727576","tx_power_0m":-18,"url":"http://www.ruv"}"#
      ),
      (
        "1116aafe20000b18130000001467 00002ac4",
        #""eddystone":{"frame":"TLM","service_data":"20000b1813000000146700002ac4","battery_mv":2840,"temperature":19,"adv_count":5223,"uptime":1094.8}"#
      ),
      (
        "0d16aafe30e35349445f74657374",
        #""eddystone":{"frame":"EID","service_data":"30e35349445f74657374","tx_power_0m":-29,"eid":"5349445f74657374"}"#
      ),
      (
        "1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509",
        #""altbeacon":{"company":280,"id":"2f234454cf6d4a0fadf2f4911ba9ffa600010002","ref_rssi":-59,"mfg_reserved":9}"#
      ),
    ]
  )
  func frames(data: String, member: String) {
    #expect(line(report(data)).contains(member), "\(line(report(data)))")
  }

  @Test("anonymous, damaged and partial reports say so")
  func oddities() {
    var odd = report("", hasRSSI: false)
    odd.address = nil
    odd.time = nil
    odd.isCRCRight = false
    odd.isComplete = false
    #expect(
      line(odd)
        == #"{"frame":134,"index":1,"time":null,"addr":null,"addr_type":"anonymous","pdu":"SCAN_RSP","data":"","crc_ok":false,"complete":false}"#
        + "\n"
    )
  }

  @Test("an advert out of a datagram names its observer")
  func observer() throws {
    var batch = ReportBatch()
    let payload = batch.append(payload: [2, 1, 6])
    let advert = Advert(
      address: DeviceAddress("112233445566", kind: .unknown),
      rssi: RSSI(dBm: -60),
      payload: payload
    )
    let appended = Report(
      observer: batch.index(of: .name("lobby")),
      received: Timestamp(seconds: 5),
      timing: .received,
      body: .advert(advert)
    )
    batch.append(appended)
    let line = try #require(AdvertLine(appended, in: batch, frame: 2, index: 0))
    var json = JSONText()
    line.append(to: &json)
    #expect(
      json.text
        == #"{"frame":2,"index":0,"time":"5.000000000","addr":"11:22:33:44:55:66","addr_type":"unknown","pdu":null,"rssi":-60,"data":"020106","observer":"lobby"}"#
        + "\n"
    )
    var other = appended
    other.body = .displayOn
    #expect(AdvertLine(other, in: batch, frame: 2, index: 0) == nil)
  }

  @Test("a datagram is one line, marked where it was cut")
  func datagram() throws {
    var datagram = UDPDatagram(
      frame: 7,
      time: Timestamp(nanoseconds: 1),
      source: Endpoint(try #require(IPAddress("10.0.0.1")), port: 1),
      destination: Endpoint(try #require(IPAddress("fd07::1")), port: 50_001),
      payload: [0xAB, 0xCD]
    )
    let text =
      #"{"frame":7,"time":"0.000000001","src":"10.0.0.1","sport":"1","dst":"fd07::1","dport":"50001","payload":"abcd""#
    var json = JSONText()
    datagram.append(to: &json)
    datagram.originalLength = 3
    datagram.append(to: &json)
    #expect(json.text == text + "}\n" + text + #","snapped":true}"# + "\n")
  }
}
