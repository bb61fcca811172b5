import PharosCaptures
import PharosDocuments
import PharosModel
import Testing

/// Advertising as sniffers heard it: their headers, checksums and damage, and extended advertising joined.
@Suite("Adverts from the air")
struct AirPacketTests {
  /// ADV_NONCONN_IND of a random address with three bytes of data.
  static let pdu = "4209 665544332211 020106"

  @Test("the framings of sniffers say what they know of level, channel and checksum")
  func framings() throws {
    let air = AirBytes.packet(AirPacketTests.pdu)
    let nordic = { (version: String, type: String, flags: String) in
      "08 2400 \(version) 0100 \(type) 0a \(flags) 26 41 0000 00000000" + air
    }
    let cases: [(LinkType, String, Int8?, UInt8?, Bool)] = [
      (.bluetoothLE, air, nil, nil, false),
      (.bluetoothLEWithHeader, "00 c4 80 00 d6be898e 1300" + air, -60, 37, true),
      (.bluetoothLEWithHeader, "0c c4 80 00 d6be898e 010c" + air, nil, 38, true),
      // A tool that sets no flag at all, not even "dewhitened".
      (.bluetoothLEWithHeader, "00 c4 80 00 d6be898e 0000" + air, nil, 37, true),
      // whad writes the index where the physical channel belongs.
      (.bluetoothLEWithHeader, "25 c4 80 00 d6be898e 030c" + air, -60, 37, true),
      (.nordicBLE, nordic("02", "06", "01"), -65, 38, true),
      (.nordicBLE, nordic("03", "02", "01"), -65, 38, true),
      (.nordicBLE, "08 06 24 01 0100 06 0a 01 27 30 0000 00000000" + air, -48, 39, true),
      (.ppi, "00 00 0800 93000000" + air, nil, nil, false),
      (.ppi, "00 00 0c00 fb000000 00000000" + air, nil, nil, false),
    ]
    for (linkType, text, level, channel, hasRSSI) in cases {
      var extractor = AdvertExtractor()
      let reports = extractor.reports(in: CaptureBytes.packet(linkType, text))
      let report = try #require(reports.first, "\(linkType): \(extractor.counters)")
      #expect(reports.count == 1)
      #expect(report.pdu == .advNonconnInd)
      #expect(report.address == DeviceAddress("112233445566", kind: .random))
      #expect(Array(report.data) == [2, 1, 6])
      #expect(report.level == level)
      #expect(report.channel == channel)
      #expect(report.hasRSSI == hasRSSI)
      #expect(report.isCRCRight == true)
    }
  }

  @Test("a wrong checksum drops the packet and counts it, unless damage was asked for")
  func checksums() throws {
    let good = AirBytes.packet(AirPacketTests.pdu)
    let bad = AirBytes.packet(AirPacketTests.pdu, damage: 1)
    let header = "00 c4 80 00 d6be898e "
    // Where a tool says that it checked, its word counts, for dummies as for the rest.
    let cases: [(LinkType, String, Bool)] = [
      (.bluetoothLE, bad, false), (.bluetoothLEWithHeader, header + "1300" + bad, false),
      (.bluetoothLEWithHeader, header + "130c" + bad, true),
      (.bluetoothLEWithHeader, header + "1304" + good, false),
      // Still whitened: the word of a tool that checked before is of no use here.
      (.bluetoothLEWithHeader, header + "120c" + bad, false),
      (.nordicBLE, "08 2400 02 0100 06 0a 00 26 41 0000 00000000" + good, false),
    ]
    for (linkType, text, isRight) in cases {
      var extractor = AdvertExtractor()
      #expect(extractor.reports(in: CaptureBytes.packet(linkType, text)).isEmpty != isRight)
      #expect(extractor.counters.badCRC == (isRight ? 0 : 1))
      var tolerant = AdvertExtractor(keepsDamaged: true)
      let kept = tolerant.reports(in: CaptureBytes.packet(linkType, text))
      #expect(kept.map(\.isCRCRight) == [isRight])
    }
  }

  @Test("a flipped bit anywhere in a packet is noticed")
  func everyBit() {
    let bytes = CaptureBytes.hex(AirBytes.packet(AirPacketTests.pdu))
    for bit in 0..<(bytes.count * 8) {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      var extractor = AdvertExtractor()
      let reports = extractor.reports(in: CaptureBytes.packet(.bluetoothLE, Hex.text(damaged)))
      // The two bits above a legacy length were reserved, yet the checksum covers them too.
      #expect(reports.isEmpty, "bit \(bit)")
    }
  }

  @Test("a packet shorter than its own length is counted, each cut of it")
  func short() {
    let bytes = CaptureBytes.hex(AirBytes.packet(AirPacketTests.pdu))
    for length in 0..<bytes.count {
      var extractor = AdvertExtractor()
      #expect(extractor.reports(in: CaptureBytes.packet(.bluetoothLE, Hex.text(bytes[..<length]))).isEmpty)
      #expect(extractor.counters.cutShort == 1)
    }
  }

  @Test(
    "connections, requests and what only looks like adverts are passed over",
    arguments: [
      (.bluetoothLE, "11223344 0209 665544332211 020106 000000", "unrelated"),
      (.bluetoothLE, AirBytes.packet("830c 665544332211 665544332212"), "unrelated"),
      (.bluetoothLEWithHeader, "00 c4 80 00 d6be898e 1301" + AirBytes.packet(pdu), "unrelated"),
      (.bluetoothLE, AirBytes.packet("4205 6655443322"), "malformed"),
      (.bluetoothLE, AirBytes.packet("4107 66554433221102"), "malformed"),
      (.bluetoothLE, AirBytes.packet("0704 05 01 6655"), "malformed"),
      (.bluetoothLE, AirBytes.packet("0704 02 01 6655"), "malformed"),
      (.nordicBLE, "beef 06 0100 0000 0600", "unsupported"),
      (.nordicBLE, "08 2400 03 0100 06 0a", "unrelated"),
      (.ppi, "00 00 0800 69000000", "unsupported"),
    ] as [(LinkType, String, String)]
  )
  func passedOver(linkType: LinkType, text: String, heading: String) {
    var extractor = AdvertExtractor()
    #expect(extractor.reports(in: CaptureBytes.packet(linkType, text)).isEmpty)
    let counters = extractor.counters
    #expect(counters.unrelated == (heading == "unrelated" ? 1 : 0))
    #expect(counters.malformed == (heading == "malformed" ? 1 : 0))
    #expect(counters.unsupportedLinkType == (heading == "unsupported" ? 1 : 0))
  }

  @Test("a directed advert has an address and no data")
  func directed() throws {
    var extractor = AdvertExtractor()
    let air = AirBytes.packet("c10c 665544332211 665544332212")
    let report = try #require(extractor.reports(in: CaptureBytes.packet(.bluetoothLE, air)).first)
    #expect(report.pdu == .advDirectInd)
    #expect(report.address == DeviceAddress("112233445566", kind: .random))
    #expect(report.data.isEmpty)
  }

  @Test("a packet of the coded PHY has its coding indicator passed over")
  func coded() throws {
    let pdu = AirBytes.extended(flags: 0x09, fields: "665544332211 3412", data: "020106")
    var extractor = AdvertExtractor()
    let air = AirBytes.packet(pdu, codingIndicator: "00")
    let text = "05 c4 80 00 d6be898e 9380" + air
    let report = try #require(extractor.reports(in: CaptureBytes.packet(.bluetoothLEWithHeader, text)).first)
    #expect(report.pdu == .auxAdvInd)
    #expect(report.primaryPHY == .coded)
    #expect(report.advertisingSet == 1)
    #expect(report.channel == 4)
  }
}
