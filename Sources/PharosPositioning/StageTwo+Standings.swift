import PharosReports

extension StageTwo {
  /// Where every beacon is that some observer of a zone hears, or that is in a zone, in the order of the beacons.
  ///
  /// A look that changes nothing.
  ///
  /// - Complexity: n log n in the number of beacons; meant for a copy of the engine, away from where it works.
  package func tagStandings() -> [TagStanding] {
    tags.store.filter { $0.isLive && ($0.zone.zone != nil || !$0.zone.levels.isEmpty) }
      .map(standing)
      .sorted { $0.beacon < $1.beacon }
  }

  /// Where every beacon stands towards every region about beacons that it has met, by beacon, application and region.
  ///
  /// - Complexity: n log n in the number of beacons; meant for a copy of the engine, away from where it works.
  package func beaconStandings() -> [BeaconStanding] {
    tags.store.filter(\.isLive)
      .flatMap { tag in
        tag.rows.compactMap { row -> BeaconStanding? in
          guard let entry = regions.entries[row.region] else { return nil }
          return BeaconStanding(
            application: entry.key.application,
            region: entry.key.identifier,
            beacon: tag.beacon,
            state: row.state,
            enteredAt: row.enteredAt,
            observers: row.hearings.filter { !$0.isDark }.map(\.observer)
          )
        }
      }
      .sorted { left, right in
        if left.beacon != right.beacon { return left.beacon < right.beacon }
        return (left.application, left.region) < (right.application, right.region)
      }
  }

  private func standing(_ tag: Tag) -> TagStanding {
    let zone = tag.zone
    let hearings = zone.levels.map { level in
      TagStanding.Hearing(
        observer: around.plan.observers[level.observer],
        level: zone.isMoving ? level.quick : level.slow,
        offset: around.offsets.applied(level.observer),
        lastHeard: level.toldAt,
        isDown: level.isDark
      )
    }
    return TagStanding(
      beacon: tag.beacon,
      zone: zone.zone.map { around.plan.zones[$0].identifier },
      since: zone.zone == nil ? nil : zone.enteredAt,
      probability: zone.zone.map { zone.belief.probability(of: $0) },
      hearings: hearings.sorted { ($0.level + $0.offset, $1.observer) > ($1.level + $1.offset, $0.observer) }
    )
  }
}
