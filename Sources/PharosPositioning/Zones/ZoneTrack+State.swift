import PharosModel

extension ZoneTrack {
  /// Writes everything but the zones that place the beacon, which many beacons have in common.
  func writeState(to writer: inout FieldWriter) {
    writer.write(optionalPlace: zone)
    writer.write(counter)
    for time in [heldUntil, nextLook, candidateSince, changedAt, enteredAt, nextLesson, lookedAt, weighedAt] {
      time.write(to: &writer)
    }
    outageTime.write(to: &writer)
    writer.write(optionalPlace: candidate)
    writer.write(doubtedSince)
    lessonGap.write(to: &writer)
    lag.write(to: &writer)
    writer.write(isMoving)
    writer.write(isFresh)
    writer.write(heardOnTheMove)
    writer.write(optionalPlace: shadowed?.observer)
    writer.write(shadowed?.since)
    gaps.writeState(to: &writer)
    writer.write(place: belief.shares.count)
    for share in belief.shares {
      writer.write(Int32(truncatingIfNeeded: share.zone))
      writer.write(share.probability)
    }
    writer.write(place: levels.count)
    for level in levels { level.writeState(to: &writer) }
  }

  /// Reads the track, for a plan with the given numbers of zones and observers.
  init(restoring reader: inout FieldReader, zones: Int, observers: Int) throws(FieldError) {
    self.init()
    zone = try reader.optionalPlace(below: zones)
    counter = try reader.counter()
    heldUntil = try Timestamp(from: &reader)
    nextLook = try Timestamp(from: &reader)
    candidateSince = try Timestamp(from: &reader)
    changedAt = try Timestamp(from: &reader)
    enteredAt = try Timestamp(from: &reader)
    nextLesson = try Timestamp(from: &reader)
    lookedAt = try Timestamp(from: &reader)
    weighedAt = try Timestamp(from: &reader)
    outageTime = try Timestamp(from: &reader)
    candidate = try reader.optionalPlace(below: zones)
    doubtedSince = try reader.optional(Timestamp.self)
    lessonGap = try TimeSpan(from: &reader)
    lag = try TimeSpan(from: &reader)
    isMoving = try reader.flag()
    isFresh = try reader.flag()
    heardOnTheMove = try reader.finite()
    let shadow = try reader.optionalPlace(below: observers)
    if let since = try reader.optional(Timestamp.self), let shadow { shadowed = (shadow, since) }
    gaps = try GapModel(restoring: &reader)
    belief = try ZoneBelief(restoring: &reader, zones: zones)
    let count = try reader.place(below: observers + 1)
    for _ in 0..<count {
      let level = try ObserverLevel(restoring: &reader, observers: observers)
      // In the plan's order, each once: what looks for a level relies on it.
      guard levels.last.map({ $0.observer < level.observer }) ?? true else {
        throw reader.failure(.badIdentity)
      }
      levels.append(level)
    }
  }

  /// Resumes after downtime, in which silence is no evidence.
  mutating func resume(at instant: Timestamp, after downtime: TimeSpan) {
    for index in levels.indices where !levels[index].isDark { levels[index].resume(at: instant) }
    candidate = nil
    doubtedSince = nil
    shadowed = nil
    isFresh = false
    if lookedAt != .distantPast { lookedAt = instant }
    if weighedAt != .distantPast { weighedAt = instant }
    if heldUntil != .distantPast { heldUntil = heldUntil + downtime }
    if nextLook != .distantFuture { nextLook = instant + ZoneRules.period }
    if nextLesson != .distantFuture { nextLesson = max(nextLesson, instant + ZoneRules.firstLesson) }
  }

  /// Applies the zone of an event that is newer than all else that is known of the beacon.
  ///
  /// If the zone differs, the levels are older than the event and are removed, unless the event is an exit and one of
  /// their observers is down: the last level of that observer keeps its beacons from being handed to a neighbouring
  /// zone.
  mutating func take(_ told: Int?, since time: Timestamp, at instant: Timestamp, isHeardInTheDark: Bool) {
    changedAt = max(changedAt, time)
    guard told != zone else { return }
    zone = told
    candidate = nil
    doubtedSince = nil
    isMoving = false
    if told != nil || !isHeardInTheDark {
      levels.removeAll()
      belief.removeAll()
    }
    guard let told else {
      heldUntil = .distantPast
      nextLesson = .distantFuture
      nextLook = levels.isEmpty ? .distantFuture : instant + ZoneRules.period
      return
    }
    belief.shares = [
      ZoneBelief.Share(zone: told, probability: ZoneRules.certainty),
      ZoneBelief.Share(zone: ZoneWeighing.elsewhere, probability: 1 - ZoneRules.certainty),
    ]
    enteredAt = time
    heldUntil = instant + ZoneRules.longestPresence
    nextLook = instant + ZoneRules.period
    lessonGap = ZoneRules.firstLesson
    nextLesson = instant + lessonGap
  }
}

extension ZoneBelief {
  /// Reads the shares, for a plan with a number of zones.
  init(restoring reader: inout FieldReader, zones: Int) throws(FieldError) {
    self.init()
    let count = try reader.place(below: ZoneWeighing.mostCandidates + 2)
    for _ in 0..<count {
      let zone = Int(try reader.number(Int32.self))
      guard zone == ZoneWeighing.elsewhere || (0..<zones).contains(zone) else {
        throw reader.failure(.unknownTag(field: "a zone's place", tag: UInt8(truncatingIfNeeded: zone)))
      }
      shares.append(Share(zone: zone, probability: try reader.finite()))
    }
  }
}

/// The translation of one plan's zone and observer numbers to those of another plan.
///
/// Two zones are the same if they have the same identifier, even if their location or their observers have changed.
struct PlanTranslation {
  /// The new number of each old zone; nil where the zone is gone.
  let zones: [Int?]
  /// The new number of each old observer; nil where it stands in no zone any more.
  let observers: [Int?]

  /// Compares two plans.
  init(from old: ZonePlan, to new: ZonePlan) {
    let places = Dictionary(new.zones.enumerated().map { ($1.identifier, $0) }) { first, _ in first }
    zones = old.zones.map { places[$0.identifier] }
    observers = old.observers.map { new.place(of: $0) }
  }

  /// The new number of a zone; nil too where there was none.
  func zone(_ old: Int?) -> Int? { old.flatMap { zones[$0] } }
}

extension ZoneTrack {
  /// Replaces all numbers by those of another plan, and drops what belongs to a removed zone or observer.
  ///
  /// A beacon in a removed zone is in no zone afterwards. No exit is published, because the site no longer has the
  /// zone.
  mutating func translate(by translation: PlanTranslation) {
    if zone != nil, translation.zone(zone) == nil {
      doubtedSince = nil
      nextLesson = .distantFuture
    }
    zone = translation.zone(zone)
    candidate = translation.zone(candidate)
    placing = []
    placingEpoch = nil
    levels = levels.compactMap { level in
      translation.observers[level.observer].map { level.heard(by: $0) }
    }
    levels.sort { $0.observer < $1.observer }
    belief.shares = belief.shares.compactMap { share in
      guard share.zone != ZoneWeighing.elsewhere else { return share }
      return translation.zones[share.zone].map { ZoneBelief.Share(zone: $0, probability: share.probability) }
    }
    // If only `elsewhere` is left, the next look starts from the initial probabilities.
    if !belief.shares.contains(where: { $0.zone != ZoneWeighing.elsewhere }) { belief.removeAll() }
    shadowed = shadowed.flatMap { old in translation.observers[old.observer].map { ($0, old.since) } }
  }
}
