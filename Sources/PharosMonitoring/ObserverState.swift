import PharosReports

/// All that stage one keeps about one observer; nothing here depends on another one.
package struct ObserverState: Sendable {
  let id: ObserverID
  var rssiOffset: Double
  /// When its first report was received: the phase of its seconds, and what its counters go on from.
  let firstHeard: Timestamp
  /// When its latest report was received.
  var lastReceived: Timestamp
  var isLive = true

  // Time.
  var lag: LagEstimator
  var clock = ClockOffset()

  // Life.
  var life: LifeSigns
  var isUp = true
  /// Whether it stands in a zone or hangs at a known place, so that stage two must know that it lives.
  var standsInZone = false
  /// Whether it has reported what only handsets do, so that what it hears is passed on to where it is located.
  var isHandset = false
  /// Whether stage two is to be told of its first proof of life: it was restored, and nothing is known of it since.
  var isAwaited = false
  /// The proof of life that stage two was told of last.
  var lifeTold = Timestamp.distantPast
  var scanState = ScanState.foreground
  var scanChanged = Timestamp.distantPast
  /// Silence counts from here on at the earliest: the last recovery, or the last change to scanning all the time.
  var silenceFrom = Timestamp.distantPast
  /// Since when it has been able to tell without a break.
  var monitoringSince: Timestamp
  var outageArmedAt = Timestamp.distantFuture
  /// What proved its life last before it went down.
  var heardBeforeOutage: Timestamp?
  var sequence = SequenceCheck()
  /// When the latest datagram with a head was received.
  var datagramAt: Timestamp?
  /// What waits since its silence was doubted is judged again from then on.
  var judgedAgainAt = Timestamp.distantPast
  /// What happened before it tells nothing of the lag: it was held up by an outage.
  var lagTeachesFrom = Timestamp.distantPast

  // Tracks.
  package var tracks = TrackStore()
  /// A bit for each sort of identity that any of them ever had, so that a change of regions passes over those whom it
  /// cannot concern.
  var scopes: UInt64 = 0
  var freeTracks: [Int32] = []
  var table = IdentityTable()
  var epoch: UInt32 = 0
  /// The version of the catalog that its tracks and rows have caught up with.
  var version: UInt32 = 0
  /// What the tracks of one UUID, and all tracks together, have taught about losses.
  var families: [UUID128: LossPool] = [:]
  var pool = LossPool()
  var pendingTracks: [Int32] = []
  var beaconOfAddress: [UInt64: AddressOwner] = [:]
  var batteryTold: [BeaconID: Timestamp] = [:]

  // Regions and ranging.
  var rows: [RegionRow] = []
  /// How many of them are of regions that are monitored no more.
  var deadRows = 0
  var rowOfSlot: [Int32: Int32] = [:]
  var pendingRows: [Int32] = []
  var activeNodes: Set<Int32> = []
  var ranging: [Int32: RangingState] = [:]
  var listed: [Int32] = []
  var nextSecond: Int64?
  var secondArmedAt = Timestamp.distantFuture

  // Counts.
  /// What counters of new rows go on from at least: the last start of the server.
  var countsFrom = Timestamp.distantPast
  var ordinal: UInt64 = 0
  var lifeCounter: UInt64
  var rangingCounter: UInt64
  var adverts: UInt64 = 0
  var late: UInt64 = 0
  var rateStart: Timestamp
  var rateCount = 0.0
  var rateBefore = 0.0

  /// Silence while scanning in windows is stretched so many times.
  ///
  /// Phones scan about a third of the time in the background (Android's balanced mode: 1,024 of 4,096 ms).
  static let windowedStretch = 4.0

  /// The offset that an entry asks for.
  static func rssiOffset(of entry: ObserverEntry?) -> Double {
    guard let offset = entry?.rssiOffset, !offset.isNaN else { return 0 }
    return min(ObserverEntry.rssiOffsets.upperBound, max(ObserverEntry.rssiOffsets.lowerBound, offset))
  }

  init(id: ObserverID, entry: ObserverEntry?, received: Timestamp, time: Timestamp) {
    self.id = id
    rssiOffset = ObserverState.rssiOffset(of: entry)
    firstHeard = received
    lastReceived = received
    monitoringSince = time
    lag = LagEstimator(given: entry?.lag)
    life = LifeSigns(mode: entry?.liveness ?? .auto)
    lifeCounter = UInt64(bitPattern: received.nanoseconds)
    rangingCounter = lifeCounter
    rateStart = received
    life.begin(at: time)
  }

  /// Gives a row a place: that of one that is gone, or a new one.
  mutating func keep(_ row: RegionRow) -> Int {
    if deadRows > 0, let place = rows.firstIndex(where: { !$0.isLive }) {
      deadRows -= 1
      rows[place] = row
      return place
    }
    // By a quarter, as there are as many observers as there are.
    if rows.count == rows.capacity { rows.reserveCapacity(rows.count + max(4, rows.count / 4)) }
    rows.append(row)
    return rows.count - 1
  }

  /// Whether its silence says anything at all now.
  var canTell: Bool { isUp && scanState != .off }

  /// Whether it was we who listened to nobody when it could not tell last, and not its own outage.
  var isInterruptedLast: Bool { life.silentFrom == monitoringSince }

  /// By how much a track's silence may be longer since the observer was deaf for a part of it.
  func deafCredit(track: Int) -> TimeSpan {
    life.reception.spans.credit(since: max(tracks[track].lastHeard, silenceFrom))
  }

  /// Whether something waits for proof of its life, or its silence is not watched over yet.
  mutating func isRestless() -> Bool {
    !pendingTracks.isEmpty || !pendingRows.isEmpty
      || outageArmedAt == .distantFuture && isUp && !life.isAssumed
  }

  /// The second of its own count that a time falls in.
  func second(of time: Timestamp) -> Int64 {
    let span = (time - firstHeard).nanoseconds
    return span >= 0 ? span / 1_000_000_000 : (span - 999_999_999) / 1_000_000_000
  }

  /// The end of a second of its own count.
  func end(ofSecond second: Int64) -> Timestamp { firstHeard + .milliseconds((second + 1) * 1_000) }

  @inline(__always)
  mutating func countAdvert() {
    adverts &+= 1
    let span = lastReceived - rateStart
    if span >= .milliseconds(10_000) {
      rateBefore = rateCount / span.seconds
      rateCount = 0
      rateStart = lastReceived
    }
    rateCount += 1
  }

  /// How it fares.
  var status: ObserverStatus {
    let span = (lastReceived - rateStart).seconds
    return ObserverStatus(
      id: id,
      firstHeard: firstHeard,
      lastHeard: lastReceived,
      isUp: isUp,
      scanState: scanState,
      bootID: sequence.bootID,
      adverts: adverts,
      advertsPerSecond: rateBefore > 0 || span < 1 ? rateBefore : rateCount / span,
      lostDatagrams: sequence.lost,
      datagrams: sequence.received,
      late: late,
      lag: lag.lag,
      clockOffset: clock.offset,
      allowedGap: life.allowedGap,
      tracks: table.count
    )
  }
}
