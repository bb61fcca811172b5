import PharosModel
import PharosSimulation
import PharosWire
import Testing

@Suite("Built-in scenes")
struct BuiltInSceneTests {
  @Test("each is found by its name and can be played", arguments: Scene.builtIn)
  func names(scene: Scene) {
    #expect(Scene.builtIn(named: scene.name) == scene)
    #expect(scene.mistakes.isEmpty)
    #expect(!scene.summary.isEmpty)
    #expect(Scene.builtIn(named: "no such scene") == nil)
  }

  @Test("names and addresses of transmitters are distinct", arguments: Scene.builtIn)
  func addresses(scene: Scene) {
    #expect(Set(scene.transmitters.map(\.address)).count == scene.transmitters.count)
    #expect(scene.transmitters.allSatisfy { !$0.address.isPrivate })
  }

  @Test("adverts of transmitters decode to their identities", arguments: Scene.builtIn)
  func payloads(scene: Scene) {
    for transmitter in scene.transmitters {
      let frames = transmitter.payloads.flatMap { FrameDecoder().frames(in: $0.span.bytes) }
      #expect(frames.compactMap(\.beacon) == [transmitter.beacon])
      #expect(frames.compactMap(\.measuredPower) == [transmitter.measuredPower])
    }
  }

  @Test("the busy hall has 200 tags and 10 gateways")
  func busyHall() {
    #expect(Scene.busyHall.transmitters.count == 200)
    #expect(Scene.busyHall.observers.count == 10)
  }

  @Test("captures stay small", arguments: Scene.builtIn)
  func size(scene: Scene) throws {
    // A packet of a capture takes about 130 bytes besides its records, an advert's record 21 besides its payload.
    var bytes = 0
    for datagram in Playback(scene).datagrams {
      bytes += 130 + datagram.reports.payloads.count + 21 * datagram.reports.reports.count
    }
    #expect(bytes < 1_500_000)
    #expect(bytes > 30_000)
  }

  @Test("each visitor of the museum reports, and those that left receive the bus stop only")
  func museum() throws {
    let scene = Scene.museumVisit
    let playback = Playback(scene)
    let busStop = try #require(scene.transmitters.first { $0.name == "bus stop" })
    let anna = scene.observers[0].id
    let late = playback.sightings.filter { $0.observer == anna && $0.heard > 135 }
    #expect(late.count > 10)
    #expect(late.allSatisfy { $0.address == busStop.address })
    let amber = try #require(scene.transmitters.first { $0.name == "amber" })
    let close = playback.sightings.filter {
      $0.observer == anna && $0.address == amber.address && $0.level > -75
    }
    #expect(close.count > 20)
  }

  @Test("in the outage the gateway of room B is silent for its minute, and only it heard the bed")
  func outage() throws {
    let scene = Scene.gatewayOutage
    let playback = Playback(scene)
    let gateway = scene.observers[1].id
    let silent = playback.datagrams.filter { $0.observer == gateway }
      .map { ($0.received - scene.start).seconds }.filter { $0 > 60.05 && $0 < 120 }
    #expect(silent.isEmpty)
    let bed = try #require(scene.transmitters.first { $0.name == "bed" })
    let heard = playback.sightings.filter { $0.address == bed.address }
    #expect(heard.count > 150)
    #expect(heard.count { $0.observer != gateway } < 4)
  }

  @Test("at the noisy doorway tags are heard, but not well")
  func doorway() throws {
    let scene = Scene.noisyDoorway
    let playback = Playback(scene)
    let badge = try #require(scene.transmitters.first { $0.name == "badge" })
    for observer in scene.observers {
      let heard = playback.sightings.count { $0.address == badge.address && $0.observer == observer.id }
      #expect((20...330).contains(heard), "of some 475 adverts")
    }
  }

  @Test(
    "within two seconds of the demo the basket is gone from the till and the ice is near",
    arguments: [1, 2, 3]
  )
  func demo(seed: UInt64) throws {
    let scene = Scene.demo
    let playback = Playback(scene, seed: seed)
    func times(_ name: String, _ observer: Int) -> [Double] {
      let address = scene.transmitters.first { $0.name == name }?.address
      return playback.sightings
        .filter { $0.address == address && $0.observer == scene.observers[observer].id }.map(\.heard)
    }
    let till = times("basket", 1)
    #expect(till.count { $0 < 0.8 } >= 2)
    #expect(!till.contains { $0 > 0.9 && $0 < 10.5 })
    #expect(till.contains { $0 > 11 && $0 < 12 })
    #expect(times("shelf", 0).count { $0 < 1 } >= 2)
    #expect(!times("shelf", 0).contains { $0 > 1.2 && $0 < 7 })
    #expect(times("ice", 0).count { $0 > 1.1 && $0 < 2 } >= 2)
  }
}
