import PharosReports

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
