package import PharosDocuments
package import PharosModel

/// The state of an engine as bytes, of which checkpoints consist.
///
/// A copy of an engine is cheap, since its storage is shared until one of the two changes: the loop that owns it takes a
/// copy, and another thread writes that.
extension MonitoringEngine {
  /// The version of the layout.
  static let stateVersion: UInt8 = 12
  /// The approximate size of a track in bytes: measured for iBeacons under one policy.
  private static let bytesOfTrack = 150

  /// Writes all that the engine knows.
  ///
  /// The catalog (regions, requests, policies) comes first, and tracks and rows refer to it, so that the bytes need
  /// nothing else to be understood. Counters are not kept: they count from the start. The same state always gives the
  /// same bytes.
  ///
  /// - Precondition: no change of the regions is half done: ``advance(to:into:)`` or ``finishChanges(into:)`` was called
  ///   behind the last ``apply(_:at:into:)``.
  package func writeState(to writer: inout FieldWriter) {
    precondition(pendingChanges.isEmpty, "\(behind) observers have not caught up: call finishChanges first")
    writer.reserve(Int(counters.tracks) * MonitoringEngine.bytesOfTrack)
    writer.write(MonitoringEngine.stateVersion)
    latest.write(to: &writer)
    context.site.write(to: &writer)
    CatalogState(context.catalog).write(to: &writer)
    writer.write(accepted.sorted())
    let unlisted = quarantined.observers
    writer.write(UInt32(unlisted.count))
    for observer in unlisted { observer.write(to: &writer) }
    context.modes.write(to: &writer)
    let live = placesInOrder
    writer.write(UInt32(live.count))
    for index in live {
      observerEngines[index].id.write(to: &writer)
      writer.writeBlock { observerEngines[index].write(to: &$0, context) }
    }
  }

  /// Reads what an engine wrote into a fresh one; once for each part, if the engines were several.
  ///
  /// From then on the engine gives the events that the other one would have given, byte for byte, if it is given the same
  /// inputs. If the site that it was made with is not the one that the state was written with, it takes over the changes
  /// with ``resume(at:publishedState:into:)``.
  ///
  /// - Parameters:
  ///   - reader: the reader of the bytes; it is behind the part afterwards.
  ///   - isOurs: a closure that returns true if an observer belongs to this engine; of the others nothing is kept.
  /// - Throws: an error that states what is wrong with the bytes, and where; the engine is unchanged then.
  package mutating func restoreState(
    from reader: inout FieldReader,
    where isOurs: (ObserverID) -> Bool
  ) throws(FieldError) {
    var engine = self
    try engine.readState(from: &reader, where: isOurs)
    self = engine
  }

  private mutating func readState(
    from reader: inout FieldReader,
    where isOurs: (ObserverID) -> Bool
  ) throws(FieldError) {
    let version = try reader.byte()
    guard version == MonitoringEngine.stateVersion else {
      throw reader.failure(.version(version, expected: MonitoringEngine.stateVersion))
    }
    let time = try Timestamp(from: &reader)
    guard time == .distantPast || MonitoringEngine.times.contains(time) else {
      throw reader.failure(.outOfRange(field: "the time of a state"))
    }
    let written = try Site(from: &reader)
    let asked = try CatalogState(from: &reader)
    if awaitedSite == nil {
      awaitedSite = declaration
      context.declare(written)
      context.catalog = RegionCatalog(site: written, fixedObservers: context.sensing?.fixedObservers ?? [])
      context.catalog.restore(asked)
      for application in written.applications {
        context.catalog.regionLimits[application.identifier] = application.regionLimit
      }
    } else if !asked.agrees(with: context.catalog) {
      throw reader.failure(.outOfRange(field: "the regions of a further part"))
    }
    latest = max(latest, time)
    // What was due before the time of another part keeps its own time.
    context.present = latest
    accepted.formUnion(try reader.list(ObserverID.self))
    for _ in 0..<(try reader.count(ofAtLeast: 26)) {
      let observer = try QuarantinedObserver(from: &reader)
      if isOurs(observer.id) { quarantined.restore(observer) }
    }
    try context.modes.read(from: &reader)
    let sets = RestoredSets(sets: asked.sets, numbers: asked.sets.map { context.catalog.number(of: $0) })
    for _ in 0..<(try reader.count()) {
      let id = try ObserverID(from: &reader)
      var block = try reader.block()
      guard isOurs(id) else { continue }
      guard place(of: id) == nil else { throw reader.failure(.outOfRange(field: "an observer")) }
      let observer = try ObserverEngine(id: id, from: &block, sets, &context)
      try block.finish()
      let index = add(observer)
      observerEngines[index].armRestored(&context)
    }
  }
}

extension ObserverEngine {
  /// Marks a handset in the byte of the scan state.
  private static let handsetBit: UInt8 = 1 << 7

  /// Writes all that is known about the observer but its identity and what the site says of it.
  func write(to writer: inout FieldWriter, _ context: borrowing EngineContext) {
    for time in [firstHeard, lastReceived, scanChanged, silenceFrom, monitoringSince] {
      time.write(to: &writer)
    }
    for time in [outageTimer, secondTimer, reassessAt, lagLearnsFrom, rateStart, countersFrom, watchedUntil] {
      time.write(to: &writer)
    }
    lifeReported.write(to: &writer)
    writer.write(provenBeforeOutage)
    writer.write(datagramAt)
    writer.write(lostSince)
    writer.write(isUp)
    writer.write(isAwaited)
    writer.write(scanState.rawValue | (isHandset ? ObserverEngine.handsetBit : 0))
    lag.write(to: &writer)
    clock.write(to: &writer)
    sequence.write(to: &writer)
    life.write(to: &writer)
    for count in [ordinals.floor, lifeCounter, rangingCounter, adverts, late] { writer.write(count) }
    writer.write(rateCount)
    writer.write(rateBefore)
    writeRows(to: &writer)
    writePools(to: &writer, context.catalog.scopes)
    writeTracks(to: &writer, context)
  }

  private func writeRows(to writer: inout FieldWriter) {
    writer.write(UInt32(rows.count))
    for row in rows {
      // When a row's timer is due follows from when the row is decided.
      var row = row
      row.armedAt = .distantFuture
      row.write(to: &writer)
    }
    writer.write(places: pendingRows)
    writer.write(places: activeNodes.sorted())
    writer.write(places: namedRequests)
    writer.write(nextSecond.map { UInt64(bitPattern: $0) })
    writer.write(nextHalf)
  }

  private func writePools(to writer: inout FieldWriter, _ scopes: borrowing ScopeTable) {
    pool.write(to: &writer)
    writer.write(UInt32(families.count))
    var uuids: [(uuid: UUID128, scope: UInt32)] = []
    for scope in families.keys {
      uuids.append((UUID128(high: scopes[scope].high, low: scopes[scope].low), scope))
    }
    for (uuid, scope) in uuids.sorted(by: { $0.uuid < $1.uuid }) {
      uuid.write(to: &writer)
      families[scope]?.write(to: &writer)
    }
    writer.write(UInt32(batteryReported.count))
    for (beacon, time) in batteryReported.sorted(by: { $0.key < $1.key }) {
      beacon.write(to: &writer)
      time.write(to: &writer)
    }
  }

  private func writeTracks(to writer: inout FieldWriter, _ context: borrowing EngineContext) {
    let epoch = UInt16(truncatingIfNeeded: context.epoch)
    writer.write(UInt32(tracks.count))
    writer.write(places: freeTracks)
    for place in 0..<tracks.count where tracks[place].isLive {
      let track = tracks[place]
      track.write(track.beacon(context.catalog.scopes), to: &writer, isStale: track.hot.epoch != epoch)
    }
    writer.write(places: listed)
    writer.write(places: pendingTracks)
    let addresses = liveAddresses(context.catalog.scopes)
    writer.write(UInt32(addresses.count))
    for (address, owner) in addresses.sorted(by: { $0.key < $1.key }) {
      writer.write(address)
      writer.write(owner.place)
    }
  }

  /// Reads what was known about an observer.
  fileprivate init(
    id: ObserverID,
    from reader: inout FieldReader,
    _ sets: borrowing RestoredSets,
    _ context: inout EngineContext
  ) throws(FieldError) {
    let first = try Timestamp(from: &reader)
    let entry = context.entries[id]
    self.init(id: id, entry: entry, received: first, time: first)
    lastReceived = try Timestamp(from: &reader)
    scanChanged = try Timestamp(from: &reader)
    silenceFrom = try Timestamp(from: &reader)
    monitoringSince = try Timestamp(from: &reader)
    outageTimer = try Timestamp(from: &reader)
    secondTimer = try Timestamp(from: &reader)
    reassessAt = try Timestamp(from: &reader)
    lagLearnsFrom = try Timestamp(from: &reader)
    rateStart = try Timestamp(from: &reader)
    countersFrom = try Timestamp(from: &reader)
    watchedUntil = try Timestamp(from: &reader)
    lifeReported = try ListeningTime(from: &reader)
    provenBeforeOutage = try reader.optional(Timestamp.self)
    datagramAt = try reader.optional(Timestamp.self)
    lostSince = try reader.optional(Timestamp.self)
    isUp = try reader.flag()
    isAwaited = try reader.flag()
    let tag = try reader.byte()
    guard let state = ScanState(rawValue: tag & ~ObserverEngine.handsetBit) else {
      throw reader.failure(.unknownTag(field: "a scan state", tag: tag))
    }
    scanState = state
    isHandset = tag & ObserverEngine.handsetBit != 0
    lag = try LagEstimator(from: &reader)
    clock = try ClockOffset(from: &reader)
    sequence = try SequenceCheck(from: &reader)
    life = try LifeSigns(mode: entry?.liveness ?? .auto, from: &reader)
    ordinals.floor = try reader.counter("an observer's ordinal")
    lifeCounter = try reader.counter("an observer's counter")
    rangingCounter = try reader.counter("a ranging counter")
    adverts = try reader.total("adverts")
    late = try reader.total("late reports")
    rateCount = try reader.finite("a rate")
    rateBefore = try reader.finite("a rate")
    try readRows(from: &reader, context.catalog)
    try readPools(from: &reader, &context.catalog)
    try readTracks(from: &reader, sets, &context)
  }

  private mutating func readRows(
    from reader: inout FieldReader,
    _ catalog: borrowing RegionCatalog
  ) throws(FieldError) {
    for place in 0..<(try reader.count()) {
      let row = try RegionRow(from: &reader, slots: catalog.slots.count)
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
    activeNodes = Set(try reader.places("a node", below: catalog.slots.count))
    namedRequests = Set(try reader.places("a ranging request", below: catalog.rangings.count)).sorted()
    if try reader.flag() { nextSecond = try reader.second() }
    nextHalf = try reader.second()
  }

  private mutating func readPools(
    from reader: inout FieldReader,
    _ catalog: inout RegionCatalog
  ) throws(FieldError) {
    pool = try LossPool(from: &reader)
    for _ in 0..<(try reader.count(ofAtLeast: 16)) {
      let uuid = try UUID128(from: &reader)
      let scope = catalog.number(of: BeaconScope(kind: .proximity, high: uuid.high, low: uuid.low))
      families[scope] = try LossPool(from: &reader)
    }
    for _ in 0..<(try reader.count(ofAtLeast: 15)) {
      let beacon = try BeaconID(from: &reader)
      batteryReported[beacon] = try Timestamp(from: &reader)
    }
  }

  private mutating func readTracks(
    from reader: inout FieldReader,
    _ sets: borrowing RestoredSets,
    _ context: inout EngineContext
  ) throws(FieldError) {
    let count = try reader.count()
    guard count <= TrackTable.greatestPlace else { throw reader.failure(.outOfRange(field: "the tracks")) }
    let free = try reader.places("a free track", below: count)
    var isFree = Set(free)
    guard isFree.count == free.count else { throw reader.failure(.outOfRange(field: "a free track")) }
    for place in 0..<count {
      guard isFree.remove(Int32(place)) == nil else {
        tracks.append(.free, .free)
        continue
      }
      let beacon = try BeaconID(from: &reader)
      guard track(of: beacon, context) == nil else {
        throw reader.failure(.outOfRange(field: "a track's beacon"))
      }
      let identity = TrackIdentity(beacon, scope: context.catalog.scope(of: beacon), context.hash)
      try readTrack(identity, from: &reader, sets, context.epoch)
    }
    freeTracks = free
    listed = try reader.places("a listed track", below: count)
    pendingTracks = try reader.places("a waiting track", below: count)
    for _ in 0..<(try reader.count(ofAtLeast: 12)) {
      let address = try reader.number(UInt64.self)
      let place = Int(try reader.place("a track of an address", below: count))
      trackOfAddress[address] = AddressOwner(
        place: place,
        beacon: tracks[place].beacon(context.catalog.scopes)
      )
    }
  }

  /// Reads a track into the next place.
  private mutating func readTrack(
    _ identity: TrackIdentity,
    from reader: inout FieldReader,
    _ sets: borrowing RestoredSets,
    _ epoch: UInt32
  ) throws(FieldError) {
    let parts = TrackHandle.Parts(rawValue: try reader.number(UInt16.self))
    let number = Int(try reader.place("a match set", below: sets.sets.count))
    let samples = try reader.number(UInt32.self)
    let key = try reader.number(UInt64.self)
    let lastHeard = try Timestamp(from: &reader)
    let place = addTrack(
      identity,
      set: sets.sets[number],
      number: sets.numbers[number],
      at: lastHeard,
      // A stale track looks again for what asks about it.
      parts.contains(.stale) ? epoch &- 1 : epoch
    )
    try tracks[place].read(parts, samples: samples, key: key, from: &reader)
  }

  /// Sets the timers of an observer that was read.
  fileprivate mutating func armRestored(_ context: inout EngineContext) {
    rearmAll(&context)
    for row in rows.indices where rows[row].isLive {
      rows[row].armedAt = .distantFuture
      arm(row: row, for: rows[row].decideAt, &context)
    }
    if outageTimer != .distantFuture { outageTimer = context.arm(outageTimer, observer: place, .outage) }
    if secondTimer != .distantFuture { secondTimer = context.arm(secondTimer, observer: place, .second) }
  }
}
