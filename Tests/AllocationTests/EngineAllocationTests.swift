import CAllocationCounter
import PharosModel
import PharosPresence
import Testing

/// What stage one asks the allocator for once it knows the beacons that it hears.
@Suite("Allocations of stage one", .enabled(if: allocations_are_counted(), "a sanitizer has the allocator"))
struct EngineAllocationTests {
  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  /// The reports of a gateway in one second: every beacon once, with untracked ones among them.
  static func second(beacons: Int, passersBy: Int) -> ReportBatch {
    var batch = ReportBatch()
    let observer = batch.index(of: .eui48(0xAC23_3FA0_0001))
    for number in 0..<(beacons + passersBy) {
      var payload = AllocationTests.payload
      payload[25] = UInt8(truncatingIfNeeded: number >> 8)
      payload[26] = UInt8(truncatingIfNeeded: number)
      if number >= beacons { payload[10] = 0xFF }
      let range = batch.append(payload: payload)
      let address = DeviceAddress(bits: UInt64(number), kind: .public)
      let advert = Advert(address: address, rssi: RSSI(dBm: -60), payload: range)
      batch.append(
        Report(
          observer: observer,
          received: .distantPast,
          timing: .age(.milliseconds(20)),
          body: .advert(advert)
        )
      )
    }
    return batch
  }

  /// Plays seconds of traffic and gives the allocations of each.
  static func play(_ site: Site, seconds: Int) -> [UInt64] {
    let batch = second(beacons: 200, passersBy: 50)
    let reports = batch.reports
    var engine = MonitoringEngine(site: site)
    var output = StageOutput()
    var counts: [UInt64] = []
    counts.reserveCapacity(seconds)
    for second in 0..<seconds {
      let start = Timestamp(seconds: 1_420_070_400 + Int64(second))
      let before = allocation_count_of_this_thread()
      for index in reports.indices {
        var report = reports[index]
        report.received = start + .milliseconds(Int64(index) * 4)
        engine.ingest(report, in: batch, into: &output)
      }
      counts.append(allocation_count_of_this_thread() - before)
      output.removeAll()
    }
    return counts
  }

  @Test("a beacon that is here is heard without allocating")
  func steadyState() {
    let region = Region(identifier: "hall", constraint: .proximity(Self.uuid))
    let site = Site(applications: [Application(identifier: "gallery", regions: [region])])
    let counts = Self.play(site, seconds: 120)
    let steady = counts.suffix(40)
    #expect(steady.allSatisfy { $0 == 0 }, "allocations in each second of 250 adverts: \(steady)")
  }
}
