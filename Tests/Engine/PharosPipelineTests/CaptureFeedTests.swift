import PharosCaptures
import PharosModel
import PharosPipeline
import PharosTestSupport
import PharosWire
import Testing

@Suite("The feed of a capture")
struct CaptureFeedTests {
  /// A capture of a few hundred datagrams, its adverts spread unevenly over them.
  private static func capture(seed: UInt64) throws -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var encoder = PharosDatagramEncoder(observer: .eui48(0xAC23_3FA0_0001), bootID: 1)
    var writer = CaptureWriter()
    let from = Endpoint(IPAddress(v4: 0x0A00_0001), port: 40_000)
    let to = Endpoint(IPAddress(v4: 0x0A00_0002), port: 50_001)
    for number in 0..<300 {
      let time = Traffic.start + .milliseconds(Int64(number) * 10)
      var batch = ReportBatch()
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        let payload = (0..<Int.random(in: 0...31, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        let range = batch.append(payload: payload)
        let advert = Advert(address: nil, rssi: RSSI(dBm: -60), payload: range)
        let observer = batch.index(of: encoder.observer)
        let report = Report(observer: observer, received: time, timing: .age(.zero), body: .advert(advert))
        batch.append(report)
        _ = encoder.append(report, from: batch)
      }
      let datagram = encoder.finish(uptime: .milliseconds(Int64(number) * 10))
      try writer.write(payload: datagram.span.bytes, from: from, to: to, at: time)
    }
    return writer.drainBytes()
  }

  /// The batches that a capture gives, handed over in chunks.
  private static func batches(
    _ bytes: [UInt8],
    chunk: Int,
    maxReports: Int,
    recycling: Bool
  ) throws -> [ReportBatch] {
    var feed = CaptureFeed(observer: .name("test"))
    var batches: [ReportBatch] = []
    var start = 0
    while start < bytes.count {
      let end = min(start + chunk, bytes.count)
      feed.append(Array(bytes[start..<end]))
      start = end
      while let input = try feed.next(maxReports: maxReports) {
        if case .reports(let batch) = input { batches.append(batch) }
        if recycling { feed.recycle(input) }
      }
    }
    try feed.finish()
    return batches
  }

  /// All reports with what they point to, whatever batch they came in.
  private static func joined(_ batches: [ReportBatch]) -> ReportBatch {
    var joined = ReportBatch()
    for batch in batches { for report in batch.reports { joined.append(report, from: batch) } }
    return joined
  }

  @Test("handing batches back changes none of those to come, nor those that were kept")
  func recycling() throws {
    let bytes = try Self.capture(seed: 3)
    let kept = try Self.batches(bytes, chunk: 5_000, maxReports: 100, recycling: false)
    let recycled = try Self.batches(bytes, chunk: 5_000, maxReports: 100, recycling: true)
    #expect(kept.count > 20)
    #expect(recycled == kept)
  }

  @Test("neither chunks nor batches show in the reports", arguments: [1, 64, 1_000, 1 << 20])
  func portions(chunk: Int) throws {
    let bytes = try Self.capture(seed: 5)
    let whole = Self.joined(
      try Self.batches(bytes, chunk: bytes.count, maxReports: 1 << 20, recycling: false)
    )
    #expect(whole.reports.count > 1_000)
    for maxReports in [1, 37, 1_024] {
      let parts = try Self.batches(bytes, chunk: chunk, maxReports: maxReports, recycling: true)
      #expect(Self.joined(parts) == whole)
    }
  }
}
