import Benchmark
import PharosCaptures
import PharosModel
import PharosPipeline
import PharosWire
import Traffic

/// A synthetic capture in memory, read in chunks as a file would be.
struct Recorded {
  /// What its packets hold.
  enum Content {
    /// Pharos datagrams of so many adverts, over IP.
    case datagrams(Int)
    /// Advertising reports of a host controller.
    case hci
  }

  /// As much as is read of a file at a time.
  private static let chunk = 256 * 1_024
  private let bytes: [UInt8]

  init(_ content: Content) {
    var workload = Workload(observers: 64, beacons: 24)
    var writer: CaptureWriter
    switch content {
    case .datagrams: writer = CaptureWriter()
    case .hci: writer = CaptureWriter(interfaces: [.init(linkType: .bluetoothH4)])
    }
    for second in 0..<8 {
      workload.fill(batch: 0, ofSecond: second)
      switch content {
      case .datagrams(let adverts): Recorded.write(workload.batch, adverts, to: &writer)
      case .hci: Recorded.write(workload.batch, to: &writer)
      }
    }
    bytes = writer.drainBytes()
  }

  /// Reads the packets and looks into none.
  func walk() -> Int {
    var reader = CaptureReader()
    var packets = 0
    forEachChunk { chunk in
      reader.append(chunk)
      while (try? reader.nextPacket()) != nil { packets += 1 }
    }
    blackHole(packets)
    return packets
  }

  /// Reads the packets and decodes what they hold.
  func read() -> Int {
    var feed = CaptureFeed(observer: .eui48(0xAC23_3F00_0001))
    var adverts = 0
    forEachChunk { chunk in
      feed.append(chunk)
      while let input = try? feed.next() {
        guard case .reports(let batch) = input else { continue }
        for report in batch.reports { if case .advert = report.body { adverts += 1 } }
      }
    }
    return adverts
  }

  private func forEachChunk(_ body: (RawSpan) -> Void) {
    let span = bytes.span.bytes
    var place = 0
    while place < span.byteCount {
      let end = min(place + Recorded.chunk, span.byteCount)
      body(span.extracting(place..<end))
      place = end
    }
  }

  private static func write(_ batch: borrowing ReportBatch, _ adverts: Int, to writer: inout CaptureWriter) {
    let source = Endpoint(IPAddress(v4: 0xC000_0201), port: 40_000)
    let destination = Endpoint(IPAddress(v4: 0xC000_0202), port: 5_353)
    var encoders: [UInt32: PharosDatagramEncoder] = [:]
    var counts: [UInt32: Int] = [:]
    for report in batch.reports {
      var encoder =
        encoders[report.observer]
        ?? PharosDatagramEncoder(observer: batch.observers[Int(report.observer)], bootID: 1)
      _ = encoder.append(report, from: batch)
      counts[report.observer, default: 0] += 1
      if counts[report.observer, default: 0] == adverts || isLast(report, of: batch) {
        let datagram = encoder.finish(uptime: .seconds(100))
        try? writer.write(payload: datagram.span.bytes, from: source, to: destination, at: report.received)
        counts[report.observer] = 0
      }
      encoders[report.observer] = encoder
    }
  }

  /// Returns whether a report is its observer's last in this second: its datagram is sent as it is.
  private static func isLast(_ report: Report, of batch: borrowing ReportBatch) -> Bool {
    batch.reports.last { $0.observer == report.observer } == report
  }

  private static func write(_ batch: borrowing ReportBatch, to writer: inout CaptureWriter) {
    for report in batch.reports {
      guard case .advert(let advert) = report.body, let address = advert.address else { continue }
      let payload = batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
      var event: [UInt8] = [0x04, 0x3E, UInt8(12 + payload.count), 0x02, 0x01, 0x03, 0x00]
      for shift in stride(from: 0, to: 48, by: 8) {
        event.append(UInt8(address.bits >> UInt64(shift) & 0xFF))
      }
      event.append(UInt8(payload.count))
      event += payload
      event.append(UInt8(bitPattern: advert.rssi?.dBm ?? -60))
      try? writer.write(packet: event.span.bytes, at: report.received)
    }
  }
}
