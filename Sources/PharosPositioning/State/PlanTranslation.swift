import PharosReports

/// How the numbers of one plan's zones and observers translate to those of another.
///
/// Zones are the same that have the same identifier, wherever they lie now and whoever stands in them.
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
  /// Puts the numbers of another plan in place; what concerns a zone or an observer that is gone is forgotten.
  ///
  /// Who was in a zone that is gone is in none, without a word, as nobody asks about it any more.
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
    // Where nothing but elsewhere is left, the next look begins anew.
    if !belief.shares.contains(where: { $0.zone != ZoneWeighing.elsewhere }) { belief.removeAll() }
    shadowed = shadowed.flatMap { old in translation.observers[old.observer].map { ($0, old.since) } }
  }
}
