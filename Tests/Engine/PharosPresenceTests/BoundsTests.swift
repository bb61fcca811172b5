import PharosModel
import PharosPresence
import Testing

@Suite("Bounds: nothing that is let go counts as gone")
struct BoundsTests {
  static let door = Timeline.region("door", major: 1, silence: .seconds(30))
  static let all = Timeline.region("all", silence: .seconds(30))

  @Test(
    "a track that is evicted makes its region unmonitored, and its beacon is found again without an enter"
  )
  func trackEviction() {
    let site = Timeline.site([BoundsTests.door, BoundsTests.all])
    var timeline = Timeline(site, limits: MonitoringLimits(tracksPerObserver: 32))
    for second in 0...5 { timeline.receive(1, 7, at: Double(second)) }
    // A flood of identities of a region, within the silence that the first one is allowed.
    for number in 0..<200 { timeline.receive(2, UInt16(number), at: 6 + Double(number) / 100) }
    #expect(timeline.engine.counters.trackEvictions > 100)
    #expect(timeline.states(of: "door").count == 2)
    #expect(timeline.states(of: "door").last?.hasPrefix("inside>unmonitored") == true)
    timeline.receive(1, 7, at: 9)
    timeline.receive(1, 7, at: 10)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionEnter all 0.0"])
    #expect(timeline.states(of: "door").last == "unmonitored>inside@9.0")
    #expect(timeline.engine.observers().first.map { $0.tracks <= 32 } == true)
  }

  @Test(
    "an observer that is evicted makes its regions unmonitored, and takes no untracked beacons of another one with it"
  )
  func observerEviction() {
    var site = Timeline.site([Timeline.region("door", silence: .seconds(30))])
    let listed = Region.Subject.beacon(observers: [.eui48(99)])
    site.applications[0].regions.append(
      Region(
        identifier: "desk",
        constraint: .proximity(Timeline.uuid, major: 5),
        subject: listed,
        presence: PresencePolicy(enterSamples: 1)
      )
    )
    site.applications[0].regions[0].condition = .beacons(.proximity(Timeline.uuid, major: 1))
    var timeline = Timeline(site, limits: MonitoringLimits(observers: 4))
    for number in 0..<40 {
      let observer = ObserverID.eui48(UInt64(number))
      timeline.receive(1, 7, at: Double(number) / 10, from: observer)
      timeline.receive(5, 1, at: Double(number) / 10 + 0.01, from: observer)
    }
    timeline.receive(5, 1, at: 5, from: .eui48(99))
    #expect(timeline.engine.counters.observerEvictions >= 30)
    #expect(timeline.story([.regionExit]).isEmpty)
    let inside = timeline.links.compactMap { link -> ObserverID? in
      guard case .presence(let change) = link, change.state == .inside else { return nil }
      return change.observer
    }
    #expect(inside == [.eui48(99)], "the one that the region lists")
  }

  @Test("an untracked beacon with an address is not one without, whatever the hash")
  func unregisteredWithAddress() {
    var site = Timeline.site([Timeline.region("door")])
    site.observers[0].lag = .seconds(1)
    site.beacons = [BeaconEntry(constraint: .proximity(Timeline.uuid), keyedByAddress: true)]
    var timeline = Timeline(site)
    let address = DeviceAddress(bits: 0xAC23_3FA0_0077, kind: .public)
    for minor in UInt16(1)...64 {
      // So late that no track is made; and with an address no region matches the plain identity.
      timeline.receive(1, minor, at: Double(minor), address: address, timing: .age(.seconds(40)))
      timeline.receive(1, minor, at: Double(minor) + 0.5)
    }
    #expect(timeline.engine.counters.unmatched == 64)
    #expect(timeline.engine.counters.matched == 64)
  }

  @Test("a beacon that speaks every ten seconds enters with the second advert by the default rules")
  func slowBeacon() {
    let region = Region(identifier: "door", constraint: .proximity(Timeline.uuid))
    var timeline = Timeline(Timeline.site([region]))
    for step in 0..<360 where step < 2 || step % 4 != 3 { timeline.receive(at: Double(step) * 10) }
    timeline.advance(to: 3_600)
    #expect(timeline.story() == ["regionEnter door 10.0"], "and one advert in four that is lost is no exit")
  }

  @Test(
    "a sender's clock that is set by a few seconds neither ends nor begins a visit",
    arguments: [-5.0, 5, -15, 15]
  )
  func smallSteps(step: Double) throws {
    var timeline = Timeline(Timeline.site([Timeline.region(silence: .seconds(20))]))
    for second in 0..<400 {
      let sent = Double(second) + (second >= 100 ? step : 0) + (second >= 300 ? step : 0)
      timeline.receive(at: Double(second) + 0.05, timing: .sent(Timeline.at(sent)))
    }
    timeline.advance(to: 400)
    #expect(timeline.story() == ["regionEnter door 0.05"])
    let offset = try #require(timeline.engine.observers().first?.clockOffset)
    #expect(abs(offset.seconds - (0.05 - 2 * step)) < 0.01)
  }
}
