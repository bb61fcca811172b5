import PharosCaptures
import PharosModel
import Testing

/// Extended advertising on the air: pointers, auxiliary PDUs and chains, joined by their data information.
@Suite("Extended advertising on the air")
struct ExtendedAdvertisingTests {
  private static let address = DeviceAddress("112233445566", kind: .random)

  @Test("an advertiser named on the primary channel only is known on the secondary one")
  func primaryNames() {
    var extractor = AdvertExtractor()
    let sighting = reports(&extractor, AirBytes.extended(flags: 0x19, fields: "665544332211 3452 000000"))
    #expect(sighting.map(\.pdu) == [.advExtInd])
    #expect(sighting.map(\.address) == [ExtendedAdvertisingTests.address])
    #expect(sighting.first?.data.isEmpty == true)
    let auxiliary = reports(&extractor, AirBytes.extended(flags: 0x08, fields: "3452", data: "020106"))
    #expect(auxiliary.map(\.pdu) == [.auxAdvInd])
    #expect(auxiliary.map(\.address) == [ExtendedAdvertisingTests.address])
    #expect(auxiliary.map(\.advertisingSet) == [5])
    // Other data information, or the same one long after, belongs to an unknown device.
    let other = reports(&extractor, AirBytes.extended(flags: 0x08, fields: "3552", data: "020106"))
    #expect(other.map(\.address) == [nil])
    let late = reports(&extractor, AirBytes.extended(flags: 0x08, fields: "3452", data: "020106"), at: 106)
    #expect(late.map(\.address) == [nil])
  }

  @Test("a pointer without an address is not a sighting")
  func pointer() {
    var extractor = AdvertExtractor()
    #expect(reports(&extractor, AirBytes.extended(flags: 0x18, fields: "3452 000000")).isEmpty)
    #expect(extractor.counters.pointers == 1)
  }

  @Test("the head of a chain is given at once and the whole with its last link")
  func chain() throws {
    var extractor = AdvertExtractor()
    let head = reports(
      &extractor,
      AirBytes.extended(flags: 0x19, fields: "665544332211 3452 000000", data: "0102")
    )
    #expect(head.map(\.isComplete) == [false])
    #expect(head.map { Array($0.data) } == [[1, 2]])
    #expect(reports(&extractor, AirBytes.extended(flags: 0x18, fields: "3452 000000", data: "03")).isEmpty)
    let whole = reports(&extractor, AirBytes.extended(flags: 0x08, fields: "3452", data: "04"))
    #expect(whole.map(\.pdu) == [.auxChainInd])
    #expect(whole.map(\.address) == [ExtendedAdvertisingTests.address])
    #expect(whole.map { Array($0.data) } == [[1, 2, 3, 4]])
    #expect(whole.map(\.isComplete) == [true])
    #expect(extractor.counters.abandonedChains == 0)
  }

  @Test("a chain that begins again discards the old one, and never grows beyond what an advert can hold")
  func abandoned() {
    var extractor = AdvertExtractor()
    let head = AirBytes.extended(flags: 0x19, fields: "665544332211 3452 000000", data: "01")
    #expect(reports(&extractor, head).count == 1)
    #expect(reports(&extractor, head).count == 1)
    #expect(extractor.counters.abandonedChains == 1)
    let link = AirBytes.extended(
      flags: 0x18,
      fields: "3452 000000",
      data: String(repeating: "aa", count: 245)
    )
    for _ in 0..<7 { #expect(reports(&extractor, link).isEmpty) }
    #expect(extractor.counters.abandonedChains == 2)
  }

  @Test("the kind of an auxiliary PDU is taken from the sniffer where it tells it")
  func roles() {
    var extractor = AdvertExtractor()
    let pdu = AirBytes.extended(flags: 0x49, fields: "665544332211 3452 f6", data: "020106")
    let kinds: [(String, [AdvertisingPDU])] = [
      ("930c", [.auxAdvInd]), ("931c", []), ("932c", []), ("933c", [.auxScanRsp]),
    ]
    for (flags, expected) in kinds {
      let text = "05 c4 80 00 d6be898e \(flags)" + AirBytes.packet(pdu)
      let found = extractor.reports(in: CaptureBytes.packet(.bluetoothLEWithHeader, text))
      #expect(found.map(\.pdu) == expected, "\(flags)")
      for report in found { #expect(report.transmitPower == -10) }
    }
    let onPrimary = "08 2400 03 0100 02 0a 01 25 41 0000 00000000" + AirBytes.packet(pdu)
    #expect(extractor.reports(in: CaptureBytes.packet(.nordicBLE, onPrimary)).map(\.pdu) == [.advExtInd])
    let onSecondary = "08 2400 03 0100 02 0a 01 05 41 0000 00000000" + AirBytes.packet(pdu)
    #expect(extractor.reports(in: CaptureBytes.packet(.nordicBLE, onSecondary)).map(\.pdu) == [.auxAdvInd])
  }

  private func reports(
    _ extractor: inout AdvertExtractor,
    _ pdu: String,
    at seconds: Int64 = 100
  ) -> [AdvertisingReport] {
    extractor.reports(in: CaptureBytes.packet(.bluetoothLE, AirBytes.packet(pdu), at: seconds))
  }
}
