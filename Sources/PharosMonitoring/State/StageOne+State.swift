public import PharosReports

/// What an engine knows, as bytes: what checkpoints are made of.
///
/// A copy of an engine is cheap, since its storage is shared until one of the two changes: the loop that owns it takes a
/// copy, and somebody else writes that.
extension StageOne {
  /// The version of the layout.
  static let stateVersion: UInt8 = 3
  /// About how many bytes a track takes.
  ///
  /// Measured for iBeacons under one policy; room is made for them at once.
  private static let bytesOfTrack = 150

  /// Writes all that the engine knows.
  ///
  /// What asks (regions, requests, policies) stands in front, and tracks and rows refer to it, so that the bytes need nothing
  /// else to be understood. What has been counted is not kept: counts are since the start. The same state always gives the
  /// same bytes.
  ///
  /// - Precondition: no change of the regions is half done: ``advance(to:into:)`` or ``finishChanges(into:)`` was called
  ///   behind the last ``apply(_:at:into:)``.
  public func writeState(to writer: inout FieldWriter) {
    precondition(pendingChanges.isEmpty, "\(behind) observers have not caught up: call finishChanges first")
    writer.reserve(Int(counters.tracks) * StageOne.bytesOfTrack)
    writer.write(StageOne.stateVersion)
    latest.write(to: &writer)
    site.write(to: &writer)
    CatalogState(catalog).write(to: &writer)
    writer.write(accepted.sorted())
    let strangers = quarantined.observers
    writer.write(UInt32(strangers.count))
    for observer in strangers { observer.write(to: &writer) }
    let live = states.indices.filter { states[$0].isLive }.sorted { states[$0].id < states[$1].id }
    writer.write(UInt32(live.count))
    for index in live {
      states[index].id.write(to: &writer)
      writer.writeBlock { states[index].write(to: &$0) }
    }
  }

  /// Reads what an engine wrote into a fresh one; once for each part, if the engines were several.
  ///
  /// From then on the engine gives the events that the other one would have given, byte for byte, if it is given the same
  /// inputs. If the site that it was made with is not the one that the state was written with, it takes over the changes
  /// when it is told to ``resume(at:lastTold:into:)``.
  ///
  /// - Parameters:
  ///   - reader: where it is read from; it stands behind the part afterwards.
  ///   - isOurs: whether an observer belongs to this engine; of the others nothing is kept.
  /// - Throws: what is wrong with the bytes, and where; the engine is unchanged then.
  public mutating func restoreState(
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
    guard version == StageOne.stateVersion else {
      throw reader.failure(.version(version, expected: StageOne.stateVersion))
    }
    let time = try Timestamp(from: &reader)
    guard time == .distantPast || StageOne.times.contains(time) else {
      throw reader.failure(.outOfRange(field: "the time of a state"))
    }
    let written = try Site(from: &reader)
    let asked = try CatalogState(from: &reader)
    if awaitedSite == nil {
      awaitedSite = declaration
      stand(on: written)
      catalog = RegionCatalog(site: written, fixedObservers: sensing?.fixedObservers ?? [])
      catalog.restore(asked)
      for application in written.applications {
        catalog.regionLimits[application.identifier] = application.regionLimit
      }
    } else if !asked.agrees(with: catalog) {
      throw reader.failure(.outOfRange(field: "the regions of a further part"))
    }
    latest = max(latest, time)
    accepted.formUnion(try reader.list(ObserverID.self))
    for _ in 0..<(try reader.count(ofAtLeast: 26)) {
      let observer = try QuarantinedObserver(from: &reader)
      if isOurs(observer.id) { quarantined.restore(observer) }
    }
    try readObservers(from: &reader, asked.sets, where: isOurs)
  }

  private mutating func readObservers(
    from reader: inout FieldReader,
    _ sets: [MatchSet],
    where isOurs: (ObserverID) -> Bool
  ) throws(FieldError) {
    let numbers = sets.map { catalog.number(of: $0) }
    let around = RestoredAround(
      slots: catalog.slots.count,
      rangings: catalog.rangings.count,
      sets: RestoredSets(sets: sets, numbers: numbers),
      epoch: epoch
    )
    for _ in 0..<(try reader.count()) {
      let id = try ObserverID(from: &reader)
      var block = try reader.block()
      guard isOurs(id) else { continue }
      guard place(of: id) == nil else { throw reader.failure(.outOfRange(field: "an observer")) }
      let state = try ObserverState(id: id, entry: entries[id], from: &block, around: around, hash: hash)
      try block.finish()
      rewind(add(state))
    }
  }

  /// Sets the timers of an observer that was read, as they were.
  private mutating func rewind(_ index: Int) {
    func put(_ due: Timestamp, _ target: TimerTarget) {
      guard due != .distantFuture else { return }
      wheel.set(TimerEntry(due: due, observer: Int32(index), target: target))
    }
    for page in 0..<states[index].tracks.pageCount {
      guard let first = states[index].tracks.firstDue(inPage: page) else { continue }
      states[index].tracks.setArmedAt(first.due, page: page)
      put(first.due, .page(Int32(page)))
    }
    for row in states[index].rows.indices where states[index].rows[row].isLive {
      put(states[index].rows[row].armedAt, .row(Int32(row)))
    }
    put(states[index].outageArmedAt, .outage)
    put(states[index].secondArmedAt, .second)
  }
}

extension QuarantinedObserver {
  func write(to writer: inout FieldWriter) {
    id.write(to: &writer)
    firstHeard.write(to: &writer)
    lastHeard.write(to: &writer)
    writer.write(reports)
  }

  init(from reader: inout FieldReader) throws(FieldError) {
    let id = try ObserverID(from: &reader)
    let first = try Timestamp(from: &reader)
    let last = try Timestamp(from: &reader)
    self.init(id: id, firstHeard: first, lastHeard: last, reports: try reader.number(UInt64.self))
  }
}
