package import PharosDocuments
package import PharosModel

/// Everything but the zones that place the beacon, which many beacons have in common.
extension ZoneTrack: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &zone)
    try coder.code(&unmonitoredSince)
    try coder.code(&holdDeadline)
    try coder.code(counter: &counter)
    try coder.code(&heldUntil)
    try coder.code(&nextLook)
    try coder.code(&candidateSince)
    try coder.code(&changedAt)
    try coder.code(&enteredAt)
    try coder.code(&nextObservation)
    try coder.code(&weighedAt)
    try coder.code(&outageTime)
    try coder.code(place: &candidate)
    try coder.code(&doubtedSince)
    try coder.code(&lag)
    try coder.code(&isFresh)
    try carriage.visitFields(&coder)
    try coder.code(finite: &probability)
    try coder.code(&gaps)
    try coder.code(&belief.shares)
    try coder.code(&levels)
  }
}

extension ZoneTrack {
  /// Returns whether the track belongs to a plan with so many zones and observers, and has its levels in their order.
  package func fits(zones: Int, observers: Int) -> Bool {
    let isInOrder = zip(levels, levels.dropFirst()).allSatisfy { $0.observer < $1.observer }
    let heard = levels.map(\.observer)
    let shares = belief.shares.map(\.zone).filter { $0 != ZoneWeighing.elsewhere }
    return isInOrder && heard.allSatisfy { $0 < observers }
      && (shares + [zone, candidate].compactMap { $0 }).allSatisfy { (0..<zones).contains($0) }
      && belief.shares.count <= ZoneWeighing.maximumCandidates + 1
  }

  /// Resumes after downtime, in which silence is no evidence.
  package mutating func resume(at instant: Timestamp, after downtime: TimeSpan) {
    for index in levels.indices where !levels[index].isDark { levels[index].resume(at: instant) }
    candidate = nil
    doubtedSince = nil
    isFresh = false
    if weighedAt != .distantPast { weighedAt = instant }
    if heldUntil != .distantPast { heldUntil = heldUntil + downtime }
    if holdDeadline != .distantFuture { holdDeadline = holdDeadline + downtime }
    if nextLook != .distantFuture { nextLook = instant + ZoneRules.period }
    if nextObservation != .distantFuture {
      nextObservation = max(nextObservation, instant + ZoneRules.observationDelay)
    }
  }

  /// Applies the zone of an event that is newer than all else that is known of the beacon.
  ///
  /// If the zone differs, the levels are older than the event and are removed, unless the event is an exit and one of
  /// their observers is down: the last level of that observer keeps its beacons from being handed to a neighbouring
  /// zone.
  package mutating func restore(
    _ reported: Int?,
    since time: Timestamp,
    isUnmonitored: Bool,
    at instant: Timestamp,
    isHeardInTheDark: Bool
  ) {
    changedAt = max(changedAt, time)
    if reported != zone || !isUnmonitored { endHold() }
    if isUnmonitored, unmonitoredSince == nil { unmonitoredSince = time }
    guard reported != zone else { return }
    zone = reported
    candidate = nil
    doubtedSince = nil
    carriage = Carriage()
    probability = zone == nil ? 0 : ZoneRules.certainty
    if reported != nil || !isHeardInTheDark {
      levels.removeAll()
      belief.removeAll()
    }
    guard let reported else {
      nextObservation = .distantFuture
      nextLook = levels.isEmpty ? .distantFuture : instant + ZoneRules.period
      return
    }
    belief.shares = [
      ZoneBelief.Share(zone: reported, probability: ZoneRules.certainty),
      ZoneBelief.Share(zone: ZoneWeighing.elsewhere, probability: 1 - ZoneRules.certainty),
    ]
    enteredAt = time
    if !isUnmonitored { heldUntil = instant + ZoneRules.maximumPresence }
    nextLook = instant + ZoneRules.period
    nextObservation = instant + ZoneRules.observationDelay
  }
}

extension ZoneBelief.Share: FieldStruct {
  /// Makes a value whose fields are still to be read.
  package init() { self.init(zone: 0, probability: 0) }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var place = Int32(truncatingIfNeeded: zone)
    try coder.code(&place)
    zone = Int(place)
    try coder.code(finite: &probability)
  }
}

/// The translation of one plan's zone and observer numbers to those of another plan.
///
/// Two zones are the same if they have the same identifier, even if their location or their observers have changed.
package struct PlanTranslation {
  /// The new number of each old zone; nil where the zone is gone.
  let zones: [Int?]
  /// The new number of each old observer; nil where it no longer stands in a zone.
  package let observers: [Int?]

  /// Compares two plans.
  package init(from old: ZonePlan, to new: ZonePlan) {
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
  package mutating func translate(by translation: PlanTranslation) {
    if zone != nil, translation.zone(zone) == nil {
      doubtedSince = nil
      nextObservation = .distantFuture
      endHold()
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
  }
}
