import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosPipeline
import PharosSimulation
import PharosSite
import Testing

@Suite("A gateway that fails in a room")
struct RoomOutageTests {
  /// A scene, and one of its gateways, which sends nothing from the middle on.
  struct Case: CustomTestStringConvertible, Sendable {
    var scene: String
    var observer: ObserverID
    var seed: UInt64

    var testDescription: String { "\(scene), \(observer), seed \(seed)" }
  }

  /// What came of a run.
  private struct Run {
    var events: [Event] = []
    /// The tags in each zone at the middle, and at the end.
    var atStop: [String: Set<BeaconID>] = [:]
    var atEnd: [String: Set<BeaconID>] = [:]
    /// The samples of the history from half a minute behind the middle on.
    var samples: [HistorySample] = []
  }

  static let cases: [Case] = Scene.builtIn.flatMap { scene -> [Case] in
    let site = try? SiteFile.parse(scene.siteYAML, path: "site.yaml").site
    let observers = (site?.zones ?? []).flatMap(\.observers)
    return [1, 5].flatMap { seed in observers.map { Case(scene: scene.name, observer: $0, seed: seed) } }
  }

  /// The site of a scene, whose zones have a threshold that they cross with the first tag and with the last.
  private static func site(_ scene: Scene) throws -> Site {
    var site = try SiteFile.parse(scene.siteYAML, path: "site.yaml").site
    for index in site.zones.indices {
      site.zones[index].occupancy = [OccupancyThreshold(above: 0, below: 1)]
    }
    return site
  }

  /// Plays a scene, without the datagrams of an observer from the middle on.
  private static func run(_ scene: Scene, seed: UInt64, without observer: ObserverID?) async throws -> Run {
    let site = try site(scene)
    var pipeline = try Pipeline(site: site)
    var (run, states, sampler) = (Run(), StateCache(), HistorySampler())
    let middle = scene.start + .seconds(scene.duration.seconds / 2)
    var isPast = false
    var sampled = middle + .seconds(30)
    func zones(_ pipeline: Pipeline) -> [String: Set<BeaconID>] {
      pipeline.tags().reduce(into: [:]) { zones, tag in
        if let zone = tag.zone { zones[zone, default: []].insert(tag.beacon) }
      }
    }
    for item in Simulation(scene, seed: seed) {
      guard case .datagram(let datagram) = item else { continue }
      if !isPast, datagram.received >= middle {
        isPast = true
        run.atStop = zones(pipeline)
      }
      while datagram.received >= sampled {
        run.events += pipeline.advance(to: sampled - .oneNanosecond)
        for event in run.events { states.record(event) }
        let state = HistoryState(
          time: sampled,
          observers: pipeline.observers(),
          tags: pipeline.tags(),
          site: site,
          states: states,
          gate: .open
        )
        let minute = HistoryMinute(containing: sampled)
        run.samples.append(try await sampler.sample(minute, of: state) { [pipeline] in pipeline.tracks($0) })
        sampled = sampled + .seconds(20)
      }
      if isPast, datagram.observer == observer { continue }
      run.events += pipeline.ingest(datagram.reports)
    }
    run.events += pipeline.finish()
    run.atEnd = zones(pipeline)
    return run
  }

  @Test("no tag leaves its room, no threshold is crossed and no number falls to zero", arguments: cases)
  func outage(_ outage: Case) async throws {
    let scene = try #require(Scene.builtIn(named: outage.scene))
    let cut = try await Self.run(scene, seed: outage.seed, without: outage.observer)
    let middle = scene.start + .seconds(scene.duration.seconds / 2)
    let zone = try #require(try Self.site(scene).zones.first { $0.observers.contains(outage.observer) })
    let isAlone = zone.observers.count == 1
    let isDown = cut.events.first { $0.kind == .observerOffline && $0.subject == .observer(outage.observer) }?
      .time
    if let isDown {
      // Nothing can tell that a tag left the room, unless another room hears it.
      let leavers = cut.events.filter { event in
        guard case .zone(let move) = event.detail, event.kind == .zoneExit else { return false }
        return event.region == zone.identifier && event.decidedAt > isDown + .seconds(15) && move.to == nil
      }
      #expect(leavers.isEmpty)
      let crossings = cut.events.filter { event in
        event.kind == .zoneOccupancy && event.region == zone.identifier
          && event.decidedAt > isDown + .seconds(15)
      }
      #expect(crossings.isEmpty)
    }
    if isAlone {
      for sample in cut.samples { #expect(sample.places[.zone(zone.identifier)]?.inside != 0) }
      let moved = cut.events.filter { event in
        guard case .zone(let move) = event.detail, event.kind == .zoneExit else { return false }
        return event.region == zone.identifier && event.time > middle && move.to != nil
      }
      let stayed = (cut.atStop[zone.identifier] ?? []).subtracting(
        moved.compactMap { event in
          guard case .beacon(let beacon) = event.subject else { return nil }
          return beacon
        }
      )
      #expect(stayed.isSubset(of: cut.atEnd[zone.identifier] ?? []))
    }
  }
}
