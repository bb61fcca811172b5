import PharosReports

extension ObserverState {
  /// Writes all that is known about the observer but its identity and what the site says of it.
  func write(to writer: inout FieldWriter) {
    for time in [firstHeard, lastReceived, lifeTold, scanChanged, silenceFrom, monitoringSince] {
      time.write(to: &writer)
    }
    for time in [outageArmedAt, secondArmedAt, judgedAgainAt, lagTeachesFrom, rateStart, countsFrom] {
      time.write(to: &writer)
    }
    writer.write(heardBeforeOutage)
    writer.write(datagramAt)
    writer.write(isUp)
    writer.write(isAwaited)
    // Bit 7: a handset. Nobody is one where there are no venues, and the byte is what it was before there were any.
    writer.write(scanState.rawValue | (isHandset ? ObserverState.handsetBit : 0))
    lag.write(to: &writer)
    clock.write(to: &writer)
    sequence.write(to: &writer)
    life.write(to: &writer)
    for count in [ordinal, lifeCounter, rangingCounter, adverts, late] { writer.write(count) }
    writer.write(rateCount)
    writer.write(rateBefore)
    writeRows(to: &writer)
    writePools(to: &writer)
    writeTracks(to: &writer)
  }

  private static let handsetBit: UInt8 = 1 << 7

  private func writeRows(to writer: inout FieldWriter) {
    writer.write(UInt32(rows.count))
    for row in rows { row.write(to: &writer) }
    writer.write(places: pendingRows)
    writer.write(places: activeNodes.sorted())
    writer.write(places: ranging.filter { $0.value.hadBeacons }.keys.sorted())
    writer.write(nextSecond.map { UInt64(bitPattern: $0) })
  }

  private func writePools(to writer: inout FieldWriter) {
    pool.write(to: &writer)
    writer.write(UInt32(families.count))
    for (uuid, family) in families.sorted(by: { $0.key < $1.key }) {
      uuid.write(to: &writer)
      family.write(to: &writer)
    }
    writer.write(UInt32(batteryTold.count))
    for (beacon, time) in batteryTold.sorted(by: { $0.key < $1.key }) {
      beacon.write(to: &writer)
      time.write(to: &writer)
    }
  }

  private func writeTracks(to writer: inout FieldWriter) {
    writer.write(UInt32(tracks.count))
    writer.write(places: freeTracks)
    for place in tracks.indices where tracks[place].isLive {
      tracks[place].write(to: &writer, isStale: tracks[place].epoch != epoch)
      let due = tracks.due(of: place)
      writer.write(due != .distantFuture)
      if due != .distantFuture { due.write(to: &writer) }
    }
    writer.write(places: listed)
    writer.write(places: pendingTracks)
    let addresses = liveAddresses
    writer.write(UInt32(addresses.count))
    for (address, owner) in addresses.sorted(by: { $0.key < $1.key }) {
      writer.write(address)
      writer.write(owner.place)
    }
  }
}

extension FieldWriter {
  mutating func write(places: [Int32]) {
    write(UInt32(places.count))
    for place in places { write(place) }
  }
}

/// What an observer's state is read against.
struct RestoredAround {
  /// How many regions and ranging requests there are.
  var slots: Int
  var rangings: Int
  /// The match sets.
  var sets: RestoredSets
  /// The epoch of tracks that are up to date.
  var epoch: UInt32
}

extension ObserverState {
  /// Reads what was known about an observer.
  init(
    id: ObserverID,
    entry: ObserverEntry?,
    from reader: inout FieldReader,
    around: borrowing RestoredAround,
    hash: KeyedHash
  ) throws(FieldError) {
    let first = try Timestamp(from: &reader)
    self.init(id: id, entry: entry, received: first, time: first)
    epoch = around.epoch
    try readTimes(from: &reader)
    isUp = try reader.flag()
    isAwaited = try reader.flag()
    let tag = try reader.byte()
    guard let state = ScanState(rawValue: tag & ~ObserverState.handsetBit) else {
      throw reader.failure(.unknownTag(field: "a scan state", tag: tag))
    }
    scanState = state
    isHandset = tag & ObserverState.handsetBit != 0
    lag = try LagEstimator(from: &reader)
    clock = try ClockOffset(from: &reader)
    sequence = try SequenceCheck(from: &reader)
    life = try LifeSigns(mode: entry?.liveness ?? .auto, from: &reader)
    ordinal = try reader.counter("an observer's ordinal")
    lifeCounter = try reader.counter("an observer's counter")
    rangingCounter = try reader.counter("a ranging counter")
    adverts = try reader.total("adverts")
    late = try reader.total("late reports")
    rateCount = try reader.finite("a rate")
    rateBefore = try reader.finite("a rate")
    try readRows(from: &reader, around: around)
    try readPools(from: &reader)
    try readTracks(from: &reader, around: around, hash: hash)
  }

  private mutating func readTimes(from reader: inout FieldReader) throws(FieldError) {
    lastReceived = try Timestamp(from: &reader)
    lifeTold = try Timestamp(from: &reader)
    scanChanged = try Timestamp(from: &reader)
    silenceFrom = try Timestamp(from: &reader)
    monitoringSince = try Timestamp(from: &reader)
    outageArmedAt = try Timestamp(from: &reader)
    secondArmedAt = try Timestamp(from: &reader)
    judgedAgainAt = try Timestamp(from: &reader)
    lagTeachesFrom = try Timestamp(from: &reader)
    rateStart = try Timestamp(from: &reader)
    countsFrom = try Timestamp(from: &reader)
    heardBeforeOutage = try reader.optional(Timestamp.self)
    datagramAt = try reader.optional(Timestamp.self)
  }

  private mutating func readRows(
    from reader: inout FieldReader,
    around: borrowing RestoredAround
  ) throws(FieldError) {
    for place in 0..<(try reader.count()) {
      let row = try RegionRow(from: &reader, slots: around.slots)
      rows.append(row)
      guard row.isLive else {
        deadRows += 1
        continue
      }
      guard rowOfSlot.updateValue(Int32(place), forKey: row.slot) == nil else {
        throw reader.failure(.outOfRange(field: "a region's row"))
      }
    }
    pendingRows = try reader.places("a waiting row", below: rows.count)
    activeNodes = Set(try reader.places("a node", below: around.slots))
    for request in try reader.places("a ranging request", below: around.rangings) {
      ranging[request] = RangingState(hadBeacons: true)
    }
    if try reader.flag() { nextSecond = try reader.second() }
  }

  private mutating func readPools(from reader: inout FieldReader) throws(FieldError) {
    pool = try LossPool(from: &reader)
    for _ in 0..<(try reader.count(ofAtLeast: 16)) {
      let uuid = try UUID128(from: &reader)
      families[uuid] = try LossPool(from: &reader)
    }
    for _ in 0..<(try reader.count(ofAtLeast: 15)) {
      let beacon = try BeaconID(from: &reader)
      batteryTold[beacon] = try Timestamp(from: &reader)
    }
  }

  private mutating func readTracks(
    from reader: inout FieldReader,
    around: borrowing RestoredAround,
    hash: KeyedHash
  ) throws(FieldError) {
    let count = try reader.count()
    freeTracks = try reader.places("a free track", below: count)
    var free = Set(freeTracks)
    guard free.count == freeTracks.count else { throw reader.failure(.outOfRange(field: "a free track")) }
    for place in 0..<count {
      guard free.remove(Int32(place)) == nil else {
        tracks.append(.forgotten)
        continue
      }
      let track = try Track(from: &reader, sets: around.sets, epoch: epoch)
      let key = hash(track.beacon)
      guard self.track(of: track.beacon, hash: key) == nil else {
        throw reader.failure(.outOfRange(field: "a track's beacon"))
      }
      tracks.append(track)
      if try reader.flag() {
        tracks.setDue(try Timestamp(from: &reader), of: place)
        tracks[place].isArmed = true
      }
      table.insert(key, place: place)
      let scope = IdentityScope(track.beacon)
      scopes |= scope.bit
      tracks.note(scope, of: place)
    }
    listed = try reader.places("a listed track", below: count)
    pendingTracks = try reader.places("a waiting track", below: count)
    for _ in 0..<(try reader.count(ofAtLeast: 12)) {
      let address = try reader.number(UInt64.self)
      let place = Int(try reader.place("a track of an address", below: count))
      beaconOfAddress[address] = AddressOwner(place: place, beacon: tracks[place].beacon)
    }
  }
}

extension Track {
  /// What lies in the place of a track that was forgotten.
  fileprivate static var forgotten: Track {
    var track = Track(
      beacon: BeaconID(proximityHigh: 0, low: 0, majorAndMinor: 0),
      at: .distantPast,
      number: 0,
      set: MatchSet(),
      epoch: 0
    )
    track.isLive = false
    return track
  }
}

extension FieldReader {
  /// Reads a list of places in a list of so many.
  mutating func places(_ field: String, below count: Int) throws(FieldError) -> [Int32] {
    var places: [Int32] = []
    for _ in 0..<(try self.count(ofAtLeast: 4)) { places.append(try place(field, below: count)) }
    return places
  }
}
