package import PharosDocuments
package import PharosModel

/// The state of an engine as bytes, of which checkpoints consist.
///
/// A copy of an engine is cheap, since its storage is shared until one of the two changes: the loop that owns it takes a
/// copy, and another thread writes that.
extension MonitoringEngine {
  /// The version of the layout.
  static let stateVersion: UInt8 = 17
  /// The approximate size of a track in bytes: measured for iBeacons under one policy.
  private static let bytesOfTrack = 150

  /// Writes all that the engine knows.
  ///
  /// The catalog (regions, requests, policies) comes first, and tracks and rows refer to it, so that the bytes need
  /// nothing else to be understood. Counters are not kept: they count from the start. The same state always gives the
  /// same bytes.
  ///
  /// - Precondition: no change of the regions is half done, and nothing is due before the latest input: ``advance(to:into:)`` or
  ///   ``finishChanges(into:)`` was called behind the last ``apply(_:at:into:)`` and the last ``restoreState(from:where:)``.
  package func writeState(to writer: inout FieldWriter) {
    precondition(pendingChanges.isEmpty, "\(behind) observers have not caught up: call finishChanges first")
    writer.reserve(Int(counters.tracks) * MonitoringEngine.bytesOfTrack)
    var copy = self
    copy.visitState(&writer) { _ in true }
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
    try engine.visitState(&reader, where: isOurs)
    self = engine
  }

  private mutating func visitState<Coder: FieldCoder>(
    _ coder: inout Coder,
    where isOurs: (ObserverID) -> Bool
  ) throws(Coder.Failure) {
    try coder.code(version: MonitoringEngine.stateVersion)
    var (time, site, asked) = (latest, context.site, CatalogState(context.catalog))
    try coder.code(&time)
    try coder.check(time == .distantPast || MonitoringEngine.times.contains(time), "the time of a state")
    try coder.code(&site)
    try coder.code(parts: &asked)
    if Coder.isReader {
      if awaitedSite == nil { adopt(asked, of: site) }
      try coder.check(asked.agrees(with: context.catalog), "the regions of a further part")
      latest = max(latest, time)
      // What was due before the time of another part keeps its own time.
      context.present = latest
    }
    var accepted = accepted
    try coder.code(&accepted)
    if Coder.isReader { self.accepted.formUnion(accepted) }
    var unlisted = quarantined.observers
    try coder.code(&unlisted)
    if Coder.isReader { for observer in unlisted where isOurs(observer.id) { quarantined.restore(observer) } }
    try coder.code(parts: &context.modes)
    var sets = RestoredSets()
    if Coder.isReader {
      sets = RestoredSets(sets: asked.sets, numbers: asked.sets.map { context.catalog.number(of: $0) })
    }
    let live = Coder.isReader ? [] : placesInOrder
    var count = live.count
    try coder.code(count: &count, ofAtLeast: 4)
    for place in 0..<count {
      let id = try coder.field(observerEngines[live[place]].id)
      let block = try coder.beginBlock()
      if isOurs(id) {
        let first = try coder.field(observerEngines[live[place]].firstHeard)
        try coder.check(self.place(of: id) == nil, "an observer")
        var observer =
          Coder.isReader
          ? ObserverEngine(id: id, entry: context.entries[id], received: first, time: first)
          : observerEngines[live[place]]
        try observer.visitState(&coder, sets, &context)
        if Coder.isReader {
          // What an input made due at once is due at the time of that input, however long ago its deadline was.
          context.current = time
          observerEngines[add(observer)].armRestored(&context)
        }
      } else {
        coder.skipBlock()
      }
      try coder.endBlock(block)
    }
  }

  /// Takes over the site that a state was written with, and what it asks about.
  private mutating func adopt(_ asked: CatalogState, of site: Site) {
    awaitedSite = declaration
    context.declare(site)
    context.catalog = RegionCatalog(site: site, fixedObservers: context.sensing?.fixedObservers ?? [])
    context.catalog.restore(asked)
    for application in site.applications {
      context.catalog.regionLimits[application.identifier] = application.regionLimit
    }
  }
}

extension ObserverEngine {
  /// Hands all that is known about the observer to a coder, but for its identity, when it was heard first, and what the site
  /// says of it.
  fileprivate mutating func visitState<Coder: FieldCoder>(
    _ coder: inout Coder,
    _ sets: borrowing RestoredSets,
    _ context: inout EngineContext
  ) throws(Coder.Failure) {
    try coder.code(&lastReceived)
    try coder.code(&scanChanged)
    try coder.code(&silenceFrom)
    try coder.code(&monitoringSince)
    try coder.code(&outageTimer)
    try coder.code(&reassessAt)
    try coder.code(&lagLearnsFrom)
    try coder.code(&rateStart)
    try coder.code(&countersFrom)
    try coder.code(&watchedUntil)
    try coder.code(&lifeReported)
    try coder.code(&provenBeforeOutage)
    try coder.code(&datagramAt)
    try coder.code(&isUp)
    try coder.code(&isAwaited)
    try coder.code(&scanState)
    try coder.code(&isHandset)
    try coder.code(parts: &lag)
    try coder.code(parts: &clock)
    try coder.code(parts: &sequence)
    if Coder.isReader { life = LifeSigns(mode: life.mode) }
    try coder.code(parts: &life)
    try coder.code(parts: &upload)
    try coder.code(parts: &ordinals)
    try coder.code(ids: &lifeCounter, "an observer's counter")
    try coder.code(ids: &rangingCounter, "a ranging counter")
    try coder.code(total: &adverts, "adverts")
    try coder.code(total: &late, "late reports")
    try coder.code(finite: &rateCount, "a rate")
    try coder.code(finite: &rateBefore, "a rate")
    try visitRows(&coder, context.catalog)
    try visitPools(&coder, &context.catalog)
    try visitTracks(&coder, sets, &context)
  }

  private mutating func visitRows<Coder: FieldCoder>(
    _ coder: inout Coder,
    _ catalog: borrowing RegionCatalog
  ) throws(Coder.Failure) {
    let fresh = RegionRow(
      slot: 0,
      RegionMachine(assuming: .unknown, since: .distantPast),
      counter: 0,
      isActive: false
    )
    try coder.code(list: &rows, into: fresh) { (row, coder) throws(Coder.Failure) in
      try coder.code(parts: &row)
    }
    if Coder.isReader {
      for (place, row) in rows.enumerated() where row.isLive {
        let isKnown = rowOfSlot.updateValue(Int32(place), forKey: row.slot) != nil
        try coder.check(!isKnown && catalog.slots.indices.contains(Int(row.slot)), "a region's row")
      }
      deadRows = rows.count - rowOfSlot.count
    }
    try coder.code(places: &pendingRows, below: rows.count, "a waiting row")
    var nodes = activeNodes.sorted()
    try coder.code(places: &nodes, below: catalog.slots.count, "a node")
    try coder.code(places: &namedRequests, below: catalog.rangings.count, "a ranging request")
    if Coder.isReader { (activeNodes, namedRequests) = (Set(nodes), Set(namedRequests).sorted()) }
    try coder.code(&nextSecond)
    try coder.check((nextSecond ?? 0).magnitude <= 1 << 50, "a second")
    try coder.code(second: &nextHalf)
  }

  private mutating func visitPools<Coder: FieldCoder>(
    _ coder: inout Coder,
    _ catalog: inout RegionCatalog
  ) throws(Coder.Failure) {
    try coder.code(&pool)
    var pools: [UUID128: LossPool] = [:]
    for (scope, pool) in families {
      pools[UUID128(high: catalog.scopes[scope].high, low: catalog.scopes[scope].low)] = pool
    }
    try coder.code(&pools)
    if Coder.isReader {
      for (uuid, pool) in pools.sorted(by: { $0.key < $1.key }) {
        families[catalog.number(of: BeaconScope(kind: .proximity, high: uuid.high, low: uuid.low))] = pool
      }
    }
    try coder.code(&batteryReported)
  }

  private mutating func visitTracks<Coder: FieldCoder>(
    _ coder: inout Coder,
    _ sets: borrowing RestoredSets,
    _ context: inout EngineContext
  ) throws(Coder.Failure) {
    var (count, free) = (tracks.count, freeTracks)
    try coder.code(count: &count, ofAtLeast: 0)
    try coder.check(count <= TrackTable.maximumPlace, "the tracks")
    try coder.code(places: &free, below: count, "a free track")
    var isFree = Set(free)
    try coder.check(isFree.count == free.count, "a free track")
    for place in 0..<count {
      if isFree.remove(Int32(place)) == nil {
        try visitTrack(place, &coder, sets, &context)
      } else if Coder.isReader {
        tracks.append(.free, .free)
      }
    }
    if Coder.isReader { freeTracks = free }
    try coder.code(places: &listed, below: count, "a listed track")
    try coder.code(places: &pendingTracks, below: count, "a waiting track")
    var owners = Coder.isReader ? [:] : liveAddresses(context.catalog.scopes).mapValues { Int32($0.place) }
    try coder.code(&owners)
    guard Coder.isReader else { return }
    for (address, place) in owners {
      try coder.check(place >= 0 && place < count, "a track of an address")
      let beacon = tracks[Int(place)].beacon(context.catalog.scopes)
      trackOfAddress[address] = AddressOwner(place: Int(place), beacon: beacon)
    }
  }

  /// Hands a track to a coder; a reader puts it into the next place.
  private mutating func visitTrack<Coder: FieldCoder>(
    _ place: Int,
    _ coder: inout Coder,
    _ sets: borrowing RestoredSets,
    _ context: inout EngineContext
  ) throws(Coder.Failure) {
    let epoch = context.epoch
    let isStale = !Coder.isReader && tracks[place].hot.epoch != UInt16(truncatingIfNeeded: epoch)
    let beacon = try coder.field(tracks[place].beacon(context.catalog.scopes))
    let parts = TrackHandle.Parts(rawValue: try coder.field(tracks[place].parts(isStale: isStale).rawValue))
    let number = try coder.field(tracks[place].cold.matchSet)
    let samples = try coder.field(tracks[place].samples)
    let key = try coder.field(tracks[place].cold.sampleKey)
    let lastHeard = try coder.field(tracks[place].hot.lastHeard)
    guard Coder.isReader else { return try tracks[place].visitFields(parts, &coder) }
    try coder.check(track(of: beacon, context) == nil, "a track's beacon")
    try coder.check(sets.sets.indices.contains(Int(number)), "a match set")
    let added = addTrack(
      TrackIdentity(beacon, scope: context.catalog.scope(of: beacon), context.hash),
      set: sets.sets[Int(number)],
      number: sets.numbers[Int(number)],
      at: lastHeard,
      // A stale track looks again for what asks about it.
      parts.contains(.stale) ? epoch &- 1 : epoch
    )
    tracks[added].restore(parts, samples: samples, key: key)
    try tracks[added].visitFields(parts, &coder)
    tracks[added].updateFastPath()
  }

  /// Sets the timers of an observer that was read.
  fileprivate mutating func armRestored(_ context: inout EngineContext) {
    for row in rows.indices { rows[row].armedAt = .distantFuture }
    rearmAll(&context)
    if outageTimer != .distantFuture { outageTimer = context.arm(outageTimer, observer: place, .outage) }
    if upload.due != .distantFuture { upload.due = context.arm(upload.due, observer: place, .upload) }
  }
}
