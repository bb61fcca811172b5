import PharosModel
import PharosPresence
import PharosWire

/// Everything that a test needs to drive an engine on a virtual clock.
struct Timeline {
  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let origin = Timestamp(seconds: 1_420_070_400)
  static let handset = ObserverID.eui48(0xAC23_3FA0_0001)

  var engine: MonitoringEngine
  /// The site as it was declared last.
  private var site: Site
  var events: [Event] = []
  var links: [StageLink] = []
  /// A report of the observer's other surroundings is no proof here unless a test asks for it.
  private var batch = ReportBatch()
  private var output = StageOutput()

  init(_ site: Site, limits: MonitoringLimits = .init()) {
    engine = MonitoringEngine(site: site, limits: limits)
    self.site = site
  }

  /// A site with one application and its regions; every observer is assumed to be alive by default.
  static func site(
    _ regions: [Region],
    ranging: [RangingRequest] = [],
    liveness: ObserverEntry.Liveness = .assumed,
    beacons: [BeaconEntry] = [],
    zones: [Zone] = []
  ) -> Site {
    Site(
      applications: [Application(identifier: "gallery", regions: regions, ranging: ranging)],
      observers: [ObserverEntry(id: handset, liveness: liveness)],
      beacons: beacons,
      zones: zones
    )
  }

  /// A region that one sample enters and a fixed silence leaves: what pictures are drawn with.
  static func region(
    _ identifier: String = "door",
    major: UInt16? = nil,
    minor: UInt16? = nil,
    samples: Int = 1,
    silence: TimeSpan = .seconds(3),
    enter: Double? = nil,
    exit: Double? = nil,
    subject: Region.Subject = .observer
  ) -> Region {
    Region(
      identifier: identifier,
      constraint: .proximity(uuid, major: major, minor: minor),
      subject: subject,
      presence: PresencePolicy(
        enterSamples: samples,
        enterRSSI: enter,
        exitRSSI: exit,
        exitDwell: .seconds(2),
        silence: .fixed(silence)
      )
    )
  }

  static func at(_ seconds: Double) -> Timestamp { origin + .seconds(seconds) }

  static func beacon(_ major: UInt16 = 1, _ minor: UInt16 = 7) -> BeaconID {
    .proximity(uuid, major: major, minor: minor)
  }

  /// The AD structures of an iBeacon, as a transmitter sends them.
  static func iBeacon(_ major: UInt16, _ minor: UInt16, uuid: UUID128 = uuid, power: Int8 = -59) -> [UInt8] {
    var bytes: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: uuid.high >> UInt64(shift)))
    }
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: uuid.low >> UInt64(shift)))
    }
    bytes += [UInt8(major >> 8), UInt8(major & 255), UInt8(minor >> 8), UInt8(minor & 255)]
    return bytes + [UInt8(bitPattern: power)]
  }

  mutating func advert(
    _ payload: [UInt8],
    at seconds: Double,
    rssi: Int8? = -60,
    address: DeviceAddress? = nil,
    from observer: ObserverID = handset,
    timing: ReportTiming = .received
  ) {
    let range = batch.append(payload: payload)
    let advert = Advert(address: address, rssi: rssi.map { RSSI(dBm: $0) }, payload: range)
    give(.advert(advert), at: seconds, from: observer, timing: timing)
  }

  /// An edited site takes the place of the one before.
  mutating func adopt(_ next: Site, at seconds: Double) {
    for change in site.changes(to: next) { apply(change, at: seconds) }
    site = next
  }

  /// An iBeacon is heard.
  mutating func receive(
    _ major: UInt16 = 1,
    _ minor: UInt16 = 7,
    at seconds: Double,
    rssi: Int8? = -60,
    address: DeviceAddress? = nil,
    from observer: ObserverID = handset,
    timing: ReportTiming = .received
  ) {
    advert(
      Timeline.iBeacon(major, minor),
      at: seconds,
      rssi: rssi,
      address: address,
      from: observer,
      timing: timing
    )
  }

  mutating func give(
    _ body: ReportBody,
    at seconds: Double,
    from observer: ObserverID = handset,
    timing: ReportTiming = .received
  ) {
    let report = Report(
      observer: batch.index(of: observer),
      received: Timeline.at(seconds),
      timing: timing,
      body: body
    )
    engine.ingest(report, in: batch, into: &output)
    batch.removeAll()
    collect()
  }

  mutating func advance(to seconds: Double) {
    engine.advance(to: Timeline.at(seconds), into: &output)
    collect()
  }

  mutating func apply(_ change: RegionChange, at seconds: Double) {
    engine.apply(change, at: Timeline.at(seconds), into: &output)
    collect()
  }

  mutating func pause(from start: Double, to end: Double) {
    engine.pause(through: Timeline.at(end), at: Timeline.at(start), into: &output)
    collect()
  }

  private mutating func collect() {
    events += output.events
    links += output.links
    output.removeAll()
  }

  /// Events as a line each: kind, region, and when it happened in seconds since the beginning.
  func story(_ kinds: Set<EventKind> = [.regionEnter, .regionExit]) -> [String] {
    events.filter { kinds.contains($0.kind) }.map { event in
      let milliseconds = ((event.time - Timeline.origin).milliseconds).rounded()
      return "\(event.kind) \(event.region) \(milliseconds / 1_000)"
    }
  }

  /// State changes as `from>to@seconds`.
  func states(of region: String = "door") -> [String] {
    events.compactMap { event in
      guard event.kind == .regionState, event.region == region else { return nil }
      guard case .region(let transition) = event.detail else { return nil }
      let seconds = ((event.time - Timeline.origin).milliseconds).rounded() / 1_000
      return "\(transition.from)>\(transition.to)@\(seconds)"
    }
  }

  func transitions(_ kind: EventKind) -> [RegionTransition] {
    events.compactMap { event in
      guard event.kind == kind, case .region(let transition) = event.detail else { return nil }
      return transition
    }
  }
}
