package import PharosDocuments
package import PharosModel

/// Everything but the zones that place the beacon, which many beacons have in common.
extension ZoneTrack: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&stay)
    try coder.code(&candidate)
    try coder.code(counter: &counter)
    try coder.code(&nextLook)
    try coder.code(&changedAt)
    try coder.code(&weighedAt)
    try coder.code(&outageTime)
    try coder.code(&lag)
    try coder.code(&isFresh)
    try carriage.visitFields(&coder)
    try coder.code(finite: &probability)
    try coder.code(&gaps)
    try coder.code(&belief.shares)
    try coder.code(&levels)
  }
}

extension ZoneTrack.Stay: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() { self.init(zone: 0, enteredAt: .distantPast, nextObservation: .distantFuture) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &zone)
    try coder.code(&enteredAt)
    try coder.code(&nextObservation)
    try coder.code(&heldUntil)
    try coder.code(&doubtedSince)
    try coder.code(&outage)
  }
}

extension ZoneTrack.Outage: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(since: try coder.field(value().since), alarm: try coder.field(value().alarm))
  }
}

extension ZoneTrack.Candidate: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() { self.init(zone: 0, since: .distantPast) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &zone)
    try coder.code(&since)
  }
}

extension ZoneTrack {
  /// Returns whether the track belongs to a plan with so many zones and observers, and has its levels in their order.
  package func fits(zones: Int, observers: Int) -> Bool {
    let isInOrder = zip(levels, levels.dropFirst()).allSatisfy { $0.observer < $1.observer }
    let heard = levels.map(\.observer)
    let shares = belief.shares.map(\.zone).filter { $0 != ZoneWeighing.elsewhere }
    return isInOrder && heard.allSatisfy { $0 < observers }
      && (shares + [stay?.zone, candidate?.zone].compactMap { $0 }).allSatisfy { (0..<zones).contains($0) }
      && belief.shares.count <= ZoneWeighing.maximumCandidates + 1
  }

  /// Resumes after downtime, in which silence is no evidence.
  package mutating func resume(at instant: Timestamp, after downtime: TimeSpan) {
    for index in levels.indices where !levels[index].isDark { levels[index].resume(at: instant) }
    candidate = nil
    isFresh = false
    if weighedAt != .distantPast { weighedAt = instant }
    if nextLook != .distantFuture { nextLook = instant + ZoneRules.period }
    stay?.resume(at: instant, after: downtime)
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
    guard reported != zone else {
      if !isUnmonitored { stay?.heldUntil = .distantPast }
      let outage = stay?.outage ?? Outage(since: time)
      stay?.outage = isUnmonitored ? outage : nil
      return
    }
    candidate = nil
    carriage = Carriage()
    probability = reported == nil ? 0 : ZoneRules.certainty
    if reported != nil || !isHeardInTheDark {
      levels.removeAll()
      belief.removeAll()
    }
    guard let reported else {
      stay = nil
      nextLook = levels.isEmpty ? .distantFuture : instant + ZoneRules.period
      return
    }
    belief.shares = [
      ZoneBelief.Share(zone: reported, probability: ZoneRules.certainty),
      ZoneBelief.Share(zone: ZoneWeighing.elsewhere, probability: 1 - ZoneRules.certainty),
    ]
    stay = Stay(
      zone: reported,
      enteredAt: time,
      nextObservation: instant + ZoneRules.observationDelay,
      heldUntil: isUnmonitored ? .distantPast : instant + ZoneRules.maximumPresence,
      outage: isUnmonitored ? Outage(since: time) : nil
    )
    nextLook = instant + ZoneRules.period
  }
}

extension ZoneTrack.Stay {
  /// Resumes after downtime, in which silence is no evidence.
  fileprivate mutating func resume(at instant: Timestamp, after downtime: TimeSpan) {
    doubtedSince = nil
    if heldUntil != .distantPast { heldUntil = heldUntil + downtime }
    if let outage, outage.alarm != .distantFuture { self.outage?.alarm = outage.alarm + downtime }
    if nextObservation != .distantFuture {
      nextObservation = max(nextObservation, instant + ZoneRules.observationDelay)
    }
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
}

extension ZoneTrack {
  /// Replaces all numbers by those of another plan, and drops what belongs to a removed zone or observer.
  ///
  /// A beacon in a removed zone is in no zone afterwards. No exit is published, because the site no longer has the
  /// zone.
  package mutating func translate(by translation: PlanTranslation) {
    stay = stay.flatMap { stay in
      translation.zones[stay.zone].map { zone in
        var stay = stay
        stay.zone = zone
        return stay
      }
    }
    candidate = candidate.flatMap { candidate in
      translation.zones[candidate.zone].map { Candidate(zone: $0, since: candidate.since) }
    }
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
