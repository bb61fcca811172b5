import PharosModel
import PharosSimulation
import PharosSpace
import Testing

@Suite("Observer")
struct ObserverTests {
  private func scene(seconds: Double, _ change: (inout Scene.Observer) -> Void) -> Scene {
    var observer = Bench.observer()
    change(&observer)
    return Bench.scene(seconds: seconds, observers: [observer])
  }

  @Test("an advert that waits for a datagram has an age, and receipt less age is the time of reception")
  func ages() throws {
    let exact = Playback(scene(seconds: 30) { _ in })
    let batched = Playback(scene(seconds: 30) { $0.batchPeriod = .seconds(1) })
    #expect((28...31).contains(batched.datagrams.count))
    #expect(batched.sightings.allSatisfy { $0.age >= .zero && $0.age <= .seconds(1) })
    #expect(batched.sightings.contains { $0.age > .milliseconds(800) })
    for (one, other) in zip(exact.sightings, batched.sightings) {
      #expect(other.heard - one.heard >= -0.000_001)
      #expect(other.heard - one.heard < 0.001_001, "ages are whole milliseconds, rounded down")
    }
  }

  @Test("a clock that drifts stretches ages and up-time", arguments: [50_000.0, -50_000])
  func clockDrift(drift: Double) throws {
    let playback = Playback(
      scene(seconds: 100) {
        $0.batchPeriod = .seconds(10)
        $0.clockDrift = drift
      }
    )
    let last = try #require(playback.datagrams.last)
    let elapsed = (last.received - Scene.defaultStart).seconds
    #expect(abs(last.head.uptime.seconds / elapsed - (1 + drift / 1e6)) < 0.001)
    let oldest = try #require(playback.sightings.map(\.age.seconds).max())
    #expect(abs(oldest - 10 * (1 + drift / 1e6)) < 0.15)
  }

  @Test("datagrams are numbered without gaps and count the up-time")
  func numbering() throws {
    let playback = Playback(scene(seconds: 20) { $0.heartbeats = .init(period: .seconds(2)) })
    #expect(playback.datagrams.count >= 9)
    for (index, datagram) in playback.datagrams.enumerated() {
      #expect(datagram.head.bootID == 1)
      #expect(datagram.head.sequence == UInt32(index))
      let time = (datagram.received - Scene.defaultStart).seconds
      #expect(abs(datagram.head.uptime.seconds - time) < 0.001)
      #expect(datagram.reports.observers == [Bench.observerID])
    }
  }

  @Test("heartbeats come in their period and account for every advert")
  func heartbeats() throws {
    let playback = Playback(
      scene(seconds: 60) {
        $0.heartbeats = .init(period: .seconds(4))
        $0.scan = .init(interval: .milliseconds(100), window: .milliseconds(50))
      }
    )
    let heartbeats = playback.heartbeats(of: Bench.observerID, since: Scene.defaultStart)
    #expect((14...15).contains(heartbeats.count))
    for (one, other) in zip(heartbeats, heartbeats.dropFirst()) {
      #expect(abs(other.received - one.received - 4) < 1e-6)
      let between = playback.sightings.count { $0.heard >= one.received && $0.heard < other.received }
      #expect(other.1.advertsHeard == UInt32(between))
      #expect(other.1.scanDuty == 0.5)
      #expect(other.1.dropped == 0)
    }
  }

  @Test("a handset's heartbeat tells nothing of its radio")
  func silentHeartbeats() throws {
    let playback = Playback(
      scene(seconds: 10) { $0.heartbeats = .init(period: .seconds(1), includesStatistics: false) }
    )
    let heartbeats = playback.heartbeats(of: Bench.observerID, since: Scene.defaultStart)
    #expect(heartbeats.count >= 9)
    #expect(heartbeats.allSatisfy { $0.1 == Heartbeat() })
  }

  @Test("the share received is the share listened", arguments: [10, 35, 100])
  func scanDuty(window: Int64) throws {
    let playback = Playback(
      scene(seconds: 420) { $0.scan = .init(interval: .milliseconds(100), window: .milliseconds(window)) }
    )
    #expect(abs(Double(playback.sightings.count) / 4_000 - Double(window) / 100) < 0.04)
  }

  @Test("the three channels are heard alike")
  func channels() throws {
    let sightings = Playback(scene(seconds: 420) { $0.scan = .init() }).sightings
    for channel: UInt8 in 37...39 {
      let share = Double(sightings.count { $0.channel == channel }) / Double(sightings.count)
      #expect(abs(share - 1 / 3) < 0.04)
    }
  }

  @Test("without power it is silent, and starts again with the next boot id and sequence 0")
  func powerFault() throws {
    let playback = Playback(
      scene(seconds: 60) {
        $0.batchPeriod = .milliseconds(500)
        $0.heartbeats = .init(period: .seconds(1))
        $0.bootID = 7
        $0.faults = [Fault(.power, from: .seconds(20), until: .seconds(35))]
      }
    )
    let times = playback.datagrams.map { ($0.received - Scene.defaultStart).seconds }
    #expect(!times.contains { $0 >= 20 && $0 < 35 })
    #expect(!playback.sightings.contains { $0.heard >= 19.9999 && $0.heard < 34.999 })
    let restart = try #require(playback.datagrams.firstIndex { $0.head.bootID == 8 })
    #expect(playback.datagrams[restart].head.sequence == 0)
    #expect(playback.datagrams[restart].head.uptime < .seconds(1))
    #expect(playback.datagrams[..<restart].allSatisfy { $0.head.bootID == 7 })
    #expect(playback.datagrams[restart...].allSatisfy { $0.head.bootID == 8 })
    #expect(
      playback.truth.contains { $0.fact == .fails(.power) && $0.time == Scene.defaultStart + .seconds(20) }
    )
    #expect(
      playback.truth.contains { $0.fact == .recovers(.power) && $0.time == Scene.defaultStart + .seconds(35) }
    )
  }

  @Test("power faults that overlap are one long outage")
  func overlappingFaults() throws {
    let playback = Playback(
      scene(seconds: 30) {
        $0.faults = [
          Fault(.power, from: .seconds(5), until: .seconds(12)),
          Fault(.power, from: .seconds(8), until: .seconds(20)),
        ]
      }
    )
    #expect(!playback.sightings.contains { $0.heard >= 5 && $0.heard < 20 })
    #expect(playback.datagrams.last?.head.bootID == 2)
  }

  @Test("without a network nothing arrives, and the numbers show the gap")
  func networkFault() throws {
    let playback = Playback(
      scene(seconds: 30) { $0.faults = [Fault(.network, from: .seconds(10), until: .seconds(15))] }
    )
    let times = playback.datagrams.map { ($0.received - Scene.defaultStart).seconds }
    #expect(!times.contains { $0 >= 10 && $0 < 15 })
    let sequences = playback.datagrams.map(\.head.sequence)
    let gaps = zip(sequences, sequences.dropFirst()).map { $1 - $0 }.filter { $0 != 1 }
    #expect(gaps.count == 1)
    #expect((46...50).contains(gaps.first ?? 0))
    #expect(playback.datagrams.allSatisfy { $0.head.bootID == 1 })
  }

  @Test("a deaf radio goes on to say that it hears nothing")
  func radioFault() throws {
    let playback = Playback(
      scene(seconds: 30) {
        $0.heartbeats = .init(period: .seconds(1))
        $0.faults = [Fault(.radio, from: .seconds(10), until: .seconds(15))]
      }
    )
    #expect(!playback.sightings.contains { $0.heard >= 10 && $0.heard < 15 })
    let deaf = playback.heartbeats(of: Bench.observerID, since: Scene.defaultStart)
      .filter { $0.received > 11.1 && $0.received < 15 }
    #expect(deaf.count >= 3)
    #expect(deaf.allSatisfy { $0.1.advertsHeard == 0 })
  }

  @Test("datagrams stay small however much there is to tell, and what memory cannot hold is counted")
  func capacity() throws {
    let transmitters = (1...60).map { Bench.transmitter(UInt64($0)) }
    var observer = Bench.observer()
    observer.batchPeriod = .seconds(10)
    observer.heartbeats = .init(period: .seconds(20))
    let scene = Bench.scene(seconds: 35, transmitters: transmitters, observers: [observer])
    let playback = Playback(scene)
    let largest = playback.datagrams.map { $0.reports.payloads.count + 18 * $0.reports.reports.count }.max()
    #expect(try #require(largest) <= 1_250)
    #expect(playback.datagrams.count > 100)
    let dropped = playback.heartbeats(of: Bench.observerID, since: Scene.defaultStart)
      .map(\.1.dropped).reduce(0, +)
    #expect(dropped > 1_000)
  }

  @Test("a handset with its platform in between tells mean levels of beacons, no adverts")
  func rangedBeacons() throws {
    var scene = Scene.museumVisit
    scene.observers = scene.observers.filter { $0.reporting == .rangedBeacons }
    let playback = Playback(scene)
    #expect(playback.sightings.isEmpty)
    let known = Set(scene.transmitters.map(\.beacon))
    var count = 0
    for datagram in playback.datagrams {
      var seen: Set<BeaconID> = []
      for report in datagram.reports.reports {
        guard case .rangedBeacon(let ranged) = report.body else { continue }
        count += 1
        #expect(known.contains(ranged.beacon))
        #expect(seen.insert(ranged.beacon).inserted)
        #expect(ranged.rssi != nil)
        #expect((ranged.accuracy?.value ?? 0) > 0)
      }
    }
    #expect(count > 100)
  }

  @Test("scan state is reported at the beginning, and the display when it is turned on")
  func platformReports() throws {
    let playback = Playback(
      scene(seconds: 10) {
        $0.scanState = .windowed
        $0.displayOn = [.seconds(4), .seconds(6)]
      }
    )
    let bodies = playback.datagrams.flatMap(\.reports.reports)
    #expect(bodies.first?.body == .scanState(.windowed))
    #expect(
      bodies.filter { $0.body == .displayOn }.map { ($0.received - Scene.defaultStart).seconds } == [4, 6]
    )
  }
}
