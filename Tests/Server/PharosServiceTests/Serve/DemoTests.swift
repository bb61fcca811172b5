import Foundation
import PharosConsoleSupport
import PharosHTTP
import PharosLab
import PharosModel
import PharosNarration
import PharosPipeline
import PharosService
import PharosSimulation
import PharosSite
import PharosSpace
import PharosTerminal
import PharosTestSupport
import Testing

/// What the demo has to show within its first two minutes.
@Suite("The demo")
struct DemoTests {
  private struct Decision {
    let type, subject, region, rule: String

    init(_ line: Substring) throws {
      let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let data = try #require(event["data"] as? [String: Any])
      type = try #require(event["type"] as? String)
      subject = event["subject"] as? String ?? ""
      region = data["region"] as? String ?? data["zone"] as? String ?? ""
      rule = (data["evidence"] as? [String: Any])?["rule"] as? String ?? ""
    }
  }

  @Test(
    "a gateway fails and comes back: its tags become unmonitored, none leaves; one exit is worth an explanation"
  )
  func outage() throws {
    let folder = try TemporaryFolder()
    var scene = Scene.demo
    scene.duration = .seconds(115)
    let (capture, made) = (MemorySink(), KeptConsole())
    let runner = SimulateRunner(playing: scene, seed: DemoService.seed)
    #expect(runner.run(capture: capture, truth: nil, console: made.console) == .success)
    let path = folder.path("demo.pcapng")
    try Data(capture.bytes).write(to: URL(filePath: path))
    let site = try folder.write(scene.siteYAML, to: "site.yaml")
    let kept = KeptConsole()
    #expect(ProcessRunner(.init(captures: [path], site: site)).run(on: kept.console) == .success)
    let decisions = try kept.output.text.split(separator: "\n").map(Decision.init)
    let stored = decisions.filter { $0.subject.contains("/41/2") || $0.subject.contains("/41/3") }
    #expect(stored.count { $0.type == "pharos.region.unmonitored" } == 2)
    #expect(!stored.contains { ["pharos.region.exit", "pharos.zone.exit"].contains($0.type) })
    let truck = decisions.filter { $0.subject.contains("/41/1") && $0.region == "packing-table" }
    #expect(truck.contains { $0.type == "pharos.region.exit" && $0.rule == "adaptiveSilence" })
    let offline = decisions.filter {
      $0.type == "pharos.observer.offline" || $0.type == "pharos.observer.online"
    }
    #expect(
      offline.filter { $0.subject == "ac:23:3f:a0:00:65" }.map(\.type).suffix(2) == [
        "pharos.observer.offline", "pharos.observer.online",
      ]
    )
    let rooms = Set(
      decisions.filter { $0.type == "pharos.zone.enter" && $0.subject.contains("/41/1") }.map(\.region)
    )
    #expect(rooms == ["shop", "store-room"])
  }

  @Test("its floor plan has the rooms, and all gateways and shelves in them")
  func venue() throws {
    let floor = try #require(Scene.demoVenue.buildings.first?.floors.first)
    #expect(floor.walkable.map(\.name) == ["shop", "cold room", "store room"])
    #expect(floor.observers.count == 6)
    #expect(floor.beacons.count == 3)
    #expect(LoadedVenues(built: [Scene.demoVenue]).served.count == 1)
  }

  /// The events of the day in the mall as JSON lines.
  private func day() throws -> String {
    let scene = MallDay.scene()
    let site = try SiteFile.parse(MallDay.siteYAML, path: "demo").site
    var pipeline = try Pipeline(site: site, venues: LoadedVenues(built: [scene.venue]).locatable)
    var writer = EventWriter(format: .jsonl, selection: .usual, site: site)
    let lines = MemorySink()
    for case .datagram(let datagram) in try IndoorSimulation(scene, seed: DemoService.seed) {
      try writer.write(pipeline.ingest(datagram.reports), to: lines)
    }
    try writer.write(pipeline.finish(tail: nil), to: lines)
    return lines.text
  }

  @Test("the day in the mall is the same in each run, on every floor that the visitor was on")
  func mallDay() throws {
    let events = try day()
    #expect(try day() == events)
    let decisions = try events.split(separator: "\n").map(Decision.init)
    #expect(decisions.count { $0.type == "pharos.fix" } > 400)
    let visitor = decisions.filter { $0.subject == "visitor" }
    let entered = visitor.filter { $0.type == "pharos.region.enter" }.map(\.region)
    #expect(entered == ["forecourt", "the mall", "café", "toy shop"])
    #expect(
      visitor.filter { $0.type == "pharos.region.exit" }.map(\.region) == [
        "forecourt", "café", "toy shop", "the mall",
      ]
    )
    for kind in ["pharos.visit.arrive", "pharos.visit.depart"] {
      #expect(visitor.filter { $0.type == kind }.map(\.region) == ["0-1", "1-8", "2-5"], "\(kind)")
    }
    #expect(decisions.contains { $0.type == "pharos.positioning.state" })
    for name in ["Ground floor", "First floor", "Second floor"] { #expect(events.contains(name)) }
  }
}
