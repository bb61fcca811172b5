import PharosModel
import PharosNarration
import PharosPipeline
import PharosPresence
import PharosSecurity
import PharosTerminal

/// One run over captures through the real pipeline, one report at a time, so that what each advert changed can be seen.
///
/// The size of batches and ticks between them change no decision (the pipeline's promise), so these are the decisions that
/// `process` and `serve` make.
struct ExplainPass {
  /// The findings so far.
  private(set) var findings = Findings()

  private let givenSite: Site?
  private let drawn: Set<TrackKey>
  private let drawnRows: Set<RowKey>
  private var pipeline: Pipeline?
  /// Finds out whose changing addresses are.
  private var resolver: Resolver?
  private var heard = HeardBeacons(recordsAddresses: true)
  private var offsets: [ObserverID: Double] = [:]
  private var single = ReportBatch()

  /// Starts with nothing read.
  ///
  /// - Parameters:
  ///   - site: The site, or nil for that of a recording.
  ///   - panels: The tracks whose adverts are kept, and the rows whose other adverts are.
  init(site: Site?, drawing panels: [TimelinePanel] = []) {
    givenSite = site
    drawn = Set(panels.map(\.track))
    drawnRows = Set(panels.map(\.row))
  }

  /// Takes an input.
  mutating func process(_ input: PipelineInput, from path: String) throws(CommandFailure) {
    if case .site(let recorded) = input {
      guard pipeline == nil else {
        throw CommandFailure("\(path) is a recording of its own. Explain it alone.", status: .usage)
      }
      return try start(givenSite ?? recorded)
    }
    if pipeline == nil {
      guard let givenSite else {
        throw CommandFailure(
          "No --site was given, so there is no region to decide about. `pharos init` writes a site file to start "
            + "from; `pharos compare \(path)` needs none.",
          status: .usage
        )
      }
      try start(givenSite)
    }
    let input = givenSite.map(input.withKeys) ?? input
    if case .change(.declare(let site), _) = input { resolver = Resolver(site: site) }
    guard case .reports(var batch) = input else {
      findings.log.record(pipeline?.process(input) ?? [])
      return
    }
    // The pipeline resolves addresses, too. This pass needs them resolved to file a story under the tag's own address.
    resolver?.resolve(&batch)
    for report in batch.reports { process(report, of: batch) }
  }

  /// Ends at the last input, or so much later.
  mutating func finish(tail: TimeSpan?) {
    findings.log.record(pipeline?.finish(tail: tail) ?? [])
    guard let span = findings.span else { return }
    let end = span.upperBound + max(.zero, tail ?? .zero)
    findings.span = span.lowerBound...end
    findings.log.finish(at: end)
    for beacon in findings.rooms.keys { findings.rooms[beacon]?.close() }
    findings.recordOutages()
  }

  private mutating func start(_ site: Site) throws(CommandFailure) {
    do {
      pipeline = try Pipeline(site: site)
    } catch {
      throw CommandFailure("\(error)", status: .configuration)
    }
    findings.site = site
    resolver = Resolver(site: site)
    heard = HeardBeacons(companies: site.iBeaconCompanies, recordsAddresses: true)
    offsets = Dictionary(site.observers.map { ($0.id, $0.rssiOffset) }) { first, _ in first }
  }

  private mutating func process(_ report: Report, of batch: borrowing ReportBatch) {
    guard batch.observers.indices.contains(Int(report.observer)) else { return }
    let observer = batch.observers[Int(report.observer)]
    let received = report.received
    let span = findings.span ?? received...received
    findings.span = min(span.lowerBound, received)...max(span.upperBound, received)
    let beacons = identities(of: report, in: batch)
    if let address = report.lastingAddress {
      for beacon in beacons { findings.shared.record(beacon, from: address, at: received) }
    }
    if report.level != nil || !beacons.isEmpty { findings.adverts += 1 }
    // What is due is decided first, so that what is known before the report is what it met.
    findings.log.record(pipeline?.advance(to: received - .oneNanosecond) ?? [])
    let before = beacons.map { pipeline?.insight(observer: observer, beacon: $0) }
    single.removeAll()
    single.append(report, from: batch)
    findings.log.record(pipeline?.ingest(single) ?? [])
    if !findings.site.zones.isEmpty { for beacon in beacons { lookForRooms(beacon, at: received) } }
    let level = report.level.map { $0 + (offsets[observer] ?? 0) }
    for (beacon, old) in zip(beacons, before) {
      guard let new = pipeline?.insight(observer: observer, beacon: beacon) else { continue }
      guard old == nil || new.samples != old?.samples || new.lastHeard != old?.lastHeard else { continue }
      record(old, new, level: level)
    }
  }

  /// Records the zone that would be reported next of a beacon.
  private mutating func lookForRooms(_ beacon: BeaconID, at instant: Timestamp) {
    guard findings.rooms[beacon]?.isDue(at: instant) ?? true else { return }
    guard let (present, rival) = pipeline?.rival(of: beacon) else { return }
    guard rival != nil || findings.rooms[beacon] != nil else { return }
    findings.rooms[beacon, default: RoomStory()].look(present, rival, at: instant)
  }

  private mutating func record(_ old: TrackInsight?, _ new: TrackInsight, level: Double?) {
    let key = TrackKey(observer: new.observer, beacon: new.beacon)
    findings.tracks[key, default: TrackStory()].receive(from: old, to: new, level: level)
    if drawn.contains(key) {
      findings.traces[key, default: TrackTrace()].receive(from: old, to: new, level: level)
    }
    for region in new.regions {
      let row = RowKey(
        region: RegionKey(application: region.application, region: region.region),
        subject: region.isAboutBeacons ? .beacon(new.beacon) : .observer(new.observer)
      )
      findings.log.receive(row, rules: region.rules, at: new.lastHeard)
      if drawnRows.contains(row), !drawn.contains(key),
        findings.others[row]?.count ?? 0 < Findings.maximumOthers
      {
        findings.others[row, default: []].append(new.lastHeard)
      }
    }
  }

  /// Every identity that a report may be a track of: the beacons, the same with the address, and the address.
  private mutating func identities(of report: Report, in batch: borrowing ReportBatch) -> [BeaconID] {
    heard.find(in: report, of: batch)
    let found = heard.found.map(\.beacon)
    guard case .advert = report.body, let address = report.lastingAddress else { return found }
    return found + found.dropLast().map { $0.keyed(by: address) }
  }
}

/// All that one run over the captures found out.
struct Findings {
  /// The decisions and the rows.
  var log = DecisionLog()
  /// The story of each track.
  var tracks: [TrackKey: TrackStory] = [:]
  /// The zones that were nearly reported of each beacon.
  var rooms: [BeaconID: RoomStory] = [:]
  /// The adverts of the tracks that are to be drawn.
  var traces: [TrackKey: TrackTrace] = [:]
  /// The times of the adverts that belong to a row to be drawn, but to no track that is drawn.
  var others: [RowKey: [Timestamp]] = [:]
  /// The outages of each observer.
  var outages: [ObserverID: [Outage]] = [:]
  /// The site that the pipeline used.
  var site = Site()
  /// The first and the last input.
  var span: ClosedRange<Timestamp>?
  /// The number of adverts read.
  var adverts = 0
  /// The identities that several tags send.
  var shared = SharedIdentities()

  /// A time without a sign of life.
  struct Outage: Hashable {
    /// The last sign of life.
    var silentFrom: Timestamp
    /// The time of the decision that the silence was longer than it ever is.
    var from: Timestamp
    /// The time at which the observer was back; nil if it was not.
    var until: Timestamp?
  }

  /// The maximum number of other adverts that are kept for a row.
  ///
  /// A picture has some thousand columns; beyond, they would be one grey line.
  static let maximumOthers = 65_536

  /// All decisions.
  var decisions: [Decision] { log.decisions }

  /// Every observer that was heard of, in order.
  var observers: [ObserverID] {
    var seen = Set(tracks.keys.map(\.observer))
    for decision in decisions { if let observer = decision.observer { seen.insert(observer) } }
    return seen.sorted()
  }

  /// Every beacon that was tracked, in order.
  var beacons: [BeaconID] { Set(tracks.keys.map(\.beacon)).sorted() }

  /// Every region that anything was decided or heard about, in order.
  var regions: [RegionKey] { Set(log.rows.keys.map(\.region)).sorted() }

  /// Returns whether the site keeps the tags of one identity apart by their addresses.
  func keepsApart(_ beacon: BeaconID) -> Bool {
    site.keepsApart(beacon)
  }

  /// Returns whether a beacon was ever placed in a zone.
  func places(_ beacon: BeaconID) -> Bool {
    decisions.contains { $0.kind.isZone && $0.beacon == beacon }
  }

  /// The outages of observers, from the decisions.
  mutating func recordOutages() {
    for decision in decisions {
      guard let observer = decision.observer else { continue }
      switch decision.kind {
      case .observerOffline:
        var outage = Outage(silentFrom: decision.time, from: decision.time)
        if case .observer(let transition) = decision.detail, let lastHeard = transition.lastHeard {
          outage.silentFrom = min(lastHeard, decision.time)
        }
        outages[observer, default: []].append(outage)
      case .observerOnline:
        guard let last = outages[observer]?.indices.last, outages[observer]?[last].until == nil else {
          continue
        }
        outages[observer]?[last].until = decision.time
      default: break
      }
    }
  }
}
