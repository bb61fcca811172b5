import PharosDocuments
import PharosModel
import PharosPresence
import PharosWire
import Testing

/// What handsets sense goes on to stage two, and nothing else does.
@Suite("Sensings")
struct SensingTests {
  private static let gateway = ObserverID.eui48(0xAC23_3FA0_00FF)
  private static let bssid = DeviceAddress(bits: 0x0011_2233_4455, kind: .public)

  private static func engine(
    _ regions: [Region] = [],
    sensing: SensingScope? = SensingScope(fixedObservers: [gateway]),
    zones: [Zone] = [],
    rssiOffset: Double = 0
  ) -> Timeline {
    var site = Timeline.site(regions, zones: zones)
    site.observers[0].rssiOffset = rssiOffset
    var timeline = Timeline(site)
    timeline.engine = MonitoringEngine(site: site, sensing: sensing)
    return timeline
  }

  /// A Wi-Fi scan by itself: one access point, heard two seconds before.
  private static func scan(_ timeline: inout Timeline, at seconds: Double, from observer: ObserverID) {
    var batch = ReportBatch()
    let point = AccessPoint(
      bssid: bssid,
      rssi: RSSI(dBm: -50),
      frequency: 2_412,
      lastHeard: .seconds(2)
    )
    let range = batch.append(accessPoints: [point])
    let report = Report(
      observer: batch.index(of: observer),
      received: Timeline.at(seconds),
      timing: .age(.milliseconds(250)),
      body: .wifiScan(range)
    )
    var output = StageOutput()
    timeline.engine.ingest(batch.with(report), into: &output)
    timeline.links += output.links
  }

  private static func sensings(_ timeline: Timeline) -> [Sensing] {
    timeline.links.compactMap { if case .sensing(let sensing) = $0 { sensing } else { nil } }
  }

  @Test("a scan goes on with the time at which it was made, and its entries with theirs")
  func scans() throws {
    var timeline = SensingTests.engine()
    SensingTests.scan(&timeline, at: 5, from: Timeline.handset)
    let sensing = try #require(SensingTests.sensings(timeline).first)
    #expect(sensing.observer == Timeline.handset)
    #expect(sensing.time == Timeline.at(4.75))
    #expect(sensing.decidedAt == Timeline.at(5))
    guard case .accessPoints(let points) = sensing.body else {
      Issue.record("\(sensing.body)")
      return
    }
    #expect(points.map(\.bssid) == [SensingTests.bssid])
    #expect(points.first?.lastHeard == .seconds(2))
    #expect(timeline.engine.counters.sensings == 1)
  }

  @Test("without venues nothing goes on")
  func withoutVenues() {
    var (bare, located) = (SensingTests.engine(sensing: nil), SensingTests.engine())
    for time in [1.0, 2, 3] {
      SensingTests.scan(&bare, at: time, from: Timeline.handset)
      SensingTests.scan(&located, at: time, from: Timeline.handset)
    }
    #expect(SensingTests.sensings(bare).isEmpty)
    #expect(bare.engine.counters.sensings == 0)
    #expect(SensingTests.sensings(located).count == 3)
  }

  private static func bytes(_ engine: MonitoringEngine) -> [UInt8] {
    var writer = FieldWriter()
    engine.writeState(to: &writer)
    return writer.bytes
  }

  @Test("a gateway's adverts stay here, and a handset's go on from its first report that no gateway makes")
  func whoIsAHandset() throws {
    var timeline = SensingTests.engine()
    let address = DeviceAddress(bits: 7, kind: .public)
    timeline.receive(1, 7, at: 1, rssi: -60, address: address)
    timeline.give(.heartbeat(Heartbeat(advertsHeard: 5)), at: 2)
    #expect(SensingTests.sensings(timeline).isEmpty)
    timeline.give(.scanState(.foreground), at: 3)
    timeline.receive(1, 7, at: 4, rssi: -61, address: address)
    timeline.receive(2, 9, at: 5, rssi: nil)
    let sensings = SensingTests.sensings(timeline)
    #expect(sensings.count == 1, "an advert without a level says nothing")
    let level = RSSI(dBm: -61)
    #expect(
      sensings.first?.body == .beacon(Timeline.beacon(1, 7), address: address, rssi: level, accuracy: nil)
    )
  }

  @Test("an observer with a known place or zone is no handset, whatever it reports")
  func fixedObservers() {
    let zone = Zone(identifier: "hall", observers: [.name("desk")])
    var timeline = SensingTests.engine(zones: [zone])
    for observer in [SensingTests.gateway, .name("desk")] {
      SensingTests.scan(&timeline, at: 1, from: observer)
      timeline.give(.displayOn, at: 2, from: observer)
      timeline.receive(1, 7, at: 3, from: observer)
    }
    #expect(SensingTests.sensings(timeline).isEmpty)
    SensingTests.scan(&timeline, at: 4, from: Timeline.handset)
    #expect(SensingTests.sensings(timeline).count == 1)
  }

  @Test("sensings from a private address omit it, those named by an address are passed on only if fixed")
  func addresses() {
    let known = DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .public)
    var timeline = SensingTests.engine(sensing: SensingScope(beaconAddresses: [known.bits]))
    timeline.give(.scanState(.foreground), at: 1)
    timeline.receive(1, 7, at: 2, address: DeviceAddress(bits: 1, kind: .random))
    timeline.advert([0x02, 0x01, 0x06], at: 3, address: known)
    timeline.advert([0x02, 0x01, 0x06], at: 4, address: DeviceAddress(bits: 0xC0FF_EE00_0002, kind: .public))
    let level = RSSI(dBm: -60)
    #expect(
      SensingTests.sensings(timeline).map(\.body) == [
        .beacon(Timeline.beacon(1, 7), address: nil, rssi: level, accuracy: nil),
        .beacon(.address(known), address: known, rssi: level, accuracy: nil),
      ]
    )
  }

  @Test("the site's offset is in the levels that go on, held within what a level can be")
  func offsets() {
    var timeline = SensingTests.engine(rssiOffset: -2.6)
    timeline.give(.displayOn, at: 1)
    timeline.receive(1, 7, at: 2, rssi: -60)
    timeline.receive(1, 7, at: 3, rssi: -126)
    let levels = SensingTests.sensings(timeline).compactMap { sensing -> Int8? in
      guard case .beacon(_, address: _, let rssi, accuracy: _) = sensing.body else { return nil }
      return rssi.dBm
    }
    #expect(levels == [-63, -127])
  }

  @Test("ranged beacons and fixes of the platform are passed on unchanged")
  func platform() {
    var timeline = SensingTests.engine()
    let fix = OutsideFix(
      latitude: 52,
      longitude: 13,
      horizontalAccuracy: Meters(8),
      speed: 1.5,
      source: .gnss
    )
    let level = RSSI(dBm: -70)
    let ranged = RangedBeacon(beacon: Timeline.beacon(), rssi: level, accuracy: Meters(2))
    timeline.give(.rangedBeacon(ranged), at: 1)
    timeline.give(.rangedBeacon(RangedBeacon(beacon: Timeline.beacon(), rssi: nil, accuracy: nil)), at: 2)
    timeline.give(.outsideFix(fix), at: 3, timing: .age(.seconds(2)))
    let sensings = SensingTests.sensings(timeline)
    #expect(
      sensings.map(\.body) == [
        .beacon(Timeline.beacon(), address: nil, rssi: level, accuracy: Meters(2)), .outside(fix),
      ]
    )
    #expect(sensings.last?.time == Timeline.at(1), "an age beyond the lag is passed to stage two")
  }

  @Test("a handset is one still after a restart")
  func restart() throws {
    var timeline = SensingTests.engine()
    timeline.give(.scanState(.foreground), at: 1)
    var revived = MonitoringEngine(
      site: Timeline.site([]),
      sensing: SensingScope(fixedObservers: [SensingTests.gateway])
    )
    let bytes = SensingTests.bytes(timeline.engine)
    var reader = FieldReader(bytes[...])
    try revived.restoreState(from: &reader) { _ in true }
    try reader.finish()
    timeline.engine = revived
    timeline.receive(1, 7, at: 2)
    #expect(SensingTests.sensings(timeline).count == 1)
  }

  @Test(
    "adverts of a tag of a region, or of a located one, at a fixed observer are passed on each second"
  )
  func tags() {
    let region = Timeline.region("tags", major: 1, subject: .beacon(observers: nil))
    for (tags, expected) in [
      ([], [Timeline.beacon(1, 7)]),
      ([BeaconConstraint.proximity(Timeline.uuid, major: 2)], [Timeline.beacon(2, 7)]),
    ] {
      var site = Timeline.site([region])
      site.positioning.tags = tags
      var timeline = Timeline(site)
      timeline.engine = MonitoringEngine(
        site: site,
        sensing: SensingScope(fixedObservers: [SensingTests.gateway])
      )
      for tenth in 0..<40 {
        for major in [1, 2, 3] as [UInt16] {
          timeline.receive(major, 7, at: Double(tenth) / 10, from: SensingTests.gateway)
          timeline.receive(major, 7, at: Double(tenth) / 10, from: .name("a gateway that hangs nowhere"))
        }
      }
      timeline.advance(to: 10)
      let committed = timeline.links.flatMap { link -> [BeaconID] in
        guard case .second(let second) = link else { return [] }
        #expect(second.observer == SensingTests.gateway)
        return second.beacons.map(\.beacon)
      }
      #expect(committed.count >= 3)
      #expect(Set(committed) == Set(expected))
    }
  }
}

extension ReportBatch {
  /// The batch with one more report.
  fileprivate func with(_ report: Report) -> ReportBatch {
    var batch = self
    batch.append(report)
    return batch
  }
}
