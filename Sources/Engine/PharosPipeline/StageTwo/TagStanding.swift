import PharosFixes
package import PharosModel
package import PharosRooms
package import PharosStays

/// The present location of one beacon, as stage two knows it.
///
/// A map of tags is drawn from these values.
package struct TagStanding: Hashable, Sendable {
  /// The level at which one observer hears the beacon.
  package struct Hearing: Hashable, Sendable {
    /// The observer.
    package var observer: ObserverID
    /// The filtered level, without the offset.
    ///
    /// - Units: dBm.
    package var level: Double
    /// The learned offset, which is added when observers are compared.
    ///
    /// - Units: dB.
    package var offset: Double
    /// The time of the observer's last report of the beacon, or the end of a later outage.
    package var lastHeard: Timestamp
    /// Indicates whether the observer is down, so that its silence is no evidence.
    package var isDown: Bool
  }

  /// The beacon.
  package var beacon: BeaconID
  /// The zone that it is in, or nil if it is in none.
  package var zone: String?
  /// The time at which the beacon was assigned to the zone, or nil if it is in none.
  package var since: Timestamp?
  /// The time since which the beacon is unmonitored in the zone, because the observers that heard it there are down; nil
  /// if it is not.
  package var unmonitoredSince: Timestamp?
  /// The probability of the zone, 0 to 1, or nil if the beacon is in none.
  package var probability: Double?
  /// The observers that hear the beacon, the loudest first.
  package var hearings: [Hearing]

  /// The state towards the zone; nil if it is in none.
  package var zoneState: RegionState? {
    zone.map { _ in unmonitoredSince == nil ? .inside : .unmonitored }
  }
}

/// The state of one beacon towards one region about beacons.
package struct BeaconStanding: Hashable, Sendable {
  /// The application that the region belongs to.
  package var application: String
  /// The region's identifier.
  package var region: String
  /// The beacon.
  package var beacon: BeaconID
  /// The state towards the region.
  package var state: RegionState
  /// The time at which the present visit began, or nil if there is none.
  package var enteredAt: Timestamp?
  /// The observers that have the beacon inside, in their order, without those that are down.
  package var observers: [ObserverID]
}

extension StageTwo {
  /// Returns the location of every beacon that is in a zone or that an observer of a zone hears, in the order of the
  /// beacons.
  ///
  /// - Complexity: n log n in the number of beacons; intended for a copy of the engine, not for the working engine.
  package func tagStandings() -> [TagStanding] {
    tags.rows.filter { $0.zone.zone != nil || !$0.zone.levels.isEmpty }
      .map(standing)
      .sorted { $0.beacon < $1.beacon }
  }

  /// Returns the state of every beacon towards every region about beacons that it has met, ordered by beacon,
  /// application and region.
  ///
  /// - Complexity: n log n in the number of beacons; intended for a copy of the engine, not for the working engine.
  package func beaconStandings() -> [BeaconStanding] {
    tags.rows
      .flatMap { tag in
        tag.rows.compactMap { row -> BeaconStanding? in
          guard let entry = regions.entries[row.region] else { return nil }
          return BeaconStanding(
            application: entry.key.application,
            region: entry.key.identifier,
            beacon: tag.beacon,
            state: row.state,
            enteredAt: row.machine.enteredAt,
            observers: row.hearings.filter { !$0.isDark }.map(\.observer)
          )
        }
      }
      .sorted { left, right in
        if left.beacon != right.beacon { return left.beacon < right.beacon }
        return (left.application, left.region) < (right.application, right.region)
      }
  }

  /// Returns the state of every located subject towards every geofence that it is in or near.
  package func geofenceStandings() -> [GeofenceStanding] { geofences.standings(regions) }

  /// Returns the zone that a beacon is in and the one that would be reported next, nil if no observer hears it in another.
  ///
  /// The call changes nothing.
  package func rival(of beacon: BeaconID) -> (present: String?, rival: ZoneRival?) {
    guard let place = tags.place(of: beacon) else { return (nil, nil) }
    var (track, weighing) = (tags[place].zone, ZoneWeighing())
    track.look(at: now, around, &weighing)
    let present = track.zone.map { around.plan.zones[$0].identifier }
    return (present, track.rival(at: now, around, weighing))
  }

  /// Returns what each observer of the zones contributes to a comparison of fingerprints for a beacon, by the observers'
  /// places in the plan; nil if none of them hears the beacon.
  ///
  /// The call changes nothing.
  package func look(at beacon: BeaconID) -> [FingerprintTable.Observation]? {
    guard let place = tags.place(of: beacon) else { return nil }
    var (track, weighing) = (tags[place].zone, ZoneWeighing())
    track.look(at: now, around, &weighing)
    guard !weighing.heard.isEmpty else { return nil }
    track.observe(around, &weighing)
    return weighing.look
  }

  private func standing(_ tag: Tag) -> TagStanding {
    let zone = tag.zone
    let hearings = zone.levels.map { level in
      TagStanding.Hearing(
        observer: around.plan.observers[level.observer],
        level: level.level(carriage: zone.carriage.probability, around.noise).level,
        offset: around.offsets.applied(level.observer),
        lastHeard: level.reportedAt,
        isDown: level.isDark
      )
    }
    return TagStanding(
      beacon: tag.beacon,
      zone: zone.zone.map { around.plan.zones[$0].identifier },
      since: zone.enteredAt,
      unmonitoredSince: zone.unmonitoredSince,
      probability: zone.zone.map { _ in zone.probability },
      hearings: hearings.sorted { ($0.level + $0.offset, $1.observer) > ($1.level + $1.offset, $0.observer) }
    )
  }
}
