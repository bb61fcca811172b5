package import PharosModel
import PharosWire

/// The state that the observers of an engine share: the catalog, the timers, the time, and the pending output.
struct EngineContext: Sendable {
  /// The stream that event ids are made of.
  let stream: String
  let limits: MonitoringLimits
  /// The facts about the venues in which handsets and tags are located, or nil if there are no venues.
  let sensing: SensingScope?
  /// The site as it is; of its applications the names and limits alone, since their regions are in ``catalog``.
  var site: Site
  var entries: [ObserverID: ObserverEntry] = [:]
  var distance: DistanceModel
  var decoder = FrameDecoder()
  var catalog: RegionCatalog
  var counters = MonitoringCounters()
  var timers = TimerQueue()
  let hash = KeyedHash()
  /// The receive time of the input, or the due time of the timer, that is being handled.
  var current = Timestamp.distantPast
  /// The time up to which timers were last fired.
  var present = Timestamp.distantPast
  /// The epoch of tracks whose match set is up to date.
  var epoch: UInt32 = 1
  /// The scopes of the pending changes that some observers have not applied yet, and the receive time of the latest
  /// change.
  var changing = ScopeSet()
  var changedAt = Timestamp.distantPast
  /// The modes of the tags that have shown some.
  var modes = ModeTable()
  /// Identities that nothing asks about.
  var untracked = NegativeCache()
  /// The number of tracks of the observers of each cell.
  var tracksOfCell: [Int]
  /// The number of observers found to be handsets so far.
  var handsets: UInt64 = 0
  /// Room for what a second is ranged from; empty in between.
  var readings: [RequestedReading] = []
  /// The events and links of the call that is under way.
  var output = StageOutput()

  init(site: Site, limits: MonitoringLimits, sensing: SensingScope?) {
    stream = site.stream
    self.limits = limits
    self.sensing = sensing
    self.site = site
    distance = DistanceModel(exponent: site.pathLossExponent)
    tracksOfCell = Array(repeating: 0, count: limits.cells)
    catalog = RegionCatalog(site: site, fixedObservers: sensing?.fixedObservers ?? [])
    declare(site)
  }

  /// Goes by what a site declares of itself; regions and tracks are not touched.
  mutating func declare(_ next: Site) {
    site = next.with(
      next.applications.map { Application(identifier: $0.identifier, regionLimit: $0.regionLimit) }
    )
    entries = Dictionary(next.observers.map { ($0.id, $0) }) { first, _ in first }
    decoder = FrameDecoder(iBeaconCompanies: next.iBeaconCompanies)
    distance = DistanceModel(exponent: next.pathLossExponent)
  }

  /// Sets a timer, no further ahead than timers reach.
  ///
  /// If time jumps by years, as in captures of devices that learn the date late, the queue does not walk through the
  /// time between.
  ///
  /// - Returns: the time at which it is due.
  @inline(__always)
  mutating func arm(_ due: Timestamp, observer: Int32, _ target: TimerTarget) -> Timestamp {
    let due = min(due, max(current, present) + TimerQueue.reach)
    timers.set(TimerEntry(due: due, observer: observer, target: target))
    return due
  }

  /// The identities and other facts of an advert.
  func frames(of advert: Advert, in batch: borrowing ReportBatch) -> FoundFrames {
    var found = FoundFrames()
    let range = Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
    guard !range.isEmpty, range.upperBound <= batch.payloads.count else { return found }
    decoder.forEachFrame(in: batch.payloads.span.bytes.extracting(range)) { found.add($0) }
    return found
  }
}

/// Hashes of identities that nothing asks about, so that each costs one look: 4,096 words, a newer one in place of an older one.
struct NegativeCache: Sendable {
  private static let size = 4_096
  private var words: [UInt64] = Array(repeating: 0, count: size)

  /// Returns true if an identity is known to be untracked at an observer.
  ///
  /// - Parameters:
  ///   - hash: the hash of the identity.
  ///   - observer: the place of the observer.
  ///   - isKeyable: true if its adverts come with an address that may be a part of the key.
  /// - Returns: false also if another identity replaced it.
  @inline(__always)
  func contains(_ hash: UInt64, observer: Int32, isKeyable: Bool) -> Bool {
    words[NegativeCache.place(hash, observer)] == NegativeCache.word(hash, observer, isKeyable)
  }

  /// Records an identity.
  @inline(__always)
  mutating func insert(_ hash: UInt64, observer: Int32, isKeyable: Bool) {
    words[NegativeCache.place(hash, observer)] = NegativeCache.word(hash, observer, isKeyable)
  }

  /// Forgets all, as what is asked about has changed.
  mutating func removeAll() { words = Array(repeating: 0, count: NegativeCache.size) }

  @inline(__always)
  private static func place(_ hash: UInt64, _ observer: Int32) -> Int {
    Int(truncatingIfNeeded: (hash ^ UInt64(UInt32(bitPattern: observer)) &* 0x9E37_79B9_7F4A_7C15) >> 20)
      & (size - 1)
  }

  @inline(__always)
  private static func word(_ hash: UInt64, _ observer: Int32, _ isKeyable: Bool) -> UInt64 {
    (hash ^ UInt64(UInt32(bitPattern: observer)) << 1) & ~1 | (isKeyable ? 1 : 0)
  }
}

/// The memory limits of one engine; when one is reached, the oldest entries are evicted first.
///
/// One observer cannot claim the memory of others. The limits on observers and on all tracks hold for each cell of
/// `ObserverID` separately, and when a cell is full, the observer with the most tracks there loses some of its own. So
/// a flood of made-up identities at one observer evicts no track of another, and the number of engines never affects
/// the result.
package struct MonitoringLimits: Hashable, Sendable {
  /// The maximum number of observers, in all engines together.
  ///
  /// Spread evenly over the cells of `ObserverID`, so that evictions do not depend on the number of engines; a limit
  /// below 1,024 is too small to spread and counts for each engine.
  package var observers: Int
  /// The maximum number of tracks of each observer, so that a flood at one costs the others nothing.
  package var tracksPerObserver: Int
  /// The maximum number of tracks, in all engines together; spread over the cells as observers are, with at least
  /// ``tracksPerObserver`` in each cell.
  package var tracks: Int
  /// The time for which a track that is outside everywhere keeps what it has learned.
  package var trackRetention: TimeSpan

  /// Makes limits.
  ///
  /// 16,384 observers with 65,536 tracks each, and 16,777,216 tracks in all (4 GiB), are beyond any site that one
  /// machine serves; an hour of retention lets a visitor who steps out for lunch be known when coming back.
  package init(
    observers: Int = 16_384,
    tracksPerObserver: Int = 65_536,
    tracks: Int = 16_777_216,
    trackRetention: TimeSpan = .minutes(60)
  ) {
    self.observers = max(1, observers)
    self.tracksPerObserver = max(16, tracksPerObserver)
    self.tracks = max(16, tracks)
    self.trackRetention = trackRetention
  }

  /// The number of cells over which the limit on observers is spread.
  var cells: Int { observers < 16 * ObserverID.cells ? 1 : ObserverID.cells }
  /// The maximum number of observers of a cell.
  var observersPerCell: Int { observers / cells }
  /// The maximum number of tracks of all observers of a cell together.
  var tracksPerCell: Int { max(tracks / cells, tracksPerObserver) }
  /// The number of tracks evicted at a time, so that the search for the oldest costs little for each.
  var trackEviction: Int { max(1, tracksPerObserver / 64) }
}

/// The counters of stage one since it started; they only grow, except ``tracks`` and ``observers``.
package struct MonitoringCounters: Hashable, Sendable {
  /// Reports of any sort.
  package var reports: UInt64 = 0
  /// Adverts and ranged beacons.
  package var adverts: UInt64 = 0
  /// Adverts that carried an identity of a region.
  package var matched: UInt64 = 0
  /// Adverts that match no region, ranging request or zone.
  package var unmatched: UInt64 = 0
  /// Reports whose event time lay more than the observer's lag before their receive time.
  package var late: UInt64 = 0
  /// Adverts that joined the sample before them: other channels, scan responses, auxiliary PDUs.
  package var joined: UInt64 = 0
  /// Adverts without a level.
  package var withoutLevel: UInt64 = 0
  /// Reports whose receive time lay before that of an earlier input, and was moved to it.
  package var backwards: UInt64 = 0
  /// Datagrams that never came, by their sequence numbers.
  package var sequenceGaps: UInt64 = 0
  /// Datagrams whose sequence number was already received, is too old to check, or was not counted as missing.
  package var sequenceRepeats: UInt64 = 0
  /// Datagrams with the number of another one: two senders have one identity.
  package var sequenceConflicts: UInt64 = 0
  /// Restarts of observers, by their boot ids.
  package var restarts: UInt64 = 0
  /// Datagrams of a boot that a later one had already replaced.
  package var staleBoots: UInt64 = 0
  /// Outages of observers.
  package var outages: UInt64 = 0
  /// Tracks that gave way to others.
  package var trackEvictions: UInt64 = 0
  /// Observers that gave way to others.
  package var observerEvictions: UInt64 = 0
  /// Reports of observers that the site neither lists nor has accepted, where only those count.
  package var quarantined: UInt64 = 0
  /// Sensings of handsets that were passed on to locate them.
  package var sensings: UInt64 = 0
  /// Tracks kept now.
  package var tracks: UInt64 = 0
  /// Observers kept now.
  package var observers: UInt64 = 0

  /// Starts at zero.
  package init() {}

  /// Adds the counts of another engine: shards are shown as one.
  package mutating func add(_ other: MonitoringCounters) {
    reports += other.reports
    adverts += other.adverts
    matched += other.matched
    unmatched += other.unmatched
    late += other.late
    joined += other.joined
    withoutLevel += other.withoutLevel
    backwards += other.backwards
    sequenceGaps += other.sequenceGaps
    sequenceRepeats += other.sequenceRepeats
    sequenceConflicts += other.sequenceConflicts
    restarts += other.restarts
    staleBoots += other.staleBoots
    outages += other.outages
    trackEvictions += other.trackEvictions
    observerEvictions += other.observerEvictions
    quarantined += other.quarantined
    sensings += other.sensings
    tracks += other.tracks
    observers += other.observers
  }
}

/// The facts that stage one needs about the venues in which handsets and tags are located.
///
/// An engine without a scope hands nothing on for location, at no cost.
package struct SensingScope: Hashable, Sendable {
  /// The observers that are mounted at known places.
  ///
  /// They are not handsets. Stage one reports what they hear of tags to stage two every second.
  package var fixedObservers: Set<ObserverID>
  /// The addresses of beacons that are known by nothing else, which adverts without an identity may come from.
  package var beaconAddresses: Set<UInt64>

  /// Makes a scope; by default nothing hangs anywhere.
  package init(fixedObservers: Set<ObserverID> = [], beaconAddresses: Set<UInt64> = []) {
    self.fixedObservers = fixedObservers
    self.beaconAddresses = beaconAddresses
  }
}

/// The counts that a run of adverts adds to the counters of an engine.
struct RunCounts {
  var reports = 0
  var heads = 0
  var untracked = 0
  var withoutLevel = 0
  var joined = 0
}

extension MonitoringCounters {
  /// Adds the counts of a run.
  mutating func add(_ counts: RunCounts) {
    let adverts = UInt64(counts.reports - counts.heads)
    reports += UInt64(counts.reports)
    self.adverts += adverts
    matched += adverts - UInt64(counts.untracked)
    unmatched += UInt64(counts.untracked)
    withoutLevel += UInt64(counts.withoutLevel)
    joined += UInt64(counts.joined)
  }
}
