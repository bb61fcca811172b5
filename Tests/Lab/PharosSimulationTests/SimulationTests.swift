import PharosModel
import PharosSimulation
import PharosSpace
import Testing

@Suite("Simulation")
struct SimulationTests {
  @Test("the same seed gives the same items, another seed others", arguments: Scene.builtIn)
  func determinism(scene: Scene) throws {
    var short = scene
    short.duration = min(scene.duration, .seconds(20))
    let items = Playback(short, seed: 42).items
    #expect(Playback(short, seed: 42).items == items)
    #expect(Playback(short, seed: 43).items != items)
  }

  /// The numbers are those of the first run; they change only when the simulator's arithmetic does, and then all
  /// captures that it made change too.
  @Test("a scene gives the same bytes today as ever")
  func goldenDigest() throws {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ word: UInt64) { digest = (digest ^ word) &* 0x100_0000_01B3 }
    for item in Playback(.demo, seed: 7).items {
      mix(UInt64(bitPattern: item.time.nanoseconds))
      guard case .datagram(let datagram) = item else { continue }
      mix(UInt64(datagram.head.sequence))
      for case .advert(let advert) in datagram.reports.reports.map(\.body) {
        mix(UInt64(bitPattern: Int64(advert.rssi?.dBm ?? 0)) ^ UInt64(advert.channel) << 8)
      }
    }
    #expect(digest == 460_563_879_649_304_907)
  }

  @Test(
    "items come in order of time, and reports carry their datagram's receive time",
    arguments: Scene.builtIn
  )
  func order(scene: Scene) throws {
    var short = scene
    short.duration = min(scene.duration, .seconds(30))
    let playback = Playback(short)
    for (one, other) in zip(playback.items, playback.items.dropFirst()) { #expect(one.time <= other.time) }
    for datagram in playback.datagrams {
      #expect(!datagram.reports.isEmpty)
      #expect(datagram.reports.reports.allSatisfy { $0.received == datagram.received && $0.observer == 0 })
    }
  }

  @Test("one more observer changes nothing that the others hear")
  func independence() throws {
    var scene = Scene.noisyDoorway
    scene.duration = .seconds(60)
    let first = scene.observers[0]
    let both = Playback(scene).datagrams.filter { $0.observer == first.id }
    scene.observers = [first]
    let alone = Playback(scene).datagrams
    #expect(both == alone)
  }

  @Test("a scene without end goes on, and the demo's rounds are alike")
  func endless() throws {
    var scene = Scene.demo
    scene.duration = .forever
    var simulation = Simulation(scene, seed: 1)
    var datagrams = 0
    var enters: [Double] = []
    while let item = simulation.next(), item.time < scene.start + .seconds(205) {
      switch item {
      case .datagram: datagrams += 1
      case .truth(let event):
        guard event.name == "basket", event.fact == .entersArea("cold room") else { continue }
        enters.append((event.time - scene.start).seconds)
      }
    }
    #expect(datagrams > 2_000)
    #expect(enters.count == 11)
    for (one, other) in zip(enters, enters.dropFirst()) { #expect(abs(other - one - 20) < 1e-6) }
  }

  @Test("a scene that cannot be played says all that is wrong with it")
  func mistakes() {
    var transmitter = Bench.transmitter(interval: .zero)
    transmitter.payloads = []
    var observer = Bench.observer()
    observer.scan = .init(interval: .milliseconds(100), window: .milliseconds(200))
    observer.network.loss = 1.5
    observer.faults = [Fault(.power, from: .seconds(9), until: .seconds(3))]
    var scene = Bench.scene(seconds: 0, transmitters: [transmitter, transmitter], observers: [observer])
    scene.radio.passersby = Radio.Passersby(share: 1, duration: .seconds(1))
    scene.areas = [Scene.Area(name: "line", shape: Polygon([.origin, Point(x: 1, y: 0)]))]
    let error = InvalidScene(scene: scene.name, mistakes: scene.mistakes)
    #expect(
      error.description == """
        scene "bench": duration: is 0.0 s; it must be longer than 0 s
        scene "bench": transmitter "t1": occurs twice; each transmitter needs its own name
        scene "bench": area "line": has 2 corners; an area needs at least three
        scene "bench": transmitter "t1": payloads: are missing; give it at least one frame
        scene "bench": transmitter "t1": interval: is 0.0 s; it must be longer than 0 s
        scene "bench": transmitter "t1": payloads: are missing; give it at least one frame
        scene "bench": transmitter "t1": interval: is 0.0 s; it must be longer than 0 s
        scene "bench": observer "ac:23:3f:a0:00:ff": scan window: is 0.2 s; it must not exceed the interval of 0.1 s
        scene "bench": observer "ac:23:3f:a0:00:ff": fault power: ends at 3.0 s, not after its begin at 9.0 s
        scene "bench": observer "ac:23:3f:a0:00:ff": network loss: is 1.5; it must be a share from 0 to 1
        scene "bench": radio: passersby share: is 1.0; it must be a share from 0 to 1, 1 left out
        """
    )
  }

  @Test("a scene without transmitters is refused")
  func empty() {
    let scene = Scene(name: "", duration: .seconds(1), transmitters: [], observers: [], radio: .ideal)
    #expect(scene.mistakes.map(\.place) == ["name", "transmitters", "observers"])
  }
}
