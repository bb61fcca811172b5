import Foundation
import PharosCaptures
import PharosModel
import PharosPipeline
import PharosWire
import Traffic

/// A recording of the site of `scale`, as `pharos serve --record` would keep it: 200 observers, 20,000 tracks, datagrams of
/// up to 24 adverts.
struct SyntheticRecording {
  /// How many observers there are.
  private static let observers = 200
  /// How many beacons each of them hears.
  private static let beacons = 100
  private static let gateway = Endpoint(IPAddress(v4: 0xC000_0201), port: 40_000)
  private static let server = Endpoint(IPAddress(v4: 0xC000_0202), port: 5_353)

  /// How much traffic it holds.
  let seconds: Int

  /// Writes it and gives the number of its adverts.
  func write(to url: URL) throws -> Int {
    guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
      throw WorkshopFailure(
        "\(url.path) could not be written. Is there room in the folder of temporary files?"
      )
    }
    let file = try FileHandle(forWritingTo: url)
    defer { try? file.close() }
    var workload = Workload(
      observers: SyntheticRecording.observers,
      beacons: SyntheticRecording.beacons
    )
    var recording = try RecordingWriter(site: workload.site)
    var encoders = (0..<SyntheticRecording.observers).map {
      PharosDatagramEncoder(observer: Workload.observer($0), bootID: 1)
    }
    var adverts = 0
    for second in 0..<seconds {
      for part in 0..<workload.batchesPerSecond {
        workload.fill(batch: part, ofSecond: second)
        adverts += workload.batch.reports.count
        try write(workload.batch, &encoders, to: &recording)
      }
      try file.write(contentsOf: recording.drainBytes())
    }
    try recording.finish(through: Workload.start(ofSecond: seconds))
    try file.write(contentsOf: recording.drainBytes())
    return adverts
  }

  /// Writes the datagrams of a batch, in which the adverts of each lie together and have one receive time.
  private func write(
    _ batch: borrowing ReportBatch,
    _ encoders: inout [PharosDatagramEncoder],
    to recording: inout RecordingWriter
  ) throws {
    var datagram: [UInt8] = []
    for (place, report) in batch.reports.enumerated() {
      let sender = number(of: batch.observers[Int(report.observer)])
      _ = encoders[sender].append(report, from: batch)
      let isLast =
        place + 1 == batch.reports.count || batch.reports[place + 1].received != report.received
        || batch.reports[place + 1].observer != report.observer
      guard isLast else { continue }
      let uptime = report.received - Workload.start(ofSecond: 0)
      encoders[sender].finish(uptime: uptime, into: &datagram)
      try recording.write(
        datagram: datagram.span.bytes,
        from: SyntheticRecording.gateway,
        to: SyntheticRecording.server,
        received: report.received
      )
    }
  }

  private func number(of observer: ObserverID) -> Int {
    guard case .eui48(let bits) = observer else { return 0 }
    return Int(bits & 0xFFFF)
  }
}
