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
