import Foundation
import PharosCaptures
import PharosConsoleSupport
import PharosDocuments
import PharosLab
import PharosModel
import PharosPipeline
import PharosTerminal
import PharosTestSupport
import PharosWire
import Testing

@Suite("Import of traces")
struct SurveyImportTests {
  private static let start: Int64 = 1_574_559_000_000

  /// What a trace's feed gives.
  private static func batches(of text: String, named name: String) -> [ReportBatch] {
    var feed = TraceFeed(observer: .name(name))
    feed.append(Array(text.utf8))
    feed.finish()
    var batches: [ReportBatch] = []
    while let batch = feed.next() { batches.append(batch) }
    return batches
  }

  /// All datagrams of a capture with the reports in them.
  private static func datagrams(of capture: [UInt8]) throws -> [(bytes: Int, batch: ReportBatch)] {
    var reader = CaptureReader()
    reader.append(capture)
    var found: [(Int, ReportBatch)] = []
    var assembler = DatagramAssembler()
    var decoder = DatagramDecoder()
    while let packet = try reader.nextPacket() {
      guard let datagram = assembler.add(packet), let time = packet.time else { continue }
      var batch = ReportBatch()
      let bytes = Array(datagram.payload)
      _ = decoder.decode(bytes.span.bytes, received: time, into: &batch)
      found.append((bytes.count, batch))
    }
    #expect(decoder.counters.totalRefusals == 0)
    return found
  }

  private func imported(_ walks: [(name: String, text: String)]) throws -> (capture: [UInt8], said: String) {
    let folder = try TemporaryFolder()
    for walk in walks { try SurveyFixtures.write(walk.text.utf8, to: "walks/\(walk.name).txt", in: folder) }
    let kept = KeptConsole()
    let capture = MemorySink()
    let runner = SurveyImportRunner(traces: [folder.path("walks")])
    #expect(runner.run(capture: capture, console: kept.console) == .success)
    return (capture.bytes, kept.errors.text)
  }

  @Test(
    "the capture holds the very reports of the trace's feed, a datagram a batch, none longer than 1,400 bytes"
  )
  func roundTrip() throws {
    let text = SurveyFixtures.walk(seed: 1)
    let (capture, said) = try imported([("walk-1", text)])
    let datagrams = try Self.datagrams(of: capture)
    let batches = Self.batches(of: text, named: "walk-1")
    #expect(datagrams.count == batches.count && batches.count > 100)
    #expect(said.hasPrefix("\(batches.count) datagrams with "))
    for (datagram, batch) in zip(datagrams, batches) {
      #expect(datagram.bytes <= 1_400)
      let reports = datagram.batch.reports.filter { if case .transmission = $0.body { false } else { true } }
      #expect(reports.map(\.received) == batch.reports.map(\.received))
      #expect(reports.map(\.timing) == batch.reports.map(\.timing))
      #expect(datagram.batch.motionSamples == batch.motionSamples)
      #expect(datagram.batch.accessPoints == batch.accessPoints)
      #expect(datagram.batch.observers.first == .name("walk-1"))
      for (one, other) in zip(reports, batch.reports) {
        guard case .advert(let decoded) = one.body, case .advert(let heard) = other.body else { continue }
        #expect(decoded.address == heard.address && decoded.rssi == heard.rssi)
        let bytes = datagram.batch.payloads[Int(decoded.payload.lowerBound)..<Int(decoded.payload.upperBound)]
        #expect(
          bytes.elementsEqual(batch.payloads[Int(heard.payload.lowerBound)..<Int(heard.payload.upperBound)])
        )
      }
    }
  }

  @Test("a scan larger than a datagram comes whole")
  func largeScan() throws {
    let scan = (0..<559).map { number in
      let octets = "\(Hex.text(UInt64(number / 256), bytes: 1)):\(Hex.text(UInt64(number % 256), bytes: 1))"
      return "\(Self.start)\tTYPE_WIFI\t\t02:00:5e:00:\(octets)\t-60\t2422\t\(Self.start - 10)\n"
    }
    let datagrams = try Self.datagrams(of: try imported([("walk", scan.joined())]).capture)
    #expect(Set(datagrams.flatMap { $0.batch.accessPoints.map(\.bssid) }).count == 559)
    #expect(datagrams.allSatisfy { $0.bytes <= 1_400 })
  }

  @Test("walks that overlap are sent in the order of time, each by its own observer")
  func overlapping() throws {
    let walks = [0, 7_013, 500_000].enumerated().map { index, later in
      (
        name: "walk-\(index)",
        text: SurveyFixtures.walk(seed: UInt64(index), start: Self.start + Int64(later))
      )
    }
    let datagrams = try Self.datagrams(of: try imported(walks).capture)
    let times = datagrams.compactMap(\.batch.reports.last?.received)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    for walk in walks {
      let own = datagrams.filter { $0.batch.observers.first == .name(walk.name) }
      #expect(own.count == Self.batches(of: walk.text, named: walk.name).count)
      let heads = own.compactMap { datagram -> UInt32? in
        guard case .transmission(let head)? = datagram.batch.reports.first?.body else { return nil }
        return head.sequence
      }
      #expect(heads == Array(0..<UInt32(own.count)))
    }
  }

  @Test("a damaged trace is imported up to the damage, and reported")
  func damage() throws {
    let folder = try TemporaryFolder()
    let text = SurveyFixtures.walk(seed: 1)
    let cut = text.prefix(20_000) + "\nxyz\n" + text.dropFirst(20_000)
    try SurveyFixtures.write(String(cut).utf8, to: "walk.txt", in: folder)
    let kept = KeptConsole()
    let sink = MemorySink()
    let runner = SurveyImportRunner(traces: [folder.path("walk.txt")])
    #expect(runner.run(capture: sink, console: kept.console) == .success)
    #expect(kept.errors.text.contains("could not be read, and counted for nothing"))
    #expect(
      SurveyImportRunner(traces: [folder.path("none.txt")]).run(capture: sink, console: kept.console)
        == .failure
    )
  }

  @Test(
    "real walks fit: every batch into a datagram, and every record comes out again",
    .enabled(if: SharedData.isPresent),
    arguments: ["indoor/devtest/site1/F2", "indoor/devtest/site2/F7"]
  )
  func realWalks(folder: String) throws {
    let path = try #require(SharedData.files(in: folder, endingIn: [".txt.gz"]).first)
    let data = try #require(SharedData.folder)
    let file = TraceFile(path: data.appending(path: path).path)
    let sink = MemorySink()
    let runner = SurveyImportRunner(traces: [file.path])
    #expect(runner.run(capture: sink, console: KeptConsole().console) == .success)
    let datagrams = try Self.datagrams(of: sink.bytes)
    let trace = try file.trace()
    #expect(datagrams.allSatisfy { $0.bytes <= 1_400 })
    #expect(datagrams.reduce(0) { $0 + $1.batch.accessPoints.count } == trace.accessPoints.count)
    #expect(datagrams.reduce(0) { $0 + $1.batch.motionSamples.count } == trace.motion.count)
  }
}
