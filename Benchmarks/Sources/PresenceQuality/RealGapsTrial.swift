import PharosCaptures
import PharosModel
import PharosPresence

/// What a rule does in the stretches: each is played to the whole of stage one, as if the beacon were taken away at its
/// end.
struct RealGapsTrial: Sendable {
  /// Exits while the walker was near and heard the beacon again in the same stretch.
  var falseExits = 0
  /// Exits while the walker was near, whose beacon was not heard again before the stretch ended.
  var doubtfulExits = 0
  /// From the last advert of a stretch to the exit that is due to it.
  ///
  /// - Units: seconds.
  var delays: [Double] = []

  /// The mean delay in seconds.
  var meanDelay: Double { delays.isEmpty ? 0 : delays.reduce(0, +) / Double(delays.count) }

  private static let phone = ObserverID.name("phone")
  private static let region = "near"
  /// Longer than the longest adaptive silence, with the lag.
  private static let tail = TimeSpan.seconds(400)

  /// Plays all stretches under one rule.
  ///
  /// Nothing is carried from one walk to the next: a walker enters the mall unknown, so all that stage one knows is
  /// what this phone heard on this walk.
  init(_ silence: PresencePolicy.Silence, budget: Double, _ walks: [RealWalk], _ stretches: [RealStretch]) {
    let site = RealGapsTrial.site(silence, budget: budget)
    var batch = ReportBatch()
    for stretch in stretches { play(stretch, walks[stretch.walk], site, &batch) }
  }

  private static func site(_ silence: PresencePolicy.Silence, budget: Double) -> Site {
    let region = Region(
      identifier: region,
      constraint: .proximity(RealWalk.uuid, major: 0, minor: 0),
      subject: .beacon(observers: nil),
      keyedByAddress: true,
      presence: PresencePolicy(silence: silence, falseExitsPerDay: budget)
    )
    return Site(
      applications: [Application(identifier: "mall", regions: [region])],
      observers: [ObserverEntry(id: phone, liveness: .assumed)]
    )
  }

  /// Plays a walk without what the beacon sends after the stretch, until its exit is decided.
  ///
  /// The phone hears on when its walk ends: the adverts of all other beacons come again from the beginning, as a phone
  /// that no longer hears anything would be another question.
  private mutating func play(
    _ stretch: RealStretch,
    _ walk: RealWalk,
    _ site: Site,
    _ batch: inout ReportBatch
  ) {
    guard let first = walk.beacons.first?.time, let last = walk.beacons.last?.time else { return }
    let lap = max(last, stretch.end) - first + .seconds(1)
    var engine = MonitoringEngine(site: site)
    var output = StageOutput()
    var shift = TimeSpan.zero
    while shift < RealGapsTrial.tail + lap {
      for heard in walk.beacons {
        guard heard.address != stretch.beacon || shift == .zero && heard.time < stretch.end else { continue }
        RealGapsTrial.give(heard, at: heard.time + shift, to: &engine, &batch, &output)
      }
      shift = shift + lap
      if RealGapsTrial.hasLeft(stretch, output.links) { break }
    }
    judge(output.links, stretch)
  }

  private static func give(
    _ heard: IndoorTrace.BeaconHeard,
    at time: Timestamp,
    to engine: inout MonitoringEngine,
    _ batch: inout ReportBatch,
    _ output: inout StageOutput
  ) {
    batch.removeAll()
    let payload = batch.append(payload: payload(of: heard))
    let advert = Advert(address: heard.address, rssi: heard.rssi, payload: payload)
    let observer = batch.index(of: phone)
    let report = Report(observer: observer, received: time, timing: .received, body: .advert(advert))
    engine.ingest(report, in: batch, into: &output)
  }

  /// Whether the exit that is due to the end of the stretch was decided, so that nothing more can come.
  private static func hasLeft(_ stretch: RealStretch, _ links: [StageLink]) -> Bool {
    links.contains { link in
      guard case .presence(let change) = link else { return false }
      return change.beacon.address?.bits == stretch.beacon.bits && change.state == .outside
        && change.time >= stretch.end
    }
  }

  private mutating func judge(_ links: [StageLink], _ stretch: RealStretch) {
    let final = stretch.heard.last ?? stretch.start
    for link in links {
      guard case .presence(let change) = link, change.beacon.address?.bits == stretch.beacon.bits,
        change.state == .outside, change.time > stretch.start
      else { continue }
      if change.time < final {
        falseExits += 1
      } else {
        if change.time < stretch.end { doubtfulExits += 1 }
        delays.append((change.time - final).seconds)
      }
    }
  }

  /// The AD structures of an iBeacon as it was heard.
  private static func payload(of heard: IndoorTrace.BeaconHeard) -> [UInt8] {
    guard let uuid = heard.beacon.uuid, let major = heard.beacon.major, let minor = heard.beacon.minor else {
      return []
    }
    var bytes: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
    for word in [uuid.high, uuid.low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    bytes += [UInt8(major >> 8), UInt8(major & 255), UInt8(minor >> 8), UInt8(minor & 255)]
    return bytes + [UInt8(bitPattern: heard.txPower)]
  }
}
