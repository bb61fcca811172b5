import Foundation
import PharosCaptures
import PharosConsoleSupport
import PharosLab
import PharosModel
import PharosSite
import PharosTerminal
import PharosTestSupport
import PharosWire
import Testing

/// Two rooms, with a gateway each that hears a beacon in a third place louder than the one of that place does.
@Suite("Rooms that are learned")
struct RoomsRunnerTests {
  private static let origin = Timestamp(seconds: 1_767_614_400)
  private static let beacon = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/1"
  /// The levels at the two gateways by rooms: the first gateway is the louder one in both.
  private static let levels: [String: [Int8]] = ["east": [-60, -80], "west": [-64, -70]]
  private static let site = """
    regions: [{ id: tags, subject: beacon, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 }]
    zones:
      - { id: east, observers: [a] }
      - { id: west, observers: [b] }
    """

  private let folder: TemporaryFolder
  private let capture: String
  private let stays: String

  /// A beacon that is a minute in each room by turns, heard twice a second.
  init() throws {
    folder = try TemporaryFolder()
    let rooms = ["east", "west", "east", "west", "east", "west"]
    var writer = CaptureWriter()
    var chance = SeededGenerator(seed: 5)
    var encoders = ["a", "b"].map { PharosDatagramEncoder(observer: .name($0), bootID: 1) }
    for look in 0..<(120 * rooms.count) {
      let room = rooms[look / 120]
      for (place, level) in (Self.levels[room] ?? []).enumerated() {
        let name = ["a", "b"][place]
        let time = Self.origin + .milliseconds(500 * Int64(look))
        var batch = ReportBatch()
        let shift = Int8.random(in: -3...3, using: &chance)
        let ranged = RangedBeacon(
          beacon: try #require(BeaconID(Self.beacon)),
          rssi: RSSI(dBm: level + shift),
          accuracy: nil
        )
        let report = Report(
          observer: batch.index(of: .name(name)),
          received: time,
          timing: .received,
          body: .rangedBeacon(ranged)
        )
        batch.append(report)
        _ = encoders[place].append(report, from: batch)
        let datagram = encoders[place].finish(uptime: .milliseconds(500 * Int64(look) + 1))
        let source = Endpoint(IPAddress(v4: 0x0A00_0010 + UInt32(place)), port: 40_000)
        try writer.write(
          payload: datagram.span.bytes,
          from: source,
          to: Endpoint(IPAddress(v4: 0x0A00_0002), port: 50_001),
          at: time
        )
      }
    }
    capture = folder.path("walk.pcapng")
    try Data(writer.drainBytes()).write(to: URL(filePath: capture))
    _ = try folder.write(Self.site, to: "site.yaml")
    let lines = rooms.enumerated().map { index, room in
      "\(Self.beacon),\(room),\(1_767_614_400 + 60 * index),\(1_767_614_400 + 60 * index + 60)"
    }
    stays = (["transmitter,zone,from,to"] + lines).joined(separator: "\n")
    _ = try folder.write(stays, to: "stays.csv")
  }

  private func learn(
    _ change: (inout RoomsLearnRunner.Options) -> Void = { _ in }
  ) -> (CommandStatus, KeptConsole) {
    var options = RoomsLearnRunner.Options(
      captures: [capture],
      site: folder.path("site.yaml"),
      stays: folder.path("stays.csv")
    )
    change(&options)
    let kept = KeptConsole()
    return (RoomsLearnRunner(options).run(on: kept.console), kept)
  }

  private func score(_ site: String, _ format: RoomsScoreRunner.Format = .json) throws -> String {
    var options = RoomsScoreRunner.Options(captures: [capture], site: site, stays: folder.path("stays.csv"))
    options.format = format
    let kept = KeptConsole()
    #expect(RoomsScoreRunner(options).run(on: kept.console) == .success)
    return kept.output.text
  }

  private func share(_ site: String) throws -> Double {
    let json = try JSONSerialization.jsonObject(with: Data(try score(site).utf8)) as? [String: Any]
    let (right, all) = (json?["rightSeconds"] as? Double, json?["seconds"] as? Double)
    #expect(all == 360)
    return try #require(right) / 360
  }

  @Test("the result is a site file, and decides what the loudest gateway cannot")
  func learning() throws {
    let (status, _) = learn { $0.output = folder.path("taught.yaml") }
    #expect(status == .success)
    let zones = try SiteLoader.load(folder.path("taught.yaml"), console: KeptConsole().console).site.zones
    let west = try #require(zones.first { $0.identifier == "west" }?.fingerprint)
    #expect(west.levels.map { $0.mean.rounded() } == [-64, -70] && west.levels.allSatisfy { $0.heard > 0.9 })
    #expect(west.looks >= 3 && west.learnedAt > Self.origin + .seconds(350))
    #expect(try share(folder.path("site.yaml")) < 0.6)
    #expect(try share(folder.path("taught.yaml")) > 0.9)
  }

  @Test("without the key the site is the one of before")
  func removal() throws {
    _ = learn { $0.output = folder.path("taught.yaml") }
    let console = KeptConsole().console
    var taught = try SiteLoader.load(folder.path("taught.yaml"), console: console).site
    for index in taught.zones.indices { taught.zones[index].fingerprint = nil }
    #expect(try taught == SiteLoader.load(folder.path("site.yaml"), console: console).site)
  }

  @Test("the zones that were learned are a document for a server")
  func document() throws {
    let (status, kept) = learn { $0.format = .zones }
    #expect(status == .success)
    let changes = try ZoneDocument.changes(json: Array(kept.output.text.utf8))
    #expect(changes.zones.map(\.identifier) == ["east", "west"])
    #expect(changes.zones.allSatisfy { $0.fingerprint?.levels.count == 2 })
  }

  @Test("the table names what is mistaken, and the gateways that separate it")
  func table() throws {
    let text = try score(folder.path("site.yaml"), .table)
    #expect(text.contains("east and west were mistaken for"))
    #expect(text.contains("Best separated by a and b by"))
    #expect(text.contains("Right: "))
  }

  @Test("JSON lines hold stays, too; a line that is none is named by its number")
  func files() throws {
    let lines =
      #"{"transmitter":"\#(Self.beacon)","zone":"east","from":1767614400,"to":"2026-01-05T12:01:00Z"}"#
    let read = try LabelledStays(text: Array((lines + "\n").utf8), path: "stays.jsonl")
    #expect(read.stays.map(\.zone) == ["east"])
    #expect(read.stays.map { $0.to - $0.from } == [.seconds(60)])
    for text in ["a,b\n", "transmitter,zone,from,to\nx,y,1,2\n", "{\"zone\":\"east\"}\n"] {
      #expect(throws: CommandFailure.self) { try LabelledStays(text: Array(text.utf8), path: "stays") }
    }
  }

  @Test("a zone that the site lacks is named, and nothing learned is a failure")
  func missing() throws {
    _ = try folder.write(
      "transmitter,zone,from,to\n\(Self.beacon),north,1767614400,1767614500\n",
      to: "stays.csv"
    )
    let (status, kept) = learn()
    #expect(status == .failure)
    #expect(kept.errors.text.contains("zone \"north\" is not in"))
  }
}
