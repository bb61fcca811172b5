import PharosModel
import PharosPresence
import Testing

@Suite("Ranging, once a second")
struct RangingTests {
  static let request = RangingRequest(constraint: .proximity(Timeline.uuid))

  static func rangings(_ timeline: Timeline) -> [[RangedReading]] {
    timeline.events.compactMap { event in
      guard case .ranging(_, let beacons) = event.detail else { return nil }
      return beacons
    }
  }

  @Test("beacons are listed nearest first, with the mean level of the second, in the first report's phase")
  func order() throws {
    var timeline = Timeline(Timeline.site([], ranging: [RangingTests.request]))
    for step in 0..<30 {
      timeline.receive(1, 1, at: 10.25 + Double(step) / 10, rssi: -80)
      timeline.receive(1, 2, at: 10.26 + Double(step) / 10, rssi: step % 2 == 0 ? -50 : -54)
      timeline.receive(1, 3, at: 10.27 + Double(step) / 10, rssi: -65)
    }
    timeline.advance(to: 13.9)
    let events = timeline.events.filter { $0.kind == .ranging }
    #expect(events.map(\.time) == [Timeline.at(11.25), Timeline.at(12.25), Timeline.at(13.25)])
    #expect(events.map(\.decidedAt) == [Timeline.at(11.75), Timeline.at(12.75), Timeline.at(13.75)])
    #expect(events.allSatisfy { $0.application == "gallery" && $0.region.isEmpty })
    let readings = try #require(RangingTests.rangings(timeline).first)
    #expect(readings.map(\.beacon) == [Timeline.beacon(1, 2), Timeline.beacon(1, 3), Timeline.beacon(1, 1)])
    #expect(readings.map(\.rssi) == [-52, -65, -80])
    #expect(readings.map(\.samples) == [10, 10, 10])
    #expect(readings.map(\.proximity) == [.immediate, .near, .far])
    #expect(abs(readings[2].accuracy - 11.22) < 0.1, "10^((−59 + 80) ÷ 20) m")
    #expect(readings.allSatisfy { $0.deviation > 0 })
  }

  @Test("a beacon that is not heard stays five seconds as unknown, then drops, and one empty event ends it")
  func dropping() {
    var timeline = Timeline(Timeline.site([], ranging: [RangingTests.request]))
    for step in 0..<10 { timeline.receive(1, 1, at: Double(step) / 10) }
    timeline.advance(to: 60)
    let rangings = RangingTests.rangings(timeline)
    #expect(rangings.map(\.count) == [1, 1, 1, 1, 1, 0])
    #expect(rangings[1][0].proximity == .unknown)
    #expect(rangings[1][0].rssi == 0)
    #expect(rangings[1][0].accuracy == -1)
  }

  @Test("a slow beacon stays three intervals, and the unknown come last")
  func slow() throws {
    var timeline = Timeline(Timeline.site([], ranging: [RangingTests.request]))
    for step in 0..<10 {
      timeline.receive(1, 1, at: Double(step) * 4)
      for tenth in 0..<40 {
        timeline.receive(1, 2, at: Double(step) * 4 + Double(tenth) / 10 + 0.05, rssi: -90)
      }
    }
    timeline.advance(to: 80)
    let slow = RangingTests.rangings(timeline).filter { readings in
      readings.contains { $0.beacon == Timeline.beacon(1, 1) }
    }
    #expect(slow.count == 36 + 12)
    #expect(slow[1].map(\.beacon) == [Timeline.beacon(1, 2), Timeline.beacon(1, 1)])
    #expect(slow[1].map(\.proximity) == [.far, .unknown])
  }

  @Test("an observer that scans now and then keeps its readings until the next scan is overdue")
  func windows() {
    var timeline = Timeline(Timeline.site([], ranging: [RangingTests.request]))
    for scan in 0..<10 {
      for tenth in 0..<5 { timeline.receive(1, 1, at: Double(scan) * 5 + Double(tenth) / 10, rssi: -70) }
    }
    timeline.advance(to: 80)
    let known = RangingTests.rangings(timeline).map { $0.first?.proximity == .far }
    // The rhythm shows with the second scan; behind the last one, nine seconds are not overdue.
    #expect(known.dropFirst(10).prefix(38).allSatisfy { $0 }, "\(known)")
    #expect(RangingTests.rangings(timeline).last?.isEmpty == true)
  }

  @Test("`whileInside` ranges only while the region is inside")
  func whileInside() {
    var request = RangingTests.request
    request.whileInside = true
    let region = Timeline.region(samples: 3, silence: .seconds(2))
    var timeline = Timeline(Timeline.site([region], ranging: [request]))
    for second in 0..<6 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 60)
    let times = timeline.events.filter { $0.kind == .ranging }.map { ($0.time - Timeline.origin).seconds }
    // Entered with the third sample at 2, left at 7: the event at 7, decided at 7.5 as the exit is, is the empty one.
    #expect(times == [2, 3, 4, 5, 6, 7])
    #expect(RangingTests.rangings(timeline).last?.isEmpty == true)
  }

  @Test("a beacon that a platform ranged gives back the platform's own distance")
  func rangedBeacon() throws {
    var timeline = Timeline(Timeline.site([], ranging: [RangingTests.request]))
    let ranged = RangedBeacon(beacon: Timeline.beacon(), rssi: RSSI(dBm: -70), accuracy: Meters(2))
    timeline.give(.rangedBeacon(ranged), at: 0)
    timeline.advance(to: 1.6)
    let reading = try #require(RangingTests.rangings(timeline).first?.first)
    #expect(abs(reading.accuracy - 2) < 1e-6)
  }

  @Test("the directory's measured power goes before the frame's")
  func measuredPower() throws {
    let entry = BeaconEntry(constraint: .proximity(Timeline.uuid, major: 1), measuredPower: -70)
    var timeline = Timeline(Timeline.site([], ranging: [RangingTests.request], beacons: [entry]))
    timeline.receive(at: 0, rssi: -70)
    timeline.advance(to: 1.6)
    #expect(abs((RangingTests.rangings(timeline).first?.first?.accuracy ?? 0) - 1) < 1e-9)
  }

  @Test(
    "a measured power that none can be leaves the distance unknown, and the beacon enters all the same",
    arguments: [58, 0, 127, .min] as [Int8],
    [false, true]
  )
  func unknownPower(power: Int8, isRanged: Bool) throws {
    let near = Region(
      identifier: "near",
      constraint: .proximity(Timeline.uuid),
      presence: PresencePolicy(enterSamples: 1, enterDistance: Meters(3), exitDistance: Meters(5))
    )
    let entry = BeaconEntry(constraint: .proximity(Timeline.uuid), measuredPower: Double(power))
    let site = Timeline.site([Timeline.region(), near], ranging: [RangingTests.request], beacons: [entry])
    var timeline = Timeline(site)
    for step in 0..<200 {
      let time = Double(step) / 10
      if isRanged {
        let accuracy = step % 2 == 0 ? Meters(1e6) : nil
        let ranged = RangedBeacon(
          beacon: Timeline.beacon(),
          rssi: RSSI(dBm: -58),
          accuracy: accuracy,
          measuredPower: power
        )
        timeline.give(.rangedBeacon(ranged), at: time)
      } else {
        timeline.advert(Timeline.iBeacon(1, 7, power: power), at: time, rssi: -58)
      }
    }
    timeline.advance(to: 20)
    let readings = RangingTests.rangings(timeline).flatMap { $0 }
    #expect(readings.count >= 18)
    #expect(readings.allSatisfy { $0.accuracy == -1 && $0.proximity == .unknown })
    #expect(timeline.events.filter { $0.kind == .regionEnter }.map(\.region) == ["door"])
  }

  @Test(
    "a ranged beacon enters the regions of the address that it was heard with, unless that changes by itself"
  )
  func rangedAddress() {
    let address = DeviceAddress(bits: 0xC300_000A_0B0C, kind: .random)
    let tag = Region(
      identifier: "tag",
      constraint: .address(address),
      presence: PresencePolicy(enterSamples: 1, silence: .fixed(.seconds(3)))
    )
    var timeline = Timeline(Timeline.site([Timeline.region(), tag]))
    var ranged = RangedBeacon(beacon: Timeline.beacon(), rssi: RSSI(dBm: -60), accuracy: nil)
    timeline.give(.rangedBeacon(ranged), at: 0)
    #expect(timeline.story() == ["regionEnter door 0.0"])
    ranged.address = DeviceAddress(bits: 0x4300_000A_0B0C, kind: .random)
    timeline.give(.rangedBeacon(ranged), at: 1)
    #expect(timeline.story() == ["regionEnter door 0.0"])
    ranged.address = address
    timeline.give(.rangedBeacon(ranged), at: 2)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionEnter tag 2.0"])
  }

  @Test("a tag that states no power once keeps the one that it stated before")
  func keptPower() throws {
    var timeline = Timeline(Timeline.site([], ranging: [RangingTests.request]))
    for (step, power) in ([-59, -59, 58, 0] as [Int8]).enumerated() {
      timeline.advert(Timeline.iBeacon(1, 7, power: power), at: Double(step), rssi: -59)
    }
    timeline.advance(to: 4.6)
    let accuracies = RangingTests.rangings(timeline).compactMap { $0.first?.accuracy }
    #expect(accuracies.count == 4)
    #expect(accuracies.allSatisfy { abs($0 - 1) < 1e-9 })
  }

  @Test(
    "summaries go to stage two for zoned beacons, from observers that stand in a zone, corrected by the offset"
  )
  func summaries() throws {
    var site = Timeline.site(
      [Timeline.region()],
      zones: [Zone(identifier: "lobby", observers: [Timeline.handset])]
    )
    site.observers[0].rssiOffset = -3
    var timeline = Timeline(site)
    for step in 0..<10 {
      timeline.receive(at: Double(step) / 10, rssi: step % 2 == 0 ? -60 : -64)
      timeline.receive(at: Double(step) / 10, from: .name("elsewhere"))
    }
    timeline.advance(to: 30)
    let halves = RangingTests.summaries(timeline)
    #expect(halves.map(\.until) == [Timeline.at(0.5), Timeline.at(1)])
    // Every report has come at once, so nothing but the margin is waited for.
    #expect(halves.map(\.decidedAt) == [Timeline.at(0.53), Timeline.at(1.03)])
    #expect(halves.map(\.beacons.count) == [1, 1])
    let summary = try #require(halves.first?.beacons.first)
    #expect(summary.count == 5)
    #expect(abs(summary.mean + 64.6) < 1e-9)
    #expect(abs(summary.variance - 4.8) < 1e-9)
    #expect(summary.lastHeard == Timeline.at(0.4))
  }

  @Test("a beacon that zones and ranging ask about counts whole in both")
  func summedAndRanged() throws {
    let site = Timeline.site(
      [Timeline.region()],
      ranging: [RangingTests.request],
      zones: [Zone(identifier: "lobby", observers: [Timeline.handset])]
    )
    var timeline = Timeline(site)
    for step in 0..<30 { timeline.receive(at: Double(step) / 10, rssi: -60) }
    timeline.advance(to: 20)
    #expect(RangingTests.summaries(timeline).map { $0.beacons.first?.count } == Array(repeating: 5, count: 6))
    #expect(RangingTests.rangings(timeline).prefix(3).map { $0.first?.samples } == [10, 10, 10])
  }

  private static func summaries(_ timeline: borrowing Timeline) -> [SecondSummary] {
    timeline.links.compactMap { link -> SecondSummary? in
      guard case .second(let half) = link else { return nil }
      return half
    }
  }

  @Test("a battery is published at most once an hour")
  func battery() throws {
    let namespace = try #require(EddystoneNamespace("00010203040506070809"))
    let uid: [UInt8] =
      [0x15, 0x16, 0xAA, 0xFE, 0x00, 0xEE] + (0..<10).map { UInt8($0) } + [0, 0, 0, 0, 0, 9]
    let telemetry: [UInt8] = [
      0x11, 0x16, 0xAA, 0xFE, 0x20, 0x00, 0x0B, 0xB8, 0x15, 0x00, 0, 0, 0, 1, 0, 0, 0, 1,
    ]
    let region = Region(identifier: "edd", constraint: .eddystone(namespace))
    var timeline = Timeline(Timeline.site([region]))
    let address = DeviceAddress(bits: 0xC0_0000_0000_01, kind: .random)
    for minute in 0..<100 {
      timeline.advert(uid, at: Double(minute) * 60, address: address)
      timeline.advert(telemetry, at: Double(minute) * 60 + 1, address: address)
    }
    let batteries = timeline.events.filter { $0.kind == .beaconBattery }
    #expect(
      batteries.map(\.detail)
        == Array(repeating: .battery(millivolts: 3_000, observer: Timeline.handset), count: 2)
    )
    #expect(batteries.first?.subject == .beacon(.eddystone(namespace, instance: 9)))
  }
}
