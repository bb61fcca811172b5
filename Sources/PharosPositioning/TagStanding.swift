package import PharosReports

/// Where one beacon is by now, as stage two knows it: what a map of tags is drawn from.
package struct TagStanding: Hashable, Sendable {
  /// How loud one observer hears the beacon.
  package struct Hearing: Hashable, Sendable {
    /// Who hears it.
    package var observer: ObserverID
    /// The filtered level, the offset left out.
    ///
    /// - Units: dBm.
    package var level: Double
    /// The offset that was found by itself and is added when observers are compared.
    ///
    /// - Units: dB.
    package var offset: Double
    /// When it was last told of.
    package var lastHeard: Timestamp
    /// Whether the observer is down, so that its silence means nothing.
    package var isDown: Bool

    /// Makes a hearing.
    package init(observer: ObserverID, level: Double, offset: Double, lastHeard: Timestamp, isDown: Bool) {
      self.observer = observer
      self.level = level
      self.offset = offset
      self.lastHeard = lastHeard
      self.isDown = isDown
    }
  }

  /// Which beacon.
  package var beacon: BeaconID
  /// The zone that it is in, or nil if it is in none.
  package var zone: String?
  /// Since when it has been in the zone; nil where it is in none.
  package var since: Timestamp?
  /// How probable the zone is, 0 to 1; nil where it is in none.
  package var probability: Double?
  /// Who hears it, the loudest first.
  package var hearings: [Hearing]

  /// Makes a standing.
  package init(
    beacon: BeaconID,
    zone: String?,
    since: Timestamp?,
    probability: Double?,
    hearings: [Hearing]
  ) {
    self.beacon = beacon
    self.zone = zone
    self.since = since
    self.probability = probability
    self.hearings = hearings
  }
}

/// Where one beacon stands towards one region about beacons.
package struct BeaconStanding: Hashable, Sendable {
  /// The application that the region belongs to.
  package var application: String
  /// The region's identifier.
  package var region: String
  /// Which beacon.
  package var beacon: BeaconID
  /// Where it stands.
  package var state: RegionState
  /// When the present visit began, if there is one.
  package var enteredAt: Timestamp?
  /// The observers that have it inside, in their order; those that are down left out.
  package var observers: [ObserverID]

  /// Makes a standing.
  package init(
    application: String,
    region: String,
    beacon: BeaconID,
    state: RegionState,
    enteredAt: Timestamp?,
    observers: [ObserverID]
  ) {
    self.application = application
    self.region = region
    self.beacon = beacon
    self.state = state
    self.enteredAt = enteredAt
    self.observers = observers
  }
}

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
