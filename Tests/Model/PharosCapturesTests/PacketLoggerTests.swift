import PharosCaptures
import PharosDocuments
import PharosModel
import Testing

@Suite("Apple's PacketLogger")
struct PacketLoggerTests {
  private static let advert =
    "3e2a020103010c0b0a0000c31e0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010007c5c3"

  /// A log with a note, a command and so many adverts, one a second.
  private static func log(adverts: Int, isBig: Bool) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] {
      let bytes = [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) }
      return isBig ? bytes : bytes.reversed()
    }
    func record(_ second: Int, _ type: UInt8, _ data: [UInt8]) -> [UInt8] {
      number(data.count + 9) + number(1_760_000_000 + second) + number(500_000) + [type] + data
    }
    var log = record(0, 0xFC, Array("iPhone".utf8)) + record(0, 0, [0x0C, 0x20, 2, 1, 0])
    for second in 1...adverts { log += record(second, 1, Hex.bytes(advert) ?? []) }
    return log
  }

  @Test(
    "a log is read in either byte order, however it is cut into chunks",
    arguments: [true, false],
    [Int.max, 1, 7]
  )
  func read(isBig: Bool, chunk: Int) {
    let walk = CaptureWalk(Self.log(adverts: 10, isBig: isBig), chunk: chunk)
    #expect(walk.errors == [])
    #expect(walk.packets.count == 12)
    #expect(walk.packets.last?.time == Timestamp(seconds: 1_760_000_010, nanoseconds: 500_000_000))
    var extractor = AdvertExtractor()
    let reports = walk.packets.flatMap { extractor.reports(in: $0) }
    #expect(reports.count == 10)
    #expect(reports.allSatisfy { $0.address?.description == "c3:00:00:0a:0b:0c" && $0.level == -61 })
    #expect(extractor.counters.passedOver == [.otherBluetooth: 2])
  }

  @Test(
    "bytes that are no record in either order are no log",
    arguments: ["ffd8ffe000104a46494600010101", "00000035 68e77800 ffffffff 01"]
  )
  func others(hex: String) {
    let walk = CaptureWalk(CaptureBytes.hex(hex))
    #expect(walk.packets.isEmpty && walk.errors.count == 1)
  }
}
