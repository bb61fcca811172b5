import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("A handset that walks off leaves; a gateway on a wall fails")
struct CarriedObserverTests {
  private static let phone = ObserverID.name("phone-1")
  private static let heartbeats = 10.0

  /// What becomes of the beacons around an observer whose heartbeats continue.
  struct Walk {
    var observer = CarriedObserverTests.phone
    var beacons = 3
    var interval = 1.0
    var isGradual = false
    var subject = Region.Subject.observer
    /// Sends a report that only handsets send.
    var moves = false

    func play(seed: UInt64) -> Timeline {
      var random = SeededGenerator(seed: seed)
      let region = Region(
        identifier: "museum",
        constraint: .proximity(Timeline.uuid),
        subject: subject
      )
      var site = Timeline.site([region])
      site.observers = []
      var timeline = Timeline(site)
      var items: [(time: Double, beacon: Int?)] = []
      for beacon in 0..<beacons {
        var time = Double.random(in: 0..<interval, using: &random)
        let end = 200 + (isGradual ? Double(beacon) * 2 : 0)
        while time < end + (isGradual ? 20 : 0) {
          // It fades out.
          let share = time < end ? 0.95 : 0.95 * (1 - (time - end) / 20)
          if Double.random(in: 0..<1, using: &random) < share { items.append((time, beacon)) }
          time += interval + Double.random(in: 0...0.01, using: &random)
        }
      }
      for beat in 0..<60 { items.append((Double(beat) * CarriedObserverTests.heartbeats + 0.3, nil)) }
      if moves { timeline.give(.displayOn, at: 0, from: observer) }
      for item in items.sorted(by: { $0.time < $1.time }) {
        guard let beacon = item.beacon else {
          timeline.give(.heartbeat(Heartbeat()), at: item.time, from: observer)
          continue
        }
        timeline.receive(1, UInt16(beacon), at: item.time, from: observer)
      }
      timeline.advance(to: 600)
      return timeline
    }

    /// The end of what it hears.
    var end: Double { isGradual ? 220 + Double(beacons - 1) * 2 : 200 }
  }

  @Test("a phone leaves within a minute, with one to six beacons", arguments: Seeds.fixed(0..<48))
  func walksOff(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var walk = Walk()
    walk.beacons = 1 + seed % 6
    walk.isGradual = seed % 4 < 2
    walk.interval = Double.random(in: 0.1...2, using: &random)
    walk.moves = seed % 3 == 0
    if walk.moves { walk.observer = Timeline.handset }
    let timeline = walk.play(seed: UInt64(seed))
    let exits = timeline.events.filter { $0.kind == .regionExit }
    #expect(exits.count == 1, "\(walk)")
    let exit = try #require(exits.first)
    let delay = (exit.decidedAt - Timeline.at(walk.end)).seconds
    #expect(delay < 60 && delay > -20, "\(walk): \(delay) s")
    #expect(!timeline.events.contains { $0.kind == .observerOffline })
  }

  @Test("a gateway whose beacons fall silent together is offline, and nothing exits", arguments: [2, 4, 6])
  func onWall(beacons: Int) {
    let walks = [
      Walk(observer: Timeline.handset, beacons: beacons),
      Walk(observer: CarriedObserverTests.phone, beacons: beacons, subject: .beacon(observers: nil)),
    ]
    for walk in walks {
      for seed in UInt64(0)..<4 {
        let timeline = walk.play(seed: seed)
        #expect(!timeline.events.contains { $0.kind == .regionExit }, "\(walk)")
        #expect(timeline.events.count { $0.kind == .observerOffline } == 1, "\(walk)")
      }
    }
  }
}
