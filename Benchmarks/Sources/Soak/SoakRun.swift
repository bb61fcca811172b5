import Foundation
import NIOCore
import NIOPosix
import ServedProcess

/// One run: a server, its load, its clients, and a look every ten seconds.
struct SoakRun {
  /// The time between two samples.
  ///
  /// - Units: seconds.
  private static let period = 10.0
  /// How long the server has to close what clients left behind: longer than its idle time of 60 s.
  private static let closingTime = 75.0

  private let duration: Double
  private let rate: Int
  private let samples: FileHandle?
  private let folder: URL
  private let udp: UInt16
  private let setup: ServedPharos.Setup

  init(pharos: URL, rate: Int, duration: Double, samples: String?) throws {
    self.duration = duration
    self.rate = rate
    folder = FileManager.default.temporaryDirectory.appending(path: "pharos-soak-\(UUID())")
    udp = try Machine.freePort(udp: true)
    setup = ServedPharos.Setup(
      pharos: pharos,
      site: SoakRun.site(udp: udp),
      folder: folder,
      http: try Machine.freePort(udp: false)
    )
    if let samples { _ = FileManager.default.createFile(atPath: samples, contents: nil) }
    self.samples = samples.flatMap { FileHandle(forWritingAtPath: $0) }
  }

  static func site(udp: UInt16) -> String {
    """
    listen: { udp: ["127.0.0.1:\(udp)"] }
    applications:
      - id: soak
        regions:
          - \(Markers.region)
          - { id: site, uuid: \(SiteLoad.uuid) }
        ranging:
          - { uuid: \(SiteLoad.uuid), major: 1 }
    """
  }

  /// Runs to the end and gives what was seen.
  func perform() async throws -> SoakRecord {
    let server = try ServedPharos(setup)
    defer {
      if server.isRunning { server.stop() }
      try? FileManager.default.removeItem(at: folder)
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let call = HTTPCall(port: setup.http, group: group)
    _ = try await call.get("/v1/status")
    guard let before = ProcessUse(of: server.processID) else {
      throw ServedProcessError("the server is gone")
    }
    var record = SoakRecord(duration: duration, rate: rate, before: before, after: before)
    let markers = Markers()
    let meter = DelayMeter(markers)
    let stream = try await EventStream(
      port: setup.http,
      path: "/v1/events?region=markers",
      group: group
    ) { meter.record($0) }
    let load = try LoadSender(to: udp, adverts: rate, markers: markers)
    let churn = ClientChurn(port: setup.http, group: group)
    let clients = Task { await churn.run() }
    let start = Date()
    var next = SoakRun.period
    while next <= duration {
      try await Task.sleep(for: .seconds(max(0, start.timeIntervalSinceNow + next)))
      guard let use = ProcessUse(of: server.processID), stream.isOpen else {
        throw ServedProcessError(
          "the server or the stream is gone; the log says:\n\(server.log.suffix(2_000))"
        )
      }
      let sample = SoakRun.sample(at: next, use, meter, churn.now)
      record.samples.append(sample)
      write(sample)
      next += SoakRun.period
    }
    let metrics = try await Metrics(of: call)
    load.stop()
    clients.cancel()
    await clients.value
    stream.close()
    record.sent = load.progress.datagrams
    record.datagrams = metrics.sum("pharos_ingest_datagrams_total")
    record.kernelDrops = metrics.sum("pharos_ingest_kernel_drops_total")
    record.refused = metrics.sum("pharos_ingest_datagrams_refused_total")
    record.journalled = metrics.sum("pharos_journal_sequence")
    try await Task.sleep(for: .seconds(SoakRun.closingTime))
    record.after = ProcessUse(of: server.processID) ?? before
    print(
      "\(Int(duration / 60)) min at \(rate) adverts/s: \(Int(record.datagrams)) datagrams, "
        + "\(Int(record.journalled)) events kept, \(churn.now.pages) pages asked for"
    )
    let warnings = server.log.split(separator: "\n").filter {
      $0.contains(" warning ") || $0.contains(" error ")
    }
    for line in warnings.prefix(20) { print(line) }
    try await group.shutdownGracefully()
    return record
  }

  private static func sample(
    at time: Double,
    _ use: ProcessUse,
    _ meter: DelayMeter,
    _ clients: ClientChurn.Counts
  ) -> SoakSample {
    let delays = meter.drain()
    return SoakSample(
      time: time,
      resident: use.resident,
      descriptors: use.descriptors,
      threads: use.threads,
      decisions: delays.count,
      p50: delays.p50,
      p99: delays.p99,
      maximum: delays.maximum,
      streams: clients.streams,
      pages: clients.pages,
      failedPages: clients.failedPages,
      machineLoad: ProcessUse.machineLoad
    )
  }

  private func write(_ sample: SoakSample) {
    guard let samples, let json = try? JSONEncoder().encode(sample) else { return }
    try? samples.write(contentsOf: json + Data("\n".utf8))
  }
}
