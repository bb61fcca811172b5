import PharosModel
import PharosPresence
import Testing

@Suite("An exit needs proof of life")
struct LivenessTests {
  static let life: Set<EventKind> = [
    .regionEnter, .regionExit, .regionUnmonitored, .observerOnline, .observerOffline, .observerRestarted,
  ]
  static let region = Timeline.region(samples: 1, silence: .seconds(5))

  static func timeline(_ liveness: ObserverEntry.Liveness, _ region: Region = region) -> Timeline {
    Timeline(Timeline.site([region], liveness: liveness))
  }

  @Test(
    "a lone tag before a plain gateway: silence means absence",
    arguments: [ObserverEntry.Liveness.auto, .assumed]
  )
  func loneTag(liveness: ObserverEntry.Liveness) {
    var timeline = LivenessTests.timeline(liveness)
    for second in 0...10 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 1_000)
    #expect(
      timeline.story(LivenessTests.life) == [
        "observerOnline  0.0", "regionEnter door 0.0", "regionExit door 15.0",
      ]
    )
  }

  @Test("an outage makes regions unmonitored, never an exit, and coming back with the beacon gives no enter")
  func outage() throws {
    var timeline = LivenessTests.timeline(.auto)
    for second in 0...60 {
      timeline.receive(at: Double(second))
      timeline.receive(200, 1, at: Double(second) + 0.5)
    }
    // The gateway is unplugged at 60.5 and plugged in again at 300.
    timeline.advance(to: 300)
    timeline.receive(at: 300.2)
    timeline.receive(200, 1, at: 300.7)
    let story = timeline.story(LivenessTests.life)
    #expect(story.prefix(2) == ["observerOnline  0.0", "regionEnter door 0.0"])
    #expect(story.contains { $0.hasPrefix("observerOffline") })
    #expect(story.count { $0.hasPrefix("regionUnmonitored") } == 1)
    #expect(story.count { $0.hasPrefix("regionEnter") } == 1)
    #expect(!story.contains { $0.hasPrefix("regionExit") })
    #expect(timeline.states().last == "unmonitored>inside@300.2")
    #expect(timeline.engine.observers().first?.isUp == true)
  }

  @Test("an observer that falls silent when its gaps have just been learned is watched by these")
  func outageOfTheYoung() {
    var timeline = LivenessTests.timeline(.auto, Timeline.region(major: 1, silence: .seconds(20)))
    for second in 0...6 {
      timeline.receive(at: Double(second))
      for other in 1...3 as ClosedRange<UInt16> {
        timeline.receive(200, other, at: Double(second) + Double(other) / 4)
      }
    }
    // It restarts for nearly 20 s: the beacon is heard half a second behind the others.
    timeline.receive(200, 1, at: 26.5)
    timeline.receive(200, 2, at: 26.75)
    timeline.receive(at: 27.25)
    timeline.advance(to: 28)
    #expect(
      timeline.story(LivenessTests.life) == [
        "observerOnline  0.0", "regionEnter door 0.0", "observerOffline  16.75",
        "regionUnmonitored door 16.75", "observerOnline  26.5",
      ]
    )
  }

  @Test("after an outage a beacon that is not heard for its allowed gap has left, with the time of its entry")
  func leftDuringOutage() throws {
    var timeline = LivenessTests.timeline(.auto, Timeline.region(major: 1, silence: .seconds(5)))
    for second in 0...60 {
      timeline.receive(at: Double(second))
      timeline.receive(200, 1, at: Double(second) + 0.5)
    }
    timeline.advance(to: 300)
    for second in 300...320 { timeline.receive(200, 1, at: Double(second)) }
    let exit = try #require(timeline.transitions(.regionExit).first)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionExit door 305.0"])
    #expect(exit.from == .unmonitored)
    #expect(exit.enteredAt == Timeline.at(0))
    #expect(exit.evidence.gap == .seconds(5), "the outage was no silence")
    #expect(exit.evidence.lastHeard == Timeline.at(60))
  }

  @Test("an exit whose deadline has passed waits for proof and says how long it waited")
  func waiting() throws {
    var timeline = LivenessTests.timeline(.auto, Timeline.region(major: 1, silence: .seconds(5)))
    for second in 0...20 {
      timeline.receive(at: Double(second))
      if second % 10 == 0 { timeline.give(.heartbeat(Heartbeat()), at: Double(second) + 0.1) }
    }
    timeline.advance(to: 29)
    #expect(timeline.story() == ["regionEnter door 0.0"], "the deadline at 25 has passed without proof")
    timeline.give(.heartbeat(Heartbeat()), at: 30.1)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionExit door 25.0"])
    let evidence = try #require(timeline.transitions(.regionExit).first).evidence
    #expect(abs((evidence.waitedForProof ?? .zero).seconds - 5.1) < 0.001)
    #expect(timeline.events.last?.decidedAt == Timeline.at(30.1))
  }

  @Test("hearing the beacon itself while its exit waits cancels it")
  func cancelled() {
    var timeline = LivenessTests.timeline(.auto)
    for second in 0...20 { timeline.receive(at: Double(second)) }
    timeline.give(.heartbeat(Heartbeat()), at: 20.5)
    timeline.advance(to: 28)
    timeline.receive(at: 28.5)
    timeline.receive(at: 29.5)
    #expect(timeline.story() == ["regionEnter door 0.0"])
  }

  @Test("a heartbeat that says that a normally busy radio heard nothing is no proof")
  func deafRadio() {
    var timeline = LivenessTests.timeline(.auto)
    for second in 0...60 {
      timeline.receive(at: Double(second))
      if second % 10 == 5 {
        timeline.give(.heartbeat(Heartbeat(advertsHeard: 500)), at: Double(second) + 0.1)
      }
    }
    for second in stride(from: 65, through: 300, by: 10) {
      timeline.give(.heartbeat(Heartbeat(advertsHeard: 0)), at: Double(second) + 0.1)
    }
    #expect(!timeline.story(LivenessTests.life).contains { $0.hasPrefix("regionExit") })
    #expect(timeline.states().last?.hasPrefix("inside>unmonitored") == true)
    timeline.give(.heartbeat(Heartbeat(advertsHeard: 400)), at: 305)
    timeline.give(.heartbeat(Heartbeat(advertsHeard: 400)), at: 315)
    #expect(timeline.story().last == "regionExit door 310.0")
  }

  @Test("under `heartbeat` adverts prove nothing")
  func heartbeatOnly() {
    var timeline = LivenessTests.timeline(.heartbeat, Timeline.region(major: 1, silence: .seconds(5)))
    timeline.give(.heartbeat(Heartbeat()), at: 0)
    for second in 1...20 { timeline.receive(at: Double(second)) }
    for second in 21...58 { timeline.receive(200, 1, at: Double(second)) }
    #expect(timeline.story() == ["regionEnter door 1.0"])
    timeline.give(.heartbeat(Heartbeat()), at: 58.5)
    #expect(timeline.story() == ["regionEnter door 1.0", "regionExit door 25.0"])
  }

  @Test("under `traffic` heartbeats prove nothing")
  func trafficOnly() {
    var timeline = LivenessTests.timeline(.traffic, Timeline.region(major: 1, silence: .seconds(5)))
    for second in 0...20 { timeline.receive(at: Double(second)) }
    for second in 21...100 { timeline.give(.heartbeat(Heartbeat(advertsHeard: 9)), at: Double(second)) }
    #expect(timeline.story() == ["regionEnter door 0.0"])
    #expect(timeline.states().last?.hasPrefix("inside>unmonitored") == true)
  }

  @Test("a radio that stops scanning makes regions unmonitored at once, and its silence is no evidence")
  func scanOff() {
    var timeline = LivenessTests.timeline(.assumed)
    for second in 0...10 { timeline.receive(at: Double(second)) }
    timeline.give(.scanState(.off), at: 11)
    timeline.advance(to: 200)
    #expect(timeline.states() == ["unknown>inside@0.0", "inside>unmonitored@11.0"])
    timeline.give(.scanState(.foreground), at: 201)
    timeline.receive(at: 202)
    #expect(timeline.states().last == "unmonitored>inside@202.0")
    timeline.give(.scanState(.off), at: 203)
    timeline.give(.scanState(.foreground), at: 300)
    timeline.advance(to: 400)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionExit door 305.0"])
    #expect(timeline.transitions(.regionUnmonitored).map(\.evidence.rule) == [.scanOff, .scanOff])
  }

  @Test("silence while scanning in windows is stretched")
  func windowed() {
    var timeline = LivenessTests.timeline(.assumed)
    for second in 0...10 { timeline.receive(at: Double(second)) }
    timeline.give(.scanState(.windowed), at: 10.5)
    timeline.advance(to: 100)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionExit door 30.0"])
  }

  @Test("a new boot id is published once; sequence numbers show what was lost")
  func restarts() {
    var timeline = LivenessTests.timeline(.auto)
    func head(_ boot: UInt32, _ sequence: UInt32) -> ReportBody {
      .transmission(Transmission(bootID: boot, sequence: sequence, uptime: .zero))
    }
    for (second, (boot, sequence)) in [
      (1, 1), (1, 2), (1, 5), (1, 4), (1, 4), (2, 1), (1, 6), (2, 2), (2, 4),
    ].enumerated() {
      timeline.give(head(UInt32(boot), UInt32(sequence)), at: Double(second))
    }
    #expect(timeline.story(LivenessTests.life) == ["observerOnline  0.0", "observerRestarted  5.0"])
    let counters = timeline.engine.counters
    #expect(counters.sequenceGaps == 2)
    #expect(counters.sequenceRepeats == 1)
    #expect(counters.restarts == 1)
    #expect(counters.staleBoots == 1)
    #expect(timeline.engine.observers().first?.lostDatagrams == 2)
  }

  @Test(
    "stage two receives that an observer goes down and what it no longer knows, and what it finds when it is back"
  )
  func links() {
    let region = Timeline.region(major: 1, silence: .seconds(5), subject: .beacon(observers: nil))
    var timeline = LivenessTests.timeline(.auto, region)
    for second in 0...60 {
      timeline.receive(1, 1, at: Double(second))
      timeline.receive(1, 2, at: Double(second) + 0.2)
      timeline.receive(200, 1, at: Double(second) + 0.5)
    }
    timeline.advance(to: 300)
    for second in 300...320 { timeline.receive(1, 1, at: Double(second)) }
    let story = timeline.links.compactMap { link -> String? in
      switch link {
      case .observer(let change): return change.isUp ? "up" : "down"
      case .presence(let change): return "\(change.beacon.minor ?? 0) \(change.state)"
      case .second, .life, .sensing: return nil
      }
    }
    #expect(
      story == [
        "up", "1 inside", "2 inside", "down", "1 unmonitored", "2 unmonitored", "up", "1 inside", "1 inside",
        "2 outside",
      ]
    )
    #expect(
      zip(timeline.links, timeline.links.dropFirst()).allSatisfy {
        ($0.decidedAt, $0.ordinal) < ($1.decidedAt, $1.ordinal)
      }
    )
  }

  @Test("an observer that is busy, falls silent and has heartbeats is up through quiet hours")
  func quiet() {
    var timeline = LivenessTests.timeline(.auto, Timeline.region(major: 1, silence: .seconds(5)))
    for second in 0...600 {
      if second < 100 { timeline.receive(at: Double(second)) }
      if second % 10 == 0 { timeline.give(.heartbeat(Heartbeat()), at: Double(second) + 0.5) }
    }
    #expect(
      timeline.story(LivenessTests.life) == [
        "observerOnline  0.0", "regionEnter door 0.0", "regionExit door 104.0",
      ]
    )
  }
}
