import PharosModel
import PharosPresence
import Testing

@Suite("Core Location's contract about regions")
struct RegionContractTests {
  @Test("every change of state is published with from and to, and unknown to inside enters")
  func states() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    timeline.receive(at: 0)
    timeline.advance(to: 10)
    timeline.receive(at: 50)
    timeline.advance(to: 60)
    #expect(
      timeline.states() == [
        "unknown>inside@0.0", "inside>outside@3.0", "outside>inside@50.0", "inside>outside@53.0",
      ]
    )
    #expect(timeline.transitions(.regionEnter).map(\.from) == [.unknown, .outside])
  }

  @Test("a live observer that hears none of it for thirty seconds is outside, without an exit")
  func outside() {
    var timeline = Timeline(Timeline.site([Timeline.region(samples: 2)]))
    timeline.receive(at: 0)
    timeline.advance(to: 100)
    #expect(timeline.states() == ["unknown>outside@30.0"])
    #expect(timeline.story().isEmpty)
  }

  @Test("a region is left when its last beacon is gone, and the refinement names the cause")
  func lastBeacon() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    timeline.receive(1, 1, at: 0)
    timeline.receive(1, 2, at: 1)
    timeline.receive(2, 3, at: 2)
    timeline.advance(to: 20)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionExit door 5.0"])
    #expect(timeline.transitions(.regionEnter).map(\.refinement) == [Timeline.beacon(1, 1)])
    #expect(timeline.transitions(.regionExit).map(\.refinement) == [Timeline.beacon(2, 3)])
  }

  @Test("overlapping regions are each reported, and inside a child implies inside its parent")
  func overlapping() {
    let regions = [
      Timeline.region("all"), Timeline.region("major", major: 1),
      Timeline.region("minor", major: 1, minor: 7),
      Timeline.region("other", major: 2),
    ]
    var timeline = Timeline(Timeline.site(regions))
    timeline.receive(at: 0)
    timeline.advance(to: 10)
    #expect(
      Set(timeline.story()) == [
        "regionEnter all 0.0", "regionEnter major 0.0", "regionEnter minor 0.0",
        "regionExit all 3.0", "regionExit major 3.0", "regionExit minor 3.0",
      ]
    )
  }

  @Test("notify flags hold back enter and exit, never the state")
  func notifyFlags() {
    var region = Timeline.region()
    region.notifyOnEntry = false
    region.notifyOnExit = false
    var timeline = Timeline(Timeline.site([region]))
    timeline.receive(at: 0)
    timeline.advance(to: 10)
    #expect(timeline.story().isEmpty)
    #expect(timeline.states() == ["unknown>inside@0.0", "inside>outside@3.0"])
  }

  @Test("display-on while inside gives a state event and no enter", arguments: [true, false])
  func displayOn(isWanted: Bool) {
    var region = Timeline.region()
    region.notifyEntryStateOnDisplay = isWanted
    var timeline = Timeline(Timeline.site([region]))
    timeline.receive(at: 0)
    timeline.give(.displayOn, at: 1)
    timeline.advance(to: 10)
    timeline.give(.displayOn, at: 11)
    let answers = timeline.transitions(.regionState).filter(\.isAnswer)
    #expect(answers.map(\.evidence.rule) == (isWanted ? [.displayOn] : []))
    #expect(timeline.story().count == 2)
  }

  @Test("requestState answers once: from the row, or computed")
  func requestState() {
    let request = RegionChange.requestState(
      application: "gallery",
      identifier: "door",
      subject: .observer(Timeline.handset)
    )
    var timeline = Timeline(Timeline.site([Timeline.region(), Timeline.region("else", major: 9)]))
    timeline.apply(request, at: -1)
    timeline.receive(at: 0)
    timeline.apply(request, at: 1)
    timeline.advance(to: 10)
    timeline.apply(request, at: 11)
    let other = RegionChange.requestState(
      application: "gallery",
      identifier: "else",
      subject: .observer(Timeline.handset)
    )
    timeline.apply(other, at: 20)
    timeline.receive(at: 35)
    timeline.apply(other, at: 40)
    let answers = timeline.transitions(.regionState).filter(\.isAnswer)
    #expect(answers.map(\.to) == [.unknown, .inside, .outside, .unknown, .outside])
    #expect(Set(timeline.events.map(\.id)).count == timeline.events.count, "no id is used twice")
  }

  @Test("the same identifier replaces the region: its state restarts unless nothing that decides has changed")
  func replace() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    timeline.receive(at: 0)
    var same = Timeline.region()
    same.notifyOnExit = false
    timeline.apply(.startMonitoring(application: "gallery", same), at: 0.5)
    #expect(timeline.states() == ["unknown>inside@0.0"])
    timeline.apply(.startMonitoring(application: "gallery", Timeline.region(major: 1)), at: 1)
    #expect(timeline.states() == ["unknown>inside@0.0", "unknown>inside@1.0"])
    timeline.advance(to: 10)
    #expect(timeline.states().last == "inside>outside@3.0")
    #expect(Set(timeline.events.map(\.id)).count == timeline.events.count)
  }

  @Test("a region that is added while its beacon is here is entered; one that is removed says nothing more")
  func changes() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    timeline.receive(at: 0)
    timeline.apply(.startMonitoring(application: "shop", Timeline.region("front")), at: 1)
    timeline.apply(.stopMonitoring(application: "gallery", identifier: "door"), at: 2)
    timeline.advance(to: 10)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionEnter front 1.0", "regionExit front 3.0"])
  }

  @Test("a state that was assumed is corrected with an enter or exit")
  func assuming() {
    var timeline = Timeline(Timeline.site([]))
    timeline.receive(9, 9, at: 0)
    let inside = RegionChange.startMonitoring(
      application: "gallery",
      Timeline.region(major: 1),
      assuming: .inside
    )
    timeline.apply(inside, at: 5)
    timeline.advance(to: 100)
    #expect(timeline.story() == ["regionExit door 35.0"])
    let outside = RegionChange.startMonitoring(
      application: "gallery",
      Timeline.region("wall", major: 2),
      assuming: .outside
    )
    timeline.apply(outside, at: 101)
    timeline.receive(2, 1, at: 102)
    #expect(timeline.states(of: "wall") == ["outside>inside@102.0"])
  }

  @Test("addresses and Eddystone are identities as well", arguments: [true, false])
  func identities(isPrivate: Bool) throws {
    let namespace = try #require(EddystoneNamespace("00010203040506070809"))
    let address = DeviceAddress(bits: isPrivate ? 0x4A_0000_0000_01 : 0xCA_0000_0000_01, kind: .random)
    let regions = [
      Region(identifier: "mac", constraint: .address(address), presence: PresenceTests.fixed(samples: 1)),
      Region(identifier: "edd", constraint: .eddystone(namespace), presence: PresenceTests.fixed(samples: 1)),
    ]
    let uid: [UInt8] =
      [0x03, 0x03, 0xAA, 0xFE, 0x15, 0x16, 0xAA, 0xFE, 0x00, 0xEE] + (0..<10).map { UInt8($0) } + [
        0, 0, 0, 0, 0, 9,
      ]
    var timeline = Timeline(Timeline.site(regions))
    timeline.advert(uid, at: 0, address: address)
    #expect(timeline.story() == ["regionEnter edd 0.0"] + (isPrivate ? [] : ["regionEnter mac 0.0"]))
  }

  @Test("where the address is part of the key, two beacons of one identity are two")
  func keyed() {
    var region = Timeline.region(subject: .beacon(observers: nil))
    region.keyedByAddress = true
    var timeline = Timeline(Timeline.site([region]))
    let first = DeviceAddress(bits: 0xC0_0000_0000_01, kind: .random)
    let second = DeviceAddress(bits: 0xC0_0000_0000_02, kind: .random)
    timeline.receive(at: 0, address: first)
    timeline.receive(at: 0.001, address: second)
    timeline.receive(at: 0.002, address: DeviceAddress(bits: 0x40_0000_0000_02, kind: .random))
    let beacons = timeline.links.compactMap { link -> BeaconID? in
      if case .presence(let change) = link { return change.beacon }
      return nil
    }
    #expect(beacons == [Timeline.beacon().keyed(by: first), Timeline.beacon().keyed(by: second)])
  }

  @Test("a directory entry with `key: mac` keys the tracks of all applications")
  func keyedByDirectory() {
    let entry = BeaconEntry(constraint: .proximity(Timeline.uuid), keyedByAddress: true)
    let site = Timeline.site([Timeline.region(subject: .beacon(observers: nil))], beacons: [entry])
    var timeline = Timeline(site)
    let address = DeviceAddress(bits: 0xC0_0000_0000_01, kind: .random)
    timeline.receive(at: 0, address: address)
    guard case .presence(let change)? = timeline.links.last else {
      Issue.record("no presence link")
      return
    }
    #expect(change.beacon == Timeline.beacon().keyed(by: address))
    #expect(timeline.engine.counters.tracks == 1)
  }

  @Test("a region about beacons gets presences from the observers that it lists")
  func beaconRegions() {
    let other = ObserverID.name("other")
    let region = Timeline.region(subject: .beacon(observers: [Timeline.handset]))
    var timeline = Timeline(Timeline.site([region]))
    timeline.receive(at: 0)
    timeline.receive(at: 0, from: other)
    timeline.advance(to: 10)
    let changes = timeline.links.compactMap { link -> String? in
      guard case .presence(let change) = link else { return nil }
      return "\(change.observer) \(change.state) \((change.time - Timeline.origin).seconds)"
    }
    #expect(changes == ["\(Timeline.handset) inside 0.0", "\(Timeline.handset) outside 3.0"])
    #expect(timeline.story().isEmpty)
  }

  @Test("a phone that becomes a beacon itself is heard as one, and its own regions go on")
  func phoneAsBeacon() {
    let phone = ObserverID.name("phone")
    let regions = [
      Timeline.region("shop", major: 1),
      Timeline.region("staff", major: 9, subject: .beacon(observers: nil)),
    ]
    var timeline = Timeline(Timeline.site(regions))
    timeline.receive(1, 7, at: 0, from: phone)
    // The phone sends an identity of its own: the gateway hears that like any other.
    timeline.receive(9, 1, at: 5)
    timeline.receive(1, 7, at: 6, from: phone)
    timeline.advance(to: 20)
    let changes = timeline.links.compactMap { link -> String? in
      guard case .presence(let change) = link else { return nil }
      return "\(change.observer) \(change.beacon) \(change.state) \((change.time - Timeline.origin).seconds)"
    }
    let (gateway, beacon) = (Timeline.handset, Timeline.beacon(9, 1))
    #expect(changes == ["\(gateway) \(beacon) inside 5.0", "\(gateway) \(beacon) outside 8.0"])
    #expect(
      timeline.story() == [
        "regionEnter shop 0.0", "regionExit shop 3.0", "regionEnter shop 6.0", "regionExit shop 9.0",
      ]
    )
  }
}
