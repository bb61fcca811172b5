import Foundation
import Logging
import PharosCaptures
import PharosConsoleSupport
import PharosLab
import PharosModel
import PharosNarration
import PharosService
import PharosSimulation
import PharosSite
import PharosTerminal
import PharosTestSupport
import PharosTools
import Synchronization
import Testing

/// Serves on real sockets of this machine, one test at a time.
@Suite("Serve", .serialized, .timeLimit(.minutes(20)))
struct ServeTests {
  private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  /// Serves while a body runs, then stops gracefully as SIGTERM would.
  private func serving(
    _ options: ServeRunner.Options,
    on kept: KeptConsole,
    _ body: @escaping @Sendable (HostPort) async throws -> Void
  ) async throws -> CommandStatus {
    let runner = ServeRunner(options, logger: quiet)
    let (stream, continuation) = AsyncStream<Serving>.makeStream()
    async let status = runner.run(on: kept.console) { continuation.yield($0) }
    for await serving in stream {
      defer { serving.stop() }
      try await body(try #require(serving.addresses.first))
      break
    }
    return await status
  }

  /// The parts of an event that a replay must give again.
  private struct Decision: Hashable {
    let type, application, region, subject: String
    let time: Date

    init(_ line: Substring) throws {
      let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let data = try #require(event["data"] as? [String: Any])
      type = try #require(event["type"] as? String)
      subject = event["subject"] as? String ?? ""
      application = data["application"] as? String ?? ""
      region = data["region"] as? String ?? data["zone"] as? String ?? ""
      let text = try #require(event["time"] as? String)
      let whole = try Date(String(text.prefix(19)) + "Z", strategy: .iso8601)
      let fraction = Double("0.\(text.dropFirst(20).prefix(9))") ?? 0
      time = whole.addingTimeInterval(fraction)
    }

    var key: String { "\(type) \(application) \(region) \(subject)" }
  }

  /// Keeps the beginning of a capture only.
  private func cut(_ path: String, after length: TimeSpan) throws {
    var reader = CaptureReader()
    reader.append(Array(try Data(contentsOf: URL(filePath: path))))
    var writer = CaptureWriter()
    var first: Timestamp?
    while let packet = try reader.nextPacket() {
      let time = try #require(packet.time)
      if first == nil { first = time }
      guard let first, time - first < length else { break }
      try writer.write(packet: packet.bytes.span.bytes, at: time)
    }
    try Data(writer.drainBytes()).write(to: URL(filePath: path))
  }

  /// The demo scene as a capture in a folder.
  private func demoCapture(in folder: TemporaryFolder, seed: UInt64 = 3) -> String {
    let capture = folder.path("demo.pcapng")
    let made = KeptConsole()
    #expect(
      SimulateRunner.run(scene: "demo", seed: seed, output: capture, truth: nil, console: made.console)
        == .success
    )
    return capture
  }

  @Test("a served replay is recorded, and process gives its events byte for byte", arguments: [1, 2])
  func recording(loops: Int) async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let capture = demoCapture(in: folder)
    let recording = folder.path("run.pharos")
    let output = folder.path("events.jsonl")
    let served = KeptConsole()
    let options = ServeRunner.Options(
      site: site,
      udp: [HostPort(host: "127.0.0.1", port: 0)],
      output: output,
      record: recording,
      loops: loops
    )
    let status = try await serving(options, on: served) { address in
      let replayed = KeptConsole()
      let replay = ReplayRunner(.init(capture: capture, pace: .captured(speed: 10)))
      let outcome = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(returning: replay.run(to: address, console: replayed.console))
        }
      }
      #expect(outcome == .success)
    }
    #expect(status == .success)
    #expect(served.errors.text.contains("Pharos is listening on udp 127.0.0.1:"))
    let events = try folder.bytes("events.jsonl")
    #expect(!events.isEmpty)
    for shards in [1, 2] {
      let processed = KeptConsole()
      var options = ProcessRunner.Options(captures: [recording])
      options.shards = shards
      #expect(ProcessRunner(options).run(on: processed.console) == .success)
      #expect(processed.output.bytes == events)
    }
  }

  @Test("on a full disk it serves on, and ends by saying how many events were lost")
  func fullDisk() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let capture = demoCapture(in: folder)
    let served = KeptConsole()
    let options = ServeRunner.Options(
      site: site,
      udp: [HostPort(host: "127.0.0.1", port: 0)],
      output: "/dev/full"
    )
    let status = try await serving(options, on: served) { address in
      let replayed = KeptConsole()
      let replay = ReplayRunner(.init(capture: capture, pace: .unlimited))
      #expect(replay.run(to: address, console: replayed.console) == .success)
    }
    #expect(status == .failure)
    #expect(served.errors.text.contains("could not be written to /dev/full"))
  }

  /// When the packets of a capture came, in order.
  private func times(of path: String) throws -> [Timestamp] {
    var reader = CaptureReader()
    reader.append(Array(try Data(contentsOf: URL(filePath: path))))
    var times: [Timestamp] = []
    while let packet = try reader.nextPacket() { times.append(try #require(packet.time)) }
    return times.sorted()
  }

  @Test("live events equal those of `process` on the capture, within 50 ms")
  func liveEqualsOffline() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let capture = demoCapture(in: folder)
    try cut(capture, after: .seconds(6))
    let recording = folder.path("run.pharos")
    let served = KeptConsole()
    let options = ServeRunner.Options(
      site: site,
      udp: [HostPort(host: "127.0.0.1", port: 0)],
      output: "-",
      record: recording,
      loops: 2
    )
    _ = try await serving(options, on: served) { address in
      let replay = ReplayRunner(.init(capture: capture))
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          _ = replay.run(to: address, console: KeptConsole().console)
          continuation.resume()
        }
      }
    }
    let processed = KeptConsole()
    _ = ProcessRunner(.init(captures: [capture], site: site)).run(on: processed.console)
    let offline = try processed.output.text.split(separator: "\n").map { try Decision($0) }
    let live = try served.output.text.split(separator: "\n").map { try Decision($0) }
    #expect(!offline.isEmpty && !live.isEmpty)
    // How late the machine let datagrams be: on one that is busy elsewhere, more than the server answers for.
    let (sent, received) = (try times(of: capture), try times(of: recording))
    try #require(sent.count == received.count)
    let shifts = zip(sent, received).map { ($1 - $0).nanoseconds }
    let lateness = Double((shifts.max() ?? 0) - (shifts.min() ?? 0)) / 1e9
    guard lateness < 0.25 else {
      print("skipped in part: the machine held datagrams back for \(lateness) s")
      return
    }
    let begin = try #require(offline.first?.time)
    let liveBegin = try #require(live.first?.time)
    let base = begin.timeIntervalSince(liveBegin)
    // The server stops a moment after the last packet, by which time some seconds of ranging may be over.
    let end = try #require(offline.map(\.time).max()).addingTimeInterval(0.05 + lateness - base)
    #expect((-4...4).contains(live.count { $0.time <= end } - offline.count))
    // Decisions about different subjects that are due within the tolerance may change places.
    let answered = Dictionary(grouping: live, by: \.key)
    for (key, expected) in Dictionary(grouping: offline, by: \.key) {
      var (expected, found) = (expected, answered[key] ?? [])
      // Ranging is published at the ends of whole seconds: what begins beside such an end may begin one second before or behind it.
      if expected.first?.type == "pharos.ranging", let left = expected.first, let right = found.first {
        let shift = left.time.timeIntervalSince(right.time) - base
        if shift > 0.5 { found.removeFirst() }
        if shift < -0.5 { expected.removeFirst() }
      }
      #expect(found.count >= expected.count, "\(key): \(found.count) of \(expected.count)")
      for (left, right) in zip(expected, found) {
        #expect(abs(left.time.timeIntervalSince(right.time) - base) < 0.05 + lateness, "\(key)")
      }
    }
  }

  @Test("the demo shows enters, an exit and rooms, in the first five seconds of its traffic, and no readings")
  func demo() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let capture = demoCapture(in: folder, seed: DemoService.seed)
    try cut(capture, after: .seconds(5))
    let processed = KeptConsole()
    var options = ProcessRunner.Options(captures: [capture], site: site)
    options.format = .table
    #expect(ProcessRunner(options).run(on: processed.console) == .success)
    #expect([" enter ", " exit ", " ranging "].allSatisfy(processed.output.text.contains))
    let words = [" enter ", " exit ", " zone enter "]
    let served = KeptConsole()
    let status = try await serving(.init(isDemo: true), on: served) { _ in
      while !words.allSatisfy(served.output.text.contains) { await Task.yield() }
    }
    #expect(status == .success)
    #expect(served.output.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(![" ranging ", " fix "].contains(where: served.output.text.contains))
    #expect(served.errors.text.contains("try next   pharos init"))
  }

  @Test("an address in use is reported with advice")
  func addressInUse() async throws {
    let first = KeptConsole()
    let status = try await serving(.init(udp: [HostPort(host: "127.0.0.1", port: 0)], loops: 1), on: first) {
      accepted in
      let second = KeptConsole()
      let runner = ServeRunner(.init(udp: [accepted], loops: 1), logger: quiet)
      #expect(await runner.run(on: second.console) == .failure)
      #expect(second.errors.text.contains("cannot listen on udp \(accepted): address in use"))
    }
    #expect(status == .success)
  }
}
