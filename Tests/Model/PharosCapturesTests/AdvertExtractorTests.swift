import PharosCaptures
import PharosDocuments
import PharosModel
import Testing

/// Reports as controllers tell them, with the oddities that real logs hold.
@Suite("Adverts in HCI captures")
struct AdvertExtractorTests {
  /// Subevent 2, one report: ADV_NONCONN_IND of a random address with three bytes of data at −60 dBm.
  static let event = "3e0f 02 01 03 01 665544332211 03 020106 c4"

  static let framings: [(LinkType, String, UInt32)] = [
    (.bluetoothH4, "04", 0), (.btsnoopH4, "04", 0), (.bluetoothH4WithDirection, "0000000004", 0),
    (.linuxMonitor, "0000 0003", 0), (.btsnoopHCI, "", 3), (.btsnoopMonitor, "", 0x0001_0003),
  ]

  @Test("one event reads the same in every framing", arguments: framings)
  func everyFraming(linkType: LinkType, prefix: String, flags: UInt32) throws {
    var extractor = AdvertExtractor()
    let packet = CaptureBytes.packet(linkType, prefix + AdvertExtractorTests.event, number: 9, flags: flags)
    let report = try only(extractor.reports(in: packet))
    #expect(report.frame == 9)
    #expect(report.time == Timestamp(seconds: 100))
    #expect(report.pdu == .advNonconnInd)
    #expect(report.address == DeviceAddress("11:22:33:44:55:66", kind: .random))
    #expect(report.addressKind == .random)
    #expect(report.rssi == RSSI(dBm: -60))
    #expect(Array(report.data) == [2, 1, 6])
    #expect(report.isCRCRight == nil)
    #expect(extractor.counters.reports == 1)
  }

  static let others: [(LinkType, String, UInt32)] = [
    (.btsnoopH4, "01 0c20 02 0100", 0), (.btsnoopH4, "02 0000", 0), (.btsnoopH4, "04 0e 04 01 0320 00", 0),
    (.btsnoopH4, "04 3e 02 0a 00", 0), (.btsnoopHCI, event, 2), (.btsnoopHCI, event, 1),
    (.btsnoopMonitor, event, 2), (.linuxMonitor, "0000 0002" + event, 0),
  ]

  @Test("a packet that is no report of the controller is counted as unrelated", arguments: others)
  func unrelated(linkType: LinkType, text: String, flags: UInt32) {
    var extractor = AdvertExtractor()
    #expect(extractor.reports(in: CaptureBytes.packet(linkType, text, flags: flags)).isEmpty)
    #expect(extractor.counters.unrelated == 1)
  }

  @Test("link types without adverts are counted, not misread")
  func unsupported() {
    var extractor = AdvertExtractor()
    for linkType in [LinkType.ethernet, .btsnoopSimulator, LinkType(pcap: 999)] {
      #expect(extractor.reports(in: CaptureBytes.packet(linkType, "04" + AdvertExtractorTests.event)).isEmpty)
    }
    #expect(extractor.counters.unsupportedLinkType == 3)
    #expect(LinkType(pcap: 999).description == "999")
    #expect(LinkType.btsnoopSimulator.description == "btsnoop 2002 (simulator)")
  }

  @Test(
    "event types are HCI's numbers, not the link layer's",
    arguments: zip(
      0..<5 as Range<UInt8>,
      [.advInd, .advDirectInd, .advScanInd, .advNonconnInd, .scanRsp] as [AdvertisingPDU]
    )
  )
  func eventTypes(number: UInt8, pdu: AdvertisingPDU) throws {
    var extractor = AdvertExtractor()
    let text = "04 3e0c 02 01 \(Hex.text([number])) 00 665544332211 00 81"
    let report = try only(extractor.reports(in: CaptureBytes.packet(.btsnoopH4, text)))
    #expect(report.pdu == pdu)
    #expect(report.addressKind == .public)
    #expect(report.level == -127)
  }

  @Test("a level of 127 is none, and 0 is what was written but no level")
  func levels() throws {
    var extractor = AdvertExtractor()
    for (level, written) in [("7f", nil), ("00", 0)] as [(String, Int8?)] {
      let text = "04 3e0c 02 01 00 00 665544332211 00 \(level)"
      let report = try only(extractor.reports(in: CaptureBytes.packet(.btsnoopH4, text)))
      #expect(report.hasRSSI)
      #expect(report.level == written)
      #expect(report.rssi == nil)
    }
  }

  @Test("all reports of an event are given, past manufacturer data too short for a company")
  func several() {
    let second = "04 01 665544332212 04 0302 0d18 ce"
    let text = "04 3e1d 02 02 00 00 665544332211 03 02ff03 c4" + second
    var extractor = AdvertExtractor()
    let reports = extractor.reports(in: CaptureBytes.packet(.btsnoopH4, text))
    #expect(reports.map(\.index) == [0, 1])
    #expect(reports.map(\.pdu) == [.advInd, .scanRsp])
    #expect(reports.map(\.level) == [-60, -50])
  }

  @Test("a report that does not fit ends the event and keeps those before it")
  func overrun() {
    let text = "04 3e1d 02 02 00 00 665544332211 03 020106 c4 04 01 665544332212 1f 0302 0d18 ce"
    var extractor = AdvertExtractor()
    #expect(extractor.reports(in: CaptureBytes.packet(.btsnoopH4, text)).count == 1)
    #expect(extractor.counters.malformed == 1)
    #expect(extractor.reports(in: CaptureBytes.packet(.btsnoopH4, text, originalLength: 80)).count == 1)
    #expect(extractor.counters.snapped == 1)
  }

  @Test("every cut of an event gives nothing and is counted once")
  func cuts() {
    let bytes = CaptureBytes.hex("04" + AdvertExtractorTests.event)
    for length in 0..<bytes.count {
      var extractor = AdvertExtractor()
      let packet = CaptureBytes.packet(.btsnoopH4, Hex.text(bytes[..<length]), originalLength: bytes.count)
      #expect(extractor.reports(in: packet).isEmpty)
      #expect(extractor.counters.snapped == 1)
    }
  }

  @Test(
    "extended reports tell their set, PHY and power",
    arguments: [
      (0x0013, .advInd), (0x0015, .advDirectInd), (0x0012, .advScanInd), (0x0010, .advNonconnInd),
      (0x001B, .scanRsp), (0x001A, .scanRsp), (0x0000, .advExtInd), (0x0001, .advExtInd),
      (0x0008, .auxScanRsp),
    ] as [(UInt16, AdvertisingPDU)]
  )
  func extended(type: UInt16, pdu: AdvertisingPDU) throws {
    var extractor = AdvertExtractor()
    let report = try only(extractor.reports(in: extendedEvent(type: type, data: "020106")))
    #expect(report.pdu == pdu)
    #expect(report.advertisingSet == 5)
    #expect(report.primaryPHY == .coded)
    #expect(report.transmitPower == 4)
    #expect(report.level == -70)
    #expect(Array(report.data) == [2, 1, 6])
    #expect(report.isComplete)
  }

  @Test("the first of several parts is given at once, and the whole with the last, joined by address and set")
  func parts() throws {
    var extractor = AdvertExtractor()
    let first = try only(extractor.reports(in: extendedEvent(type: 0x20, data: "0102", number: 1)))
    #expect(Array(first.data) == [1, 2])
    #expect(first.frame == 1)
    #expect(!first.isComplete)
    // Another set in between has a chain of its own, and a legacy advert has none.
    #expect(extractor.reports(in: extendedEvent(type: 0x20, data: "aa", set: 6, number: 2)).count == 1)
    #expect(extractor.reports(in: extendedEvent(type: 0x13, data: "ff", number: 3)).count == 1)
    #expect(extractor.reports(in: extendedEvent(type: 0x20, data: "03", number: 4)).isEmpty)
    let whole = try only(extractor.reports(in: extendedEvent(type: 0x00, data: "04", number: 5)))
    #expect(Array(whole.data) == [1, 2, 3, 4])
    #expect(whole.frame == 5)
    #expect(whole.isComplete)
    let cut = try only(extractor.reports(in: extendedEvent(type: 0x40, data: "bb", set: 6, number: 6)))
    #expect(Array(cut.data) == [0xAA, 0xBB])
    #expect(!cut.isComplete)
  }

  @Test("data longer than any advert is given up")
  func tooLong() {
    var extractor = AdvertExtractor()
    let part = String(repeating: "55", count: 229)
    for index in 0..<7 {
      let found = extractor.reports(in: extendedEvent(type: 0x20, data: part))
      #expect(found.count == (index == 0 ? 1 : 0))
    }
    #expect(extractor.reports(in: extendedEvent(type: 0x00, data: part)).isEmpty)
    #expect(extractor.counters.abandonedChains == 1)
    #expect(extractor.reports(in: extendedEvent(type: 0x00, data: part)).count == 1)
  }

  @Test("an anonymous advert has no address")
  func anonymous() throws {
    var extractor = AdvertExtractor()
    let report = try only(extractor.reports(in: extendedEvent(type: 0, data: "", addressType: "ff")))
    #expect(report.address == nil)
    #expect(report.addressKind == .anonymous)
  }

  @Test("a report becomes an advert of the observer that a caller names")
  func batch() throws {
    var extractor = AdvertExtractor()
    let report = try only(
      extractor.reports(in: CaptureBytes.packet(.btsnoopH4, "04" + AdvertExtractorTests.event))
    )
    var batch = ReportBatch()
    report.append(to: &batch, observer: .name("lobby"), received: Timestamp(seconds: 7))
    let appended = try #require(batch.reports.first)
    #expect(batch.observers == [.name("lobby")])
    #expect(batch.payloads == [2, 1, 6])
    #expect(appended.received == Timestamp(seconds: 7))
    #expect(appended.timing == .received)
    guard case .advert(let advert) = appended.body else {
      Issue.record("no advert: \(appended)")
      return
    }
    #expect(advert.pdu == .nonConnectable)
    #expect(advert.rssi == RSSI(dBm: -60))
    #expect(advert.channel == 0)
    #expect(advert.advertisingSet == 255)
  }

  private func extendedEvent(
    type: UInt16,
    data: String,
    set: UInt8 = 5,
    addressType: String = "01",
    number: Int = 1
  ) -> Packet {
    let count = CaptureBytes.hex(data).count
    let text =
      "04 3e" + Hex.text([UInt8(26 + count)]) + "0d 01"
      + CaptureBytes.number(UInt64(type), bytes: 2, big: false) + addressType + "665544332211 03 00"
      + Hex.text([set]) + "04 ba 0000 00 000000000000" + Hex.text([UInt8(count)]) + data
    return CaptureBytes.packet(.btsnoopH4, text, number: number)
  }

  private func only(_ reports: [AdvertisingReport]) throws -> AdvertisingReport {
    try #require(reports.count == 1)
    return reports[0]
  }
}
