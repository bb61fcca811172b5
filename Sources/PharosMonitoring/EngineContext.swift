import PharosAdvertising
import PharosEvents
import PharosReports

/// What the observers of an engine share: what is asked for, the timers, the time, and what is given out.
struct EngineContext: Sendable {
  /// The stream that event ids are made of.
  let stream: String
  let limits: MonitoringLimits
  /// The filter of levels.
  let filter: LevelFilterKind
  let models: RangingModels
  /// The facts about the venues in which handsets and tags are located, or nil if there are no venues.
  let sensing: SensingScope?
  /// What was declared last; what applications have changed since is in the catalog alone.
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
  /// Up to where timers were fired last.
  var present = Timestamp.distantPast
  /// The epoch of tracks whose match set is up to date.
  var epoch: UInt32 = 1
  /// What the pending changes concern, which some observers have not caught up with, and when the latest of them was received.
  var changing = ScopeSet()
  var changedAt = Timestamp.distantPast
  /// Identities that nothing asks about.
  var untracked = NegativeCache()
  /// How many tracks the observers of each cell have.
  var tracksOfCell: [Int]
  /// How many observers were found to be handsets so far.
  var handsets: UInt64 = 0
  /// Room for what a second is ranged from; empty in between.
  var readings: [RequestedReading] = []
  /// The events and links of the call that is under way.
  var output = StageOutput()

  init(site: Site, limits: MonitoringLimits, models: RangingModels, sensing: SensingScope?) {
    stream = site.stream
    self.limits = limits
    filter = models.filter
    self.models = models
    self.sensing = sensing
    self.site = site
    distance = .logDistance(exponent: site.pathLossExponent)
    tracksOfCell = Array(repeating: 0, count: limits.cells)
    catalog = RegionCatalog(site: site, fixedObservers: sensing?.fixedObservers ?? [])
    declare(site)
  }

  /// Goes by what a site declares of itself; regions and tracks are not touched.
  mutating func declare(_ next: Site) {
    site = next
    entries = Dictionary(next.observers.map { ($0.id, $0) }) { first, _ in first }
    decoder = FrameDecoder(iBeaconCompanies: next.iBeaconCompanies)
    distance = models.distance ?? .logDistance(exponent: next.pathLossExponent)
  }

  /// Sets a timer, no further ahead than timers reach.
  ///
  /// Where time jumps by years, as in captures of devices that learn the date late, nothing is looked at on the way.
  ///
  /// - Returns: when it is due.
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

  /// Whether an identity is known not to be asked about at an observer.
  ///
  /// - Parameters:
  ///   - hash: the hash of the identity.
  ///   - observer: the place of the observer.
  ///   - isKeyable: whether its adverts come with an address that may be a part of the key.
  /// - Returns: false also where another identity took its word.
  @inline(__always)
  func contains(_ hash: UInt64, observer: Int32, isKeyable: Bool) -> Bool {
    words[NegativeCache.place(hash, observer)] == NegativeCache.word(hash, observer, isKeyable)
  }

  /// Takes note of an identity.
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
