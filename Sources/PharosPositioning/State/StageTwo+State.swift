import PharosEvents
package import PharosReports

extension StageTwo {
  /// The version of the bytes that ``writeState(to:)`` writes.
  package static let stateVersion: UInt8 = 1

  /// Writes all that decisions to come depend on, so that an engine that reads it back decides the same.
  ///
  /// Regions go by application and identifier, zones and observers by what the site calls them, so that it may be read back
  /// by an engine whose site has been edited since. What has been counted is not kept: counts are since the start. Called
  /// behind ``advance(to:into:)``.
  ///
  /// - Parameter writer: what it is written to.
  /// - Complexity: linear in what is known; some hundreds of bytes for each beacon.
  package func writeState(to writer: inout FieldWriter) {
    writer.write(StageTwo.stateVersion)
    now.write(to: &writer)
    regions.writeState(to: &writer)
    writer.write(site.zones)
    for proof in around.proofs { proof.write(to: &writer) }
    around.offsets.writeState(to: &writer)
    gaps.writeState(to: &writer)
    writer.write(place: live.count)
    for (observer, since) in live.sorted(by: { $0.key < $1.key }) {
      observer.write(to: &writer)
      since.write(to: &writer)
    }
    writeTags(to: &writer)
    writer.write(place: dirty.count)
    for place in dirty { writer.write(place: place) }
  }

  /// Restores a state into this stage, which must not have taken any input yet.
  ///
  /// Rows, zones and observers that the site no longer declares are dropped, and no event is published for them. A
  /// region whose definition has changed starts without state.
  ///
  /// - Parameter reader: A reader at the beginning of the state.
  /// - Throws: A `FieldError` if the bytes are not a valid state. The stage is then unchanged.
  package mutating func restoreState(from reader: inout FieldReader) throws(FieldError) {
    var restored = self
    try restored.restore(from: &reader)
    self = restored
  }

  private mutating func restore(from reader: inout FieldReader) throws(FieldError) {
    let version = try reader.byte()
    guard version == StageTwo.stateVersion else {
      throw reader.failure(.version(version, expected: StageTwo.stateVersion))
    }
    now = try Timestamp(from: &reader)
    let known = try RestoredRegions(from: &reader)
    let places = regions.restore(known.entries, at: now)
    let zones = try reader.list(Zone.self)
    let plan = ZonePlan(site: Site(zones: zones))
    var proofs: [Timestamp] = []
    for _ in plan.observers { proofs.append(try Timestamp(from: &reader)) }
    let offsets = try OffsetTable(restoring: &reader, observers: plan.observers.count, around.rules)
    gaps = try LevelGaps(restoring: &reader, observers: plan.observers.count)
    for _ in 0..<(try reader.count(ofAtLeast: 9)) {
      let observer = try ObserverID(from: &reader)
      live[observer] = try Timestamp(from: &reader)
    }
    try readTags(from: &reader, known, plan)
    for place in tags.slots where tags.isTaken(place) { tags.store[place].translateRows(by: places) }
    for _ in 0..<(try reader.count(ofAtLeast: 4)) {
      let place = try reader.place(below: tags.store.count)
      guard tags.isTaken(place), !tags.store[place].isDirty else { throw reader.failure(.badIdentity) }
      tags.store[place].isDirty = true
      dirty.append(place)
    }
    let present = around.plan
    around = ZoneTrack.Surroundings(plan: plan, rules: around.rules, proofs: proofs, offsets: offsets)
    if zones != site.zones { replan(to: present) }
    counted.tags = tags.count
    expected = []
    rebuildDeadlines()
  }

  // MARK: Beacons

  /// Writes the beacons, and before them the few different answers to which zones place one.
  private func writeTags(to writer: inout FieldWriter) {
    var numbers: [[Bool]: Int] = [:]
    var answers: [[Bool]] = []
    for tag in tags.store where tag.isLive && numbers[tag.zone.placing] == nil {
      numbers[tag.zone.placing] = answers.count
      answers.append(tag.zone.placing)
    }
    writer.write(place: answers.count)
    for answer in answers {
      writer.write(place: answer.count)
      for isPlacing in answer { writer.write(isPlacing) }
    }
    tags.writeState(to: &writer) { tag, writer in
      writer.write(place: numbers[tag.zone.placing] ?? 0)
      writer.write(tag.zone.placingEpoch == regions.epoch)
      tag.writeState(to: &writer)
    }
  }

  private mutating func readTags(
    from reader: inout FieldReader,
    _ known: RestoredRegions,
    _ plan: ZonePlan
  ) throws(FieldError) {
    var answers: [[Bool]] = []
    for _ in 0..<(try reader.count(ofAtLeast: 4)) {
      var answer: [Bool] = []
      for _ in 0..<(try reader.place(below: plan.zones.count + 1)) { answer.append(try reader.flag()) }
      answers.append(answer)
    }
    let (numbers, epoch) = (answers, regions.epoch)
    tags = try TagTable(restoring: &reader) { (reader) throws(FieldError) in
      let number = try reader.place(below: numbers.count)
      let isCurrent = try reader.flag()
      var tag = try Tag(
        restoring: &reader,
        regions: known.entries.count,
        zones: plan.zones.count,
        observers: plan.observers.count
      )
      tag.zone.placing = numbers[number]
      tag.zone.placingEpoch = isCurrent ? epoch : nil
      return tag
    }
  }

  /// Has the queue bring every beacon up when it wants to be; its order hangs on nothing but that.
  mutating func rebuildDeadlines() {
    deadlines = DeadlineQueue()
    for place in tags.slots where tags.isTaken(place) {
      let tag = tags.store[place]
      guard tag.wake != .distantFuture else { continue }
      deadlines.insert(DeadlineQueue.Entry(due: tag.wake, slot: place, generation: tag.generation))
    }
  }

  /// Puts another plan of the zones in the place of the present one; what they have in common keeps its state.
  mutating func replan(to plan: ZonePlan) {
    let translation = PlanTranslation(from: around.plan, to: plan)
    var proofs = Array(repeating: Timestamp.distantFuture, count: plan.observers.count)
    for (old, proof) in around.proofs.enumerated() {
      if let new = translation.observers[old] { proofs[new] = proof }
    }
    gaps = gaps.translated(by: translation, observers: plan.observers.count)
    around = ZoneTrack.Surroundings(
      plan: plan,
      rules: around.rules,
      proofs: proofs,
      offsets: around.offsets.translated(by: translation, observers: plan.observers.count, around.rules)
    )
    expected = []
    for place in tags.slots where tags.isTaken(place) {
      tags.store[place].zone.translate(by: translation)
      tags.store[place].zone.placing = plan.placing(
        tags.store[place].beacon,
        isAskedAbout: regions.asks(about: tags.store[place].beacon)
      )
      tags.store[place].zone.placingEpoch = regions.epoch
    }
  }
}
